//! Counts and sums over rows, as far as reports need them. A sum remembers how many addends were
//! unknown, so that it is never taken for more than it is.

use std::collections::BTreeMap;

use evalrig_core::model::Outcome;
use serde_json::{Value, json};

use super::RunEnd;
use super::sample::Sample;
use crate::record::{Row, SCHEMA_VERSION};

/// More targets or suites than this are counted, but not told apart.
const TOLD_APART: usize = 50;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; 5]);

impl Counts {
    fn index(outcome: Outcome) -> usize {
        Outcome::ALL.iter().position(|o| *o == outcome).unwrap_or(0)
    }

    pub fn add(&mut self, outcome: Outcome) {
        self.0[Self::index(outcome)] += 1;
    }

    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[Self::index(outcome)]
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those that got a verdict.
    pub fn judged(&self) -> u64 {
        self.of(Outcome::Passed) + self.of(Outcome::Borderline) + self.of(Outcome::Failed)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    pub known: f64,
    pub reported: u64,
    pub unreported: u64,
}

impl Sum {
    fn add(&mut self, value: Option<f64>) {
        match value {
            Some(value) => {
                self.known += value;
                self.reported += 1;
            }
            None => self.unreported += 1,
        }
    }

    /// spec 11.3: null if any addend is unknown.
    pub fn whole(&self) -> Option<f64> {
        (self.unreported == 0 && self.reported > 0).then_some(self.known)
    }

    fn whole_count(&self) -> Option<u64> {
        self.whole().map(|sum| sum as u64)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Judges {
    pub calls: u64,
    pub input: Sum,
    pub output: Sum,
    pub cost: Sum,
}

#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub counts: Counts,
    pub scores: Sum,
    pub input: Sum,
    pub output: Sum,
    pub cached: Sum,
    pub cost: Sum,
    pub judges: Judges,
    pub suites: BTreeMap<String, Counts>,
    pub targets: BTreeMap<String, Counts>,
    /// The highest number of a trial.
    pub trials: u32,
    /// How many cases are in the run log, and the first record there.
    pub logged: u64,
    pub record: Option<String>,
    /// How sure the rate and the average are.
    pub sample: Sample,
    pub suite_samples: BTreeMap<String, Sample>,
    pub target_samples: BTreeMap<String, Sample>,
}

impl Tally {
    pub fn add(&mut self, row: &Row) {
        self.counts.add(row.outcome);
        self.trials = self.trials.max(row.trial);
        count_apart(&mut self.suites, &row.dataset, row.outcome);
        count_apart(&mut self.targets, &row.target, row.outcome);
        if let Some(record) = &row.record {
            self.logged += 1;
            self.record.get_or_insert_with(|| record.file.clone());
        }
        self.sample.add(row);
        sample_apart(&mut self.suite_samples, &row.dataset, row);
        sample_apart(&mut self.target_samples, &row.target, row);
        if row.score.is_some() {
            self.scores.add(row.score);
        }
        if was_started(row) {
            let tokens = row.tokens;
            self.input.add(tokens.map(|tokens| tokens.input as f64));
            self.output.add(tokens.map(|tokens| tokens.output as f64));
            self.cached.add(tokens.map(|tokens| tokens.cached as f64));
            self.cost.add(row.cost_usd);
        }
        if let Some(usage) = row.judge_usage.filter(|usage| usage.calls > 0) {
            self.judges.calls += usage.calls;
            self.judges.input.add(usage.input.map(|n| n as f64));
            self.judges.output.add(usage.output.map(|n| n as f64));
            self.judges.cost.add(usage.cost_usd);
        }
    }

    pub fn average_score(&self) -> Option<f64> {
        (self.scores.reported > 0).then(|| self.scores.known / self.scores.reported as f64)
    }

    /// A row is a case; where every test has one case, people call it a test.
    pub fn nouns(&self) -> (&'static str, &'static str) {
        if self.trials > 1 || self.targets.len() > 1 {
            ("case", "cases")
        } else {
            ("test", "tests")
        }
    }

