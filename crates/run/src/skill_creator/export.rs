//! Rows → the folders of an iteration: `eval-<id>/<configuration>/run-<n>/` and `benchmark.json`.
//!
//! Rows are read twice: [`SkillCreatorExport::survey`] learns which tests there are,
//! [`SkillCreatorExport::run`] makes the files of one run, so that no answer stays in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use camino::Utf8PathBuf;
use serde::Serialize;

use super::benchmark::benchmark_files;
use super::compared_evals::ComparedEvals;
use super::configuration::configuration_of;
use super::documents::{
    BenchmarkMetadata, BenchmarkRun, EvalMetadata, ExecutionMetrics, Grading, GradingSummary,
    RunFigures, Timing, UserNotes, rounded,
};
use super::expectation::{expectations_of, ungraded_notes};
use super::file_names::DirectoryNames;
use super::output_files::{OutputFiles, WorkspaceFile};
use crate::results::Row;

const ANSWER: &str = "answer.md";
/// Runs without a verdict that are named; the rest is counted.
const NAMED: usize = 20;

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedFile {
    /// Below the directory of the export, with `/`.
    pub name: String,
    pub content: ExportedContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportedContent {
    Text(String),
    Copy(WorkspaceFile),
}

impl ExportedFile {
    fn text(name: String, text: String) -> Self {
        Self { name, content: ExportedContent::Text(text) }
    }

    fn json(name: String, document: &impl Serialize) -> Self {
        let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
        text.push('\n');
        Self::text(name, text)
    }
}

/// The files of one run.
#[derive(Debug, Default)]
pub struct ExportedRun {
    pub files: Vec<ExportedFile>,
    /// What is not among them, and why.
    pub notes: Vec<String>,
}

/// An export in the making.
#[derive(Debug)]
pub struct SkillCreatorExport {
    /// Where kept workspaces are; absolute and without links.
    temporary: Vec<Utf8PathBuf>,
    suites: BTreeMap<String, SuiteFolder>,
    suite_names: DirectoryNames,
    targets: BTreeSet<String>,
    runs: usize,
}

/// What is known of one suite.
#[derive(Debug, Default)]
struct SuiteFolder {
    /// Where each test is written.
    tests: HashMap<String, (String, u32)>,
    compared: ComparedEvals,
    numbers: HashMap<String, u64>,
    eval_names: DirectoryNames,
    configuration_names: DirectoryNames,
    metadata: BTreeMap<u64, (String, EvalMetadata)>,
    /// Those that are part of the benchmark.
    evals_run: BTreeSet<u64>,
    runs: Vec<BenchmarkRun>,
    ungraded: Vec<String>,
    models: BTreeSet<String>,
    last: String,
    trials: u32,
}

impl SkillCreatorExport {
    pub fn new(temporary: Vec<Utf8PathBuf>) -> Self {
        Self {
            temporary,
            suites: BTreeMap::new(),
            suite_names: DirectoryNames::default(),
            targets: BTreeSet::new(),
            runs: 0,
        }
    }

    /// Learns of a row. Every row must be surveyed before the first is exported.
    pub fn survey(&mut self, row: &Row) {
        self.targets.insert(row.target.clone());
        let suite = self.suites.entry(row.dataset.clone()).or_default();
        let place = (row.source.file.clone(), row.source.line);
        suite.tests.entry(row.eval_id.clone()).or_insert(place);
        suite.compared.survey(row);
    }

    /// How many runs have been exported.
    pub fn run_count(&self) -> usize {
        self.runs
    }

    pub fn eval_count(&self) -> usize {
        self.suites.values().map(|suite| suite.metadata.len()).sum()
    }

    /// How many evals are not part of the benchmark.
    pub fn uncompared_count(&self) -> usize {
        self.suites.values().map(|suite| suite.compared.excluded()).sum()
    }

    /// The files of one run.
    pub fn run(&mut self, row: &Row) -> ExportedRun {
        let is_single = self.suites.len() == 1;
        let prefix = if is_single {
            String::new()
        } else {
            format!("{}/", self.suite_names.of(&row.dataset))
        };
        let Some(suite) = self.suites.get_mut(&row.dataset) else {
            return ExportedRun::default();
        };
        let configuration = configuration_of(row, self.targets.len() > 1);
        let outputs = OutputFiles::of(row.workspace.as_ref(), &self.temporary);
        let made = suite.run(row, &prefix, &configuration, outputs);
        self.runs += usize::from(!made.files.is_empty());
        made
    }

    /// The files that are about all runs. `notes` say what the results lack.
    pub fn finish(mut self, notes: &[String]) -> Vec<ExportedFile> {
        let is_single = self.suites.len() == 1;
        let mut files = Vec::new();
        for (name, suite) in self.suites {
            let prefix =
                if is_single { String::new() } else { format!("{}/", self.suite_names.of(&name)) };
            files.extend(suite.finish(&name, &prefix, notes));
        }
        files
    }
}

impl SuiteFolder {
    /// The number of a test: its own if all tests have one, else its place in the suite.
    fn number(&mut self, test: &str) -> u64 {
        if self.numbers.is_empty() {
            let own = |id: &String| id.parse::<u64>().ok().filter(|n| n.to_string() == *id);
            let mut tests: Vec<(&String, &(String, u32))> = self.tests.iter().collect();
            tests.sort_by_key(|(id, place)| (*place, *id));
            let own: Option<Vec<u64>> = tests.iter().map(|(id, _)| own(id)).collect();
            let numbers = own.unwrap_or_else(|| (1..=tests.len() as u64).collect());
            let ids = tests.into_iter().map(|(id, _)| id.clone());
            self.numbers = ids.zip(numbers).collect();
        }
        self.numbers.get(test).copied().unwrap_or_default()
    }

    fn run(
        &mut self,
        row: &Row,
        prefix: &str,
        configuration: &str,
        outputs: OutputFiles,
    ) -> ExportedRun {
        let eval_id = self.number(&row.eval_id);
        let configuration = self.configuration_names.of(configuration);
        let eval = format!("{prefix}eval-{}", self.eval_names.of(&row.eval_id));
        let eval_name = row.test_name.clone().unwrap_or_else(|| row.eval_id.clone());
        self.trials = self.trials.max(row.trial);
        self.last = self.last.clone().max(row.timestamp.clone());
        self.models.extend(row.agent.as_ref().and_then(|agent| agent.model.clone()));
        let expectations = expectations_of(row);
        if expectations.is_none() {
            let reason = row.error.as_ref().map_or("no verdict", |error| error.message.as_str());
            let run = row.trial;
            self.ungraded.push(format!("{eval_name} ({configuration}, run {run}): {reason}"));
        }
        let Some(answer) = &row.candidate_answer else {
            return ExportedRun::default();
        };
        let metadata = EvalMetadata {
            eval_id,
            eval_name: eval_name.clone(),
            prompt: row.question().unwrap_or_default(),
            assertions: expectations.iter().flatten().map(|one| one.text.clone()).collect(),
        };
        let directory = format!("{eval}/{configuration}/run-{}", row.trial);
        let mut notes = ungraded_notes(row);
        notes.extend(outputs.notes);
        let mut files = vec![
            ExportedFile::text(format!("{directory}/outputs/{ANSWER}"), answer.clone()),
            ExportedFile::json(format!("{directory}/eval_metadata.json"), &metadata),
            ExportedFile::json(format!("{directory}/timing.json"), &timing(row)),
        ];
        files.extend(outputs.files.into_iter().map(|file| {
            let name = if file.path == ANSWER { "workspace-answer.md" } else { &file.path };
            ExportedFile {
                name: format!("{directory}/outputs/{name}"),
                content: ExportedContent::Copy(file),
            }
        }));
        let is_compared = self.compared.counts(&row.eval_id);
        if let Some(expectations) = expectations.filter(|_| is_compared) {
            let grading = grading(row, expectations, &notes);
            let name = format!("{directory}/grading.json");
            files.push(ExportedFile::json(name, &grading));
            self.runs.push(BenchmarkRun {
                eval_id,
                eval_name,
                configuration,
                run_number: row.trial,
                result: figures(row, grading.summary),
                expectations: grading.expectations,
                notes: notes.clone(),
            });
        }
        if is_compared {
            self.evals_run.insert(eval_id);
        }
        let known = self.metadata.entry(eval_id).or_insert_with(|| (eval, metadata.clone()));
        if known.1.assertions.is_empty() {
            known.1 = metadata;
        }
        ExportedRun { files, notes }
    }

    fn finish(self, name: &str, prefix: &str, notes: &[String]) -> Vec<ExportedFile> {
        let mut all = notes.to_vec();
        all.extend(self.compared.notes());
        if !self.ungraded.is_empty() {
            let count = self.ungraded.len();
            let noun = if count == 1 { "run has" } else { "runs have" };
            all.push(format!("{count} {noun} no verdict and {} not counted", are(count)));
            all.extend(self.ungraded.iter().take(NAMED).cloned());
            if let more @ 1.. = count.saturating_sub(NAMED) {
                all.push(format!("and {more} more"));
            }
        }
        let models: Vec<String> = self.models.into_iter().collect();
        let metadata = BenchmarkMetadata {
            skill_name: name.to_owned(),
            executor_model: (!models.is_empty()).then(|| models.join(", ")),
            timestamp: self.last,
            evals_run: self.evals_run.into_iter().collect(),
            runs_per_configuration: self.trials,
        };
        let (benchmark, page) = benchmark_files(metadata, self.runs, all);
        let evals = self.metadata.into_values();
        let evals = evals.map(|(directory, metadata)| {
            ExportedFile::json(format!("{directory}/eval_metadata.json"), &metadata)
        });
        let mut files: Vec<ExportedFile> = evals.collect();
        files.push(ExportedFile::json(format!("{prefix}benchmark.json"), &benchmark));
        files.push(ExportedFile::text(format!("{prefix}benchmark.md"), page));
        files
    }
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn tokens_of(row: &Row) -> Option<u64> {
    row.tokens.map(|tokens| tokens.total).or(row.trace_summary.total_tokens)
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

fn timing(row: &Row) -> Timing {
    Timing {
        total_tokens: tokens_of(row),
        duration_ms: row.duration_ms,
        total_duration_seconds: row.duration_ms.map(seconds),
    }
}

fn grading(
    row: &Row,
    expectations: Vec<super::documents::Expectation>,
    notes: &[String],
) -> Grading {
    let summary = GradingSummary::of(&expectations);
    let tool_calls = row.trace_summary.tool_names.as_ref().map(|names| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for name in names {
            *counts.entry(name.clone()).or_default() += 1;
        }
        counts
    });
    let execution_metrics = ExecutionMetrics {
        tool_calls,
        total_tool_calls: row.trace_summary.tool_call_count,
        total_steps: row.trace_summary.llm_call_count,
    };
    let notes = (!notes.is_empty())
        .then(|| UserNotes { needs_review: notes.to_vec(), ..UserNotes::default() });
    Grading { expectations, summary, execution_metrics, user_notes_summary: notes }
}

fn figures(row: &Row, summary: GradingSummary) -> RunFigures {
    RunFigures {
        pass_rate: summary.pass_rate,
        passed: summary.passed,
        failed: summary.failed,
        total: summary.total,
        time_seconds: row.duration_ms.map(|ms| rounded(seconds(ms))),
        tokens: tokens_of(row),
        tool_calls: row.trace_summary.tool_call_count,
        errors: 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::results::testing::row;
    use crate::results::{RowError, WorkspaceChanges};

    fn exported(rows: &[Row]) -> BTreeMap<String, String> {
        let mut export = SkillCreatorExport::new(Vec::new());
        rows.iter().for_each(|row| export.survey(row));
        let mut files: Vec<ExportedFile> =
            rows.iter().flat_map(|row| export.run(row).files).collect();
        files.extend(export.finish(&[]));
        let text = |file: ExportedFile| match file.content {
            ExportedContent::Text(text) => (file.name, text),
            ExportedContent::Copy(_) => panic!("nothing was kept"),
        };
        files.into_iter().map(text).collect()
    }

    fn of(test: &str, target: &str, trial: u32, line: u32) -> Row {
        let mut row = row(test, trial);
        row.target = target.to_owned();
        row.source.line = line;
        row.input = vec![json!({"role": "user", "content": format!("Ask {test}")})].into();
        row
    }

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    /// What `aggregate_benchmark` and `generate_review` of skill-creator need.
    #[test]
    fn the_files_have_the_shapes_that_skill_creator_reads() {
        let rows = [
            of("top-months", "with_skill", 1, 9),
            of("top-months", "without_skill", 1, 9),
            of("clean", "with_skill", 1, 4),
            of("clean", "with_skill", 2, 4),
        ];
        let files = exported(&rows);
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        let run = |directory: &str| {
            ["eval_metadata.json", "grading.json", "outputs/answer.md", "timing.json"]
                .map(|file| format!("{directory}/{file}"))
        };
        let mut expected: Vec<String> = [
            "eval-clean/with_skill/run-1",
            "eval-clean/with_skill/run-2",
            "eval-top-months/with_skill/run-1",
            "eval-top-months/without_skill/run-1",
        ]
        .iter()
        .flat_map(|directory| run(directory))
        .collect();
        expected.extend(
            ["benchmark.json", "benchmark.md", "eval-clean/eval_metadata.json"].map(str::to_owned),
        );
        expected.push("eval-top-months/eval_metadata.json".to_owned());
        expected.sort();
        assert_eq!(names, expected);

        let grading = parsed(&files["eval-clean/with_skill/run-2/grading.json"]);
        assert_eq!(
            grading["summary"],
            json!({"passed": 2, "failed": 1, "total": 3, "pass_rate": 0.6667})
        );
        for expectation in grading["expectations"].as_array().unwrap() {
            assert!(expectation["text"].is_string() && expectation["evidence"].is_string());
            assert!(expectation["passed"].is_boolean());
        }
        // With a `timing` here, the tokens of `timing.json` are not read.
        assert_eq!(grading.get("timing"), None);
        assert_eq!(grading["execution_metrics"]["tool_calls"], json!({"Skill": 1}));
        assert_eq!(grading["execution_metrics"].get("output_chars"), None);
        let timing = parsed(&files["eval-clean/with_skill/run-2/timing.json"]);
        let expected =
            json!({"total_tokens": 155, "duration_ms": 900, "total_duration_seconds": 0.9});
        assert_eq!(timing, expected);
        for place in ["eval-top-months", "eval-top-months/with_skill/run-1"] {
            let metadata = parsed(&files[&format!("{place}/eval_metadata.json")]);
            assert_eq!(metadata["eval_id"], 2);
            assert_eq!(metadata["eval_name"], "top-months");
            assert_eq!(metadata["prompt"], "Ask top-months");
            assert_eq!(metadata["assertions"].as_array().unwrap().len(), 3);
        }
        let benchmark = parsed(&files["benchmark.json"]);
        assert_eq!(benchmark["metadata"]["skill_name"], "csv");
        assert_eq!(benchmark["metadata"]["evals_run"], json!([1, 2]));
        assert_eq!(benchmark["metadata"]["runs_per_configuration"], 2);
        let runs = benchmark["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 4);
        for key in ["eval_id", "run_number"] {
            assert!(runs.iter().all(|run| run[key].is_u64()), "{key}");
        }
        let keys = ["pass_rate", "passed", "failed", "total", "time_seconds", "tokens", "errors"];
        assert!(runs.iter().all(|run| keys.iter().all(|key| run["result"][key].is_number())));
        assert_eq!(benchmark["run_summary"]["delta"]["pass_rate"], "+0.00");
    }

    #[test]
    fn unknown_numbers_are_absent_and_no_verdict_means_no_grading() {
        let mut unknown = of("1", "claude", 1, 1);
        (unknown.tokens, unknown.duration_ms) = (None, None);
        unknown.trace_summary = crate::results::Trace::default();
        let mut errored = of("2", "claude", 1, 2);
        errored.verdict = None;
        errored.error = Some(RowError {
            stage: "judge".to_owned(),
            kind: "timeout".to_owned(),
            message: "the judge did not answer".to_owned(),
        });
        let mut silent = errored.clone();
        (silent.trial, silent.candidate_answer) = (2, None);
        let files = exported(&[unknown, errored, silent]);
        assert_eq!(parsed(&files["eval-1/claude/run-1/timing.json"]), json!({}));
        let metrics = &parsed(&files["eval-1/claude/run-1/grading.json"])["execution_metrics"];
        assert_eq!(*metrics, json!({}));
        assert!(files.contains_key("eval-2/claude/run-1/outputs/answer.md"));
        assert!(!files.contains_key("eval-2/claude/run-1/grading.json"));
        assert!(!files.keys().any(|name| name.contains("run-2")));
        let benchmark = parsed(&files["benchmark.json"]);
        assert_eq!(benchmark["notes"][0], "2 runs have no verdict and are not counted");
        assert_eq!(benchmark["notes"][1], "2 (claude, run 1): the judge did not answer");
        assert_eq!(benchmark["metadata"]["evals_run"], json!([1, 2]));
        assert_eq!(benchmark["runs"][0]["result"].get("tokens"), None);
    }

    /// The difference is that of the arms on the same evals.
    #[test]
    fn evals_that_only_one_arm_can_pass_are_not_compared() {
        let of_arm = |test: &str, arm: &str, line: u32| {
            let mut row = of(test, "claude", 1, line);
            row.arm = Some(arm.to_owned());
            row
        };
        let mut failed = of_arm("sum", "without", 1);
        for result in &mut failed.evaluator_results {
            result.score = result.score.map(|_| 0.0);
            result.details = None;
        }
        let mut contract = of_arm("quiet", "with", 2);
        let skills = crate::results::RowSkills { contract: true, ..Default::default() };
        contract.skills = Some(skills);
        let mut skipped = of_arm("trigger", "without", 3);
        (skipped.verdict, skipped.candidate_answer) = (None, None);
        let rows =
            [of_arm("sum", "with", 1), failed, contract, of_arm("trigger", "with", 3), skipped];
        let files = exported(&rows);
        assert!(files.contains_key("eval-quiet/with_skill/run-1/outputs/answer.md"));
        for test in ["quiet", "trigger"] {
            let name = format!("eval-{test}/with_skill/run-1/grading.json");
            assert!(!files.contains_key(&name), "{name}");
        }
        let benchmark = parsed(&files["benchmark.json"]);
        assert_eq!(benchmark["metadata"]["evals_run"], json!([1]));
        assert_eq!(benchmark["runs"].as_array().unwrap().len(), 2);
        let [with, without] = ["with_skill", "without_skill"]
            .map(|name| benchmark["run_summary"][name]["pass_rate"]["mean"].as_f64().unwrap());
        let delta = benchmark["run_summary"]["delta"]["pass_rate"].as_str().unwrap();
        assert_eq!(delta, format!("{:+.2}", with - without));
        assert_eq!(
            benchmark["notes"].as_array().unwrap()[..2],
            [
                "Not compared, because they only demand that the skill is left alone (`should_trigger: false`): quiet",
                "Not compared, because they do not have a verdict in every arm: trigger",
            ]
        );
    }

    #[test]
    fn several_suites_have_a_folder_each_and_notes_say_what_is_left_out() {
        let mut second = of("1", "claude", 1, 1);
        second.dataset = "other".to_owned();
        second.workspace =
            Some(WorkspaceChanges { created: vec!["a.txt".to_owned()], ..Default::default() });
        let files = exported(&[of("1", "claude", 1, 1), second]);
        assert!(files.contains_key("csv/eval-1/claude/run-1/grading.json"));
        let grading = parsed(&files["other/eval-1/claude/run-1/grading.json"]);
        let note = grading["user_notes_summary"]["needs_review"][0].as_str().unwrap();
        assert!(note.starts_with("1 file of the agent left out: "), "{note}");
    }
}
