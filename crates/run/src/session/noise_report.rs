//! Where the noise of stored runs comes from: rows of several runs as variances, and what more of each
//! would buy.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::compare::Measure;
use evalrig_core::model::Outcome;
use evalrig_core::stats::{
    MeasuredEffort, NoiseComponents, StandardError, noise_components, reading_variance,
};

use crate::results::{EvaluatorResult, Row, Rows, header_of_file};

use super::base_runs::BaseRunFiles;
use super::error::SessionError;
use super::known_secrets::known_secrets;
use super::spec::LoadOptions;

/// Tests in a list of the slowest or dearest.
const LISTED: usize = 5;
/// Tests that never differed and are named.
const NAMED: usize = 10;

/// A test on one target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestName {
    pub suite: String,
    pub test: String,
    pub target: String,
}

/// What one more dollar would do to the standard error.
#[derive(Debug, Clone, PartialEq)]
pub struct DollarChoice {
    /// `trials`, `tests` or `votes`.
    pub what: &'static str,
    /// What one costs; `None` is not known.
    pub unit_usd: Option<f64>,
    /// With one dollar more; `None` if the price or the noise is not known.
    pub after: Option<StandardError>,
}

/// What is left out because the test means something else now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OlderTests {
    pub tests: u64,
    /// Measured ones.
    pub cases: u64,
}

/// The noise of stored runs.
#[derive(Debug, Clone)]
pub struct NoiseReport {
    pub runs: u64,
    pub tests: u64,
    /// Measured cases.
    pub cases: u64,
    /// Cases without a verdict.
    pub unmeasured: u64,
    pub older: OlderTests,
    pub noise: NoiseComponents,
    /// Between readings of the same answer; part of the variance between trials.
    pub judge: Option<f64>,
    pub effort: MeasuredEffort,
    pub error: Option<StandardError>,
    pub choices: Vec<DollarChoice>,
    /// Tests that passed in every trial, and those that passed in none. Only tests with several trials.
    pub always: Vec<TestName>,
    pub always_count: u64,
    pub never: Vec<TestName>,
    pub never_count: u64,
    /// Tests with several trials.
    pub repeated: u64,
    /// With their mean duration in milliseconds.
    pub slowest: Vec<(TestName, f64)>,
    /// With their mean cost, judges included.
    pub dearest: Vec<(TestName, f64)>,
    pub gaps: Vec<String>,
}

/// The values of one test by run, and what its cases took.
#[derive(Debug)]
struct TestRecord {
    runs: BTreeMap<usize, Vec<f64>>,
    passes: u64,
    cases: u64,
    durations: Vec<f64>,
    costs: Vec<Option<f64>>,
    /// Readings within one row, of judges that vote.
    votes: Vec<Vec<f64>>,
    vote_counts: Vec<f64>,
    judge_calls: u64,
    /// What they cost, as far as it is known.
    judge_cost: Option<f64>,
    /// End of the newest case.
    newest: String,
}

impl TestRecord {
    fn new() -> Self {
        Self {
            runs: BTreeMap::new(),
            passes: 0,
            cases: 0,
            durations: Vec::new(),
            costs: Vec::new(),
            votes: Vec::new(),
            vote_counts: Vec::new(),
            judge_calls: 0,
            judge_cost: Some(0.0),
            newest: String::new(),
        }
    }
}

/// What a test meant: its `testHash`.
type Meaning = String;

/// Answers that were graded more than once. Grades by different checks are not readings of one kind.
type Readings = HashMap<(TestName, Meaning, u32, String), Vec<f64>>;

#[derive(Debug)]
struct NoiseCollector {
    measure: Measure,
    tests: BTreeMap<TestName, BTreeMap<Meaning, TestRecord>>,
    /// Answers by their test, trial and content, as they were graded first and again.
    readings: Readings,
    unmeasured: u64,
}

