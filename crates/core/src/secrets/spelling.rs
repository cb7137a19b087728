//! The spellings of a secret: what evalrig makes of a text, and how programs commonly encode one. The
//! search ignores ASCII case, so that no spelling here differs in it alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::digest::hex;

use super::SHORTEST_VARIABLE;
use super::part::is_word;

/// JSON inside the JSON of arguments, inside that of a call, inside a record, and one more for a line of
/// JSON that is searched as a whole.
const JSON_DEPTH: usize = 5;

/// Adds the value and its spellings.
pub(super) fn add_spellings(value: &str, out: &mut BTreeSet<String>) {
    let mut spellings = names(value);
    spellings.push(value.to_owned());
    spellings.push(value.replace("\r\n", "\n"));
    spellings.push(value.replace("\r\n", "\n").replace('\n', "\r\n"));
    spellings.extend(numbers(value));
    spellings.extend(percent_encoded(value));
    if value.chars().count() >= SHORTEST_VARIABLE {
        spellings.extend(encoded(value));
    }
    // Types of assertions are read with `-` for `_`, whatever they contain.
    let dashed: Vec<String> = spellings.iter().map(|one| one.replace('_', "-")).collect();
    for spelling in spellings.into_iter().chain(dashed) {
        add_json(&spelling, out);
        out.insert(spelling);
    }
}

/// As in a name: the other case, `-` for `_`, other characters replaced.
fn names(value: &str) -> Vec<String> {
    let lower = value.to_lowercase();
    let is_kept = |c: char| c.is_ascii_alphanumeric();
    let dashed = |c: char| if is_kept(c) { c } else { '-' };
    let mut names = vec![value.replace('-', "_")];
    // Shorter than the value, or one word where the value is more: ordinary text could match.
    let derived = [
        joined(&lower, "-", is_kept),
        joined(&lower, "_", is_kept),
        joined(&lower, "_", |c| c.is_alphanumeric() || c == '_'),
        lower.chars().map(dashed).collect(),
    ];
    let is_safe = |name: &String| name.chars().count() >= SHORTEST_VARIABLE && !is_word(name);
    names.extend(derived.into_iter().filter(is_safe));
    if !value.is_ascii() {
        names.extend([value.to_uppercase(), lower]);
    }
    names
}

/// The kept characters, with one separator for everything between them.
fn joined(text: &str, separator: &str, is_kept: impl Fn(char) -> bool) -> String {
    let words = text.split(|c| !is_kept(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(separator)
}

/// As a JSON number, if the value is one.
fn numbers(value: &str) -> Vec<String> {
    let is_integer = value.bytes().all(|byte| byte.is_ascii_digit());
    let mut numbers = Vec::new();
    if is_integer {
        numbers.push(value.trim_start_matches('0').to_owned());
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
    if let Ok(number) = value.parse::<f64>()
        && is_number
        && value.len() >= SHORTEST_VARIABLE
    {
        // Writers differ in the exponent: `1.5e26`, `1.5e+26`.
        let scientific = format!("{number:e}");
        let mantissa = scientific.split('e').next().unwrap_or_default();
        numbers.extend([format!("{number}"), mantissa.to_owned()]);
    }
    numbers.retain(|number| number.len() >= SHORTEST_VARIABLE);
    numbers
}

/// As part of a URL or a form. Encoders differ in what they keep.
fn percent_encoded(value: &str) -> Vec<String> {
    let encode = |kept: &str| {
        let mut text = String::with_capacity(value.len());
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
                text.push(char::from(byte))
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
        text
    };
    let form = encode(" *-._").replace(' ', "+");
    vec![encode("-._~"), encode("-._~!*'()"), encode("-._~!$&'()*+,;=:@"), encode("-._~/"), form]
}

/// Base64 and hexadecimal. The value may be within a longer text, where it begins at one of three
/// alignments: only the characters that depend on it alone are sought.
fn encoded(value: &str) -> Vec<String> {
    let mut all =
        vec![hex(value.as_bytes()), STANDARD.encode(value), STANDARD_NO_PAD.encode(value)];
    all.push(URL_SAFE_NO_PAD.encode(value));
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value.as_bytes());
        // Six bits per character: the first ones also depend on what is before, the last on what follows.
        let inner = (8 * before).div_ceil(6)..8 * bytes.len() / 6;
        all.push(STANDARD_NO_PAD.encode(&bytes)[inner.clone()].to_owned());
        all.push(URL_SAFE_NO_PAD.encode(&bytes)[inner].to_owned());
    }
    all
}

/// Adds the spellings inside JSON, where they differ: answers and tool arguments are often JSON, and
/// records embed them in JSON again.
fn add_json(text: &str, out: &mut BTreeSet<String>) {
    for is_escaped in [is_plain, is_not_ascii, is_slash, is_markup] {
        let mut escaped = escaped(text, is_escaped);
        if escaped == text {
            continue;
        }
        for _ in 0..JSON_DEPTH {
            let deeper = self::escaped(&escaped, is_plain);
            out.insert(std::mem::replace(&mut escaped, deeper));
        }
    }
}

/// What some writers escape beyond what JSON demands.
fn is_plain(_: char) -> bool {
    false
}

fn is_not_ascii(c: char) -> bool {
    !c.is_ascii()
}

fn is_slash(c: char) -> bool {
    c == '/'
}

fn is_markup(c: char) -> bool {
    "<>&'".contains(c)
}

fn escaped(text: &str, is_escaped: fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '/' if is_escaped(c) => out.push_str("\\/"),
            _ if c < ' ' || is_escaped(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(c),
        }
    }
    out
}
