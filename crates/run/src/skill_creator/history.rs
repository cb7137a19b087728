//! The iterations of a skill-creator workspace as runs (spec 19.6).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, Reach};
use evalrig_core::stats::Fnv1a;
use serde_json::Value;

use super::history_files::{
    BENCHMARK, GRADING, METADATA, OUTPUTS, RunFolder, TIMING, has_file, iterations, runs,
};
use super::history_rows::{RunDocuments, RunIdentity, benchmark_documents, row_of, shown_path};
use crate::clock::{in_utc, rfc3339};
use crate::disk::{Disk, read_whole};
use crate::results::{PlanOptions, PlannedSuite, Row, RunHeader};

/// More than any of these files has.
const LIMIT: u64 = 64 * 1024 * 1024;
const LONGEST_ANSWER: u64 = 1024 * 1024;
/// Of the files in `outputs/`, named in a row.
const MOST_OUTPUTS: usize = 1000;
const ANSWER: &str = "answer.md";

/// Why folders cannot be read as results.
#[derive(Debug)]
pub enum HistoryError {
    NoRuns(Utf8PathBuf),
    Unreadable { path: Utf8PathBuf, reason: String },
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuns(path) => {
                write!(f, "`{path}` has no grading.json and no benchmark.json of skill-creator")
            }
            Self::Unreadable { path, reason } => write!(f, "cannot read `{path}`: {reason}"),
        }
    }
}

impl std::error::Error for HistoryError {}

/// One iteration as a run.
#[derive(Debug)]
pub struct SkillHistory {
    /// The name of its directory, such as `iteration-1`.
    pub name: String,
    pub header: RunHeader,
    /// At least one.
    pub rows: Vec<Row>,
}

/// Whether a path is a workspace of skill-creator, one of its iterations, or a `benchmark.json`.
pub fn is_history(path: &Utf8Path) -> bool {
    match Disk.kind(path) {
        Some(EntryKind::Directory) => !iterations(path).is_empty(),
        Some(EntryKind::File) => path.file_name() == Some(BENCHMARK),
        _ => false,
    }
}

/// Every iteration, in order. `path` is absolute; rows name files relative to `root`.
pub fn read_history(path: &Utf8Path, root: &Utf8Path) -> Result<Vec<SkillHistory>, HistoryError> {
    let (directories, is_file) = match Disk.kind(path) {
        Some(EntryKind::File) => (vec![path.parent().unwrap_or(path).to_owned()], true),
        _ => (iterations(path), false),
    };
    let mut found = Vec::with_capacity(directories.len());
    for directory in directories {
        let iteration = Iteration::read(directory, root)?;
        let rows = iteration.rows(is_file);
        if !rows.is_empty() {
            found.push(iteration.history(rows));
        }
    }
    if found.is_empty() { Err(HistoryError::NoRuns(path.to_owned())) } else { Ok(found) }
}

struct Iteration<'r> {
    directory: Utf8PathBuf,
    root: &'r Utf8Path,
    /// Null without one.
    benchmark: Value,
    dataset: String,
    run: String,
}

impl<'r> Iteration<'r> {
    fn read(directory: Utf8PathBuf, root: &'r Utf8Path) -> Result<Self, HistoryError> {
        let path = directory.join(BENCHMARK);
        let benchmark = match read_json(&directory, &path) {
            Ok(value) => value.unwrap_or_default(),
            Err(reason) => return Err(HistoryError::Unreadable { path, reason }),
        };
        let written = known_text(&benchmark["metadata"]["skill_name"]);
        let dataset = written.unwrap_or_else(|| skill_of(&directory));
        let mut hash = Fnv1a::default();
        hash.add_text(directory.as_str());
        let run = format!("skill-creator-{:016x}", hash.finish());
        Ok(Self { directory, root, benchmark, dataset, run })
    }

    /// From the files of the runs; from `benchmark.json` if it was named, or is all there is.
    fn rows(&self, is_benchmark: bool) -> Vec<Row> {
        let folders = if is_benchmark { Vec::new() } else { runs(&self.directory) };
        if folders.is_empty() { self.benchmark_rows() } else { self.folder_rows(&folders) }
    }

