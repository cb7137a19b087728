//! The cases of a run that have no row yet. In a run in rounds, those of later rounds are not due.

use std::collections::HashMap;

use crate::execute::CaseIndex;
use crate::results::CaseKey;

#[derive(Debug)]
pub(super) struct OpenCases {
    cases: HashMap<CaseKey, CaseIndex>,
    /// The last round whose cases are on the server; `None` for a run without rounds.
    round: Option<u32>,
    /// How many cases belong to rounds up to this one.
    due: usize,
}

impl OpenCases {
    pub(super) fn new(cases: impl IntoIterator<Item = (CaseKey, CaseIndex)>) -> Self {
        let cases: HashMap<CaseKey, CaseIndex> = cases.into_iter().collect();
        Self { due: cases.len(), round: None, cases }
    }

    /// The cases of this round, and of those before it, are due.
    pub(super) fn begin_round(&mut self, round: u32) {
        self.round = Some(round);
        self.due = self.cases.keys().filter(|key| key.trial <= round).count();
    }

    /// No case is due before the first round begins.
    pub(super) fn await_rounds(&mut self) {
        self.begin_round(0);
    }

    /// The last round that began; 0 before the first.
    pub(super) fn round(&self) -> u32 {
        self.round.unwrap_or(0)
    }

    fn has_begun(&self, key: &CaseKey) -> bool {
        self.round.is_none_or(|round| key.trial <= round)
    }

    /// Whether the case has no row, and is on the server.
    pub(super) fn is_due(&self, key: &CaseKey) -> bool {
        self.has_begun(key) && self.cases.contains_key(key)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    pub(super) fn has_due(&self) -> bool {
        self.due > 0
    }

    pub(super) fn find(&self, key: &CaseKey) -> Option<CaseIndex> {
        self.cases.get(key).copied()
    }

    pub(super) fn remove(&mut self, key: &CaseKey) -> Option<CaseIndex> {
        let found = self.cases.remove(key)?;
        if self.has_begun(key) {
            self.due -= 1;
        }
        Some(found)
    }

    /// Removes the cases that are due, in the order of the plan.
    pub(super) fn take_due(&mut self) -> Vec<CaseIndex> {
        let round = self.round;
        let is_due =
            |key: &CaseKey, _: &mut CaseIndex| round.is_none_or(|round| key.trial <= round);
        let taken = self.cases.extract_if(is_due).map(|(_, at)| at).collect();
        self.due = 0;
        in_order(taken)
    }

    /// All of them, in the order of the plan.
    pub(super) fn into_rest(self) -> Vec<CaseIndex> {
        in_order(self.cases.into_values().collect())
    }
}

fn in_order(mut cases: Vec<CaseIndex>) -> Vec<CaseIndex> {
    cases.sort_unstable_by_key(|at| at.number);
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Vec<(CaseKey, CaseIndex)> {
        let case = |number: usize| {
            let [suite, test, target] = ["s", "t", "default"].map(str::to_owned);
            let key = CaseKey { suite, test, target, trial: number as u32 + 1 };
            (key, CaseIndex { suite: 0, chain: number, case: 0, number })
        };
        (0..4).map(case).collect()
    }

    #[test]
    fn only_cases_of_rounds_that_began_are_due() {
        let all = cases();
        let mut open = OpenCases::new(all.clone());
        open.await_rounds();
        assert!(!open.has_due() && !open.is_empty());
        open.begin_round(2);
        assert!(open.remove(&all[0].0).is_some() && open.has_due());
        // A row of a later round changes nothing.
        assert!(open.remove(&all[3].0).is_some() && open.has_due());
        assert!(open.remove(&all[0].0).is_none());
        assert!(open.remove(&all[1].0).is_some() && !open.has_due());
        let rest: Vec<usize> = open.into_rest().iter().map(|at| at.number).collect();
        assert_eq!(rest, [2]);
    }

    #[test]
    fn lost_cases_are_taken_in_the_order_of_the_plan() {
        let mut open = OpenCases::new(cases());
        open.begin_round(3);
        let taken: Vec<usize> = open.take_due().iter().map(|at| at.number).collect();
        assert_eq!(taken, [0, 1, 2]);
        assert!(!open.has_due() && !open.is_empty());
    }
}
