//! JSON text → [`Value`], for data that belongs to no schema.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Map, Number, Value};
use crate::source::SourceId;

use super::DEPTH_LIMIT;
use super::json::{JsonError, JsonErrorKind, UNCLOSED, parse_into, parse_prefix};
use super::scalar::Scalar;
use super::tree::{Node, Tree};

/// The value of a JSON text; `None` when it is not JSON.
pub fn json_value(text: &str) -> Option<Value> {
    let mut tree = Tree::new(SourceId(0), Arc::new(text.to_owned()));
    parse_into(&mut tree).ok()?;
    Some(plain_value(tree.root()))
}

/// Why a text is not JSON, in one line, and the byte at which that shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonFault {
    pub at: usize,
    pub reason: String,
}

/// As [`json_value`], for text that a program wrote: the last value of a repeated key wins, as in
/// most JSON parsers.
pub fn lenient_json_value(text: &str) -> Result<Value, JsonFault> {
    let Some(mut tree) = small_tree(text) else {
        return Err(JsonFault { at: 0, reason: "it is too long".to_owned() });
    };
    let parsed = parse_into(&mut tree);
    value_in(&tree, parsed)
        .map_err(|error| JsonFault { at: error.at as usize, reason: reason(&error.kind) })
}

/// The value that begins at the first `{` or `[` from which a complete value can be read, as
/// [`lenient_json_value`] reads it.
///
/// Every attempt may scan much of the text, so hostile input could take quadratic time. All
/// attempts together scan at most 16 times the text plus 1 MiB; then the result is `None`.
pub(crate) fn first_json_value(text: &str) -> Option<Value> {
    let mut tree = small_tree(text)?;
    let mut budget = text.len().saturating_mul(16).saturating_add(1 << 20);
    for (start, _) in text.match_indices(['{', '[']) {
        let parsed = parse_prefix(&mut tree, start);
        match value_in(&tree, parsed) {
            Ok(value) => return Some(value),
            Err(error) => {
                let looked_at = match error.kind {
                    JsonErrorKind::Syntax(UNCLOSED) => text.len() - start,
                    _ => error.at as usize - start + 1,
                };
                budget = budget.checked_sub(looked_at)?;
            }
        }
    }
    None
}

/// Places in a tree are 32 bits wide.
fn small_tree(text: &str) -> Option<Tree> {
    let is_small = u32::try_from(text.len()).is_ok();
    is_small.then(|| Tree::new(SourceId(0), Arc::new(text.to_owned())))
}

/// The value, unless there is a fault other than repeated keys.
fn value_in(tree: &Tree, parsed: Result<(), Vec<JsonError>>) -> Result<Value, JsonError> {
    let Err(faults) = parsed else {
        return Ok(plain_value(tree.root()));
    };
    let is_repeat = |fault: &JsonError| matches!(fault.kind, JsonErrorKind::DuplicateKey { .. });
    match faults.into_iter().find(|fault| !is_repeat(fault)) {
        Some(fault) => Err(fault),
        None => Ok(last_of_each_key(plain_value(tree.root()))),
    }
}

/// A repeated key keeps its first place and its last value.
fn last_of_each_key(value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(last_of_each_key).collect()),
        Value::Map(map) => {
            let mut places: HashMap<String, usize> = HashMap::new();
            let mut kept: Vec<(String, Value)> = Vec::with_capacity(map.len());
            for (key, value) in map {
                let value = last_of_each_key(value);
                match places.get(&key) {
                    Some(place) => kept[*place].1 = value,
                    None => {
                        places.insert(key.clone(), kept.len());
                        kept.push((key, value));
                    }
                }
            }
            Value::Map(kept.into_iter().collect())
        }
        scalar => scalar,
    }
}

fn reason(kind: &JsonErrorKind) -> String {
    match kind {
        JsonErrorKind::Syntax(message) => (*message).to_owned(),
        JsonErrorKind::TooDeep => format!("it is nested deeper than {DEPTH_LIMIT} levels"),
        JsonErrorKind::DuplicateKey { .. } => "a key is repeated".to_owned(),
    }
}

/// A node as data, nothing replaced. The depth of a tree is bounded, so this may recurse.
pub fn plain_value(node: Node<'_>) -> Value {
    if node.is_sequence() {
        return Value::List(node.items().map(plain_value).collect());
    }
    match node.scalar() {
        None => Value::Map(
            node.entries()
                .into_iter()
                .filter_map(|(key, value)| {
                    Some((key.scalar_text()?.to_owned(), plain_value(value)))
                })
                .collect::<Map>(),
        ),
        Some(Scalar::Null) => Value::Null,
        Some(Scalar::Bool(value)) => Value::Bool(value),
        Some(Scalar::Int(text) | Scalar::Float(text)) => {
            Number::parse(text).map_or_else(|| Value::from(text), Value::Number)
        }
        Some(Scalar::Str(text)) => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;

    #[test]
    fn json_comes_back_as_it_was() {
        let text = r#"{"b":[1.50,null,true],"a":{"x":"\n"}}"#;
        assert_eq!(json_value(text).unwrap().to_json(JsonStyle::Compact), text);
        assert_eq!(json_value("{a: 1}"), None);
    }

    fn first(text: &str) -> Option<String> {
        first_json_value(text).map(|value| value.to_json(JsonStyle::Compact))
    }

    #[test]
    fn of_a_repeated_key_the_last_value_counts() {
        for (text, kept) in [
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
            (r#"[{"a":{"x":1,"x":2}}]"#, r#"[{"a":{"x":2}}]"#),
            (r#"{"\u0061":1,"a":2}"#, r#"{"a":2}"#),
        ] {
            let value = lenient_json_value(text).unwrap();
            assert_eq!(value.to_json(JsonStyle::Compact), kept);
            assert_eq!(json_value(text), None);
        }
        let fault = lenient_json_value(r#"{"a":1,"a":2,}"#).unwrap_err();
        assert_eq!((fault.at, &*fault.reason), (13, "a comma before the closing bracket"));
    }

    #[test]
    fn very_many_repeated_keys_are_read_in_time() {
        let entries: Vec<String> =
            (0..50_000).map(|n| format!("\"k{}\":{n}", n % 25_000)).collect();
        let value = lenient_json_value(&format!("{{{}}}", entries.join(","))).unwrap();
        assert_eq!(value.as_map().map(Map::len), Some(25_000));
    }

    #[test]
    fn the_first_complete_value_is_found() {
        for (text, found) in [
            (r#"Here: {"a":1}. Bye [2]"#, Some(r#"{"a":1}"#)),
            ("see [1] {", Some("[1]")),
            ("[link](x) then {\"a\":[]}", Some(r#"{"a":[]}"#)),
            ("{oops {\"a\":1}", Some(r#"{"a":1}"#)),
            ("[1, [2], ", Some("[2]")),
            ("{\"a\": \"never closed [3]", Some("[3]")),
            ("42 and \"text\"", None),
            ("[\"\\ud800\"]", None),
            ("", None),
        ] {
            assert_eq!(first(text).as_deref(), found, "{text}");
        }
    }

    #[test]
    fn hostile_texts_are_given_up_in_time() {
        for part in ["[", "{\"a\":", "[\"", "[\"[\",", "[1,", "{\"[", "[ \\\""] {
            let text = part.repeat(300_000 / part.len());
            assert_eq!(first(&text), None, "{part}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(lenient_json_value(&deep).is_err());
        assert!(lenient_json_value("1e999999999").is_ok());
    }
}
