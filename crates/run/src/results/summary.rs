//! The summary of a run (spec 11.3), counted row by row. Rows may come in any order and
//! give the same summary, but for sums of floats in their last digits.
//!
//! Where the format is silent:
//! - `byEvaluator` has assertions as tests list them; members of composites are inside them.
//!   Its `count` is that of grades with a score. Names are sorted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use camino::Utf8Path;
use evalrig_core::model::Outcome;
use serde::Serialize;

use super::results_paths::write_path;
use super::row::{EvaluatorResult, GradeOutcome, JudgeUsage, Row, SCHEMA_VERSION, TokenCounts};
use super::totals::RunTotals;
use crate::disk::{self, Access, Durability};
use crate::text::numbers::rounded;

/// At most this many distinct misses are counted; later ones only if they are already known.
const DISTINCT_MISSES: usize = 10_000;
const TOP_MISSES: usize = 10;

/// Keys in the order of the format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    pub schema_version: u32,
    pub suite: String,
    /// End of the run, RFC 3339, UTC.
    pub timestamp: String,
    pub target: TargetNames,
    pub summary: CaseCounts,
    pub by_evaluator: BTreeMap<String, EvaluatorSummary>,
    pub top_misses: Vec<Miss>,
    pub tokens: Option<TokenCounts>,
    pub cost_usd: Option<f64>,
    pub judge_usage: Option<JudgeUsage>,
    /// Answers from the cache; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_answers: Option<u64>,
    pub duration_ms: Option<u64>,
    pub exit_code: u8,
}

/// A list when there are several, or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TargetNames {
    One(String),
    Several(Vec<String>),
}

/// How many cases had each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseCounts {
    pub total: u64,
    pub pass: u64,
    pub borderline: u64,
    pub fail: u64,
    pub errored: u64,
    pub skipped: u64,
    pub pass_rate: Option<f64>,
    pub average_score: Option<f64>,
}

