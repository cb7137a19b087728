//! The variables of one test (spec 6.2).

use std::collections::HashMap;

use crate::model::{JsonStyle, Map, Value};
use crate::syntax::{Kind, Node, Scalar};

#[derive(Debug)]
pub(crate) struct TestVars {
    values: Map,
    /// How booleans and nulls are written, by path, where JSON writes them otherwise. Numbers know
    /// it themselves.
    spellings: HashMap<String, String>,
}

impl TestVars {
    /// `values` are what the mapping holds.
    pub(crate) fn new(values: Map, mapping: Node<'_>) -> Self {
        let mut spellings = HashMap::new();
        note_spellings(mapping, &mut String::new(), &mut spellings);
        Self { values, spellings }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name)
    }

    /// The value of `country`, `city.name` or `list.0`.
    pub(super) fn look_up(&self, path: &str) -> Option<&Value> {
        let mut steps = path.split('.');
        let first = self.values.get(steps.next()?)?;
        steps.try_fold(first, |value, step| match value {
            Value::Map(map) => map.get(step),
            Value::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// What the value at a path is inside a text: scalars as they are written, others as JSON.
    pub(super) fn text(&self, path: &str, value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.source().to_owned(),
            other => match self.spellings.get(path) {
                Some(spelling) => spelling.clone(),
                None => other.to_json(JsonStyle::Compact),
            },
        }
    }
}

fn note_spellings(node: Node<'_>, path: &mut String, found: &mut HashMap<String, String>) {
    match node.kind() {
        Kind::Mapping => {
            for (key, value) in node.entries() {
                // No reference leads through a key with a dot.
                if let Some(key) = key.scalar_text().filter(|key| !key.contains('.')) {
                    note_below(value, key, path, found);
                }
            }
        }
        Kind::Sequence => {
            for (at, item) in node.items().enumerate() {
                note_below(item, &at.to_string(), path, found);
            }
        }
        Kind::Scalar => {
            let word = match node.scalar() {
                Some(Scalar::Bool(true)) => "true",
                Some(Scalar::Bool(false)) => "false",
                Some(Scalar::Null) => "null",
                _ => return,
            };
            let written = node.scalar_text().filter(|written| *written != word);
            found.extend(written.map(|written| (path.clone(), written.to_owned())));
        }
    }
}

fn note_below(node: Node<'_>, step: &str, path: &mut String, found: &mut HashMap<String, String>) {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(step);
    note_spellings(node, path, found);
    path.truncate(length);
}
