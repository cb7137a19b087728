//! One text → a YAML scalar that every reader takes for that very text.
//!
//! "Every reader" means the core schema of YAML 1.2 and YAML 1.1 as PyYAML and libyaml read it.

use super::harmful::{has_command, has_inner_command, is_harmful};

/// Words that some reader takes for null, a boolean or an instruction, whatever their case.
const WORDS: &[&str] = &[
    "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<", ".inf", "+.inf",
    "-.inf", ".nan",
];

/// Of these words.
const LONGEST_WORD: usize = 5;

/// Plain if that is safe, else in single quotes, else in double quotes. Never more than one line.
pub(super) fn one_line(text: &str) -> String {
    if !is_visible(text) || has_inner_command(text) {
        double_quoted(text)
    } else if is_plain(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Whether the text of a file is a scalar of one line that every reader takes for a text, and for the
/// same one: in either kind of quotes, or plain. So it can be kept without being read.
pub fn is_one_line_text(written: &str) -> bool {
    if !is_visible(written) {
        return false;
    }
    let within = |quote: char| written.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(inner) = within('\'') {
        are_quotes_doubled(inner)
    } else if let Some(inner) = within('"') {
        are_escapes_known(inner)
    } else {
        is_plain(written)
    }
}

fn are_quotes_doubled(inner: &str) -> bool {
    let mut rest = inner;
    while let Some(at) = rest.find('\'') {
        match rest[at + 1..].strip_prefix('\'') {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    true
}

/// Only what [`double_quoted`] writes is known.
fn are_escapes_known(inner: &str) -> bool {
    let mut rest = inner;
    while let Some(at) = rest.find(['\\', '"']) {
        let after = &rest[at + 1..];
        let is_escape = rest[at..].starts_with('\\');
        rest = match after.chars().next() {
            Some('"' | '\\' | 'n' | 'r' | 't') if is_escape => &after[1..],
            Some('u') if is_escape && is_character(after.get(1..5)) => &after[5..],
            Some('U') if is_escape && is_character(after.get(1..9)) => &after[9..],
            _ => return false,
        };
    }
    true
}

fn is_character(digits: Option<&str>) -> bool {
    let are_digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = digits.filter(are_digits);
    let number = number.and_then(|text| u32::from_str_radix(text, 16).ok());
    number.and_then(char::from_u32).is_some()
}

/// With `\n`, `\t`, `\r`, `\"`, `\\`, and `\uXXXX` for all that cannot be seen and for what would make a
/// command of a CI runner.
pub(super) fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let has_command = has_inner_command(text);
    let mut before = ' ';
    for character in text.chars() {
        match character {
            '#' if has_command && before == '#' => out.push_str("\\u0023"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            seen if is_printable(seen) => out.push(seen),
            unseen if unseen > '\u{ffff}' => {
                out.push_str(&format!("\\U{:08x}", u32::from(unseen)));
            }
            unseen => out.push_str(&format!("\\u{:04x}", u32::from(unseen))),
        }
        before = character;
    }
    out.push('"');
    out
}

/// A literal block with its lines at `column`, `step` further in than what holds it; `None` when
/// a block cannot say this text.
pub(super) fn literal_block(text: &str, column: usize, step: usize) -> Option<String> {
    let first_line = text.trim_start_matches('\n');
    // libyaml takes a tab at the start for indentation; nothing but white space has no first line
    // from which a reader could tell the indentation.
    let fits = text.chars().all(|c| matches!(c, '\n' | '\t') || is_printable(c))
        && !first_line.starts_with('\t')
        && !first_line.trim_start_matches([' ', '\t', '\n']).is_empty()
        && !has_command(text);
    if !fits {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 16);
    out.push('|');
    if first_line.starts_with(' ') {
        out.push_str(&step.to_string());
    }
    let lines = match text.strip_suffix('\n') {
        None => {
            out.push('-');
            text
        }
        Some(lines) => {
            if lines.ends_with('\n') {
                out.push('+');
            }
            lines
        }
    };
    out.push('\n');
    for line in lines.split('\n') {
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', column));
            out.push_str(line);
        }
        out.push('\n');
    }
    Some(out)
}

/// Only tabs and characters that need no escape.
fn is_visible(text: &str) -> bool {
    // Most texts are ASCII, and a loop without a way out looks at many bytes at once.
    let is_ascii = text.bytes().fold(true, |all, byte| all & matches!(byte, b'\t' | b' '..=b'~'));
    is_ascii || text.chars().all(|c| c == '\t' || is_printable(c))
}

/// Allowed unescaped by every reader, not a line break for any of them (YAML 1.1 breaks lines at
/// U+0085, U+2028 and U+2029), and harmless on a terminal.
fn is_printable(character: char) -> bool {
    match character {
        ' '..='~' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => other >= '\u{a0}' && !is_harmful(other),
    }
}

/// Whether the text, unquoted, is a string and ends where it ends. Stricter than it has to be:
/// quotes too many do no harm. Expects printable characters.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let is_blank_at_an_end = text.trim().len() != text.len();
    !"-?:,[]{}#&*!|>'\"%@`".contains(first)
        && !is_blank_at_an_end
        && !has_indicator(text)
        && !text.ends_with(':')
        && !text.starts_with("...")
        && !is_word(text)
        && !looks_like_a_number(text)
}

/// What ends a plain text, or the line, for some reader.
fn has_indicator(text: &str) -> bool {
    let bytes = text.as_bytes();
    let pairs = bytes.iter().zip(&bytes[1..]);
    let is_one = |pair: (&u8, &u8)| matches!(pair, (b':', b' ') | (b' ', b'#'));
    bytes.contains(&b'\t') || pairs.fold(false, |any, pair| any | is_one(pair))
}

fn is_word(text: &str) -> bool {
    text.len() <= LONGEST_WORD && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Integers, floats, base-60 numbers and timestamps of either version, and their near relations
/// such as `1.2.3` and `1,000`.
fn looks_like_a_number(text: &str) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return false;
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    let radix_digits = ["0x", "0X", "0o", "0O", "0b", "0B"]
        .iter()
        .find_map(|prefix| unsigned.strip_prefix(prefix));
    if let Some(digits) = radix_digits {
        return digits.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_');
    }
    let of = |allowed: &str| text.chars().all(|c| allowed.contains(c));
    of("0123456789_.,:+-eE") || of("0123456789-:.+TtZz ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_word_is_looked_for() {
        assert!(WORDS.iter().all(|word| word.len() <= LONGEST_WORD));
        assert!(WORDS.iter().all(|word| !is_plain(word)));
    }

    #[test]
    fn texts_that_must_be_read_are_told_apart() {
        for text in ["a b", "'it''s'", "''", r#""a\nb""#, r#""\u2028 \"\\""#, "f(x='1')"] {
            assert!(is_one_line_text(text), "{text}");
        }
        for text in [
            "",
            "yes",
            "12",
            "a: b",
            "a #b",
            "[]",
            "|",
            "&a b",
            "*a",
            "'",
            "'a' b",
            "'it's'",
            "'a",
            r#""a"b""#,
            r#""\x41""#,
            r#""\ud800""#,
            r#""\u12""#,
            r#""a\""#,
            "\"",
            "a\u{85}b",
            "a\r",
        ] {
            assert!(!is_one_line_text(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_known(text in "\\PC*|[\\x00-\\x7f]*|[-:#'\" a1\\n]*") {
            prop_assert!(is_one_line_text(&one_line(&text)));
            prop_assert!(is_one_line_text(&double_quoted(&text)));
        }
    }
}
