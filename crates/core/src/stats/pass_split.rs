//! How one test's passes may be split between the base and the candidate.
//!
//! If trials are exchangeable, the number that falls to the candidate is hypergeometric. If trials
//! of one run resemble each other, it varies more: then each side is beta-binomial with the test's
//! rate, which is averaged over rates like those of the other tests.

use std::collections::HashMap;
use std::f64::consts::FRAC_PI_2;

use super::drift::MODELLED;
use super::special::{ln_choose, ln_gamma};
use super::{Drift, Pair};

/// Rates over which the model averages, more of them near 0 and 1.
const RATES: usize = 24;

/// One test's trials and passes; tests that agree in them have the same distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PassTotals {
    pub base_trials: usize,
    /// Ordered pairs of base trials that are of one run.
    pub base_neighbours: usize,
    pub trials: usize,
    /// Of both sides together.
    pub passes: usize,
}

impl PassTotals {
    pub fn of(pair: &Pair) -> Self {
        let neighbours = |run: &Vec<f64>| run.len() * run.len().saturating_sub(1);
        Self {
            base_trials: pair.base_trials(),
            base_neighbours: pair.base.iter().map(neighbours).sum(),
            trials: pair.candidate.len(),
            passes: count_passes(pair.base_values()) + candidate_passes(pair),
        }
    }

    /// The fewest passes that the candidate can have.
    pub fn least(&self) -> usize {
        self.passes.saturating_sub(self.base_trials)
    }

    /// The most.
    pub fn most(&self) -> usize {
        self.passes.min(self.trials)
    }

    /// Gain of the test if the candidate has so many of the passes.
    pub fn gain(&self, passes: usize) -> f64 {
        let base = (self.passes - passes) as f64 / self.base_trials as f64;
        passes as f64 / self.trials as f64 - base
    }
}

pub(super) fn candidate_passes(pair: &Pair) -> usize {
    count_passes(pair.candidate.iter().copied())
}

pub(super) fn count_passes(values: impl Iterator<Item = f64>) -> usize {
    values.filter(|value| *value == 1.0).count()
}

/// How likely a sample of trials is, each side as passes and trials.
pub(super) fn chance_of_sample([passes, trials]: [usize; 2], [drawn, size]: [usize; 2]) -> f64 {
    if size == trials {
        return 1.0;
    }
    let ways = |all: usize, some: usize| ln_choose(all as u64, some as u64);
    let failures = ways(trials - passes, size - drawn);
    (ways(passes, drawn) + failures - ways(trials, size)).exp()
}

/// Rates that are likely before a test's own trials are seen: Beta(passed, failed).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RatePrior {
    pub passed: f64,
    pub failed: f64,
}

/// The distribution of splits at a correlation between trials of one run.
#[derive(Debug)]
pub(super) struct SplitModel {
    correlation: f64,
    prior: RatePrior,
    known: HashMap<PassTotals, Vec<f64>>,
}

impl SplitModel {
    pub fn new(pairs: &[Pair], correlation: f64) -> Self {
        let prior = RatePrior::fit(pairs, correlation);
        Self { correlation, prior, known: HashMap::new() }
    }

    /// With the correlation that the base runs show. Where they cannot show any, with none and with
    /// the highest: neither is the more careful one for every split.
    pub fn estimated(pairs: &[Pair]) -> Vec<Self> {
        let drift = Drift::of(pairs);
        let highest = (!drift.is_correlation_known).then_some(MODELLED);
        let correlations = std::iter::once(drift.correlation).chain(highest);
        correlations.map(|correlation| Self::new(pairs, correlation)).collect()
    }

    /// Chances that the candidate has [`PassTotals::least`] passes, one more, and so on.
    pub fn chances(&mut self, totals: PassTotals) -> &[f64] {
        let (correlation, prior) = (self.correlation, self.prior);
        self.known.entry(totals).or_insert_with(|| {
            let logs = if correlation > 0.0 {
                correlated_logs(totals, correlation, prior)
            } else {
                exchangeable_logs(totals)
            };
            normalised(&logs)
        })
    }
}

