//! The verdict: equivalent, better, not worse, worse or inconclusive, asked in this order.
//!
//! The runs are equivalent when the 95 % interval of the difference is within the margin: a
//! difference below the margin does not matter, however significant it is. The candidate is better
//! when at most 1 in 100 exchanges of labels looks as good, and worse when at most 1 in 20 looks as
//! bad: a gate exists to catch drops, and this keeps both errors together rare. It is not worse when
//! the interval excludes a drop as large as the margin.

use crate::stats::{
    Drift, Effort, Interval, LastingError, Measure, Pair, Passes, Permuted, Settling, TrialsNeeded,
    approximate_exchange, clustered_mean, clustered_rate, clusters, difference, exchange_passes,
    exchange_scores, mean, normal_below, normal_quantile, trials_to_settle,
};
use crate::words;

/// Ten percentage points.
pub const DEFAULT_MARGIN: f64 = 0.1;
/// How often an equal candidate may be called worse.
pub(crate) const LEVEL: f64 = 0.05;
/// How often an equal candidate may be called better.
pub(crate) const GAIN_LEVEL: f64 = 0.01;
/// How much stricter the test for gains is.
const STRICTER: f64 = LEVEL / GAIN_LEVEL;
pub(super) const CONFIDENCE: f64 = 0.95;
/// Up to this many trials labels are exchanged where the gate is tried; the approximation is close
/// for more.
const QUICK_TRIALS: usize = 1_000;

words! {
    pub enum ComparisonVerdict {
        Equivalent = "equivalent",
        Better = "better",
        NotWorse = "not-worse",
        Worse = "worse",
        Inconclusive = "inconclusive",
    }
}

impl ComparisonVerdict {
    /// Whether a gate lets the candidate pass.
    pub fn passes_gate(self) -> bool {
        matches!(self, Self::Equivalent | Self::Better | Self::NotWorse)
    }
}

/// The parameters of a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    pub measure: Measure,
    pub margin: f64,
    pub seed: u64,
}

/// The mean over the tests in the base and in the candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    pub base: f64,
    pub candidate: f64,
}

/// The interval of [`Levels`] for each side alone.
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
    /// How much the base runs differ among themselves.
    pub drift: Drift,
    /// Trials per test in all base runs together; the harmonic mean of the tests.
    pub base_trials: f64,
    /// Trials per test of the candidate; the harmonic mean of the tests.
    pub candidate_trials: f64,
    /// What would give a verdict; only if the verdict is inconclusive.
    pub trials_needed: Option<TrialsNeeded>,
}

/// `None` without tests.
pub fn judge(pairs: &[Pair], rule: &Rule) -> Option<SuiteVerdict> {
    let drift = Drift::of(pairs);
    let (delta, interval) = shifted_difference(pairs, rule.measure, &drift)?;
    let permuted = excused(exchange(pairs, rule, Effort::Full), (delta, interval), &drift);
    let decided = decide(delta, interval, &permuted, rule.margin, FIXED);
    Some(SuiteVerdict::of(
        pairs,
        rule,
        drift,
        VerdictEvidence { delta, interval, permuted },
        decided,
    ))
}

/// What a verdict rests on.
pub(super) struct VerdictEvidence {
    pub delta: f64,
    pub interval: Interval,
    pub permuted: Permuted,
}

impl SuiteVerdict {
    pub(super) fn of(
        pairs: &[Pair],
        rule: &Rule,
        drift: Drift,
        evidence: VerdictEvidence,
        (p, verdict): (f64, ComparisonVerdict),
    ) -> Self {
        let VerdictEvidence { delta, interval, permuted } = evidence;
        let harmonic = |trials: fn(&Pair) -> usize| {
            let inverse: f64 = pairs.iter().map(|pair| 1.0 / trials(pair) as f64).sum();
            pairs.len() as f64 / inverse
        };
        let settling = Settling {
            delta,
            interval,
            lasting: LastingError::of(pairs, rule.measure, (delta, interval), drift.shift()),
            margin: rule.margin,
            tests: pairs.len(),
            base_trials: harmonic(Pair::base_trials),
            candidate_trials: harmonic(|pair| pair.candidate.len()),
            is_pooled: drift.runs > 1,
        };
        let is_open = verdict == ComparisonVerdict::Inconclusive;
        Self {
            levels: levels(pairs),
            level_intervals: LevelIntervals {
                base: level_interval(pairs, |pair| pair.base_values().collect(), rule.measure),
                candidate: level_interval(pairs, |pair| pair.candidate.clone(), rule.measure),
            },
            delta,
            interval,
            p,
            is_exact: permuted.is_exact,
            verdict,
            drift,
            base_trials: settling.base_trials,
            candidate_trials: settling.candidate_trials,
            trials_needed: is_open.then(|| trials_to_settle(&settling)),
        }
    }
}

