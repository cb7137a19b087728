//! The one place that decides whether a run in rounds goes on (spec 20.9). It is fed finished rows,
//! from wherever they come, and answers which round is open. It knows neither workers nor files.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use evalrig_core::compare::{
    ComparedCase, Comparison, RoundBase, RoundPlan, RoundSides, Rounds, compare_in_rounds,
};

use crate::execute::RoundGate;
use crate::lock::locked;
use crate::results::{CaseKey, ComparedRounds, RoundRecord, Row};

use super::case_collector::CaseCollector;

/// The rounds of a run.
#[derive(Debug)]
pub(super) struct RoundDecision {
    /// By round, the cases that have no row yet.
    awaited: Vec<HashSet<CaseKey>>,
    comparisons: Vec<OpenComparison>,
}

/// A comparison that has to be decided.
#[derive(Debug)]
struct OpenComparison {
    /// The arm that is compared with the baseline arm; `None` with a baseline run.
    arm: Option<String>,
    base: ComparisonBase,
    now: CaseCollector,
    rounds: Rounds,
}

#[derive(Debug)]
enum ComparisonBase {
    Stored(Vec<ComparedCase>),
    Arm(CaseCollector),
}

impl RoundDecision {
    /// `planned` are all cases of the run.
    pub(super) fn new(plan: RoundPlan, planned: impl Iterator<Item = CaseKey>) -> Self {
        let mut awaited = vec![HashSet::new(); plan.rounds as usize];
        for key in planned {
            // Trials have numbers from 1.
            let round = (key.trial.max(1) as usize).min(awaited.len());
            awaited[round - 1].insert(key);
        }
        Self { awaited, comparisons: Vec::new() }
    }

    /// Compares the run with stored cases.
    pub(super) fn against(mut self, plan: RoundPlan, base: Vec<ComparedCase>) -> Self {
        self.comparisons.push(OpenComparison {
            arm: None,
            base: ComparisonBase::Stored(base),
            now: CaseCollector::default(),
            rounds: Rounds::new(plan),
        });
        self
    }

    /// Compares each of these arms with the baseline arm.
    pub(super) fn of_arms(mut self, plan: RoundPlan, arms: &[String]) -> Self {
        let comparison = |arm: &String| OpenComparison {
            arm: Some(arm.clone()),
            base: ComparisonBase::Arm(CaseCollector::default()),
            now: CaseCollector::default(),
            rounds: Rounds::new(RoundPlan { base: RoundBase::Growing, ..plan }),
        };
        self.comparisons.extend(arms.iter().map(comparison));
        self
    }

    /// Takes a finished row into account. With the last row of the open round comes the look.
    pub(super) fn add(&mut self, row: &Row) {
        if was_not_run(row) {
            return;
        }
        for comparison in &mut self.comparisons {
            comparison.add(row);
        }
        let key = row.key();
        let round = (key.trial.max(1) as usize).min(self.awaited.len());
        self.awaited[round - 1].remove(&key);
        while let Some(round) = self.open_round() {
            if !self.awaited[round as usize - 1].is_empty() {
                return;
            }
            self.comparisons.iter_mut().for_each(OpenComparison::look);
        }
    }

    /// The round that is to be run, from 1; `None` when the run has stopped.
    pub(super) fn open_round(&self) -> Option<u32> {
        self.comparisons.iter().filter_map(|comparison| comparison.rounds.open_round()).max()
    }

    /// For the last line of the results.
    pub(super) fn record(&self) -> RoundRecord {
        let looks = self.comparisons.iter().map(|comparison| comparison.rounds.looks.len());
        let compared =
            self.comparisons.iter().map(|one| ComparedRounds::of(one.arm.as_deref(), &one.rounds));
        RoundRecord {
            rounds: looks.max().unwrap_or(0) as u32,
            stopped: self.open_round().is_none(),
            beyond: self.comparisons.iter().map(OpenComparison::beyond).sum(),
            comparisons: compared.collect(),
        }
    }

    /// What the looks found, each with the name of its arm.
    pub(super) fn compare(&self) -> Vec<(Option<String>, Comparison)> {
        let compare = |comparison: &OpenComparison| {
            let (base, now) = comparison.sides();
            let sides = RoundSides { base: &base, candidate: &now };
            (comparison.arm.clone(), compare_in_rounds(sides, comparison.rounds.clone()))
        };
        self.comparisons.iter().map(compare).collect()
    }
}

/// A row that only says that a limit kept the case from starting.
fn was_not_run(row: &Row) -> bool {
    row.attempts == 0 && row.error.as_ref().is_some_and(|error| error.kind == "limit")
}

impl OpenComparison {
    fn add(&mut self, row: &Row) {
        let Some(arm) = &self.arm else {
            return self.now.add(row);
        };
        // A test that only demands that skills are left alone compares nothing.
        if row.skills.as_ref().is_some_and(|skills| skills.contract) {
            return;
        }
        if row.arm.as_deref() == Some(arm) {
            self.now.add_of_arm(row);
        } else if let (true, ComparisonBase::Arm(base)) = (row.baseline_arm, &mut self.base) {
            base.add_of_arm(row);
        }
    }

    fn sides(&self) -> (Vec<ComparedCase>, Vec<ComparedCase>) {
        let base = match &self.base {
            ComparisonBase::Stored(cases) => cases.clone(),
            ComparisonBase::Arm(cases) => cases.clone().in_order(),
        };
        (base, self.now.clone().in_order())
    }

    fn look(&mut self) {
        let (base, now) = self.sides();
        self.rounds.look(RoundSides { base: &base, candidate: &now });
    }

