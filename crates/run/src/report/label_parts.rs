//! Which parts of a label are needed to make cases distinct: suite, target, trial.

use super::case_finding::CaseLabel;
use super::failure_groups::Group;
use super::tally::Tally;
use crate::text::numbers;

/// Which parts of a label tell cases apart.
#[derive(Debug, Clone, Copy)]
pub struct LabelParts {
    pub suites: bool,
    pub targets: bool,
    pub trials: bool,
}

impl LabelParts {
    pub fn of(tally: &Tally) -> Self {
        Self {
            suites: tally.suites.len() > 1,
            targets: tally.targets.len() > 1,
            trials: tally.trials > 1,
        }
    }

    /// What comes after the test's id.
    pub fn parts(self, label: &CaseLabel) -> Vec<String> {
        let mut parts = Vec::new();
        if self.suites {
            parts.push(label.suite.clone());
        }
        if self.targets {
            parts.push(label.target.clone());
        }
        if self.trials {
            parts.push(format!("trial {}", label.trial));
        }
        parts
    }

    pub fn name(self, label: &CaseLabel) -> String {
        let mut parts = vec![label.title()];
        parts.extend(self.parts(label));
        parts.join(" · ")
    }

    /// What tells `other` from `label`, the case that it is named under.
    fn difference(self, other: &CaseLabel, label: &CaseLabel) -> String {
        let same_test = (&other.suite, &other.test) == (&label.suite, &label.test);
        let mut parts = Vec::new();
        if !same_test {
            parts.push(other.test.clone());
        }
        if self.suites && other.suite != label.suite {
            parts.push(format!("({})", other.suite));
        }
        if self.targets && (!same_test || other.target != label.target) {
            parts.push(other.target.clone());
        }
        if self.trials {
            parts.push(format!("trial {}", other.trial));
        }
        parts.join(" ")
    }

    /// `the same in 4 more: trial 2, trial 3, …`, to be written under the last case that is shown.
    pub fn others(self, group: &Group) -> Option<String> {
        let label = match group.shown.last() {
            Some(last) if group.others > 0 => &last.label,
            _ => return None,
        };
        let names: Vec<_> = group.named.iter().map(|other| self.difference(other, label)).collect();
        let more = if group.others > names.len() as u64 { ", …" } else { "" };
        let count = numbers::count(group.others);
        Some(format!("the same in {count} more: {}{more}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::case_finding::CaseFinding;
    use super::super::failure_groups::Groups;
    use super::super::fixture;
    use super::*;

    #[test]
    fn trials_of_another_test_are_named_with_that_test() {
        let (mut tally, mut groups) = (Tally::default(), Groups::default());
        for (test, trial) in [("order-1", 1), ("order-1", 2), ("order-1", 3), ("order-2", 2)] {
            let mut row = fixture::missing(test, "Output is JSON");
            row.trial = trial;
            tally.add(&row);
            groups.add(CaseFinding::of(&row));
        }
        let [group] = groups.in_order()[..] else {
            panic!("{groups:?}");
        };
        assert_eq!(group.shown.last().unwrap().label.test, "order-2");
        assert_eq!(
            LabelParts::of(&tally).others(group).unwrap(),
            "the same in 2 more: order-1 trial 2, order-1 trial 3"
        );
    }

    #[test]
    fn tests_of_other_suites_are_named_with_their_suite() {
        let (mut tally, mut groups) = (Tally::default(), Groups::default());
        for suite in ["billing", "desk", "orders"] {
            let mut row = fixture::missing("hours", "Output is JSON");
            row.dataset = suite.to_owned();
            tally.add(&row);
            groups.add(CaseFinding::of(&row));
        }
        let [group] = groups.in_order()[..] else {
            panic!("{groups:?}");
        };
        let others = LabelParts::of(&tally).others(group);
        assert_eq!(others.unwrap(), "the same in 1 more: hours (orders)");
    }

    #[test]
    fn a_name_has_only_the_parts_that_differ() {
        let mut tally = Tally::default();
        let row = fixture::row("a", Outcome::Passed, Some(1.0));
        tally.add(&row);
        assert_eq!(LabelParts::of(&tally).name(&CaseLabel::of(&row)), "a");
        let mut other = row.clone();
        other.target = "gpt".to_owned();
        tally.add(&other);
        assert_eq!(LabelParts::of(&tally).name(&CaseLabel::of(&other)), "a · gpt");
        other.trial = 2;
        tally.add(&other);
        assert_eq!(LabelParts::of(&tally).name(&CaseLabel::of(&other)), "a · gpt · trial 2");
    }
}
