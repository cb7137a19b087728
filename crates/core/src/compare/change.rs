//! The change of one test between two runs (spec 20.5).

use std::collections::BTreeSet;

use super::case::ComparedCase;
use super::pairing::Match;
use crate::model::Outcome;
use crate::stats::Mark;
use crate::words;

words! {
    pub enum Change {
        /// Worse beyond chance, or passed always and never now in several trials, or single trials.
        Regressed = "regressed",
        /// Could not be measured in one of the runs.
        Errored = "errored",
        /// Better beyond chance, or passed never and always now in several trials, or single trials.
        Fixed = "fixed",
        /// Passes more or less often; it may be luck.
        Changed = "changed",
        /// The test itself changed; counted neither way.
        ChangedTest = "changed-test",
        /// Measured only now.
        Added = "added",
        /// Measured only before.
        Removed = "removed",
        Unchanged = "unchanged",
    }
}

impl Change {
    /// Whether the test counts in the verdict on the suite.
    pub fn is_compared(self) -> bool {
        matches!(
            self,
            Self::Regressed | Self::Fixed | Self::Changed | Self::Unchanged | Self::Errored
        )
    }
}

/// Trials on each side from which on always and never are called regressed or fixed.
const TOLD: u64 = 3;

/// One test in the base runs together, or in the candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Side {
    /// Only those that got a verdict.
    pub trials: u64,
    pub passes: u64,
    /// Mean of the scores.
    pub score: Option<f64>,
    /// Trials that could not be measured.
    pub errors: u64,
}

impl Side {
    /// The share of the trials with a verdict that passed.
    pub fn rate(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.passes as f64 / self.trials as f64)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct TestChange {
    pub suite: String,
    pub test: String,
    pub target: String,
    pub change: Change,
    /// `None` where the test was not run.
    pub base: Option<Side>,
    pub candidate: Option<Side>,
    /// Whether the change of this test alone is significant.
    pub is_certain: bool,
}

impl TestChange {
    /// Whether a trial of the candidate errored, so that its result is open.
    pub fn is_open(&self) -> bool {
        self.candidate.is_some_and(|side| side.errors > 0)
    }

    /// How much less often the test passes now: -1 to 1. `None` if one of the runs has no verdict.
    pub fn drop(&self) -> Option<f64> {
        Some(self.base?.rate()? - self.candidate?.rate()?)
    }

    /// What is beyond chance has regressed or is fixed, whatever else is open.
    pub(super) fn mark(&mut self, mark: Mark) {
        self.is_certain = true;
        match mark {
            Mark::Dropped => self.change = Change::Regressed,
            Mark::Gained if self.change != Change::Errored => self.change = Change::Fixed,
            Mark::Gained => {}
        }
    }
}

pub(crate) fn classify(found: &Match) -> TestChange {
    let side = |cases: &[&ComparedCase]| (!cases.is_empty()).then(|| Side::of(cases));
    TestChange {
        suite: found.suite.to_owned(),
        test: found.test.to_owned(),
        target: found.target.to_owned(),
        change: change_of(&found.base, &found.candidate),
        base: side(&found.base),
        candidate: side(&found.candidate),
        is_certain: false,
    }
}

fn change_of(base: &[&ComparedCase], candidate: &[&ComparedCase]) -> Change {
    // A test that was skipped was not run.
    let is_there =
        |cases: &[&ComparedCase]| cases.iter().any(|case| case.outcome != Outcome::Skipped);
    match (is_there(base), is_there(candidate)) {
        (false, true) => return Change::Added,
        (true, false) => return Change::Removed,
        // Skipped on one side and absent on the other: nothing to compare.
        (false, false) if base.is_empty() || candidate.is_empty() => return Change::Unchanged,
        _ => {}
    }
    fn hashes<'a>(cases: &[&'a ComparedCase]) -> BTreeSet<&'a str> {
        cases.iter().map(|case| case.hash.as_str()).collect()
    }
    if hashes(base) != hashes(candidate) {
        return Change::ChangedTest;
    }
    change_of_rates(&Side::of(base), &Side::of(candidate))
}

