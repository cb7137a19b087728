//! Intervals, permutation tests and corrections. Pure and seeded: the same numbers and the same
//! seed give the same result on every machine.
//!
//! Trials of one test are correlated, so tests are the unit of analysis: intervals of means treat
//! tests as clusters, and comparisons are made within tests.

mod approximation;
mod clustered;
mod difference;
mod drift;
mod exchange;
mod mean;
mod mixture;
mod pair;
mod pass_split;
mod power;
mod random;
mod rate;
mod score_exchange;
mod special;
mod tarone;

pub(crate) use approximation::approximate_exchange;
pub use clustered::{Passes, clustered_rate};
pub use difference::{Measure, difference};
pub use drift::Drift;
pub(crate) use exchange::{Effort, Permuted, exchange_passes};
pub use mean::{clustered_mean, mean_between};
pub(crate) use pair::clusters;
pub use pair::{Cluster, Pair};
pub use power::TrialsNeeded;
pub(crate) use power::{Settling, trials_to_settle};
pub use random::{Fnv1a, SplitMix64};
pub use rate::{SELF_EVIDENT, between, percent, rate_text, share_percent, wilson};
pub(crate) use score_exchange::exchange_scores;
pub(crate) use special::{normal_below, normal_quantile};
pub(crate) use tarone::{Mark, mark};

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

    /// Both ends further away from a value inside it.
    pub(crate) fn widened(&self, centre: f64, factor: f64) -> Self {
        let low = centre - (centre - self.low) * factor;
        Self::within(low, centre + (self.high - centre) * factor, -1.0, 1.0)
    }

    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
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
