//! Assertions that look at the text of the answer, and where all the others are sent on to.

use camino::Utf8Path;

use crate::model::{Map, Number, Value};
use crate::source::Span;

use super::super::assertion_draft::{
    any_answer, exact_text, has_no_weight, js_regex, name_members, negated_if, text_check,
};
use super::super::importer::Importer;
use super::super::located::Located;
use super::super::schema_keywords::report_keywords;
use super::super::script::{ScriptLanguage, script_check};
use super::super::suite_draft::SuiteDraft;
use super::super::template::render;
use super::comma_list::comma_list;
use super::file_value::{FileKind, FileReference};
use super::foo_test::FooTest;
use super::variables::inserted;
use super::{graded, provider, tool_check};

/// Checks on the text, which the script beside the suite knows too.
const TEXT_TYPES: &[&str] = &[
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "contains-all",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "regex",
    "is-json",
    "contains-json",
    "levenshtein",
    "word-count",
];

/// Whether promptfoo has an assertion of this type.
pub(super) fn is_known_type(base: &str) -> bool {
    TEXT_TYPES.contains(&base)
        || matches!(base, "javascript" | "python" | "latency" | "cost" | "assert-set")
        || graded::is_graded_type(base)
        || tool_check::is_tool_type(base)
        || NOT_CONVERTED.iter().any(|(name, _)| *name == base)
}

/// Types that a suite has nothing for, and why.
const NOT_CONVERTED: &[(&str, &str)] = &[
    ("ruby", "Ruby code is not run"),
    ("webhook", "a web service cannot judge"),
    ("perplexity", "targets report no token probabilities"),
    ("perplexity-score", "targets report no token probabilities"),
    ("classifier", "there is no classifier"),
    ("moderation", "there is no moderation service"),
    ("guardrails", "targets report no guardrails"),
    ("pi", "there is no scoring service"),
    ("select-best", "every answer is graded by itself"),
    ("max-score", "every answer is graded by itself"),
    ("finish-reason", "targets report no finish reason"),
    ("is-valid-function-call", "the functions are not known"),
    ("is-valid-openai-function-call", "the functions are not known"),
    ("is-valid-openai-tools-call", "the tools are not known"),
    ("trace-span-count", "there are no traces"),
    ("trace-span-duration", "there are no traces"),
    ("trace-error-spans", "there are no traces"),
    ("context-recall", "it is about the context, not the answer"),
    ("context-relevance", "it is about the context, not the answer"),
];

/// How a check counts: by whether it passes, or with its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScoreUse {
    Pass,
    Value,
}

/// What a list of assertions became.
#[derive(Debug, Default)]
pub(super) struct WrittenChecks {
    pub(super) checks: Vec<Map>,
    /// How many have no counterpart.
    pub(super) lost: usize,
    /// Some script may look at the variables.
    pub(super) needs_vars: bool,
}

/// Writes the assertions of one test.
pub(super) struct CheckWriter<'w, 'r> {
    pub(super) importer: &'w mut Importer<'r>,
    pub(super) draft: &'w mut SuiteDraft,
    pub(super) test: &'w FooTest,
    pub(super) vars: &'w Map,
    pub(super) directory: &'w Utf8Path,
    score: ScoreUse,
    needs_vars: bool,
}

/// One assertion while it is written.
pub(super) struct FooAssertion<'a> {
    pub(super) data: &'a Located,
    /// Without `not-`.
    pub(super) base: &'a str,
    pub(super) is_negated: bool,
}

impl<'a> FooAssertion<'a> {
    fn of(data: &'a Located) -> Option<Self> {
        let kind = data.get("type")?.as_str()?;
        let base = kind.strip_prefix("not-");
        Some(Self { data, base: base.unwrap_or(kind), is_negated: base.is_some() })
    }

    pub(super) fn threshold(&self) -> Option<Number> {
        self.data.get("threshold").and_then(Located::number)
    }

