//! Makes a row fit to be written: without secrets (spec 9.5), and no deeper than it can be read back.
//!
//! Every text of a row is redacted, unless its key is in [`IDENTIFIERS`]. Redaction comes before JSON,
//! because a quote or a line break inside a secret is spelled differently there.

use evalrig_core::secrets::Secrets;
use serde_json::{Map, Value};

use super::row::{EvaluatorResult, Row};

/// Free data that nests deeper is kept as JSON text. Readers give up at 128 levels, of which a row
/// and its composites need some themselves.
const DEEPEST: usize = 48;

/// Keys whose texts are never redacted: words of the format, and the names by which rows are found
/// again. With one of those redacted a case would be lost, or run twice.
const IDENTIFIERS: &[&str] = &[
    "timestamp",
    "evalId",
    "dataset",
    "target",
    "testHash",
    "verdict",
    "outcome",
    "source",
    "record",
    "type",
    "gate",
    "aggregator",
    "stage",
    "kind",
];

/// Keys with data of agents and scripts, whose own keys can hold secrets too.
const FREE_DATA: &[&str] = &["details", "outputMessages"];

pub(super) fn sanitize_row(row: &mut Row, secrets: &Secrets) {
    for message in row.output_messages.iter_mut().flatten() {
        flatten(message);
    }
    for result in &mut row.evaluator_results {
        flatten_details(result);
    }
    if !secrets.is_empty() {
        redact_row(row, secrets);
    }
}

fn redact_row(row: &mut Row, secrets: &Secrets) {
    let Ok(mut value) = serde_json::to_value(&*row) else {
        return;
    };
    if redact_record(&mut value, secrets) {
        *row = serde_json::from_value(value).expect("redaction changes texts only");
    }
}

/// Redacts an object whose keys are those of the format. Whether anything changed.
fn redact_record(value: &mut Value, secrets: &Secrets) -> bool {
    match value {
        Value::String(text) => redact_text(text, secrets),
        Value::Array(items) => {
            items.iter_mut().fold(false, |changed, item| redact_record(item, secrets) | changed)
        }
        Value::Object(map) => map
            .iter_mut()
            .filter(|(key, _)| !IDENTIFIERS.contains(&key.as_str()))
            .fold(false, |changed, (key, inner)| {
                let is_free = FREE_DATA.contains(&key.as_str());
                let redact = if is_free { redact_free } else { redact_record };
                redact(inner, secrets) | changed
            }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// As [`redact_record`], keys included.
fn redact_free(value: &mut Value, secrets: &Secrets) -> bool {
    match value {
        Value::String(text) => redact_text(text, secrets),
        Value::Array(items) => {
            items.iter_mut().fold(false, |changed, item| redact_free(item, secrets) | changed)
        }
        Value::Object(map) => {
            let mut changed = false;
            *map = std::mem::take(map)
                .into_iter()
                .map(|(mut key, mut inner)| {
                    changed |= redact_text(&mut key, secrets);
                    changed |= redact_free(&mut inner, secrets);
                    (key, inner)
                })
                .collect::<Map<_, _>>();
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn redact_text(text: &mut String, secrets: &Secrets) -> bool {
    let redacted = secrets.redact(text);
    let changed = redacted != *text;
    *text = redacted;
    changed
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

    use super::super::row::RowError;
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
        row.output_messages =
            Some(vec![json!({"role": "assistant", "content": [{"type": "text", "value": secret}],
                   "toolCalls": [{"id": "1", "name": "x", "arguments": arguments}]})]);
        row
    }

    #[test]
    fn no_secret_passes_in_any_spelling() {
        let mut row = spoiled("pa\"ss\nword");
        sanitize_row(&mut row, &secrets());
        let text = serde_json::to_string(&row).unwrap();
        assert!(!text.contains("word"), "{text}");
        assert_eq!(text.matches("***").count(), 10, "{text}");
    }

    #[test]
    fn a_row_without_secrets_stays_as_it_is() {
        let before = spoiled("harmless");
        let mut after = before.clone();
        sanitize_row(&mut after, &Secrets::default());
        assert_eq!(after, before);
        sanitize_row(&mut after, &secrets());
        assert_eq!(after, before);
    }

    #[test]
    fn names_by_which_rows_are_found_stay() {
        let mut secrets = Secrets::default();
        secrets.add("csv-top-months");
        let mut row = row("csv-top-months", 1);
        let key = row.key();
        sanitize_row(&mut row, &secrets);
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
        sanitize_row(&mut row, &Secrets::default());
        let text = serde_json::to_string(&row).unwrap();
        let back: Row = serde_json::from_str(&text).unwrap();
        assert_eq!(back, row);
        assert!(text.contains("bottom"));
    }

    #[test]
    fn a_text_under_a_new_key_is_redacted_by_default() {
        let mut value = serde_json::to_value(row("a", 1)).unwrap();
        value["newKey"] = json!("it is pa\"ss\nword");
        value["evaluatorResults"][0]["newKey"] = json!(["pa\"ss\nword", {"deep": "pa\"ss\nword"}]);
        assert!(redact_record(&mut value, &secrets()));
        assert_eq!(value["newKey"], "it is ***");
        let inner = &value["evaluatorResults"][0]["newKey"];
        assert_eq!(*inner, json!(["***", {"deep": "***"}]));
    }
}
