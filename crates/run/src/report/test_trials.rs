//! PassedTrials by test: which tests pass always, never, or now and then. The last ones are *flaky*.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use evalrig_core::model::Outcome;

use super::case_finding::CaseLabel;
use crate::results::Row;
use crate::text::numbers;

/// Flaky tests whose names are kept.
const NAMED: usize = 500;
/// PassedTrials that have a dot of their own.
const DOTS: u32 = 20;

/// A test on one target is one entry, found by the hash of its names: there can be many, and only
/// flaky ones are shown by name.
#[derive(Debug, Clone, Default)]
pub struct TestTrials {
    hasher: RandomState,
    tests: HashMap<u64, PassedTrials>,
    names: BTreeMap<CaseLabel, u64>,
}

/// Of one test: only trials with a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassedTrials {
    pub passes: u32,
    pub all: u32,
}

impl PassedTrials {
    /// Whether trials disagree.
    pub fn is_flaky(self) -> bool {
        self.passes > 0 && self.passes < self.all
    }

    /// `2/5 ●●○○○`.
    pub fn text(self) -> String {
        let counts = format!("{}/{}", self.passes, self.all);
        if self.all > DOTS {
            return counts;
        }
        let dots = |sign: &str, count: u32| sign.repeat(count as usize);
        format!("{counts} {}{}", dots("●", self.passes), dots("○", self.all - self.passes))
    }
}

impl TestTrials {
    pub fn add(&mut self, row: &Row) {
        let is_judged =
            matches!(row.outcome, Outcome::Passed | Outcome::Borderline | Outcome::Failed);
        if !is_judged {
            return;
        }
        let key = self.hasher.hash_one((&row.dataset, &row.eval_id, row.variant().as_ref()));
        let trials = self.tests.entry(key).or_default();
        let was_flaky = trials.is_flaky();
        trials.all += 1;
        trials.passes += u32::from(row.outcome == Outcome::Passed);
        if trials.is_flaky() && !was_flaky && self.names.len() < NAMED {
            self.names.insert(CaseLabel { trial: 0, ..CaseLabel::of(row) }, key);
        }
    }

    /// Flaky tests with the lowest pass rate first, and how many more there are.
    pub fn flaky(&self, most: usize) -> (Vec<(&CaseLabel, PassedTrials)>, u64) {
        let mut found: Vec<(&CaseLabel, PassedTrials)> = self
            .names
            .iter()
            .filter_map(|(label, key)| Some((label, *self.tests.get(key)?)))
            .collect();
        found.sort_by_key(|(_, trials)| (u64::from(trials.passes) << 32) / u64::from(trials.all));
        found.truncate(most);
        let more = self.count(PassedTrials::is_flaky) - found.len() as u64;
        (found, more)
    }

    fn count(&self, fits: impl Fn(PassedTrials) -> bool) -> u64 {
        self.tests.values().filter(|trials| fits(**trials)).count() as u64
    }

    /// `17 of 20 always pass, 2 are flaky, 1 never passes`. `None` unless a test has two trials.
    pub fn text(&self) -> Option<String> {
        if self.count(|trials| trials.all > 1) == 0 {
            return None;
        }
        let always = self.count(|trials| trials.passes == trials.all);
        let (flaky, never) = (self.count(PassedTrials::is_flaky), self.count(|t| t.passes == 0));
        let all = numbers::count(self.tests.len() as u64);
        let verb = |count: u64, one: &str, many: &str| {
            format!("{} {}", numbers::count(count), if count == 1 { one } else { many })
        };
        let mut parts = vec![match always {
            1 => format!("1 of {all} always passes"),
            always => format!("{} of {all} always pass", numbers::count(always)),
        }];
        if flaky > 0 {
            parts.push(verb(flaky, "is flaky", "are flaky"));
        }
        if never > 0 {
            parts.push(verb(never, "never passes", "never pass"));
        }
        Some(parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn of(tests: &[(&str, u32, u32)]) -> TestTrials {
        let mut found = TestTrials::default();
        fixture::trials(tests).iter().for_each(|row| found.add(row));
        found
    }

    #[test]
    fn tests_whose_trials_disagree_are_flaky() {
        let found = of(&[("fine", 5, 5), ("joke", 2, 5), ("refund", 4, 5), ("broken", 0, 5)]);
        let text = found.text().unwrap();
        assert_eq!(text, "1 of 4 always passes, 2 are flaky, 1 never passes");
        let (flaky, more) = found.flaky(1);
        let shown: Vec<_> = flaky.iter().map(|(label, _)| label.test.as_str()).collect();
        assert_eq!((shown, more), (vec!["joke"], 1));
        assert_eq!(flaky[0].1.text(), "2/5 ●●○○○");
    }

    #[test]
    fn single_trials_and_trials_without_a_verdict_say_nothing() {
        assert_eq!(of(&[("a", 1, 1), ("b", 0, 1)]).text(), None);
        let mut found = of(&[("a", 1, 1)]);
        found.add(&fixture::row("a", Outcome::Errored, None));
        assert_eq!((found.text(), found.flaky(5).1), (None, 0));
    }

    #[test]
    fn a_test_is_counted_apart_for_each_target() {
        let mut found = of(&[("a", 2, 2)]);
        for trial in 1..=2 {
            let mut row = fixture::row("a", Outcome::Failed, None);
            row.target = "other".to_owned();
            row.trial = trial;
            found.add(&row);
        }
        assert_eq!(found.text().unwrap(), "1 of 2 always passes, 1 never passes");
    }

    #[test]
    fn many_trials_have_no_dots() {
        assert_eq!(PassedTrials { passes: 30, all: 100 }.text(), "30/100");
    }
}
