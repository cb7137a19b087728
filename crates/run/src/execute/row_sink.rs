//! The interface through which execution stores rows and answers.

use std::pin::Pin;
use std::sync::Arc;

use crate::record::{CaseKey, Recorder, Row};

use super::job::UngradedAnswer;

/// Completes when the data is on disk, or with the reason why it is not.
pub type Durable = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A row as it was written, with secrets redacted.
pub struct WrittenRow {
    pub row: Arc<Row>,
    pub durable: Durable,
}

impl std::fmt::Debug for WrittenRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WrittenRow")
            .field("row", &self.row.eval_id)
            .finish_non_exhaustive()
    }
}

/// Each suite has one. Several may write to the same file.
pub trait RowSink: std::fmt::Debug + Send + Sync {
    fn write(&self, row: Row) -> WrittenRow;

    /// Stores an answer that is about to be graded.
    fn write_answer(&self, key: &CaseKey, test_hash: &str, answer: &UngradedAnswer) -> Durable;

    /// The row is on disk. Called once per row, before it is reported.
    fn settled(&self, _: &Row) {}
}

impl RowSink for Recorder {
    fn write(&self, row: Row) -> WrittenRow {
        let (row, receipt) = self.row(row);
        WrittenRow {
            row,
            durable: Box::pin(async { receipt.await.map_err(|error| error.to_string()) }),
        }
    }

    fn write_answer(&self, key: &CaseKey, test_hash: &str, answer: &UngradedAnswer) -> Durable {
        let UngradedAnswer {
            attempts,
            transcript,
        } = answer;
        let receipt = self.answered(key, test_hash, *attempts, transcript);
        Box::pin(async { receipt.await.map_err(|error| error.to_string()) })
    }
}
