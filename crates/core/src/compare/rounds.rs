//! A run in rounds: after each, a look decides whether the run goes on. Pure: the same plan and the
//! same cases give the same looks, on any machine and however often they are repeated.

use super::case::ComparedCase;
use super::change;
use super::look::{LookHistory, LookPlace, RoundLook, RoundStop};
use super::pairing::{self, Match};
use super::round_plan::RoundPlan;
use super::verdict::Rule;
use super::{CompareOptions, Comparison, compare_tests};
use crate::stats::LookSpending;

/// The cases of a base and of a candidate; of both, trials of later rounds are left out.
#[derive(Debug, Clone, Copy)]
pub struct RoundSides<'a> {
    pub base: &'a [ComparedCase],
    pub candidate: &'a [ComparedCase],
}

/// The looks so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounds {
    pub plan: RoundPlan,
    pub looks: Vec<RoundLook>,
    /// Measured trials of the candidate that are of later rounds than the last look, and do not
    /// count.
    pub beyond: u64,
    limits: Vec<f64>,
    spending: Vec<LookSpending>,
    history: LookHistory,
}

impl Rounds {
    pub fn new(plan: RoundPlan) -> Self {
        Self {
            limits: plan.limits(),
            spending: plan.spending(),
            plan,
            looks: Vec::new(),
            beyond: 0,
            history: LookHistory::default(),
        }
    }

    /// The round that is to be run, from 1; `None` if the run has stopped.
    pub fn open_round(&self) -> Option<u32> {
        self.stop().is_none().then(|| self.looks.len() as u32 + 1)
    }

    pub fn stop(&self) -> Option<RoundStop> {
        self.looks.last()?.stop
    }

    /// Looks at the trials up to the open round, which is over then.
    pub fn look(&mut self, sides: RoundSides<'_>) -> Option<&RoundLook> {
        let round = self.open_round()?;
        let (base, candidate) = sides.up_to(round, &self.plan);
        let matches = pairing::pair(&base, &candidate).matches;
        let compared: Vec<&Match> =
            matches.iter().filter(|found| change::classify(found).change.is_compared()).collect();
        let at = round as usize - 1;
        let place = LookPlace {
            plan: &self.plan,
            round,
            limit: self.limits[at],
            may_spend: self.spending[at],
        };
        let found = place.look(&compared, &mut self.history);
        self.looks.push(found);
        self.looks.last()
    }

    /// Looks at rounds until the run has stopped, at most as far as `last`.
    pub fn look_up_to(&mut self, last: u32, sides: RoundSides<'_>) {
        while self.open_round().is_some_and(|round| round <= last) {
            self.look(sides);
        }
    }
}

impl RoundSides<'_> {
    fn up_to(self, round: u32, plan: &RoundPlan) -> (Vec<ComparedCase>, Vec<ComparedCase>) {
        let is_of = |case: &&ComparedCase| case.trial <= round;
        let base = self.base.iter().filter(|case| !plan.has_growing_base() || is_of(case));
        (base.cloned().collect(), self.candidate.iter().filter(is_of).cloned().collect())
    }
}

/// Compares the trials that the looks have seen. The verdict is that of the last look.
pub fn compare_in_rounds(sides: RoundSides<'_>, mut rounds: Rounds) -> Comparison {
    let plan = rounds.plan;
    let (base, candidate) = sides.up_to(rounds.looks.len() as u32, &plan);
    let beyond = sides.candidate.iter().filter(|case| case.is_measured()).count()
        - candidate.iter().filter(|case| case.is_measured()).count();
    rounds.beyond = beyond as u64;
    let rule = Rule { measure: plan.measure, margin: plan.margin, seed: plan.seed };
    let Some(last) = rounds.looks.last().copied() else {
        let options =
            CompareOptions { measure: plan.measure, margin: plan.margin, seed: Some(plan.seed) };
        let comparison = super::compare(&base, &candidate, &options);
        return Comparison { rounds: Some(rounds), ..comparison };
    };
    let levels = [last.drop_level, last.gain_level];
    let comparison = compare_tests(&base, &candidate, &rule, levels, |_| last.suite);
    Comparison { rounds: Some(rounds), ..comparison }
}
