//! The JSON value that an answer consists of, in a fence or without one.

use crate::model::{JsonStyle, Value};
use crate::syntax::json_value;

/// A list or a mapping with its place in the answer.
pub(super) struct JsonAnswer<'a> {
    before: &'a str,
    pub(super) value: Value,
    after: &'a str,
    style: JsonStyle,
}

impl<'a> JsonAnswer<'a> {
    /// `None` if the answer is something else, or has text around the value.
    pub(super) fn find(answer: &'a str) -> Option<Self> {
        let inside = inside_fence(answer).unwrap_or(answer).trim();
        if !inside.starts_with(['{', '[']) {
            return None;
        }
        let value = json_value(inside)?;
        let start = inside.as_ptr() as usize - answer.as_ptr() as usize;
        let (before, rest) = answer.split_at(start);
        let style = if inside.contains('\n') { JsonStyle::Pretty } else { JsonStyle::Spaced };
        Some(Self { before, value, after: &rest[inside.len()..], style })
    }

    /// The answer with another value in the same place.
    pub(super) fn with(&self, value: &Value) -> String {
        format!("{}{}{}", self.before, value.to_json(self.style), self.after)
    }
}

/// The content of the fence around the whole answer.
fn inside_fence(answer: &str) -> Option<&str> {
    let text = answer.trim();
    let rest = text.strip_prefix("```")?.strip_suffix("```")?;
    Some(&rest[rest.find('\n')?..])
}

/// The same value with every value inside it replaced, innermost first.
pub(super) fn changed(value: &Value, change: &mut dyn FnMut(&Value) -> Value) -> Value {
    // The depth is bounded by the parser.
    match value {
        Value::List(items) if !items.is_empty() => {
            Value::List(items.iter().map(|item| changed(item, change)).collect())
        }
        Value::Map(map) if !map.is_empty() => {
            let entries = map.iter().map(|(key, value)| (key.to_owned(), changed(value, change)));
            Value::Map(entries.collect())
        }
        other => change(other),
    }
}
