//! How often a judge reads an answer, and who says so (spec 21.3).

use std::fmt;

/// An odd number of readings, so that a yes or a no has a majority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Votes(u8);

impl Votes {
    pub const ONE: Self = Self(1);
    pub const MOST: u64 = 99;

    /// `None` if the number is even or out of range.
    pub fn new(number: u64) -> Option<Self> {
        let is_allowed = number % 2 == 1 && number <= Self::MOST;
        is_allowed.then(|| u8::try_from(number).ok().map(Self)).flatten()
    }

    pub fn count(self) -> usize {
        usize::from(self.0)
    }

    /// How many votes decide, however the others are cast.
    pub fn majority(self) -> usize {
        self.count() / 2 + 1
    }
}

impl Default for Votes {
    fn default() -> Self {
        Self::ONE
    }
}

/// What the run knows about the judges of a case.
pub trait JudgeReadings: fmt::Debug + Send + Sync {
    /// The votes that are taken. `judge` is the assertion's own judge, and `written` what the assertion
    /// says.
    fn votes(&self, judge: Option<&str>, written: Option<Votes>) -> Votes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_are_odd() {
        let counts: Vec<_> = (0..8).filter_map(Votes::new).map(Votes::count).collect();
        assert_eq!(counts, [1, 3, 5, 7]);
        assert_eq!(Votes::new(99).map(Votes::majority), Some(50));
        assert_eq!(Votes::new(101), None);
        assert_eq!(Votes::new(u64::MAX), None);
    }
}
