//! Cases that did not pass, gathered by cause. Whatever the order in which rows come, the same
//! ones are shown, and however many come, only few are kept.

use std::collections::HashMap;

use evalrig_core::model::Outcome;

use super::case_finding::{CaseFinding, CaseLabel};
use crate::results::OutcomeCounts;

/// Of one outcome; causes beyond are counted only.
const CAUSES: usize = 100;
/// Others of a group that are named.
const NAMED: usize = 4;

#[derive(Debug)]
pub struct Group {
    pub outcome: Outcome,
    /// In order, never empty.
    pub shown: Vec<CaseFinding>,
    /// The first of those that are not shown.
    pub named: Vec<CaseLabel>,
    /// All that are not shown.
    pub others: u64,
}

#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    by_cause: HashMap<String, usize>,
    causes: OutcomeCounts,
    left_out: OutcomeCounts,
}

impl Groups {
    pub fn add(&mut self, finding: CaseFinding) {
        let cause = finding.cause();
        if let Some(&at) = self.by_cause.get(&cause) {
            self.groups[at].add(finding);
            return;
        }
        if self.causes.of(finding.outcome) >= CAUSES as u64 {
            self.left_out.add(finding.outcome);
            return;
        }
        self.causes.add(finding.outcome);
        self.by_cause.insert(cause, self.groups.len());
        self.groups.push(Group {
            outcome: finding.outcome,
            shown: vec![finding],
            named: Vec::new(),
            others: 0,
        });
    }

    /// Counts cases that were not kept.
    pub fn leave_out(&mut self, counts: &OutcomeCounts) {
        self.left_out.add_all(counts);
    }

    /// Failed, borderline, errored; each in the order of the suites.
    pub fn in_order(&self) -> Vec<&Group> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        let key = |group: &Group| (rank(group.outcome), group.shown[0].label.clone());
        groups.sort_by_cached_key(|group| key(group));
        groups
    }

    /// Cases with causes of their own that were too many to keep.
    pub fn left_out(&self) -> &OutcomeCounts {
        &self.left_out
    }
}

impl Group {
    /// Two different tests make a failure clear; an error has said it all with the first.
    fn room(&self) -> usize {
        match self.outcome {
            Outcome::Errored => 1,
            _ => 2,
        }
    }

    pub fn size(&self) -> u64 {
        self.shown.len() as u64 + self.others
    }

    fn add(&mut self, finding: CaseFinding) {
        let same_test = |other: &CaseFinding| {
            (&other.label.suite, &other.label.test) == (&finding.label.suite, &finding.label.test)
        };
        // Another trial of a test that is shown says nothing new; the earlier one stays.
        if let Some(at) = self.shown.iter().position(same_test) {
            let later = if finding.label < self.shown[at].label {
                std::mem::replace(&mut self.shown[at], finding)
            } else {
                finding
            };
            self.set_aside(later.label);
        } else {
            self.shown.push(finding);
        }
        self.shown.sort_by(|a, b| a.label.cmp(&b.label));
        if self.shown.len() > self.room()
            && let Some(last) = self.shown.pop()
        {
            self.set_aside(last.label);
        }
    }

    fn set_aside(&mut self, label: CaseLabel) {
        self.others += 1;
        let at = self.named.partition_point(|other| *other < label);
        self.named.insert(at, label);
        self.named.truncate(NAMED);
    }
}

fn rank(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Failed => 0,
        Outcome::Borderline => 1,
        Outcome::Errored => 2,
        Outcome::Skipped | Outcome::Passed => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::results::Row;

    fn groups(rows: impl Iterator<Item = Row>) -> Groups {
        let mut groups = Groups::default();
        rows.for_each(|row| groups.add(CaseFinding::of(&row)));
        groups
    }

    fn errored(number: u32) -> Row {
        let mut row = fixture::row(&format!("t{number}"), Outcome::Errored, None);
        row.source.line = number;
        row.error = Some(fixture::fault("target", "network", "connection refused"));
        row
    }

    #[test]
    fn one_cause_is_told_once_whatever_the_order() {
        for step in [1, 3, 7] {
            let rows = (0..500).map(|n| errored(n * step % 500 + 1));
            let groups = groups(rows);
            let [group] = groups.in_order()[..] else {
                panic!("{groups:?}");
            };
            assert_eq!(group.shown[0].label.test, "t1");
            let named: Vec<_> = group.named.iter().map(|label| &label.test[..]).collect();
            assert_eq!(named, ["t2", "t3", "t4", "t5"]);
            assert_eq!(group.others, 499);
        }
    }

    #[test]
    fn trials_of_one_test_are_told_once() {
        let rows = [3, 1, 2].map(|trial| {
            let mut row = fixture::missing("a", "Output contains 'x'");
            row.trial = trial;
            row
        });
        let groups = groups(rows.into_iter());
        let [group] = groups.in_order()[..] else {
            panic!("{groups:?}");
        };
        assert_eq!(group.shown.len(), 1);
        assert_eq!(group.shown[0].label.trial, 1);
        assert_eq!(group.others, 2);
    }

    #[test]
    fn causes_are_bounded() {
        let rows = (0..5_000).map(|n| fixture::missing(&format!("t{n}"), &format!("miss {n}")));
        let groups = groups(rows);
        assert_eq!(groups.in_order().len(), CAUSES);
        assert_eq!(groups.left_out().of(Outcome::Failed), 4_900);
    }
}
