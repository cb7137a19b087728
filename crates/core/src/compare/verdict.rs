//! The verdict: better, worse, equivalent or inconclusive.
//!
//! The candidate is worse when at most 1 in 20 permutations of labels within tests looks as bad,
//! and better when at most 1 in 100 looks as good: a gate exists to catch drops, and this keeps
//! both errors together rare. The runs are equivalent when the 95 % interval of the difference is
//! within the margin. Equivalence is checked first: a difference below the margin does not matter,
//! however significant it is.

use crate::stats::{
    Interval, Measure, Pair, Passes, Permuted, Settling, clustered_mean, clustered_rate,
    difference, mean, permute, permute_approximately, trials_to_settle, typical_trials,
};
use crate::words;

/// Ten percentage points.
pub const DEFAULT_MARGIN: f64 = 0.1;
/// How often an equal candidate may be called worse.
pub(crate) const LEVEL: f64 = 0.05;
/// How much stricter the test for gains is.
const STRICTER: f64 = 5.0;
const CONFIDENCE: f64 = 0.95;

words! {
    pub enum ComparisonVerdict {
        Better = "better",
        Worse = "worse",
        Equivalent = "equivalent",
        Inconclusive = "inconclusive",
    }
}

/// The parameters of a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    pub measure: Measure,
    pub margin: f64,
    pub seed: u64,
}

/// The mean over the tests in each run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    pub base: f64,
    pub candidate: f64,
}

