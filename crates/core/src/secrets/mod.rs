//! Values that must never be printed, and their redaction (spec 9.5).
//!
//! [`Secrets`] is the only registry. It knows every spelling of a value that evalrig itself makes,
//! so a text may be redacted after it was lower-cased, encoded or put into JSON.

mod data;
mod matcher;
mod part;
mod spelling;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

pub use data::RedactedNames;
use matcher::SecretMatcher;
use part::{is_placeholder, parts_of, url_parts};

/// Characters. Redacting shorter values would destroy ordinary text.
const SHORTEST: usize = 4;
/// Characters. A variable is secret by its name alone, and shorter values may be ordinary words. Parts
/// and encodings of a value count from this length too.
const SHORTEST_VARIABLE: usize = 8;

const NAMES: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Ends of the names of `.env` files that have no values.
const ENV_EXAMPLES: &[&str] = &["example", "sample", "template", "dist"];

/// What a secret is replaced with.
const MARK: &str = "***";

/// Texts that are shown as `***`, in debug output too.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Trimmed, parts included, other spellings not.
    values: BTreeSet<String>,
    /// Made when a text is first searched, and again after a value was added.
    matcher: OnceLock<SecretMatcher>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// Remembers the value of a variable if its name says that it is secret.
    pub fn notice(&mut self, name: &str, value: &str) {
        if is_secret_name(name) && value.trim().chars().count() >= SHORTEST_VARIABLE {
            self.add(value);
        }
    }

    /// Remembers a value that is known to be secret, such as a key in a targets file, and its parts: the
    /// lines, what follows `Bearer`, the password of a URL.
    pub fn add(&mut self, value: &str) {
        let value = value.trim();
        if value.chars().count() < SHORTEST || is_placeholder(value) {
            return;
        }
        self.insert(value);
        for part in parts_of(value) {
            self.insert(&part);
        }
    }

    /// Remembers the parts of an address that are secret; the address itself is not.
    pub fn add_url(&mut self, url: &str) {
        for part in url_parts(url) {
            self.insert(&part);
        }
    }

    pub fn absorb(&mut self, other: Self) {
        for value in other.values {
            self.insert(&value);
        }
    }

    fn insert(&mut self, value: &str) {
        if !self.values.contains(value) {
            self.values.insert(value.to_owned());
            self.matcher = OnceLock::new();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether any text inside this one would be redacted; also for a line of JSON as a whole.
    pub fn is_in(&self, text: &str) -> bool {
        !self.is_empty() && self.matcher().is_in(text)
    }

    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        self.redact_in_place(&mut text);
        text
    }

    /// Like [`Self::redact`], and a text without secrets costs no copy.
    pub fn redact_in_place(&self, text: &mut String) {
        let spans = self.spans(text);
        if spans.is_empty() {
            return;
        }
        let mut redacted = String::with_capacity(text.len());
        let mut from = 0;
        for span in spans {
            redacted.push_str(&text[from..span.start]);
            redacted.push_str(MARK);
            from = span.end;
        }
        redacted.push_str(&text[from..]);
        *text = redacted;
    }

    /// Like [`Self::redact`], but every other byte and every line break stays where it is, so
    /// that spans into the text still hold.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.spans(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for span in spans {
            masked.push_str(&text[from..span.start]);
            let hidden = text[span.clone()].bytes();
            masked.extend(hidden.map(|byte| match byte {
                b'\n' | b'\r' => char::from(byte),
                _ => '*',
            }));
            from = span.end;
        }
        masked.push_str(&text[from..]);
        Cow::Owned(masked)
    }

    /// Whether a number, given as JSON, is or contains a secret. A short secret must be the whole
    /// number: few digits occur in many numbers.
    pub fn is_number_secret(&self, number: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let digits = number.trim_start_matches('-');
        let spans = self.spans(digits);
        spans.iter().any(|span| span.len() >= SHORTEST_VARIABLE || *span == (0..digits.len()))
    }

    /// The same for a number that evalrig or an agent measured, such as a count of tokens. Only long
    /// numbers are hidden.
    pub fn is_measure_secret(&self, number: impl fmt::Display) -> bool {
        if self.is_empty() {
            return false;
        }
        let text = number.to_string();
        text.len() >= SHORTEST_VARIABLE && self.is_number_secret(&text)
    }

    /// In order and apart from each other.
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_empty() { Vec::new() } else { self.matcher().spans(text) }
    }

    fn matcher(&self) -> &SecretMatcher {
        self.matcher.get_or_init(|| SecretMatcher::new(&self.values))
    }
}

