//! Makes a row fit to be written: without secrets (spec 9.5), and no deeper than it can be read back.
//!
//! Every text of a row is redacted, unless its key is in [`IDENTIFIERS`]. Redaction comes before JSON,
//! where a number that was replaced would no longer be valid.

use evalrig_core::model::Transcript;
use evalrig_core::secrets::{RedactedNames, Secrets};
use serde_json::{Map, Value};

use super::row::{EvaluatorResult, Row};
use super::transcript_json::{read_transcript, transcript_value};

/// Free data that nests deeper is kept as JSON text. Readers give up at 128 levels, of which a row
/// and its composites need some themselves.
const DEEPEST: usize = 48;

/// Keys whose texts are never redacted: words of the format, and the names by which rows are found
/// again. The names of suites and tests were redacted before the cases were planned.
pub(super) const IDENTIFIERS: &[&str] = &[
    "timestamp",
    "evalId",
    "dataset",
    "target",
    "testHash",
    "verdict",
    "outcome",
    "record",
    "gate",
    "aggregator",
    "stage",
    "kind",
    "how",
    "run",
    "plan",
    "evalrig",
    "commit",
];

/// Keys with data of agents and scripts, whose own keys and numbers can be secrets too.
const FREE_DATA: &[&str] = &["details", "input", "expectedOutput", "outputMessages"];

/// Makes a row fit to be written, and gives its line, without checksum and line break.
pub(crate) fn row_line(row: &mut Row, secrets: &Secrets) -> serde_json::Result<Vec<u8>> {
    sanitize_row(row);
    let line = line_of(row)?;
    // Most rows hold no secret. One search in the whole line shows that.
    if !std::str::from_utf8(&line).is_ok_and(|line| secrets.is_in(line)) {
        return Ok(line);
    }
    redact_row(row, secrets);
    line_of(row)
}

fn line_of(row: &Row) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(2048);
    serde_json::to_writer(&mut line, row)?;
    Ok(line)
}

fn sanitize_row(row: &mut Row) {
    let messages = row.output_messages.iter_mut().chain(&mut row.input).flatten();
    for data in messages.chain(&mut row.expected_output) {
        flatten(data);
    }
    for result in &mut row.evaluator_results {
        flatten_details(result);
    }
}

fn redact_row(row: &mut Row, secrets: &Secrets) {
    redact_measures(row, secrets);
    let Ok(mut value) = serde_json::to_value(&*row) else {
        return;
    };
    if redact_record(&mut value, secrets) {
        *row = serde_json::from_value(value).expect("redaction changes texts only");
    }
}

/// Redacts a row that was read: a file from elsewhere may hold values that are secrets here. Names of
/// suites and tests too, as they are when a suite is loaded.
pub(super) fn redact_stored_row(row: &mut Row, secrets: &Secrets) {
    redact_row(row, secrets);
    for name in [&mut row.eval_id, &mut row.dataset] {
        redact_text(name, secrets);
    }
}

/// A measured number that is a secret becomes unknown.
fn redact_measures(row: &mut Row, secrets: &Secrets) {
    let hide_count = |count: &mut Option<u64>| {
        *count = count.filter(|count| !secrets.is_measure_secret(count));
    };
    let hide_amount = |amount: &mut Option<f64>| {
        *amount = amount.filter(|amount| !secrets.is_measure_secret(amount));
    };
    let trace = &mut row.trace_summary;
    let counts = [
        &mut row.duration_ms,
        &mut trace.duration_ms,
        &mut trace.input_tokens,
        &mut trace.output_tokens,
        &mut trace.total_tokens,
    ];
    counts.into_iter().for_each(hide_count);
    [&mut row.cost_usd, &mut trace.cost_usd].into_iter().for_each(hide_amount);
    row.tokens = row.tokens.filter(|tokens| {
        let counts = [tokens.input, tokens.output, Some(tokens.total), tokens.cached];
        !counts.into_iter().flatten().any(|count| secrets.is_measure_secret(count))
    });
    if let Some(usage) = &mut row.judge_usage {
        [&mut usage.input, &mut usage.output].into_iter().for_each(hide_count);
        hide_amount(&mut usage.cost_usd);
    }
}

/// Redacts a stored answer with what is secret now. Where the form of a message would not survive,
/// nothing is left of the answer.
pub(crate) fn redact_transcript(transcript: &mut Transcript, secrets: &Secrets) {
    if secrets.is_empty() {
        return;
    }
    let before = transcript_value(transcript);
    let mut after = before.clone();
    secrets.redact_data(&mut after);
    if after != before {
        *transcript = read_transcript(&after).unwrap_or_default();
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

/// As [`redact_record`], keys and numbers included.
fn redact_free(value: &mut Value, secrets: &Secrets) -> bool {
    match value {
        Value::String(text) => redact_text(text, secrets),
        Value::Number(number) if secrets.is_number_secret(&number.to_string()) => {
            *value = Value::String(secrets.redact(&number.to_string()));
            true
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |changed, item| redact_free(item, secrets) | changed)
        }
        Value::Object(map) => {
            let mut changed = false;
            let mut names = RedactedNames::new(secrets);
            *map = std::mem::take(map)
                .into_iter()
                .map(|(mut key, mut inner)| {
                    changed |= names.redact(&mut key);
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
    let has_secret = secrets.is_in(text);
    if has_secret {
        secrets.redact_in_place(text);
    }
    has_secret
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

    use super::super::row::{RowError, TokenCounts};
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
        let line = row_line(&mut row, &secrets()).unwrap();
        let text = String::from_utf8(line).unwrap();
        assert_eq!(text, serde_json::to_string(&row).unwrap());
        assert!(!text.contains("word"), "{text}");
        assert_eq!(text.matches("***").count(), 10, "{text}");
    }

    #[test]
    fn a_row_without_secrets_stays_as_it_is() {
        let before = spoiled("harmless");
        let mut after = before.clone();
        row_line(&mut after, &Secrets::default()).unwrap();
        assert_eq!(after, before);
        row_line(&mut after, &secrets()).unwrap();
        assert_eq!(after, before);
    }

    #[test]
    fn names_by_which_rows_are_found_stay() {
        let mut secrets = Secrets::default();
        secrets.add("csv-top-months");
        let mut row = row("csv-top-months", 1);
        let key = row.key();
        row_line(&mut row, &secrets).unwrap();
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
        row_line(&mut row, &Secrets::default()).unwrap();
        let text = serde_json::to_string(&row).unwrap();
        let back: Row = serde_json::from_str(&text).unwrap();
        assert_eq!(back, row);
        assert!(text.contains("bottom"));
    }

    #[test]
    fn a_measured_number_that_is_a_secret_is_unknown() {
        let mut secrets = Secrets::default();
        secrets.add("1234567890");
        let mut row = row("a", 1);
        row.tokens = Some(TokenCounts {
            input: Some(1_234_567_890),
            output: Some(1),
            total: 2,
            cached: Some(0),
        });
        row.trace_summary.input_tokens = Some(1_234_567_890);
        row.cost_usd = Some(1_234_567_890.5);
        row.evaluator_results[0].details = Some(json!({"pin": 1_234_567_890_u64, "n": 7}));
        let line = String::from_utf8(row_line(&mut row, &secrets).unwrap()).unwrap();
        assert!(!line.contains("1234567890"), "{line}");
        assert_eq!((row.tokens, row.cost_usd), (None, None));
        assert_eq!(row.evaluator_results[0].details, Some(json!({"pin": "***", "n": 7})));
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
