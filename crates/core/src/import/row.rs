//! One record of a list → a test, by a field map. Keys that the map does not name become metadata, so
//! that nothing of the record is lost.

use crate::model::{JsonStyle, Map, Value};
use crate::source::Span;

use super::chat::{is_chat, messages};
use super::field_map::{FieldMap, MapTarget};
use super::foreign_file::json_in_text;
use super::importer::Importer;
use super::located::{Located, LocatedData};
use super::suite_draft::{SuiteDraft, TestDraft, one_line};

/// Criteria of a test that has only a reference answer.
pub(super) const AGREES: &str = "Agrees with the expected output";

/// What a reader of a list of records knows about them.
#[derive(Debug)]
pub(super) struct RowReader<'m> {
    pub(super) map: &'m FieldMap,
    /// Keys that say nothing about the test, such as the id of the dataset.
    pub(super) ignored: &'m [&'m str],
    /// Keys whose mapping is metadata itself.
    pub(super) metadata: &'m [&'m str],
}

impl RowReader<'_> {
    /// The test of a record. A record without input is refused.
    pub(super) fn read(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        row: &Located,
    ) -> Option<TestDraft> {
        let position = draft.tests.len() + 1;
        let id = self.field(row, "id").and_then(Located::text);
        let id = draft.given_id(id.as_deref(), position);
        importer.enter_test(&id);
        let test = self.read_fields(importer, row, id);
        importer.leave_test();
        test
    }

    fn read_fields(
        &self,
        importer: &mut Importer<'_>,
        row: &Located,
        id: String,
    ) -> Option<TestDraft> {
        let input = self.input(importer, row)?;
        let mut test = TestDraft::new(id, input);
        test.expected_output = self.field(row, "expected_output").and_then(expected_output);
        let line = |field: &str| self.field(row, field).and_then(Located::text);
        test.criteria = line("criteria");
        test.description = line("description").map(|text| one_line(&text));
        test.note = line("note").filter(|text| !text.trim().is_empty());
        test.rubrics = self.field(row, "rubrics").map(rubric_items).unwrap_or_default();
        test.tags = self.field(row, "tags").map(tags).unwrap_or_default();
        for (target, key) in &self.map.pairs {
            let Some(value) = row.at_path(key) else { continue };
            match target {
                MapTarget::Check(kind) => test.assertions.extend(check(importer, kind, value)),
                MapTarget::Metadata(name) => test.metadata.insert(name.as_str(), value.value()),
                MapTarget::Field(_) => {}
            }
        }
        self.add_metadata(row, &mut test.metadata);
        Some(test)
    }

    /// The first key of a field that the record has.
    fn field<'v>(&self, row: &'v Located, field: &str) -> Option<&'v Located> {
        let key = self.map.key_of(field)?;
        row.at_path(key).or_else(|| key.split('+').find_map(|part| row.at_path(part.trim())))
    }

    fn input(&self, importer: &mut Importer<'_>, row: &Located) -> Option<Value> {
        let key = self.map.key_of("input").unwrap_or("input");
        let joined = key.contains('+').then(|| joined_text(row, key)).flatten();
        let input = match (joined, row.at_path(key)) {
            (Some(text), _) => Some(Value::from(text)),
            (None, Some(value)) => input_value(importer, value, key),
            (None, None) => None,
        };
        let Some(input) = input else {
            return importer.refuse(
                row.span,
                format!("this record has no `{key}`, so there is nothing to send"),
                "add it, or name another key with `--map input=KEY`",
            );
        };
        let system = self.field(row, "system").and_then(Located::text);
        Some(match system.filter(|text| !text.trim().is_empty()) {
            Some(system) => with_system(&system, input),
            None => sendable(input),
        })
    }

    fn add_metadata(&self, row: &Located, metadata: &mut Map) {
        let used = |key: &str| {
            self.map.pairs.iter().any(|(_, path)| {
                path.split('+').any(|part| {
                    let part = part.trim();
                    part == key || part.split_once('.').is_some_and(|(head, _)| head == key)
                })
            })
        };
        for entry in row.entries() {
            let key = entry.key.as_str();
            if used(key) || self.ignored.contains(&key) || entry.value.is_empty() {
                continue;
            }
            let parsed = entry.value.as_str().and_then(|text| json_in_text(text, entry.value.span));
            let value = parsed.as_ref().unwrap_or(&entry.value);
            if self.metadata.contains(&key) && value.is_map() {
                for (name, inner) in value.map() {
                    metadata.insert(name, inner);
                }
            } else {
                metadata.insert(key, value.value());
            }
        }
    }
}

/// A test with a reference answer alone is compared with it; one with nothing is reported.
pub(super) fn settle_criteria(importer: &mut Importer<'_>, test: &mut TestDraft, span: Span) {
    if test.criteria.is_some() || test.is_graded() {
        return;
    }
    if test.expected_output.is_some() {
        test.criteria = Some(AGREES.to_owned());
    } else {
        let message = "nothing says what a good answer does; write `criteria`";
        importer.loss("nothing-checked", span, message);
    }
}