/// The interval of [`Levels`] for each run alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelIntervals {
    pub base: Interval,
    pub candidate: Interval,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteVerdict {
    pub levels: Levels,
    pub level_intervals: LevelIntervals,
    /// Mean gain of the tests.
    pub delta: f64,
    pub interval: Interval,
    /// The one-sided p-value of the drop, or five times that of the gain, whichever is smaller. At
    /// most 0.05 when the runs differ.
    pub p: f64,
    /// Whether all arrangements were counted.
    pub is_exact: bool,
    pub verdict: ComparisonVerdict,
    /// Trials per test and run so far.
    pub trials: f64,
    /// How many would give a verdict; only if the verdict is inconclusive.
    pub trials_needed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteChange {
    pub judged: SuiteVerdict,
    /// Tests that were compared.
    pub tests: usize,
    /// Of as many trials as are needed, in both runs; `None` if costs are unknown.
    pub cost_needed: Option<f64>,
}

impl SuiteChange {
    pub fn new(judged: SuiteVerdict, tests: usize, cost_per_round: Option<f64>) -> Self {
        let needed = judged.trials_needed.zip(cost_per_round);
        Self { judged, tests, cost_needed: needed.map(|(trials, cost)| trials as f64 * cost) }
    }
}

/// `None` without tests.
pub fn judge(pairs: &[Pair], rule: &Rule) -> Option<SuiteVerdict> {
    let (delta, interval) = difference(pairs, rule.measure, CONFIDENCE)?;
    let permuted = permute(pairs, rule.seed);
    let (p, verdict) = decide(interval, &permuted, rule.margin);
    let trials = typical_trials(pairs);
    let settling = Settling { delta, interval, margin: rule.margin, trials };
    let is_open = verdict == ComparisonVerdict::Inconclusive;
    Some(SuiteVerdict {
        level_intervals: LevelIntervals {
            base: level_interval(pairs, |pair| &pair.base, rule.measure),
            candidate: level_interval(pairs, |pair| &pair.candidate, rule.measure),
        },
        levels: levels(pairs),
        delta,
        interval,
        p,
        is_exact: permuted.is_exact,
        verdict,
        trials,
        trials_needed: is_open.then(|| trials_to_settle(&settling)),
    })
}

/// The verdict alone, by an approximation that takes time in proportion to the trials.
pub(super) fn approximate_verdict(pairs: &[Pair], rule: &Rule) -> Option<ComparisonVerdict> {
    let (_, interval) = difference(pairs, rule.measure, CONFIDENCE)?;
    Some(decide(interval, &permute_approximately(pairs), rule.margin).1)
}

/// The p-value and the verdict.
fn decide(interval: Interval, permuted: &Permuted, margin: f64) -> (f64, ComparisonVerdict) {
    let (drop, gain) = (permuted.down, permuted.up * STRICTER);
    let p = drop.min(gain).min(1.0);
    let is_within = -margin <= interval.low && interval.high <= margin;
    let verdict = match (is_within, p <= LEVEL) {
        (true, _) => ComparisonVerdict::Equivalent,
        (_, true) if drop < gain => ComparisonVerdict::Worse,
        (_, true) => ComparisonVerdict::Better,
        _ => ComparisonVerdict::Inconclusive,
    };
    (p, verdict)
}

/// Each test counts the same.
fn levels(pairs: &[Pair]) -> Levels {
    let level = |side: fn(&Pair) -> &Vec<f64>| {
        pairs.iter().map(|pair| mean(side(pair))).sum::<f64>() / pairs.len() as f64
    };
    Levels { base: level(|pair| &pair.base), candidate: level(|pair| &pair.candidate) }
}

/// With the tests as a sample of tests like these, as in the interval of the difference.
fn level_interval(pairs: &[Pair], side: fn(&Pair) -> &Vec<f64>, measure: Measure) -> Interval {
    let sides: Vec<&Vec<f64>> = pairs.iter().map(side).collect();
    let level = sides.iter().map(|values| mean(values)).sum::<f64>() / sides.len() as f64;
    let found = match (measure, &sides[..]) {
        (Measure::Rate, _) => {
            let passes = sides.iter().map(|values| Passes {
                passes: values.iter().filter(|value| **value > 0.5).count() as u64,
                trials: values.len() as u64,
            });
            clustered_rate(&passes.collect::<Vec<_>>(), CONFIDENCE)
        }
        // One test alone says nothing of others; its trials say something of it.
        (Measure::Score, [one]) => in_groups(one.iter().copied()),
        (Measure::Score, _) => in_groups(sides.iter().map(|values| mean(values))),
    };
    // Nobody knows anything without trials. With different numbers of them the rate of all trials,
    // which the interval is about, is not quite the mean of the tests.
    let found = found.unwrap_or(Interval { low: 0.0, high: 1.0 });
    Interval { low: found.low.min(level), high: found.high.max(level) }
}

fn in_groups(values: impl Iterator<Item = f64>) -> Option<Interval> {
    let groups: Vec<Vec<f64>> = values.map(|value| vec![value]).collect();
    clustered_mean(&groups, CONFIDENCE).map(|(_, interval)| interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { measure: Measure::Rate, margin: 0.1, seed: 1 };

    fn side(trials: usize, passes: usize) -> Vec<f64> {
        let value = |at| f64::from(u8::from(at < passes));
        (0..trials).map(value).collect()
    }

    fn pairs(count: usize, trials: usize, base: usize, candidate: usize) -> Vec<Pair> {
        let pair = Pair { base: side(trials, base), candidate: side(trials, candidate) };
        vec![pair; count]
    }

    #[test]
    fn the_four_verdicts() {
        let verdict = |pairs: &[Pair]| judge(pairs, &RULE).unwrap().verdict;
        assert_eq!(verdict(&pairs(20, 5, 5, 3)), ComparisonVerdict::Worse);
        assert_eq!(verdict(&pairs(20, 5, 3, 5)), ComparisonVerdict::Better);
        assert_eq!(verdict(&pairs(20, 5, 5, 5)), ComparisonVerdict::Equivalent);
        assert_eq!(verdict(&pairs(20, 1, 1, 1)), ComparisonVerdict::Inconclusive);
        assert_eq!(verdict(&pairs(3, 1, 1, 0)), ComparisonVerdict::Inconclusive);
        assert_eq!(judge(&[], &RULE), None);
    }

    #[test]
    fn what_is_open_says_how_many_trials_would_settle_it() {
        let open = judge(&pairs(20, 1, 1, 1), &RULE).unwrap();
        assert!(open.trials_needed.is_some_and(|trials| trials > 1 && trials < 20));
        let settled = judge(&pairs(20, 5, 5, 5), &RULE).unwrap();
        assert_eq!(settled.trials_needed, None);
        assert_eq!(SuiteChange::new(open, 20, None).cost_needed, None);
    }

    #[test]
    fn each_run_alone_has_its_interval() {
        let judged = judge(&pairs(20, 5, 5, 3), &RULE).unwrap();
        let LevelIntervals { base, candidate } = judged.level_intervals;
        // 20 of 20 by Wilson: the tests count, not the trials.
        assert!((base.low - 0.8388748419471804).abs() < 1e-9, "{base:?}");
        assert!(candidate.low < 0.6 && 0.6 < candidate.high && candidate.high < 0.8);
        let score = Rule { measure: Measure::Score, ..RULE };
        for count in [1, 2] {
            let judged = judge(&pairs(count, 1, 1, 1), &score).unwrap();
            let found = judged.level_intervals.base;
            assert!(found.low < found.high && found.high == 1.0, "{found:?}");
        }
    }

    #[test]
    fn a_drop_that_does_not_matter_is_equivalent() {
        let mut many = pairs(190, 10, 10, 10);
        many.extend(pairs(10, 10, 10, 4));
        let judged = judge(&many, &RULE).unwrap();
        assert!(judged.p < 0.001);
        assert_eq!(judged.verdict, ComparisonVerdict::Equivalent);
        let strict = Rule { margin: 0.01, ..RULE };
        assert_eq!(judge(&many, &strict).unwrap().verdict, ComparisonVerdict::Worse);
    }
}
