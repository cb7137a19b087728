//! The one writer of JSON text. Values are written in a style; [`JsonObject`] writes documents of
//! known keys without building a value first.

use std::fmt::Write as _;

use smallvec::SmallVec;

use super::value::Value;

/// How JSON text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonStyle {
    /// `{"a":1}`
    Compact,
    /// The same with the keys of every mapping in byte order.
    Sorted,
    /// Two spaces per level, one element per line.
    Pretty,
    /// `{"a": 1, "b": 2}` as Python writes it. Characters that YAML readers reject or take for a
    /// line break are escaped (spec 13.4), so that it can be part of a YAML file.
    Spaced,
}

impl JsonStyle {
    /// The text as a JSON string.
    pub fn quote(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 2);
        self.write_text(&mut out, text);
        out
    }

    fn write_text(self, out: &mut String, text: &str) {
        match self {
            Self::Compact | Self::Sorted | Self::Pretty => write_json_string(out, text),
            Self::Spaced => write_escaped(out, text, |rest| rest.find(|c| !is_plain_in_yaml(c))),
        }
    }

    fn colon(self) -> &'static str {
        match self {
            Self::Compact | Self::Sorted => ":",
            Self::Pretty | Self::Spaced => ": ",
        }
    }

    fn separate(self, out: &mut String, at: usize, depth: usize) {
        match self {
            Self::Pretty => {
                if at > 0 {
                    out.push(',');
                }
                break_line(out, depth);
            }
            Self::Compact | Self::Sorted if at > 0 => out.push(','),
            Self::Spaced if at > 0 => out.push_str(", "),
            _ => {}
        }
    }
}

/// Values are no deeper than their readers allow, so this may recurse.
pub(super) fn write_json(out: &mut String, value: &Value, style: JsonStyle, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(number.text()),
        Value::String(text) => style.write_text(out, text),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                style.separate(out, at, depth + 1);
                write_json(out, item, style, depth + 1);
            }
            close(out, style, depth, items.is_empty(), ']');
        }
        Value::Map(map) => {
            out.push('{');
            let mut entries: SmallVec<[(&str, &Value); 16]> = map.iter().collect();
            if style == JsonStyle::Sorted {
                entries.sort_by_key(|(key, _)| *key);
            }
            for (at, (key, value)) in entries.into_iter().enumerate() {
                style.separate(out, at, depth + 1);
                style.write_text(out, key);
                out.push_str(style.colon());
                write_json(out, value, style, depth + 1);
            }
            close(out, style, depth, map.is_empty(), '}');
        }
    }
}

fn close(out: &mut String, style: JsonStyle, depth: usize, is_empty: bool, bracket: char) {
    if style == JsonStyle::Pretty && !is_empty {
        break_line(out, depth);
    }
    out.push(bracket);
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Escapes only what JSON requires. Text without escapes is copied in one piece.
pub(crate) fn write_json_string(out: &mut String, text: &str) {
    write_escaped(out, text, |rest| {
        let mut bytes = rest.bytes();
        bytes.position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    });
}

/// `find` returns the next character to escape.
fn write_escaped(out: &mut String, text: &str, find: impl Fn(&str) -> Option<usize>) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = find(rest) {
        let (plain, behind) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = behind.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(other) => {
                let _ = write!(out, "\\u{:04x}", u32::from(other));
            }
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Neither escaped by JSON nor by spec 13.4, and accepted by PyYAML.
fn is_plain_in_yaml(character: char) -> bool {
    match character {
        '"' | '\\' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        ' '..='~' => true,
        other => other >= '\u{a0}',
    }
}

/// Writes the members of one object, each on a line of its own.
pub(crate) struct JsonObject<'o> {
    out: &'o mut String,
    indent: usize,
    is_empty: bool,
}

impl<'o> JsonObject<'o> {
    /// `indent` is that of the braces.
    pub(crate) fn open(out: &'o mut String, indent: usize) -> Self {
        out.push('{');
        Self { out, indent, is_empty: true }
    }

    pub(crate) fn close(self) {
        break_line(self.out, self.indent);
        self.out.push('}');
    }

    /// Writes the key; the caller appends the value to the returned text.
    pub(crate) fn key(&mut self, name: &str) -> &mut String {
        if !self.is_empty {
            self.out.push(',');
        }
        self.is_empty = false;
        break_line(self.out, self.indent + 1);
        // Keys are constants that need no escaping.
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\": ");
        self.out
    }

    /// The value is JSON already.
    pub(crate) fn plain(&mut self, name: &str, value: &str) {
        self.key(name).push_str(value);
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        write_json_string(self.key(name), value);
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) {
        let _ = write!(self.key(name), "{value}");
    }

    pub(crate) fn boolean(&mut self, name: &str, value: bool) {
        self.plain(name, if value { "true" } else { "false" });
    }

    /// One text per line.
    pub(crate) fn lines<'t>(&mut self, name: &str, texts: impl Iterator<Item = &'t str>) {
        let indent = self.indent + 1;
        write_json_list(self.key(name), indent, texts, write_json_string);
    }

    /// All texts on this line.
    pub(crate) fn row<'t>(&mut self, name: &str, texts: impl Iterator<Item = &'t str>) {
        let out = self.key(name);
        out.push('[');
        for (at, text) in texts.enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            write_json_string(out, text);
        }
        out.push(']');
    }
}

