//! Patterns outside of assertions, such as those of mock targets. The rules are those of `regex`.

use crate::model::{Fault, SearchTime};

use super::pattern::{Flags, Pattern};

#[derive(Debug)]
pub struct Searcher(Pattern);

impl Searcher {
    /// Fails with the reason, in one line.
    pub fn new(pattern: &str) -> Result<Self, String> {
        match Pattern::new(pattern, Flags::default()) {
            Ok(pattern) => Ok(Self(pattern)),
            Err(error) => Err(error.reason),
        }
    }

    /// Whether the pattern matches anywhere in the text.
    pub fn finds(&self, text: &str) -> Result<bool, Fault> {
        self.0.is_in(text, &SearchTime::of_one_search())
    }
}