    fn beyond(&self) -> u64 {
        let last = self.rounds.looks.len() as u32;
        let now = self.now.clone().in_order();
        let is_compared =
            |case: &&ComparedCase| case.arm.as_ref().is_none_or(|arm| !arm.is_baseline);
        let later = |case: &&ComparedCase| case.trial > last && case.is_measured();
        now.iter().filter(is_compared).filter(later).count() as u64
    }
}

/// A decision that the run's observer feeds and execution asks.
#[derive(Debug, Clone)]
pub(super) struct SharedRounds(Arc<Mutex<RoundDecision>>);

impl SharedRounds {
    pub(super) fn new(decision: RoundDecision) -> Self {
        Self(Arc::new(Mutex::new(decision)))
    }

    pub(super) fn with<T>(&self, act: impl FnOnce(&mut RoundDecision) -> T) -> T {
        act(&mut locked(&self.0))
    }
}

impl RoundGate for SharedRounds {
    fn open_round(&self) -> Option<u32> {
        self.with(|decision| decision.open_round())
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::compare::{ComparisonVerdict, Measure, RoundStop};
    use evalrig_core::model::Outcome;

    use super::*;
    use crate::report::fixture;

    const TESTS: usize = 20;

    fn row(test: usize, trial: u32, is_passed: bool) -> Row {
        let outcome = if is_passed { Outcome::Passed } else { Outcome::Failed };
        let mut row = fixture::row(&format!("t{test:02}"), outcome, Some(f64::from(is_passed)));
        row.trial = trial;
        row
    }

    fn plan(base: RoundBase) -> RoundPlan {
        RoundPlan {
            rounds: 4,
            margin: 0.1,
            measure: Measure::Rate,
            base,
            seed: 7,
            stops_futile: false,
        }
    }

    fn keys() -> Vec<CaseKey> {
        let trials = |test| (1..=4).map(move |trial| row(test, trial, true).key());
        (0..TESTS).flat_map(trials).collect()
    }

    /// Against a base that passed 19 of 20.
    fn decision() -> RoundDecision {
        let mut base = CaseCollector::default();
        for test in 0..TESTS {
            (1..=5).for_each(|trial| {
                base.add(&row(test, trial, !(test + 4 * trial as usize).is_multiple_of(20)))
            });
        }
        let plan = plan(RoundBase::Stored { trials: 5.0 });
        RoundDecision::new(plan, keys().into_iter()).against(plan, base.in_order())
    }

    #[test]
    fn a_round_opens_when_every_row_of_the_one_before_is_there() {
        let mut found = decision();
        for test in 0..TESTS - 1 {
            found.add(&row(test, 1, test % 10 > 0));
            assert_eq!(found.open_round(), Some(1));
        }
        // A row of the next round, as another machine may send it.
        found.add(&row(0, 2, true));
        assert_eq!(found.open_round(), Some(1));
        found.add(&row(TESTS - 1, 1, true));
        assert_eq!(found.open_round(), Some(2));
        let record = found.record();
        assert_eq!((record.rounds, record.stopped, record.beyond), (1, false, 1));
    }

    #[test]
    fn a_collapse_stops_the_run_and_the_order_of_rows_does_not_matter() {
        let rows: Vec<Row> =
            (0..TESTS).flat_map(|test| [row(test, 1, false), row(test, 2, false)]).collect();
        let mut records = Vec::new();
        for is_reversed in [false, true] {
            let mut found = decision();
            let order: Vec<&Row> =
                if is_reversed { rows.iter().rev().collect() } else { rows.iter().collect() };
            order.into_iter().for_each(|row| found.add(row));
            assert_eq!(found.open_round(), None);
            let compared = found.compare();
            let [(None, comparison)] = &compared[..] else { panic!("{compared:?}") };
            let verdict = comparison.suite.unwrap().judged.verdict;
            assert_eq!(verdict, ComparisonVerdict::Worse);
            let stop = comparison.rounds.as_ref().and_then(Rounds::stop);
            assert_eq!(stop, Some(RoundStop::Settled));
            records.push(found.record());
        }
        assert_eq!(records[0], records[1]);
        assert_eq!((records[0].rounds, records[0].beyond), (1, TESTS as u64));
    }

    #[test]
    fn cases_that_a_limit_kept_from_starting_do_not_end_a_round() {
        let mut found = decision();
        for test in 0..TESTS {
            let mut one = row(test, 1, true);
            if test == 3 {
                one.outcome = Outcome::Errored;
                one.attempts = 0;
                one.error = Some(fixture::fault("execution", "limit", "the budget is used up"));
            }
            found.add(&one);
        }
        assert_eq!(found.open_round(), Some(1));
    }

    #[test]
    fn arms_are_compared_with_their_baseline() {
        let arm_row = |arm: &str, test: usize, trial: u32, is_passed: bool| {
            let mut row = row(test, trial, is_passed);
            row.arm = Some(arm.to_owned());
            row.baseline_arm = arm == "without";
            row
        };
        let plan = plan(RoundBase::Growing);
        let keys = keys().into_iter().flat_map(|key| {
            ["with", "without"]
                .map(|arm| arm_row(arm, 0, 1, true).key())
                .map(|of_arm| CaseKey { target: of_arm.target, ..key.clone() })
        });
        let mut found = RoundDecision::new(plan, keys).of_arms(plan, &["with".to_owned()]);
        let mut trial = 1;
        while let Some(round) = found.open_round() {
            assert_eq!(round, trial);
            for test in 0..TESTS {
                found.add(&arm_row("with", test, trial, true));
                found.add(&arm_row("without", test, trial, test < 2));
            }
            trial += 1;
        }
        let record = found.record();
        assert_eq!((&record.comparisons[0].verdict[..], record.rounds), ("better", 1));
        assert_eq!(record.comparisons[0].arm.as_deref(), Some("with"));
    }
}
