//! One grader of `claude plugin eval` as an entry of an assert list (spec 15.5).

use crate::assertion::kind_named;
use crate::diagnostic::{Diagnostic, Level};
use crate::model::{Map, Number, Value};
use crate::reader::{Options, ReadResult, Reader, Reported, wrong_type};
use crate::source::{Span, Spanned};
use crate::syntax::fields::{Bound, Entry, Field};
use crate::syntax::{Node, Scalar};

use super::grader_fields::{ARMS, CALL, COMMON, FILE, type_of_grader};
use super::plugin_eval::{INVALID_PLUGIN_EVAL, PLUGIN_EVAL_LOSS, report_unknown_keys};
use super::skill_pattern::skill_in_pattern;

/// A grader as its author wrote it: an item of `graders`, or a file in `graders/`.
pub(super) struct WrittenGrader<'t> {
    pub(super) node: Node<'t>,
    /// The file's name without its ending.
    pub(super) stem: Option<&'t str>,
    /// What follows the settings in a file: the pattern or the criteria.
    pub(super) body: Option<Spanned<String>>,
}

/// A grader in the words of suites.
#[derive(Debug)]
pub(super) struct TranslatedGrader {
    pub(super) entry: Map,
    pub(super) span: Span,
    /// What a judge is asked.
    pub(super) criteria: Option<String>,
}

/// Whether assertions of a type have an option.
fn has_option(type_name: &str, option: &str) -> bool {
    kind_named(type_name).is_some_and(|kind| kind.fields.iter().any(|one| one.name == option))
}

/// Whether there is a check for files that the agent made.
fn has_file_check() -> bool {
    has_option("files", "created")
}

/// What a check looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Focus {
    Answer,
    File(String),
    /// The word that its author wrote.
    Other(String),
}

/// `Ok(None)` if the grader has no counterpart, which has been reported as a loss.
pub(super) fn read_grader(
    reader: &mut Reader<'_>,
    written: &WrittenGrader<'_>,
) -> ReadResult<Option<TranslatedGrader>> {
    if !written.node.is_mapping() {
        reader.report(wrong_type("a grader", written.node, "a mapping with `type`"));
        return Err(Reported);
    }
    let (type_name, fields) = type_of_grader(reader, written.node)?;
    let tables = [fields, COMMON];
    let bound = Bound::new(written.node, &tables, reader.out());
    report_unknown_keys(&bound, &tables, reader.out());
    let mut grader = GraderReader {
        options: Options { reader, fields: &bound, owner: type_name },
        body: written.body.as_ref(),
        name: String::new(),
    };
    grader.read(type_name, written.stem)
}

struct GraderReader<'o, 'r, 'w, 't> {
    options: Options<'r, 'w, 't>,
    body: Option<&'o Spanned<String>>,
    name: String,
}

impl GraderReader<'_, '_, '_, '_> {
    fn read(
        &mut self,
        type_name: &str,
        stem: Option<&str>,
    ) -> ReadResult<Option<TranslatedGrader>> {
        let name = self.options.full_text("name")?.map(|name| name.value);
        let Some(name) = name.or_else(|| stem.map(str::to_owned)) else {
            let message = "this grader has no `name`";
            return Err(self.invalid(self.options.head(), message, "add `name`"));
        };
        self.name = name;
        let weight = self.weight();
        let arm = self.options.get("arm").map(|entry| {
            let word = self.options.reader.choice(&entry, ARMS).ok_or(Reported)?;
            Ok::<_, Reported>((word, entry.value.span()))
        });
        let arm = arm.transpose();
        let found = match type_name {
            "regex" => self.regex(),
            "tool_used" => self.tool_used(),
            "tool_order" => self.tool_order(),
            "file_exists" => self.file_exists(),
            "llm" => self.llm(),
            _ => self.baseline(),
        };
        let (weight, arm, found) = (weight?, arm?, found?);
        let Some((entry, criteria)) = found else {
            return Ok(None);
        };
        if let Some(("with-only", span)) = arm
            && entry.get("type").and_then(Value::as_str) != Some("trigger-judge")
        {
            self.loss(span, "it counts in every arm".to_owned());
        }
        let mut named = Map::new().with("name", self.name.as_str());
        for (key, value) in entry.iter() {
            named.insert(key, value.clone());
        }
        named.insert_some("weight", weight);
        let span = self.options.head();
        Ok(Some(TranslatedGrader { entry: named, span, criteria }))
    }

    /// Greater than 0.
    fn weight(&mut self) -> ReadResult<Option<Number>> {
        let weight = self.options.amount("weight")?;
        match self.options.get("weight") {
            Some(entry) if weight.as_ref().is_some_and(|weight| weight.value() <= 0.0) => {
                let help = "remove the grader, or give it a positive weight";
                Err(self.invalid(entry.value.span(), "`weight` is not greater than 0", help))
            }
            _ => Ok(weight),
        }
    }