fn change_of_rates(before: &Side, now: &Side) -> Change {
    // Fewer trials that all agree may be luck; of single trials there is nothing else to say.
    let least = before.trials.min(now.trials);
    let is_told = least >= TOLD || before.trials.max(now.trials) == 1;
    match (before.rate(), now.rate()) {
        (Some(1.0), Some(0.0)) if is_told => Change::Regressed,
        _ if now.errors > 0 || (before.trials == 0 && before.errors > 0) => Change::Errored,
        (Some(0.0), Some(1.0)) if is_told => Change::Fixed,
        (Some(before), Some(now)) if before != now => Change::Changed,
        _ => Change::Unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::{case, trials};
    use super::super::pairing::pair;
    use super::*;

    fn change(base: &[ComparedCase], candidate: &[ComparedCase]) -> Change {
        let found = pair(base, candidate).matches;
        assert_eq!(found.len(), 1);
        classify(&found[0]).change
    }

    #[test]
    fn single_trials_change_as_the_format_says() {
        use Outcome::{Borderline, Errored, Failed, Passed, Skipped};
        for (before, now, wanted) in [
            (Passed, Failed, Change::Regressed),
            (Passed, Borderline, Change::Regressed),
            (Passed, Errored, Change::Errored),
            (Passed, Passed, Change::Unchanged),
            (Failed, Passed, Change::Fixed),
            (Borderline, Passed, Change::Fixed),
            (Borderline, Failed, Change::Unchanged),
            (Failed, Errored, Change::Errored),
            (Errored, Errored, Change::Errored),
            (Errored, Passed, Change::Errored),
            (Errored, Failed, Change::Errored),
            (Skipped, Passed, Change::Added),
            (Passed, Skipped, Change::Removed),
            (Skipped, Skipped, Change::Unchanged),
        ] {
            let found = change(&[case("a", 1, before)], &[case("a", 1, now)]);
            assert_eq!(found, wanted, "{before:?} {now:?}");
        }
    }

    #[test]
    fn only_errors_of_the_candidate_leave_it_open() {
        let (well, torn) = (trials("a", 1, 1), vec![case("a", 1, Outcome::Errored)]);
        let is_open = |base: &[ComparedCase], candidate: &[ComparedCase]| {
            classify(&pair(base, candidate).matches[0]).is_open()
        };
        assert!(is_open(&well, &torn));
        assert!(is_open(&[], &torn));
        assert!(!is_open(&torn, &well));
    }

    #[test]
    fn only_always_to_never_is_said_of_few_trials() {
        for (before, now, wanted) in [
            ((5, 5), (5, 4), Change::Changed),
            ((5, 4), (5, 1), Change::Changed),
            ((5, 4), (3, 3), Change::Changed),
            ((5, 4), (10, 8), Change::Unchanged),
            ((5, 5), (2, 0), Change::Changed),
            ((5, 5), (3, 0), Change::Regressed),
            ((2, 0), (5, 5), Change::Changed),
            ((3, 0), (5, 5), Change::Fixed),
            ((1, 1), (1, 0), Change::Regressed),
            ((2, 2), (1, 0), Change::Changed),
        ] {
            let run = |(count, passes)| trials("a", count, passes);
            assert_eq!(change(&run(before), &run(now)), wanted, "{before:?} {now:?}");
        }
    }

    #[test]
    fn errors_hide_all_but_certain_losses() {
        let torn =
            |passes: u32| [trials("a", 3, passes), vec![case("a", 4, Outcome::Errored)]].concat();
        assert_eq!(change(&trials("a", 3, 3), &torn(2)), Change::Errored);
        assert_eq!(change(&trials("a", 3, 3), &torn(1)), Change::Errored);
        assert_eq!(change(&trials("a", 3, 3), &torn(0)), Change::Regressed);
    }

    #[test]
    fn a_test_that_means_something_else_is_not_compared() {
        let mut other = trials("a", 1, 0);
        other[0].hash = "other".to_owned();
        assert_eq!(change(&trials("a", 1, 1), &other), Change::ChangedTest);
        assert!(!Change::ChangedTest.is_compared());
    }

    #[test]
    fn tests_come_and_go() {
        assert_eq!(change(&[], &trials("a", 1, 1)), Change::Added);
        assert_eq!(change(&trials("a", 1, 1), &[]), Change::Removed);
        let skipped = [case("a", 1, Outcome::Skipped)];
        assert_eq!(change(&[], &skipped), Change::Unchanged);
        assert_eq!(change(&skipped, &[]), Change::Unchanged);
    }
}
