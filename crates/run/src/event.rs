//! Events of a run, for progress and reports. Rows are on disk before their event; `execute::RowSink`
//! writes them.

use std::sync::Arc;

use crate::results::Row;

/// Cases are identified by their number in the plan.
#[derive(Debug, Clone)]
pub enum Event {
    /// The number of cases, and how many of them an earlier run finished.
    Planned { cases: usize, finished: usize },
    /// A case has started; the label is shown to users.
    Started { case: usize, label: Arc<str> },
    /// A case will be retried.
    Retrying { case: usize, reason: String, seconds: f64 },
    /// A case has finished and its row is on disk.
    Finished { case: usize, row: Arc<Row> },
    /// What a worker of a queue does; `None` if it is no longer there.
    Worker { name: Arc<str>, text: Option<String> },
    /// Shown to the user; the run continues.
    Warning(String),
    /// No further case is started, for this reason.
    Stopping(String),
    /// A signal asked the run to stop. Running cases finish unless a second signal follows.
    StopRequested,
}
