//! What a run comes to (spec 8.4, 11.4). Rows count cases; this counts tests.
//!
//! A test is looked at for each target alone: one that passes on one target and fails on another
//! has failed. Only numbers are kept of each, so any number of rows will do.

use evalrig_core::model::{Outcome, Stage};

use super::row::Row;
use super::test_verdicts::TestVerdicts;

/// What `borderline` is worth (`--allow-borderline`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Borderline {
    /// As much as a failure.
    #[default]
    Fails,
    /// As much as a pass.
    Passes,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExitRule {
    /// `--pass-trials`: the share of a test's verdicts that must be passes.
    pub pass_trials: f64,
    pub borderline: Borderline,
}

impl Default for ExitRule {
    fn default() -> Self {
        Self { pass_trials: 1.0, borderline: Borderline::Fails }
    }
}

/// How a run that could start has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunVerdict {
    /// Every test passed.
    Passed,
    /// A test failed or was borderline.
    Failed,
    /// Nothing failed, but something errored.
    Incomplete,
    /// Not one case got a verdict or an error.
    Nothing,
}

impl RunVerdict {
    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Incomplete => 3,
            Self::Nothing => 4,
        }
    }
}

/// Hears of every case once and then knows the exit code.
#[derive(Debug, Clone, Default)]
pub struct ExitTally {
    /// Cases with a verdict that counts.
    verdicts: u64,
    /// Of tests that must pass in every trial.
    misses: u64,
    /// Tests some of whose trials may fail.
    tests: TestVerdicts,
    is_incomplete: bool,
}

impl ExitTally {
    pub fn new(rule: ExitRule) -> Self {
        Self { tests: TestVerdicts::new(rule), ..Self::default() }
    }

    pub fn add(&mut self, row: &Row) {
        // A row whose record in the store is missing keeps its verdict (spec 13.6).
        let error = row.error.as_ref();
        if error.is_some_and(|error| error.stage == Stage::Record.word()) {
            self.add_incomplete();
        }
        if row.outcome == Outcome::Errored {
            return self.add_incomplete();
        }
        let Some(is_pass) = self.tests.is_pass(row) else {
            return;
        };
        self.verdicts += 1;
        if !self.tests.add(row) {
            self.misses += u64::from(!is_pass);
        }
    }

    /// Something is missing that has no row of its own, such as a row that could not be written.
    pub fn add_incomplete(&mut self) {
        self.is_incomplete = true;
    }

    /// Whether something could not be measured, or not be kept.
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    pub fn exit(&self) -> RunVerdict {
        if self.has_failed() {
            RunVerdict::Failed
        } else if self.is_incomplete {
            RunVerdict::Incomplete
        } else if self.verdicts == 0 {
            RunVerdict::Nothing
        } else {
            RunVerdict::Passed
        }
    }

