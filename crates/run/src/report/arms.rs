//! The arms of a run side by side (spec 19.3, 19.4): how often each passes, what it uses, how it differs
//! from the baseline arm, and which skills are used in place of others.

mod json;
mod phrase;
mod skill_matrix;

use std::collections::{BTreeMap, BTreeSet};

use evalrig_core::compare::{CompareOptions, ComparedCase, Comparison, compare};
use evalrig_core::model::Outcome;
use evalrig_core::stats::Interval;

use super::test_sample::Sample;
use crate::results::{OutcomeCounts, PartialSum, Row, variant_name};

pub use json::json;
pub use phrase::{contracts, contrast, counts, skill_lines, usage};
pub use skill_matrix::{SkillCell, SkillMatrix};

/// At most this many arms are kept apart.
const MOST_ARMS: usize = 50;

/// Gets every row. Rows without an arm are ignored.
#[derive(Debug, Clone, Default)]
pub struct ArmTally {
    arms: BTreeMap<String, ArmCases>,
}

#[derive(Debug, Clone, Default)]
struct ArmCases {
    is_baseline: bool,
    /// Without contracts.
    cases: Vec<ComparedCase>,
    targets: BTreeSet<String>,
    counts: OutcomeCounts,
    sample: Sample,
    usage: ArmUsage,
    contracts: OutcomeCounts,
    skills: SkillMatrix,
}

/// What the measured cases of an arm used, judges included in the cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ArmUsage {
    pub cost: PartialSum,
    pub tokens: PartialSum,
    pub duration_ms: PartialSum,
}

/// One arm.
#[derive(Debug, Clone)]
pub struct ArmFinding {
    pub name: String,
    pub is_baseline: bool,
    /// Of tests that are not contracts.
    pub counts: OutcomeCounts,
    pub interval: Option<Interval>,
    pub usage: ArmUsage,
    /// Tests that demand nothing but that skills are left alone.
    pub contracts: OutcomeCounts,
    /// Against the baseline arm; `None` for the baseline arm, and without one.
    pub contrast: Option<Comparison>,
    pub skills: SkillMatrix,
}

impl ArmTally {
    pub fn add(&mut self, row: &Row) {
        let Some(name) = &row.arm else { return };
        if !self.arms.contains_key(name) && self.arms.len() >= MOST_ARMS {
            return;
        }
        let arm = self.arms.entry(name.clone()).or_default();
        arm.is_baseline |= row.baseline_arm;
        let wishes = row.skills.as_ref();
        if let Some(skills) = wishes {
            arm.skills.add(skills);
        }
        if wishes.is_some_and(|skills| skills.contract) {
            arm.contracts.add(row.outcome);
            return;
        }
        arm.counts.add(row.outcome);
        arm.sample.add(row);
        arm.targets.insert(row.target.clone());
        // The arm is what is compared, so it is no part of the target's name.
        let case = ComparedCase { target: row.target.clone(), ..ComparedCase::from(row) };
        if case.is_measured() {
            arm.usage.cost.add(case.cost);
            arm.usage.tokens.add(case.tokens.map(|count| count as f64));
            arm.usage.duration_ms.add(case.duration_ms.map(|ms| ms as f64));
        }
        arm.cases.push(case);
    }

    /// The names of targets in the baseline arm.
    pub fn baseline_variants(&self) -> Vec<String> {
        let arms = self.arms.iter().filter(|(_, arm)| arm.is_baseline);
        let names = arms.flat_map(|(name, arm)| {
            arm.targets.iter().map(move |target| variant_name(target, Some(name)))
        });
        names.collect()
    }

    /// The arms, the baseline first; empty if there are fewer than two.
    pub fn findings(&self) -> Vec<ArmFinding> {
        if self.arms.len() < 2 {
            return Vec::new();
        }
        let base = self.arms.values().find(|arm| arm.is_baseline);
        let mut found: Vec<ArmFinding> = self
            .arms
            .iter()
            .map(|(name, arm)| ArmFinding {
                name: name.clone(),
                is_baseline: arm.is_baseline,
                counts: arm.counts,
                interval: arm.sample.rate(),
                usage: arm.usage,
                contracts: arm.contracts,
                contrast: base.filter(|_| !arm.is_baseline).map(|base| base.beside(arm)),
                skills: arm.skills.clone(),
            })
            .collect();
        found.sort_by_key(|arm| !arm.is_baseline);
        found
    }
}

