//! Which tests pass although some of their trials do not (spec 8.4). Only tests that need not pass
//! in every trial are kept, so memory does not grow with other suites.

use std::collections::BTreeMap;

use evalrig_core::model::{Outcome, PassShare};

use super::exit::{Borderline, ExitRule};
use super::row::Row;
use super::totals::OutcomeCounts;

/// A test on one target: one that passes on one target and fails on another has failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestKey {
    pub suite: String,
    pub test: String,
    /// With the arm, where there is one.
    pub target: String,
}

impl TestKey {
    fn of(row: &Row) -> Self {
        Self {
            suite: row.dataset.clone(),
            test: row.eval_id.clone(),
            target: row.variant().into_owned(),
        }
    }
}

/// The trials of one test that got a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedVerdict {
    pub passes: u64,
    pub verdicts: u64,
    /// Outcomes of the trials that did not pass.
    pub missed: OutcomeCounts,
    /// How many must pass.
    pub needs: PassShare,
}

impl SharedVerdict {
    pub fn is_pass(&self) -> bool {
        self.needs.is_reached(self.passes, self.verdicts)
    }
}

/// Hears of every row once.
#[derive(Debug, Clone, Default)]
pub struct TestVerdicts {
    rule: ExitRule,
    tests: BTreeMap<TestKey, SharedVerdict>,
}

impl TestVerdicts {
    pub fn new(rule: ExitRule) -> Self {
        Self { rule, tests: BTreeMap::new() }
    }

    /// How a trial with a verdict counts; `None` for rows without one, and for rows that do not have to
    /// pass.
    pub fn is_pass(&self, row: &Row) -> Option<bool> {
        let is_pass = match row.outcome {
            Outcome::Passed => true,
            Outcome::Borderline => self.rule.borderline == Borderline::Passes,
            Outcome::Failed => false,
            Outcome::Errored | Outcome::Skipped => return None,
        };
        row.decides().then_some(is_pass)
    }

    /// The share of its trials that must pass. `None` if all must.
    fn needs(&self, row: &Row) -> Option<PassShare> {
        // An option of the run goes before what the test says.
        if self.rule.pass_trials < 1.0 {
            return Some(PassShare::at_least(self.rule.pass_trials));
        }
        row.pass_trials.map(PassShare::from)
    }

    /// The test of a trial that failed, if its other trials can outweigh it.
    pub fn test_of_miss(&self, row: &Row) -> Option<TestKey> {
        let is_miss = self.is_pass(row) == Some(false) && self.needs(row).is_some();
        is_miss.then(|| TestKey::of(row))
    }

    /// Whether the row was a trial of a test that need not pass every time.
    pub fn add(&mut self, row: &Row) -> bool {
        let (Some(is_pass), Some(needs)) = (self.is_pass(row), self.needs(row)) else {
            return false;
        };
        let none =
            SharedVerdict { passes: 0, verdicts: 0, missed: OutcomeCounts::default(), needs };
        let test = self.tests.entry(TestKey::of(row)).or_insert(none);
        test.needs = needs;
        test.verdicts += 1;
        test.passes += u64::from(is_pass);
        if !is_pass {
            test.missed.add(row.outcome);
        }
        true
    }

    pub fn of(&self, test: &TestKey) -> Option<SharedVerdict> {
        self.tests.get(test).copied()
    }

    pub fn all(&self) -> impl Iterator<Item = (&TestKey, &SharedVerdict)> {
        self.tests.iter()
    }

    /// Trials that did not pass, of tests that do.
    pub fn allowed(&self) -> OutcomeCounts {
        let mut allowed = OutcomeCounts::default();
        for test in self.tests.values().filter(|test| test.is_pass()) {
            allowed.add_all(&test.missed);
        }
        allowed
    }
}
