//! How many of a test's trials must pass.

/// A share of the trials that got a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassShare {
    pub share: f64,
    /// The share itself is not enough.
    pub above: bool,
}

/// Rounding error of a share (spec 8).
const TOLERANCE: f64 = 1e-9;

impl PassShare {
    /// At least this share.
    pub fn at_least(share: f64) -> Self {
        Self { share, above: false }
    }

    /// More than this share.
    pub fn above(share: f64) -> Self {
        Self { share, above: true }
    }

    /// The stricter of the two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let key = |one: Self| (one.share, one.above);
        if key(other) > key(self) { other } else { self }
    }

    /// Without a verdict nothing is reached.
    pub fn is_reached(self, passes: u64, verdicts: u64) -> bool {
        if verdicts == 0 {
            return false;
        }
        let found = passes as f64 / verdicts as f64;
        if self.above { found > self.share + TOLERANCE } else { found >= self.share - TOLERANCE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_reached_or_exceeded() {
        let half = PassShare::at_least(0.5);
        let more = PassShare::above(0.5);
        for (passes, reached, exceeded) in [(0, false, false), (1, true, false), (2, true, true)] {
            assert_eq!(half.is_reached(passes, 2), reached);
            assert_eq!(more.is_reached(passes, 2), exceeded);
        }
        assert!(PassShare::at_least(2.0 / 3.0).is_reached(2, 3));
        assert!(!PassShare::at_least(0.0).is_reached(0, 0));
    }

    #[test]
    fn of_two_the_stricter_one_counts() {
        let half = PassShare::at_least(0.5);
        assert_eq!(half.and(PassShare::above(0.5)), PassShare::above(0.5));
        assert_eq!(PassShare::above(0.2).and(half), half);
    }
}
