//! The verdict on a suite, and whether trials that could not be measured could change it.

use std::collections::{BTreeMap, BTreeSet};

use super::pairing::{self, ErrorCount, Match};
use super::verdict::{ComparisonVerdict, Rule, SuiteVerdict, judge};
use crate::stats::{Cluster, Measure, Pair, TrialsNeeded};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteChange {
    /// On the trials that were measured.
    pub judged: SuiteVerdict,
    /// Tests that were compared, whatever the number of their targets and arms.
    pub tests: usize,
    /// The same with every target and arm.
    pub pairs: usize,
    /// Of as many trials as are needed; `None` if costs are unknown.
    pub cost_needed: Option<f64>,
    /// `None` if every trial was measured.
    pub errors: Option<ErrorBounds>,
}

/// What the verdict would be if the trials that could not be measured had passed or failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBounds {
    /// Trials of the base that could not be measured.
    pub base: u64,
    /// The same of the candidate.
    pub candidate: u64,
    /// Base errors as passes, candidate errors as failures.
    pub worst: SuiteVerdict,
    /// The reverse.
    pub best: SuiteVerdict,
}

impl SuiteChange {
    /// `None` when no test was measured on both sides.
    pub(super) fn of(compared: &[&Match], rule: &Rule) -> Option<Self> {
        Self::judged(compared, |errors| {
            let pairs = pairs(compared, rule, errors);
            Some((judge(&pairs, rule)?, pairs.len()))
        })
    }

    /// `judge` gives the verdict and the number of pairs, for each way to count errors.
    pub(super) fn judged(
        compared: &[&Match],
        mut judge: impl FnMut(ErrorCount) -> Option<(SuiteVerdict, usize)>,
    ) -> Option<Self> {
        let (judged, pairs) = judge(ErrorCount::Ignored)?;
        let cost = judged.trials_needed.and_then(|needed| cost_of(compared, needed));
        let errors = ErrorBounds::of(compared, |errors| Some(judge(errors)?.0));
        Some(Self { judged, tests: count_tests(compared), pairs, cost_needed: cost, errors })
    }

    /// Whether the verdict is the same for a gate whatever the trials were that could not be measured.
    pub fn is_certain(&self) -> bool {
        let Some(bounds) = &self.errors else {
            return true;
        };
        match self.judged.verdict {
            ComparisonVerdict::Worse => bounds.best.verdict == ComparisonVerdict::Worse,
            ComparisonVerdict::Inconclusive => true,
            _ => bounds.worst.verdict.passes_gate(),
        }
    }
}

impl ErrorBounds {
    fn of(
        compared: &[&Match],
        mut judged: impl FnMut(ErrorCount) -> Option<SuiteVerdict>,
    ) -> Option<Self> {
        let mut errors = [0, 0];
        for found in compared {
            let [base, candidate] = found.errors();
            errors = [errors[0] + base, errors[1] + candidate];
        }
        let [base, candidate] = errors;
        if base + candidate == 0 {
            return None;
        }
        let (worst, best) =
            (judged(ErrorCount::AgainstCandidate)?, judged(ErrorCount::ForCandidate)?);
        Some(Self { base, candidate, worst, best })
    }
}

/// Tests that were measured on both sides with a target or arm.
fn count_tests(compared: &[&Match]) -> usize {
    let is_measured = |found: &&&Match| found.pair(Measure::Rate, ErrorCount::Ignored).is_some();
    let measured = compared.iter().filter(is_measured);
    measured.map(|found| (found.suite, found.test)).collect::<BTreeSet<_>>().len()
}

/// The pairs of tests, with what makes them resemble each other.
pub(super) fn pairs(compared: &[&Match], rule: &Rule, errors: ErrorCount) -> Vec<Pair> {
    let clusters = clusters_of(compared);
    let pair = |(found, cluster): (&&Match, Cluster)| {
        let pair = found.pair(rule.measure, errors)?;
        Some(Pair { cluster, ..pair })
    };
    compared.iter().zip(clusters).filter_map(pair).collect()
}

pub(super) fn clusters_of(compared: &[&Match]) -> Vec<Cluster> {
    let mut groups: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut tests: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let targets: BTreeSet<&str> = compared.iter().map(|found| found.target).collect();
    let mut clusters = Vec::with_capacity(compared.len());
    for found in compared {
        clusters.push(if let Some(group) = found.group {
            let next = groups.len();
            Cluster::Group(*groups.entry((found.suite, group)).or_insert(next))
        } else if targets.len() > 1 {
            let next = tests.len();
            Cluster::Test(*tests.entry((found.suite, found.test)).or_insert(next))
        } else {
            Cluster::Alone
        });
    }
    clusters
}

