//! Values that must never be printed (`FORMAT.md` 9.5).

use std::borrow::Cow;
use std::fmt;

/// Shorter values would blot out ordinary words.
const SHORTEST: usize = 8;

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
        if NAMES.iter().any(|part| name.contains(part)) {
            self.add(value);
        }
    }

    pub fn add(&mut self, value: &str) {
        if value.len() >= SHORTEST && !self.values.iter().any(|known| known == value) {
            self.values.push(value.to_owned());
            // A secret that contains another one must go first, or a tail of it would stay.
            self.values
                .sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
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
        self.values
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_names_are_recognised_and_short_values_are_not_blotted_out() {
        let mut secrets = Secrets::default();
        secrets.notice("OPENAI_API_KEY", "sk-12345678");
        secrets.notice("my_token", "abc");
        secrets.notice("HOME", "/home/someone");
        assert_eq!(
            secrets.redact("sk-12345678 abc /home/someone"),
            "*** abc /home/someone"
        );
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
