//! Values that must never be printed, and their redaction (spec 9.5).

use std::borrow::Cow;
use std::fmt;

use crate::model::{JsonStyle, Value};

/// Characters. Redacting shorter values would destroy ordinary text.
const SHORTEST: usize = 4;
/// Characters. A variable is secret by its name alone, and shorter values may be ordinary words.
const SHORTEST_VARIABLE: usize = 8;

/// Marks that show where a text was truncated.
const CUT_MARKS: &[&str] = &["...", "…"];

const NAMES: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Texts that are shown as `***`, in debug output too.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// Remembers the value of a variable if its name says that it is secret.
    pub fn notice(&mut self, name: &str, value: &str) {
        let name = name.to_uppercase();
        let is_secret = NAMES.iter().any(|part| name.contains(part));
        if is_secret && value.chars().count() >= SHORTEST_VARIABLE {
            self.add(value);
        }
    }

    /// Remembers a value that is known to be secret, such as a key in a targets file.
    pub fn add(&mut self, value: &str) {
        let is_short = value.chars().count() < SHORTEST;
        if is_short || self.values.iter().any(|known| known == value) {
            return;
        }
        self.values.push(value.to_owned());
        self.values.extend(json_spellings(value));
        // A secret that contains another one must go first, or a tail of it would stay.
        self.values.sort_by_key(|known| std::cmp::Reverse(known.len()));
    }

    pub fn absorb(&mut self, other: Self) {
        for value in other.values {
            self.add(&value);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        self.redact_in_place(&mut text);
        text
    }

    /// Like [`Self::redact`], and a text without secrets costs no copy.
    pub fn redact_in_place(&self, text: &mut String) {
        for secret in &self.values {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret, "***");
            }
        }
        // Few texts are truncated.
        if CUT_MARKS.iter().any(|mark| text.contains(mark)) {
            for secret in &self.values {
                redact_beginnings(text, secret);
                redact_endings(text, secret);
            }
        }
    }

    /// Like [`Self::redact`], but every other byte and every line break stays where it is, so
    /// that spans into the text still hold.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = text.as_bytes().to_vec();
        let mut found = false;
        for secret in &self.values {
            for (at, _) in text.match_indices(secret.as_str()) {
                found = true;
                for byte in &mut masked[at..at + secret.len()] {
                    if !matches!(*byte, b'\n' | b'\r') {
                        *byte = b'*';
                    }
                }
            }
        }
        match String::from_utf8(masked) {
            Ok(masked) if found => Cow::Owned(masked),
            _ => Cow::Borrowed(text),
        }
    }
}

/// Texts are truncated before they are shown, perhaps within a secret: its beginning before the
/// mark is redacted too.
fn redact_beginnings(text: &mut String, secret: &str) {
    let Some((end, _)) = secret.char_indices().nth(SHORTEST_VARIABLE) else {
        return;
    };
    let mut from = 0;
    while let Some(found) = text[from..].find(&secret[..end]) {
        let begin = from + found;
        let same = |(a, b): &(char, char)| a == b;
        let alike = text[begin..].chars().zip(secret.chars()).take_while(same);
        let cut = begin + alike.map(|(same, _)| same.len_utf8()).sum::<usize>();
        let is_cut = CUT_MARKS.iter().any(|mark| text[cut..].starts_with(mark));
        if is_cut { text.replace_range(begin..cut, "***") } else { from = cut }
    }
}

/// The same for a text without its beginning: the end of a secret after the mark is redacted.
fn redact_endings(text: &mut String, secret: &str) {
    let letters = secret.char_indices().map(|(at, _)| at);
    let starts: Vec<usize> = letters.skip(1).collect();
    let longest_first = match (starts.len() + 1).checked_sub(SHORTEST_VARIABLE) {
        Some(count) => &starts[..count.min(starts.len())],
        None => return,
    };
    for mark in CUT_MARKS {
        let mut from = 0;
        while let Some(found) = text[from..].find(mark) {
            from += found + mark.len();
            let mut endings = longest_first.iter().map(|at| &secret[*at..]);
            if let Some(ending) = endings.find(|ending| text[from..].starts_with(ending)) {
                text.replace_range(from..from + ending.len(), "***");
            }
        }
    }
}