/// The verdict alone, for those who try the gate many times: with few draws up to this many trials,
/// behind it by an approximation that takes time in proportion to them.
pub(super) fn quick_verdict(pairs: &[Pair], rule: &Rule) -> Option<ComparisonVerdict> {
    let drift = Drift::of(pairs);
    let (delta, interval) = shifted_difference(pairs, rule.measure, &drift)?;
    if interval.low > -rule.margin && (delta <= 0.0 || interval.high <= rule.margin) {
        // Neither better nor worse, whatever the p-value is.
        let is_within = interval.high <= rule.margin;
        return Some(if is_within {
            ComparisonVerdict::Equivalent
        } else {
            ComparisonVerdict::NotWorse
        });
    }
    let trials: usize = pairs.iter().map(|pair| pair.base_trials() + pair.candidate.len()).sum();
    let permuted = if trials <= QUICK_TRIALS {
        exchange(pairs, rule, Effort::Quick)
    } else {
        approximate_exchange(pairs)
    };
    let permuted = excused(permuted, (delta, interval), &drift);
    Some(decide(delta, interval, &permuted, rule.margin, FIXED).1)
}

fn exchange(pairs: &[Pair], rule: &Rule, effort: Effort) -> Permuted {
    match rule.measure {
        Measure::Rate => exchange_passes(pairs, rule.seed, effort),
        Measure::Score => exchange_scores(pairs, rule.seed, effort),
    }
}

/// The difference and its interval. Runs that shift as a whole make the candidate shift too, which
/// the variance between tests does not show.
pub(super) fn shifted_difference(
    pairs: &[Pair],
    measure: Measure,
    drift: &Drift,
) -> Option<(f64, Interval)> {
    let (delta, interval) = difference(pairs, measure, CONFIDENCE)?;
    Some((delta, interval.widened(delta, drift.shift().sqrt())))
}

/// The p-values of runs that shift as a whole. `interval` allows for the shift.
///
/// Arrangements are only so many, and none is rarer than one of them. Divided by the shift, even a
/// collapse would look like chance, so the interval may say that it is not: its own p-value counts if
/// it is smaller.
pub(super) fn excused(
    permuted: Permuted,
    (delta, interval): (f64, Interval),
    drift: &Drift,
) -> Permuted {
    if drift.shift() == 1.0 {
        return permuted;
    }
    let z = normal_quantile(0.5 + 0.5 * CONFIDENCE);
    let below = |distance: f64, reach: f64| normal_below(z * distance / reach);
    Permuted {
        down: drift.excused(permuted.down).min(below(delta, interval.high - delta)),
        up: drift.excused(permuted.up).min(below(-delta, delta - interval.low)),
        ..permuted
    }
}

/// The highest p-values of a drop and of a gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VerdictLevels {
    pub drop: f64,
    pub gain: f64,
}

impl VerdictLevels {
    /// Those of a look whose interval has this multiple of the standard error, where the interval may
    /// give the p-value: an interval that is wholly below 0 is a drop, whatever arrangements can say.
    pub fn reached(self, limit: f64) -> Self {
        Self { drop: self.drop.max(normal_below(-limit)), ..self }
    }
}

/// Those of a single look.
pub(super) const FIXED: VerdictLevels = VerdictLevels { drop: LEVEL, gain: GAIN_LEVEL };

/// The p-value and the verdict.
pub(super) fn decide(
    delta: f64,
    interval: Interval,
    permuted: &Permuted,
    margin: f64,
    levels: VerdictLevels,
) -> (f64, ComparisonVerdict) {
    // The mixture may see a broken test where the mean has not dropped.
    let drop = if delta < 0.0 { permuted.down } else { 1.0 };
    let gain = permuted.up * STRICTER;
    let verdict = if -margin <= interval.low && interval.high <= margin {
        ComparisonVerdict::Equivalent
    } else if permuted.up <= levels.gain {
        ComparisonVerdict::Better
    } else if interval.low > -margin {
        ComparisonVerdict::NotWorse
    } else if drop <= levels.drop {
        ComparisonVerdict::Worse
    } else {
        ComparisonVerdict::Inconclusive
    };
    (drop.min(gain).min(1.0), verdict)
}

