//! Why a queue cannot be used.

use std::fmt;

/// What happened, and where that helps what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueError(String);

impl QueueError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// `what` could not be done.
    pub(super) fn of(what: &str, error: impl fmt::Display) -> Self {
        Self(format!("cannot {what}: {error}"))
    }
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QueueError {}