pub fn measure_noise(
    loading: &LoadOptions,
    runs: &[BaseRunFiles],
    measure: Measure,
) -> Result<NoiseReport, SessionError> {
    let secrets = Arc::new(known_secrets(loading, &loading.working_directory));
    let mut found = NoiseCollector::new(measure);
    let mut gaps = Vec::new();
    let mut count = 0;
    for files in runs {
        let regraded = is_regraded(files);
        let mut rows = Rows::open_by_run(files)?.redacting(Arc::clone(&secrets));
        let is_joined = rows.has_several_runs();
        // Shards have ids of their own and are one run.
        let mut ids: Vec<Option<String>> = Vec::new();
        for row in rows.by_ref() {
            let row = row?;
            let id = row.run.as_ref().filter(|_| is_joined);
            let known = ids.iter().rposition(|known| known.as_ref() == id);
            let at = known.unwrap_or_else(|| {
                ids.push(id.cloned());
                ids.len() - 1
            });
            found.add(count + at, regraded, &row);
        }
        gaps.extend(rows.gaps_shown(None, |path| loading.shown(path)).sentences());
        if !regraded {
            count += ids.len().max(1);
        }
    }
    if found.tests.is_empty() {
        return Err(SessionError::NoRow("no test of the runs was measured".to_owned()));
    }
    Ok(found.report(gaps))
}

/// Whether the rows are answers of another run, graded again.
fn is_regraded(files: &[Utf8PathBuf]) -> bool {
    let header = files.first().and_then(|file| header_of_file(file));
    header.is_some_and(|header| header.is_regraded())
}

impl NoiseCollector {
    fn new(measure: Measure) -> Self {
        Self { measure, tests: BTreeMap::new(), readings: Readings::new(), unmeasured: 0 }
    }

    fn add(&mut self, run: usize, regraded: bool, row: &Row) {
        let is_judged =
            matches!(row.outcome, Outcome::Passed | Outcome::Borderline | Outcome::Failed);
        let passed = f64::from(u8::from(row.outcome == Outcome::Passed));
        let value = match self.measure {
            Measure::Rate => Some(passed),
            Measure::Score => row.score,
        };
        let Some(value) = value.filter(|_| is_judged) else {
            self.unmeasured += u64::from(!regraded && row.outcome != Outcome::Skipped);
            return;
        };
        let name = TestName {
            suite: row.dataset.clone(),
            test: row.eval_id.clone(),
            target: row.variant().into_owned(),
        };
        if let (Some(hash), Some(_)) = (row.answer_hash(), &row.judge_usage) {
            let answer = (name.clone(), row.test_hash.clone(), row.trial, hash);
            self.readings.entry(answer).or_default().push(value);
        }
        if regraded {
            return;
        }
        let meanings = self.tests.entry(name).or_default();
        let record = meanings.entry(row.test_hash.clone()).or_insert_with(TestRecord::new);
        record.add(run, value, self.measure, row);
    }

    /// Of each test what it means now, and how much is older.
    fn newest(self) -> (NewestTests, OlderTests) {
        let (mut found, mut older) = (BTreeMap::new(), OlderTests::default());
        for (name, meanings) in self.tests {
            let mut records: Vec<TestRecord> = meanings.into_values().collect();
            records.sort_by(|one, other| one.newest.cmp(&other.newest));
            let Some(newest) = records.pop() else { continue };
            older.tests += u64::from(!records.is_empty());
            older.cases += records.iter().map(|record| record.cases).sum::<u64>();
            found.insert(name, newest);
        }
        let tests = NewestTests { tests: found, readings: self.readings };
        (tests, older)
    }

    fn report(self, gaps: Vec<String>) -> NoiseReport {
        let unmeasured = self.unmeasured;
        let (newest, older) = self.newest();
        newest.report(older, unmeasured, gaps)
    }
}

