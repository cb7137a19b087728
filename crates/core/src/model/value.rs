//! Free data: JSON values with key order and number spelling kept.

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

/// A mapping in the order of writing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map(Vec<(String, Value)>);

/// How JSON text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonStyle {
    /// `{"a":1}`
    Compact,
    /// Two spaces per level, one element per line.
    Pretty,
}

impl Map {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
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
        self.write_json(&mut out, style, 0);
        out
    }

    /// The same value with the keys of every mapping in byte order.
    #[must_use]
    pub fn sorted(&self) -> Self {
        match self {
            Self::List(items) => Self::List(items.iter().map(Self::sorted).collect()),
            Self::Map(map) => {
                let mut entries: Vec<_> = map
                    .0
                    .iter()
                    .map(|(key, value)| (key.clone(), value.sorted()))
                    .collect();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                Self::Map(Map(entries))
            }
            other => other.clone(),
        }
    }

    fn write_json(&self, out: &mut String, style: JsonStyle, depth: usize) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(number.text()),
            Self::String(text) => write_json_string(out, text),
            Self::List(items) => {
                write_items(out, style, depth, ['[', ']'], items.iter(), |out, item| {
                    item.write_json(out, style, depth + 1);
                });
            }
            Self::Map(map) => {
                write_items(
                    out,
                    style,
                    depth,
                    ['{', '}'],
                    map.0.iter(),
                    |out, (key, value)| {
                        write_json_string(out, key);
                        out.push_str(if style == JsonStyle::Pretty {
                            ": "
                        } else {
                            ":"
                        });
                        value.write_json(out, style, depth + 1);
                    },
                );
            }
        }
    }
}

fn write_items<T>(
    out: &mut String,
    style: JsonStyle,
    depth: usize,
    brackets: [char; 2],
    items: impl ExactSizeIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    let is_empty = items.len() == 0;
    out.push(brackets[0]);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        if style == JsonStyle::Pretty {
            break_line(out, depth + 1);
        }
        write(out, item);
    }
    if style == JsonStyle::Pretty && !is_empty {
        break_line(out, depth);
    }
    out.push(brackets[1]);
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Only what JSON demands is escaped. What needs no escape is copied in one piece.
pub(crate) fn write_json_string(out: &mut String, text: &str) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        // All of these are ASCII, so both ends are character boundaries.
        out.push_str(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x8 => out.push_str("\\b"),
            0xc => out.push_str("\\f"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
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
    fn compact_json_keeps_order_and_numbers() {
        let text = sample().to_json(JsonStyle::Compact);
        assert_eq!(text, r#"{"b":1.50,"a":["x\n\"é\u0001","y"],"e":{}}"#);
    }

    #[test]
    fn pretty_json_has_an_element_per_line() {
        let text = sample().to_json(JsonStyle::Pretty);
        let lines = "{\n  \"b\": 1.50,\n  \"a\": [\n    \"x\\n\\\"é\\u0001\",\n    \"y\"\n  ],\n  \"e\": {}\n}";
        assert_eq!(text, lines);
    }

    #[test]
    fn sorted_keys_for_hashing() {
        let text = sample().sorted().to_json(JsonStyle::Compact);
        assert!(text.starts_with(r#"{"a":"#));
    }
}
