//! Keeps a row within what can be read back: the longest texts are shortened, and say so (spec 11.1).

use serde::Deserialize;
use serde_json::Value;

use super::read::LINE_LIMIT;
use super::redact::IDENTIFIERS;
use super::row::Row;

/// Left for the checksum and the line break.
const MARGIN: u64 = 1024;

/// Bytes that a text may keep, one attempt after the other.
const LONGEST_TEXTS: [usize; 4] = [16 << 20, 1 << 20, 64 << 10, 1 << 10];

/// Items that a list may keep if shorter texts are not enough.
const LONGEST_LIST: usize = 1000;

/// Lists that have as many items as an agent or a script likes.
const FREE_LISTS: [&str; 6] =
    ["outputMessages", "input", "expectedOutput", "toolNames", "hits", "misses"];

/// The line of a row that can be read back; the row is what the line says.
pub(super) fn fit_row(row: &mut Row, line: Vec<u8>) -> serde_json::Result<Vec<u8>> {
    fit(row, line, LINE_LIMIT - MARGIN)
}

fn fit(row: &mut Row, line: Vec<u8>, limit: u64) -> serde_json::Result<Vec<u8>> {
    let is_fit = |line: &[u8]| line.len() as u64 <= limit;
    if is_fit(&line) {
        return Ok(line);
    }
    drop(line);
    let mut value = serde_json::to_value(&*row)?;
    for (round, longest) in LONGEST_TEXTS.into_iter().enumerate() {
        if round + 1 == LONGEST_TEXTS.len() {
            shorten_lists(&mut value, LONGEST_LIST);
        }
        shorten_texts(&mut value, longest);
        *row = Row::deserialize(&value)?;
        let line = serde_json::to_vec(row)?;
        if is_fit(&line) {
            return Ok(line);
        }
    }
    let reason = "the row has too many parts to be written";
    Err(serde::ser::Error::custom(reason))
}

/// Every text that is not an identifier.
fn shorten_texts(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) => shorten(text, longest),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten_texts(item, longest)),
        Value::Object(map) => map
            .iter_mut()
            .filter(|(key, _)| !IDENTIFIERS.contains(&key.as_str()))
            .for_each(|(_, inner)| shorten_texts(inner, longest)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shorten(text: &mut String, longest: usize) {
    if text.len() <= longest {
        return;
    }
    let kept = text.floor_char_boundary(longest);
    let left_out = text.len() - kept;
    text.truncate(kept);
    text.push_str(&format!(" [… {left_out} bytes left out: the row was too long]"));
}

/// Lists and data whose size nobody limits. `details` become a text, which is shortened then.
fn shorten_lists(value: &mut Value, longest: usize) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| shorten_lists(item, longest)),
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                if key == "details" {
                    *inner = Value::String(inner.to_string());
                } else if FREE_LISTS.contains(&key.as_str()) {
                    shorten_list(inner, longest);
                } else {
                    shorten_lists(inner, longest);
                }
            }
        }
        _ => {}
    }
}

/// Items that are data become texts, so that each has a length.
fn shorten_list(value: &mut Value, longest: usize) {
    let Value::Array(items) = value else {
        if value.is_object() {
            *value = Value::String(value.to_string());
        }
        return;
    };
    let left_out = items.len().saturating_sub(longest);
    items.truncate(longest);
    if left_out > 0 {
        items.push(Value::String(format!("[… {left_out} left out: the row was too long]")));
    }
    for item in items.iter_mut().filter(|item| item.is_object() || item.is_array()) {
        *item = Value::String(item.to_string());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::row;
    use super::*;

    fn fitted(row: &mut Row, limit: u64) -> Vec<u8> {
        let line = serde_json::to_vec(row).unwrap();
        let fitted = fit(row, line, limit).unwrap();
        assert!(fitted.len() as u64 <= limit, "{}", fitted.len());
        assert_eq!(serde_json::from_slice::<Row>(&fitted).unwrap(), *row);
        fitted
    }

    #[test]
    fn a_row_within_the_limit_stays_as_it_is() {
        let mut one = row("a", 1);
        let line = serde_json::to_vec(&one).unwrap();
        assert_eq!(fitted(&mut one, line.len() as u64), line);
        assert_eq!(one, row("a", 1));
    }

    #[test]
    fn the_longest_texts_are_shortened_and_say_so() {
        let mut one = row("a", 1);
        // Six bytes each in JSON.
        one.candidate_answer = Some("\u{1}".repeat(200_000));
        one.criteria = Some("short".to_owned());
        one.output_messages =
            Some(vec![json!({"role": "assistant", "content": "ö".repeat(90_000)})]);
        fitted(&mut one, 500_000);
        let answer = one.candidate_answer.unwrap();
        assert!(answer.ends_with("[… 134464 bytes left out: the row was too long]"), "{answer}");
        assert_eq!(one.criteria.unwrap(), "short");
        let content = one.output_messages.unwrap()[0]["content"].as_str().unwrap().to_owned();
        assert!(content.ends_with("[… 114464 bytes left out: the row was too long]"));
    }

    #[test]
    fn every_field_that_can_grow_is_shortened() {
        let many = || (0..3000).map(|at| format!("item {at}")).collect::<Vec<_>>();
        let data = || json!(many());
        let long = || "x".repeat(30_000);
        let mut one = row("a", 1);
        one.hits = many();
        one.misses = many();
        one.trace_summary.tool_names = Some(many());
        one.output_messages = Some(vec![json!({"content": "x".repeat(500)}); 3000]);
        one.input = Some(vec![json!({"role": "user", "content": long()}); 3]);
        one.expected_output = Some(json!({"deep": data()}));
        one.criteria = Some(long());
        one.command = Some(long());
        one.conversation_id = Some(long());
        one.evaluator_results[0].details = Some(data());
        one.evaluator_results[0].reasoning = Some(long());
        one.evaluator_results[0].hits = many();
        let key = one.key();
        fitted(&mut one, 1_000_000);
        assert_eq!(one.key(), key);
        assert_eq!(one.hits.last().unwrap(), "[… 2000 left out: the row was too long]");
        assert_eq!(one.output_messages.unwrap().len(), 1001);
    }
}