    /// Where losses of it are reported.
    pub(super) fn span(&self) -> Span {
        self.data.get("type").map_or(self.data.span, |kind| kind.span)
    }
}

impl<'w, 'r> CheckWriter<'w, 'r> {
    pub(super) fn new(
        importer: &'w mut Importer<'r>,
        draft: &'w mut SuiteDraft,
        test: &'w FooTest,
        vars: &'w Map,
        directory: &'w Utf8Path,
    ) -> Self {
        let score = if test.threshold.is_some() { ScoreUse::Value } else { ScoreUse::Pass };
        Self { importer, draft, test, vars, directory, score, needs_vars: false }
    }

    pub(super) fn write_all(&mut self, assertions: &[Located]) -> WrittenChecks {
        let mut written = WrittenChecks::default();
        self.needs_vars = false;
        for data in assertions {
            let made = self.write(data);
            written.lost += usize::from(made.is_empty());
            written.checks.extend(made);
        }
        written.needs_vars = self.needs_vars;
        written
    }

    fn write(&mut self, data: &Located) -> Vec<Map> {
        let Some(assertion) = FooAssertion::of(data) else {
            self.importer.loss("assertion", data.span, "an assertion without a type is left out");
            return Vec::new();
        };
        let made = if assertion.base == "assert-set" {
            self.assert_set(data).into_iter().collect()
        } else {
            self.checks_of(&assertion)
        };
        let weight =
            data.get("weight").and_then(Located::number).filter(|weight| weight.value() != 1.0);
        let metric = data.get("metric").and_then(Located::text);
        let metric =
            metric.map(|name| self.filled(&name, data.span)).filter(|name| !name.trim().is_empty());
        made.into_iter()
            .map(|mut map| {
                if map.get("weight").is_none() {
                    map.insert_some("weight", weight.clone().filter(|weight| weight.value() > 0.0));
                    if weight.as_ref().is_some_and(|weight| weight.value() <= 0.0) {
                        map.insert("weight", 0_u64);
                    }
                }
                if let Some(metric) = &metric {
                    map.insert("name", metric.as_str());
                }
                map
            })
            .collect()
    }

    /// Members with a threshold of their own; where it counts, the caller makes it a gate.
    fn assert_set(&mut self, data: &Located) -> Option<Map> {
        let threshold = data.get("threshold").and_then(Located::number);
        let outer = self.score;
        if threshold.is_some() {
            self.score = ScoreUse::Value;
        }
        let mut members: Vec<Map> = Vec::new();
        for member in data.get("assert").map(Located::items).unwrap_or_default() {
            let made = self.write(member);
            members.extend(made);
        }
        self.score = outer;
        if members.is_empty() {
            self.importer.loss("assertion", data.span, "nothing of this set can be converted");
            return None;
        }
        if members.iter().all(has_no_weight) {
            members.push(any_answer());
        }
        name_members(&mut members);
        let members: Vec<Value> = members.into_iter().map(Value::from).collect();
        let map = Map::new().with("type", "composite").with("assert", members);
        Some(map.with_some(super::threshold::SET_THRESHOLD, threshold))
    }

    fn checks_of(&mut self, assertion: &FooAssertion<'_>) -> Vec<Map> {
        let base = assertion.base;
        let has_transform = assertion.data.has("transform") || self.test.transform.is_some();
        if TEXT_TYPES.contains(&base) {
            return self.text_check(assertion, has_transform).into_iter().collect();
        }
        if matches!(base, "javascript" | "python") {
            return self.script(assertion).into_iter().collect();
        }
        if has_transform && !matches!(base, "latency" | "cost") {
            let message =
                format!("`{base}` looks at the answer itself, not at what `transform` makes of it");
            self.importer.loss("transform", assertion.span(), message);
        }
        match base {
            "latency" | "cost" => {
                let option = if base == "cost" { "budget" } else { "threshold" };
                let Some(most) = assertion.threshold() else {
                    return self.lost(assertion, "it has no threshold");
                };
                let map = Map::new().with("type", base).with(option, most);
                vec![negated_if(assertion.is_negated, map)]
            }
            _ if graded::is_graded_type(base) => graded::checks(self, assertion),
            _ if tool_check::is_tool_type(base) => tool_check::checks(self, assertion),
            _ => {
                let reason = NOT_CONVERTED.iter().find(|(name, _)| *name == base);
                let reason = reason.map_or("its type is not known", |(_, reason)| reason);
                self.lost(assertion, reason)
            }
        }
    }

