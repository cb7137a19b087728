//! The totals of a run with what reports show beside them: counts by suite and target, and how sure
//! the rate and the average are.

use std::collections::BTreeMap;

use evalrig_core::model::Outcome;
use serde_json::{Value, json};

use super::ReportedRun;
use super::arms::{self, ArmTally};
use super::disputes::Disputes;
use super::passed_misses::PassedMisses;
use super::test_sample::Sample;
use super::test_trials::TestTrials;
use crate::results::{
    CaseCounts, ExitRule, OutcomeCounts, Row, RunTotals, SCHEMA_VERSION, TestVerdicts,
};

/// At most this many targets or suites are counted separately.
const TOLD_APART: usize = 50;

#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Over all rows.
    pub totals: RunTotals,
    /// Of the cases that decide: without the baseline arm, which shows what the others are worth.
    pub deciding: RunTotals,
    pub suites: BTreeMap<String, OutcomeCounts>,
    pub targets: BTreeMap<String, OutcomeCounts>,
    /// The highest number of a trial.
    pub trials: u32,
    /// How many cases are in the run log, and the first record there.
    pub logged: u64,
    pub record: Option<String>,
    /// Which tests pass always, never, or now and then.
    pub tests: TestTrials,
    /// Of tests some of whose trials may fail.
    pub verdicts: TestVerdicts,
    /// How sure the rate and the average are.
    pub sample: Sample,
    pub suite_samples: BTreeMap<String, Sample>,
    pub target_samples: BTreeMap<String, Sample>,
    pub arms: ArmTally,
    /// Where the votes of judges differ.
    pub disputes: Disputes,
    /// Checks that were missed in tests that passed.
    pub passed_misses: PassedMisses,
}

impl Tally {
    pub fn new(rule: ExitRule) -> Self {
        Self { verdicts: TestVerdicts::new(rule), ..Self::default() }
    }

    pub fn add(&mut self, row: &Row) {
        self.totals.add(row);
        self.trials = self.trials.max(row.trial);
        count_apart(&mut self.targets, &row.variant(), row.outcome);
        sample_apart(&mut self.target_samples, &row.variant(), row);
        self.arms.add(row);
        self.disputes.add(row);
        if let Some(record) = &row.record {
            self.logged += 1;
            self.record.get_or_insert_with(|| record.file.clone());
        }
        if row.baseline_arm {
            return;
        }
        self.deciding.add(row);
        self.passed_misses.add(row);
        count_apart(&mut self.suites, &row.dataset, row.outcome);
        self.tests.add(row);
        self.verdicts.add(row);
        self.sample.add(row);
        sample_apart(&mut self.suite_samples, &row.dataset, row);
    }

    /// A row is a case; where every test has one case, people call it a test.
    pub fn nouns(&self) -> (&'static str, &'static str) {
        if self.trials > 1 || self.targets.len() > 1 {
            ("case", "cases")
        } else {
            ("test", "tests")
        }
    }

    /// The numbers of spec 11.3 over all suites, for runs without that document.
    pub fn document(&self, end: &ReportedRun) -> Value {
        let totals = &self.totals;
        let mut document = json!({
            "schemaVersion": SCHEMA_VERSION,
            "suite": one_or_list(self.suites.keys().chain(&end.suites)),
            "target": one_or_list(self.targets.keys()),
            "summary": CaseCounts::from(totals),
            "tokens": totals.tokens(),
            "costUsd": totals.cost_usd(),
            "judgeUsage": totals.judge_usage(),
            "durationMs": end.duration_ms,
            "exitCode": end.exit_code,
        });
        let arms = self.arms.findings(end.rounds.as_ref(), &end.arm_options);
        if !arms.is_empty() {
            document["arms"] = arms::json(&arms);
        }
        if totals.reused > 0 {
            document["cachedAnswers"] = totals.reused.into();
        }
        document
    }
}

fn count_apart(map: &mut BTreeMap<String, OutcomeCounts>, name: &str, outcome: Outcome) {
    if let Some(counts) = map.get_mut(name) {
        counts.add(outcome);
    } else if map.len() < TOLD_APART {
        let mut counts = OutcomeCounts::default();
        counts.add(outcome);
        map.insert(name.to_owned(), counts);
    }
}

fn sample_apart(map: &mut BTreeMap<String, Sample>, name: &str, row: &Row) {
    if let Some(sample) = map.get_mut(name) {
        sample.add(row);
    } else if map.len() < TOLD_APART {
        let mut sample = Sample::default();
        sample.add(row);
        map.insert(name.to_owned(), sample);
    }
}

fn one_or_list<'a>(names: impl Iterator<Item = &'a String>) -> Value {
    let mut list: Vec<&str> = Vec::new();
    for name in names {
        if !list.contains(&name.as_str()) {
            list.push(name);
        }
    }
    match list[..] {
        [] => Value::Null,
        [one] => json!(one),
        _ => json!(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_nulls_for_what_is_unknown() {
        let document = Tally::default().document(&ReportedRun::default());
        for pointer in ["/summary/passRate", "/summary/averageScore", "/judgeUsage"] {
            assert_eq!(document.pointer(pointer), Some(&Value::Null), "{pointer}");
        }
    }
}