impl RatePrior {
    /// By moments: what the pooled rates vary beyond the variance of their trials.
    pub fn fit(pairs: &[Pair], correlation: f64) -> Self {
        let count = pairs.len().max(1) as f64;
        let rates: Vec<f64> = pairs.iter().map(pooled_rate).collect();
        let centre = (rates.iter().sum::<f64>() / count).clamp(0.01, 0.99);
        let squares: f64 = rates.iter().map(|rate| (rate - centre).powi(2)).sum();
        let variance = squares / (count - 1.0).max(1.0);
        let noise = pairs.iter().map(|pair| noise(pair, correlation)).sum::<f64>() / count;
        let room = centre * (1.0 - centre);
        let between = ((variance - room * noise) / (1.0 - noise).max(1e-9)).max(1e-9);
        let size = (room / between - 1.0).clamp(0.3, 100.0);
        Self { passed: centre * size, failed: (1.0 - centre) * size }
    }
}

fn pooled_rate(pair: &Pair) -> f64 {
    let totals = PassTotals::of(pair);
    totals.passes as f64 / (totals.base_trials + totals.trials) as f64
}

/// Variance of the pooled rate, as a share of that of one trial.
fn noise(pair: &Pair, correlation: f64) -> f64 {
    let size = (pair.base_trials() + pair.candidate.len()) as f64;
    let runs = pair.base.iter().map(Vec::len).chain([pair.candidate.len()]);
    let squares: f64 = runs.map(|count| (count * count) as f64).sum();
    correlation * squares / (size * size) + (1.0 - correlation) / size
}

fn exchangeable_logs(totals: PassTotals) -> Vec<f64> {
    let PassTotals { base_trials, trials, passes, .. } = totals;
    let log = |count: usize| {
        ln_choose(trials as u64, count as u64)
            + ln_choose(base_trials as u64, (passes - count) as u64)
    };
    (totals.least()..=totals.most()).map(log).collect()
}

fn correlated_logs(totals: PassTotals, correlation: f64, prior: RatePrior) -> Vec<f64> {
    let PassTotals { base_trials, base_neighbours, trials, .. } = totals;
    // One beta-binomial with the variance that the sum over the base runs has.
    let all_neighbours = (base_trials * base_trials.saturating_sub(1)).max(1) as f64;
    let base_correlation = correlation * base_neighbours as f64 / all_neighbours;
    let mut sums = vec![0.0; totals.most() - totals.least() + 1];
    let mut logs = Vec::with_capacity(RATES);
    for at in 0..RATES {
        let angle = (at as f64 + 0.5) / RATES as f64 * FRAC_PI_2;
        let rate = angle.sin().powi(2);
        let weight = (prior.passed - 0.5) * rate.ln() + (prior.failed - 0.5) * (1.0 - rate).ln();
        let sides = [
            BetaBinomial::new(trials, rate, correlation),
            BetaBinomial::new(base_trials, rate, base_correlation),
        ];
        logs.push(split_logs(totals, &sides, weight));
    }
    let highest = logs.iter().flatten().fold(f64::NEG_INFINITY, |most, log| most.max(*log));
    for logs in &logs {
        for (sum, log) in sums.iter_mut().zip(logs) {
            *sum += (log - highest).exp();
        }
    }
    sums.iter().map(|sum| sum.max(f64::MIN_POSITIVE).ln()).collect()
}

/// For a rate, up to a constant that all rates share.
fn split_logs(totals: PassTotals, sides: &[BetaBinomial; 2], weight: f64) -> Vec<f64> {
    let log = |count: usize| {
        weight + sides[0].ln_chance(count) + sides[1].ln_chance(totals.passes - count)
    };
    (totals.least()..=totals.most()).map(log).collect()
}

/// Passes of trials whose rate varies from run to run.
#[derive(Debug, Clone, Copy)]
struct BetaBinomial {
    trials: usize,
    rate: f64,
    /// The parameters of the rate's distribution; `None` if it does not vary.
    beta: Option<(f64, f64)>,
}

