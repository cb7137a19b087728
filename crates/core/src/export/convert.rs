//! A suite that was read from evals.json as an `EVAL.yaml` for people (spec 15): the canonical
//! document in the short forms an author would write. Loading it gives the same texts byte for byte.

use camino::Utf8Path;

use crate::model::{Expected, JsonStyle, Map, Suite, Test, Trigger, Value};
use crate::secrets::Secrets;
use crate::syntax::{is_harmful, to_yaml};

use super::Context;
use super::canonical_yaml::{STYLE, literal_references, suite_document};

/// The text of a suite file in `directory`, which is absolute; without secrets, because suites are
/// committed. `made_from` is the name of the source, for the first line.
pub fn converted_yaml(
    suite: &Suite,
    context: &Context<'_>,
    directory: &Utf8Path,
    made_from: &str,
    secrets: &Secrets,
) -> String {
    let mut document = converted_document(suite, context, directory);
    secrets.redact_document(&mut document);
    let made_from: String =
        secrets.redact(made_from).chars().map(|c| if is_harmful(c) { '?' } else { c }).collect();
    let yaml = to_yaml(&document, &STYLE);
    format!("# Made from {made_from} by `evalrig convert`.\n{yaml}")
}

/// Criteria for a test of an evals.json that has none, because a suite needs them. `transpile` knows
/// them again and does not write them.
pub(super) fn criteria_from_assertions(test: &Test) -> Option<String> {
    let mut parts = Vec::new();
    for named in &test.assertions {
        parts.extend(match named.assertion.check.trigger() {
            Some(Trigger { skill, should_trigger: true, .. }) => {
                Some(format!("uses the skill `{skill}`"))
            }
            Some(Trigger { skill, .. }) => Some(format!("does not use the skill `{skill}`")),
            None if named.assertion.type_name == "rubrics" => Some("meets every rubric".to_owned()),
            None => None,
        });
    }
    let mut text = parts.join(" and ");
    text.get_mut(..1)?.make_ascii_uppercase();
    Some(text)
}

/// What [`converted_yaml`] writes, as data. The root of the context is that of the new file.
pub(crate) fn converted_document(
    suite: &Suite,
    context: &Context<'_>,
    directory: &Utf8Path,
) -> Value {
    let mut document = suite_document(suite, context, directory);
    if let Value::Map(root) = &mut document
        && let Some(Value::List(written)) = root.remove("tests")
    {
        let tests: Vec<Value> = written
            .into_iter()
            .zip(&suite.tests)
            .map(|(written, test)| readable_test(written, test))
            .collect();
        root.insert("tests", tests);
    }
    document
}

fn readable_test(written: Value, test: &Test) -> Value {
    let Value::Map(written) = written else {
        return written;
    };
    let mut map = Map::new();
    for (key, value) in written.iter() {
        match key {
            "input" => {
                if let (None, Some(text)) = (&test.criteria, criteria_from_assertions(test)) {
                    map.insert("criteria", literal_references(text.into()));
                }
                insert_input(&mut map, value);
            }
            "expected_output" => map.insert(key, expected(value, test)),
            "assert" => insert_assertions(&mut map, value),
            _ => map.insert(key, value.clone()),
        }
    }
    map.into()
}

/// `input_files` and a text where that means the same as the message (spec 5).
fn insert_input(map: &mut Map, input: &Value) {
    match files_and_text(input) {
        Some((files, text)) => {
            map.insert("input_files", files);
            map.insert("input", text);
        }
        None => map.insert("input", input.clone()),
    }
}

/// One user message of files followed by one text that is not blank.
fn files_and_text(input: &Value) -> Option<(Vec<Value>, Value)> {
    let [message] = input.as_list()? else {
        return None;
    };
    let message = message.as_map()?;
    let is_plain =
        message.len() == 2 && message.get("role").and_then(Value::as_str) == Some("user");
    let (last, before) = message.get("content")?.as_list()?.split_last()?;
    if !is_plain || before.is_empty() {
        return None;
    }
    let text = block(last, "text").filter(|text| !text.trim().is_empty())?;
    let files: Option<Vec<Value>> =
        before.iter().map(|file| block(file, "file").map(Value::from)).collect();
    Some((files?, text.into()))
}

/// The value of a content block of this type.
fn block<'v>(value: &'v Value, type_name: &str) -> Option<&'v str> {
    let map = value.as_map()?;
    let fits = map.get("type").and_then(Value::as_str) == Some(type_name);
    map.get("value").filter(|_| fits)?.as_str()
}

/// Data that a suite would read as messages is written as its JSON text: evals.json knows no
/// messages there, and the JSON text means the same (spec 3.5).
fn expected(written: &Value, test: &Test) -> Value {
    match &test.expected_output {
        Some(Expected::Structured(value)) if looks_like_messages(value) => {
            literal_references(value.to_json(JsonStyle::Compact).into())
        }
        _ => written.clone(),
    }
}

fn looks_like_messages(value: &Value) -> bool {
    let has = |value: &Value, key: &str| value.as_map().is_some_and(|map| map.get(key).is_some());
    match value {
        Value::List(items) => !items.is_empty() && items.iter().all(|item| has(item, "role")),
        Value::Map(_) => has(value, "role") && (has(value, "content") || has(value, "tool_calls")),
        _ => false,
    }
}

/// A leading list of items without further options is the test's own `rubrics` (spec 3.2).
fn insert_assertions(map: &mut Map, written: &Value) {
    let mut list = written.as_list().unwrap_or_default();
    if let Some((first, rest)) = list.split_first()
        && let Some(items) = bare_rubrics(first)
    {
        map.insert("rubrics", items.clone());
        list = rest;
    }
    if !list.is_empty() {
        let list: Vec<Value> = list.iter().map(short_trigger).collect();
        map.insert("assert", list);
    }
}

fn bare_rubrics(assertion: &Value) -> Option<&Value> {
    let map = assertion.as_map()?;
    let is_bare = map.len() == 2 && map.get("type").and_then(Value::as_str) == Some("rubrics");
    map.get("rubrics").filter(|items| is_bare && matches!(items, Value::List(_)))
}

/// Without the detection mode if it is the default.
fn short_trigger(assertion: &Value) -> Value {
    let Value::Map(map) = assertion else {
        return assertion.clone();
    };
    let mut map = map.clone();
    let says = |key: &str, word: &str| map.get(key).and_then(Value::as_str) == Some(word);
    if says("type", "trigger-judge") && says("detection", "first-call") {
        map.remove("detection");
    }
    map.into()
}
