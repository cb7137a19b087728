//! The answers of one test in both runs: one that shows why the test changed, beside one of before.

use evalrig_core::compare::{Comparison, TestChange};
use evalrig_core::model::Outcome;

use crate::results::Row;

/// Texts that are compared word by word are cut here; more would not be read.
const LONGEST: usize = 4_000;

/// One answer of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredAnswer {
    pub trial: u32,
    pub outcome: Outcome,
    pub question: Option<String>,
    pub answer: Option<String>,
    /// Calls in order; `None` where they are not known.
    pub tools: Option<Vec<String>>,
}

impl StoredAnswer {
    fn of(row: &Row) -> Self {
        let cut = |text: &str| text.chars().take(LONGEST).collect::<String>();
        Self {
            trial: row.trial,
            outcome: row.outcome,
            question: row.question().map(|text| cut(&text)),
            answer: row.candidate_answer.as_deref().map(cut),
            tools: row.trace_summary.tool_names.clone(),
        }
    }
}

/// The answers of a test that are shown side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerPair {
    pub test: TestChange,
    pub base: Option<StoredAnswer>,
    pub candidate: Option<StoredAnswer>,
}

impl AnswerPair {
    /// The first call that differs: its number from 1, and what was called there before and now.
    pub fn divergence(&self) -> Option<(usize, Option<&str>, Option<&str>)> {
        let before = self.base.as_ref()?.tools.as_deref()?;
        let now = self.candidate.as_ref()?.tools.as_deref()?;
        let longest = before.len().max(now.len());
        let at = (0..longest).find(|at| before.get(*at) != now.get(*at))?;
        Some((at + 1, before.get(at).map(String::as_str), now.get(at).map(String::as_str)))
    }
}

/// Collects the answers of some tests from the rows of both runs.
#[derive(Debug)]
pub struct AnswerPairs {
    pairs: Vec<AnswerPair>,
    has_suites: bool,
    has_targets: bool,
    left_out_arms: Vec<String>,
    /// Empty: all that are compared.
    only_arms: Vec<String>,
}

impl AnswerPairs {
    pub fn of<'a>(
        comparison: &Comparison,
        tests: impl IntoIterator<Item = &'a TestChange>,
    ) -> Self {
        let pair =
            |test: &TestChange| AnswerPair { test: test.clone(), base: None, candidate: None };
        Self {
            pairs: tests.into_iter().map(pair).collect(),
            has_suites: comparison.has_suites(),
            has_targets: comparison.has_targets(),
            left_out_arms: comparison.left_out_arms.clone(),
            only_arms: Vec::new(),
        }
    }

    /// Of cases with an arm, takes those of these arms; without a name, those of all that are compared.
    pub fn only_arms(self, names: &[String]) -> Self {
        Self { only_arms: names.to_vec(), ..self }
    }

    fn takes_arm_of(&self, row: &Row) -> bool {
        row.arm.as_ref().is_none_or(|arm| {
            let is_named = self.only_arms.is_empty() || self.only_arms.contains(arm);
            is_named && !self.left_out_arms.contains(arm)
        })
    }

    pub fn add_base(&mut self, row: &Row) {
        self.add(row, |pair| (&mut pair.base, pair.test.drop().unwrap_or(0.0) >= 0.0));
    }

    pub fn add_candidate(&mut self, row: &Row) {
        self.add(row, |pair| (&mut pair.candidate, pair.test.drop().unwrap_or(0.0) < 0.0));
    }

    /// Keeps the first answer of the wanted kind: where the test passes more often, one that passed.
    fn add(&mut self, row: &Row, side: fn(&mut AnswerPair) -> (&mut Option<StoredAnswer>, bool)) {
        if !self.takes_arm_of(row) {
            return;
        }
        let (has_suites, has_targets) = (self.has_suites, self.has_targets);
        let is_of = |test: &TestChange| {
            test.test == row.eval_id
                && (!has_suites || test.suite == row.dataset)
                && (!has_targets || test.target == row.variant())
        };
        for pair in self.pairs.iter_mut().filter(|pair| is_of(&pair.test)) {
            let (kept, wants_pass) = side(pair);
            let fits = |outcome: Outcome| (outcome == Outcome::Passed) == wants_pass;
            let is_better = match kept {
                None => true,
                Some(kept) => !fits(kept.outcome) && fits(row.outcome),
            };
            if is_better {
                *kept = Some(StoredAnswer::of(row));
            }
        }
    }

    pub fn finish(self) -> Vec<AnswerPair> {
        self.pairs
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::super::testing::{beside, trials};
    use super::*;

    fn row(trial: u32, outcome: Outcome, answer: &str, tools: &[&str]) -> Row {
        let mut row = fixture::row("a", outcome, None);
        row.trial = trial;
        row.candidate_answer = Some(answer.to_owned());
        row.trace_summary.tool_names = Some(tools.iter().map(|t| (*t).to_owned()).collect());
        row
    }

    fn pair(passes: [u32; 2], base: &[Row], candidate: &[Row]) -> AnswerPair {
        let found = beside(&trials("a", passes[0]), &trials("a", passes[1])).comparison;
        let mut pairs = AnswerPairs::of(&found, &found.tests);
        base.iter().for_each(|row| pairs.add_base(row));
        candidate.iter().for_each(|row| pairs.add_candidate(row));
        pairs.finish().remove(0)
    }

    #[test]
    fn a_pass_is_shown_beside_a_failure() {
        let rows = [
            row(1, Outcome::Failed, "wrong", &["read"]),
            row(2, Outcome::Passed, "right", &["read", "sum"]),
        ];
        let texts = |pair: AnswerPair| {
            [pair.base, pair.candidate].map(|side| side.unwrap().answer.unwrap())
        };
        assert_eq!(texts(pair([5, 0], &rows, &rows)), ["right", "wrong"]);
        assert_eq!(texts(pair([0, 5], &rows, &rows)), ["wrong", "right"]);
    }

    #[test]
    fn answers_of_arms_that_are_not_compared_are_not_shown() {
        let found = beside(&trials("a", 5), &trials("a", 0)).comparison;
        let answer = |left_out: &[&str], only: &[&str]| {
            let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let mut found = found.clone();
            found.left_out_arms = texts(left_out);
            let only: Vec<String> = texts(only);
            let mut pairs = AnswerPairs::of(&found, &found.tests).only_arms(&only);
            for arm in ["without", "with"] {
                let mut row = row(1, Outcome::Passed, arm, &[]);
                row.arm = Some(arm.to_owned());
                pairs.add_base(&row);
            }
            pairs.finish().remove(0).base.unwrap().answer.unwrap()
        };
        assert_eq!(answer(&["without"], &[]), "with");
        assert_eq!(answer(&[], &["with"]), "with");
        assert_eq!(answer(&[], &[]), "without");
    }

    #[test]
    fn calls_are_compared_up_to_the_first_that_differs() {
        let base = [row(1, Outcome::Passed, "", &["read", "sum", "write"])];
        let now = [row(1, Outcome::Failed, "", &["read", "write"])];
        let found = pair([5, 0], &base, &now);
        assert_eq!(found.divergence(), Some((2, Some("sum"), Some("write"))));
        let shorter = [row(1, Outcome::Failed, "", &["read", "sum"])];
        assert_eq!(pair([5, 0], &base, &shorter).divergence(), Some((3, Some("write"), None)));
        assert_eq!(pair([5, 0], &base, &base).divergence(), None);
    }
}
