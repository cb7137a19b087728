//! What the workers of a queue do now: a file beside the results of a run that goes on, for processes that show it.
//! The run does not depend on it, and it is removed when the run ends.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::results_paths::{ResultsPaths, reach_of, write_path};
use crate::disk::{Access, Durability, FileDraft, is_plain_file, read_whole, remove_file};
use crate::lock::locked;

/// Between two times that the file is written.
const PAUSE: Duration = Duration::from_millis(500);

/// A run may have a thousand workers; a page shows these.
const MOST_WORKERS: usize = 64;

const LARGEST: u64 = 1024 * 1024;

/// What each worker does, by name.
pub type WorkerLines = BTreeMap<String, String>;

/// Keeps the file up to date.
#[derive(Debug)]
pub struct WorkerNotes {
    path: Utf8PathBuf,
    state: Mutex<NotesState>,
}

#[derive(Debug, Default)]
struct NotesState {
    workers: WorkerLines,
    written: Option<Instant>,
    is_over: bool,
}

impl WorkerNotes {
    /// `None` beside a pipe or a device. There is no file before the first worker.
    pub fn beside(results: &ResultsPaths) -> Option<Self> {
        is_plain_file(results.results())
            .then(|| Self { path: results.workers(), state: Mutex::default() })
    }

    /// A worker does this; `None` if it is no longer there.
    pub fn note(&self, name: &str, text: Option<String>) {
        let mut state = locked(&self.state);
        match text {
            Some(text) => state.workers.insert(name.to_owned(), text),
            None => state.workers.remove(name),
        };
        // The next sign of any worker writes what this one does not.
        let is_due = state.written.is_none_or(|at| at.elapsed() >= PAUSE);
        if is_due && !state.is_over {
            state.written = Some(Instant::now());
            // The results say the rest.
            let _ = self.write(&state.workers);
        }
    }

    fn write(&self, workers: &WorkerLines) -> std::io::Result<()> {
        let shown: BTreeMap<_, _> = workers.iter().take(MOST_WORKERS).collect();
        let mut draft = FileDraft::create(write_path(&self.path), Access::Private)?;
        draft.write_all(&serde_json::to_vec(&shown)?)?;
        draft.place(Durability::Unsynced)
    }

    /// The run has ended.
    pub fn end(&self) {
        let mut state = locked(&self.state);
        state.is_over = true;
        if state.written.is_some() {
            let _ = remove_file(write_path(&self.path));
        }
    }
}

/// What the workers of a run do that is being written; none if it has no workers.
pub fn read_worker_notes(results: &Utf8Path) -> WorkerLines {
    let path = ResultsPaths::existing(results).workers();
    let bytes = read_whole(&path, reach_of(&path), LARGEST).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_workers_do_is_there_until_the_run_ends() {
        let root = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(root.path()).unwrap();
        let results = ResultsPaths::claim(root, "suite", SystemTime::now()).unwrap();
        let notes = WorkerNotes::beside(&results).unwrap();
        assert!(read_worker_notes(results.results()).is_empty());
        let name = "one";
        notes.note(name, Some("1 of 4 running, 0 done: t".to_owned()));
        let read = read_worker_notes(results.results());
        assert_eq!(read.get(name).map(String::as_str), Some("1 of 4 running, 0 done: t"));
        notes.end();
        assert!(!results.workers().exists());
        notes.note(name, None);
        assert!(!results.workers().exists());
    }
}
