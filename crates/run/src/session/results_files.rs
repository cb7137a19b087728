//! The results files of a run. Each suite has its own file unless `--output` or a resumed run makes
//! suites share one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;

use crate::disk::is_plain_file;
use crate::execute::{Durable, RowSink, SuiteJob, UngradedAnswer, WrittenRow};
use crate::lock::locked;
use crate::report::PastRuns;
use crate::results::{
    CaseKey, Completion, Existing, Interrupted, JournalHeader, PlanOptions, PlannedSuite,
    ResultsPaths, ResultsWriter, Row, Rows, RunFacts, RunSummary, SummaryBuilder, fingerprint,
    rfc3339, write_summary,
};

use super::error::SessionError;
use super::history::TestHistory;

/// A results file with the summary of its rows.
#[derive(Debug)]
pub(super) struct ResultsFile {
    writer: ResultsWriter,
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
    fn write(&self, row: Row) -> WrittenRow {
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

    fn settled(&self, row: &Row) {
        locked(&self.file.contents).summary.add(row);
        locked(&self.history).add(&self.root, row);
    }
}

/// Every results file of a run, in the order of its suites.
#[derive(Debug)]
pub(super) struct ResultsFiles {
    files: Vec<Arc<ResultsFile>>,
    options: PlanOptions,
    secrets: Arc<Secrets>,
    history: Arc<Mutex<TestHistory>>,
    now: SystemTime,
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
    pub(super) fn new(options: PlanOptions, secrets: Arc<Secrets>, history: TestHistory) -> Self {
        Self {
            files: Vec::new(),
            options,
            secrets,
            history: Arc::new(Mutex::new(history)),
            now: SystemTime::now(),
        }
    }

    /// Creates one file for all suites; overwrites only results files.
    pub(super) fn create_at(
        &mut self,
        path: &Utf8Path,
        suites: &[&SuiteJob],
    ) -> Result<Arc<ResultsFile>, SessionError> {
        let place = output_place(path)?;
        self.create(place, suites)
    }

    /// Creates a file in the results folder of the suite's repository.
    pub(super) fn claim(&mut self, suite: &SuiteJob) -> Result<Arc<ResultsFile>, SessionError> {
        let place = ResultsPaths::claim(&suite.root, &suite.suite.name, self.now);
        let place = place.map_err(SessionError::write)?;
        let file = self.create(place, &[suite])?;
        file.point_latest();
        Ok(file)
    }

    /// Continues the file of an interrupted run.
    pub(super) fn resume(
        &mut self,
        interrupted: &Interrupted,
        suite: &SuiteJob,
    ) -> Result<Arc<ResultsFile>, SessionError> {
        let header = self.header(&[suite]);
        let writer = ResultsWriter::resume(interrupted, &header, Arc::clone(&self.secrets));
        let file = self.add(writer.map_err(SessionError::write)?);
        file.point_latest();
        Ok(file)
    }

    fn create(
        &mut self,
        place: ResultsPaths,
        suites: &[&SuiteJob],
    ) -> Result<Arc<ResultsFile>, SessionError> {
        let header = self.header(suites);
        let secrets = Arc::clone(&self.secrets);
        let writer = ResultsWriter::create(place, Existing::Replace, &header, secrets);
        Ok(self.add(writer.map_err(SessionError::write)?))
    }

    fn add(&mut self, writer: ResultsWriter) -> Arc<ResultsFile> {
        let file = Arc::new(ResultsFile { writer, contents: Mutex::default() });
        self.files.push(Arc::clone(&file));
        file
    }

    fn header(&self, suites: &[&SuiteJob]) -> JournalHeader {
        let planned = suites.iter().map(|suite| {
            let tests = suite.suite.tests.iter().zip(&suite.hashes);
            let tests = tests.filter(|(_, hash)| !hash.is_empty());
            PlannedSuite {
                name: suite.suite.name.clone(),
                file: suite.file(),
                fingerprint: fingerprint(
                    tests.map(|(test, hash)| (test.id.as_str(), hash.as_str())),
                ),
            }
        });
        let cases: usize = suites.iter().map(|suite| suite.case_count()).sum();
        let mut header = JournalHeader::new(rfc3339(self.now), planned.collect(), cases as u64);
        header.options = self.options.clone();
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

    pub(super) fn read_history(&self) -> Vec<PastRuns> {
        locked(&self.history).read()
    }

    /// Closes the files and writes their summaries. Every sink must have been dropped.
    pub(super) fn finish(
        self,
        end: Completion,
        duration_ms: Option<u64>,
        exit_code: u8,
    ) -> FinishedFiles {
        let mut finished = FinishedFiles::default();
        for file in self.files {
            let file = Arc::into_inner(file).expect("the run has ended and dropped its sinks");
            let contents = file.contents.into_inner();
            let contents = contents.unwrap_or_else(PoisonError::into_inner);
            let place = file.writer.place().clone();
            let summary = contents.summary.finish(RunFacts {
                suite: contents.suites.join(", "),
                timestamp: rfc3339(SystemTime::now()),
                duration_ms,
                exit_code,
            });
            let closed = file.writer.finish(end);
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

/// A file named by mistake must not be emptied.
fn output_place(path: &Utf8Path) -> Result<ResultsPaths, SessionError> {
    // Reading a pipe would block.
    if is_plain_file(path) && Rows::open(path).is_err() {
        let reason = format!("`{path}` exists and is not a results file; nothing was written");
        return Err(SessionError::argument("--output", reason));
    }
    ResultsPaths::at(path).map_err(SessionError::write)
}
