//! How much base runs differ beyond chance. Trials of one run resemble each other when something
//! that a run does not control changes between runs: a model behind an address, a fixture, a load.

use super::special::{chi_squared_above, normal_below, normal_quantile};
use super::{Pair, variance};

/// The correlation that the test allows for exceeds the estimate by this many standard errors.
/// Chosen by simulation: with less, equal runs that drift are called worse too often.
const CAUTION: f64 = 0.7;
/// Where the estimate is above it, trials of one run nearly always agree, and no model of them is to
/// be trusted.
pub(super) const MODELLED: f64 = 0.4;
const MOST: f64 = 0.95;
/// Runs shift as a whole if chance explains their totals with a probability below this.
const SHIFT_LEVEL: f64 = 0.05;

/// The variation between base runs, divided by what exchangeable trials would show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Base runs with at least one trial.
    pub runs: usize,
    /// Of the tests' results: 1 is chance.
    pub per_test: f64,
    /// Of the runs' totals: 1 is chance.
    pub per_run: f64,
    /// How likely totals that differ as much are by chance.
    pub per_run_chance: f64,
    /// The correlation between trials of one test in one run: 0 if runs do not matter.
    pub correlation: f64,
    /// The correlation that the comparison allows for, if it can be modelled.
    pub allowed_correlation: Option<f64>,
    /// Whether the base runs can show any, if it matters. Runs of single trials cannot, and against a
    /// single trial it does not.
    pub is_correlation_known: bool,
}

impl Drift {
    /// What one run can say: nothing.
    pub(crate) const NONE: Self = Self {
        runs: 1,
        per_test: 1.0,
        per_run: 1.0,
        per_run_chance: 1.0,
        correlation: 0.0,
        allowed_correlation: Some(0.0),
        is_correlation_known: true,
    };

    pub fn of(pairs: &[Pair]) -> Self {
        let runs = pairs.iter().map(|pair| pair.base.len()).max().unwrap_or(0);
        let mut totals = RunTotals { deviations: vec![0.0; runs], ..RunTotals::default() };
        let mut is_seen = vec![false; runs];
        for pair in pairs {
            pair.base.iter().zip(&mut is_seen).for_each(|(run, seen)| *seen |= !run.is_empty());
            totals.add(pair);
        }
        let runs = is_seen.iter().filter(|seen| **seen).count();
        if runs < 2 || totals.expected <= 0.0 {
            return Self { runs, ..Self::NONE };
        }
        totals.drift(runs)
    }

    /// The factor by which runs shift as a whole; 1 unless their totals differ significantly. It
    /// widens intervals and raises p-values.
    pub fn shift(&self) -> f64 {
        if self.per_run_chance < SHIFT_LEVEL { self.per_run.max(1.0) } else { 1.0 }
    }

    /// The p-value of a statistic whose standard error grows by the shift.
    pub(crate) fn excused(&self, p: f64) -> f64 {
        match self.shift().sqrt() {
            1.0 => p,
            factor => normal_below(normal_quantile(p.min(1.0)) / factor),
        }
    }

    /// How many times as much as by chance the base runs differ, for people.
    pub fn factor(&self) -> f64 {
        self.per_test.max(self.shift()).max(1.0)
    }
}

#[derive(Default)]
struct RunTotals {
    /// By run: passes above what the tests' means predict.
    deviations: Vec<f64>,
    /// Squared deviations of each test in each run, and what exchangeable trials would give.
    squares: f64,
    expected: f64,
    /// Sums of squares of what each test expects: few tests that vary make a poor estimate.
    weights: f64,
    /// How fast the expectation grows with the correlation.
    slope: f64,
    /// Of the candidate, in any test.
    most_trials: usize,
}

impl RunTotals {
    fn add(&mut self, pair: &Pair) {
        self.most_trials = self.most_trials.max(pair.candidate.len());
        let runs = pair.base.iter().filter(|run| !run.is_empty()).count();
        let values: Vec<f64> = pair.base_values().collect();
        let spread = variance(&values);
        if runs < 2 || spread <= 0.0 {
            return;
        }
        let (trials, mean) = (values.len() as f64, pair.base_mean());
        let mut own = 0.0;
        for (run, values) in pair.base.iter().enumerate() {
            let count = values.len() as f64;
            let deviation = values.iter().sum::<f64>() - count * mean;
            let expected = count * spread * (trials - count) / trials;
            self.deviations[run] += deviation;
            self.squares += deviation * deviation;
            self.slope += expected * (count - 1.0);
            own += expected;
        }
        self.expected += own;
        // A test that was in few of the runs says less about them.
        self.weights += own * own / (runs - 1) as f64;
    }

