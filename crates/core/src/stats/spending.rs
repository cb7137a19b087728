//! How much of an error rate each look at growing data may use up: error spending after Hwang, Shih
//! and DeCani (1990), and the normal limits that follow from it.

use super::special::{normal_below, normal_quantile};

/// The parameter of the spending function: the larger, the more is kept for the last look.
const SHAPE: f64 = 1.5;
/// Points at which a density is kept between two looks. Twenty looks need no more.
const POINTS: usize = 400;
/// Standard deviations below zero that are kept.
const REACH: f64 = 8.0;
/// Of a limit, in standard errors.
const PRECISION: f64 = 1e-11;

/// The part of `level` that may be used up when this share of the information is there.
fn spent(level: f64, share: f64) -> f64 {
    level * (SHAPE * share.clamp(0.0, 1.0)).exp_m1() / SHAPE.exp_m1()
}

/// What each look may use up. `shares` grow up to 1.
pub(crate) fn spending(level: f64, shares: &[f64]) -> Vec<f64> {
    let mut before = 0.0;
    let part = |share: &f64| {
        let all = spent(level, *share);
        let part = all - before;
        before = all;
        part
    };
    shares.iter().map(part).collect()
}

/// By look, how many standard errors a mean must be above zero, so that a mean of zero is found to be
/// above at one of the looks with the probability `level`. What is seen between two looks does not
/// depend on what was seen before.
pub(crate) fn normal_limits(level: f64, shares: &[f64]) -> Vec<f64> {
    let mut limits = Vec::with_capacity(shares.len());
    let mut open: Option<OpenDensity> = None;
    for (share, part) in shares.iter().zip(spending(level, shares)) {
        let limit = match &open {
            None => normal_quantile(1.0 - part),
            Some(density) => density.limit(*share, part),
        };
        limits.push(limit);
        if limits.len() < shares.len() {
            open = Some(match &open {
                None => OpenDensity::first(*share, limit),
                Some(density) => density.next(*share, limit),
            });
        }
    }
    limits
}

/// The density of a sum that has not crossed a limit so far; its variance is the share of the
/// information.
struct OpenDensity {
    share: f64,
    low: f64,
    step: f64,
    /// Weighted for Simpson's rule.
    weights: Vec<f64>,
}

impl OpenDensity {
    fn of(share: f64, limit: f64, density: impl Fn(f64) -> f64) -> Self {
        let scale = share.sqrt();
        let (low, high) = (-REACH * scale, limit * scale);
        let step = (high - low) / POINTS as f64;
        let weight = |at: usize| {
            let factor = match at {
                0 | POINTS => 1.0,
                at if at % 2 == 1 => 4.0,
                _ => 2.0,
            };
            factor * step / 3.0 * density(low + at as f64 * step)
        };
        Self { share, low, step, weights: (0..=POINTS).map(weight).collect() }
    }

    fn first(share: f64, limit: f64) -> Self {
        let scale = share.sqrt();
        Self::of(share, limit, |sum| normal_density(sum / scale) / scale)
    }

    fn next(&self, share: f64, limit: f64) -> Self {
        Self::of(share, limit, |sum| self.density(share, sum))
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let weights = self.weights.iter().enumerate();
        weights.map(|(at, weight)| (self.low + at as f64 * self.step, *weight))
    }

    /// The chance to be above a sum at the next look, and below the limits before.
    fn above(&self, share: f64, sum: f64) -> f64 {
        let scale = (share - self.share).max(1e-9).sqrt();
        self.points().map(|(x, weight)| weight * normal_below((x - sum) / scale)).sum()
    }

    /// The density of a sum at the next look.
    fn density(&self, share: f64, sum: f64) -> f64 {
        let scale = (share - self.share).max(1e-9).sqrt();
        let terms = self.points().map(|(x, weight)| weight * normal_density((sum - x) / scale));
        terms.sum::<f64>() / scale
    }

    /// By Newton's method, and by bisection where that leaves the range.
    fn limit(&self, share: f64, part: f64) -> f64 {
        let scale = share.sqrt();
        let (mut low, mut high) = (-REACH, REACH);
        let mut limit = normal_quantile(1.0 - part).clamp(low, high);
        for _ in 0..60 {
            let excess = self.above(share, limit * scale) - part;
            if excess > 0.0 {
                low = limit
            } else {
                high = limit
            }
            let next = limit + excess / (self.density(share, limit * scale) * scale);
            let next = if low < next && next < high { next } else { 0.5 * (low + high) };
            if (next - limit).abs() < PRECISION {
                return next;
            }
            limit = next;
        }
        limit
    }
}

fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::*;

    /// Four rounds against five base trials.
    fn shares() -> Vec<f64> {
        (1..=4).map(|round| (0.25 + 0.2) / (1.0 / f64::from(round) + 0.2)).collect()
    }

    #[test]
    fn everything_is_used_up_at_the_end() {
        let parts = spending(0.05, &shares());
        assert!((parts.iter().sum::<f64>() - 0.05).abs() < 1e-12, "{parts:?}");
        assert!(parts.windows(2).all(|pair| pair[0] < pair[1]), "{parts:?}");
        assert!((parts[0] - 0.010_838).abs() < 1e-5, "{parts:?}");
    }

    /// The recursion of Armitage, McPherson and Rowe (1969) in Python, with `math.erfc` and 400 points.
    #[test]
    fn the_limits_are_those_of_the_normal_recursion() {
        let found = normal_limits(0.025, &shares());
        for (found, wanted) in found.iter().zip([2.547_711, 2.396_478, 2.263_825, 2.153_774]) {
            assert!((found - wanted).abs() < 1e-5, "{found} {wanted}");
        }
        let found = normal_limits(0.05, &shares());
        for (found, wanted) in found.iter().zip([0.010_843, 0.017_208, 0.025_047, 0.033_662]) {
            let level = 1.0 - normal_below(*found);
            assert!((level - wanted).abs() < 1e-5, "{level} {wanted}");
        }
        let one = normal_limits(0.025, &[1.0]);
        assert!((one[0] - 1.959_963_984_540_054).abs() < 1e-9);
    }

    #[test]
    fn simulated_sums_cross_as_often_as_is_allowed() {
        let shares: Vec<f64> = (1..=20).map(|look| f64::from(look) / 20.0).collect();
        let limits = normal_limits(0.05, &shares);
        let mut random = SplitMix64::new(5);
        let repeats = 20_000;
        let crosses = |_: &u32| {
            let (mut sum, mut before) = (0.0, 0.0);
            shares.iter().zip(&limits).any(|(share, limit)| {
                let chance = random.fraction().max(1e-12);
                sum += normal_quantile(chance) * (share - before).sqrt();
                before = *share;
                sum >= limit * share.sqrt()
            })
        };
        let found = (0..repeats).filter(crosses).count() as f64 / f64::from(repeats);
        assert!((found - 0.05).abs() < 0.005, "{found}");
    }
}