impl TestRecord {
    fn add(&mut self, run: usize, value: f64, measure: Measure, row: &Row) {
        if let Some(usage) = &row.judge_usage {
            self.judge_calls += usage.calls;
            self.judge_cost = self.judge_cost.zip(usage.cost_usd).map(|(a, b)| a + b);
        }
        self.add_votes(measure, row);
        let judges = row.judge_usage.map_or(Some(0.0), |usage| usage.cost_usd);
        self.runs.entry(run).or_default().push(value);
        self.passes += u64::from(row.outcome == Outcome::Passed);
        self.cases += 1;
        self.durations.extend(row.duration_ms.map(|ms| ms as f64));
        self.costs.push(row.cost_usd.zip(judges).map(|(a, b)| a + b));
        if self.newest < row.timestamp {
            self.newest.clone_from(&row.timestamp);
        }
    }

    /// Votes on an assertion, by its share of the score of the case. They say nothing about passes.
    fn add_votes(&mut self, measure: Measure, row: &Row) {
        let weights: f64 = row.evaluator_results.iter().map(weight).sum();
        for result in &row.evaluator_results {
            let Some(scores) = vote_scores(result) else { continue };
            self.vote_counts.push(scores.len() as f64);
            if measure == Measure::Score && weights > 0.0 {
                let share = weight(result) / weights;
                self.votes.push(scores.iter().map(|score| score * share).collect());
            }
        }
    }
}

/// Tests as they are now.
struct NewestTests {
    tests: BTreeMap<TestName, TestRecord>,
    readings: Readings,
}

impl NewestTests {
    fn report(self, older: OlderTests, unmeasured: u64, gaps: Vec<String>) -> NoiseReport {
        let values: Vec<Vec<Vec<f64>>> =
            self.tests.values().map(|test| test.runs.values().cloned().collect()).collect();
        let noise = noise_components(&values);
        let votes = self.tests.values().flat_map(|test| test.votes.iter().cloned());
        let readings = self.readings.values().cloned().chain(votes);
        let judge = reading_variance(&readings.collect::<Vec<_>>());
        let cases: u64 = self.tests.values().map(|test| test.cases).sum();
        let tests = self.tests.len() as f64;
        let groups: usize = values.iter().map(Vec::len).sum();
        let vote_counts: Vec<f64> =
            self.tests.values().flat_map(|test| test.vote_counts.iter().copied()).collect();
        let effort = MeasuredEffort {
            tests,
            runs: groups as f64 / tests,
            trials: cases as f64 / groups as f64,
            readings: mean_of(&vote_counts).unwrap_or(1.0),
        };
        let error = noise.standard_error(effort, judge);
        let choices = self.choices(&noise, judge, effort);
        let repeated = || self.tests.iter().filter(|(_, test)| test.cases > 1);
        let always: Vec<&TestName> = repeated()
            .filter(|(_, test)| test.passes == test.cases)
            .map(|(name, _)| name)
            .collect();
        let never: Vec<&TestName> =
            repeated().filter(|(_, test)| test.passes == 0).map(|(name, _)| name).collect();
        let named =
            |all: &[&TestName]| all.iter().take(NAMED).map(|name| (*name).clone()).collect();
        let runs: BTreeSet<&usize> =
            self.tests.values().flat_map(|test| test.runs.keys()).collect();
        NoiseReport {
            runs: runs.len() as u64,
            tests: self.tests.len() as u64,
            cases,
            unmeasured,
            older,
            noise,
            judge,
            effort,
            error,
            choices,
            always: named(&always),
            always_count: always.len() as u64,
            never: named(&never),
            never_count: never.len() as u64,
            repeated: repeated().count() as u64,
            slowest: self.largest(|test| mean_of(&test.durations)),
            dearest: self.largest(|test| {
                let costs: Option<Vec<f64>> = test.costs.iter().copied().collect();
                mean_of(&costs?)
            }),
            gaps,
        }
    }

    /// The tests with the largest values above 0, in descending order.
    fn largest(&self, value: impl Fn(&TestRecord) -> Option<f64>) -> Vec<(TestName, f64)> {
        let tests = self.tests.iter();
        let mut found: Vec<(TestName, f64)> = tests
            .filter_map(|(name, test)| Some((name.clone(), value(test)?)))
            .filter(|(_, value)| *value > 0.0)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.truncate(LISTED);
        found
    }

