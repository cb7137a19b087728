//! Recording while a run goes on: every case that has a transcript becomes a run of its record.

use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::access::Secrets;
use evalrig_core::model::{FaultKind, Stage, Test, Transcript};
use tokio::sync::Mutex;

use crate::record::{RecordPlace, Row, RowError};

use super::case::CaseRun;
use super::fault::StoreError;
use super::record::{NewRun, Recorded};
use super::store::Store;

/// How the cases of a run are recorded.
#[derive(Debug)]
pub struct Recording {
    /// `--store`; otherwise each suite's repository has its own.
    store: Option<Utf8PathBuf>,
    /// `--keep-runs`.
    keep_runs: Option<usize>,
    secrets: Arc<Secrets>,
    /// What people should hear of when the run is over.
    warnings: std::sync::Mutex<Vec<String>>,
    /// Cases of this process queue here instead of at the lock of the store.
    turn: Arc<Mutex<()>>,
}

impl Recording {
    pub fn new(
        store: Option<Utf8PathBuf>,
        keep_runs: Option<usize>,
        secrets: Arc<Secrets>,
    ) -> Self {
        Self {
            store,
            keep_runs,
            secrets,
            warnings: std::sync::Mutex::default(),
            turn: Arc::new(Mutex::new(())),
        }
    }

    /// Records the case and says so in its row. A record that cannot be written is said in the row
    /// too, which keeps its verdict; an earlier error stays.
    ///
    /// Without a store that was named, one that is there is gone on with and none is begun: each
    /// record waits for the disk, which whoever does not read them should not pay for.
    pub async fn add(&self, root: &Utf8Path, test: &Test, transcript: &Transcript, row: &mut Row) {
        if self.store.is_none() && !root.join(".co/evals").is_dir() {
            return;
        }
        let new = NewRun::from(CaseRun {
            test,
            transcript,
            row,
            cwd: root,
            secrets: &self.secrets,
            time: SystemTime::now(),
        });
        let store = match &self.store {
            Some(directory) => Store::open(directory.clone()),
            None => Store::of_root(root),
        };
        match self.keep(store, new).await {
            Ok(recorded) => {
                row.record = Some(place(root, &recorded));
                self.warnings().extend(recorded.warnings);
            }
            Err(error) => {
                row.error.get_or_insert_with(|| RowError {
                    stage: Stage::Record.word().to_owned(),
                    kind: FaultKind::Io.word().to_owned(),
                    message: error.to_string(),
                });
            }
        }
    }

    /// Such as files that were set aside; each is told once.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings())
    }

    fn warnings(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the disk where nobody else has to.
    async fn keep(&self, store: Store, new: NewRun) -> Result<Recorded, StoreError> {
        let keep_runs = self.keep_runs;
        let path = store.directory().to_owned();
        let _turn = self.turn.lock().await;
        let kept = tokio::task::spawn_blocking(move || {
            let recorded = store.record(&new)?;
            if let Some(runs) = keep_runs {
                store.prune_record(&recorded.name, runs)?;
            }
            Ok(recorded)
        });
        kept.await
            .unwrap_or_else(|error| Err(StoreError::io("written", &path, io::Error::other(error))))
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
