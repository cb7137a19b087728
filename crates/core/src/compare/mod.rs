//! Compares a run with one or several earlier ones (spec 20): the change of each test, and whether
//! the candidate as a whole is equivalent, better, not worse, worse or inconclusive. Pure: the same
//! cases and the same seed give the same result.

mod arm_choice;
mod case;
mod change;
mod forecast;
mod look;
mod pairing;
mod round_plan;
mod rounds;
mod scope;
mod selftest;
mod suite_change;
mod usage;
mod verdict;

use std::collections::BTreeSet;

pub use arm_choice::take_arms;
pub use case::{CaseArm, ComparedCase, join_disjoint_runs, seed_from_cases};
pub use change::{Change, Side, TestChange};
pub use forecast::{ArmForecast, Forecast, Outlook, PlannedArms, forecast, forecast_arm};
pub use look::{RoundLook, RoundStop};
pub use pairing::matched_base;
pub use round_plan::{MOST_ROUNDS, RoundBase, RoundPlan};
pub use rounds::{RoundSides, Rounds, compare_in_rounds};
pub use scope::Scope;
pub use selftest::{SelfTest, SelfTestMethod, selftest};
pub use suite_change::{ErrorBounds, SuiteChange};
pub use usage::{UsageChange, UsageMeans};
pub use verdict::{
    ComparisonVerdict, DEFAULT_MARGIN, LevelIntervals, Levels, Rule, SuiteVerdict, judge,
};

use crate::stats::{Pair, mark};
use pairing::{ErrorCount, Match, Pairing};

/// What is compared.
pub use crate::stats::{Drift, Measure, TrialsNeeded};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareOptions {
    pub measure: Measure,
    /// Differences below it do not matter.
    pub margin: f64,
    /// `None`: taken from the cases.
    pub seed: Option<u64>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { measure: Measure::Rate, margin: DEFAULT_MARGIN, seed: None }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// In the order of the candidate; what was removed comes last.
    pub tests: Vec<TestChange>,
    /// Baseline arms that take no part.
    pub left_out_arms: Vec<String>,
    /// Base runs with at least one case that is compared.
    pub base_runs: usize,
    /// `None` when no test was measured on both sides.
    pub suite: Option<SuiteChange>,
    /// Of the tests that are compared.
    pub usage: UsageChange,
    pub seed: u64,
    pub margin: f64,
    pub measure: Measure,
    /// The looks, if the candidate was run in rounds.
    pub rounds: Option<Rounds>,
}

impl Comparison {
    pub fn count(&self, change: Change) -> usize {
        let fits = |test: &&TestChange| test.change == change;
        self.tests.iter().filter(fits).count()
    }

    /// Whether tests of more than one suite were compared, so that an id alone may be ambiguous.
    pub fn has_suites(&self) -> bool {
        self.differ(|test| &test.suite)
    }

    pub fn has_targets(&self) -> bool {
        self.differ(|test| &test.target)
    }

    fn differ(&self, part: fn(&TestChange) -> &String) -> bool {
        let first = self.tests.first().map(part);
        self.tests.iter().any(|test| Some(part(test)) != first)
    }

    /// Whether a trial of the candidate errored.
    pub fn is_incomplete(&self) -> bool {
        self.tests.iter().any(TestChange::is_open)
    }
}

/// Compares a run with a base, whose cases may be of several runs. If a case occurs twice in one run,
/// the last one counts.
pub fn compare(
    base: &[ComparedCase],
    candidate: &[ComparedCase],
    options: &CompareOptions,
) -> Comparison {
    let seed = options.seed.unwrap_or_else(|| seed_from_cases(base, candidate));
    let rule = Rule { measure: options.measure, margin: options.margin, seed };
    let levels = [verdict::LEVEL, verdict::GAIN_LEVEL];
    compare_tests(base, candidate, &rule, levels, |compared| SuiteChange::of(compared, &rule))
}

/// Compares test by test; `judge_all` compares the whole. `levels` are those at which tests are marked.
fn compare_tests(
    base: &[ComparedCase],
    candidate: &[ComparedCase],
    rule: &Rule,
    levels: [f64; 2],
    judge_all: impl FnOnce(&[&Match]) -> Option<SuiteChange>,
) -> Comparison {
    let Pairing { matches, left_out_arms } = pairing::pair(base, candidate);
    let mut tests: Vec<TestChange> = matches.iter().map(change::classify).collect();
    let is_compared: Vec<bool> = tests.iter().map(|test| test.change.is_compared()).collect();
    mark_certain(&matches, &is_compared, levels, &mut tests);
    let compared: Vec<&Match> =
        matches.iter().zip(is_compared).filter_map(|(found, is)| is.then_some(found)).collect();
    let runs: BTreeSet<u32> =
        compared.iter().flat_map(|found| found.base.iter().map(|case| case.run)).collect();
    Comparison {
        tests,
        left_out_arms,
        base_runs: runs.len(),
        suite: judge_all(&compared),
        usage: UsageChange::of(&compared),
        seed: rule.seed,
        margin: rule.margin,
        measure: rule.measure,
        rounds: None,
    }
}

/// How many tests would be compared, regardless of the candidate's results.
pub fn common(base: &[ComparedCase], candidate: &[ComparedCase]) -> usize {
    let matches = pairing::pair(base, candidate).matches;
    let is_common = |found: &&Match| {
        change::classify(found).change.is_compared()
            && found.pair(Measure::Rate, ErrorCount::Ignored).is_some()
    };
    matches.iter().filter(is_common).count()
}

