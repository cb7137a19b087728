//! Tries the gate on what is stored: its rate of false alarms, and the smallest drop that it
//! detects. Several runs are compared with each other, which shows what changes between runs; a
//! single run is split into random halves, which cannot.

use std::collections::{BTreeSet, HashMap};

use super::CompareOptions;
use super::case::{ComparedCase, seed_from_cases};
use super::pairing::{self, ErrorCount, Match};
use super::suite_change::clusters_of;
use super::verdict::{ComparisonVerdict, Rule, quick_verdict};
use crate::stats::{Cluster, Drift, Interval, Measure, Pair, SplitMix64, wilson};

const SPLITS: u64 = 1_000;
/// The minimum for runs so large that each split takes long.
const FEWEST: u64 = 100;
/// The budget for comparisons, in trials.
const WORK: u64 = 500_000;
/// A drop counts as detected when this share of comparisons finds it.
const CAUGHT: f64 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfTest {
    /// Tests that could be compared.
    pub tests: usize,
    pub method: SelfTestMethod,
    /// Comparisons of runs without a difference.
    pub comparisons: u64,
    /// Those that were called worse.
    pub alarms: u64,
    /// The rate of false alarms.
    pub interval: Interval,
    /// A difference of means from 0 to 1, for runs of this size. `None` when not even a drop to 0 is
    /// detected.
    pub smallest_drop: Option<f64>,
    pub seed: u64,
}

/// What was compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SelfTestMethod {
    /// Random halves of one run. They cannot show what changes between runs.
    Halves {
        /// Trials per test in a typical half.
        trials: f64,
    },
    /// Each run with the others together.
    Runs {
        runs: usize,
        /// Comparisons of each run with one other run, and those that were called worse.
        single: (u64, u64),
        drift: Drift,
    },
}

/// The trials of one test in each run.
struct StoredTest {
    runs: Vec<Vec<f64>>,
    cluster: Cluster,
}

impl StoredTest {
    fn has_two_runs(&self) -> bool {
        self.runs.iter().filter(|run| !run.is_empty()).count() > 1
    }

    fn trials(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    fn pair(&self, base: Vec<Vec<f64>>, candidate: Vec<f64>) -> Pair {
        Pair { base, candidate, cluster: self.cluster }
    }
}

/// Of several runs, the last is the newest. `None` when no test has two trials, or two runs.
pub fn selftest(cases: &[ComparedCase], options: &CompareOptions) -> Option<SelfTest> {
    try_gate(cases, options, SPLITS)
}

/// With so many splits at most.
fn try_gate(cases: &[ComparedCase], options: &CompareOptions, most: u64) -> Option<SelfTest> {
    let seed = options.seed.unwrap_or_else(|| seed_from_cases(cases, &[]));
    let mut tests = stored_tests(cases, options.measure);
    let runs: BTreeSet<u32> = cases.iter().map(|case| case.run).collect();
    let is_pooled = runs.len() > 1 && tests.iter().any(StoredTest::has_two_runs);
    if is_pooled {
        tests.retain(StoredTest::has_two_runs);
    } else {
        // Of runs without a common test, the first that has the test is split.
        tests.iter_mut().for_each(|test| test.runs.retain(|run| !run.is_empty()));
        tests.iter_mut().for_each(|test| test.runs.truncate(1));
        tests.retain(|test| test.runs.first().is_some_and(|trials| trials.len() >= 2));
    }
    if tests.is_empty() {
        return None;
    }
    let mut trial = GateTrial::new(tests, options, seed, most);
    Some(if is_pooled { trial.compare_runs(seed) } else { trial.split_run(seed) })
}

/// Of each test the runs in which it means what it means in the newest run that has it, as the gate takes
/// them.
fn stored_tests(cases: &[ComparedCase], measure: Measure) -> Vec<StoredTest> {
    let newest = newest_cases(cases);
    let matches = pairing::pair(cases, &newest).matches;
    let matches: Vec<&Match> = matches.iter().collect();
    let test = |(found, cluster): (&&Match, Cluster)| {
        let runs = found.pair(measure, ErrorCount::Ignored)?.base;
        Some(StoredTest { runs, cluster })
    };
    let mut tests: Vec<StoredTest> =
        matches.iter().zip(clusters_of(&matches)).filter_map(test).collect();
    drop_empty_runs(&mut tests);
    tests
}

/// Drops runs in which every test means something else. All tests have as many runs then.
fn drop_empty_runs(tests: &mut [StoredTest]) {
    let runs = tests.iter().map(|test| test.runs.len()).max().unwrap_or(0);
    let has_trials =
        |run: usize, test: &StoredTest| test.runs.get(run).is_some_and(|trials| !trials.is_empty());
    let kept: Vec<usize> =
        (0..runs).filter(|run| tests.iter().any(|test| has_trials(*run, test))).collect();
    for test in tests {
        let take = |run: &usize| test.runs.get_mut(*run).map(std::mem::take).unwrap_or_default();
        test.runs = kept.iter().map(take).collect();
    }
}

/// The cases of each test in the newest run that has it.
fn newest_cases(cases: &[ComparedCase]) -> Vec<ComparedCase> {
    fn key(case: &ComparedCase) -> [&str; 3] {
        [&case.suite, &case.test, &case.target]
    }
    let mut newest: HashMap<[&str; 3], u32> = HashMap::new();
    for case in cases {
        let run = newest.entry(key(case)).or_insert(case.run);
        *run = (*run).max(case.run);
    }
    cases.iter().filter(|case| newest.get(&key(case)) == Some(&case.run)).cloned().collect()
}

struct GateTrial {
    tests: Vec<StoredTest>,
    /// Comparisons of halves, and those for each drop that is tried.
    splits: u64,
    tries: u64,
    options: CompareOptions,
    random: SplitMix64,
}

impl GateTrial {
    fn new(tests: Vec<StoredTest>, options: &CompareOptions, seed: u64, most: u64) -> Self {
        let trials: u64 = tests.iter().map(|test| test.trials() as u64).sum();
        let splits = (WORK / trials).max(FEWEST).min(most);
        let tries = (splits / 3).max(FEWEST).min(most);
        let random = SplitMix64::new(seed);
        Self { tests, splits, tries, options: *options, random }
    }

