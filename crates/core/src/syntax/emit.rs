//! Free data → YAML text in block style. Whatever is written here is read back as the same value,
//! by YAML 1.2 readers and, but for numbers such as `1e3`, by YAML 1.1 readers too.

use crate::model::{Map, Value};

use super::emit_scalar::{double_quoted, literal_block, one_line};

/// How far a level is indented.
const STEP: usize = 2;

/// Readers look for the `:` of a plain key within 1024 characters; a longer key is written after
/// a `?`.
const LONGEST_SIMPLE_KEY: usize = 1000;

/// What becomes of a text with line breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineBreaks {
    /// A literal block, `|`, wherever that says exactly the same.
    #[default]
    Literal,
    /// `"one\ntwo"`, as the `.co/evals` store has it (spec 13.3).
    Escaped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EmitStyle {
    /// Lists are not indented below their key.
    pub compact_lists: bool,
    pub line_breaks: LineBreaks,
}

/// The value as a YAML document that ends with a line break.
pub fn to_yaml(value: &Value, style: &EmitStyle) -> String {
    to_yaml_with_anchors(value, style, &[])
}

/// As [`to_yaml`]. A value of a key that equals one of these is written once, with its name as an
/// anchor, and as an alias from then on.
pub fn to_yaml_with_anchors(
    value: &Value,
    style: &EmitStyle,
    anchors: &[(String, Value)],
) -> String {
    let written = vec![false; anchors.len()];
    let mut emitter = Emitter { out: String::new(), style: *style, anchors, written };
    match value {
        Value::Map(map) if !map.is_empty() => emitter.map(map, 0),
        Value::List(items) if !items.is_empty() => emitter.list(items, 0),
        scalar => emitter.scalar(scalar, ScalarPlace::Root),
    }
    emitter.out
}

/// Where a scalar is: the lines of a block must be indented deeper than its parent.
#[derive(Clone, Copy)]
enum ScalarPlace {
    Root,
    /// In a list or mapping that begins at this column.
    In(usize),
}

struct Emitter<'a> {
    out: String,
    style: EmitStyle,
    anchors: &'a [(String, Value)],
    /// Which of them have been written.
    written: Vec<bool>,
}

/// What a shared value is written as.
enum Anchored {
    First,
    Again,
}

