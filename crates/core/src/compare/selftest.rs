//! Tries the gate on a run's own trials: its rate of false alarms, and the smallest drop that it
//! detects.

use super::CompareOptions;
use super::case::{ComparedCase, seed_from_cases};
use super::pairing;
use super::verdict::{ComparisonVerdict, Rule, approximate_verdict, judge};
use crate::stats::{Interval, Measure, Pair, SplitMix64, wilson};

const SPLITS: u64 = 1_000;
/// The minimum for runs so large that each split takes long.
const FEWEST: u64 = 100;
/// Up to this many trials the gate itself is tried. Counting all arrangements takes the square of the
/// trials, so behind it the gate's p-value is approximated, which is close for so many.
const EXACT_TRIALS: u64 = 500;
/// The budget for splits of larger runs, in trials.
const WORK: u64 = 5_000_000;
/// A drop counts as detected when this share of splits finds it.
const CAUGHT: f64 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfTest {
    /// Tests with at least two trials.
    pub tests: usize,
    /// Trials per test in a typical half.
    pub half: f64,
    pub splits: u64,
    /// Splits that were called worse, though both halves are of one run.
    pub alarms: u64,
    /// The rate of false alarms.
    pub interval: Interval,
    /// A difference of means from 0 to 1, for two runs of this size. `None` when not even a drop to
    /// 0 is detected.
    pub smallest_drop: Option<f64>,
    pub seed: u64,
}

/// `None` when no test has two trials.
pub fn selftest(cases: &[ComparedCase], options: &CompareOptions) -> Option<SelfTest> {
    let seed = options.seed.unwrap_or_else(|| seed_from_cases(cases, &[]));
    let tests: Vec<Vec<f64>> = pairing::pair(cases, cases)
        .iter()
        .filter_map(|found| found.pair(options.measure))
        .map(|pair| pair.base)
        .filter(|trials| trials.len() >= 2)
        .collect();
    if tests.is_empty() {
        return None;
    }
    let trials: u64 = tests.iter().map(|trials| trials.len() as u64).sum();
    let is_exact = trials <= EXACT_TRIALS;
    let splits = if is_exact { SPLITS } else { (WORK / trials).clamp(FEWEST, SPLITS) };
    let mut trial = Trial {
        is_exact,
        tries: (splits / 3).max(FEWEST),
        tests,
        options: *options,
        random: SplitMix64::new(seed),
    };
    let alarms = (0..splits).filter(|_| trial.split_alarms()).count() as u64;
    let halves: f64 = trial.tests.iter().map(|t| (t.len() / 2) as f64).sum();
    Some(SelfTest {
        tests: trial.tests.len(),
        half: halves / trial.tests.len() as f64,
        splits,
        alarms,
        interval: wilson(alarms, splits, 0.95),
        smallest_drop: trial.smallest_drop(),
        seed,
    })
}

struct Trial {
    is_exact: bool,
    tests: Vec<Vec<f64>>,
    /// For each drop that is tried.
    tries: u64,
    options: CompareOptions,
    random: SplitMix64,
}

impl Trial {
    fn split_alarms(&mut self) -> bool {
        let mut pairs = Vec::with_capacity(self.tests.len());
        for trials in &mut self.tests {
            shuffle(trials, &mut self.random);
            let half = trials.len() / 2;
            pairs.push(Pair {
                base: trials[..half].to_vec(),
                candidate: trials[half..2 * half].to_vec(),
            });
        }
        self.is_worse(&pairs)
    }

    /// Halves the range until it is one point wide.
    fn smallest_drop(&mut self) -> Option<f64> {
        let level = self.level();
        let most = (level * 100.0).floor() as u64;
        if most == 0 || !self.catches(most as f64 / 100.0, level) {
            return None;
        }
        let (mut missed, mut caught) = (0, most);
        while caught - missed > 1 {
            let middle = (missed + caught) / 2;
            if self.catches(middle as f64 / 100.0, level) {
                caught = middle
            } else {
                missed = middle
            }
        }
        Some(caught as f64 / 100.0)
    }