    fn choices(
        &self,
        noise: &NoiseComponents,
        judge: Option<f64>,
        effort: MeasuredEffort,
    ) -> Vec<DollarChoice> {
        let costs: Option<Vec<f64>> =
            self.tests.values().flat_map(|test| test.costs.iter().copied()).collect();
        let case = costs.and_then(|costs| mean_of(&costs)).filter(|cost| *cost > 0.0);
        let groups = effort.tests * effort.runs;
        let cases = groups * effort.trials;
        let trials = case.and_then(|cost| {
            let more = MeasuredEffort { trials: effort.trials + 1.0 / (cost * groups), ..effort };
            noise.standard_error(more, judge)
        });
        let tests = case.and_then(|cost| {
            let added = 1.0 / (cost * effort.runs * effort.trials);
            let more = MeasuredEffort { tests: effort.tests + added, ..effort };
            let now = noise.standard_error(effort, judge)?;
            let found = noise.standard_error(more, judge)?;
            // New tests say nothing about the ones there are.
            Some(StandardError { these_tests: now.these_tests, ..found })
        });
        // One reading of every answer may take several calls, one for each judged check.
        let judge_cost: Option<f64> = self.tests.values().map(|test| test.judge_cost).sum();
        let judge_calls: u64 = self.tests.values().map(|test| test.judge_calls).sum();
        let reading = judge_cost.filter(|cost| *cost > 0.0);
        let reading = reading.map(|cost| cost / (cases * effort.readings));
        let votes = reading.zip(judge).and_then(|(cost, variance)| {
            let readings = effort.readings + 1.0 / (cost * cases);
            noise.error_with(effort, readings, Some(variance))
        });
        let mut choices = vec![
            DollarChoice { what: "trials", unit_usd: case, after: trials },
            DollarChoice {
                what: "tests",
                unit_usd: case.map(|cost| cost * effort.runs * effort.trials),
                after: tests,
            },
        ];
        if judge_calls > 0 {
            choices.push(DollarChoice { what: "votes", unit_usd: reading, after: votes });
        }
        choices
    }
}

fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn weight(result: &EvaluatorResult) -> f64 {
    result.weight.as_f64().filter(|_| result.score.is_some()).unwrap_or(0.0)
}