/// Each test counts the same.
fn levels(pairs: &[Pair]) -> Levels {
    let level = |side: fn(&Pair) -> f64| pairs.iter().map(side).sum::<f64>() / pairs.len() as f64;
    Levels { base: level(Pair::base_mean), candidate: level(|pair| mean(&pair.candidate)) }
}

/// With the tests as a sample of tests like these, as in the interval of the difference.
fn level_interval(pairs: &[Pair], side: fn(&Pair) -> Vec<f64>, measure: Measure) -> Interval {
    let sides: Vec<Vec<f64>> = pairs.iter().map(side).collect();
    let level = sides.iter().map(|values| mean(values)).sum::<f64>() / sides.len() as f64;
    let clusters = clusters(pairs);
    let found = match (measure, &clusters[..]) {
        (_, [_]) => average(sides.iter().filter_map(|values| own_interval(values, measure))),
        (Measure::Rate, _) => {
            let passes = clusters.iter().map(|members| {
                let values: Vec<f64> =
                    members.iter().flat_map(|at| sides[*at].iter().copied()).collect();
                passes_of(&values)
            });
            clustered_rate(&passes.collect::<Vec<_>>(), CONFIDENCE)
        }
        (Measure::Score, _) => {
            let means = |members: &Vec<usize>| members.iter().map(|at| mean(&sides[*at])).collect();
            in_groups(clusters.iter().map(means).collect())
        }
    };
    // Nothing is known without trials. With different numbers of them the rate of all trials,
    // which the interval is about, is not quite the mean of the tests.
    let found = found.unwrap_or(Interval { low: 0.0, high: 1.0 });
    Interval { low: found.low.min(level), high: found.high.max(level) }
}

/// One test alone says nothing of others; its trials say something of it.
fn own_interval(values: &[f64], measure: Measure) -> Option<Interval> {
    match measure {
        Measure::Rate => clustered_rate(&[passes_of(values)], CONFIDENCE),
        Measure::Score => in_groups(values.iter().map(|value| vec![*value]).collect()),
    }
}

fn passes_of(values: &[f64]) -> Passes {
    let passes = values.iter().filter(|value| **value > 0.5).count();
    Passes { passes: passes as u64, trials: values.len() as u64 }
}

/// Of tests that resemble each other, which are no more evidence than one of them.
fn average(intervals: impl Iterator<Item = Interval>) -> Option<Interval> {
    let (mut low, mut high, mut count) = (0.0, 0.0, 0.0);
    for interval in intervals {
        low += interval.low;
        high += interval.high;
        count += 1.0;
    }
    (count > 0.0).then(|| Interval { low: low / count, high: high / count })
}

