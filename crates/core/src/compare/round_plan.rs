//! The plan of a run in rounds: fixed before the first trial, so that looking does not add errors.

use super::verdict::{GAIN_LEVEL, LEVEL};
use crate::stats::{LookSpending, Measure, normal_limits, spending};

/// A look takes time and uses up a part of the error rate.
pub const MOST_ROUNDS: u32 = 20;
/// The error of each side of the interval.
const SIDE: f64 = 0.025;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundPlan {
    /// At most so many; in each, every test has one trial.
    pub rounds: u32,
    pub margin: f64,
    pub measure: Measure,
    pub base: RoundBase,
    pub seed: u64,
    /// Whether to stop as well when a verdict has become unlikely.
    pub stops_futile: bool,
}

/// What the candidate is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RoundBase {
    /// Stored runs with so many trials per test.
    Stored { trials: f64 },
    /// An arm of the same run, which has the same rounds.
    Growing,
}

impl RoundPlan {
    pub(super) fn has_growing_base(&self) -> bool {
        self.base == RoundBase::Growing
    }

    /// By round, the share of the information that there will be.
    pub fn shares(&self) -> Vec<f64> {
        let inverse = |round: u32| {
            let own = 1.0 / f64::from(round);
            match self.base {
                RoundBase::Stored { trials } => own + 1.0 / trials.max(1e-9),
                RoundBase::Growing => 2.0 * own,
            }
        };
        (1..=self.rounds).map(|round| inverse(self.rounds) / inverse(round)).collect()
    }

    /// By round, the multiple of the standard error that the interval has.
    pub(super) fn limits(&self) -> Vec<f64> {
        normal_limits(SIDE, &self.shares())
    }

    /// By round, how many standard errors a drop needs, nearly: the levels of looks come from the
    /// trials themselves.
    pub(super) fn drop_limits(&self) -> Vec<f64> {
        normal_limits(LEVEL, &self.shares())
    }

    /// The same for gains.
    pub(super) fn gain_limits(&self) -> Vec<f64> {
        normal_limits(GAIN_LEVEL, &self.shares())
    }

    pub(super) fn spending(&self) -> Vec<LookSpending> {
        let shares = self.shares();
        let (drops, gains) = (spending(LEVEL, &shares), spending(GAIN_LEVEL, &shares));
        drops.into_iter().zip(gains).map(|(drop, gain)| LookSpending { drop, gain }).collect()
    }

    /// Other random numbers for each look.
    pub(super) fn seed_of(&self, round: u32) -> u64 {
        self.seed ^ u64::from(round).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_base_counts_as_information() {
        let plan = |base: RoundBase| RoundPlan {
            rounds: 4,
            margin: 0.1,
            measure: Measure::Rate,
            base,
            seed: 0,
            stops_futile: false,
        };
        let stored = plan(RoundBase::Stored { trials: 5.0 }).shares();
        assert!((stored[0] - 0.375).abs() < 1e-12 && stored[3] == 1.0, "{stored:?}");
        assert_eq!(plan(RoundBase::Growing).shares(), [0.25, 0.5, 0.75, 1.0]);
    }
}
