//! Errors of the store.

use std::fmt;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

/// Higher run numbers are refused: some JSON readers round them, and a record needs a next number.
pub(super) const HIGHEST_RUN: u64 = (1 << 53) - 1;

#[derive(Debug, Clone)]
pub enum StoreError {
    Io {
        /// `read`, `written`, `locked`, …
        doing: &'static str,
        path: Utf8PathBuf,
        source: Arc<io::Error>,
    },
    /// Another process held the lock during the whole wait.
    Busy {
        path: Utf8PathBuf,
        seconds: u64,
    },
    /// A summary or run file that cannot be parsed.
    Corrupt {
        path: Utf8PathBuf,
        reason: String,
    },
    /// A link in place of a file or directory of the store.
    Link {
        path: Utf8PathBuf,
    },
    /// The store of a repository is outside of it, through a link.
    Outside {
        path: Utf8PathBuf,
    },
    /// Not a possible name of a record.
    InvalidName {
        name: String,
    },
    NoRecord {
        name: String,
        directory: Utf8PathBuf,
    },
    NoRun {
        name: String,
        run: u64,
    },
    NoTurn {
        name: String,
        turn: usize,
        turns: usize,
    },
    /// A `co eval` file, which evalrig never changes.
    Authored {
        path: Utf8PathBuf,
    },
    /// The run has no user message.
    NoInput,
    /// A number so high that the next run cannot have a higher one.
    RunNumber {
        path: Utf8PathBuf,
        /// `runs`, `run` or the name of a run file.
        key: String,
        number: u64,
    },
    /// Fewer than two runs to compare.
    NotEnoughRuns {
        name: String,
    },
}

impl StoreError {
    pub(super) fn io(doing: &'static str, path: &Utf8Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source: Arc::new(source) }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, source } => write!(f, "`{path}` cannot be {doing}: {source}"),
            Self::Busy { path, seconds } => {
                write!(f, "`{path}` has been locked by another process for {seconds} seconds")
            }
            Self::Corrupt { path, reason } => write!(f, "cannot parse `{path}`: {reason}"),
            Self::Link { path } => write!(
                f,
                "`{path}` is a link, which could lead out of the store; evalrig does not follow it"
            ),
            Self::Outside { path } => {
                write!(f, "`{path}` is outside the repository; use `--store {path}` to write there")
            }
            Self::InvalidName { name } => write!(f, "`{name}` cannot be the name of a record"),
            Self::NoRecord { name, directory } => {
                write!(f, "no record `{name}` in `{directory}`")
            }
            Self::NoRun { name, run } => write!(f, "record `{name}` has no run {run}"),
            Self::NoTurn { name, turn, turns } => {
                write!(f, "record `{name}` has no turn {turn}; its last turn is {turns}")
            }
            Self::Authored { path } => {
                write!(f, "`{path}` is a `co eval` file; evalrig does not change it")
            }
            Self::RunNumber { path, key, number } => write!(
                f,
                "`{path}`: `{key}` is {number}, but runs are numbered up to {HIGHEST_RUN}; correct \
                 the number"
            ),
            Self::NoInput => f.write_str("the run has no input to record"),
            Self::NotEnoughRuns { name } => {
                write!(f, "record `{name}` has fewer than two runs")
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
