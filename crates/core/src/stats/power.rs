//! How many trials an inconclusive comparison would need.

use super::special::{ln_choose, normal_quantile};
use super::{Interval, Measure, Pair, mean, variance};

/// An inconclusive comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settling {
    /// The gain, and its interval at 95 %.
    pub delta: f64,
    pub interval: Interval,
    /// The part of the gain's squared standard error that more trials leave as it is.
    pub lasting: LastingError,
    /// Differences below it do not matter.
    pub margin: f64,
    /// Tests that were compared.
    pub tests: usize,
    /// Per test, in all base runs together.
    pub base_trials: f64,
    /// Per test.
    pub candidate_trials: f64,
    /// Whether the base has several runs, which are kept as they are.
    pub is_pooled: bool,
}

/// Squared standard errors that do not shrink with the number of trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LastingError {
    /// Of tests that changed in different ways.
    pub of_tests: f64,
    /// Of runs that shift as a whole.
    pub of_runs: f64,
}

impl LastingError {
    /// Of a gain with this interval.
    pub fn of(
        pairs: &[Pair],
        measure: Measure,
        (delta, interval): (f64, Interval),
        shift: f64,
    ) -> Self {
        let all = standard_error(delta, interval).powi(2);
        let count = pairs.len() as f64;
        let Some(noise) = noise_of_trials(pairs) else { return Self::default() };
        let own = all / shift;
        let of_tests = match measure {
            // The interval allows for tests that were not met.
            Measure::Score => own - noise / count,
            // The estimate varies: what it exceeds the noise by must be more than its own error.
            Measure::Rate => {
                let gains: Vec<f64> = pairs.iter().map(Pair::gain).collect();
                let certain = 1.0 - (2.0 / (count - 1.0).max(2.0)).sqrt();
                (variance(&gains) * certain - noise) / count
            }
        };
        Self { of_tests: of_tests.clamp(0.0, own), of_runs: all - own }
    }

    fn sum(self) -> f64 {
        self.of_tests + self.of_runs
    }
}

/// Variance of a test's gain that its trials cause, on average. `None` where single trials do not tell.
fn noise_of_trials(pairs: &[Pair]) -> Option<f64> {
    let of = |pair: &Pair| {
        let base: Vec<f64> = pair.base_values().collect();
        if base.len() < 2 || pair.candidate.len() < 2 {
            return None;
        }
        let of_side = |values: &[f64]| variance(values) / values.len() as f64;
        Some(of_side(&base) + of_side(&pair.candidate))
    };
    let noises: Option<Vec<f64>> = pairs.iter().map(of).collect();
    noises.map(|noises| mean(&noises))
}

fn standard_error(delta: f64, interval: Interval) -> f64 {
    (delta - interval.low).max(1e-9) / normal_quantile(0.975)
}

/// The trials per test that would probably give a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialsNeeded {
    /// In the base and in the candidate.
    EachRun(u64),
    /// In the candidate, compared with the same base.
    Candidate(u64),
    /// The base is too small for any candidate.
    LargerBase,
    /// Tests differ too much from each other for any number of trials.
    MoreTests,
}

impl TrialsNeeded {
    pub fn trials(self) -> Option<u64> {
        match self {
            Self::EachRun(trials) | Self::Candidate(trials) => Some(trials),
            Self::LargerBase | Self::MoreTests => None,
        }
    }
}

/// Chance of a verdict with that many trials, if the true gain is the observed one.
const POWER: f64 = 0.8;

/// Either the gain differs from 0, or it is not below the margin, whichever takes fewer trials.
pub(crate) fn trials_to_settle(seen: &Settling) -> TrialsNeeded {
    let power = normal_quantile(POWER);
    let error = standard_error(seen.delta, seen.interval).powi(2);
    let lasting = seen.lasting.sum().min(error);
    let factor = |level: f64, room: f64| {
        let least_error = (room.max(0.0) / (normal_quantile(1.0 - level) + power)).powi(2);
        match least_error - lasting {
            left if left > 0.0 => (error - lasting) / left,
            _ => f64::INFINITY,
        }
    };
    let not_worse = factor(0.025, seen.delta + seen.margin);
    let differs =
        if seen.delta < 0.0 { factor(0.05, -seen.delta) } else { factor(0.01, seen.delta) };
    let least = if not_worse <= differs { least_to_exclude(seen) } else { least_to_differ(seen) };
    let wanted = not_worse.min(differs);
    if wanted.is_infinite() {
        let is_of_runs = seen.lasting.of_runs > seen.lasting.of_tests;
        return if is_of_runs { TrialsNeeded::LargerBase } else { TrialsNeeded::MoreTests };
    }
    let Settling { base_trials, candidate_trials, .. } = *seen;
    // The mean of equal numbers may be a little less than they are.
    let more = (candidate_trials + 1e-6).floor() + 1.0;
    let enough = |trials: f64| (trials.ceil().max(more) as u64).max(least);
    if !seen.is_pooled {
        return TrialsNeeded::EachRun(enough(candidate_trials * wanted));
    }
    let inverse = (1.0 / base_trials + 1.0 / candidate_trials) / wanted - 1.0 / base_trials;
    if inverse <= 1e-4 / candidate_trials {
        return TrialsNeeded::LargerBase;
    }
    TrialsNeeded::Candidate(enough(1.0 / inverse))
}

