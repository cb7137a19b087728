//! Recording while a run goes on: every case that has a transcript becomes a run of its record.
//!
//! A thread of its own writes, so that no case waits for the disk. Whatever has ended while it wrote
//! is written next, together.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{FaultKind, Stage, Test, Transcript};
use evalrig_core::secrets::Secrets;
use tokio::sync::oneshot;

use crate::record::{RecordPlace, Row, RowError};

use super::case::CaseRun;
use super::new_run::{NewRun, Recorded};
use super::record_writer::Writer;
use super::store::Store;
use super::store_error::StoreError;

/// Runs that are written together. Others who want to write wait that long.
const MOST_TOGETHER: usize = 256;

/// How the cases of a run are recorded.
#[derive(Debug)]
pub struct Recording {
    /// `--store`; otherwise each suite's repository has its own.
    store: Option<Utf8PathBuf>,
    secrets: Arc<Secrets>,
    /// To the thread that writes, which ends with it.
    orders: Mutex<Sender<LogRequest>>,
    heard: Arc<Mutex<LogWarnings>>,
}

/// What people should hear of when the run is over.
#[derive(Debug, Default)]
struct LogWarnings {
    warnings: Vec<String>,
    /// Cases that could not be recorded.
    lost: usize,
    /// Why the first of them could not.
    reason: Option<String>,
}

/// A case that has a transcript and is graded.
#[derive(Clone, Copy)]
pub struct FinishedCase<'a> {
    /// The repository of its suite.
    pub root: &'a Utf8Path,
    /// Where the target ran, if not there.
    pub cwd: Option<&'a Utf8Path>,
    pub test: &'a Test,
    pub transcript: &'a Transcript,
    pub row: &'a Row,
}

impl std::fmt::Debug for FinishedCase<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FinishedCase")
            .field("test", &self.test.id)
            .finish_non_exhaustive()
    }
}

/// A run that is to be recorded.
#[derive(Debug)]
struct LogRequest {
    store: Utf8PathBuf,
    /// Where the store has to lie, unless somebody named it.
    root: Option<Utf8PathBuf>,
    new: NewRun,
    reply: oneshot::Sender<Result<Recorded, StoreError>>,
}

/// A case that is being recorded.
#[derive(Debug)]
pub struct PendingRecord {
    root: Utf8PathBuf,
    reply: oneshot::Receiver<Result<Recorded, StoreError>>,
}

impl Recording {
    pub fn new(
        store: Option<Utf8PathBuf>,
        keep_runs: Option<usize>,
        secrets: Arc<Secrets>,
    ) -> Self {
        let (orders, taken) = channel();
        let heard = Arc::new(Mutex::default());
        let clerk = LogWriter {
            writers: HashMap::new(),
            keep_runs,
            heard: Arc::clone(&heard),
        };
        let clerk = move || clerk.work(&taken);
        // Without the thread every case says that it could not be recorded.
        let _ = thread::Builder::new().name("run log".into()).spawn(clerk);
        Self {
            store,
            secrets,
            orders: Mutex::new(orders),
            heard,
        }
    }

    /// Begins to record the case.
    pub fn add(&self, case: FinishedCase<'_>) -> PendingRecord {
        let root = case.root;
        let new = NewRun::from(CaseRun {
            test: case.test,
            transcript: case.transcript,
            row: case.row,
            cwd: case.cwd.unwrap_or(root),
            secrets: &self.secrets,
            time: SystemTime::now(),
        });
        let (reply, replied) = oneshot::channel();
        let order = match &self.store {
            Some(directory) => LogRequest {
                store: directory.clone(),
                root: None,
                new,
                reply,
            },
            None => LogRequest {
                store: Store::of_root(root).directory().to_owned(),
                root: Some(root.to_owned()),
                new,
                reply,
            },
        };
        // Where nobody takes it any more, nobody replies either, and that is an error.
        let _ = locked(&self.orders).send(order);
        PendingRecord {
            root: root.to_owned(),
            reply: replied,
        }
    }

