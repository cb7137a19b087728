//! Tests that lack the same thing, as a message names them.

use std::collections::HashSet;
use std::fmt;

/// The first test and how many there are. A test with many cases counts once.
#[derive(Debug)]
pub(super) struct AffectedTests<'a> {
    first: &'a str,
    all: HashSet<&'a str>,
}

impl<'a> AffectedTests<'a> {
    pub(super) fn new(first: &'a str) -> Self {
        Self { first, all: HashSet::from([first]) }
    }

    pub(super) fn add(&mut self, test: &'a str) {
        self.all.insert(test);
    }
}

impl fmt::Display for AffectedTests<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.first)?;
        match self.all.len() - 1 {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_counts_once() {
        let mut tests = AffectedTests::new("b");
        tests.add("b");
        assert_eq!(tests.to_string(), "`b`");
        ["a", "c", "a", "b"].into_iter().for_each(|test| tests.add(test));
        assert_eq!(tests.to_string(), "`b` and 2 more");
    }
}
