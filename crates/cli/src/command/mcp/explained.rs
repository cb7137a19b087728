//! The index of `explain` for a model: what suites and targets files can say, without diagnostics.

use serde_json::Value;

use super::answer::BoundedText;
use crate::command::explain::first_sentence;

/// Names with the first sentence of their pages, made of `explain --format json`.
pub fn index_text(document: &Value) -> String {
    let topics = document["topics"].as_array().map_or(&[][..], Vec::as_slice);
    let mut answer = BoundedText::default();
    for (kind, title) in [("assertion", "Assertion types"), ("provider", "Target providers")] {
        answer.push("", title);
        for topic in topics.iter().filter(|topic| topic["kind"] == kind) {
            let text = |key: &str| topic[key].as_str().unwrap_or_default();
            answer.push("  ", &format!("{}: {}", text("name"), first_sentence(text("doc"))));
        }
    }
    answer.close("`explain` with one of these names, or that of a diagnostic, has the whole page.");
    answer.into_text()
}