    fn regex(&mut self) -> ReadResult<Option<(Map, Option<String>)>> {
        let pattern = self.text_or_body("pattern")?;
        let flags = self.options.text("flags")?.map(|flags| flags.value).unwrap_or_default();
        let matching = self.options.text("match")?;
        let focus = self.focus("target")?;
        let is_negated = match matching.as_ref().map(|text| text.value.as_str()) {
            None | Some("contains") => false,
            Some("not_contains" | "count:0") => true,
            Some(word) if is_count(word) => {
                let span = matching.map_or(pattern.span, |text| text.span);
                self.loss(span, "the number of matches is not compared".to_owned());
                return Ok(None);
            }
            Some(_) => {
                let span = matching.map_or(pattern.span, |text| text.span);
                let help = "write `contains`, `not_contains` or `count:N`";
                return Err(self.invalid(span, "`match` has an unknown value", help));
            }
        };
        if let Some(flag) = flags.chars().find(|flag| !"dgimsuvy".contains(*flag)) {
            let span = self.options.get("flags").map_or(pattern.span, |entry| entry.value.span());
            let message = format!("unknown flag `{flag}`");
            return Err(self.invalid(span, message, "`flags` takes the flags of JavaScript"));
        }
        if flags.contains('y') {
            self.loss(pattern.span, "the flag `y` has no counterpart".to_owned());
            return Ok(None);
        }
        // The others change how JavaScript reports matches, not what matches.
        let flags: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
        let mut entry = Map::new().with("type", "regex").with("value", pattern.value.as_str());
        entry.insert_some("flags", (!flags.is_empty()).then_some(flags));
        if is_negated {
            entry.insert("negate", true);
        }
        Ok(self.focused("regex", entry, focus).map(|entry| (entry, None)))
    }

    fn llm(&mut self) -> ReadResult<Option<(Map, Option<String>)>> {
        let criteria = self.text_or_body("criteria")?;
        let focus = self.focus("focus")?;
        let items = vec![Value::from(criteria.value.as_str())];
        let mut entry = Map::new().with("type", "llm-judge").with("rubrics", items);
        if has_option("llm-judge", "votes") {
            entry.insert("votes", 3_u64);
        }
        let entry = self.focused("llm-judge", entry, focus);
        Ok(entry.map(|entry| (entry, Some(criteria.value))))
    }

    fn tool_used(&mut self) -> ReadResult<Option<(Map, Option<String>)>> {
        let tool = self.options.required_text("tool")?;
        let pattern = self.options.full_text("input_match")?;
        let least = self.options.integer("min", 0, u64::MAX)?.unwrap_or(1);
        let most = self.options.integer("max", 0, u64::MAX)?;
        if let (Some(most), Some(entry)) = (most, self.options.get("max"))
            && most < least
        {
            let message = format!("no number of calls is at least {least} and at most {most}");
            let help = if self.options.has("min") { "swap them" } else { "add `min: 0`" };
            return Err(self.invalid(entry.value.span(), message, help));
        }
        if least == 0 && most.is_none() {
            self.loss(tool.span, "any number of calls passes".to_owned());
            return Ok(None);
        }
        let is_forbidden = most == Some(0);
        if let (Some(most @ 1..), Some(entry)) = (most, self.options.get("max")) {
            self.loss(entry.value.span(), format!("more than {most} calls pass, too"));
        }
        if tool.value == "Skill"
            && let Some(skill) = pattern.as_ref().and_then(|text| skill_in_pattern(&text.value))
        {
            if let (2.., Some(entry)) = (least, self.options.get("min")) {
                self.loss(entry.value.span(), "one use of the skill passes, too".to_owned());
            }
            let entry = Map::new().with("type", "trigger-judge").with("skill", skill);
            let entry = entry.with("should_trigger", !is_forbidden).with("detection", "any-call");
            return Ok(Some((entry, None)));
        }
        if let Some(pattern) = &pattern {
            if is_forbidden {
                let message = "calls cannot be forbidden by a pattern for their input";
                self.loss(pattern.span, message.to_owned());
                return Ok(None);
            }
            self.loss(pattern.span, "the input of the call is not compared".to_owned());
        }
        let entry = Map::new().with("type", "tool-trajectory");
        let tool = tool.value.as_str();
        let entry = if is_forbidden {
            entry.with("tool", tool).with("negate", true)
        } else {
            entry.with("minimums", Map::new().with(tool, least.max(1)))
        };
        Ok(Some((entry, None)))
    }

