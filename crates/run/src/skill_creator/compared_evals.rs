//! Which evals count in the figures of a benchmark. Arms are compared on the same evals, or the difference
//! of their means would be one of evals.

use std::collections::{BTreeMap, BTreeSet};

use super::expectation::expectations_of;
use crate::results::Row;

/// Evals that are named in a note; the rest is counted.
const NAMED: usize = 20;

/// Target and arm.
type Side = (String, Option<String>);

/// The evals of a suite, with what is measured of each.
#[derive(Debug, Default)]
pub(super) struct ComparedEvals {
    sides: BTreeSet<Side>,
    evals: BTreeMap<String, EvalCoverage>,
}

#[derive(Debug, Default)]
struct EvalCoverage {
    targets: BTreeSet<String>,
    /// Where at least one run has a verdict.
    measured: BTreeSet<Side>,
    is_contract: bool,
}

/// Why an eval does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exclusion {
    /// It demands nothing but that a skill is left alone.
    Contract,
    /// It has no verdict in some arm.
    OneSided,
}

impl Exclusion {
    const ALL: [Self; 2] = [Self::Contract, Self::OneSided];

    fn reason(self) -> &'static str {
        match self {
            Self::Contract => "only demand that the skill is left alone (`should_trigger: false`)",
            Self::OneSided => "do not have a verdict in every arm",
        }
    }
}

impl ComparedEvals {
    pub(super) fn survey(&mut self, row: &Row) {
        let side = (row.target.clone(), row.arm.clone());
        let eval = self.evals.entry(row.eval_id.clone()).or_default();
        eval.targets.insert(row.target.clone());
        eval.is_contract |= row.skills.as_ref().is_some_and(|skills| skills.contract);
        if expectations_of(row).is_some() {
            eval.measured.insert(side.clone());
        }
        self.sides.insert(side);
    }

    /// Whether an eval counts. Targets are not arms: a suite may have tests for each.
    pub(super) fn counts(&self, eval: &str) -> bool {
        self.evals.get(eval).is_some_and(|eval| self.exclusion(eval).is_none())
    }

    fn exclusion(&self, eval: &EvalCoverage) -> Option<Exclusion> {
        let arms: BTreeSet<&String> =
            self.sides.iter().filter_map(|(_, arm)| arm.as_ref()).collect();
        if arms.len() < 2 {
            return None;
        }
        if eval.is_contract {
            return Some(Exclusion::Contract);
        }
        let mut sides = self.sides.iter().filter(|(target, _)| eval.targets.contains(target));
        let is_whole = sides.all(|side| eval.measured.contains(side));
        (!is_whole).then_some(Exclusion::OneSided)
    }

    /// How many evals do not count.
    pub(super) fn excluded(&self) -> usize {
        self.evals.values().filter(|eval| self.exclusion(eval).is_some()).count()
    }

    /// Which evals do not count, and why.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = |why: Exclusion| {
            let found = self.evals.iter().filter(|(_, eval)| self.exclusion(eval) == Some(why));
            let names: Vec<&str> = found.map(|(name, _)| name.as_str()).collect();
            let mut shown = names[..names.len().min(NAMED)].join(", ");
            if let more @ 1.. = names.len().saturating_sub(NAMED) {
                shown += &format!(" and {more} more");
            }
            let reason = why.reason();
            (!names.is_empty()).then(|| format!("Not compared, because they {reason}: {shown}"))
        };
        Exclusion::ALL.into_iter().filter_map(note).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::row;

    fn of(test: &str, target: &str, arm: &str) -> Row {
        Row { target: target.to_owned(), arm: Some(arm.to_owned()), ..row(test, 1) }
    }

    fn unmeasured(row: Row) -> Row {
        Row { verdict: None, ..row }
    }

    fn counted(rows: &[Row]) -> Vec<&str> {
        let mut found = ComparedEvals::default();
        rows.iter().for_each(|row| found.survey(row));
        let mut names: Vec<&str> = rows.iter().map(|row| row.eval_id.as_str()).collect();
        names.dedup();
        names.into_iter().filter(|name| found.counts(name)).collect()
    }

    #[test]
    fn an_eval_counts_if_every_arm_has_a_verdict() {
        let both = || [of("both", "a", "with"), of("both", "a", "without")];
        let skipped = [of("half", "a", "with"), unmeasured(of("half", "a", "without"))];
        let absent = [of("absent", "a", "with")];
        let rows: Vec<Row> = both().into_iter().chain(skipped).chain(absent).collect();
        assert_eq!(counted(&rows), ["both"]);
        // With one arm there is nothing to compare.
        assert_eq!(counted(&[of("absent", "a", "with")]), ["absent"]);
    }

    #[test]
    fn an_eval_is_asked_of_its_own_targets() {
        let sides =
            |test: &str, target: &str| [of(test, target, "with"), of(test, target, "without")];
        let rows: Vec<Row> = sides("one", "a").into_iter().chain(sides("two", "b")).collect();
        assert_eq!(counted(&rows), ["one", "two"]);
        // An arm may name its target.
        let rows = [of("one", "a", "with"), of("one", "b", "other"), of("two", "b", "other")];
        assert_eq!(counted(&rows), ["one", "two"]);
        let rows = [of("one", "a", "with"), unmeasured(of("one", "b", "other"))];
        assert_eq!(counted(&rows), [""; 0]);
    }

    #[test]
    fn rows_without_arms_all_count() {
        let plain = |test: &str, target: &str| Row { arm: None, ..of(test, target, "") };
        assert_eq!(counted(&[plain("one", "a"), plain("two", "b")]), ["one", "two"]);
    }
}