impl BetaBinomial {
    fn new(trials: usize, rate: f64, correlation: f64) -> Self {
        let size = (1.0 - correlation) / correlation;
        let beta = (correlation > 1e-9).then_some((rate * size, (1.0 - rate) * size));
        Self { trials, rate, beta }
    }

    fn ln_chance(&self, passes: usize) -> f64 {
        let failures = self.trials - passes;
        let ways = ln_choose(self.trials as u64, passes as u64);
        let (passed, failed) = (passes as f64, failures as f64);
        match self.beta {
            None => ways + passed * self.rate.ln() + failed * (1.0 - self.rate).ln(),
            Some((a, b)) => ways + ln_beta(a + passed, b + failed) - ln_beta(a, b),
        }
    }
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

fn normalised(logs: &[f64]) -> Vec<f64> {
    let highest = logs.iter().fold(f64::NEG_INFINITY, |most, log| most.max(*log));
    let chances: Vec<f64> = logs.iter().map(|log| (log - highest).exp()).collect();
    let total: f64 = chances.iter().sum();
    chances.iter().map(|chance| chance / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(base: usize, runs: usize, trials: usize, passes: usize) -> PassTotals {
        let each = base / runs;
        PassTotals { base_trials: base, base_neighbours: runs * each * (each - 1), trials, passes }
    }

    fn model(correlation: f64) -> SplitModel {
        let prior = RatePrior { passed: 4.0, failed: 1.0 };
        SplitModel { correlation, prior, known: HashMap::new() }
    }

    /// SciPy 1.17.1, `hypergeom(20, 13, 10).pmf(range(3, 11))`.
    #[test]
    fn exchangeable_trials_are_hypergeometric() {
        let found = model(0.0).chances(totals(10, 1, 10, 13)).to_vec();
        let wanted = [
            0.0015479876160990706,
            0.027089783281733756,
            0.14628482972136228,
            0.3250773993808048,
            0.3250773993808048,
            0.14628482972136228,
            0.027089783281733756,
            0.0015479876160990706,
        ];
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
    }

    #[test]
    fn correlation_makes_extremes_likely() {
        let totals = totals(20, 4, 5, 20);
        let chances = [0.0, 0.1, 0.3].map(|rho| model(rho).chances(totals).to_vec());
        for one in &chances {
            assert!((one.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let all_lost = chances.map(|one| one[0]);
        // 1 of the 53 130 ways to choose the five trials that failed.
        assert!((all_lost[0] - 1.0 / 53_130.0).abs() < 1e-12, "{all_lost:?}");
        assert!(all_lost[1] > 20.0 * all_lost[0] && all_lost[2] > 5.0 * all_lost[1]);
        // Never more often than each of the five runs in turn.
        assert!(all_lost[2] < 0.2, "{all_lost:?}");
    }

    #[test]
    fn a_hint_of_correlation_is_close_to_none() {
        let totals = totals(12, 3, 4, 9);
        let (none, hint) =
            (model(0.0).chances(totals).to_vec(), model(1e-6).chances(totals).to_vec());
        for (none, hint) in none.iter().zip(hint) {
            assert!((none - hint).abs() < 1e-4, "{none} {hint}");
        }
    }

    #[test]
    fn the_prior_follows_the_tests() {
        let side = |passes: usize| -> Vec<f64> {
            (0..10).map(|at| f64::from(u8::from(at < passes))).collect()
        };
        let alike: Vec<Pair> = (0..30).map(|_| Pair::new(side(9), side(9))).collect();
        let prior = RatePrior::fit(&alike, 0.0);
        assert!((prior.passed / (prior.passed + prior.failed) - 0.9).abs() < 1e-9, "{prior:?}");
        assert!(prior.passed + prior.failed > 99.0, "{prior:?}");
        let split: Vec<Pair> =
            (0..30).map(|at| Pair::new(side(10 * (at % 2)), side(10 * (at % 2)))).collect();
        let prior = RatePrior::fit(&split, 0.0);
        assert!(prior.passed + prior.failed < 0.5, "{prior:?}");
    }
}
