//! Cases by test, for the intervals of rates and means: trials and targets of one test resemble
//! each other. Once a run has enough tests to be shown without an interval, no more cases are kept.

use std::collections::BTreeMap;

use evalrig_core::model::Outcome;
use evalrig_core::stats::{Interval, Passes, SELF_EVIDENT, clustered_mean, clustered_rate};

use crate::results::Row;

const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// By suite and id, or by suite and group: tests that share a fixture fail together.
    tests: BTreeMap<(String, SampleUnit), Cases>,
    is_large: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SampleUnit {
    Test(String),
    Group(String),
}

#[derive(Debug, Clone, Default)]
struct Cases {
    verdicts: Passes,
    scores: Vec<f64>,
}

impl Sample {
    pub fn add(&mut self, row: &Row) {
        let is_judged =
            matches!(row.outcome, Outcome::Passed | Outcome::Borderline | Outcome::Failed);
        if self.is_large || (!is_judged && row.score.is_none()) {
            return;
        }
        let unit = match &row.group {
            Some(group) => SampleUnit::Group(group.clone()),
            None => SampleUnit::Test(row.eval_id.clone()),
        };
        let cases = self.tests.entry((row.dataset.clone(), unit)).or_default();
        cases.verdicts.trials += u64::from(is_judged);
        cases.verdicts.passes += u64::from(row.outcome == Outcome::Passed);
        cases.scores.extend(row.score);
        if self.tests.len() as u64 >= SELF_EVIDENT {
            self.is_large = true;
            self.tests.clear();
        }
    }

    /// Of the share of verdicts that are passes. `None` without verdicts, and from
    /// [`SELF_EVIDENT`] tests on.
    pub fn rate(&self) -> Option<Interval> {
        let verdicts: Vec<Passes> = self.tests.values().map(|cases| cases.verdicts).collect();
        clustered_rate(&verdicts, CONFIDENCE)
    }

    /// Of the average score.
    pub fn average(&self) -> Option<Interval> {
        let scores = self.tests.values().map(|cases| &cases.scores);
        let mut groups: Vec<Vec<f64>> = scores.filter(|group| !group.is_empty()).cloned().collect();
        // One test alone says nothing of others; its trials say something of it.
        if let [one] = &groups[..] {
            groups = one.iter().map(|score| vec![*score]).collect();
        }
        clustered_mean(&groups, CONFIDENCE).map(|(_, interval)| interval)
    }
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

    #[test]
    fn many_tests_are_not_kept() {
        let mut sample = Sample::default();
        for at in 0..SELF_EVIDENT + 5 {
            assert_eq!(sample.rate().is_some(), (1..SELF_EVIDENT).contains(&at));
            sample.add(&fixture::row(&format!("t{at}"), Outcome::Passed, Some(1.0)));
        }
        assert!(sample.tests.is_empty());
    }
}
