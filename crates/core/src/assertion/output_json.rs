//! The JSON value of an output: the whole output, in a fence, or inside prose.

use crate::model::Value;
use crate::syntax::{first_json_value, lenient_json_value};

use super::fence;

/// What happens to a Markdown fence around the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fences {
    Kept,
    Stripped,
}

/// The whole trimmed output as one value. The error is one line.
pub(super) fn whole(output: &str, fences: Fences) -> Result<Value, String> {
    let (mut start, mut text) = trimmed(output);
    if let (Fences::Stripped, Some(content)) = (fences, fence::surrounding(text)) {
        let (inside, content_text) = trimmed(&text[content.clone()]);
        start += content.start + inside;
        text = content_text;
    }
    lenient_json_value(text).map_err(|fault| {
        if text.is_empty() {
            "it is empty".to_owned()
        } else {
            format!("{} at {}", fault.reason, place(output, start + fault.at))
        }
    })
}

/// The first of: the whole output, the first fence, the first value in the text
/// (spec 7.18).
pub(super) fn anywhere(output: &str) -> Option<Value> {
    whole(output, Fences::Kept)
        .ok()
        .or_else(|| lenient_json_value(fence::first(output)?.trim()).ok())
        .or_else(|| first_json_value(output))
}

/// The trimmed text and where it begins.
fn trimmed(text: &str) -> (usize, &str) {
    let rest = text.trim_start();
    (text.len() - rest.len(), rest.trim_end())
}

/// Line and column in the whole output, from 1; columns in characters.
fn place(output: &str, at: usize) -> String {
    let before = &output[..at];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |found| found + 1);
    let column = before[start..].chars().count() + 1;
    format!("line {line}, column {column}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;

    #[test]
    fn faults_have_their_place_in_the_output() {
        for (output, message) in [
            ("{\"a\": }", "expected a value before the closing bracket at line 1, column 7"),
            ("\n  [1,\n  é]", "expected a JSON value at line 3, column 3"),
            ("[\"é\" 1]", "expected `,` or `]` at line 1, column 6"),
            ("", "it is empty"),
            (" \n", "it is empty"),
            ("```json\n```", "it is empty"),
            ("```json\n{]\n```", "expected a key in double quotes at line 2, column 2"),
        ] {
            let found = whole(output, Fences::Stripped).unwrap_err();
            assert_eq!(found, message, "{output}");
        }
    }

    #[test]
    fn the_value_is_looked_for_in_three_places() {
        for (output, value) in [
            (" [1] ", Some("[1]")),
            ("7", Some("7")),
            ("[0] is:\n```json\n{\"a\":1}\n```\n[2]", Some(r#"{"a":1}"#)),
            ("So:\n```\n7\n```", Some("7")),
            ("```sh\nls [a-z]\n```\nthen {\"a\":1}", Some(r#"{"a":1}"#)),
            ("It is {\"a\":1}.", Some(r#"{"a":1}"#)),
            ("It is 7.", None),
            ("", None),
        ] {
            let found = anywhere(output).map(|value| value.to_json(JsonStyle::Compact));
            assert_eq!(found.as_deref(), value, "{output}");
        }
    }
}
