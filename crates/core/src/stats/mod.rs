//! Intervals, permutation tests and corrections. Pure and seeded: the same numbers and the same
//! seed give the same result on every machine.
//!
//! Trials of one test are correlated, so tests are the unit of analysis: intervals of means treat
//! tests as clusters, and comparisons are made within tests.

mod approximation;
mod clustered;
mod corrected;
mod difference;
mod drift;
mod exchange;
mod likely_rate;
mod look;
mod mean;
mod mixture;
mod noise;
mod pair;
mod pass_k;
mod pass_split;
mod power;
mod random;
mod rate;
mod round_pair;
mod round_passes;
mod round_scores;
mod run_exchange;
mod score_exchange;
mod special;
mod spending;
mod split_table;
mod tarone;

pub(crate) use approximation::approximate_exchange;
pub use clustered::{Passes, clustered_rate};
pub use corrected::{CorrectedRate, LabelledCase, corrected_difference};
pub use difference::{Measure, difference};
pub use drift::Drift;
pub(crate) use exchange::{Effort, Permuted, exchange_passes};
pub(crate) use likely_rate::{LikelyRates, dropped};
pub(crate) use look::{Boundary, LookSpending, look};
pub use mean::{GroupSum, clustered_mean, clustered_mean_of_sums, mean_between};
pub use noise::{
    MeasuredEffort, NoiseComponents, StandardError, noise_components, reading_variance,
};
pub(crate) use pair::clusters;
pub use pair::{Cluster, Pair};
pub use pass_k::{KRule, PassK};
pub use power::TrialsNeeded;
pub(crate) use power::{LastingError, Settling, trials_to_settle};
pub use random::{Fnv1a, SplitMix64};
pub use rate::{SELF_EVIDENT, between, percent, rate_text, share_percent, wilson};
pub(crate) use round_pair::RoundPair;
pub(crate) use score_exchange::exchange_scores;
pub(crate) use special::{normal_below, normal_quantile};
pub(crate) use spending::{normal_limits, spending};
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
