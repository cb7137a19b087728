//! Why a record could not be written, or not be read.

use std::fmt;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

/// Why something is not on disk. One failed write may concern many entries, so it can be cloned.
#[derive(Debug, Clone)]
pub enum WriteError {
    Io {
        path: Utf8PathBuf,
        source: Arc<io::Error>,
    },
    /// Part of a line was written and could not be taken back. Nothing more is written, for it
    /// would stick to that part.
    Damaged {
        path: Utf8PathBuf,
    },
    /// Another run is writing there.
    Busy {
        path: Utf8PathBuf,
    },
    /// There are results already, and replacing them was not requested.
    Exists {
        path: Utf8PathBuf,
    },
    /// Another process wrote to the file between reading and resuming.
    Changed {
        path: Utf8PathBuf,
    },
    /// The writer is gone.
    Stopped,
}

impl WriteError {
    pub(super) fn io(path: &Utf8Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source: Arc::new(source) }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "`{path}` cannot be written: {source}"),
            Self::Damaged { path } => {
                write!(f, "`{path}` ends in part of a row that cannot be taken back")
            }
            Self::Busy { path } => write!(f, "another run is writing to `{path}`"),
            Self::Exists { path } => write!(f, "`{path}` has results already"),
            Self::Changed { path } => write!(f, "`{path}` was changed while it was read"),
            Self::Stopped => f.write_str("the record is closed"),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

/// Why a record cannot be read.
#[derive(Debug)]
pub enum ReadError {
    Io {
        path: Utf8PathBuf,
        source: io::Error,
    },
    /// A fault in a table that a person wrote. Lines count from 1.
    Table {
        path: Utf8PathBuf,
        line: u64,
        reason: String,
    },
    /// A line that evalrig did not write. Lines count from 1.
    Corrupt {
        path: Utf8PathBuf,
        line: u64,
        reason: String,
    },
}

impl ReadError {
    pub(crate) fn io(path: &Utf8Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    #[cfg(feature = "view")]
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// With the path as it is shown.
    pub(crate) fn renamed(mut self, shown: &Utf8Path) -> Self {
        let (Self::Io { path, .. } | Self::Table { path, .. } | Self::Corrupt { path, .. }) =
            &mut self;
        shown.clone_into(path);
        self
    }

    pub(super) fn corrupt(path: &Utf8Path, line: u64, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), line, reason: reason.into() }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "`{path}` cannot be read: {source}"),
            Self::Corrupt { path, line: 1, reason } => {
                write!(f, "`{path}` is not a results file: line 1 is {reason}")
            }
            Self::Table { path, line, reason } | Self::Corrupt { path, line, reason } => {
                write!(f, "{path}:{line}: {reason}")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Table { .. } | Self::Corrupt { .. } => None,
        }
    }
}
