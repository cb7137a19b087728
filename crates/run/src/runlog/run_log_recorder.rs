//! Records cases during a run: every case with a transcript becomes a run of its record.
//!
//! A separate thread writes, so that cases do not wait for the disk. Cases that end while it writes
//! form the next batch.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{FaultKind, Stage, Test, Transcript};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Files;
use tokio::sync::oneshot;

use crate::lock::locked;
use crate::results::{RecordPlace, Row, RowError};

use super::case::CaseRun;
use super::new_run::{NewRun, Recorded};
use super::record_writer::RecordWriter;
use super::store::Store;
use super::store_error::StoreError;

/// Most runs in a batch, each of which is an open file. Other processes wait for the lock that long.
const MOST_IN_BATCH: usize = 256;

/// Records the cases of a run.
#[derive(Debug)]
pub struct RunLogRecorder {
    /// `--store`; by default the store in the repository of each suite.
    store: Option<Utf8PathBuf>,
    secrets: Arc<Secrets>,
    /// To the writer thread, which ends when this is dropped.
    requests: Mutex<Sender<LogRequest>>,
    log_warnings: Arc<Mutex<LogWarnings>>,
}

/// Warnings to show after the run.
#[derive(Debug, Default)]
struct LogWarnings {
    warnings: Vec<String>,
    /// How many cases could not be recorded.
    lost: usize,
    /// Why the first of them could not be recorded.
    reason: Option<String>,
}

/// A graded case with a transcript.
#[derive(Clone, Copy)]
pub struct FinishedCase<'a> {
    /// The repository of its suite.
    pub root: &'a Utf8Path,
    /// Where the target ran, if not in `root`.
    pub cwd: Option<&'a Utf8Path>,
    pub test: &'a Test,
    pub transcript: &'a Transcript,
    pub row: &'a Row,
    /// For its attachments.
    pub files: &'a dyn Files,
}

impl std::fmt::Debug for FinishedCase<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FinishedCase").field("test", &self.test.id).finish_non_exhaustive()
    }
}

/// A request to record a run.
#[derive(Debug)]
struct LogRequest {
    store: Utf8PathBuf,
    /// The store must be inside; `None` with `--store`.
    root: Option<Utf8PathBuf>,
    new: NewRun,
    reply: oneshot::Sender<Result<Recorded, StoreError>>,
}

/// The future result of recording a case.
#[derive(Debug)]
pub struct PendingRecord {
    root: Utf8PathBuf,
    reply: oneshot::Receiver<Result<Recorded, StoreError>>,
}

impl RunLogRecorder {
    /// Keeps at most `most_drafts` files open.
    pub fn new(
        store: Option<Utf8PathBuf>,
        keep_runs: Option<usize>,
        most_drafts: usize,
        secrets: Arc<Secrets>,
    ) -> Self {
        let (requests, receiver) = channel();
        let log_warnings = Arc::new(Mutex::default());
        let writer = LogWriter {
            writers: HashMap::new(),
            keep_runs,
            most_in_batch: most_drafts.clamp(1, MOST_IN_BATCH),
            log_warnings: Arc::clone(&log_warnings),
        };
        let writer = move || writer.serve_requests(&receiver);
        // If the thread cannot start, every case reports that it could not be recorded.
        let _ = thread::Builder::new().name("run log".into()).spawn(writer);
        Self { store, secrets, requests: Mutex::new(requests), log_warnings }
    }

    /// Sends the case to the writer thread.
    pub fn add(&self, case: FinishedCase<'_>) -> PendingRecord {
        let root = case.root;
        let new = NewRun::from(CaseRun {
            test: case.test,
            transcript: case.transcript,
            row: case.row,
            files: case.files,
            cwd: case.cwd.unwrap_or(root),
            secrets: &self.secrets,
            time: SystemTime::now(),
        });
        let (reply, replied) = oneshot::channel();
        let request = match &self.store {
            Some(directory) => LogRequest { store: directory.clone(), root: None, new, reply },
            None => LogRequest {
                store: Store::of_root(root).directory().to_owned(),
                root: Some(root.to_owned()),
                new,
                reply,
            },
        };
        // If the thread has ended, the reply channel is closed, which `note` reports.
        let _ = locked(&self.requests).send(request);
        PendingRecord { root: root.to_owned(), reply: replied }
    }

