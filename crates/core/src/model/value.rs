//! Free data: JSON values that keep the order of keys and the spelling of numbers.

use super::json_text::{JsonStyle, write_json};
use super::number::Number;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Value>),
    Map(Map),
}

/// A mapping in written order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map(Vec<(String, Value)>);

impl Map {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Replaces the value of a key in its place, or adds it at the end.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// Adds the key only if there is a value for it.
    pub fn insert_some<V: Into<Value>>(&mut self, key: impl Into<String>, value: Option<V>) {
        if let Some(value) = value {
            self.insert(key, value);
        }
    }

    /// As [`Self::insert`], for a map that is built in one expression.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(key, value);
        self
    }

    /// As [`Self::insert_some`], for a map that is built in one expression.
    #[must_use]
    pub fn with_some<V: Into<Value>>(mut self, key: impl Into<String>, value: Option<V>) -> Self {
        self.insert_some(key, value);
        self
    }

    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Value) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Value {
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn to_json(&self, style: JsonStyle) -> String {
        let mut out = String::new();
        write_json(&mut out, self, style, 0);
        out
    }

    /// The same value with the keys of every mapping in byte order.
    #[must_use]
    pub fn sorted(&self) -> Self {
        match self {
            Self::List(items) => Self::List(items.iter().map(Self::sorted).collect()),
            Self::Map(map) => {
                let mut entries: Vec<_> =
                    map.0.iter().map(|(key, value)| (key.clone(), value.sorted())).collect();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                Self::Map(Map(entries))
            }
            other => other.clone(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(u64::from(value).into())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        let mut map = Map::new();
        map.insert("b", Number::parse("1.50").unwrap());
        map.insert("a", vec!["x\n\"é\u{1}", "y"]);
        map.insert("e", Map::new());
        Value::Map(map)
    }

    #[test]
    fn sorted_keys_for_hashing() {
        let text = sample().sorted().to_json(JsonStyle::Compact);
        assert!(text.starts_with(r#"{"a":"#));
    }
}
