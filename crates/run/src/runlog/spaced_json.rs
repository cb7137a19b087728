//! JSON as Python writes it, with a blank after `,` and `:`, in a form that may stand inside YAML.
//!
//! What readers of YAML take for a line break, or do not let in at all, is escaped; everything else
//! that is not ASCII is kept for people to read.

use evalrig_core::model::Value;

pub(super) fn spaced_json(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(&mut out, text);
    out
}

/// What comes from outside is no deeper than its readers allow, so this may recurse.
fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(number.text()),
        Value::String(text) => write_text(out, text),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(out, at);
                write(out, item);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                separate(out, at);
                write_text(out, key);
                out.push_str(": ");
                write(out, value);
            }
            out.push('}');
        }
    }
}

fn separate(out: &mut String, at: usize) {
    if at > 0 {
        out.push_str(", ");
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut from = 0;
    for (at, character) in text.char_indices() {
        if is_plain(character) {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + character.len_utf8();
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            other => out.push_str(&format!("\\u{:04x}", u32::from(other))),
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// The four of spec 13.4, what JSON demands, and what PyYAML refuses to read.
fn is_plain(character: char) -> bool {
    match character {
        '"' | '\\' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        ' '..='~' => true,
        other => other >= '\u{a0}',
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;

    #[test]
    fn separators_have_a_blank_and_numbers_their_spelling() {
        let value = json_value(r#"{"a":[1.50,null,true],"b":{},"c":[]}"#).unwrap();
        let written = r#"{"a": [1.50, null, true], "b": {}, "c": []}"#;
        assert_eq!(spaced_json(&value), written);
    }

    #[test]
    fn only_what_cannot_stand_in_a_file_is_escaped() {
        assert_eq!(quoted("é写😀\u{a0}"), "\"é写😀\u{a0}\"");
        let escaped = "\"\\u0085\\u2028\\u2029\\ufeff\\u007f\\u009f\\u0000\\uffff\"";
        assert_eq!(
            quoted("\u{85}\u{2028}\u{2029}\u{feff}\u{7f}\u{9f}\0\u{ffff}"),
            escaped
        );
        assert_eq!(quoted("a\"b\\c\n\r\t\u{8}\u{c}"), r#""a\"b\\c\n\r\t\b\f""#);
    }

    #[test]
    fn every_text_comes_back() {
        let text: String = (0..0x1_1000).filter_map(char::from_u32).collect();
        let value = json_value(&quoted(&text)).unwrap();
        assert_eq!(value.as_str(), Some(text.as_str()));
    }
}