    fn has_failed(&self) -> bool {
        self.misses > 0 || self.tests.all().any(|(_, test)| !test.is_pass())
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{PassTrials, RowError};
    use super::super::testing::row;
    use super::*;

    /// Outcomes of the trials of one test: p, b, f, e, s.
    fn add(tally: &mut ExitTally, test: &str, trials: &str) {
        for (at, letter) in trials.chars().enumerate() {
            let mut row = row(test, at as u32 + 1);
            row.outcome = match letter {
                'p' => Outcome::Passed,
                'b' => Outcome::Borderline,
                'f' => Outcome::Failed,
                'e' => Outcome::Errored,
                _ => Outcome::Skipped,
            };
            tally.add(&row);
        }
    }

    #[test]
    fn a_test_may_say_how_many_of_its_trials_must_pass() {
        let code = |share: f64, above: bool, pass_trials: f64, trials: &str| {
            let rule = ExitRule { pass_trials, ..ExitRule::default() };
            let mut tally = ExitTally::new(rule);
            for (at, letter) in trials.chars().enumerate() {
                let mut row = row("t", at as u32 + 1);
                row.outcome = if letter == 'p' { Outcome::Passed } else { Outcome::Failed };
                row.pass_trials = Some(PassTrials { share, above });
                tally.add(&row);
            }
            tally.exit().code()
        };
        assert_eq!(code(0.5, false, 1.0, "ppf"), 0);
        assert_eq!(code(0.5, false, 1.0, "pff"), 1);
        assert_eq!(code(0.5, true, 1.0, "pf"), 1, "half is not more than half");
        assert_eq!(code(0.5, true, 1.0, "ppf"), 0);
        assert_eq!(code(0.5, false, 0.9, "ppf"), 1, "the option of the run goes first");
    }

    /// Tests separated by blanks.
    fn code(rule: ExitRule, tests: &str) -> u8 {
        let mut tally = ExitTally::new(rule);
        for (at, trials) in tests.split_whitespace().enumerate() {
            add(&mut tally, &format!("t{at}"), trials);
        }
        tally.exit().code()
    }

    #[test]
    fn exit_codes_go_one_before_three_before_four() {
        for (tests, expected) in [
            ("", 4),
            ("s", 4),
            ("s s", 4),
            ("p", 0),
            ("p s", 0),
            ("p p", 0),
            ("b", 1),
            ("f", 1),
            ("p b", 1),
            ("p f", 1),
            ("e", 3),
            ("e s", 3),
            ("p e", 3),
            ("f e", 1),
            ("b e", 1),
            ("f s", 1),
            ("p f e s", 1),
        ] {
            assert_eq!(code(ExitRule::default(), tests), expected, "{tests}");
        }
    }

    #[test]
    fn borderline_may_be_let_through() {
        let rule = ExitRule { borderline: Borderline::Passes, ..ExitRule::default() };
        for (tests, expected) in
            [("b", 0), ("p b", 0), ("pb", 0), ("b f", 1), ("b e", 3), ("b s", 0)]
        {
            assert_eq!(code(rule, tests), expected, "{tests}");
        }
    }

    #[test]
    fn a_test_passes_when_enough_of_its_verdicts_do() {
        for (share, tests, expected) in [
            (1.0, "pp", 0),
            (1.0, "pf", 1),
            (1.0, "ps", 0),
            (1.0, "pe", 3),
            (1.0, "fe", 1),
            (0.5, "pf", 0),
            (0.5, "pff", 1),
            (0.5, "pfs", 0),
            (0.5, "pfe", 3),
            (0.5, "pb", 0),
            (0.5, "pf ff", 1),
            (0.6, "pppff", 0),
            (0.7, "pppffff", 1),
            (2.0 / 3.0, "ppf", 0),
            (0.0, "ff", 0),
            (0.5, "ss", 4),
        ] {
            let rule = ExitRule { pass_trials: share, ..ExitRule::default() };
            assert_eq!(code(rule, tests), expected, "{share} {tests}");
        }
    }

    #[test]
    fn every_target_counts_for_itself() {
        let rule = ExitRule { pass_trials: 0.5, ..ExitRule::default() };
        let mut tally = ExitTally::new(rule);
        let mut good = row("a", 1);
        good.outcome = Outcome::Passed;
        tally.add(&good);
        let mut bad = row("a", 1);
        bad.target = "other".to_owned();
        bad.outcome = Outcome::Failed;
        tally.add(&bad);
        assert_eq!(tally.exit(), RunVerdict::Failed);
    }

    #[test]
    fn a_record_that_could_not_be_written_makes_the_run_incomplete() {
        let mut row = row("a", 1);
        row.outcome = Outcome::Passed;
        row.error = Some(RowError {
            stage: "record".to_owned(),
            kind: "io".to_owned(),
            message: "disk full".to_owned(),
        });
        let mut tally = ExitTally::default();
        tally.add(&row);
        assert_eq!(tally.exit(), RunVerdict::Incomplete);
        row.outcome = Outcome::Failed;
        tally.add(&row);
        assert_eq!(tally.exit(), RunVerdict::Failed);
    }
}
