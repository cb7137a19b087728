//! Checks that were missed in tests that passed: the score reached the threshold without them. They
//! decide nothing, but an author who expected every check to hold must see them.

use std::collections::BTreeMap;

use evalrig_core::model::Outcome;

use super::case_finding::{CaseLabel, CheckFinding, missed_checks};
use crate::results::{EvaluatorResult, GradeOutcome, Row};

/// Tests that are kept by name.
const KEPT: usize = 20;

/// Counts the checks, and keeps the first tests in the order of the suites.
#[derive(Debug, Clone, Default)]
pub struct PassedMisses {
    pub checks: u64,
    tests: BTreeMap<CaseLabel, PassedMiss>,
    left_out: u64,
}

/// A test that passed without one of its checks.
#[derive(Debug, Clone)]
pub struct PassedMiss {
    pub score: Option<f64>,
    pub first: CheckFinding,
    pub checks: u64,
}

impl PassedMisses {
    pub fn add(&mut self, row: &Row) {
        let checks = count(row);
        if row.outcome != Outcome::Passed || checks == 0 {
            return;
        }
        self.checks += checks;
        let Some(first) = missed_checks(row).into_iter().next() else {
            return;
        };
        self.tests.insert(CaseLabel::of(row), PassedMiss { score: row.score, first, checks });
        if self.tests.len() > KEPT {
            self.tests.pop_last();
            self.left_out += 1;
        }
    }

    pub fn tests(&self) -> impl Iterator<Item = (&CaseLabel, &PassedMiss)> {
        self.tests.iter()
    }

    /// Cases that are counted, but not kept.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// `3 missed checks in passing tests`.
    pub fn sentence(&self) -> Option<String> {
        match self.checks {
            0 => None,
            1 => Some("1 missed check in a passing test".to_owned()),
            n => Some(format!("{} missed checks in passing tests", crate::text::numbers::count(n))),
        }
    }
}

/// Whether the check alone would not have passed, or missed a part of what it asks. The members of a
/// composite speak for it.
pub fn is_missed(result: &EvaluatorResult, threshold: f64) -> bool {
    let has_members = result.evaluator_results.as_ref().is_some_and(|members| !members.is_empty());
    let is_below = result.score.is_some_and(|score| score < threshold - 1e-9);
    result.outcome == GradeOutcome::Graded
        && !has_members
        && (is_below || !result.misses.is_empty())
}

/// The threshold that checks are held against; rows without one tell only by their misses.
pub fn threshold(row: &Row) -> f64 {
    row.pass_threshold.unwrap_or(0.0)
}

fn count(row: &Row) -> u64 {
    fn below(results: &[EvaluatorResult], threshold: f64, depth: usize) -> u64 {
        let of_one = |result: &EvaluatorResult| {
            let members = result.evaluator_results.as_deref().unwrap_or_default();
            let inner = if depth == 0 { 0 } else { below(members, threshold, depth - 1) };
            u64::from(is_missed(result, threshold)) + inner
        };
        results.iter().map(of_one).sum()
    }
    below(&row.evaluator_results, threshold(row), super::case_finding::DEPTH)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn passed(test: &str) -> Row {
        let mut row = fixture::missing(test, "Output contains 'total'");
        row.outcome = Outcome::Passed;
        row.score = Some(0.8);
        row
    }

    fn of(rows: &[Row]) -> PassedMisses {
        let mut found = PassedMisses::default();
        rows.iter().for_each(|row| found.add(row));
        found
    }

    #[test]
    fn only_misses_of_passing_tests_count() {
        let found = of(&[passed("a"), fixture::missing("b", "Output contains 'total'")]);
        assert_eq!(found.sentence().unwrap(), "1 missed check in a passing test");
        assert_eq!(of(&[]).sentence(), None);
        assert_eq!(of(&[passed("a"), passed("b")]).checks, 2);
    }

    #[test]
    fn members_speak_for_their_composite() {
        let mut row = passed("a");
        let mut composite = fixture::graded("c", "composite", 0.5);
        let members = row.evaluator_results.clone();
        composite.misses = members[0].misses.clone();
        composite.evaluator_results = Some(members);
        row.evaluator_results = vec![composite];
        let found = of(&[row]);
        assert_eq!(found.checks, 1);
        assert_eq!(found.tests().next().unwrap().1.first.name, "c › contains");
    }

    #[test]
    fn whatever_the_order_the_first_tests_are_kept() {
        let rows: Vec<_> = (0..50).rev().map(|n| passed(&format!("t{n:02}"))).collect();
        let found = of(&rows);
        assert_eq!((found.checks, found.left_out()), (50, 30));
        assert_eq!(found.tests().next().unwrap().0.test, "t00");
    }
}