    /// The numbers of spec 11.3 over all suites, for when nobody made that document.
    pub fn document(&self, end: &RunEnd) -> Value {
        let counts = &self.counts;
        let rate = (counts.judged() > 0)
            .then(|| counts.of(Outcome::Passed) as f64 / counts.judged() as f64);
        let tokens = match (self.input.whole_count(), self.output.whole_count()) {
            (Some(input), Some(output)) => json!({
                "input": input,
                "output": output,
                "total": input + output,
                "cached": self.cached.whole_count(),
            }),
            _ => Value::Null,
        };
        let judges = match self.judges.calls {
            0 => Value::Null,
            calls => json!({
                "calls": calls,
                "input": self.judges.input.whole_count(),
                "output": self.judges.output.whole_count(),
                "costUsd": self.judges.cost.whole().map(rounded),
            }),
        };
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "suite": one_or_list(self.suites.keys().chain(&end.suites)),
            "target": one_or_list(self.targets.keys()),
            "summary": {
                "total": counts.total(),
                "pass": counts.of(Outcome::Passed),
                "borderline": counts.of(Outcome::Borderline),
                "fail": counts.of(Outcome::Failed),
                "errored": counts.of(Outcome::Errored),
                "skipped": counts.of(Outcome::Skipped),
                "passRate": rate.map(rounded),
                "averageScore": self.average_score().map(rounded),
            },
            "tokens": tokens,
            "costUsd": self.cost.whole().map(rounded),
            "judgeUsage": judges,
            "durationMs": end.duration_ms,
            "exitCode": end.exit_code,
        })
    }
}

/// Skipped cases and those behind a limit cost nothing; their silence is no gap in a sum.
fn was_started(row: &Row) -> bool {
    let limited = || matches!(&row.error, Some(error) if error.kind == "limit");
    row.outcome != Outcome::Skipped && !(limited() && row.tokens.is_none())
}

fn count_apart(map: &mut BTreeMap<String, Counts>, name: &str, outcome: Outcome) {
    if let Some(counts) = map.get_mut(name) {
        counts.add(outcome);
    } else if map.len() < TOLD_APART {
        let mut counts = Counts::default();
        counts.add(outcome);
        map.insert(name.to_owned(), counts);
    }
}

fn sample_apart(map: &mut BTreeMap<String, Sample>, name: &str, row: &Row) {
    if let Some(sample) = map.get_mut(name) {
        sample.add(row);
    } else if map.len() < TOLD_APART {
        let mut sample = Sample::default();
        sample.add(row);
        map.insert(name.to_owned(), sample);
    }
}

fn one_or_list<'a>(names: impl Iterator<Item = &'a String>) -> Value {
    let mut list: Vec<&str> = Vec::new();
    for name in names {
        if !list.contains(&name.as_str()) {
            list.push(name);
        }
    }
    match list[..] {
        [] => Value::Null,
        [one] => json!(one),
        _ => json!(list),
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn tally(rows: &[Row]) -> Tally {
        let mut tally = Tally::default();
        rows.iter().for_each(|row| tally.add(row));
        tally
    }

    #[test]
    fn a_sum_with_a_gap_is_no_sum() {
        let mut sum = Sum::default();
        assert_eq!(sum.whole(), None);
        sum.add(Some(0.5));
        assert_eq!(sum.whole(), Some(0.5));
        sum.add(None);
        assert_eq!(sum.whole(), None);
        assert_eq!((sum.known, sum.unreported), (0.5, 1));
    }

    #[test]
    fn skipped_and_limited_cases_leave_no_gap() {
        let mut limited = fixture::row("b", Outcome::Errored, None);
        limited.error = Some(fixture::fault("target", "limit", "the budget is used up"));
        (limited.cost_usd, limited.tokens) = (None, None);
        let mut skipped = fixture::row("c", Outcome::Skipped, None);
        (skipped.cost_usd, skipped.tokens) = (None, None);
        let rows = [
            fixture::row("a", Outcome::Passed, Some(1.0)),
            limited,
            skipped,
        ];
        assert_eq!(tally(&rows).cost.whole(), Some(0.002));
    }

    #[test]
    fn the_document_has_nulls_for_what_is_unknown() {
        let document = Tally::default().document(&RunEnd::default());
        for pointer in [
            "/summary/passRate",
            "/summary/averageScore",
            "/costUsd",
            "/tokens",
        ] {
            assert_eq!(document.pointer(pointer), Some(&Value::Null), "{pointer}");
        }
    }
}
