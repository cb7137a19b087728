//! Why the store could not do what it was asked.

use std::fmt;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

#[derive(Debug, Clone)]
pub enum StoreError {
    Io {
        /// `read`, `written`, `locked`, …
        doing: &'static str,
        path: Utf8PathBuf,
        source: Arc<io::Error>,
    },
    /// Somebody has held the lock for as long as we waited.
    Busy {
        path: Utf8PathBuf,
        seconds: u64,
    },
    /// A summary or a run file that cannot be understood.
    Corrupt {
        path: Utf8PathBuf,
        reason: String,
    },
    /// A link where a directory of the store should be.
    Link {
        path: Utf8PathBuf,
    },
    /// The store of a repository that lies somewhere else.
    Outside {
        path: Utf8PathBuf,
    },
    /// A name that cannot be one of a record.
    Name {
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
    /// Files that people write are theirs.
    Authored {
        path: Utf8PathBuf,
    },
    /// There is nothing that could be recorded.
    NoInput,
    /// Fewer than two runs to compare.
    NotEnoughRuns {
        name: String,
    },
}

impl StoreError {
    pub(super) fn io(doing: &'static str, path: &Utf8Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io {
                doing,
                path,
                source,
            } => write!(f, "`{path}` cannot be {doing}: {source}"),
            Self::Busy { path, seconds } => write!(
                f,
                "`{path}` has been locked by another process for {seconds} seconds"
            ),
            Self::Corrupt { path, reason } => write!(f, "`{path}` cannot be understood: {reason}"),
            Self::Link { path } => write!(
                f,
                "`{path}` is a link, which could lead out of the store; nothing is written there"
            ),
            Self::Outside { path } => write!(
                f,
                "`{path}` leads out of the repository; name it with `--store` to write there"
            ),
            Self::Name { name } => write!(f, "`{name}` cannot be the name of a record"),
            Self::NoRecord { name, directory } => {
                write!(f, "there is no record `{name}` in `{directory}`")
            }
            Self::NoRun { name, run } => write!(f, "record `{name}` has no run {run}"),
            Self::NoTurn { name, turn, turns } => {
                write!(f, "record `{name}` has no turn {turn}: it has {turns}")
            }
            Self::Authored { path } => write!(
                f,
                "`{path}` was written by a person for `co eval` and is left alone"
            ),
            Self::NoInput => f.write_str("there is no input to record"),
            Self::NotEnoughRuns { name } => {
                write!(f, "record `{name}` has no two runs that could be compared")
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