impl ArmCases {
    fn beside(&self, other: &Self) -> Comparison {
        let options = CompareOptions::default();
        if !self.targets.is_disjoint(&other.targets) {
            return compare(&self.cases, &other.cases, &options);
        }
        // An arm may be another target.
        let without_target = |arm: &Self| -> Vec<ComparedCase> {
            let cases = arm.cases.iter().cloned();
            cases.map(|case| ComparedCase { target: String::new(), ..case }).collect()
        };
        compare(&without_target(self), &without_target(other), &options)
    }
}

impl ArmFinding {
    /// Contracts that were kept, and those with a verdict.
    pub fn kept_contracts(&self) -> (u64, u64) {
        (self.contracts.of(Outcome::Passed), self.contracts.judged())
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::super::fixture;
    use super::*;
    use crate::results::RowSkills;

    /// A row of an arm; `without` is the baseline.
    pub fn arm_row(arm: &str, test: &str, trial: u32, outcome: Outcome) -> Row {
        let mut row = fixture::row(test, outcome, Some(f64::from(outcome == Outcome::Passed)));
        row.arm = Some(arm.to_owned());
        row.baseline_arm = arm == "without";
        row.trial = trial;
        row
    }

    /// A case of a test that wants these skills, in an arm with three, and those that it used.
    pub fn skill_row(test: &str, wanted: &[&str], used: &[&str]) -> Row {
        let mut row = arm_row("all", test, 1, Outcome::Passed);
        row.skills = Some(RowSkills::testing(&["csv", "csv-pro", "git"], wanted, used));
        row
    }

    pub fn findings(rows: &[Row]) -> Vec<ArmFinding> {
        let mut tally = ArmTally::default();
        rows.iter().for_each(|row| tally.add(row));
        tally.findings()
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::compare::ComparisonVerdict;

    use super::testing::{arm_row, findings};
    use super::*;

    /// Tests with four trials in two arms, of which some pass.
    fn rows(tests: u32, without: u32, with: u32) -> Vec<Row> {
        let mut rows = Vec::new();
        for test in 0..tests {
            for (arm, passes) in [("with", with), ("without", without)] {
                for trial in 1..=4 {
                    let outcome = if trial <= passes { Outcome::Passed } else { Outcome::Failed };
                    rows.push(arm_row(arm, &format!("t{test}"), trial, outcome));
                }
            }
        }
        rows
    }

    #[test]
    fn the_baseline_comes_first_and_others_are_compared_with_it() {
        let found = findings(&rows(20, 1, 4));
        let names: Vec<&str> = found.iter().map(|arm| arm.name.as_str()).collect();
        assert_eq!(names, ["without", "with"]);
        assert!(found[0].contrast.is_none());
        let suite = found[1].contrast.as_ref().unwrap().suite.unwrap();
        assert_eq!(suite.judged.verdict, ComparisonVerdict::Better);
        assert!((suite.judged.delta - 0.75).abs() < 1e-9);
    }

    #[test]
    fn one_arm_alone_is_no_comparison() {
        let rows: Vec<Row> =
            rows(3, 1, 4).into_iter().filter(|row| row.arm.as_deref() == Some("with")).collect();
        assert!(findings(&rows).is_empty());
    }

    #[test]
    fn contracts_do_not_count_in_the_difference() {
        let mut rows = rows(5, 2, 2);
        let before = findings(&rows);
        let mut contract = arm_row("with", "quiet", 1, Outcome::Failed);
        let skills = crate::results::RowSkills { contract: true, ..Default::default() };
        contract.skills = Some(skills);
        rows.push(contract);
        let found = findings(&rows);
        assert_eq!(found[1].contrast, before[1].contrast);
        assert_eq!(found[1].counts, before[1].counts);
        assert_eq!(found[1].kept_contracts(), (0, 1));
    }

    #[test]
    fn an_arm_that_is_another_target_is_compared_by_tests() {
        let mut rows = rows(5, 4, 4);
        for row in rows.iter_mut().filter(|row| !row.baseline_arm) {
            row.target = "other".to_owned();
        }
        assert_eq!(findings(&rows)[1].contrast.as_ref().unwrap().suite.unwrap().tests, 5);
    }
}
