//! YAML 1.2 core schema: what a plain scalar means.

use super::tree::{CoreTag, ScalarStyle};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'t> {
    Null,
    Bool(bool),
    /// The source text; decimal, `0o` or `0x`.
    Int(&'t str),
    /// The source text; may be `.inf` or `.nan`.
    Float(&'t str),
    Str(&'t str),
}

impl Scalar<'_> {
    /// The word diagnostics use.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Str(_) => "a string",
        }
    }
}

#[inline]
pub(super) fn resolve(text: &str, style: ScalarStyle, tag: CoreTag) -> Scalar<'_> {
    if tag == CoreTag::None && matches!(style, ScalarStyle::Quoted | ScalarStyle::Block) {
        return Scalar::Str(text);
    }
    resolve_tagged(text, style, tag)
}

fn resolve_tagged(text: &str, style: ScalarStyle, tag: CoreTag) -> Scalar<'_> {
    match (tag, style) {
        (CoreTag::Str, _) => Scalar::Str(text),
        (CoreTag::None, ScalarStyle::Missing) => Scalar::Null,
        (CoreTag::None, ScalarStyle::Plain) => resolve_plain(text),
        (CoreTag::None, _) => Scalar::Str(text),
        (CoreTag::Null, _) => Scalar::Null,
        (CoreTag::Bool, _) => match resolve_plain(text) {
            Scalar::Bool(value) => Scalar::Bool(value),
            _ => Scalar::Str(text),
        },
        (CoreTag::Int, _) => match resolve_plain(text) {
            Scalar::Int(value) => Scalar::Int(value),
            _ => Scalar::Str(text),
        },
        (CoreTag::Float, _) => match resolve_plain(text) {
            Scalar::Int(value) | Scalar::Float(value) => Scalar::Float(value),
            _ => Scalar::Str(text),
        },
    }
}

/// What an unquoted, untagged text means.
pub(crate) fn resolve_plain(text: &str) -> Scalar<'_> {
    let Some(first) = text.bytes().next() else {
        return Scalar::Null;
    };
    match first {
        b'~' | b'n' | b'N' if matches!(text, "~" | "null" | "Null" | "NULL") => Scalar::Null,
        b't' | b'T' if matches!(text, "true" | "True" | "TRUE") => Scalar::Bool(true),
        b'f' | b'F' if matches!(text, "false" | "False" | "FALSE") => Scalar::Bool(false),
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        _ => Scalar::Str(text),
    }
}

fn number(text: &str) -> Scalar<'_> {
    if is_int(text) {
        Scalar::Int(text)
    } else if is_float(text) {
        Scalar::Float(text)
    } else {
        Scalar::Str(text)
    }
}

fn is_int(text: &str) -> bool {
    if let Some(digits) = text.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|b| matches!(b, b'0'..=b'7'));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match fraction {
        Some(fraction) if whole.is_empty() => !fraction.is_empty() && digits(fraction),
        Some(fraction) => digits(whole) && digits(fraction),
        None => !whole.is_empty() && digits(whole),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !power.is_empty() && digits(power)
    });
    mantissa_fits && exponent_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_schema_types() {
        for text in ["~", "null", "Null", "NULL", ""] {
            assert_eq!(resolve_plain(text), Scalar::Null, "{text}");
        }
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "1_000",
            "0b11",
            "2025-12-25",
            "1:30",
            "-",
            ".",
            "e3",
            "0o8",
            "0xG",
            "1e",
            "+.e1",
            "nUll",
            "tRUE",
        ] {
            assert_eq!(resolve_plain(text), Scalar::Str(text), "{text}");
        }
        for text in ["0", "-1", "+12", "010", "0o17", "0xfF"] {
            assert_eq!(resolve_plain(text), Scalar::Int(text), "{text}");
        }
        for text in ["1.5", ".5", "1.", "-1e3", "+.5E-2", ".inf", "-.INF", ".nan"] {
            assert_eq!(resolve_plain(text), Scalar::Float(text), "{text}");
        }
        assert_eq!(resolve_plain("True"), Scalar::Bool(true));
    }
}