/// One element per line; `indent` is that of the brackets.
pub(crate) fn write_json_list<T>(
    out: &mut String,
    indent: usize,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push('[');
    let mut is_empty = true;
    for item in items {
        if !is_empty {
            out.push(',');
        }
        is_empty = false;
        break_line(out, indent + 1);
        write(out, item);
    }
    if !is_empty {
        break_line(out, indent);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::super::{Map, Number};
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
    fn sorted_json_has_its_keys_in_order_at_every_depth() {
        let mut outer = Map::new();
        outer.insert("z", sample());
        outer.insert("c", vec![sample()]);
        let inner = r#"{"a":["x\n\"é\u0001","y"],"b":1.50,"e":{}}"#;
        let text = Value::Map(outer).to_json(JsonStyle::Sorted);
        assert_eq!(text, format!(r#"{{"c":[{inner}],"z":{inner}}}"#));
    }

    #[test]
    fn pretty_json_has_an_element_per_line() {
        let text = sample().to_json(JsonStyle::Pretty);
        let lines = "{\n  \"b\": 1.50,\n  \"a\": [\n    \"x\\n\\\"é\\u0001\",\n    \"y\"\n  ],\n  \"e\": {}\n}";
        assert_eq!(text, lines);
    }

    fn spaced(text: &str) -> String {
        JsonStyle::Spaced.quote(text)
    }

    #[test]
    fn spaced_json_separates_with_blanks_and_keeps_numbers() {
        let text = sample().to_json(JsonStyle::Spaced);
        assert_eq!(text, r#"{"b": 1.50, "a": ["x\n\"é\u0001", "y"], "e": {}}"#);
    }

    #[test]
    fn spaced_json_escapes_only_what_yaml_rejects() {
        assert_eq!(spaced("é写😀\u{a0}"), "\"é写😀\u{a0}\"");
        let escaped = "\"\\u0085\\u2028\\u2029\\ufeff\\u007f\\u009f\\u0000\\uffff\"";
        let text = "\u{85}\u{2028}\u{2029}\u{feff}\u{7f}\u{9f}\0\u{ffff}";
        assert_eq!(spaced(text), escaped);
        assert_eq!(spaced("a\"b\\c\n\r\t\u{8}\u{c}"), r#""a\"b\\c\n\r\t\b\f""#);
    }

    #[test]
    fn every_text_can_be_read_back() {
        let text: String = (0..0x1_1000).filter_map(char::from_u32).collect();
        for style in [JsonStyle::Compact, JsonStyle::Spaced] {
            let written = style.quote(&text);
            let value: serde_json::Value = serde_json::from_str(&written).expect("JSON");
            assert_eq!(value.as_str(), Some(text.as_str()));
        }
    }
}