/// The scores of the readings, where a judge was asked several times.
fn vote_scores(result: &EvaluatorResult) -> Option<Vec<f64>> {
    let scores = result.details.as_ref()?.get("votes")?.get("scores")?.as_array()?;
    let scores: Vec<f64> = scores.iter().filter_map(serde_json::Value::as_f64).collect();
    (scores.len() > 1).then_some(scores)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::fixture;
    use crate::results::JudgeUsage;

    fn row(test: &str, trial: u32, passes: bool, cost: Option<f64>) -> Row {
        let outcome = if passes { Outcome::Passed } else { Outcome::Failed };
        let mut row = fixture::row(test, outcome, Some(f64::from(u8::from(passes))));
        (row.trial, row.cost_usd, row.judge_usage) = (trial, cost, None);
        row
    }

    #[test]
    fn one_more_dollar_buys_trials_or_tests() {
        let mut found = NoiseCollector::new(Measure::Rate);
        for run in 0..2 {
            for trial in 1..=2 {
                found.add(run, false, &row("steady", trial, true, Some(0.25)));
                found.add(run, false, &row("flaky", trial, trial == 1, Some(0.25)));
                found.add(run, false, &row("broken", trial, false, Some(0.25)));
            }
        }
        let report = found.report(Vec::new());
        assert_eq!((report.runs, report.tests, report.cases), (2, 3, 12));
        assert_eq!((report.always_count, report.never_count, report.repeated), (1, 1, 3));
        assert_eq!(report.always[0].test, "steady");
        let now = report.error.unwrap();
        let [trials, tests] = &report.choices[..] else { panic!("{:?}", report.choices) };
        assert_eq!((trials.unit_usd, tests.unit_usd), (Some(0.25), Some(1.0)));
        assert!(trials.after.unwrap().these_tests < now.these_tests);
        assert_eq!(tests.after.unwrap().these_tests, now.these_tests);
        assert!(tests.after.unwrap().such_tests < now.such_tests);
    }

    /// The test passed until it was made harder; its runs do not differ for that.
    #[test]
    fn a_test_that_was_edited_is_not_noise() {
        let mut found = NoiseCollector::new(Measure::Rate);
        let versions = [("old", "2026-01-01T00:00:00Z"), ("new", "2026-01-02T00:00:00Z")];
        // The runs may be named in any order.
        for (run, at) in [(0, 1), (1, 0), (2, 1)] {
            let (hash, time) = versions[at];
            for trial in 1..=4 {
                let mut edited = row("edited", trial, at == 0, Some(0.25));
                edited.judge_usage =
                    Some(JudgeUsage { calls: 1, cost_usd: Some(0.01), ..JudgeUsage::default() });
                (edited.test_hash, edited.timestamp) = (hash.to_owned(), time.to_owned());
                found.add(run, false, &edited);
                found.add(run, false, &row("same", trial, true, Some(0.25)));
            }
        }
        let report = found.report(Vec::new());
        assert_eq!(report.older, OlderTests { tests: 1, cases: 4 });
        assert_eq!((report.runs, report.tests, report.cases), (3, 2, 20));
        assert_eq!((report.noise.run, report.noise.trial), (Some(0.0), Some(0.0)));
        assert_eq!((report.always_count, report.never_count), (1, 1));
    }

    /// The answer is the same, but not what it is checked for.
    #[test]
    fn grades_by_an_edited_check_are_not_readings_of_one_judge() {
        let mut found = NoiseCollector::new(Measure::Rate);
        let usage = JudgeUsage { calls: 1, cost_usd: Some(0.01), ..JudgeUsage::default() };
        for passes in [true, false] {
            let mut row = row("a", 1, passes, Some(0.25));
            (row.candidate_answer, row.judge_usage) = (Some("x".to_owned()), Some(usage));
            row.test_hash = passes.to_string();
            found.add(0, !passes, &row);
        }
        assert_eq!(found.report(Vec::new()).judge, None);
    }

    #[test]
    fn a_cost_that_is_not_reported_is_not_zero() {
        let mut found = NoiseCollector::new(Measure::Rate);
        found.add(0, false, &row("a", 1, true, Some(0.25)));
        found.add(0, false, &row("a", 2, false, None));
        let report = found.report(Vec::new());
        assert_eq!(report.choices[0], DollarChoice { what: "trials", unit_usd: None, after: None });
        assert!(report.dearest.is_empty());
    }

    #[test]
    fn answers_that_were_graded_again_show_the_noise_of_judges() {
        let mut found = NoiseCollector::new(Measure::Rate);
        let usage = JudgeUsage { calls: 1, cost_usd: Some(0.01), ..JudgeUsage::default() };
        for passes in [true, false] {
            let mut row = row("a", 1, passes, Some(0.25));
            (row.candidate_answer, row.judge_usage) = (Some("x".to_owned()), Some(usage));
            found.add(0, !passes, &row);
        }
        let report = found.report(Vec::new());
        assert_eq!((report.judge, report.cases), (Some(0.5), 1));
    }

    #[test]
    fn votes_count_by_the_share_of_their_assertion() {
        let mut found = NoiseCollector::new(Measure::Score);
        let mut row = fixture::row("a", Outcome::Passed, Some(1.0));
        let [mut voted, mut other] =
            ["judge", "contains"].map(|name| fixture::graded(name, name, 1.0));
        voted.details = Some(json!({"votes": {"scores": [1.0, 0.0, 1.0]}}));
        (voted.weight, other.weight) = (1.into(), 3.into());
        row.evaluator_results = vec![voted, other];
        let share = 0.25;
        found.add(0, false, &row);
        let report = found.report(Vec::new());
        assert_eq!(report.effort.readings, 3.0);
        assert!((report.judge.unwrap() - share * share / 3.0).abs() < 1e-12);
    }
}
