//! Prompts: where they come from, and the input that they make with the variables of a test.

use std::collections::HashMap;

use camino::Utf8Path;

use crate::model::{JsonStyle, Map, Value};
use crate::source::Span;
use crate::syntax::json_value;

use super::super::chat::{is_chat, messages};
use super::super::importer::Importer;
use super::super::located::Located;
use super::super::row::sendable;
use super::super::suite_draft::{SuiteDraft, slug};
use super::super::template::{has_open_tag, plain_references, render};
use super::file_value::{FileKind, FileReference};
use super::foo_test::FooTest;
use super::variables::inserted;

/// The line between two prompts of a text file.
const SEPARATOR: &str = "---";

#[derive(Debug)]
pub(super) struct FooPrompt {
    pub(super) label: String,
    pub(super) id: Option<String>,
    /// Names the prompt in ids and as an anchor.
    pub(super) anchor: String,
    raw: String,
    span: Span,
}

/// What is sent, and the variables that it still needs.
pub(super) struct PromptInput {
    pub(super) value: Value,
    pub(super) vars: Option<Map>,
}

impl FooPrompt {
    /// `None` when a prompt cannot be had; the reason has been reported.
    pub(super) fn read_all(
        importer: &mut Importer<'_>,
        root: &Located,
        directory: &Utf8Path,
    ) -> Option<Vec<Self>> {
        let mut prompts: Vec<Self> = Vec::new();
        match root.get("prompts") {
            None => {
                let raw = "{{prompt}}".to_owned();
                prompts.push(Self::new(raw, None, None, root.span.at_start()));
            }
            Some(map) if map.is_map() && !map.has("raw") && !map.has("id") => {
                for entry in map.entries() {
                    let label = entry.value.text();
                    let source =
                        PromptSource { written: &entry.key, label, id: None, span: entry.key_span };
                    source.read(importer, directory, &mut prompts)?;
                }
            }
            Some(list) => {
                for entry in list.one_or_more() {
                    let written = entry.first_of(&["raw", "id"]).unwrap_or(entry).text();
                    let Some(written) = written else {
                        return importer.refuse(
                            entry.span,
                            format!("expected a prompt, found {}", entry.type_name()),
                            "a prompt is a text, the path of a file, or a mapping with `raw`",
                        );
                    };
                    let field = |key: &str| entry.get(key).and_then(Located::text);
                    let source = PromptSource {
                        written: &written,
                        label: field("label"),
                        id: field("id"),
                        span: entry.span,
                    };
                    source.read(importer, directory, &mut prompts)?;
                }
            }
        }
        name_anchors(&mut prompts);
        Some(prompts)
    }

    fn new(raw: String, label: Option<String>, id: Option<String>, span: Span) -> Self {
        let label = label.unwrap_or_else(|| raw.clone());
        Self { label, id, anchor: String::new(), raw, span }
    }

    /// Its label, or its anchor if it has none.
    pub(super) fn name(&self) -> &str {
        if self.label == self.raw { &self.anchor } else { &self.label }
    }

    /// The prompt as a template of a suite if it only inserts variables, else filled in.
    pub(super) fn input(
        &self,
        importer: &mut Importer<'_>,
        test: &FooTest,
        vars: &Map,
    ) -> PromptInput {
        let raw = format!("{}{}{}", test.prefix, self.raw, test.suffix);
        let is_plain = test.prefix.is_empty() && test.suffix.is_empty();
        if is_plain && let Some(template) = self.template(importer, vars) {
            return template;
        }
        let value = match json_value(&raw) {
            Some(data) => {
                let filled = self.filled_data(importer, &data, vars);
                self.json_input(importer, &filled)
            }
            None => {
                let text = self.filled(importer, &raw, vars);
                match json_value(&text) {
                    Some(data) => self.json_input(importer, &data),
                    None => Value::from(text),
                }
            }
        };
        PromptInput { value: sendable(value), vars: None }
    }

