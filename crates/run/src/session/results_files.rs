//! The results files of a run. Each suite has its own file unless `--output` or a resumed run makes
//! suites share one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;

use crate::disk::is_plain_file;
use crate::event::Event;
use crate::execute::{Durable, RowSink, SuiteJob, UngradedAnswer, WrittenRow};
use crate::lock::locked;
use crate::report::PastRuns;
use crate::results::{
    CaseKey, Completion, Existing, Gaps, GateResult, Interrupted, JudgeReply, PlannedSuite,
    ResultsPaths, ResultsWriter, RoundRecord, RoundSettings, Row, Rows, RunFacts, RunHeader,
    RunSummary, SummaryBuilder, WorkerNotes, fingerprint, rfc3339, write_summary,
};

use super::command_line::quoted;
use super::error::SessionError;
use super::history::TestHistory;
use super::run_job::EventListener;
use super::run_origin::{RowOrigin, RunOrigin};
use super::spec::{LoadOptions, RunSpec};

/// A results file with the summary of its rows.
#[derive(Debug)]
pub(super) struct ResultsFile {
    writer: ResultsWriter,
    origin: RowOrigin,
    contents: Mutex<FileContents>,
}

#[derive(Debug, Default)]
struct FileContents {
    suites: Vec<String>,
    summary: SummaryBuilder,
}

/// Where the rows of one suite go.
#[derive(Debug)]
pub(super) struct SuiteSink {
    file: Arc<ResultsFile>,
    /// Paths in rows are relative to it.
    root: Utf8PathBuf,
    history: Arc<Mutex<TestHistory>>,
}

impl RowSink for SuiteSink {
    fn write(&self, mut row: Row) -> WrittenRow {
        self.file.origin.fill_row(&mut row);
        let (row, receipt) = self.file.writer.write_row(row);
        WrittenRow {
            row,
            durable: Box::pin(async { receipt.await.map_err(|error| error.to_string()) }),
        }
    }

    fn write_answer(&self, key: &CaseKey, test_hash: &str, answer: &UngradedAnswer) -> Durable {
        let writer = &self.file.writer;
        let receipt = writer.write_answer(key, test_hash, answer.attempts, &answer.transcript);
        Box::pin(async { receipt.await.map_err(|error| error.to_string()) })
    }

    fn write_reply(&self, key: &CaseKey, test_hash: &str, reply: &JudgeReply) -> Durable {
        let receipt = self.file.writer.write_reply(key, test_hash, reply);
        Box::pin(async { receipt.await.map_err(|error| error.to_string()) })
    }

    fn settled(&self, row: &Row) {
        locked(&self.file.contents).summary.add(row);
        locked(&self.history).add(&self.root, row);
    }
}

/// Every results file of a run, in the order of its suites.
#[derive(Debug)]
pub(super) struct ResultsFiles {
    files: Vec<Arc<ResultsFile>>,
    origin: RunOrigin,
    secrets: Arc<Secrets>,
    history: Arc<Mutex<TestHistory>>,
    now: SystemTime,
    /// Whether files may lack cases although every case of the run has a row: those of a resumed run,
    /// and those that a stored run is graded to.
    is_partial: bool,
    workers: Option<Arc<WorkerNotes>>,
}

/// What the ends of all files and their summaries say.
pub(super) struct FileEnd<'a> {
    pub(super) rounds: Option<&'a RoundRecord>,
    pub(super) gate: Option<GateResult>,
    pub(super) duration_ms: Option<u64>,
    pub(super) exit_code: u8,
}

/// The files that [`ResultsFiles::finish`] closed.
#[derive(Debug, Default)]
pub(super) struct FinishedFiles {
    pub(super) results: Vec<Utf8PathBuf>,
    pub(super) suites: Vec<String>,
    /// One per file; the path is `None` for pipes and devices.
    pub(super) summaries: Vec<(Option<Utf8PathBuf>, RunSummary)>,
    pub(super) errors: Vec<String>,
}

impl ResultsFiles {
    pub(super) fn new(origin: RunOrigin, secrets: Arc<Secrets>, history: TestHistory) -> Self {
        Self {
            files: Vec::new(),
            origin,
            secrets,
            history: Arc::new(Mutex::new(history)),
            now: SystemTime::now(),
            is_partial: false,
            workers: None,
        }
    }

    /// Expects cases without a row although the run is complete.
    pub(super) fn expect_gaps(&mut self) {
        self.is_partial = true;
    }