    pub(super) fn lost(&mut self, assertion: &FooAssertion<'_>, reason: &str) -> Vec<Map> {
        let message = format!("`{}` is left out: {reason}", assertion.base);
        self.importer.loss("assertion", assertion.span(), message);
        Vec::new()
    }

    /// The judge that an assertion names.
    pub(super) fn note_grader(&mut self, assertion: &FooAssertion<'_>) {
        let grader = assertion.data.get("provider").or(self.test.grader.as_ref());
        if let Some(grader) = grader.cloned() {
            provider::use_grader(self.importer, self.draft, &grader);
        }
    }

    /// A template with the variables of the test; as it is if it cannot be filled in.
    pub(super) fn filled(&mut self, text: &str, span: Span) -> String {
        render(text, self.vars).unwrap_or_else(|reason| {
            self.importer.loss("template", span, format!("a text is not filled in: {reason}"));
            text.to_owned()
        })
    }

    /// `value` with its templates filled in and its file read. `None` if code makes it.
    pub(super) fn value(&mut self, assertion: &FooAssertion<'_>) -> Option<Value> {
        let Some(value) = assertion.data.get("value") else { return Some(Value::Null) };
        match value.as_str() {
            Some(text) => self.text_value(assertion, text, value.span),
            None => {
                let items = value.items().iter();
                let filled: Option<Vec<Value>> = items
                    .map(|item| match item.as_str() {
                        Some(text) => self.text_value(assertion, text, item.span),
                        None => Some(item.value()),
                    })
                    .collect();
                if value.is_list() { filled.map(Value::List) } else { Some(value.value()) }
            }
        }
    }

    fn text_value(
        &mut self,
        assertion: &FooAssertion<'_>,
        text: &str,
        span: Span,
    ) -> Option<Value> {
        let Some(reference) = FileReference::of(text, self.directory) else {
            return Some(self.filled(text, span).into());
        };
        let read = match reference.kind() {
            FileKind::Data => {
                self.importer.open(&reference.path, span).map(|file| file.root.value())
            }
            FileKind::Text => {
                let text = self.importer.read_text(&reference.path);
                text.map(|text| Value::from(text.trim()))
            }
            _ => {
                self.lost(assertion, "its value is made by code");
                return None;
            }
        };
        if read.is_none() {
            self.lost(assertion, &format!("`{text}` cannot be read"));
        }
        read
    }

    fn text_check(&mut self, assertion: &FooAssertion<'_>, has_transform: bool) -> Option<Map> {
        let value = self.value(assertion)?;
        let value = match (assertion.base, value) {
            (
                "contains-any" | "contains-all" | "icontains-any" | "icontains-all",
                Value::String(text),
            ) => comma_list(&text).into(),
            // A schema may be written as YAML in a text.
            ("is-json" | "contains-json", Value::String(text)) if !text.trim().is_empty() => {
                let tree = crate::syntax::lone_tree(text).ok();
                let parsed = tree.map(|tree| crate::syntax::plain_value(tree.root()));
                let Some(parsed @ Value::Map(_)) = parsed else {
                    self.lost(assertion, "its schema cannot be read");
                    return None;
                };
                parsed
            }
            (_, value) => value,
        };
        if has_transform {
            return self.scripted(assertion, value);
        }
        let native = self.native(assertion, &value)?;
        match native {
            Some(map) => Some(negated_if(assertion.is_negated, map)),
            None => self.scripted(assertion, value),
        }
    }

