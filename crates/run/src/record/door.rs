//! The door to every record: what passes it holds no secret (spec 9.5) and can be read back.
//!
//! Values are redacted before they become JSON, because a quote or a line break inside a secret
//! looks different afterwards. Names by which rows are found again stay as they are: test, suite,
//! target, source. With one of them redacted a case would be lost, or run twice.

use evalrig_core::model;
use evalrig_core::secrets::Secrets;
use serde_json::Value;

use super::row::{EvaluatorResult, Row, RowError};

/// Free data that nests deeper is kept as JSON text. Readers give up at 128 levels, of which a row
/// and its composites need some themselves.
const DEEPEST: usize = 48;

/// Makes a row fit to be kept. Without secrets nothing but free data is looked at.
pub(super) fn admit(row: &mut Row, secrets: &Secrets) {
    for message in row.output_messages.iter_mut().flatten() {
        flatten(message);
    }
    for result in &mut row.evaluator_results {
        flatten_details(result);
    }
    if !secrets.is_empty() {
        redact(row, secrets);
    }
}

fn redact(row: &mut Row, secrets: &Secrets) {
    redact_optional(&mut row.conversation_id, secrets);
    redact_all(&mut row.hits, secrets);
    redact_all(&mut row.misses, secrets);
    redact_optional(&mut row.candidate_answer, secrets);
    if let Some(names) = &mut row.trace_summary.tool_names {
        redact_all(names, secrets);
    }
    for result in &mut row.evaluator_results {
        redact_result(result, secrets);
    }
    redact_error(&mut row.error, secrets);
    for message in row.output_messages.iter_mut().flatten() {
        redact_value(message, secrets);
    }
}

fn redact_result(result: &mut EvaluatorResult, secrets: &Secrets) {
    secrets.redact_in_place(&mut result.name);
    redact_all(&mut result.hits, secrets);
    redact_all(&mut result.misses, secrets);
    redact_optional(&mut result.reasoning, secrets);
    if let Some(details) = &mut result.details {
        redact_value(details, secrets);
    }
    redact_error(&mut result.error, secrets);
    for member in result.evaluator_results.iter_mut().flatten() {
        redact_result(member, secrets);
    }
}

fn redact_error(error: &mut Option<RowError>, secrets: &Secrets) {
    if let Some(error) = error {
        secrets.redact_in_place(&mut error.message);
    }
}

pub(super) fn redact_optional(text: &mut Option<String>, secrets: &Secrets) {
    if let Some(text) = text {
        secrets.redact_in_place(text);
    }
}

pub(super) fn redact_all(texts: &mut [String], secrets: &Secrets) {
    for text in texts {
        secrets.redact_in_place(text);
    }
}

fn redact_value(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => secrets.redact_in_place(text),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| redact_value(item, secrets)),
        Value::Object(map) => {
            for inner in map.values_mut() {
                redact_value(inner, secrets);
            }
            if map.keys().any(|key| secrets.redact(key) != *key) {
                let entries = std::mem::take(map).into_iter();
                *map = entries
                    .map(|(key, inner)| (secrets.redact(&key), inner))
                    .collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same for the core's own free data.
pub(super) fn redact_data(value: model::Value, secrets: &Secrets) -> model::Value {
    match value {
        model::Value::String(mut text) => {
            secrets.redact_in_place(&mut text);
            model::Value::String(text)
        }
        model::Value::List(items) => {
            let items = items.into_iter().map(|item| redact_data(item, secrets));
            model::Value::List(items.collect())
        }
        model::Value::Map(map) => {
            let entries = map.iter().map(|(key, inner)| {
                let inner = redact_data(inner.clone(), secrets);
                (secrets.redact(key), inner)
            });
            model::Value::Map(entries.collect())
        }
        other => other,
    }
}

fn flatten_details(result: &mut EvaluatorResult) {
    if let Some(details) = &mut result.details {
        flatten(details);
    }
    for member in result.evaluator_results.iter_mut().flatten() {
        flatten_details(member);
    }
}

fn flatten(value: &mut Value) {
    flatten_below(value, DEEPEST);
}

fn flatten_below(value: &mut Value, left: usize) {
    if left == 0 && (value.is_array() || value.is_object()) {
        *value = Value::String(value.to_string());
        return;
    }
    match value {
        Value::Array(items) => {
            for item in items {
                flatten_below(item, left - 1);
            }
        }
        Value::Object(map) => {
            for inner in map.values_mut() {
                flatten_below(inner, left - 1);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::row;
    use super::*;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add("pa\"ss\nword");
        secrets
    }

    fn spoiled(secret: &str) -> Row {
        let mut row = row("a", 1);
        row.candidate_answer = Some(format!("it is {secret}"));
        row.hits = vec![secret.to_owned()];
        row.misses = vec![format!("no {secret}")];
        row.trace_summary.tool_names = Some(vec![secret.to_owned()]);
        row.error = Some(RowError {
            stage: "target".to_owned(),
            kind: "http".to_owned(),
            message: secret.to_owned(),
        });
        let mut inner = row.evaluator_results[0].clone();
        inner.reasoning = Some(secret.to_owned());
        inner.details = Some(json!({secret: [{"deep": secret}]}));
        row.evaluator_results[0].evaluator_results = Some(vec![inner]);
        let arguments = json!({"key": secret}).to_string();
        row.output_messages = Some(vec![
            json!({"role": "assistant", "content": [{"type": "text", "value": secret}],
                   "toolCalls": [{"id": "1", "name": "x", "arguments": arguments}]}),
        ]);
        row
    }

    #[test]
    fn no_secret_passes_in_any_spelling() {
        let mut row = spoiled("pa\"ss\nword");
        admit(&mut row, &secrets());
        let text = serde_json::to_string(&row).unwrap();
        assert!(!text.contains("word"), "{text}");
        assert_eq!(text.matches("***").count(), 10, "{text}");
    }

    #[test]
    fn a_row_without_secrets_stays_as_it_is() {
        let before = spoiled("harmless");
        let mut after = before.clone();
        admit(&mut after, &Secrets::default());
        assert_eq!(after, before);
        admit(&mut after, &secrets());
        assert_eq!(after, before);
    }

    #[test]
    fn names_by_which_rows_are_found_stay() {
        let mut secrets = Secrets::default();
        secrets.add("csv-top-months");
        let mut row = row("csv-top-months", 1);
        let key = row.key();
        admit(&mut row, &secrets);
        assert_eq!(row.key(), key);
    }

    #[test]
    fn what_nests_too_deep_to_be_read_back_becomes_text() {
        let mut row = row("a", 1);
        let mut deep = json!("bottom");
        for _ in 0..500 {
            deep = json!([deep]);
        }
        row.evaluator_results[0].details = Some(deep);
        admit(&mut row, &Secrets::default());
        let text = serde_json::to_string(&row).unwrap();
        let back: Row = serde_json::from_str(&text).unwrap();
        assert_eq!(back, row);
        assert!(text.contains("bottom"));
    }
}