    /// `None` if a suite's variables could not say the same (spec 6.2).
    fn template(&self, importer: &mut Importer<'_>, vars: &Map) -> Option<PromptInput> {
        let references = plain_references(&self.raw)?;
        if references.is_empty() {
            return None;
        }
        let mut kept = Map::new();
        for reference in references {
            let mut steps = reference.split('.');
            let name = steps.next()?;
            let value = vars.get(name)?;
            let inner = steps.try_fold(value, |inner, step| match inner {
                Value::Map(map) => map.get(step),
                Value::List(items) => items.get(step.parse::<usize>().ok()?),
                _ => None,
            })?;
            let is_same = match inner {
                Value::String(_) | Value::Bool(_) => true,
                Value::Number(number) => number.source() == inserted(inner),
                _ => false,
            };
            if !is_same {
                return None;
            }
            kept.insert(name, value.clone());
        }
        let value = match json_value(&self.raw) {
            Some(data) => {
                let list = Located::at(&data, self.span);
                is_chat(&list).then(|| Value::from(messages(importer, &list)))?
            }
            None => Value::from(self.raw.as_str()),
        };
        // A text that becomes blank is only legal as a message.
        let is_blank = value.as_str().is_some() && render(&self.raw, vars).ok()?.trim().is_empty();
        (!is_blank).then_some(PromptInput { value, vars: Some(kept) })
    }

    fn filled(&self, importer: &mut Importer<'_>, text: &str, vars: &Map) -> String {
        if has_open_tag(text) {
            return text.to_owned();
        }
        if text.contains("_conversation") {
            let message = "the conversation so far is not part of the prompt";
            importer.loss("conversation", self.span, message);
        }
        if text.contains("env.") && text.contains("{{") {
            let message = "variables of the environment are left out; write `${{ NAME }}` for them";
            importer.loss("environment", self.span, message);
        }
        render(text, vars).unwrap_or_else(|reason| {
            let message = format!("the prompt is not filled in: {reason}");
            importer.loss("template", self.span, message);
            text.to_owned()
        })
    }

