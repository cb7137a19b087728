//! Rates that tests may have, after what was seen of them.

use super::pass_split::{PassTotals, RatePrior};
use super::{Drift, Pair, SplitMix64};

/// Draws rates of tests from what their base runs say; tests are taken to resemble each other as much
/// as they do.
#[derive(Debug)]
pub(crate) struct LikelyRates {
    /// By test, the parameters of a Beta distribution.
    tests: Vec<(f64, f64)>,
    /// How much trials of one run resemble each other.
    correlation: f64,
}

impl LikelyRates {
    pub(crate) fn of(pairs: &[Pair]) -> Self {
        let correlation = Drift::of(pairs).correlation;
        let prior = RatePrior::fit(pairs, correlation);
        let test = |pair: &Pair| {
            let totals = PassTotals::of(pair);
            // Correlated trials say less.
            let size = totals.base_trials as f64;
            let runs = pair.base.iter().filter(|run| !run.is_empty()).count().max(1) as f64;
            let weight = 1.0 / (1.0 + (size / runs - 1.0).max(0.0) * correlation);
            let failures = (totals.base_trials - totals.passes) as f64;
            (prior.passed + weight * totals.passes as f64, prior.failed + weight * failures)
        };
        Self { tests: pairs.iter().map(test).collect(), correlation }
    }

    pub(crate) fn draw(&self, random: &mut SplitMix64) -> Vec<f64> {
        self.tests.iter().map(|(passed, failed)| beta(*passed, *failed, random)).collect()
    }

    /// The rates of one run, which may differ from those of others.
    pub(crate) fn of_run(&self, rates: &[f64], random: &mut SplitMix64) -> Vec<f64> {
        if self.correlation <= 0.0 {
            return rates.to_vec();
        }
        let size = (1.0 - self.correlation) / self.correlation;
        let rate = |rate: &f64| match *rate {
            rate if rate <= 0.0 || rate >= 1.0 => rate,
            rate => beta(rate * size, (1.0 - rate) * size, random),
        };
        rates.iter().map(rate).collect()
    }
}

/// The rates after a drop of their mean, with the same odds ratio for each. A gain is a negative drop.
pub(crate) fn dropped(rates: &[f64], drop: f64) -> Vec<f64> {
    if drop == 0.0 {
        return rates.to_vec();
    }
    if drop < 0.0 {
        let complement =
            |rates: &[f64]| -> Vec<f64> { rates.iter().map(|rate| 1.0 - rate).collect() };
        return complement(&dropped(&complement(rates), -drop));
    }
    let count = rates.len().max(1) as f64;
    let wanted = (rates.iter().sum::<f64>() / count - drop).max(0.0);
    let with = |log: f64| -> Vec<f64> {
        let rate = |rate: &f64| match *rate {
            rate if rate <= 0.0 => 0.0,
            rate => 1.0 / (1.0 + (1.0 - rate).max(1e-6) / rate * log.exp()),
        };
        rates.iter().map(rate).collect()
    };
    let (mut low, mut high) = (0.0, 30.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if with(middle).iter().sum::<f64>() / count > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    with(0.5 * (low + high))
}

fn beta(a: f64, b: f64, random: &mut SplitMix64) -> f64 {
    let (one, other) = (gamma(a, random), gamma(b, random));
    if one + other > 0.0 {
        one / (one + other)
    } else {
        f64::from(u8::from(random.fraction() < a / (a + b)))
    }
}

/// Marsaglia and Tsang (2000).
fn gamma(shape: f64, random: &mut SplitMix64) -> f64 {
    if shape < 1.0 {
        let larger = gamma(shape + 1.0, random);
        return larger * (1.0 - random.fraction()).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let radius = (-2.0 * (1.0 - random.fraction()).ln()).sqrt();
        let x = radius * (std::f64::consts::TAU * random.fraction()).cos();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - random.fraction()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_lowers_the_mean_by_as_much() {
        let rates = [0.9, 0.5, 1.0, 0.7];
        for drop in [0.1, 0.2] {
            let found = dropped(&rates, drop);
            let mean = |rates: &[f64]| rates.iter().sum::<f64>() / 4.0;
            assert!((mean(&rates) - drop - mean(&found)).abs() < 1e-6, "{found:?}");
        }
        let gained = dropped(&[0.1, 0.5, 0.0, 0.7], -0.2);
        assert!((gained.iter().sum::<f64>() / 4.0 - 0.525).abs() < 1e-6, "{gained:?}");
        assert_eq!(dropped(&rates, 0.0), rates);
        assert!(dropped(&[0.05], 0.2)[0] < 1e-6);
    }

    #[test]
    fn rates_follow_the_trials() {
        let side = |passes: usize| -> Vec<f64> {
            (0..10).map(|at| f64::from(u8::from(at < passes))).collect()
        };
        let pairs: Vec<Pair> = (0..40).map(|at| Pair::new(side(5 + at % 6), Vec::new())).collect();
        let rates = LikelyRates::of(&pairs);
        let mut random = SplitMix64::new(1);
        let mut sum = 0.0;
        for _ in 0..200 {
            sum += rates.draw(&mut random).iter().sum::<f64>() / 40.0 / 200.0;
        }
        assert!((sum - 0.75).abs() < 0.02, "{sum}");
    }
}