    /// Returns each warning once, such as files that were renamed. Cases often fail for the same
    /// reason, so only the first is shown.
    pub fn take_warnings(&self) -> Vec<String> {
        let log_warnings = std::mem::take(&mut *locked(&self.log_warnings));
        let mut warnings = log_warnings.warnings;
        if let Some(reason) = log_warnings.reason {
            let cases = match log_warnings.lost {
                1 => "1 case was".to_owned(),
                lost => format!("{lost} cases were"),
            };
            warnings.push(format!(
                "{cases} not recorded: {reason}; use `--no-record` to run without a log"
            ));
        }
        warnings
    }
}

impl PendingRecord {
    /// Sets where the case was recorded in its row. If recording failed, sets the error of the row
    /// unless it has one; the verdict stays.
    pub async fn note(self, row: &mut Row) {
        let message = match self.reply.await {
            Ok(Ok(recorded)) => {
                row.record = Some(record_place(&self.root, &recorded));
                return;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the writer of the run log has stopped".to_owned(),
        };
        row.error.get_or_insert_with(|| RowError {
            stage: Stage::Record.word().to_owned(),
            kind: FaultKind::Io.word().to_owned(),
            message,
        });
    }
}

/// The state of the writer thread.
#[derive(Debug)]
struct LogWriter {
    writers: HashMap<Utf8PathBuf, RecordWriter>,
    keep_runs: Option<usize>,
    most_in_batch: usize,
    log_warnings: Arc<Mutex<LogWarnings>>,
}

impl LogWriter {
    fn serve_requests(mut self, requests: &Receiver<LogRequest>) {
        while let Ok(first) = requests.recv() {
            let more = requests.try_iter().take(self.most_in_batch - 1);
            let mut by_store: HashMap<Utf8PathBuf, Vec<LogRequest>> = HashMap::new();
            for request in std::iter::once(first).chain(more) {
                by_store.entry(request.store.clone()).or_default().push(request);
            }
            for (store, requests) in by_store {
                self.write_requests(store, requests);
            }
        }
    }

    fn write_requests(&mut self, store: Utf8PathBuf, requests: Vec<LogRequest>) {
        if let Some(error) = requests.iter().find_map(|request| outside_root_error(&store, request))
        {
            for request in requests {
                self.send_reply(request, Err(error.clone()));
            }
            return;
        }
        let root = requests.iter().find_map(|request| request.root.as_ref());
        let writer = self.writers.entry(store);
        let writer = writer.or_insert_with_key(|store| match root {
            Some(root) => Store::of_root(root).writer(),
            None => Store::open(store.clone()).writer(),
        });
        let runs_to_write: Vec<&NewRun> = requests.iter().map(|request| &request.new).collect();
        let mut results = writer.record_all(&runs_to_write);
        if let Some(runs) = self.keep_runs {
            prune_recorded(writer.store(), runs, &mut results);
        }
        for (request, result) in requests.into_iter().zip(results) {
            self.send_reply(request, result);
        }
    }

    fn send_reply(&self, request: LogRequest, result: Result<Recorded, StoreError>) {
        locked(&self.log_warnings).note_result(&result);
        // The receiver is gone if the case was cancelled.
        let _ = request.reply.send(result);
    }
}

impl LogWarnings {
    fn note_result(&mut self, result: &Result<Recorded, StoreError>) {
        match result {
            Ok(recorded) => self.warnings.extend(recorded.warnings.clone()),
            Err(error) => {
                self.lost += 1;
                self.reason.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

/// An error if the store is outside the repository of the suite.
fn outside_root_error(store: &Utf8Path, request: &LogRequest) -> Option<StoreError> {
    let root = request.root.as_ref()?;
    Store::open(store).check_is_inside(root).err()
}

fn prune_recorded(store: &Store, runs: usize, results: &mut [Result<Recorded, StoreError>]) {
    for result in results {
        if let Ok(recorded) = result
            && let Err(error) = store.prune_record(&recorded.name, runs)
        {
            *result = Err(error);
        }
    }
}

/// The path is relative to the repository root.
fn record_place(root: &Utf8Path, recorded: &Recorded) -> RecordPlace {
    let file = recorded.file.strip_prefix(root).unwrap_or(&recorded.file);
    RecordPlace { file: file.as_str().replace('\\', "/"), run: recorded.run }
}