    /// Creates one file for all suites, where no other file is. With `spec.force`, results may be there.
    pub(super) fn create_at(
        &mut self,
        path: &Utf8Path,
        spec: &RunSpec,
        planned: Vec<PlannedSuite>,
    ) -> Result<Arc<ResultsFile>, SessionError> {
        check_output(path, spec, self.is_partial)?;
        let place = ResultsPaths::at(path).map_err(SessionError::write)?;
        self.create(place, planned)
    }

    /// Creates a file in the results folder of the suite's repository.
    pub(super) fn claim(
        &mut self,
        suite: &SuiteJob,
        planned: PlannedSuite,
    ) -> Result<Arc<ResultsFile>, SessionError> {
        let place = ResultsPaths::claim(&suite.root, &suite.suite.name, self.now);
        let place = place.map_err(SessionError::write)?;
        let file = self.create(place, vec![planned])?;
        file.point_latest();
        Ok(file)
    }

    /// Continues the file of an interrupted run. It may have more suites than are resumed now.
    pub(super) fn resume(
        &mut self,
        interrupted: &Interrupted,
        planned: Vec<PlannedSuite>,
    ) -> Result<Arc<ResultsFile>, SessionError> {
        self.expect_gaps();
        let before = interrupted.results_header().map_or(&[][..], |header| &header.suites);
        let mut header = self.header(resumed_suites(before, planned));
        let earlier = interrupted.results_header().and_then(|header| header.run.clone());
        header.run = earlier.or(header.run);
        let writer = ResultsWriter::resume(interrupted, &header, Arc::clone(&self.secrets));
        let file = self.add(writer.map_err(SessionError::write)?, &header);
        file.point_latest();
        Ok(file)
    }

    fn create(
        &mut self,
        place: ResultsPaths,
        planned: Vec<PlannedSuite>,
    ) -> Result<Arc<ResultsFile>, SessionError> {
        let header = self.header(planned);
        let secrets = Arc::clone(&self.secrets);
        let writer = ResultsWriter::create(place, Existing::Replace, &header, secrets);
        Ok(self.add(writer.map_err(SessionError::write)?, &header))
    }

    fn add(&mut self, writer: ResultsWriter, header: &RunHeader) -> Arc<ResultsFile> {
        let origin = RowOrigin::of(header);
        let file = Arc::new(ResultsFile { writer, origin, contents: Mutex::default() });
        self.files.push(Arc::clone(&file));
        file
    }

    fn header(&self, planned: Vec<PlannedSuite>) -> RunHeader {
        let mut header = RunHeader::new(rfc3339(self.now), planned, self.origin.options.clone());
        self.origin.fill_header(&mut header);
        header
    }

    /// The sink of a suite whose rows go to this file.
    pub(super) fn sink(&self, file: &Arc<ResultsFile>, suite: &SuiteJob) -> Arc<SuiteSink> {
        locked(&file.contents).suites.push(suite.suite.name.clone());
        Arc::new(SuiteSink {
            file: Arc::clone(file),
            root: suite.root.clone(),
            history: Arc::clone(&self.history),
        })
    }

    /// The plan of the rounds.
    pub(super) fn rounds(&self) -> Option<RoundSettings> {
        self.origin.rounds.clone()
    }

    pub(super) fn read_history(&self) -> Vec<PastRuns> {
        locked(&self.history).read()
    }

    /// What the files lack, each on its own; nothing after a complete run. They are open, and have
    /// no last line yet.
    /// With `rounds`, only so many were needed.
    pub(super) fn find_gaps(
        &self,
        end: Completion,
        rounds: Option<u32>,
        loading: &LoadOptions,
    ) -> Vec<Gaps> {
        let is_whole =
            matches!(end, Completion::Complete | Completion::Settled | Completion::Limited);
        let is_checked = self.is_partial || !is_whole;
        let gaps_of = |file: &Arc<ResultsFile>| {
            let path = file.writer.place().results();
            let is_readable = is_checked && is_plain_file(path);
            let rows = is_readable.then(|| Rows::open(path).ok()).flatten();
            rows.map(|rows| rows.gaps_of_run(rounds, |path| loading.shown(path)))
                .unwrap_or_default()
        };
        self.files.iter().map(gaps_of).collect()
    }

    /// Also notes beside the results, for pages that show them, what each worker of a queue does. A page of several
    /// files reads the first.
    pub(super) fn noting_workers(&mut self, listener: EventListener) -> EventListener {
        let first = self.files.first().and_then(|file| WorkerNotes::beside(file.writer.place()));
        let Some(notes) = first.map(Arc::new) else { return listener };
        self.workers = Some(Arc::clone(&notes));
        let secrets = Arc::clone(&self.secrets);
        Arc::new(move |event| {
            if let Event::Worker { name, text } = event {
                notes.note(name, text.as_ref().map(|text| secrets.redact(text)));
            }
            listener(event);
        })
    }