    fn split_run(&mut self, seed: u64) -> SelfTest {
        let splits = self.splits;
        let alarms = (0..splits).filter(|_| self.split_alarms()).count() as u64;
        let halves: f64 = self.tests.iter().map(|test| (test.runs[0].len() / 2) as f64).sum();
        let trials = halves / self.tests.len() as f64;
        self.result(SelfTestMethod::Halves { trials }, splits, alarms, seed)
    }

    fn compare_runs(&mut self, seed: u64) -> SelfTest {
        let runs = self.most_runs();
        let (mut alarms, mut single) = (0, (0, 0));
        for candidate in 0..runs {
            let pairs = self.against_others(candidate, |_| true);
            alarms += u64::from(self.is_worse(&pairs));
            for other in (0..runs).filter(|other| *other != candidate) {
                let pairs = self.against_others(candidate, |run| run == other);
                if !pairs.is_empty() {
                    single = (single.0 + 1, single.1 + u64::from(self.is_worse(&pairs)));
                }
            }
        }
        let whole = |test: &StoredTest| test.pair(test.runs.clone(), vec![0.0]);
        let drift = Drift::of(&self.tests.iter().map(whole).collect::<Vec<_>>());
        let method = SelfTestMethod::Runs { runs, single, drift };
        self.result(method, runs as u64, alarms, seed)
    }

    fn most_runs(&self) -> usize {
        self.tests.iter().map(|test| test.runs.len()).max().unwrap_or(0)
    }

    fn result(
        &mut self,
        method: SelfTestMethod,
        comparisons: u64,
        alarms: u64,
        seed: u64,
    ) -> SelfTest {
        SelfTest {
            tests: self.tests.len(),
            method,
            comparisons,
            alarms,
            interval: wilson(alarms, comparisons, 0.95),
            smallest_drop: self.smallest_drop(),
            seed,
        }
    }

