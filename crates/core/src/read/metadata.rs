//! `metadata`: free-form data with a few reserved keys (spec 3.8).

use std::borrow::Cow;
use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{JsonStyle, Map, Number, Value};
use crate::reader::interpolate::Vars;
use crate::reader::{Reader, is_lone_reference, short_span, type_of};
use crate::syntax::fields::{Entry, Field, Shape};
use crate::syntax::{Node, Scalar};

declare_codes! {
    METADATA_WRONG_TYPE = "metadata-wrong-type", Error, Conformance, r#"`metadata` is not a mapping, or one of its reserved keys has the wrong type. It is ignored.

## Example
```yaml
name: demo
metadata:
  tags: smoke
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
metadata:
  tags: [smoke]
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
`author`, `license`, `tags`, `skill`, `runs_per_query` and `trigger_threshold` are read by tools;
all other keys are yours.
"#;
}

/// Reserved at the root; others are free.
pub static METADATA_FIELDS: &[Field] = &[
    Field::new("author", Shape::Text, "who wrote the suite"),
    Field::new("license", Shape::Text, "under which licence"),
    Field::new("tags", Shape::List(&Shape::Text), "words for selecting suites"),
    Field::new("skill", Shape::Text, "the skill the suite tests"),
    Field::new(
        "runs_per_query",
        Shape::Integer { min: 1, max: u64::MAX },
        "passed on to skill-creator",
    ),
    Field::new(
        "trigger_threshold",
        Shape::Number { min: 0.0, max: 1.0 },
        "passed on to skill-creator",
    ),
];

/// Root metadata: reserved keys are checked, and left out when wrong.
pub(super) fn read_root_metadata(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Map {
    let Some(mut map) = read_metadata(reader, entry) else {
        return Map::new();
    };
    for (key, value) in entry.value.entries() {
        let Some(name) = key.scalar_text() else {
            continue;
        };
        if ["runs_per_query", "trigger_threshold"].contains(&name) {
            take_number(reader, name, value, &mut map);
        }
        if let Some(wants) = map.get(name).and_then(|value| reserved_fault(name, value)) {
            reader.report(wrong(name, value, wants));
            map.remove(name);
        }
    }
    map
}

/// In free-form data a reference is a string, but these keys need a number (spec 6.1).
fn take_number(reader: &mut Reader<'_>, name: &str, node: Node<'_>, map: &mut Map) {
    let Some(Scalar::Str(text)) = node.scalar() else {
        return;
    };
    if !is_lone_reference(text) {
        return;
    }
    match reader.interpolate("metadata", node, text, Vars::Environment) {
        // A variable that is not set has been reported already.
        None => drop(map.remove(name)),
        Some(text) => {
            if let Some(number) = Number::parse(text.trim()) {
                map.insert(name, number);
            }
        }
    }
}

/// A mapping with free keys, or `metadata-wrong-type`.
pub(super) fn read_metadata(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Map> {
    if !entry.value.is_mapping() {
        return reader.refuse(wrong("metadata", entry.value, "a mapping"));
    }
    reader.map(entry)
}

/// What a reserved key should have been; `None` when it fits or is free.
pub(super) fn reserved_fault(name: &str, value: &Value) -> Option<&'static str> {
    match (name, value) {
        ("author" | "license" | "skill", Value::String(_)) => None,
        ("author" | "license" | "skill", _) => Some("a string"),
        ("tags", Value::List(items)) if items.iter().all(|item| item.as_str().is_some()) => None,
        ("tags", _) => Some("a list of strings"),
        ("runs_per_query", Value::Number(n)) if n.as_u64().is_some_and(|n| n >= 1) => None,
        ("runs_per_query", _) => Some("an integer of at least 1"),
        ("trigger_threshold", Value::Number(n)) if (0.0..=1.0).contains(&n.value()) => None,
        ("trigger_threshold", _) => Some("a number from 0 to 1"),
        _ => None,
    }
}

pub(super) fn wrong(name: &str, node: Node<'_>, wants: &str) -> Diagnostic {
    let found = type_of(node);
    let message = format!("`{name}` takes {wants}, found {found}; it is ignored");
    Diagnostic::new(&METADATA_WRONG_TYPE, short_span(node), message)
}

/// Test metadata over root metadata, key by key; `tags` are joined, root first.
pub(super) fn merge(root: &Map, own: &Map) -> Map {
    let mut merged = root.clone();
    for (key, value) in own.iter() {
        match (key, root.get(key), value) {
            ("tags", Some(Value::List(first)), Value::List(second)) => {
                let mut seen: HashSet<Cow<'_, str>> = first.iter().map(tag_key).collect();
                let own = second.iter().filter(|tag| seen.insert(tag_key(tag)));
                let tags = first.iter().chain(own).cloned();
                merged.insert(key, Value::List(tags.collect()));
            }
            _ => merged.insert(key, value.clone()),
        }
    }
    merged
}

/// Equal for equal tags. Those that are not strings are read too.
fn tag_key(tag: &Value) -> Cow<'_, str> {
    match tag.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(format!("\0{}", tag.to_json(JsonStyle::Compact))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_wins_and_tags_are_joined() {
        let mut root = Map::new();
        root.insert("tags", vec!["a", "b"]);
        root.insert("x", "root");
        let mut own = Map::new();
        own.insert("tags", vec!["b", "c"]);
        own.insert("x", "own");
        let merged = merge(&root, &own);
        assert_eq!(merged.get("tags"), Some(&vec!["a", "b", "c"].into()));
        assert_eq!(merged.get("x"), Some(&"own".into()));
    }
}