/// The spellings of a value inside JSON, where they differ: answers and tool arguments are often
/// JSON. Some writers escape everything beyond ASCII.
fn json_spellings(value: &str) -> Vec<String> {
    let quoted = Value::from(value).to_json(JsonStyle::Compact);
    let short = quoted[1..quoted.len() - 1].to_owned();
    let mut ascii = String::with_capacity(short.len());
    for c in short.chars() {
        if c.is_ascii() {
            ascii.push(c)
        } else {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            ascii.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    let mut found = Vec::new();
    for spelling in [short, ascii] {
        if spelling != value && !found.contains(&spelling) {
            found.push(spelling);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_was_cut_does_not_show_its_beginning() {
        let mut secrets = Secrets::default();
        secrets.add("sk-12345-wörd-67890");
        for (text, shown) in [
            ("Bearer sk-12345-wö...'", "Bearer ***...'"),
            ("sk-12345… sk-12345-w…", "***… ***…"),
            ("sk-12345-wörd-67890...", "***..."),
            ("sk-12345 sk-1234...", "sk-12345 sk-1234..."),
        ] {
            assert_eq!(secrets.redact(text), shown);
        }
    }

    #[test]
    fn a_secret_that_was_cut_does_not_show_its_end() {
        let mut secrets = Secrets::default();
        secrets.add("sk-12345-wörd-67890");
        for (text, shown) in [
            ("…k-12345-wörd-67890 x", "…*** x"),
            ("exit 1: …rd-67890, ...örd-67890", "exit 1: …***, ...***"),
            ("…d-67890", "…d-67890"),
            ("a wörd-67890…", "a wörd-67890…"),
        ] {
            assert_eq!(secrets.redact(text), shown);
        }
    }

    #[test]
    fn a_secret_is_found_inside_json_text() {
        let mut secrets = Secrets::default();
        secrets.add("pa\"ss\nwörd");
        for text in ["a pa\"ss\nwörd b", r#"a pa\"ss\nwörd b"#, r#"a pa\"ss\nw\u00f6rd b"#] {
            assert_eq!(secrets.redact(text), "a *** b");
            let mut text = text.to_owned();
            secrets.redact_in_place(&mut text);
            assert_eq!(text, "a *** b");
        }
    }

    #[test]
    fn secret_names_are_recognised_and_short_values_are_kept() {
        let mut secrets = Secrets::default();
        secrets.notice("OPENAI_API_KEY", "sk-12345678");
        secrets.notice("my_token", "abc");
        secrets.notice("HOME", "/home/someone");
        assert_eq!(secrets.redact("sk-12345678 abc /home/someone"), "*** abc /home/someone");
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        let mut secrets = Secrets::default();
        secrets.notice("MY_KEY", "größen!");
        secrets.notice("MY_KEY", "größen!!");
        secrets.add("süß");
        secrets.add("süße");
        let shown = secrets.redact("größen! größen!! süß süße");
        assert_eq!(shown, "größen! *** süß ***");
    }

    #[test]
    fn a_mask_keeps_every_place() {
        let mut secrets = Secrets::default();
        secrets.add("pässwörd");
        secrets.add("line one\nline two");
        assert_eq!(secrets.mask("a pässwörd b"), "a ********** b");
        assert_eq!(secrets.mask("line one\nline two"), "********\n********");
        assert!(matches!(secrets.mask("nothing"), Cow::Borrowed("nothing")));
    }

    #[test]
    fn the_longer_secret_goes_first() {
        let mut secrets = Secrets::default();
        secrets.add("12345678");
        secrets.add("1234567890");
        assert_eq!(secrets.redact("1234567890"), "***");
    }
}
