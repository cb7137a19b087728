//! Ids of tests.

use std::fmt;

/// Not blank, no line breaks. A plain decimal integer is remembered as numeric (spec 12.2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestId {
    text: String,
    number: Option<u64>,
}

impl TestId {
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let is_simple = !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        let fits = is_simple || is_one_line(&text);
        fits.then_some(Self { text, number: None })
    }

    pub fn numeric(number: u64) -> Self {
        Self { text: number.to_string(), number: Some(number) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn number(&self) -> Option<u64> {
        self.number
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_one_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
}