/// Texts of several keys, one below the other.
fn joined_text(row: &Located, keys: &str) -> Option<String> {
    let mut parts = Vec::new();
    for key in keys.split('+') {
        let Some(value) = row.at_path(key.trim()) else { continue };
        let text = if value.is_list() {
            lettered(&value.texts())
        } else {
            value.text().unwrap_or_else(|| value.value().to_json(JsonStyle::Compact))
        };
        if !text.trim().is_empty() {
            parts.push(text);
        }
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Choices as `A) …`, one per line.
pub(super) fn lettered(choices: &[String]) -> String {
    let lines = ('A'..='Z').zip(choices).map(|(letter, choice)| format!("{letter}) {choice}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text, messages, or the only text of a mapping.
pub(super) fn input_value(
    importer: &mut Importer<'_>,
    value: &Located,
    shown: &str,
) -> Option<Value> {
    if let Some(text) = value.text() {
        return match json_in_text(&text, value.span) {
            Some(inner) if is_chat(&inner) || inner.has("messages") => {
                input_value(importer, &inner, shown)
            }
            _ => Some(text.into()),
        };
    }
    if value.is_null() {
        return None;
    }
    if is_chat(value) {
        return Some(messages(importer, value).into());
    }
    // LangChain nests the messages of a batch.
    if let [only] = value.items()
        && is_chat(only)
    {
        return Some(messages(importer, only).into());
    }
    if let Some(inner) = value.get("messages").filter(|inner| inner.is_list()) {
        return input_value(importer, inner, shown);
    }
    if let [entry] = value.entries() {
        return input_value(importer, &entry.value, shown);
    }
    let known = ["question", "input", "query", "prompt", "text"];
    if value.is_map()
        && let Some(key) =
            known.iter().find(|key| value.get(key).is_some_and(|v| v.as_str().is_some()))
    {
        let message = format!(
            "the whole of `{shown}` is sent as JSON; send its text alone with \
             `--map input={shown}.{key}`"
        );
        importer.loss("input", value.span, message);
    }
    let block = Map::new().with("type", "json").with("value", value.value());
    let message = Map::new().with("role", "user").with("content", vec![Value::from(block)]);
    Some(vec![Value::from(message)].into())
}

/// A blank text is only legal as a message (spec 3.2).
pub(super) fn sendable(input: Value) -> Value {
    match &input {
        Value::String(text) if text.trim().is_empty() => {
            vec![Value::from(Map::new().with("role", "user").with("content", text.as_str()))].into()
        }
        _ => input,
    }
}

/// A conversation that begins with a system message.
pub(super) fn with_system(system: &str, input: Value) -> Value {
    let mut list = vec![Value::from(Map::new().with("role", "system").with("content", system))];
    match input {
        Value::List(rest) => list.extend(rest),
        text => list.push(Map::new().with("role", "user").with("content", text).into()),
    }
    list.into()
}

/// A text stays one; the only value of a mapping stands for it; other data is structured.
pub(super) fn expected_output(value: &Located) -> Option<Value> {
    if let Some(text) = value.text() {
        if text.is_empty() {
            return None;
        }
        return match json_in_text(&text, value.span) {
            Some(inner) if inner.is_map() && inner.entries().len() == 1 => expected_output(&inner),
            _ => Some(text.into()),
        };
    }
    match &value.data {
        LocatedData::Scalar(_) => None,
        LocatedData::Map(entries) if entries.is_empty() => None,
        LocatedData::Map(entries) if entries.len() == 1 => {
            expected_output(&entries[0].value).or_else(|| Some(value.value()))
        }
        LocatedData::List(items) if items.is_empty() => None,
        LocatedData::List(items) if items.len() == 1 && items[0].text().is_some() => {
            items[0].text().map(Value::from)
        }
        // A suite would read these as messages of its own form.
        _ if value.has("role") || value.items().iter().any(|item| item.has("role")) => {
            Some(value.value().to_json(JsonStyle::Compact).into())
        }
        _ => Some(value.value()),
    }
}

/// Outcomes from a list of texts or mappings, or from a mapping of names to texts.
pub(super) fn rubric_items(value: &Located) -> Vec<Value> {
    let text = value.as_str().and_then(|text| json_in_text(text, value.span));
    let value = text.as_ref().unwrap_or(value);
    let outcome = |item: &Located| {
        let inner = item.first_of(&["outcome", "text", "criteria", "description", "value", "name"]);
        inner.unwrap_or(item).text().filter(|text| !text.trim().is_empty()).map(Value::from)
    };
    match &value.data {
        LocatedData::Map(entries) => {
            entries.iter().filter_map(|entry| outcome(&entry.value)).collect()
        }
        _ => value.one_or_more().iter().filter_map(outcome).collect(),
    }
}

pub(super) fn tags(value: &Located) -> Vec<String> {
    let parsed = value.as_str().and_then(|text| json_in_text(text, value.span));
    let value = parsed.as_ref().unwrap_or(value);
    let texts = match value.as_str() {
        Some(text) => text.split([',', ';', '|']).map(str::to_owned).collect(),
        None => value.texts(),
    };
    let mut tags: Vec<String> = Vec::new();
    for tag in texts.iter().map(|tag| one_line(tag)).filter(|tag| !tag.is_empty()) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

fn check(importer: &mut Importer<'_>, kind: &'static str, value: &Located) -> Option<Value> {
    let texts: Vec<String> = value.texts().into_iter().filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        importer.loss("assertion", value.span, format!("`{kind}` has no text to look for"));
        return None;
    }
    let is_several = kind.ends_with("-any") || kind.ends_with("-all");
    let value = match (is_several, texts.as_slice()) {
        (true, _) => Value::from(texts),
        (false, [only]) => Value::from(only.as_str()),
        (false, _) => {
            importer.loss("assertion", value.span, format!("`{kind}` takes one text, not a list"));
            return None;
        }
    };
    Some(Map::new().with("type", kind).with("value", value).into())
}
