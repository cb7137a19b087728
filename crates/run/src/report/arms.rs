//! The arms of a run side by side (spec 19.3, 19.4): how often each passes, what it uses, how it differs
//! from the baseline arm, and which skills are used in place of others.

mod json;
mod phrase;
mod skill_matrix;

use std::collections::{BTreeMap, BTreeSet};

use evalrig_core::compare::{CompareOptions, ComparedCase, Comparison, ComparisonVerdict, compare};
use evalrig_core::model::Outcome;
use evalrig_core::stats::Interval;

use super::rounds::ReportedRounds;
use super::test_sample::Sample;
use crate::results::{ComparedRounds, LookRecord, OutcomeCounts, PartialSum, Row, variant_name};

pub use json::json;
pub use phrase::{contracts, contrast, contrast_in_table, counts, skill_lines, usage};
pub use skill_matrix::{SkillCell, SkillMatrix};

/// At most this many arms are kept apart.
const MOST_ARMS: usize = 50;

/// Gets every row. Rows without an arm are ignored.
#[derive(Debug, Clone, Default)]
pub struct ArmTally {
    arms: BTreeMap<String, ArmCases>,
    /// The baseline arm of each suite.
    baselines: BTreeMap<String, String>,
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
    /// Whether a judge was asked.
    pub has_judges: bool,
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
    /// The same for people.
    pub shown_interval: Option<Interval>,
    pub usage: ArmUsage,
    /// Tests that demand nothing but that skills are left alone.
    pub contracts: OutcomeCounts,
    /// Against the baseline arm; `None` for the baseline arm, and without one.
    pub contrast: Option<Comparison>,
    /// The arms that it is compared with: each suite has its own baseline arm.
    pub bases: Vec<String>,
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
        if row.baseline_arm && !self.baselines.contains_key(&row.dataset) {
            self.baselines.insert(row.dataset.clone(), name.clone());
        }
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
        let case = row.case_without_arm();
        if case.is_measured() {
            arm.usage.cost.add(case.cost);
            arm.usage.has_judges |= row.judge_usage.as_ref().is_some_and(|usage| usage.calls > 0);
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

    /// The arms, the baseline first; empty if there are fewer than two. Of a run in rounds, the
    /// verdicts are those of the last looks.
    pub fn findings(
        &self,
        rounds: Option<&ReportedRounds>,
        options: &CompareOptions,
    ) -> Vec<ArmFinding> {
        if self.arms.len() < 2 {
            return Vec::new();
        }
        let planned = rounds.and_then(|rounds| rounds.settings.plan());
        let options = match planned {
            Some(plan) => {
                CompareOptions { margin: plan.margin, measure: plan.measure, seed: options.seed }
            }
            None => *options,
        };
        let mut found: Vec<ArmFinding> = self
            .arms
            .iter()
            .map(|(name, arm)| {
                let looks = rounds.and_then(|rounds| self.looks_of(name, rounds));
                let contrast = match looks {
                    Some(looks) => self.up_to(looks.len() as u32).contrast_of(name, &options),
                    None => self.contrast(name, arm, &options),
                };
                (name, arm, contrast.map(|found| with_look(found, looks)))
            })
            .map(|(name, arm, contrast)| ArmFinding {
                name: name.clone(),
                // An arm may be the baseline of one suite and not of another.
                is_baseline: arm.is_baseline && contrast.is_none(),
                counts: arm.counts,
                interval: arm.sample.rate(),
                shown_interval: arm.sample.shown_rate(),
                usage: arm.usage,
                contracts: arm.contracts,
                bases: if contrast.is_some() { self.bases_of(name, arm) } else { Vec::new() },
                contrast,
                skills: arm.skills.clone(),
            })
            .collect();
        found.sort_by_key(|arm| !arm.is_baseline);
        found
    }

    /// The baseline arms of the suites that an arm runs in.
    fn bases_of(&self, name: &str, arm: &ArmCases) -> Vec<String> {
        let suites = arm.cases.iter().map(|case| case.suite.as_str());
        let bases = suites.filter_map(|suite| self.baselines.get(suite));
        let mut bases: BTreeSet<&String> = bases.collect();
        if bases.is_empty() {
            bases.extend(self.baselines.values());
        }
        bases.into_iter().filter(|base| *base != name).cloned().collect()
    }

    /// The looks at an arm. `None` if another arm was the baseline of the rounds.
    fn looks_of<'r>(&self, name: &str, rounds: &'r ReportedRounds) -> Option<&'r [LookRecord]> {
        let is_of = |compared: &&ComparedRounds, arm: &str| compared.arm.as_deref() == Some(arm);
        let mut all = rounds.record.comparisons.iter();
        let is_compared =
            |base: &String| rounds.record.comparisons.iter().any(|compared| is_of(&compared, base));
        let found = all.find(|compared| is_of(compared, name))?;
        let is_other_baseline = self.baselines.values().any(is_compared);
        (!is_other_baseline && !found.looks.is_empty()).then_some(&found.looks)
    }

    /// With the trials that looks have seen.
    fn up_to(&self, last: u32) -> Self {
        let seen = |arm: &ArmCases| -> ArmCases {
            let cases = arm.cases.iter().filter(|case| case.trial <= last);
            ArmCases { is_baseline: arm.is_baseline, ..ArmCases::of(cases.cloned().collect()) }
        };
        let arms = self.arms.iter().map(|(name, arm)| (name.clone(), seen(arm)));
        Self { arms: arms.collect(), baselines: self.baselines.clone() }
    }

    fn contrast_of(&self, name: &str, options: &CompareOptions) -> Option<Comparison> {
        self.contrast(name, self.arms.get(name)?, options)
    }

    /// The cases of each suite beside those of its baseline arm.
    fn contrast(&self, name: &str, arm: &ArmCases, options: &CompareOptions) -> Option<Comparison> {
        let mut names = self.baselines.values();
        let first = names.next()?;
        if names.all(|other| other == first) {
            let is_other = first != name;
            return self.arms.get(first).filter(|_| is_other).map(|base| base.beside(arm, options));
        }
        let base_of = |case: &ComparedCase| self.baselines.get(&case.suite).map(String::as_str);
        let own = arm.cases.iter().filter(|case| base_of(case).is_some_and(|base| base != name));
        let own = ArmCases::of(own.cloned().collect());
        let suites: BTreeSet<&str> = own.cases.iter().map(|case| case.suite.as_str()).collect();
        let bases = self.arms.iter().flat_map(|(base, arm)| {
            let is_base = move |case: &&ComparedCase| base_of(case) == Some(base.as_str());
            arm.cases.iter().filter(is_base)
        });
        let bases = bases.filter(|case| suites.contains(case.suite.as_str()));
        let bases = ArmCases::of(bases.cloned().collect());
        (!own.cases.is_empty()).then(|| bases.beside(&own, options))
    }
}