    fn folder_rows(&self, folders: &[RunFolder]) -> Vec<Row> {
        let mut evals: HashMap<&Utf8Path, Eval> = HashMap::new();
        for folder in folders {
            evals.entry(&folder.eval).or_insert_with(|| self.eval(folder));
        }
        let clashes = clashes(evals.values().map(|eval| &eval.id));
        let folders = folders.iter();
        folders
            .map(|folder| {
                let eval = &evals[folder.eval.as_path()];
                // Agents often number every eval alike.
                let is_unique = !clashes.contains(&eval.id);
                let id = if is_unique { eval.id.clone() } else { eval.directory.clone() };
                self.folder_row(folder, eval, id)
            })
            .collect()
    }

    fn folder_row(&self, folder: &RunFolder, eval: &Eval, id: String) -> Row {
        let inside = &self.directory;
        let grading = folder.directory.join(GRADING);
        let documents = RunDocuments {
            grading: read_json(inside, &grading).transpose(),
            timing: read_json(inside, &folder.directory.join(TIMING))
                .ok()
                .flatten()
                .unwrap_or_default(),
            prompt: eval.prompt.clone(),
            answer: self.answer(folder),
            outputs: self.outputs(folder),
        };
        let identity = RunIdentity {
            dataset: self.dataset.clone(),
            eval_name: Some(eval.name.clone()).filter(|name| *name != id),
            eval_id: id,
            configuration: folder.configuration.clone(),
            number: folder.number,
            model: known_text(&self.benchmark["metadata"]["executor_model"]),
            timestamp: self.timestamp(&documents.timing, &grading),
            file: shown_path(&grading, self.root),
            run: self.run.clone(),
        };
        row_of(identity, &documents)
    }

    /// When the run ended, as its files say, else when it was graded.
    fn timestamp(&self, timing: &Value, grading: &Utf8Path) -> String {
        let written = ["grader_end", "executor_end"].iter().find_map(|key| time_of(&timing[*key]));
        written.or_else(|| time_of(&self.benchmark["metadata"]["timestamp"])).unwrap_or_else(|| {
            let changed = grading.metadata().and_then(|found| found.modified());
            rfc3339(changed.unwrap_or(SystemTime::UNIX_EPOCH))
        })
    }