impl From<&RunTotals> for CaseCounts {
    fn from(totals: &RunTotals) -> Self {
        let counts = &totals.counts;
        Self {
            total: counts.total(),
            pass: counts.of(Outcome::Passed),
            borderline: counts.of(Outcome::Borderline),
            fail: counts.of(Outcome::Failed),
            errored: counts.of(Outcome::Errored),
            skipped: counts.of(Outcome::Skipped),
            pass_rate: counts.pass_rate().map(rounded),
            average_score: totals.average_score().map(rounded),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatorSummary {
    pub count: u64,
    pub average_score: Option<f64>,
    pub min_score: Option<f64>,
    pub max_score: Option<f64>,
    pub errored: u64,
    pub skipped: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Miss {
    pub miss: String,
    pub count: u64,
}

/// What rows do not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFacts {
    pub suite: String,
    /// End of the run, RFC 3339, UTC.
    pub timestamp: String,
    /// Of the whole run by the clock.
    pub duration_ms: Option<u64>,
    pub exit_code: u8,
}

/// Mean, lowest and highest of numbers that are heard once.
#[derive(Debug, Clone, Copy, Default)]
struct Scores {
    count: u64,
    sum: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl Scores {
    fn add(&mut self, score: f64) {
        self.count += 1;
        self.sum += score;
        self.min = Some(self.min.map_or(score, |min| min.min(score)));
        self.max = Some(self.max.map_or(score, |max| max.max(score)));
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| rounded(self.sum / self.count as f64))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Grades {
    scores: Scores,
    errored: u64,
    skipped: u64,
}

/// Builds a summary row by row.
#[derive(Debug, Clone, Default)]
pub struct SummaryBuilder {
    totals: RunTotals,
    targets: BTreeSet<String>,
    evaluators: BTreeMap<String, Grades>,
    misses: HashMap<String, u64>,
    misses_left_out: u64,
}

impl SummaryBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, row: &Row) {
        self.totals.add(row);
        let target = row.variant();
        if !self.targets.contains(target.as_ref()) {
            self.targets.insert(target.into_owned());
        }
        for result in &row.evaluator_results {
            self.add_grade(result);
        }
        for miss in &row.misses {
            self.add_miss(miss);
        }
    }

    /// Misses that came after the limit of distinct ones.
    pub fn misses_left_out(&self) -> u64 {
        self.misses_left_out
    }

    pub fn finish(&self, facts: RunFacts) -> RunSummary {
        RunSummary {
            schema_version: SCHEMA_VERSION,
            suite: facts.suite,
            timestamp: facts.timestamp,
            target: self.target_names(),
            summary: CaseCounts::from(&self.totals),
            by_evaluator: self.by_evaluator(),
            top_misses: self.top_misses(),
            tokens: self.totals.tokens(),
            cost_usd: self.totals.cost_usd(),
            judge_usage: self.totals.judge_usage(),
            cached_answers: Some(self.totals.reused).filter(|reused| *reused > 0),
            duration_ms: facts.duration_ms,
            exit_code: facts.exit_code,
        }
    }

    fn add_grade(&mut self, result: &EvaluatorResult) {
        if !self.evaluators.contains_key(&result.name) {
            self.evaluators.insert(result.name.clone(), Grades::default());
        }
        let Some(grades) = self.evaluators.get_mut(&result.name) else {
            return;
        };
        match (result.outcome, result.score) {
            (GradeOutcome::Graded, Some(score)) => grades.scores.add(score),
            (GradeOutcome::Skipped, _) => grades.skipped += 1,
            (GradeOutcome::Errored | GradeOutcome::Graded, _) => grades.errored += 1,
        }
    }

    fn add_miss(&mut self, miss: &str) {
        if let Some(count) = self.misses.get_mut(miss) {
            *count += 1;
        } else if self.misses.len() < DISTINCT_MISSES {
            self.misses.insert(miss.to_owned(), 1);
        } else {
            self.misses_left_out += 1;
        }
    }

    fn target_names(&self) -> TargetNames {
        let mut names: Vec<String> = self.targets.iter().cloned().collect();
        match names.len() {
            1 => TargetNames::One(names.remove(0)),
            _ => TargetNames::Several(names),
        }
    }

    /// By name.
    pub fn by_evaluator(&self) -> BTreeMap<String, EvaluatorSummary> {
        let evaluators = self.evaluators.iter();
        let summaries = evaluators.map(|(name, grades)| {
            let summary = EvaluatorSummary {
                count: grades.scores.count,
                average_score: grades.scores.mean(),
                min_score: grades.scores.min.map(rounded),
                max_score: grades.scores.max.map(rounded),
                errored: grades.errored,
                skipped: grades.skipped,
            };
            (name.clone(), summary)
        });
        summaries.collect()
    }

    /// The most frequent misses.
    pub fn top_misses(&self) -> Vec<Miss> {
        let mut misses: Vec<_> = self.misses.iter().collect();
        misses.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        let top = misses.into_iter().take(TOP_MISSES);
        top.map(|(miss, count)| Miss { miss: miss.clone(), count: *count }).collect()
    }
}

pub fn write_summary(path: &Utf8Path, summary: &RunSummary) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(summary)?;
    text.push(b'\n');
    disk::replace(write_path(path), &text, Access::Private, Durability::Durable)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::testing::row;
    use super::*;

    /// The example of spec 11.3.
    const EXAMPLE: &str = r#"{"schemaVersion": 1, "suite": "csv", "timestamp": "2026-01-02T03:04:09Z", "target": "default",
 "summary": {"total": 6, "pass": 3, "borderline": 1, "fail": 0, "errored": 1, "skipped": 1, "passRate": 0.75, "averageScore": 0.9125},
 "byEvaluator": {"contains": {"count": 4, "averageScore": 1.0, "minScore": 1.0, "maxScore": 1.0, "errored": 0, "skipped": 0}},
 "topMisses": [{"miss": "Output contains September", "count": 1}],
 "tokens": {"input": 480, "output": 140, "total": 620, "cached": 0}, "costUsd": 0.008,
 "judgeUsage": {"calls": 4, "input": 1240, "output": 168, "costUsd": null}, "durationMs": 4100, "exitCode": 1}"#;

    fn facts() -> RunFacts {
        RunFacts {
            suite: "csv".to_owned(),
            timestamp: "2026-01-02T03:04:09Z".to_owned(),
            duration_ms: Some(4100),
            exit_code: 1,
        }
    }

    fn graded(test: &str, outcome: Outcome, score: f64) -> Row {
        let mut row = row(test, 1);
        row.outcome = outcome;
        row.score = Some(score);
        row.evaluator_results.retain(|one| one.name == "contains");
        if outcome == Outcome::Passed {
            row.misses.clear();
        }
        row
    }

    /// Nothing came back.
    fn empty(test: &str, outcome: Outcome) -> Row {
        let mut row = row(test, 1);
        row.outcome = outcome;
        row.score = None;
        row.candidate_answer = None;
        row.tokens = None;
        row.cost_usd = None;
        row.judge_usage = None;
        row.evaluator_results.clear();
        row.misses.clear();
        row
    }

    #[test]
    fn the_example_of_the_format_is_what_its_rows_give() {
        let mut tally = SummaryBuilder::new();
        for test in ["a", "b", "c"] {
            tally.add(&graded(test, Outcome::Passed, 1.0));
        }
        tally.add(&graded("d", Outcome::Borderline, 0.65));
        tally.add(&empty("e", Outcome::Errored));
        tally.add(&empty("f", Outcome::Skipped));
        let written = serde_json::to_string(&tally.finish(facts())).unwrap();
        let example: Value = serde_json::from_str(EXAMPLE).unwrap();
        // Objects keep the order of their keys, so equal texts have equal orders.
        assert_eq!(written, example.to_string());
    }

    #[test]
    fn a_sum_with_an_unknown_addend_is_unknown() {
        let mut tally = SummaryBuilder::new();
        tally.add(&graded("a", Outcome::Passed, 1.0));
        let mut unknown = graded("b", Outcome::Passed, 1.0);
        unknown.tokens = None;
        unknown.judge_usage =
            Some(JudgeUsage { calls: 2, input: None, output: Some(1), cost_usd: Some(0.1) });
        tally.add(&unknown);
        tally.add(&graded("c", Outcome::Passed, 1.0));
        let summary = tally.finish(facts());
        assert_eq!(summary.tokens, None);
        assert_eq!(summary.cost_usd, Some(0.006));
        let usage = summary.judge_usage.unwrap();
        assert_eq!((usage.calls, usage.input, usage.output), (4, None, Some(85)));
        assert_eq!(usage.cost_usd, None);
    }

    #[test]
    fn without_rows_there_are_no_rates() {
        let summary = SummaryBuilder::new().finish(facts());
        assert_eq!(summary.summary, CaseCounts::default());
        assert_eq!(summary.target, TargetNames::Several(Vec::new()));
        assert_eq!((summary.judge_usage, summary.cost_usd), (None, Some(0.0)));
    }

    #[test]
    fn several_targets_are_a_list() {
        let mut tally = SummaryBuilder::new();
        for target in ["b", "a", "b"] {
            let mut row = graded("t", Outcome::Passed, 1.0);
            row.target = target.to_owned();
            tally.add(&row);
        }
        let names = serde_json::to_string(&tally.finish(facts()).target).unwrap();
        assert_eq!(names, r#"["a","b"]"#);
    }

    #[test]
    fn top_misses_go_by_count_then_text_and_do_not_grow_without_end() {
        let mut tally = SummaryBuilder::new();
        let mut row = empty("a", Outcome::Failed);
        row.misses = ["z", "y", "x"].map(str::to_owned).to_vec();
        tally.add(&row);
        row.misses = vec!["z".to_owned()];
        tally.add(&row);
        row.misses = (0..20_000).map(|number| format!("miss {number}")).collect();
        tally.add(&row);
        assert_eq!(tally.misses_left_out(), 20_000 + 3 - DISTINCT_MISSES as u64);
        let top = tally.finish(facts()).top_misses;
        assert_eq!(top.len(), TOP_MISSES);
        assert_eq!((top[0].miss.as_str(), top[0].count), ("z", 2));
        assert_eq!(top[1].miss, "miss 0");
    }

    #[test]
    fn errored_and_skipped_grades_have_no_score() {
        let mut row = graded("a", Outcome::Errored, 1.0);
        let mut errored = row.evaluator_results[0].clone();
        errored.outcome = GradeOutcome::Errored;
        errored.score = None;
        let mut skipped = errored.clone();
        skipped.outcome = GradeOutcome::Skipped;
        row.evaluator_results.extend([errored, skipped]);
        let mut tally = SummaryBuilder::new();
        tally.add(&row);
        let grades = tally.finish(facts()).by_evaluator["contains"];
        assert_eq!((grades.count, grades.errored, grades.skipped), (1, 1, 1));
        assert_eq!(grades.average_score, Some(1.0));
    }
}
