//! What execution says while it works. Records and reports hear nothing else.

use std::sync::Arc;

use crate::record::Row;

/// Of cases, their number in the plan is what names them.
#[derive(Debug, Clone)]
pub enum Event {
    /// How many cases there are, and how many of them an earlier run has finished.
    Planned { cases: usize, finished: usize },
    /// A case has begun; the label is for people.
    Started { case: usize, label: Arc<str> },
    /// A case is about to be attempted again.
    Retrying {
        case: usize,
        reason: String,
        seconds: f64,
    },
    /// A case is over and its row is on disk.
    Finished {
        /// Place of the suite in the job.
        suite: usize,
        case: usize,
        row: Arc<Row>,
    },
    /// The run goes on, but somebody should know.
    Warning(String),
    /// No further case is begun; the text says why.
    Stopping(String),
}
