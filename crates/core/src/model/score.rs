//! Scores from 0 to 1.

/// Tolerance of comparisons with thresholds (spec 8).
const TOLERANCE: f64 = 1e-9;

/// Finite, 0 to 1 inclusive.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Score(f64);

impl Score {
    pub const ZERO: Self = Self(0.0);
    pub const ONE: Self = Self(1.0);

    /// `None` outside 0..1: a score of 8 is a misunderstanding, not a very good answer.
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0 turns -0 into 0, which records would show.
        (0.0..=1.0).contains(&value).then_some(Self(value + 0.0))
    }

    /// A computed share, which rounding may put slightly out of range.
    pub fn of_share(value: f64) -> Self {
        if value.is_nan() { Self::ZERO } else { Self(value.clamp(0.0, 1.0)) }
    }

    /// All or nothing.
    pub fn when(holds: bool) -> Self {
        if holds { Self::ONE } else { Self::ZERO }
    }

    /// Σ(score × weight) / Σ(weight); `None` when all weights are 0.
    pub fn weighted_average(scores: impl IntoIterator<Item = (Self, f64)>) -> Option<Self> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (score, weight) in scores {
            sum += score.value() * weight;
            weights += weight;
        }
        (weights > 0.0).then(|| Self::of_share(sum / weights))
    }

    pub fn value(self) -> f64 {
        self.0
    }

    /// As written to records: six decimals.
    pub fn rounded(self) -> f64 {
        (self.0 * 1e6).round() / 1e6
    }

    pub fn reaches(self, threshold: f64) -> bool {
        self.0 + TOLERANCE >= threshold
    }

    #[must_use]
    pub fn inverted(self) -> Self {
        Self(1.0 - self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shares_are_scores() {
        assert_eq!(Score::new(0.5).map(Score::value), Some(0.5));
        for value in [-0.1, 1.1, 7.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Score::new(value), None, "{value}");
        }
        let zero = Score::new(-0.0).map(Score::value);
        assert!(zero.is_some_and(f64::is_sign_positive));
    }

    #[test]
    fn a_threshold_is_reached_in_spite_of_rounding() {
        let score = Score::of_share((0.9 + 0.8 + 0.7) / 3.0);
        assert!(score.reaches(0.8));
        assert!(!Score::of_share(0.799).reaches(0.8));
    }
}
