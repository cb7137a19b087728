//! What execution reports while it works. Progress and reports hear only these; rows go to disk through
//! `execute::RowSink`, before their event.

use std::sync::Arc;

use crate::record::Row;

/// Cases are identified by their number in the plan.
#[derive(Debug, Clone)]
pub enum Event {
    /// How many cases there are, and how many of them an earlier run has finished.
    Planned { cases: usize, finished: usize },
    /// A case has started; the label is for people.
    Started { case: usize, label: Arc<str> },
    /// A case is about to be attempted again.
    Retrying {
        case: usize,
        reason: String,
        seconds: f64,
    },
    /// A case is over and its row is on disk.
    Finished { case: usize, row: Arc<Row> },
    /// The run goes on, but the user should know.
    Warning(String),
    /// No further case is started; the text says why.
    Stopping(String),
    /// A signal asked the run to stop. Running cases finish unless another one follows.
    StopRequested,
}