/// Whether a file with this name holds variables: `.env` and `.env.local`, but not the examples that
/// repositories have for them.
pub fn is_env_file(name: &str) -> bool {
    let kind = name.strip_prefix(".env.").filter(|kind| !ENV_EXAMPLES.contains(kind));
    name == ".env" || kind.is_some()
}

/// Whether a variable with this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    NAMES.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JsonStyle, Value};

    #[test]
    fn files_with_variables_are_known_by_their_names() {
        for name in [".env", ".env.local", ".env.production"] {
            assert!(is_env_file(name), "{name}");
        }
        for name in [".env.example", ".envrc", "env", "a.env", ".environment"] {
            assert!(!is_env_file(name), "{name}");
        }
    }

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

    #[test]
    fn every_spelling_is_replaced_as_a_whole() {
        let mut secrets = Secrets::default();
        secrets.add(" Ab_cd-EF/12+34\n");
        for text in [
            "Ab_cd-EF/12+34",
            "AB_CD-EF/12+34",
            "ab-cd-ef/12+34",
            "ab_cd_ef_12_34",
            "ab-cd-ef-12-34",
            "Ab_cd-EF\\/12+34",
            "Ab_cd-EF%2F12%2b34",
            "QWJfY2QtRUYvMTIrMzQ=",
            "QWJfY2QtRUYvMTIrMzQ",
            "41625f63642d45462f31322b3334",
            "41625F63642D45462F31322B3334",
        ] {
            assert_eq!(secrets.redact(&format!("<{text}>")), "<***>", "{text}");
            assert!(secrets.is_in(text), "{text}");
        }
    }

    #[test]
    fn overlapping_secrets_leave_nothing() {
        let mut secrets = Secrets::default();
        secrets.add("abcd-1234");
        secrets.add("1234-wxyz");
        assert_eq!(secrets.redact("<abcd-1234-wxyz> <abcd-12341234-wxyz>"), "<***> <******>");
    }

    #[test]
    fn ordinary_words_stay() {
        let mut secrets = Secrets::default();
        for placeholder in ["EMPTY", "none", "Test", "ollama", "password"] {
            secrets.add(placeholder);
        }
        assert!(secrets.is_empty());
        secrets.add("Bearer development");
        secrets.add("!!!developer!!!");
        secrets.add("one-line-1\nsunshine\n");
        secrets.add_url("https://production:x@h/?format=protobuf&api-version=2024-10-01");
        let text = "the developer of production likes sunshine, protobuf and 2024-10-01";
        assert_eq!(secrets.redact(text), text);
    }

    #[test]
    fn a_secret_that_was_cut_on_both_sides_is_hidden() {
        let mut secrets = Secrets::default();
        secrets.add("sk-12345-abcd-67890");
        assert_eq!(secrets.redact("…345-ABCD-6… ...345-abcd-6 x"), "…***… ...345-abcd-6 x");
    }

    #[test]
    fn a_line_of_json_is_searched_as_a_whole() {
        let mut secrets = Secrets::default();
        secrets.add("pa\"ss\nw\\rd");
        let mut text = "pa\"ss\nw\\rd".to_owned();
        for depth in 0..4 {
            assert_eq!(secrets.redact(&text), "***", "{depth}");
            text = Value::from(text.as_str()).to_json(JsonStyle::Compact);
            assert!(secrets.is_in(&text), "{depth}");
            text = text[1..text.len() - 1].to_owned();
        }
    }
}