/// What the last look found, in place of a comparison without looks.
fn with_look(mut found: Comparison, looks: Option<&[LookRecord]>) -> Comparison {
    if let (Some(suite), Some(look)) = (&mut found.suite, looks.and_then(<[LookRecord]>::last)) {
        let judged = &mut suite.judged;
        let verdict = ComparisonVerdict::parse(&look.verdict);
        judged.verdict = verdict.unwrap_or(ComparisonVerdict::Inconclusive);
        judged.interval = Interval {
            low: look.low.unwrap_or(judged.interval.low),
            high: look.high.unwrap_or(judged.interval.high),
        };
        judged.p = look.p.unwrap_or(judged.p);
    }
    found
}

impl ArmCases {
    /// Of a comparison only.
    fn of(cases: Vec<ComparedCase>) -> Self {
        let targets = cases.iter().map(|case| case.target.clone()).collect();
        Self { cases, targets, ..Self::default() }
    }

    fn beside(&self, other: &Self, options: &CompareOptions) -> Comparison {
        if !self.targets.is_disjoint(&other.targets) {
            return compare(&self.cases, &other.cases, options);
        }
        // An arm may be another target.
        let without_target = |arm: &Self| -> Vec<ComparedCase> {
            let cases = arm.cases.iter().cloned();
            cases.map(|case| ComparedCase { target: String::new(), ..case }).collect()
        };
        compare(&without_target(self), &without_target(other), options)
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
        tally.findings(None, &CompareOptions::default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::testing as round_testing;
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

    /// The fixed comparison of all four trials would say that the arm is better.
    #[test]
    fn arms_of_rounds_have_the_verdict_of_their_last_look() {
        let mut rounds = round_testing::rounds(None, ComparisonVerdict::Inconclusive);
        rounds.record.comparisons[0].arm = Some("with".to_owned());
        let mut tally = ArmTally::default();
        rows(20, 1, 4).iter().for_each(|row| tally.add(row));
        let judged = |rounds: &ReportedRounds| {
            tally.findings(Some(rounds), &CompareOptions::default())[1]
                .contrast
                .as_ref()
                .unwrap()
                .suite
                .unwrap()
                .judged
        };
        let found = judged(&rounds);
        assert_eq!(found.verdict, ComparisonVerdict::Inconclusive);
        assert_eq!((found.candidate_trials, found.p), (2.0, 0.41));
        assert_eq!(Some(found.interval.low), rounds.record.comparisons[0].looks[1].low);
        // Compared with another arm than the rounds were.
        rounds.record.comparisons[0].arm = Some("without".to_owned());
        assert_eq!(judged(&rounds).verdict, ComparisonVerdict::Better);
    }

    #[test]
    fn each_suite_is_compared_with_its_own_baseline() {
        let mut rows = rows(20, 1, 4);
        // In another suite, `with` is the baseline of `more`, which is no better.
        for mut row in super::tests::rows(20, 4, 4) {
            row.dataset = "other".to_owned();
            row.baseline_arm = row.arm.as_deref() == Some("with");
            if row.arm.as_deref() == Some("without") {
                row.arm = Some("more".to_owned());
            }
            rows.push(row);
        }
        let found = findings(&rows);
        let delta = |name: &str| {
            let arm = found.iter().find(|arm| arm.name == name).unwrap();
            arm.contrast.as_ref().map(|contrast| contrast.suite.unwrap().judged.delta)
        };
        assert_eq!(delta("without"), None);
        assert!((delta("with").unwrap() - 0.75).abs() < 1e-9);
        assert!(delta("more").unwrap().abs() < 1e-9);
        let said = |name: &str| {
            let arm = found.iter().find(|arm| arm.name == name).unwrap();
            (arm.bases.join(", "), contrast_in_table(arm, &found).unwrap_or_default())
        };
        let (bases, text) = said("more");
        assert_eq!(bases, "with");
        assert!(text.starts_with("against with: "), "{text}");
        assert_eq!(said("with").0, "without");
        assert_eq!(said("without"), Default::default());
        let shown = json(&found);
        let more = shown.as_array().unwrap().iter().find(|arm| arm["arm"] == "more").unwrap();
        assert_eq!(more["comparison"]["base"], "with", "{more}");
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
