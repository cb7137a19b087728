//! Lenient JSON: what programs print.

use std::borrow::Cow;

use evalrig_core::model::Value;
use evalrig_core::syntax::json_value;

use crate::json::from_json;

/// Keeps key order and the spelling of numbers. Accepts what the parser for suites rejects: of a
/// duplicate key the last value counts, and an unpaired surrogate, which JavaScript writes where it
/// cuts a text, becomes U+FFFD.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    if let Some(value) = json_value(text) {
        return Ok(value);
    }
    match serde_json::from_str(&mend_surrogates(text)) {
        Ok(value) => Ok(from_json(&value)),
        Err(error) => Err(reason(text.trim_end(), &error)),
    }
}

/// The line is given only if there are several.
fn reason(text: &str, error: &serde_json::Error) -> String {
    let full = error.to_string();
    match full.split_once(" at line ") {
        Some((what, _)) if !text.contains('\n') => format!("{what} (column {})", error.column()),
        _ => full,
    }
}

fn mend_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        let escape = &rest[at..];
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            _ => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    Cow::Owned(mended)
}

/// The number in `\uXXXX`.
fn unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::JsonStyle;

    use super::*;

    fn again(text: &str) -> String {
        parse(text).unwrap().to_json(JsonStyle::Compact)
    }

    #[test]
    fn numbers_and_order_come_back_as_they_were() {
        let text = r#"{"b":1.50,"a":12345678901234567890123,"c":1e3}"#;
        assert_eq!(again(text), text);
    }

    #[test]
    fn the_last_of_duplicate_keys_counts() {
        assert_eq!(again(r#"{"a":1,"a":2}"#), r#"{"a":2}"#);
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        assert_eq!(again(r#""a\ud83d""#), "\"a\u{fffd}\"");
        assert_eq!(
            again(r#""\udc00\ud83d\ude00\\ud83d\ud83dé""#),
            "\"\u{fffd}😀\\\\ud83d\u{fffd}é\""
        );
    }

    #[test]
    fn reasons_name_a_place() {
        let of = |text| parse(text).unwrap_err();
        assert_eq!(of("{\"a\":"), "EOF while parsing a value (column 5)");
        assert_eq!(of("{\n\"a\":x}"), "expected value at line 2 column 5");
        assert!(of(&"[".repeat(100_000)).contains("recursion limit"));
        assert!(parse("\\").is_err());
    }
}