/// The fewest trials with which a drop can be significant at all.
fn least_to_differ(seen: &Settling) -> u64 {
    let arrangements = |trials: u64| {
        let base = if seen.is_pooled { seen.base_trials.round() as u64 } else { trials };
        seen.tests as f64 * ln_choose(base + trials, trials)
    };
    (1..100).find(|trials| arrangements(*trials) >= 20_f64.ln()).unwrap_or(1)
}

/// The fewest trials with which a drop as large as the margin can be excluded when nothing fails.
fn least_to_exclude(seen: &Settling) -> u64 {
    let z = normal_quantile(0.975);
    let trials = z * z * (1.0 / seen.margin.max(1e-3) - 1.0) / seen.tests.max(1) as f64;
    trials.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(delta: f64, half: f64, trials: f64) -> Settling {
        Settling {
            delta,
            interval: Interval { low: delta - half, high: delta + half },
            lasting: LastingError::default(),
            margin: 0.1,
            tests: 20,
            base_trials: trials,
            candidate_trials: trials,
            is_pooled: false,
        }
    }

    fn each(seen: &Settling) -> u64 {
        match trials_to_settle(seen) {
            TrialsNeeded::EachRun(trials) => trials,
            other => panic!("{other:?}"),
        }
    }

    /// (1.959964 + 0.841621)² = 7.848879 (SciPy 1.17.1): an error of half the room, once over.
    #[test]
    fn the_error_has_to_fit_the_room() {
        let open = seen(0.0, 0.05 * 1.959963984540054, 4.0);
        assert_eq!(each(&open), (4.0_f64 * 7.848879 / 4.0).ceil() as u64);
    }

    #[test]
    fn more_are_needed_than_there_were() {
        assert_eq!(each(&seen(-0.3, 0.01, 3.0)), 4);
        let (few, many) = (each(&seen(-0.01, 0.1, 5.0)), each(&seen(-0.05, 0.1, 5.0)));
        assert!(few > 5 && many > few, "{few} {many}");
    }

    #[test]
    fn one_test_needs_three_trials_to_be_worse_and_many_to_be_the_same() {
        let lost = Settling { tests: 1, ..seen(-1.0, 0.1, 1.0) };
        assert_eq!(each(&lost), 3);
        let same = Settling { tests: 1, ..seen(0.0, 0.02, 3.0) };
        assert_eq!(each(&same), 35);
    }

    #[test]
    fn a_stored_base_leaves_only_the_candidate_to_repeat() {
        let pooled = |half: f64| Settling {
            base_trials: 20.0,
            candidate_trials: 5.0,
            is_pooled: true,
            ..seen(-0.02, half, 5.0)
        };
        let TrialsNeeded::Candidate(few) = trials_to_settle(&pooled(0.08)) else {
            panic!("the base suffices");
        };
        assert!((6..20).contains(&few), "{few}");
        assert_eq!(trials_to_settle(&pooled(0.4)), TrialsNeeded::LargerBase);
    }

    fn side(value: f64, count: usize) -> Vec<f64> {
        vec![value; count]
    }

    fn needed(pairs: &[Pair], measure: Measure) -> TrialsNeeded {
        let (delta, interval) = super::super::difference(pairs, measure, 0.95).unwrap();
        let trials = pairs[0].candidate.len() as f64;
        trials_to_settle(&Settling {
            delta,
            interval,
            lasting: LastingError::of(pairs, measure, (delta, interval), 1.0),
            tests: pairs.len(),
            ..seen(0.0, 0.0, trials)
        })
    }

    #[test]
    fn trials_are_not_advised_where_they_do_not_narrow_the_interval() {
        let steady = vec![Pair::new(side(0.9, 4), side(0.9, 4)); 10];
        assert_eq!(needed(&steady, Measure::Score), TrialsNeeded::MoreTests);
        let mut torn = vec![Pair::new(side(1.0, 5), side(1.0, 5)); 16];
        torn.extend(vec![Pair::new(side(1.0, 5), side(0.0, 5)); 2]);
        torn.extend(vec![Pair::new(side(0.0, 5), side(1.0, 5)); 2]);
        assert_eq!(needed(&torn, Measure::Rate), TrialsNeeded::MoreTests);
        let coin = |at: usize| {
            (0..4).map(|trial| f64::from(u8::from((at + trial).is_multiple_of(2)))).collect()
        };
        let noisy: Vec<Pair> = (0..20).map(|at| Pair::new(coin(at), coin(at + 1))).collect();
        assert!(matches!(needed(&noisy, Measure::Rate), TrialsNeeded::EachRun(5..)));
    }

    #[test]
    fn runs_that_shift_need_other_runs() {
        let lasting = LastingError { of_tests: 0.0, of_runs: 0.01 };
        let shifted = Settling { lasting, is_pooled: true, ..seen(-0.02, 0.3, 5.0) };
        assert_eq!(trials_to_settle(&shifted), TrialsNeeded::LargerBase);
    }

    #[test]
    fn as_many_trials_as_there_were_are_not_advised() {
        let had = Settling { candidate_trials: 35.999_999_9, ..seen(-0.3, 0.01, 36.0) };
        assert_eq!(each(&had), 37);
    }
}