    /// Closes the files and writes their summaries. Every sink must have been dropped. `ends` says
    /// how each file ended.
    pub(super) fn finish(self, ends: &[Completion], facts: &FileEnd<'_>) -> FinishedFiles {
        let mut finished = FinishedFiles::default();
        if let Some(workers) = &self.workers {
            workers.end();
        }
        for (file, end) in self.files.into_iter().zip(ends) {
            let mut file = Arc::into_inner(file).expect("the run has ended and dropped its sinks");
            if let Some(rounds) = facts.rounds {
                file.writer.keep_rounds(rounds.clone());
            }
            if let Some(gate) = facts.gate {
                file.writer.keep_gate(gate);
            }
            let contents = file.contents.into_inner();
            let contents = contents.unwrap_or_else(PoisonError::into_inner);
            let place = file.writer.place().clone();
            let summary = contents.summary.finish(RunFacts {
                suite: contents.suites.join(", "),
                timestamp: rfc3339(SystemTime::now()),
                duration_ms: facts.duration_ms,
                exit_code: facts.exit_code,
            });
            let closed = file.writer.finish(*end);
            finished.errors.extend(closed.err().map(|error| error.to_string()));
            let path = is_plain_file(place.results()).then(|| place.summary());
            if let Some(path) = &path {
                let written = write_summary(path, &summary);
                finished.errors.extend(written.err().map(|error| error.to_string()));
            }
            finished.results.push(place.results().to_owned());
            finished.suites.extend(contents.suites);
            finished.summaries.push((path, summary));
        }
        finished
    }
}

impl ResultsFile {
    fn point_latest(&self) {
        // The link is a convenience; results are complete without it.
        let _ = self.writer.place().point_latest();
    }
}

/// What a suite is to do.
pub(super) fn planned_suite(job: &SuiteJob) -> PlannedSuite {
    let tests = &job.suite.tests;
    let cases = job.chains.iter().flatten();
    let cases = cases.map(|case| (tests[case.test].id.as_str(), case.target.as_str(), case.trial));
    let hashed = tests.iter().zip(&job.hashes).filter(|(_, hash)| !hash.is_empty());
    let fingerprint = fingerprint(hashed.map(|(test, hash)| (test.id.as_str(), hash.as_str())));
    let mut planned = PlannedSuite::new(&job.suite.name, &job.file(), fingerprint, cases);
    if let Some(whole) = &job.whole_plan {
        planned.plan = Some(whole.name.clone());
        let others = whole.other_tests.iter().map(|at| tests[*at].id.to_string());
        planned.other_shards = others.collect();
    }
    planned
}

/// The suites of a file that goes on: those that are resumed as they are now, the others as they
/// were. A single suite may have been renamed.
fn resumed_suites(before: &[PlannedSuite], now: Vec<PlannedSuite>) -> Vec<PlannedSuite> {
    if before.len() <= 1 && now.len() <= 1 {
        return now;
    }
    let mut suites = before.to_vec();
    for suite in now {
        match suites.iter_mut().find(|known| known.name == suite.name) {
            Some(known) => *known = suite,
            None => suites.push(suite),
        }
    }
    suites
}

/// Neither the rows of another run nor a file that is named by mistake are overwritten.
fn check_output(path: &Utf8Path, spec: &RunSpec, is_regrade: bool) -> Result<(), SessionError> {
    // Reading a pipe would block.
    if !is_plain_file(path) || path.metadata().is_ok_and(|found| found.len() == 0) {
        return Ok(());
    }
    let is_foreign = !Rows::open(path).is_ok_and(|rows| !rows.is_foreign());
    let path = spec.loading.shown(path);
    let reason = match (is_foreign, spec.force, is_regrade) {
        (true, ..) => format!("`{path}` exists and is not a results file; nothing was written"),
        (false, true, _) => return Ok(()),
        (false, false, true) => {
            format!("`{path}` has the results of another run; add `--force` to overwrite it")
        }
        (false, false, false) => format!(
            "`{path}` has the results of another run; continue it with `evalrig run --resume {}`, \
             or add `--force` to overwrite it",
            quoted(path.as_str())
        ),
    };
    Err(SessionError::argument("--output", reason))
}
