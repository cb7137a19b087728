//! Intervals, permutation tests and corrections. Pure and seeded: the same numbers and the same
//! seed give the same result on every machine.
//!
//! Trials of one test are correlated, so tests are the unit of analysis: intervals of means treat
//! tests as clusters, and comparisons are made within tests.

mod clustered;
mod difference;
mod mean;
mod multiple;
mod paired;
mod power;
mod random;
mod rate;
mod special;

pub use clustered::{Passes, clustered_rate};
pub(crate) use difference::typical_trials;
pub use difference::{Measure, difference};
pub use mean::{clustered_mean, mean_between};
pub(crate) use multiple::holm;
pub(crate) use paired::{Permuted, permute, permute_approximately};
pub(crate) use power::{Settling, trials_to_settle};
pub use random::{Fnv1a, SplitMix64};
pub use rate::{SELF_EVIDENT, between, percent, rate_text, share_percent, wilson};

/// From `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub(crate) fn within(low: f64, high: f64, least: f64, most: f64) -> Self {
        Self { low: low.clamp(least, most), high: high.clamp(least, most) }
    }

    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The scores of one test's trials in two runs. Where rates are compared, a pass is 1 and anything
/// else 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub base: Vec<f64>,
    pub candidate: Vec<f64>,
}

impl Pair {
    /// How much the test gained. Neither side is empty.
    pub fn gain(&self) -> f64 {
        mean(&self.candidate) - mean(&self.base)
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample variance, with n − 1. 0 for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let centre = mean(values);
    let squares = values.iter().map(|value| (value - centre).powi(2));
    squares.sum::<f64>() / (values.len() - 1) as f64
}