fn in_groups(groups: Vec<Vec<f64>>) -> Option<Interval> {
    clustered_mean(&groups, CONFIDENCE).map(|(_, interval)| interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Cluster;

    const RULE: Rule = Rule { measure: Measure::Rate, margin: 0.1, seed: 1 };

    fn side(trials: usize, passes: usize) -> Vec<f64> {
        let value = |at| f64::from(u8::from(at < passes));
        (0..trials).map(value).collect()
    }

    fn pairs(count: usize, trials: usize, base: usize, candidate: usize) -> Vec<Pair> {
        let pair = Pair::new(side(trials, base), side(trials, candidate));
        vec![pair; count]
    }

    #[test]
    fn the_five_verdicts() {
        let verdict = |pairs: &[Pair]| judge(pairs, &RULE).unwrap().verdict;
        assert_eq!(verdict(&pairs(20, 5, 5, 3)), ComparisonVerdict::Worse);
        assert_eq!(verdict(&pairs(20, 5, 3, 5)), ComparisonVerdict::Better);
        assert_eq!(verdict(&pairs(20, 5, 5, 5)), ComparisonVerdict::Equivalent);
        assert_eq!(verdict(&pairs(20, 1, 1, 1)), ComparisonVerdict::Inconclusive);
        assert_eq!(verdict(&pairs(3, 1, 1, 0)), ComparisonVerdict::Inconclusive);
        let gained = [pairs(5, 5, 4, 4), pairs(4, 5, 3, 5), pairs(1, 5, 4, 3)].concat();
        assert_eq!(verdict(&gained), ComparisonVerdict::NotWorse);
        assert_eq!(judge(&[], &RULE), None);
    }

    #[test]
    fn gates_pass_what_is_at_least_as_good() {
        let passing = ComparisonVerdict::ALL.iter().filter(|verdict| verdict.passes_gate());
        let words: Vec<&str> = passing.map(|verdict| verdict.word()).collect();
        assert_eq!(words, ["equivalent", "better", "not-worse"]);
    }

    #[test]
    fn what_is_open_says_how_many_trials_would_settle_it() {
        let open = judge(&pairs(20, 1, 1, 1), &RULE).unwrap();
        let needed = open.trials_needed.and_then(TrialsNeeded::trials);
        assert!(needed.is_some_and(|trials| trials > 1 && trials < 20), "{open:?}");
        let settled = judge(&pairs(20, 5, 5, 5), &RULE).unwrap();
        assert_eq!(settled.trials_needed, None);
    }

    #[test]
    fn a_base_of_several_runs_is_more_evidence() {
        let pooled = |runs: usize| -> Vec<Pair> {
            (0..20).map(|_| Pair::pooled(vec![side(4, 4); runs], side(4, 4))).collect()
        };
        let width = |runs: usize| {
            let judged = judge(&pooled(runs), &RULE).unwrap();
            assert_eq!((judged.base_trials, judged.candidate_trials), (4.0 * runs as f64, 4.0));
            judged.interval.high - judged.interval.low
        };
        assert!(width(4) < 0.9 * width(1), "{} {}", width(4), width(1));
    }

    #[test]
    fn runs_that_shift_as_a_whole_widen_the_interval() {
        let pooled = |runs: [usize; 4]| -> Vec<Pair> {
            let base: Vec<Vec<f64>> = runs.iter().map(|passes| side(5, *passes)).collect();
            (0..30).map(|_| Pair::pooled(base.clone(), side(5, 3))).collect()
        };
        let steady = judge(&pooled([4, 4, 4, 4]), &RULE).unwrap();
        let shifting = judge(&pooled([5, 3, 5, 3]), &RULE).unwrap();
        assert_eq!(steady.verdict, ComparisonVerdict::Worse);
        assert_eq!(shifting.verdict, ComparisonVerdict::Inconclusive, "{shifting:?}");
        let width = |judged: &SuiteVerdict| judged.interval.high - judged.interval.low;
        assert!(width(&shifting) > 2.0 * width(&steady));
        assert_eq!(steady.delta, shifting.delta);
    }

    /// Three runs at 80 %, one at 55 %.
    fn shifting_base(candidate: usize) -> Vec<Pair> {
        let run = |at: usize, most: usize| side(4, most - usize::from(!at.is_multiple_of(5)));
        let pair = |at: usize| {
            let base = [4, 4, 4, 3].map(|most| run(at, most));
            Pair::pooled(base.to_vec(), side(4, candidate))
        };
        (0..30).map(pair).collect()
    }

    #[test]
    fn a_collapse_is_worse_however_much_the_runs_differ() {
        for measure in [Measure::Rate, Measure::Score] {
            let rule = Rule { measure, ..RULE };
            let judged = judge(&shifting_base(0), &rule).unwrap();
            assert!(judged.drift.shift() > 5.1, "{judged:?}");
            assert_eq!(judged.verdict, ComparisonVerdict::Worse, "{judged:?}");
            assert!(judged.p < 0.001, "{judged:?}");
            let quick = quick_verdict(&shifting_base(0), &rule);
            assert_eq!(quick, Some(ComparisonVerdict::Worse));
            let same = judge(&shifting_base(3), &rule).unwrap();
            assert!(same.p > 0.5, "{same:?}");
        }
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
    fn tests_of_one_group_are_no_more_evidence_than_one_of_them() {
        let one = judge(&pairs(1, 5, 5, 4), &RULE).unwrap();
        let mut group = pairs(10, 5, 5, 4);
        group.iter_mut().for_each(|pair| pair.cluster = Cluster::Group(0));
        let all = judge(&group, &RULE).unwrap();
        let sides = |judged: &SuiteVerdict| {
            let LevelIntervals { base, candidate } = judged.level_intervals;
            [base.low, base.high, candidate.low, candidate.high]
        };
        for (one, all) in sides(&one).iter().zip(sides(&all)) {
            assert!((one - all).abs() < 1e-9, "{one} {all}");
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