    /// The assertion of a suite; `Some(None)` if only the script can decide, `None` if it is lost.
    fn native(&mut self, assertion: &FooAssertion<'_>, value: &Value) -> Option<Option<Map>> {
        let text = match value {
            Value::List(_) | Value::Map(_) => None,
            scalar => Some(inserted(scalar)),
        };
        let base = assertion.base;
        Some(match (base, text) {
            ("contains" | "icontains", Some(text)) if !text.is_empty() => {
                Some(text_check(base, text))
            }
            ("contains-any" | "contains-all" | "icontains-any" | "icontains-all", _) => {
                Some(several(base, value))
            }
            ("equals", Some(text)) | ("starts-with", Some(text))
                if base == "equals" || !text.is_empty() =>
            {
                let message =
                    "white space around the answer is ignored; promptfoo compares exactly";
                self.importer.loss_once("white-space", assertion.span(), message);
                let kind = if base == "equals" { "equals" } else { "starts-with" };
                Some(exact_text(kind, &text))
            }
            ("equals", None) => None,
            ("regex", Some(pattern)) if !pattern.is_empty() => js_regex(&pattern),
            ("is-json", Some(text)) if text.is_empty() => Some(Map::new().with("type", "is-json")),
            ("is-json" | "contains-json", _) => {
                if base == "contains-json" {
                    let message = "only strict JSON counts; promptfoo also accepts YAML in braces";
                    self.importer.loss_once("method", assertion.span(), message);
                }
                let schema = Located::at(
                    value,
                    assertion.data.get("value").map_or(assertion.span(), |v| v.span),
                );
                report_keywords(self.importer, &schema);
                None
            }
            ("levenshtein", Some(_)) => None,
            ("word-count", _) => Some(word_count(value).or_else(|| {
                self.lost(assertion, "its value is not a number of words");
                None
            })?),
            _ => {
                self.lost(assertion, "it has no value to compare with");
                return None;
            }
        })
    }

    /// The script beside the suite decides.
    fn scripted(&mut self, assertion: &FooAssertion<'_>, value: Value) -> Option<Map> {
        let mut config = Map::new().with("type", assertion.base);
        if value != Value::Null {
            config.insert("value", value);
        }
        self.finish_script(assertion, ScriptLanguage::JavaScript, None, config)
    }

    fn script(&mut self, assertion: &FooAssertion<'_>) -> Option<Map> {
        let is_python = assertion.base == "python";
        let language = if is_python { ScriptLanguage::Python } else { ScriptLanguage::JavaScript };
        let config = Map::new().with("type", assertion.base);
        let Some(written) = assertion.data.get("value").filter(|value| value.as_str().is_some())
        else {
            self.lost(assertion, "it has no code");
            return None;
        };
        let text = written.as_str().unwrap_or_default();
        // A CSV cell may name a Python file without `file://`.
        let is_path = is_python && !text.contains('\n') && text.contains(".py") && {
            let path = FileReference::of_path(text, self.directory).path;
            self.importer.exists(&path)
        };
        let reference = match FileReference::of(text, self.directory) {
            None if is_path => Some(FileReference::of_path(text, self.directory)),
            reference => reference,
        };
        let Some(reference) = reference else {
            let code = self.filled(text, written.span);
            self.report_context(assertion, &code);
            self.needs_vars |= code.contains("context");
            return self.finish_script(assertion, language, None, config.with("value", code));
        };
        let wanted = if is_python { FileKind::Python } else { FileKind::JavaScript };
        if reference.kind() != wanted || !self.importer.exists(&reference.path) {
            let reason = match reference.kind() {
                FileKind::TypeScript => "TypeScript is not run; name the compiled file",
                kind if kind == wanted => "its file does not exist",
                _ => "its file is of another language",
            };
            self.lost(assertion, reason);
            return None;
        }
        if let Some(code) = self.importer.read_text(&reference.path) {
            self.report_context(assertion, &code);
        }
        self.needs_vars = true;
        let path = self.importer.path_in_suite(&reference.path);
        let config = config.with_some("function", reference.function);
        self.finish_script(assertion, language, Some(path), config)
    }