    fn level(&self) -> f64 {
        let means = self.tests.iter().map(|t| t.iter().sum::<f64>() / t.len() as f64);
        means.sum::<f64>() / self.tests.len() as f64
    }

    fn catches(&mut self, drop: f64, level: f64) -> bool {
        let kept = 1.0 - drop / level;
        let tries = self.tries;
        let seen = (0..tries).filter(|_| self.drop_alarms(kept)).count();
        seen as f64 >= CAUGHT * tries as f64
    }

    /// Two runs of this size, drawn from these trials; of the second a part of what was reached is
    /// lost: passes at random, scores evenly.
    fn drop_alarms(&mut self, kept: f64) -> bool {
        let mut pairs = Vec::with_capacity(self.tests.len());
        for trials in &self.tests {
            let count = trials.len() as u64;
            let draw = |random: &mut SplitMix64| trials[random.below(count) as usize];
            let base = (0..count).map(|_| draw(&mut self.random)).collect();
            let mut candidate = Vec::with_capacity(trials.len());
            for _ in 0..count {
                let value = draw(&mut self.random);
                candidate.push(match self.options.measure {
                    Measure::Score => value * kept,
                    Measure::Rate if self.random.fraction() < kept => value,
                    Measure::Rate => 0.0,
                });
            }
            pairs.push(Pair { base, candidate });
        }
        self.is_worse(&pairs)
    }

    fn is_worse(&mut self, pairs: &[Pair]) -> bool {
        let rule = Rule {
            measure: self.options.measure,
            margin: self.options.margin,
            seed: self.random.next_u64(),
        };
        let verdict = if self.is_exact {
            judge(pairs, &rule).map(|judged| judged.verdict)
        } else {
            approximate_verdict(pairs, &rule)
        };
        verdict == Some(ComparisonVerdict::Worse)
    }
}

fn shuffle(values: &mut [f64], random: &mut SplitMix64) {
    for at in (1..values.len()).rev() {
        values.swap(at, random.below(at as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::trials;
    use super::*;

    #[test]
    fn the_gate_is_tried_on_a_run() {
        let cases: Vec<ComparedCase> = (0..12)
            .flat_map(|at| trials(&format!("t{at}"), 4, 4 - u32::from(at % 3 == 0)))
            .collect();
        let found = selftest(&cases, &CompareOptions::default()).unwrap();
        assert_eq!((found.tests, found.half), (12, 2.0));
        assert!(found.alarms <= found.splits / 20, "{found:?}");
        let drop = found.smallest_drop.unwrap();
        assert!((0.05..0.5).contains(&drop), "{drop}");
        assert_eq!(selftest(&cases, &CompareOptions::default()), Some(found));
    }

    /// On the verge of the exact method: both find about the same drop.
    #[test]
    fn large_runs_are_tried_in_time_in_proportion_to_their_size() {
        let cases = |tests: usize| -> Vec<ComparedCase> {
            (0..tests).flat_map(|at| trials(&format!("t{at}"), 10, 9)).collect()
        };
        let drop = |tests| {
            let found = selftest(&cases(tests), &CompareOptions::default()).unwrap();
            assert!(found.interval.low <= 0.05, "{found:?}");
            found.smallest_drop.unwrap()
        };
        let (exact, close, large) = (drop(50), drop(51), drop(2_000));
        assert!((exact - close).abs() < 0.025, "{exact} {close}");
        // A smaller drop than the margin is equivalent, however many trials there are.
        assert!((0.09..0.12).contains(&large), "{large}");
    }

    #[test]
    fn single_trials_cannot_be_split() {
        assert_eq!(selftest(&trials("a", 1, 1), &CompareOptions::default()), None);
        let never = trials("a", 4, 0);
        assert_eq!(selftest(&never, &CompareOptions::default()).unwrap().smallest_drop, None);
    }
}