    fn tool_order(&mut self) -> ReadResult<Option<(Map, Option<String>)>> {
        let (before, after) = (self.call("before"), self.call("after"));
        let calls: Vec<Value> = vec![before?.into(), after?.into()];
        let entry = Map::new().with("type", "tool-trajectory").with("mode", "in_order");
        Ok(Some((entry.with("expected", calls), None)))
    }

    /// The name of a tool, or a mapping with `tool` and `input_match`.
    fn call(&mut self, key: &str) -> ReadResult<String> {
        let entry = self.options.require(key)?;
        if !entry.value.is_mapping() {
            return Ok(self.options.full_text_of(key, entry.value)?.value);
        }
        let (tool, pattern) = self.mapping(&entry, CALL, |options| {
            Ok((options.required_text("tool")?.value, options.text("input_match")?))
        })?;
        if let Some(pattern) = pattern {
            self.loss(pattern.span, "the input of the call is not compared".to_owned());
        }
        Ok(tool)
    }

    fn file_exists(&mut self) -> ReadResult<Option<(Map, Option<String>)>> {
        let path = self.options.required_text("path")?;
        let is_there = self.options.boolean("exists")?.unwrap_or(true);
        if !has_file_check() {
            self.loss(path.span, "files are not checked".to_owned());
            return Ok(None);
        }
        let mut entry = Map::new().with("type", "files");
        entry.insert("created", vec![Value::from(path.value)]);
        if !is_there {
            entry.insert("negate", true);
        }
        Ok(Some((entry, None)))
    }

    fn baseline(&mut self) -> ReadResult<Option<(Map, Option<String>)>> {
        let file = self.options.required_text("baseline_file")?;
        self.loss(file.span, "answers are not compared with a stored transcript".to_owned());
        Ok(None)
    }

    /// A setting, or else what follows the settings.
    fn text_or_body(&mut self, key: &str) -> ReadResult<Spanned<String>> {
        if let Some(text) = self.options.full_text(key)? {
            return Ok(text);
        }
        match self.body {
            Some(body) if !body.value.trim().is_empty() => Ok(body.clone()),
            _ => {
                let message = format!("this grader has no `{key}`");
                let head = self.options.head();
                Err(self.invalid(head, message, format!("add `{key}`")))
            }
        }
    }

    /// A word, or `{source: file, path}`.
    fn focus(&mut self, key: &str) -> ReadResult<Focus> {
        let Some(entry) = self.options.get(key) else {
            return Ok(Focus::Answer);
        };
        if entry.value.is_mapping() {
            let path = self.mapping(&entry, FILE, |options| {
                options.require("source")?;
                Ok(options.required_text("path")?.value)
            })?;
            return Ok(Focus::File(path));
        }
        match entry.value.scalar() {
            Some(Scalar::Str("last_message")) => Ok(Focus::Answer),
            Some(Scalar::Str(word @ ("trace" | "files" | "mock_calls"))) => {
                Ok(Focus::Other(word.to_owned()))
            }
            _ => {
                let help = "write `last_message`, `trace`, `files`, `mock_calls` or `{source: file, path: …}`";
                let message = format!("`{key}` has an unknown value");
                Err(self.invalid(entry.value.span(), message, help))
            }
        }
    }

    /// The entry with what it looks at; `None` if that has no counterpart.
    fn focused(&mut self, type_name: &str, entry: Map, focus: Focus) -> Option<Map> {
        let key = if type_name == "regex" { "target" } else { "focus" };
        let place = self.options.get(key).map_or(self.options.head(), |entry| entry.value.span());
        match focus {
            Focus::Answer => Some(entry),
            Focus::File(path) if has_option(type_name, "file") => Some(entry.with("file", path)),
            Focus::File(_) => {
                self.loss(place, "files are not checked".to_owned());
                None
            }
            Focus::Other(word) => {
                self.loss(place, format!("`{word}` is not checked, only answers and files"));
                None
            }
        }
    }

    fn mapping<T>(
        &mut self,
        entry: &Entry<'_>,
        table: &'static [Field],
        read: impl FnOnce(&mut Options<'_, '_, '_>) -> ReadResult<T>,
    ) -> ReadResult<T> {
        let bound = Bound::new(entry.value, &[table], self.options.reader.out());
        report_unknown_keys(&bound, &[table], self.options.reader.out());
        let reader = &mut *self.options.reader;
        read(&mut Options { reader, fields: &bound, owner: entry.field.name })
    }

    fn loss(&mut self, span: Span, message: String) {
        let message = format!("grader `{}`: {message}", self.name);
        self.options.report(Diagnostic::new(&PLUGIN_EVAL_LOSS, span, message));
    }

    fn invalid(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        let diagnostic = Diagnostic::new(&INVALID_PLUGIN_EVAL, span, message);
        self.options.report(diagnostic.level(Level::Blocking).help(help))
    }
}

fn is_count(word: &str) -> bool {
    let number = word.strip_prefix("count:");
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}