    fn drift(&self, runs: usize) -> Drift {
        let per_test = self.squares / self.expected;
        let totals: f64 = self.deviations.iter().map(|deviation| deviation * deviation).sum();
        let per_run = totals / self.expected;
        let freedom = (runs - 1) as f64;
        let error = (2.0 * self.weights).sqrt() / self.expected;
        let correlation = |factor: f64| match self.slope {
            slope if slope > 0.0 => ((factor - 1.0) * self.expected / slope).clamp(0.0, MOST),
            _ => 0.0,
        };
        let is_correlation_known = self.slope > 0.0 || self.most_trials <= 1;
        Drift {
            runs,
            per_test,
            per_run,
            per_run_chance: chi_squared_above(freedom, freedom * per_run),
            correlation: correlation(per_test),
            allowed_correlation: (is_correlation_known && correlation(per_test) <= MODELLED)
                .then(|| correlation(per_test * (CAUTION * error).exp()).min(MODELLED)),
            is_correlation_known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(passes: usize, trials: usize) -> Vec<f64> {
        (0..trials).map(|at| f64::from(u8::from(at < passes))).collect()
    }

    fn pair(runs: &[usize], trials: usize) -> Pair {
        Pair::pooled(runs.iter().map(|passes| side(*passes, trials)).collect(), side(0, trials))
    }

    /// By the formula in NumPy 2.5: 10 passes in 4 runs of 5 vary by 1.97 passes by chance.
    #[test]
    fn runs_that_differ_more_than_chance_have_a_factor() {
        let steady = Drift::of(&[pair(&[3, 2, 3, 2], 5), pair(&[4, 4, 5, 4], 5)]);
        assert!(steady.per_test < 0.5 && steady.correlation == 0.0, "{steady:?}");
        let torn = Drift::of(&[pair(&[5, 0, 5, 0], 5)]);
        let expected = 4.0 * 5.0 * 0.25 * 15.0 / 19.0;
        assert!((torn.per_test - 25.0 / expected).abs() < 1e-12, "{torn:?}");
        assert_eq!((torn.correlation, torn.allowed_correlation), (MOST, None));
        assert!(torn.factor() > 6.0);
    }

    #[test]
    fn runs_that_shift_as_a_whole_are_told_from_tests_that_vary() {
        let shifted: Vec<Pair> = (0..20).map(|_| pair(&[4, 2, 4, 3], 5)).collect();
        let found = Drift::of(&shifted);
        assert!(found.per_run > 5.0 && found.shift() == found.per_run, "{found:?}");
        let runs = [[4, 2, 3, 3], [2, 4, 3, 3], [3, 3, 4, 2], [3, 3, 2, 4]];
        let varied: Vec<Pair> = (0..20).map(|at| pair(&runs[at % 4], 5)).collect();
        let found = Drift::of(&varied);
        assert_eq!((found.per_run, found.shift()), (0.0, 1.0), "{found:?}");
    }

    #[test]
    fn one_run_and_single_trials_say_nothing_about_tests() {
        assert_eq!(Drift::of(&[pair(&[3], 5)]), Drift::NONE);
        assert_eq!(Drift::of(&[]).runs, 0);
        let single = Drift::of(&[pair(&[1, 0, 1, 1], 1), pair(&[0, 0, 1, 1], 1)]);
        assert!((single.per_test - 1.0).abs() < 1e-12 && single.correlation < 1e-9, "{single:?}");
        // Not even that there is no correlation, which matters where the candidate has more trials.
        let more = |runs: &[usize]| Pair { candidate: side(1, 2), ..pair(runs, 1) };
        let unknown = Drift::of(&[more(&[1, 0, 1, 1]), more(&[0, 0, 1, 1])]);
        assert!(single.is_correlation_known && !unknown.is_correlation_known);
        assert_eq!((single.allowed_correlation, unknown.allowed_correlation), (Some(0.0), None));
    }
}