    /// Parts of the context that evalrig cannot give.
    fn report_context(&mut self, assertion: &FooAssertion<'_>, code: &str) {
        for name in ["logProbs", "context.trace", "context.provider."] {
            if code.contains(name) {
                let message = format!("`{name}` is not known to the script");
                self.importer.loss("context", assertion.span(), message);
            }
        }
    }

    fn finish_script(
        &mut self,
        assertion: &FooAssertion<'_>,
        language: ScriptLanguage,
        path: Option<String>,
        config: Map,
    ) -> Option<Map> {
        let transforms = self.transforms(assertion)?;
        if !transforms.is_empty() && language == ScriptLanguage::Python {
            let message =
                "`python` looks at the answer itself, not at what `transform` makes of it";
            self.importer.loss("transform", assertion.span(), message);
        }
        let mut config = config
            .with_some("threshold", assertion.threshold())
            .with_some("negate", assertion.is_negated.then_some(true))
            .with_some("score", (self.score == ScoreUse::Value).then_some("value"));
        if !transforms.is_empty() && language == ScriptLanguage::JavaScript {
            self.needs_vars |= transforms.iter().any(|code| code.contains("context"));
            config.insert("transform", transforms);
        }
        config.insert_some("config", assertion.data.get("config").map(Located::value));
        let map = script_check(self.draft, language, path, config);
        Some(
            map.with(
                "name",
                assertion.data.get("type").and_then(Located::text).unwrap_or_default(),
            ),
        )
    }

    /// The code that the output passes through, the test's first. `None` if it cannot be run.
    fn transforms(&mut self, assertion: &FooAssertion<'_>) -> Option<Vec<String>> {
        let written = [self.test.transform.clone(), assertion.data.get("transform").cloned()];
        let mut found = Vec::new();
        for one in written.iter().flatten() {
            let Some(text) = one.as_str() else { continue };
            let Some(reference) = FileReference::of(text, self.directory) else {
                found.push(text.to_owned());
                continue;
            };
            if reference.kind() != FileKind::JavaScript || !self.importer.exists(&reference.path) {
                self.lost(assertion, "its `transform` is not a JavaScript file");
                return None;
            }
            let path = self.importer.path_in_suite(&reference.path);
            let name = reference.function.map(|name| format!(":{name}")).unwrap_or_default();
            found.push(format!("file://{path}{name}"));
        }
        Some(found)
    }
}

/// An empty text is part of every answer.
fn several(base: &str, value: &Value) -> Map {
    let texts: Vec<String> = match value {
        Value::List(items) => items.iter().map(inserted).collect(),
        scalar => vec![inserted(scalar)],
    };
    let filled: Vec<String> = texts.iter().filter(|text| !text.is_empty()).cloned().collect();
    let is_any = base.ends_with("-any");
    let always = if is_any { filled.len() < texts.len() } else { filled.is_empty() };
    match (always, filled.is_empty()) {
        (true, _) => any_answer(),
        // None of nothing.
        (false, true) => text_check("regex", r"[^\s\S]"),
        (false, false) => text_check(base, filled),
    }
}

/// Words are what white space separates.
fn word_count(value: &Value) -> Option<Map> {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse::<u64>().ok(),
        _ => None,
    };
    let (least, most) = match value {
        Value::Map(map) => {
            let (min, max) = (map.get("min").and_then(number), map.get("max").and_then(number));
            if min.is_none() && max.is_none() {
                return None;
            }
            (min.unwrap_or(0), max)
        }
        exact => {
            let count = number(exact)?;
            (count, Some(count))
        }
    };
    let most = most.map(|most| most.to_string()).unwrap_or_default();
    let pattern = format!(r"\A\s*(?:\S+(?:\s+|\z)){{{least},{most}}}\z");
    Some(text_check("regex", pattern).with("name", "word-count"))
}
