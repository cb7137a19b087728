//! Data of a foreign file in which every value knows its place. Owned, so that data of several files
//! can be merged.

use crate::model::{Map, Number, Value};
use crate::source::Span;
use crate::syntax::{Node, plain_value};

use super::foreign_file::json_in_text;

/// A value and where it is written.
#[derive(Debug, Clone)]
pub(super) struct Located {
    pub(super) span: Span,
    pub(super) data: LocatedData,
}

#[derive(Debug, Clone)]
pub(super) enum LocatedData {
    /// Never a list or a mapping.
    Scalar(Value),
    List(Vec<Located>),
    Map(Vec<LocatedEntry>),
}

#[derive(Debug, Clone)]
pub(super) struct LocatedEntry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) value: Located,
}

impl Located {
    /// Merged keys are included. The size of a tree with its aliases is bounded, and so is its depth.
    pub(super) fn of(node: Node<'_>) -> Self {
        let span = node.span();
        let data = if node.is_sequence() {
            LocatedData::List(node.items().map(Self::of).collect())
        } else if node.is_mapping() {
            let entries = node.entries().into_iter().filter_map(|(key, value)| {
                let name = key.scalar_text()?.trim().to_owned();
                Some(LocatedEntry { key: name, key_span: key.span(), value: Self::of(value) })
            });
            LocatedData::Map(entries.collect())
        } else {
            LocatedData::Scalar(plain_value(node))
        };
        Self { span, data }
    }

    pub(super) fn scalar(value: impl Into<Value>, span: Span) -> Self {
        Self { span, data: LocatedData::Scalar(value.into()) }
    }

    /// As data of the file that is converted, all of it at one place.
    pub(super) fn at(value: &Value, span: Span) -> Self {
        let data = match value {
            Value::List(items) => {
                LocatedData::List(items.iter().map(|item| Self::at(item, span)).collect())
            }
            Value::Map(map) => LocatedData::Map(
                map.iter()
                    .map(|(key, value)| LocatedEntry {
                        key: key.to_owned(),
                        key_span: span,
                        value: Self::at(value, span),
                    })
                    .collect(),
            ),
            scalar => LocatedData::Scalar(scalar.clone()),
        };
        Self { span, data }
    }