    fn eval(&self, folder: &RunFolder) -> Eval {
        let directory = folder.eval.file_name().unwrap_or("eval").to_owned();
        let places =
            [&folder.directory, folder.directory.parent().unwrap_or(&folder.eval), &folder.eval];
        let metadata = places
            .iter()
            .find_map(|place| read_json(&self.directory, &place.join(METADATA)).ok().flatten());
        let metadata = metadata.unwrap_or_default();
        let own = directory.strip_prefix("eval-").unwrap_or(&directory).to_owned();
        let written = match &metadata["eval_id"] {
            Value::Number(number) => Some(number.to_string()),
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        let written = written.filter(|id| !id.trim().is_empty() && !id.contains(['\n', '\r']));
        Eval {
            id: written.unwrap_or_else(|| own.clone()),
            name: known_text(&metadata["eval_name"]).unwrap_or(own),
            prompt: known_text(&metadata["prompt"]),
            directory,
        }
    }

    fn answer(&self, folder: &RunFolder) -> Option<String> {
        let path = folder.directory.join(OUTPUTS).join(ANSWER);
        if !has_file(&self.directory, &path) {
            return None;
        }
        let bytes = read_whole(&path, Reach::Inside(&self.directory), LONGEST_ANSWER).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn outputs(&self, folder: &RunFolder) -> Vec<String> {
        let directory = folder.directory.join(OUTPUTS);
        let listing = Disk.list(&directory, Reach::Inside(&self.directory)).unwrap_or_default();
        let files = listing.entries.into_iter().filter(|entry| {
            entry.kind == EntryKind::File && !entry.is_link && entry.name != ANSWER
        });
        files.map(|entry| entry.name).take(MOST_OUTPUTS).collect()
    }

    fn benchmark_rows(&self) -> Vec<Row> {
        let file = shown_path(&self.directory.join(BENCHMARK), self.root);
        let changed = self.directory.join(BENCHMARK);
        let runs = self.benchmark["runs"].as_array().into_iter().flatten();
        runs.filter_map(|run| {
            let eval_id = match &run["eval_id"] {
                Value::Number(number) => number.to_string(),
                Value::String(text) => text.clone(),
                _ => return None,
            };
            let number = run["run_number"].as_u64().and_then(|number| u32::try_from(number).ok());
            let identity = RunIdentity {
                dataset: self.dataset.clone(),
                eval_id,
                eval_name: known_text(&run["eval_name"]),
                configuration: known_text(&run["configuration"])?,
                number: number.filter(|number| *number > 0).unwrap_or(1),
                model: known_text(&self.benchmark["metadata"]["executor_model"]),
                timestamp: self.timestamp(&Value::Null, &changed),
                file: file.clone(),
                run: self.run.clone(),
            };
            Some(row_of(identity, &benchmark_documents(run)))
        })
        .collect()
    }

    fn history(&self, mut rows: Vec<Row>) -> SkillHistory {
        // One configuration alone is compared with none.
        if rows.iter().all(|row| row.baseline_arm) {
            rows.iter_mut().for_each(|row| row.baseline_arm = false);
        }
        let name = self.directory.file_name().unwrap_or("iteration").to_owned();
        let started = rows.iter().map(|row| row.timestamp.clone()).min().unwrap_or_default();
        let variants: Vec<_> = rows.iter().map(Row::variant).collect();
        let cases =
            rows.iter().zip(&variants).map(|(row, variant)| (&*row.eval_id, &**variant, row.trial));
        let file = shown_path(&self.directory, self.root);
        let mut hash = Fnv1a::default();
        rows.iter().for_each(|row| hash.add_text(&row.test_hash));
        let fingerprint = format!("{:016x}", hash.finish());
        let suite = PlannedSuite::new(&self.dataset, &file, fingerprint, cases);
        let mut header = RunHeader::new(started, vec![suite], PlanOptions::default());
        header.run = Some(self.run.clone());
        SkillHistory { name, header, rows }
    }
}

struct Eval {
    id: String,
    name: String,
    prompt: Option<String>,
    directory: String,
}

/// Ids that several evals have.
fn clashes<'e>(ids: impl Iterator<Item = &'e String>) -> HashSet<String> {
    let mut seen = HashSet::new();
    ids.filter(|id| !seen.insert(*id)).cloned().collect()
}

/// A text that is not a placeholder such as `<model-name>`.
fn known_text(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty() && !text.starts_with('<')).then(|| text.to_owned())
}

/// A time as rows write it.
fn time_of(value: &Value) -> Option<String> {
    in_utc(value.as_str()?)
}

/// `csv` of `csv-workspace/iteration-1`.
fn skill_of(iteration: &Utf8Path) -> String {
    let workspace = iteration.ancestors().filter_map(Utf8Path::file_name);
    let mut names = workspace.filter_map(|name| name.strip_suffix("-workspace"));
    names.next().filter(|name| !name.is_empty()).unwrap_or("skill").to_owned()
}

