//! The interface through which execution stores rows and answers.

use std::pin::Pin;
use std::sync::Arc;

use crate::results::{CaseKey, JudgeReply, Row};

use super::job::UngradedAnswer;

/// Completes when the data is on disk, or with the reason why it is not.
pub(crate) type Durable = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A row as it was written, with secrets redacted.
pub(crate) struct WrittenRow {
    pub(crate) row: Arc<Row>,
    pub(crate) durable: Durable,
}

/// Each suite has one. Several may write to the same file.
pub(crate) trait RowSink: std::fmt::Debug + Send + Sync {
    fn write(&self, row: Row) -> WrittenRow;

    /// Stores an answer that is about to be graded.
    fn write_answer(&self, key: &CaseKey, test_hash: &str, answer: &UngradedAnswer) -> Durable;

    /// Stores what a judge said of that answer.
    fn write_reply(&self, key: &CaseKey, test_hash: &str, reply: &JudgeReply) -> Durable;

    /// The row is on disk. Called once per row, before it is reported.
    fn settled(&self, row: &Row);
}