    /// The value of a key of a mapping, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let entry = self.entries().iter().find(|entry| entry.key == key)?;
        Some(&entry.value).filter(|value| !value.is_null())
    }

    /// The first of these keys that is there.
    pub(super) fn first_of(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().find_map(|key| self.get(key))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Whether the key is written, also with nothing behind it.
    pub(super) fn mentions(&self, key: &str) -> bool {
        self.entries().iter().any(|entry| entry.key == key)
    }

    /// The value at `a.b.0`: keys and indices joined by dots. A key may contain dots itself.
    pub(super) fn at_path(&self, path: &str) -> Option<&Self> {
        if let Some(found) = self.get(path) {
            return Some(found);
        }
        let (head, rest) = path.split_once('.')?;
        let inner = match &self.data {
            LocatedData::List(items) => items.get(head.parse::<usize>().ok()?),
            _ => self.get(head),
        }?;
        inner.at_path(rest).or_else(|| match &inner.data {
            LocatedData::List(items) => items.get(rest.parse::<usize>().ok()?),
            _ => None,
        })
    }

    pub(super) fn entries(&self) -> &[LocatedEntry] {
        match &self.data {
            LocatedData::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match &self.data {
            LocatedData::List(items) => items,
            _ => &[],
        }
    }

    /// The items of a list, or the value alone.
    pub(super) fn one_or_more(&self) -> &[Self] {
        match &self.data {
            LocatedData::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self.data, LocatedData::Map(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.data, LocatedData::List(_))
    }

    /// Nothing, a blank text, or a list or mapping without entries.
    pub(super) fn is_empty(&self) -> bool {
        match &self.data {
            LocatedData::Scalar(Value::Null) => true,
            LocatedData::Scalar(Value::String(text)) => text.trim().is_empty(),
            LocatedData::List(items) => items.is_empty(),
            LocatedData::Map(entries) => entries.is_empty(),
            LocatedData::Scalar(_) => false,
        }
    }

    /// Whether the key has a value that is not empty.
    pub(super) fn has_filled(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| !value.is_empty())
    }

    /// With the JSON in its texts parsed, as in the cells of an exported table.
    pub(super) fn with_parsed_texts(&self) -> Self {
        let data = match &self.data {
            LocatedData::List(items) => {
                LocatedData::List(items.iter().map(Self::with_parsed_texts).collect())
            }
            LocatedData::Map(entries) => LocatedData::Map(
                entries
                    .iter()
                    .map(|entry| LocatedEntry {
                        value: entry.value.with_parsed_texts(),
                        ..entry.clone()
                    })
                    .collect(),
            ),
            LocatedData::Scalar(Value::String(text)) => {
                return json_in_text(text, self.span).unwrap_or_else(|| self.clone());
            }
            scalar => scalar.clone(),
        };
        Self { span: self.span, data }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.data, LocatedData::Scalar(Value::Null))
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.data {
            LocatedData::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        match &self.data {
            LocatedData::Scalar(Value::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<Number> {
        match &self.data {
            LocatedData::Scalar(Value::Number(number)) => Some(number.clone()),
            LocatedData::Scalar(Value::String(text)) => Number::parse(text.trim()),
            _ => None,
        }
    }

    /// A text, or another scalar as it is written.
    pub(super) fn text(&self) -> Option<String> {
        match &self.data {
            LocatedData::Scalar(Value::String(text)) => Some(text.clone()),
            LocatedData::Scalar(Value::Number(number)) => Some(number.source().to_owned()),
            LocatedData::Scalar(Value::Bool(value)) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The texts of a list, or of one scalar.
    pub(super) fn texts(&self) -> Vec<String> {
        self.one_or_more().iter().filter_map(Self::text).collect()
    }

    pub(super) fn value(&self) -> Value {
        match &self.data {
            LocatedData::Scalar(value) => value.clone(),
            LocatedData::List(items) => Value::List(items.iter().map(Self::value).collect()),
            LocatedData::Map(_) => Value::Map(self.map()),
        }
    }

    /// The entries of a mapping as data; none for other values. Of a repeated key the last counts.
    pub(super) fn map(&self) -> Map {
        let mut map = Map::new();
        for entry in self.entries() {
            map.insert(entry.key.as_str(), entry.value.value());
        }
        map
    }

    /// What a person would call it.
    pub(super) fn type_name(&self) -> &'static str {
        match &self.data {
            LocatedData::List(_) => "a list",
            LocatedData::Map(_) => "a mapping",
            LocatedData::Scalar(Value::Null) => "nothing",
            LocatedData::Scalar(Value::Bool(_)) => "a boolean",
            LocatedData::Scalar(Value::Number(_)) => "a number",
            LocatedData::Scalar(_) => "a text",
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::syntax::lone_tree;

    /// The data of a YAML text.
    pub(crate) fn located(yaml: &str) -> Located {
        Located::of(lone_tree(yaml.to_owned()).expect("YAML").root())
    }
}

#[cfg(test)]
mod tests {
    use super::testing::located;

    #[test]
    fn paths_lead_through_mappings_and_lists() {
        let data = located("a: {b: [x, {c: 1}], d.e: 2}\nf: ~\n");
        let text = |path: &str| data.at_path(path).and_then(|found| found.text());
        assert_eq!(text("a.b.0").as_deref(), Some("x"));
        assert_eq!(text("a.b.1.c").as_deref(), Some("1"));
        assert_eq!(text("a.d.e").as_deref(), Some("2"));
        assert_eq!(text("a.b.2"), None);
        assert_eq!(text("f"), None);
        assert!(data.mentions("f") && !data.has("f"));
    }

    #[test]
    fn scalars_are_texts_as_written() {
        let data = located("[yes, 1.50, true, 007]");
        assert_eq!(data.texts(), ["yes", "1.50", "true", "007"]);
    }
}