/// What the needed trials cost. A stored base is not run again.
fn cost_of(compared: &[&Match], needed: TrialsNeeded) -> Option<f64> {
    let [base, candidate] = pairing::cost_per_round(compared)?;
    match needed {
        TrialsNeeded::EachRun(trials) => Some(trials as f64 * (base + candidate)),
        TrialsNeeded::Candidate(trials) => Some(trials as f64 * candidate),
        TrialsNeeded::LargerBase | TrialsNeeded::MoreTests => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::{of_run, trials};
    use super::super::{CompareOptions, ComparedCase, compare};
    use super::*;
    use crate::model::Outcome;

    fn suite(count: usize, each: u32, passes: u32) -> Vec<ComparedCase> {
        (0..count).flat_map(|at| trials(&format!("t{at}"), each, passes)).collect()
    }

    fn change(base: &[ComparedCase], candidate: &[ComparedCase]) -> SuiteChange {
        compare(base, candidate, &CompareOptions::default()).suite.unwrap()
    }

    fn with_errors(mut cases: Vec<ComparedCase>, errors: usize) -> Vec<ComparedCase> {
        for at in 0..errors {
            let case = &mut cases[at * 7];
            case.outcome = Outcome::Errored;
            case.score = None;
        }
        cases
    }

    #[test]
    fn a_few_errors_do_not_change_a_clear_verdict() {
        let all = suite(40, 5, 5);
        let found = change(&all, &with_errors(all.clone(), 1));
        let bounds = found.errors.unwrap();
        assert_eq!((bounds.base, bounds.candidate), (0, 1));
        assert!(found.is_certain() && bounds.worst.verdict.passes_gate());
        assert!(bounds.worst.delta < 0.0 && bounds.best.delta == 0.0);
        assert_eq!(change(&all, &all).errors, None);
    }

    #[test]
    fn errors_that_could_hide_a_drop_leave_the_verdict_open() {
        let all = suite(40, 5, 5);
        let found = change(&all, &with_errors(all.clone(), 25));
        assert!(found.judged.verdict.passes_gate());
        assert!(!found.is_certain(), "{:?}", found.errors);
    }

    /// The base passed whenever it was measured; its errors may have been failures.
    #[test]
    fn a_drop_is_not_certain_if_the_errors_of_the_base_could_explain_it() {
        let failing = |count: usize| -> Vec<ComparedCase> {
            let mut cases = suite(20, 5, 5);
            for at in 0..count {
                cases[at * 5].outcome = Outcome::Failed;
                cases[at * 5].score = Some(0.0);
            }
            cases
        };
        let mut base = suite(20, 5, 5);
        let dropped = failing(17);
        assert_eq!(change(&base, &dropped).judged.verdict, ComparisonVerdict::Worse);
        assert!(change(&base, &dropped).is_certain());
        for at in 0..14 {
            base[at * 5].outcome = Outcome::Errored;
        }
        let found = change(&base, &dropped);
        assert_eq!(found.judged.verdict, ComparisonVerdict::Worse);
        assert!(!found.is_certain(), "{:?}", found.errors.unwrap().best);
    }

    #[test]
    fn a_test_that_only_errored_counts_in_the_worst_case() {
        let base = suite(30, 4, 4);
        let mut candidate = base.clone();
        candidate[..4].iter_mut().for_each(|case| case.outcome = Outcome::Errored);
        let found = change(&base, &candidate);
        assert_eq!(found.tests, 29);
        assert!((found.errors.unwrap().worst.delta + 1.0 / 30.0).abs() < 1e-12);
    }

    #[test]
    fn targets_and_groups_are_clusters() {
        let mut base = suite(6, 2, 2);
        let mut other = base.clone();
        other.iter_mut().for_each(|case| case.target = "u".to_owned());
        base.extend(other);
        for case in base.iter_mut().filter(|case| ["t4", "t5"].contains(&case.test.as_str())) {
            case.group = Some("db".to_owned());
        }
        let found = super::super::pairing::pair(&base, &base).matches;
        let found: Vec<&Match> = found.iter().collect();
        use Cluster::{Group, Test};
        let wanted = [Test(0), Test(1), Test(2), Test(3), Group(0), Group(0)];
        assert_eq!(clusters_of(&found), [wanted, wanted].concat());
        assert_eq!(clusters_of(&found[..1]), [Cluster::Alone]);
    }

    #[test]
    fn open_questions_have_a_price() {
        let found = change(&suite(20, 1, 1), &suite(20, 1, 1));
        let trials = found.judged.trials_needed.and_then(TrialsNeeded::trials).unwrap();
        let cost = found.cost_needed.unwrap();
        assert!((cost - trials as f64 * 20.0 * 0.02).abs() < 1e-9);
        let bases = [suite(20, 5, 4), of_run(1, suite(20, 5, 4))].concat();
        let found = change(&bases, &[suite(12, 2, 2), of_first(12..20, 2, 1)].concat());
        let trials = found.judged.trials_needed.and_then(TrialsNeeded::trials).unwrap();
        assert!((found.cost_needed.unwrap() - trials as f64 * 20.0 * 0.01).abs() < 1e-9);
    }

    fn of_first(tests: std::ops::Range<usize>, each: u32, passes: u32) -> Vec<ComparedCase> {
        tests.flat_map(|at| trials(&format!("t{at}"), each, passes)).collect()
    }
}