    /// A run with some of the others as its base.
    fn against_others(&self, candidate: usize, is_base: impl Fn(usize) -> bool) -> Vec<Pair> {
        let pair = |test: &StoredTest| {
            let now = test.runs.get(candidate).filter(|trials| !trials.is_empty())?;
            let is_other = |run: usize| run != candidate && is_base(run);
            let others = test.runs.iter().enumerate().filter(|(run, _)| is_other(*run));
            let base: Vec<Vec<f64>> = others.map(|(_, trials)| trials.clone()).collect();
            let has_base = base.iter().any(|trials| !trials.is_empty());
            has_base.then(|| test.pair(base, now.clone()))
        };
        self.tests.iter().filter_map(pair).collect()
    }

    fn split_alarms(&mut self) -> bool {
        let mut pairs = Vec::with_capacity(self.tests.len());
        for test in &mut self.tests {
            shuffle(&mut test.runs[0], &mut self.random);
            let (base, rest) = test.runs[0].split_at(test.runs[0].len() / 2);
            pairs.push(test.pair(vec![base.to_vec()], rest[..base.len()].to_vec()));
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
        let mean =
            |test: &StoredTest| test.runs.iter().flatten().sum::<f64>() / test.trials() as f64;
        self.tests.iter().map(mean).sum::<f64>() / self.tests.len() as f64
    }

    fn catches(&mut self, drop: f64, level: f64) -> bool {
        let kept = 1.0 - drop / level;
        let tries = self.tries;
        let seen = (0..tries).filter(|_| self.drop_alarms(kept)).count();
        seen as f64 >= CAUGHT * tries as f64
    }

    /// A candidate that lost a part of what was reached: passes at random, scores evenly. Of one run,
    /// both sides are drawn from its trials; of several, one of them is the candidate.
    fn drop_alarms(&mut self, kept: f64) -> bool {
        let runs = self.most_runs();
        let mut pairs = if runs > 1 {
            let candidate = self.random.below(runs as u64) as usize;
            self.against_others(candidate, |_| true)
        } else {
            self.drawn_runs()
        };
        for value in pairs.iter_mut().flat_map(|pair| &mut pair.candidate) {
            match self.options.measure {
                Measure::Score => *value *= kept,
                Measure::Rate if self.random.fraction() < kept => {}
                Measure::Rate => *value = 0.0,
            }
        }
        self.is_worse(&pairs)
    }

    /// Two runs of this size, drawn from these trials.
    fn drawn_runs(&mut self) -> Vec<Pair> {
        let mut pairs = Vec::with_capacity(self.tests.len());
        for test in &self.tests {
            let trials = &test.runs[0];
            let count = trials.len();
            let mut side = || -> Vec<f64> {
                (0..count).map(|_| trials[self.random.below(count as u64) as usize]).collect()
            };
            let (base, candidate) = (side(), side());
            pairs.push(test.pair(vec![base], candidate));
        }
        pairs
    }

    fn is_worse(&mut self, pairs: &[Pair]) -> bool {
        let rule = Rule {
            measure: self.options.measure,
            margin: self.options.margin,
            seed: self.random.next_u64(),
        };
        quick_verdict(pairs, &rule) == Some(ComparisonVerdict::Worse)
    }
}

fn shuffle(values: &mut [f64], random: &mut SplitMix64) {
    for at in (1..values.len()).rev() {
        values.swap(at, random.below(at as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::{of_run, trials};
    use super::*;

    /// With few comparisons, because tests are not optimised.
    fn few(cases: &[ComparedCase]) -> Option<SelfTest> {
        try_gate(cases, &CompareOptions::default(), 100)
    }

    #[test]
    fn the_gate_is_tried_on_a_run() {
        let cases: Vec<ComparedCase> = (0..12)
            .flat_map(|at| trials(&format!("t{at}"), 4, 4 - u32::from(at % 3 == 0)))
            .collect();
        let found = few(&cases).unwrap();
        assert_eq!((found.tests, found.comparisons), (12, 100));
        assert_eq!(found.method, SelfTestMethod::Halves { trials: 2.0 });
        assert!(found.alarms <= found.comparisons / 20, "{found:?}");
        let drop = found.smallest_drop.unwrap();
        assert!((0.05..0.5).contains(&drop), "{drop}");
        assert_eq!(few(&cases), Some(found));
    }

    /// On the verge of the exact method: both find about the same drop.
    #[test]
    fn large_runs_are_tried_in_time_in_proportion_to_their_size() {
        let cases = |tests: usize| -> Vec<ComparedCase> {
            (0..tests).flat_map(|at| trials(&format!("t{at}"), 10, 9)).collect()
        };
        let drop = |tests| {
            let found = few(&cases(tests)).unwrap();
            assert!(found.interval.low <= 0.05, "{found:?}");
            found.smallest_drop.unwrap()
        };
        let (exact, close, large) = (drop(45), drop(55), drop(400));
        assert!((exact - close).abs() < 0.04, "{exact} {close}");
        // A smaller drop than the margin is not worse, however many trials there are.
        assert!((0.09..0.12).contains(&large), "{large}");
    }

    #[test]
    fn single_trials_cannot_be_split() {
        assert_eq!(few(&trials("a", 1, 1)), None);
        let never = trials("a", 4, 0);
        assert_eq!(few(&never).unwrap().smallest_drop, None);
    }

    #[test]
    fn several_runs_are_compared_with_each_other() {
        let run = |number: u32, passes: [u32; 3]| -> Vec<ComparedCase> {
            let test = |at: usize| trials(&format!("t{at}"), 5, passes[at % 3]);
            of_run(number, (0..18).flat_map(test).collect())
        };
        let steady: Vec<ComparedCase> = (0..4).flat_map(|at| run(at, [5, 4, 5])).collect();
        let found = few(&steady).unwrap();
        let SelfTestMethod::Runs { runs: 4, single: (12, 0), drift } = found.method else {
            panic!("{found:?}");
        };
        assert_eq!((found.comparisons, found.alarms), (4, 0));
        assert!(drift.factor() <= 1.0);
        let shifting: Vec<ComparedCase> = [[5, 5, 5], [3, 3, 2], [5, 5, 4], [2, 3, 3]]
            .into_iter()
            .zip(0..)
            .flat_map(|(passes, at)| run(at, passes))
            .collect();
        let found = few(&shifting).unwrap();
        let SelfTestMethod::Runs { single: (12, alarms), drift, .. } = found.method else {
            panic!("{found:?}");
        };
        assert!(alarms >= 3 && drift.factor() > 5.0, "{found:?}");
    }

    /// A fixture of five tests was down in the first of five runs.
    #[test]
    fn groups_count_as_they_do_in_the_gate() {
        let run = |number: u32| -> Vec<ComparedCase> {
            let passes = |at: usize| if number == 0 && at < 5 { 0 } else { 4 };
            of_run(
                number,
                (0..20).flat_map(|at| trials(&format!("t{at}"), 4, passes(at))).collect(),
            )
        };
        let alone: Vec<ComparedCase> = (0..5).flat_map(run).collect();
        let mut grouped = alone.clone();
        for case in
            grouped.iter_mut().filter(|case| ["t0", "t1", "t2", "t3", "t4"].contains(&&*case.test))
        {
            case.group = Some("database".to_owned());
        }
        assert_eq!([alone, grouped].map(|cases| few(&cases).unwrap().alarms), [1, 0]);
    }

    /// The oldest run has more trials, of another meaning of the test.
    #[test]
    fn only_runs_with_the_newest_meaning_of_a_test_count() {
        let run = |number: u32, count: u32, hash: &str| -> Vec<ComparedCase> {
            let tests = (0..10).flat_map(|at| trials(&format!("t{at}"), count, count));
            let mut cases = of_run(number, tests.collect());
            cases.iter_mut().for_each(|case| case.hash = hash.to_owned());
            cases
        };
        let same = [run(0, 3, "new"), run(1, 3, "new"), run(2, 3, "new")].concat();
        let mixed = [run(0, 6, "old"), run(1, 3, "new"), run(2, 3, "new")].concat();
        let SelfTestMethod::Runs { single: (6, _), drift, .. } = few(&same).unwrap().method else {
            panic!("three runs");
        };
        assert_eq!(drift.runs, 3);
        let SelfTestMethod::Runs { single: (2, _), drift, .. } = few(&mixed).unwrap().method else {
            panic!("two runs");
        };
        assert_eq!(drift.runs, 2);
        let changed = [run(0, 3, "new"), run(1, 6, "old"), run(2, 4, "newer")].concat();
        assert_eq!(few(&changed).unwrap().method, SelfTestMethod::Halves { trials: 2.0 });
    }
}
