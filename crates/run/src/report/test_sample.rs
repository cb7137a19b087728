//! Cases by test, for the intervals of rates and means: trials and targets of one test resemble
//! each other. Of each test only counts and sums are kept.

use std::collections::BTreeMap;

use evalrig_core::model::Outcome;
use evalrig_core::stats::{
    GroupSum, Interval, Passes, SELF_EVIDENT, clustered_mean_of_sums, clustered_rate,
};

use crate::results::Row;

const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// By suite.
    suites: BTreeMap<String, SuiteUnits>,
    units: usize,
    /// The scores of the first unit, while it is the only one.
    alone: Vec<f64>,
}

/// By id, or by group: tests that share a fixture fail together.
#[derive(Debug, Clone, Default)]
struct SuiteUnits {
    tests: BTreeMap<String, Cases>,
    groups: BTreeMap<String, Cases>,
}

#[derive(Debug, Clone, Default)]
struct Cases {
    verdicts: Passes,
    scores: GroupSum,
}

impl Sample {
    pub fn add(&mut self, row: &Row) {
        let is_judged =
            matches!(row.outcome, Outcome::Passed | Outcome::Borderline | Outcome::Failed);
        if !is_judged && row.score.is_none() {
            return;
        }
        let suite = entry(&mut self.suites, &row.dataset).0;
        let (cases, is_new) = match &row.group {
            Some(group) => entry(&mut suite.groups, group),
            None => entry(&mut suite.tests, &row.eval_id),
        };
        cases.verdicts.trials += u64::from(is_judged);
        cases.verdicts.passes += u64::from(row.outcome == Outcome::Passed);
        if let Some(score) = row.score {
            cases.scores.add(score);
        }
        self.units += usize::from(is_new);
        if self.units == 1 {
            self.alone.extend(row.score);
        } else {
            self.alone = Vec::new();
        }
    }

    fn cases(&self) -> impl Iterator<Item = &Cases> {
        self.suites.values().flat_map(|suite| suite.tests.values().chain(suite.groups.values()))
    }

    /// Of the share of verdicts that are passes. `None` without verdicts.
    pub fn rate(&self) -> Option<Interval> {
        let verdicts: Vec<Passes> = self.cases().map(|cases| cases.verdicts).collect();
        clustered_rate(&verdicts, CONFIDENCE)
    }

    /// Of the average score.
    pub fn average(&self) -> Option<Interval> {
        // One test alone says nothing of others; its trials say something of it.
        let sums: Vec<GroupSum> = if self.units == 1 {
            self.alone.iter().map(|score| std::iter::once(*score).collect()).collect()
        } else {
            self.cases().map(|cases| cases.scores).collect()
        };
        clustered_mean_of_sums(&sums, CONFIDENCE).map(|(_, interval)| interval)
    }

    /// As [`Self::rate`], for people, who need no interval from [`SELF_EVIDENT`] tests on.
    pub fn shown_rate(&self) -> Option<Interval> {
        self.rate().filter(|_| !self.is_self_evident())
    }

    /// The same for the average score.
    pub fn shown_average(&self) -> Option<Interval> {
        self.average().filter(|_| !self.is_self_evident())
    }

    fn is_self_evident(&self) -> bool {
        self.units as u64 >= SELF_EVIDENT
    }
}

/// The value of a name, and whether it is new.
fn entry<'m, V: Default>(map: &'m mut BTreeMap<String, V>, name: &str) -> (&'m mut V, bool) {
    let is_new = !map.contains_key(name);
    if is_new {
        map.insert(name.to_owned(), V::default());
    }
    (map.get_mut(name).expect("it was added"), is_new)
}

#[cfg(test)]
mod tests {
    use evalrig_core::stats::wilson;

    use super::super::fixture;
    use super::*;

    fn sample(rows: &[(&str, u32, Outcome)]) -> Sample {
        let mut sample = Sample::default();
        for (test, trial, outcome) in rows {
            let score = (*outcome == Outcome::Passed).then_some(1.0);
            let mut row = fixture::row(test, *outcome, score.or(Some(0.0)));
            row.trial = *trial;
            sample.add(&row);
        }
        sample
    }

    #[test]
    fn tests_count_and_not_their_trials() {
        use Outcome::{Failed, Passed};
        let alike =
            sample(&[("a", 1, Passed), ("a", 2, Passed), ("b", 1, Failed), ("b", 2, Failed)]);
        assert_eq!(alike.rate(), Some(wilson(1, 2, 0.95)));
        let single = sample(&[("a", 1, Passed), ("b", 1, Failed)]);
        assert_eq!(alike.rate(), single.rate());
        let (few, many) = (single.average().unwrap(), alike.average().unwrap());
        assert!((few.low - many.low).abs() < 1e-9, "{few:?} {many:?}");
    }

    #[test]
    fn tests_of_a_group_count_once() {
        let mut sample = Sample::default();
        for (test, trial, group) in
            [("a", 1, Some("db")), ("b", 1, Some("db")), ("db", 1, None), ("db", 2, None)]
        {
            let mut row = fixture::row(test, Outcome::Passed, Some(1.0));
            (row.trial, row.group) = (trial, group.map(str::to_owned));
            sample.add(&row);
        }
        assert_eq!(sample.rate(), Some(wilson(2, 2, 0.95)));
    }

    #[test]
    fn of_one_test_its_trials_count() {
        let one = sample(&[("a", 1, Outcome::Passed), ("a", 2, Outcome::Passed)]);
        assert_eq!(one.rate(), Some(wilson(2, 2, 0.95)));
        assert!(one.average().is_some_and(|found| found.low < 0.5));
    }

    #[test]
    fn what_got_no_verdict_says_nothing() {
        let mut sample = Sample::default();
        sample.add(&fixture::row("a", Outcome::Errored, None));
        sample.add(&fixture::row("b", Outcome::Skipped, None));
        assert_eq!((sample.rate(), sample.average()), (None, None));
    }

    /// Programs have the interval; 99.99 % of 300 tests is not 100 %.
    #[test]
    fn people_are_spared_the_interval_of_many_tests() {
        let mut sample = Sample::default();
        for at in 0..SELF_EVIDENT + 5 {
            assert_eq!(sample.shown_rate().is_some(), (1..SELF_EVIDENT).contains(&at));
            assert_eq!(sample.shown_average().is_some(), (1..SELF_EVIDENT).contains(&at));
            sample.add(&fixture::row(&format!("t{at}"), Outcome::Passed, Some(1.0)));
        }
        let all = SELF_EVIDENT + 5;
        assert_eq!(sample.rate(), Some(wilson(all, all, 0.95)));
        assert!(sample.average().is_some_and(|found| found.low > 0.95 && found.high == 1.0));
    }
}