    /// Such as files that were set aside; each is told once. What one disk refuses it refuses
    /// many times, so that only the first reason is told.
    pub fn take_warnings(&self) -> Vec<String> {
        let heard = std::mem::take(&mut *locked(&self.heard));
        let mut warnings = heard.warnings;
        if let Some(reason) = heard.reason {
            let cases = match heard.lost {
                1 => "1 case was".to_owned(),
                lost => format!("{lost} cases were"),
            };
            warnings.push(format!(
                "{cases} not recorded: {reason}; `--no-record` runs without a log"
            ));
        }
        warnings
    }
}

impl PendingRecord {
    /// Says in the row where the case was recorded. A record that cannot be written is said in the
    /// row too, which keeps its verdict; an earlier error stays.
    pub async fn note(self, row: &mut Row) {
        let message = match self.reply.await {
            Ok(Ok(recorded)) => {
                row.record = Some(place(&self.root, &recorded));
                return;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the run log is no longer written".to_owned(),
        };
        row.error.get_or_insert_with(|| RowError {
            stage: Stage::Record.word().to_owned(),
            kind: FaultKind::Io.word().to_owned(),
            message,
        });
    }
}

/// Who writes.
#[derive(Debug)]
struct LogWriter {
    writers: HashMap<Utf8PathBuf, Writer>,
    keep_runs: Option<usize>,
    heard: Arc<Mutex<LogWarnings>>,
}

impl LogWriter {
    fn work(mut self, orders: &Receiver<LogRequest>) {
        while let Ok(first) = orders.recv() {
            let more = orders.try_iter().take(MOST_TOGETHER - 1);
            let mut by_store: HashMap<Utf8PathBuf, Vec<LogRequest>> = HashMap::new();
            for order in std::iter::once(first).chain(more) {
                by_store.entry(order.store.clone()).or_default().push(order);
            }
            for (store, orders) in by_store {
                self.write(store, orders);
            }
        }
    }

    fn write(&mut self, store: Utf8PathBuf, orders: Vec<LogRequest>) {
        if let Some(error) = orders.iter().find_map(|order| escape(&store, order)) {
            for order in orders {
                self.reply(order, Err(error.clone()));
            }
            return;
        }
        let writer = self.writers.entry(store);
        let writer = writer.or_insert_with_key(|store| Store::open(store.clone()).writer());
        let news: Vec<&NewRun> = orders.iter().map(|order| &order.new).collect();
        let mut results = writer.record_all(&news);
        if let Some(runs) = self.keep_runs {
            prune(writer.store(), runs, &mut results);
        }
        for (order, result) in orders.into_iter().zip(results) {
            self.reply(order, result);
        }
    }

    fn reply(&self, order: LogRequest, result: Result<Recorded, StoreError>) {
        locked(&self.heard).hear(&result);
        // The case may have been given up.
        let _ = order.reply.send(result);
    }
}

impl LogWarnings {
    fn hear(&mut self, result: &Result<Recorded, StoreError>) {
        match result {
            Ok(recorded) => self.warnings.extend(recorded.warnings.clone()),
            Err(error) => {
                self.lost += 1;
                self.reason.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

/// Why nothing may be written there.
fn escape(store: &Utf8Path, order: &LogRequest) -> Option<StoreError> {
    let root = order.root.as_ref()?;
    Store::open(store).stays_in(root).err()
}

fn prune(store: &Store, runs: usize, results: &mut [Result<Recorded, StoreError>]) {
    for result in results {
        if let Ok(recorded) = result
            && let Err(error) = store.prune_record(&recorded.name, runs)
        {
            *result = Err(error);
        }
    }
}

/// Seen from the repository root.
fn place(root: &Utf8Path, recorded: &Recorded) -> RecordPlace {
    let file = recorded.file.strip_prefix(root).unwrap_or(&recorded.file);
    RecordPlace {
        file: file.as_str().replace('\\', "/"),
        run: recorded.run,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