/// Each writes a whole node with its last line break. The indentation of the first line has been
/// written by the caller, because it may be shared with a `-`.
impl Emitter<'_> {
    fn map(&mut self, map: &Map, column: usize) {
        for (at, (key, value)) in map.iter().enumerate() {
            if at > 0 {
                self.indent(column);
            }
            self.entry(key, value, column);
        }
    }

    fn entry(&mut self, key: &str, value: &Value, column: usize) {
        let key = one_line(key);
        if key.chars().count() > LONGEST_SIMPLE_KEY {
            self.out.push_str("? ");
            self.out.push_str(&key);
            self.out.push('\n');
            self.indent(column);
            self.out.push_str(": ");
            self.beside_indicator(value, column);
            return;
        }
        self.out.push_str(&key);
        self.out.push(':');
        if let Anchored::Again = self.anchor(value) {
            return;
        }
        match value {
            Value::Map(map) if !map.is_empty() => {
                self.out.push('\n');
                self.indent(column + STEP);
                self.map(map, column + STEP);
            }
            Value::List(items) if !items.is_empty() => {
                let inner = if self.style.compact_lists { column } else { column + STEP };
                self.out.push('\n');
                self.indent(inner);
                self.list(items, inner);
            }
            scalar => {
                self.out.push(' ');
                self.scalar(scalar, ScalarPlace::In(column));
            }
        }
    }

    /// Writes the anchor of a shared value, or the alias in place of the value.
    fn anchor(&mut self, value: &Value) -> Anchored {
        let Some(which) = self.anchors.iter().position(|(_, shared)| shared == value) else {
            return Anchored::First;
        };
        let name = &self.anchors[which].0;
        let is_written = std::mem::replace(&mut self.written[which], true);
        let (mark, end) = if is_written { (" *", "\n") } else { (" &", "") };
        self.out.extend([mark, name, end]);
        if is_written { Anchored::Again } else { Anchored::First }
    }

    fn list(&mut self, items: &[Value], column: usize) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.indent(column);
            }
            self.out.push_str("- ");
            self.beside_indicator(item, column);
        }
    }

    /// The value after a `-` or `:` at `column`; a collection begins on the same line.
    fn beside_indicator(&mut self, value: &Value, column: usize) {
        match value {
            Value::Map(map) if !map.is_empty() => self.map(map, column + STEP),
            Value::List(items) if !items.is_empty() => self.list(items, column + STEP),
            scalar => self.scalar(scalar, ScalarPlace::In(column)),
        }
    }

    /// Anything that fits behind its key: also the empty collections.
    fn scalar(&mut self, value: &Value, place: ScalarPlace) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Number(number) => self.out.push_str(number.text()),
            Value::List(_) => self.out.push_str("[]"),
            Value::Map(_) => self.out.push_str("{}"),
            Value::String(text) => return self.text(text, place),
        }
        self.out.push('\n');
    }

    fn text(&mut self, text: &str, place: ScalarPlace) {
        if !text.contains('\n') {
            self.out.push_str(&one_line(text));
            self.out.push('\n');
            return;
        }
        let block = match (self.style.line_breaks, place) {
            (LineBreaks::Literal, ScalarPlace::In(column)) => {
                literal_block(text, column + STEP, STEP)
            }
            // Readers disagree on how indentation is counted in a block at the root.
            _ => None,
        };
        match block {
            Some(block) => self.out.push_str(&block),
            None => {
                self.out.push_str(&double_quoted(text));
                self.out.push('\n');
            }
        }
    }

    fn indent(&mut self, column: usize) {
        self.out.extend(std::iter::repeat_n(' ', column));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::diagnostic::Diagnostics;
    use crate::model::Number;
    use crate::source::SourceId;
    use crate::syntax::json_value::{json_value, plain_value};
    use crate::syntax::parse_yaml;

    const PLAIN: EmitStyle = EmitStyle { compact_lists: false, line_breaks: LineBreaks::Literal };
    const STORE: EmitStyle = EmitStyle { compact_lists: true, line_breaks: LineBreaks::Escaped };

    fn yaml(json: &str, style: &EmitStyle) -> String {
        to_yaml(&json_value(json).unwrap(), style)
    }

    fn read_back(text: &str) -> Value {
        let mut out = Diagnostics::new();
        let tree = parse_yaml(SourceId(0), Arc::new(text.to_owned()), &mut out);
        let tree = tree.unwrap_or_else(|| panic!("not read: {out:?}\n{text}"));
        assert_eq!(out.errors(), 0, "{out:?}\n{text}");
        plain_value(tree.root())
    }

    fn assert_kept(value: &Value) {
        for compact_lists in [false, true] {
            for line_breaks in [LineBreaks::Literal, LineBreaks::Escaped] {
                let style = EmitStyle { compact_lists, line_breaks };
                let text = to_yaml(value, &style);
                assert_eq!(&read_back(&text), value, "\n{text}");
            }
        }
    }

    #[test]
    fn lists_of_mappings_begin_beside_their_dash() {
        let json = r#"{"a":[{"b":1.50,"c":["x",["v","z"],[]]},{}],"d":{"e":null,"f":true}}"#;
        let indented = "\
a:
  - b: 1.50
    c:
      - x
      - - v
        - z
      - []
  - {}
d:
  e: null
  f: true
";
        assert_eq!(yaml(json, &PLAIN), indented);
        let compact = "\
a:
- b: 1.50
  c:
  - x
  - - v
    - z
  - []
- {}
d:
  e: null
  f: true
";
        assert_eq!(yaml(json, &STORE), compact);
    }

    #[test]
    fn shared_values_are_written_once() {
        let value =
            json_value(r#"{"t":[{"i":"a\nb"},{"i":"a\nb","l":["x"]},{"l":["x"]}]}"#).unwrap();
        let shared = |json: &str| json_value(json).unwrap();
        let anchors =
            [("p-1".to_owned(), shared(r#""a\nb""#)), ("l-1".to_owned(), shared(r#"["x"]"#))];
        let text = to_yaml_with_anchors(&value, &PLAIN, &anchors);
        let expected = "\
t:
  - i: &p-1 |-
      a
      b
  - i: *p-1
    l: &l-1
      - x
  - l: *l-1
";
        assert_eq!(text, expected);
        assert_eq!(read_back(&text), value);
    }

    #[test]
    fn what_a_reader_could_take_for_something_else_is_quoted() {
        for text in [
            "yes",
            "No",
            "ON",
            "212",
            "2025-12-25 11:56:26",
            "2025-12-25",
            "1:30",
            "1_000",
            "0o7",
            "0x1F",
            "0b11",
            "~",
            "=",
            "<<",
            ".inf",
            "-.INF",
            ".NaN",
            "null",
            "TRUE",
            "y",
            "1e3",
            "+1",
            ".5",
            "1.2.3",
            "",
            " a",
            "a ",
            "a: b",
            "a:",
            "a #b",
            "#a",
            "- a",
            "-",
            "? a",
            "[a",
            "{a",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a",
            "'a",
            "\"a",
            "a\tb",
            "...",
            "---",
            "${{ X }}: y",
        ] {
            let quoted = format!("'{}'\n", text.replace('\'', "''"));
            assert_eq!(to_yaml(&text.into(), &PLAIN), quoted);
        }
    }

    #[test]
    fn ordinary_text_stays_plain() {
        for text in [
            "Say hello to Alice",
            "a:b",
            "a#b",
            "it's",
            "gemini-2.5-flash",
            "http://x/y?z=1",
            "greet(name='Alice')",
            "3 eggs",
            "naïve 😀",
            "C:\\x",
            "$22,500",
            "nothing",
            "/a/b.md",
            "Hi {{ x }}",
            "a, b [c] {d}",
        ] {
            let written = to_yaml(&text.into(), &PLAIN);
            assert_eq!(written, format!("{text}\n"), "{text}");
            assert_kept(&text.into());
        }
    }

    #[test]
    fn several_lines_become_a_literal_block() {
        for (text, block) in [
            (r"one\ntwo", "a: |-\n  one\n  two\n"),
            (r"one\n\ntwo\n", "a: |\n  one\n\n  two\n"),
            (r"one\n\n", "a: |+\n  one\n\n"),
            (r"\none\n", "a: |\n\n  one\n"),
            (r"  one\ntwo\n", "a: |2\n    one\n  two\n"),
            (r"\n one", "a: |2-\n\n   one\n"),
            (r"\tone\n", "a: \"\\tone\\n\"\n"),
            (r"one\r\n", "a: \"one\\r\\n\"\n"),
            (r"\n", "a: \"\\n\"\n"),
            ("one\\n\u{2028}", "a: \"one\\n\\u2028\"\n"),
        ] {
            let json = format!("{{\"a\":\"{text}\"}}");
            assert_eq!(yaml(&json, &PLAIN), block, "{text}");
        }
        let store = yaml(r#"{"a":"one\ntwo"}"#, &STORE);
        assert_eq!(store, "a: \"one\\ntwo\"\n");
    }

    #[test]
    fn a_key_too_long_for_readers_follows_a_question_mark() {
        let long = "k".repeat(2000);
        let json = format!(
            r#"[{{"{long}":{{"a":"x\ny","b":[1]}}}},{{"{long}":["x"]}},{{"{long}":"  x\ny"}}]"#
        );
        assert!(yaml(&json, &PLAIN).starts_with("- ? kkk"));
        assert_kept(&json_value(&json).unwrap());
    }

    #[test]
    fn keys_are_quoted_like_values_and_stay_on_their_line() {
        let json = r#"{"a\nb":1,"":2,"<<":3,"1":4,"a: b":5}"#;
        assert_eq!(yaml(json, &PLAIN), "\"a\\nb\": 1\n'': 2\n'<<': 3\n'1': 4\n'a: b': 5\n");
        assert_kept(&json_value(json).unwrap());
    }

    const PIECES: &[&str] = &[
        "a",
        "b c",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        ":",
        ": ",
        "#",
        " #",
        "-",
        "- ",
        "?",
        "'",
        "\"",
        "\\",
        "\\n",
        "|",
        ">",
        "[",
        "]",
        "{",
        "}",
        ",",
        "&",
        "*",
        "!",
        "%",
        "@",
        "`",
        "~",
        "=",
        "<<",
        "...",
        "---",
        "yes",
        "null",
        "0",
        "1",
        "9",
        "_",
        ".",
        "+",
        "e",
        "0x",
        "0o7",
        ".inf",
        "2024-01-02",
        "T",
        "Z",
        "\u{0}",
        "\u{1}",
        "\u{7f}",
        "\u{85}",
        "\u{9f}",
        "\u{a0}",
        "\u{2028}",
        "\u{2029}",
        "\u{feff}",
        "\u{fffe}",
        "\u{ffff}",
        "é",
        "😀",
        "\u{10ffff}",
        "\u{e000}",
        "${{ X }}",
    ];

    const NUMBERS: &[&str] = &["0", "-0", "1.50", "1e3", "-12", "123456789012345678901", "1E-2"];

    fn nasty() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => prop::collection::vec(prop::sample::select(PIECES), 0..7)
                .prop_map(|pieces| pieces.concat()),
            1 => prop::collection::vec(any::<char>(), 0..6)
                .prop_map(|characters| characters.into_iter().collect()),
        ]
    }

    fn number() -> impl Strategy<Value = Value> {
        prop::sample::select(NUMBERS).prop_map(|text| Value::Number(Number::parse(text).unwrap()))
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            1 => Just(Value::Null),
            1 => any::<bool>().prop_map(Value::Bool),
            1 => number(),
            6 => nasty().prop_map(Value::String),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
                prop::collection::vec((nasty(), inner), 0..5).prop_map(|entries| {
                    let mut map = Map::new();
                    for (key, value) in entries {
                        map.insert(key, value);
                    }
                    Value::Map(map)
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn every_value_is_read_back_as_it_was(value in value()) {
            assert_kept(&value);
        }
    }
}
