//! Where a run is written down, as execution sees it.

use std::pin::Pin;
use std::sync::Arc;

use crate::record::{CaseKey, Recorder, Row};

use super::job::Answered;

/// Done when something is safe on disk, or with the reason why it is not.
pub type Safe = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A row as it is kept: without secrets.
pub struct Kept {
    pub row: Arc<Row>,
    pub safe: Safe,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept")
            .field("row", &self.row.eval_id)
            .finish_non_exhaustive()
    }
}

pub trait Ledger: Send + Sync {
    fn keep(&self, suite: usize, row: Row) -> Kept;

    /// An answer that is about to be judged.
    fn answered(&self, suite: usize, key: &CaseKey, test_hash: &str, answered: &Answered) -> Safe;
}

/// Recorders of a run. Each suite has its own, unless all share one file.
#[derive(Debug)]
pub struct Books {
    pub recorders: Vec<Recorder>,
    /// Which recorder a suite has.
    pub of_suite: Vec<usize>,
}

impl Books {
    fn of(&self, suite: usize) -> &Recorder {
        &self.recorders[self.of_suite[suite]]
    }
}

impl Ledger for Books {
    fn keep(&self, suite: usize, row: Row) -> Kept {
        let (row, receipt) = self.of(suite).row(row);
        Kept {
            row,
            safe: Box::pin(async { receipt.await.map_err(|error| error.to_string()) }),
        }
    }

    fn answered(&self, suite: usize, key: &CaseKey, test_hash: &str, answered: &Answered) -> Safe {
        let Answered {
            attempts,
            transcript,
        } = answered;
        let receipt = self
            .of(suite)
            .answered(key, test_hash, *attempts, transcript);
        Box::pin(async { receipt.await.map_err(|error| error.to_string()) })
    }
}
