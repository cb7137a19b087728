//! A number that remembers how its author wrote it.

use std::borrow::Cow;
use std::fmt;

/// Finite. `text` is valid JSON, in the author's spelling if that is valid JSON.
#[derive(Debug, Clone)]
pub struct Number {
    text: Cow<'static, str>,
    value: f64,
    /// The author's spelling if it is not valid JSON.
    source: Option<Box<str>>,
}

/// The spelling in YAML does not matter for equality.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.value == other.value
    }
}

impl Number {
    /// The default of every weight, so it costs no allocation.
    pub const ONE: Self = Self { text: Cow::Borrowed("1"), value: 1.0, source: None };

    /// Reads a YAML 1.2 core number. `None` for `.inf`, `.nan`, numbers that overflow a float, and
    /// everything else.
    pub fn parse(source: &str) -> Option<Self> {
        if let Some(value) = radix_integer(source) {
            return Some(Self {
                text: value.to_string().into(),
                value: value as f64,
                source: Some(source.into()),
            });
        }
        let value: f64 = if source.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) {
            source.parse().ok()?
        } else {
            return None;
        };
        if !value.is_finite() {
            return None;
        }
        let (text, source) = if is_json_number(source) {
            (source.to_owned(), None)
        } else {
            (plain_text(source, value), Some(source.into()))
        };
        Some(Self { text: text.into(), value, source })
    }

    pub fn value(&self) -> f64 {
        self.value
    }

    /// As the author wrote it, if that is valid JSON.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As the author wrote it.
    pub fn source(&self) -> &str {
        self.source.as_deref().unwrap_or(&self.text)
    }

    /// A whole number of either sign.
    pub fn of_i64(value: i64) -> Self {
        Self { text: value.to_string().into(), value: value as f64, source: None }
    }

    /// As [`Self::as_u64`], of either sign.
    pub fn as_i64(&self) -> Option<i64> {
        match self.text.parse() {
            Ok(value) => Some(value),
            Err(_) if self.value.fract() == 0.0 && self.value.abs() < 9e15 => {
                Some(self.value as i64)
            }
            Err(_) => None,
        }
    }

    pub fn as_u64(&self) -> Option<u64> {
        match self.text.parse() {
            Ok(value) => Some(value),
            Err(_) if self.value.fract() == 0.0 && (0.0..9e15).contains(&self.value) => {
                Some(self.value as u64)
            }
            Err(_) => None,
        }
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self { text: value.to_string().into(), value: value as f64, source: None }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn radix_integer(source: &str) -> Option<u128> {
    let (digits, radix) = match source.as_bytes() {
        [b'0', b'o', ..] => (&source[2..], 8),
        [b'0', b'x', ..] => (&source[2..], 16),
        _ => return None,
    };
    u128::from_str_radix(digits, radix).ok()
}

/// `+5`, `010`, `.5` and `1.` as valid JSON.
fn plain_text(source: &str, value: f64) -> String {
    let unsigned = source.trim_start_matches('+');
    let (sign, digits) = match unsigned.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unsigned),
    };
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        let digits = digits.trim_start_matches('0');
        return format!("{sign}{}", if digits.is_empty() { "0" } else { digits });
    }
    value.to_string()
}

fn is_json_number(text: &str) -> bool {
    let rest = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let digits = |bytes: &[u8]| bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut at = whole;
    if rest.get(at) == Some(&b'.') {
        let fraction = digits(&rest[at + 1..]);
        if fraction == 0 {
            return false;
        }
        at += 1 + fraction;
    }
    if matches!(rest.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(rest.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        let power = digits(&rest[at..]);
        if power == 0 {
            return false;
        }
        at += power;
    }
    at == rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_json_keeps_its_spelling() {
        for text in ["1.50", "0", "-0", "1e3", "12345678901234567890123", "1E-2"] {
            assert_eq!(Number::parse(text).unwrap().text(), text);
        }
    }

    #[test]
    fn other_spellings_become_json() {
        for (source, text) in [
            ("+5", "5"),
            ("010", "10"),
            ("0x1F", "31"),
            ("0o17", "15"),
            (".5", "0.5"),
            ("1.", "1"),
            ("-007", "-7"),
            ("000", "0"),
        ] {
            let number = Number::parse(source).unwrap();
            assert_eq!((number.text(), number.source()), (text, source));
        }
    }

    #[test]
    fn what_json_cannot_say_is_refused() {
        for source in [".inf", ".nan", "1e999", "abc", "", "inf", "NaN"] {
            assert_eq!(Number::parse(source), None, "{source}");
        }
    }
}