    fn filled_data(&self, importer: &mut Importer<'_>, data: &Value, vars: &Map) -> Value {
        match data {
            Value::String(text) => self.filled(importer, text, vars).into(),
            Value::List(items) => Value::List(
                items.iter().map(|item| self.filled_data(importer, item, vars)).collect(),
            ),
            Value::Map(map) => Value::Map(
                map.iter()
                    .map(|(key, value)| (key.to_owned(), self.filled_data(importer, value, vars)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    /// A conversation, or JSON that is sent as text.
    fn json_input(&self, importer: &mut Importer<'_>, data: &Value) -> Value {
        let list = Located::at(data, self.span);
        if is_chat(&list) {
            return messages(importer, &list).into();
        }
        match data {
            Value::Map(_) | Value::List(_) => data.to_json(JsonStyle::Pretty).into(),
            other => inserted(other).into(),
        }
    }
}

/// One entry of `prompts`.
struct PromptSource<'a> {
    written: &'a str,
    label: Option<String>,
    id: Option<String>,
    span: Span,
}

impl PromptSource<'_> {
    fn read(
        &self,
        importer: &mut Importer<'_>,
        directory: &Utf8Path,
        prompts: &mut Vec<FooPrompt>,
    ) -> Option<()> {
        let written = self.written;
        let is_remote = ["langfuse://", "portkey://", "helicone://", "exec:"]
            .iter()
            .any(|mark| written.starts_with(mark));
        if is_remote {
            return self.refuse_generated(importer);
        }
        let named = written.strip_prefix("file://");
        let is_line = !written.contains('\n') && !written.contains("{{");
        let reference = FileReference::of_path(named.unwrap_or(written), directory);
        let paths = match (named.is_some(), is_line) {
            (true, _) | (_, true) => importer.matching(&reference.path),
            _ => Vec::new(),
        };
        let is_found = paths.iter().any(|path| importer.exists(path));
        if !is_found && named.is_none() {
            prompts.push(self.prompt(written.to_owned()));
            return Some(());
        }
        if !is_found {
            let message = format!("no file matches `{written}`");
            let help = "paths start at the configuration's directory";
            return importer.refuse(self.span, message, help);
        }
        for path in paths {
            let reference = FileReference { path, ..reference.clone() };
            self.read_file(importer, &reference, prompts)?;
        }
        Some(())
    }

    fn prompt(&self, raw: String) -> FooPrompt {
        FooPrompt::new(raw, self.label.clone(), self.id.clone(), self.span)
    }

    fn refuse_generated<T>(&self, importer: &mut Importer<'_>) -> Option<T> {
        importer.refuse(
            self.span,
            format!("the prompt `{}` is made when promptfoo runs", self.written),
            "write the prompt to a text file, and name that file",
        )
    }

    fn read_file(
        &self,
        importer: &mut Importer<'_>,
        reference: &FileReference,
        prompts: &mut Vec<FooPrompt>,
    ) -> Option<()> {
        let path = &reference.path;
        match (reference.kind(), path.extension().unwrap_or("")) {
            (kind, _) if kind.is_code() => return self.refuse_generated(importer),
            (FileKind::Data, _) => {
                let file = importer.open(path, self.span)?;
                prompts.push(self.prompt(file.root.value().to_json(JsonStyle::Compact)));
                return Some(());
            }
            (_, "csv" | "jsonl") => {
                let file = importer.open(path, self.span)?;
                for row in file.root.items() {
                    let text = row.get("prompt").and_then(Located::text);
                    let raw = text.unwrap_or_else(|| row.value().to_json(JsonStyle::Compact));
                    let label = row.get("label").and_then(Located::text);
                    prompts.push(FooPrompt::new(
                        raw,
                        label.or(self.label.clone()),
                        None,
                        self.span,
                    ));
                }
                return Some(());
            }
            _ => {}
        }
        let Some(text) = importer.read_text(path) else {
            let shown = importer.shown(path);
            let message = format!("`{shown}` cannot be read");
            return importer.refuse(self.span, message, "a prompt is a text file in UTF-8");
        };
        // Only text files have several prompts.
        let is_text = path.extension() == Some("txt");
        let mut parts: Vec<String> = vec![String::new()];
        for line in text.lines() {
            match (is_text && line.trim() == SEPARATOR, parts.last_mut()) {
                (true, _) => parts.push(String::new()),
                (false, Some(part)) => part.extend([line, "\n"]),
                (false, None) => {}
            }
        }
        let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
        let name = path.file_stem().map(str::to_owned);
        for part in parts {
            let label = self.label.clone().or_else(|| name.clone());
            prompts.push(FooPrompt::new(part.to_owned(), label, self.id.clone(), self.span));
        }
        Some(())
    }
}

/// `prompt`, `prompt-2`, or what their labels say.
fn name_anchors(prompts: &mut [FooPrompt]) {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let is_single = prompts.len() == 1;
    for (at, prompt) in prompts.iter_mut().enumerate() {
        let named = slug(&prompt.label);
        let is_short = prompt.label != prompt.raw && named.len() <= 30 && !named.is_empty();
        let is_plain = named.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let base = match (is_single, is_short && is_plain) {
            (true, _) => "prompt".to_owned(),
            (false, true) => named,
            (false, false) => format!("prompt-{}", at + 1),
        };
        let count = taken.entry(base.clone()).or_insert(0);
        *count += 1;
        prompt.anchor = if *count == 1 { base } else { format!("{base}-{count}") };
    }
}

/// A prompt that several tests use is written once. One that a single test uses is filled in.
pub(super) fn share_prompts(draft: &mut SuiteDraft, prompts: &[FooPrompt]) {
    let mut anchors: Vec<(String, Value)> = Vec::new();
    for test in &draft.tests {
        if test.vars.is_none() || anchors.iter().any(|(_, value)| *value == test.input) {
            continue;
        }
        let prompt = prompts.iter().find(|prompt| match &test.input {
            Value::String(text) => *text == prompt.raw,
            _ => json_value(&prompt.raw).is_some_and(|data| same_texts(&data, &test.input)),
        });
        if let Some(prompt) = prompt {
            anchors.push((prompt.anchor.clone(), test.input.clone()));
        }
    }
    let count = |value: &Value| {
        draft.tests.iter().filter(|test| test.vars.is_some() && test.input == *value).count()
    };
    let (shared, single): (Vec<_>, Vec<_>) =
        anchors.into_iter().partition(|(_, value)| count(value) > 1);
    for (_, value) in single {
        for test in draft.tests.iter_mut().filter(|test| test.input == value) {
            if let Some(vars) = test.vars.take() {
                test.input = filled_input(&test.input, &vars);
            }
        }
    }
    draft.anchors = shared;
}

/// Whether the messages of a prompt are those of an input.
fn same_texts(data: &Value, input: &Value) -> bool {
    let texts = |value: &Value| -> Vec<Value> {
        let content = |message: &Value| message.as_map()?.get("content").cloned();
        value.as_list().unwrap_or_default().iter().filter_map(content).collect()
    };
    texts(data) == texts(input)
}

fn filled_input(input: &Value, vars: &Map) -> Value {
    match input {
        Value::String(text) => render(text, vars).unwrap_or_else(|_| text.clone()).into(),
        Value::List(items) => {
            Value::List(items.iter().map(|item| filled_input(item, vars)).collect())
        }
        Value::Map(map) => Value::Map(
            map.iter().map(|(key, value)| (key.to_owned(), filled_input(value, vars))).collect(),
        ),
        other => other.clone(),
    }
}
