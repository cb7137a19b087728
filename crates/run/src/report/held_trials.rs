//! Trials that did not pass, of tests that need not pass in every trial (spec 8.4). Only the last row
//! tells what they are: failures of a test that failed, or notes about one that passed.

use std::collections::BTreeMap;

use super::case_finding::{CaseFinding, CaseLabel};
use super::failure_groups::Groups;
use super::label_parts::LabelParts;
use crate::results::{OutcomeCounts, Row, SharedVerdict, TestKey, TestVerdicts};
use crate::text::numbers;

/// Findings that are kept; more are counted only.
const HELD: usize = 2_000;

#[derive(Debug, Default)]
pub struct HeldTrials {
    tests: BTreeMap<TestKey, Vec<CaseFinding>>,
    held: usize,
}

/// A test whose trials disagree, or all failed, and what it comes to.
#[derive(Debug, Clone)]
pub struct TestByShare {
    /// Of its first trial that did not pass.
    pub label: CaseLabel,
    pub verdict: SharedVerdict,
    first_miss: String,
}

#[derive(Debug, Default)]
pub struct SettledTrials {
    /// Of tests that failed.
    pub failures: Vec<CaseFinding>,
    /// Failures that were not kept.
    pub left_out: OutcomeCounts,
    /// Of tests that passed.
    pub notes: Vec<CaseFinding>,
    /// Failed ones first.
    pub tests: Vec<TestByShare>,
}

impl HeldTrials {
    /// Holds a trial that the others of its test can outweigh; any other one is a failure at once.
    pub fn sort(&mut self, row: &Row, verdicts: &TestVerdicts) -> Option<CaseFinding> {
        let Some(test) = verdicts.test_of_miss(row) else {
            return Some(CaseFinding::of(row));
        };
        if self.held < HELD {
            self.held += 1;
            self.tests.entry(test).or_default().push(CaseFinding::of(row));
        }
        None
    }

    pub fn settle(&mut self, verdicts: &TestVerdicts) -> SettledTrials {
        let mut settled = SettledTrials::default();
        for (test, verdict) in verdicts.all().filter(|(_, verdict)| verdict.missed.total() > 0) {
            let mut findings = self.tests.remove(test).unwrap_or_default();
            findings.sort_by(|a, b| a.label.cmp(&b.label));
            if let Some(first) = findings.first() {
                settled.tests.push(TestByShare {
                    label: first.label.clone(),
                    verdict: *verdict,
                    first_miss: first.first_miss(),
                });
            }
            if verdict.is_pass() {
                settled.notes.extend(findings);
                continue;
            }
            let mut left_out = verdict.missed;
            findings.iter().for_each(|finding| left_out.remove(finding.outcome));
            settled.left_out.add_all(&left_out);
            settled.failures.extend(findings);
        }
        let key = |test: &TestByShare| (test.verdict.is_pass(), test.label.clone());
        settled.tests.sort_by_cached_key(key);
        settled
    }
}

impl SettledTrials {
    /// The tests that were decided by their trials; their failures are with the others.
    pub fn add_to(self, groups: &mut Groups) -> Vec<TestByShare> {
        self.failures.into_iter().for_each(|finding| groups.add(finding));
        groups.leave_out(&self.left_out);
        self.tests
    }
}

impl TestByShare {
    /// `pos passes: 2 of 4 trials passed, needs 50 %; missed: …`, in two parts.
    pub fn parts(&self, label_parts: LabelParts) -> (String, String) {
        let label_parts = LabelParts { trials: false, ..label_parts };
        let mut text = sentence(&self.verdict);
        if self.verdict.is_pass() {
            text.push_str(&format!("; missed: {}", self.first_miss));
        }
        (label_parts.name(&self.label), text)
    }
}

/// `passes: 2 of 4 trials passed, needs 50 %`.
pub fn sentence(verdict: &SharedVerdict) -> String {
    let word = if verdict.is_pass() { "passes" } else { "fails" };
    let needs = numbers::rounded((verdict.needs.share * 1e3).round() / 10.0);
    let above = if verdict.needs.above { "more than " } else { "" };
    format!(
        "{word}: {} of {} passed, needs {above}{needs} %",
        numbers::count(verdict.passes),
        numbers::counted(verdict.verdicts, "trial", "trials"),
    )
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::fixture;
    use super::*;
    use crate::results::ExitRule;

    fn settled(rows: &[Row]) -> (Groups, Vec<String>) {
        let mut verdicts = TestVerdicts::new(ExitRule::default());
        let (mut held, mut groups) = (HeldTrials::default(), Groups::default());
        for row in rows {
            verdicts.add(row);
            if row.outcome != Outcome::Passed {
                assert!(held.sort(row, &verdicts).is_none());
            }
        }
        let told = held.settle(&verdicts).add_to(&mut groups);
        let texts =
            told.iter().map(|test| format!("{} {}", test.label.test, sentence(&test.verdict)));
        (groups, texts.collect())
    }

    #[test]
    fn failures_of_a_test_that_passes_are_notes() {
        let rows = [fixture::by_share("pos", "fpfp"), fixture::by_share("neg", "pfff")].concat();
        let (groups, told) = settled(&rows);
        assert_eq!(
            told,
            [
                "neg fails: 1 of 4 trials passed, needs 50 %",
                "pos passes: 2 of 4 trials passed, needs 50 %"
            ]
        );
        let [group] = groups.in_order()[..] else {
            panic!("{groups:?}");
        };
        assert_eq!((group.shown[0].label.test.as_str(), group.size()), ("neg", 3));
    }

    #[test]
    fn trials_that_are_not_kept_are_counted() {
        let failed = |n: usize| fixture::by_share(&format!("t{n}"), "f");
        let rows: Vec<Row> = (0..HELD + 10).flat_map(failed).collect();
        let (groups, told) = settled(&rows);
        assert_eq!(told.len(), HELD);
        let shown: u64 = groups.in_order().iter().map(|group| group.size()).sum();
        assert_eq!(shown + groups.left_out().total(), rows.len() as u64);
    }
}