/// Marks the tests whose own change is significant among all of them.
fn mark_certain(
    matches: &[Match],
    is_compared: &[bool],
    [drop_level, gain_level]: [f64; 2],
    tests: &mut [TestChange],
) {
    let places: Vec<usize> = (0..matches.len()).filter(|at| is_compared[*at]).collect();
    let compared: Vec<&Match> = places.iter().map(|at| &matches[*at]).collect();
    let clusters = suite_change::clusters_of(&compared);
    let (mut marked, mut pairs) = (Vec::new(), Vec::new());
    for ((at, found), cluster) in places.into_iter().zip(compared).zip(clusters) {
        if let Some(pair) = found.pair(Measure::Rate, ErrorCount::Ignored) {
            marked.push(at);
            pairs.push(Pair { cluster, ..pair });
        }
    }
    for (at, mark) in marked.into_iter().zip(mark(&pairs, drop_level, gain_level)) {
        if let Some(mark) = mark {
            tests[at].mark(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::case::testing::{case, trials};
    use super::*;
    use crate::model::Outcome;

    fn suite(count: usize, each: u32, passes: u32) -> Vec<ComparedCase> {
        let test = |at| trials(&format!("t{at}"), each, passes);
        (0..count).flat_map(test).collect()
    }

    #[test]
    fn only_tests_of_both_runs_with_one_meaning_count() {
        let base = [suite(20, 5, 5), trials("gone", 5, 5), trials("other", 5, 5)].concat();
        let mut other = trials("other", 5, 0);
        for case in &mut other {
            case.hash = "changed".to_owned();
        }
        let candidate = [suite(20, 5, 5), other, trials("new", 5, 0)].concat();
        let found = compare(&base, &candidate, &CompareOptions::default());
        let suite = found.suite.unwrap();
        assert_eq!((suite.tests, suite.judged.delta), (20, 0.0));
        assert_eq!(suite.judged.verdict, ComparisonVerdict::Equivalent);
        let counts = [Change::Added, Change::Removed, Change::ChangedTest];
        assert_eq!(counts.map(|change| found.count(change)), [1, 1, 1]);
        assert_eq!(found, compare(&base, &candidate, &CompareOptions::default()));
    }

    #[test]
    fn tests_in_common_are_measured_on_both_sides_and_mean_the_same() {
        let base = [trials("a", 1, 1), trials("b", 1, 0), trials("gone", 1, 1)].concat();
        let mut candidate = [trials("a", 1, 0), trials("b", 1, 1), trials("new", 1, 1)].concat();
        assert_eq!(common(&base, &candidate), 2);
        candidate[0].hash = "changed".to_owned();
        assert_eq!(common(&base, &candidate), 1);
        candidate[1].outcome = Outcome::Errored;
        assert_eq!(common(&base, &candidate), 0);
    }

    #[test]
    fn a_test_alone_can_be_beyond_chance() {
        let base = suite(6, 10, 10);
        let candidate = [suite(5, 10, 10), trials("t5", 10, 0)].concat();
        let found = compare(&base, &candidate, &CompareOptions::default());
        let certain: Vec<&str> = found
            .tests
            .iter()
            .filter(|test| test.is_certain)
            .map(|test| test.test.as_str())
            .collect();
        assert_eq!(certain, ["t5"]);
        assert_eq!(found.suite.unwrap().judged.verdict, ComparisonVerdict::Worse);
    }

    #[test]
    fn a_change_beyond_chance_has_a_direction() {
        let [high, low] = [19, 2].map(|passes| trials("a", 20, passes));
        for (base, candidate, wanted) in
            [(&high, &low, Change::Regressed), (&low, &high, Change::Fixed)]
        {
            let found = compare(base, candidate, &CompareOptions::default());
            assert_eq!((found.tests[0].change, found.tests[0].is_certain), (wanted, true));
        }
    }

    #[test]
    fn equal_agents_change_and_do_not_regress() {
        let run = |passes: [u32; 4]| -> Vec<ComparedCase> {
            let tests = passes.iter().enumerate();
            tests.flat_map(|(at, passes)| trials(&format!("t{at}"), 5, *passes)).collect()
        };
        let found = compare(&run([5, 4, 3, 5]), &run([4, 5, 5, 5]), &CompareOptions::default());
        let changes: Vec<Change> = found.tests.iter().map(|test| test.change).collect();
        use Change::{Changed, Unchanged};
        assert_eq!(changes, [Changed, Changed, Changed, Unchanged]);
    }

    #[test]
    fn without_a_common_test_there_is_no_verdict() {
        let found = compare(&trials("a", 1, 1), &trials("b", 1, 1), &CompareOptions::default());
        assert_eq!((found.suite, found.tests.len()), (None, 2));
        assert_eq!(compare(&[], &[], &CompareOptions::default()).suite, None);
    }

    #[test]
    fn what_errored_is_left_out_of_the_rates() {
        let base = suite(10, 3, 3);
        let mut candidate = base.clone();
        candidate[0] = case("t0", 1, Outcome::Errored);
        let found = compare(&base, &candidate, &CompareOptions::default());
        assert!(found.is_incomplete());
        assert_eq!(found.suite.unwrap().judged.delta, 0.0);
    }
}