/// `Ok(None)` if there is no such file.
fn read_json(root: &Utf8Path, path: &Utf8Path) -> Result<Option<Value>, String> {
    let name = path.file_name().unwrap_or_default();
    let bytes = match read_whole(path, Reach::Inside(root), LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{name} cannot be read: {error}")),
    };
    let value = serde_json::from_slice(&bytes);
    value.map(Some).map_err(|error| format!("{name} is not JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let workspace = root.join("csv-workspace");
        for (name, text) in files {
            let path = workspace.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, workspace)
    }

    const GRADED: &str = r#"{"expectations": [{"text": "a", "passed": true, "evidence": "e"}]}"#;

    #[test]
    fn every_iteration_is_a_run() {
        let (_folder, path) = workspace(&[
            ("iteration-1/eval-0/with_skill/run-1/grading.json", GRADED),
            ("iteration-1/eval-0/with_skill/run-1/outputs/answer.md", "November"),
            ("iteration-1/eval-0/with_skill/run-1/outputs/chart.png", "x"),
            (
                "iteration-1/eval-0/eval_metadata.json",
                r#"{"eval_id": 0, "eval_name": "top", "prompt": "Which?"}"#,
            ),
            (
                "iteration-1/eval-0/with_skill/run-1/timing.json",
                r#"{"executor_end": "2026-01-15T10:32:45Z"}"#,
            ),
            ("iteration-2/eval-0/without_skill/grading.json", "{"),
        ]);
        assert!(is_history(&path));
        let found = read_history(&path, path.parent().unwrap()).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["iteration-1", "iteration-2"]);
        let row = &found[0].rows[0];
        assert_eq!((&*row.dataset, &*row.eval_id, &*row.target), ("csv", "0", "agent"));
        assert_eq!(row.arm.as_deref(), Some("with"));
        assert_eq!(row.test_name.as_deref(), Some("top"));
        assert_eq!(row.question().as_deref(), Some("Which?"));
        assert_eq!(row.candidate_answer.as_deref(), Some("November"));
        assert_eq!(row.workspace.as_ref().unwrap().created, ["chart.png"]);
        assert_eq!(row.timestamp, "2026-01-15T10:32:45Z");
        assert_eq!(
            row.source.file,
            "csv-workspace/iteration-1/eval-0/with_skill/run-1/grading.json"
        );
        assert_eq!(found[0].header.cases, 1);
        assert_ne!(found[0].header.run, found[1].header.run);
        assert_eq!(found[1].rows[0].outcome.word(), "errored");
    }

    #[test]
    fn a_benchmark_alone_is_enough() {
        let benchmark = r#"{"metadata": {"skill_name": "pdf", "executor_model": "<model-name>",
            "timestamp": "2026-01-15T10:30:00Z"},
            "runs": [{"eval_id": 1, "eval_name": "Ocean", "configuration": "with_skill", "run_number": 3,
              "result": {"pass_rate": 0.5, "time_seconds": 42.5, "tokens": 3800, "tool_calls": 18},
              "expectations": [{"text": "a", "passed": true}, {"text": "b", "passed": false}]},
             {"configuration": "with_skill"}]}"#;
        let (_folder, path) = workspace(&[("iteration-1/benchmark.json", benchmark)]);
        let file = path.join("iteration-1/benchmark.json");
        assert!(is_history(&file));
        for path in [&path, &file] {
            let found = read_history(path, path).unwrap();
            let [row] = &found[0].rows[..] else { panic!("one run") };
            assert_eq!((&*row.dataset, &*row.eval_id, row.trial), ("pdf", "1", 3));
            assert_eq!((row.score, row.duration_ms), (Some(0.5), Some(42_500)));
            assert_eq!(row.trace_summary.total_tokens, Some(3800));
            assert_eq!(row.agent, None);
        }
    }

    #[test]
    fn evals_with_equal_numbers_are_named_by_their_directories() {
        let metadata = r#"{"eval_id": 0}"#;
        let (_folder, path) = workspace(&[
            ("iteration-1/eval-a/with_skill/grading.json", GRADED),
            ("iteration-1/eval-a/eval_metadata.json", metadata),
            ("iteration-1/eval-b/with_skill/grading.json", GRADED),
            ("iteration-1/eval-b/eval_metadata.json", metadata),
        ]);
        let found = read_history(&path, &path).unwrap();
        let ids: Vec<&str> = found[0].rows.iter().map(|row| row.eval_id.as_str()).collect();
        assert_eq!(ids, ["eval-a", "eval-b"]);
    }

    #[test]
    fn other_directories_are_not_a_history() {
        let (_folder, path) = workspace(&[("SKILL.md", ""), ("evals/evals.json", "[]")]);
        assert!(!is_history(&path));
        assert!(!is_history(&path.join("SKILL.md")));
        assert!(matches!(read_history(&path, &path), Err(HistoryError::NoRuns(_))));
    }
}
