//! Errors and notices of a session.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::read::DiscoveryError;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Sources;

#[cfg(feature = "queue")]
use crate::queue::QueueError;
use crate::results::ReadError;

use super::command_line::quoted;

/// Diagnostics of one suite, with the texts they point into.
#[derive(Debug)]
pub struct SuiteRefusal {
    pub sources: Sources,
    /// Values that must not be shown.
    pub secrets: Secrets,
    /// From loading the suite, warnings included.
    pub diagnostics: Vec<Diagnostic>,
    /// Errors without a location in a file, secrets redacted.
    pub messages: Vec<String>,
    /// From preparing: missing targets, judges and variables.
    pub missing: Vec<Diagnostic>,
}

/// Information for the user; the session continues.
#[derive(Debug)]
pub enum Notice<'a> {
    Message(String),
    /// Less important than a message: `--quiet` hides it.
    Warning(String),
    Diagnostics {
        sources: &'a Sources,
        secrets: &'a Secrets,
        diagnostics: Vec<Diagnostic>,
    },
}

/// Gets every notice of a session.
pub type Notify<'a> = dyn FnMut(Notice<'_>) + 'a;

#[derive(Debug)]
pub enum SessionError {
    /// Suites cannot be run as they are; nothing was called.
    Refused(Vec<SuiteRefusal>),
    /// An argument does not name suites.
    DiscoveryError(DiscoveryError),
    /// No file has the name of a suite.
    NoSuiteFile(Vec<ForeignFileFound>),
    /// Every suite that was found was written by `transpile`; this is the first.
    OnlyGenerated(Utf8PathBuf),
    /// No file that was found is a suite.
    NoSuite,
    /// No test was selected.
    NoTest,
    /// `--failed`, and no selected test failed before.
    NoFailedTest,
    /// No row of a stored run can be graded.
    NoRow(String),
    /// `--gate`, and no test of the run is in the baseline.
    NothingInCommon(String),
    /// The value of an option cannot be used.
    Argument {
        option: &'static str,
        reason: String,
    },
    /// A stored run that cannot be graded or found.
    StoredRun(String),
    /// Stored results lack rows, and nothing can be decided without them.
    Incomplete(String),
    Read(ReadError),
    Write(String),
    /// A queue that cannot be used.
    #[cfg(feature = "queue")]
    Queue(QueueError),
}

impl SessionError {
    pub(super) fn argument(option: &'static str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Argument { option, reason }
    }

    pub(super) fn write(error: impl fmt::Display) -> Self {
        Self::Write(format!("cannot write results: {error}"))
    }

    /// Whether nothing was selected (exit code 4), as opposed to an error (exit code 2).
    pub fn is_nothing_selected(&self) -> bool {
        matches!(
            self,
            Self::NoSuiteFile(_)
                | Self::OnlyGenerated(_)
                | Self::NoSuite
                | Self::NoTest
                | Self::NoFailedTest
                | Self::NoRow(_)
                | Self::NothingInCommon(_)
        )
    }
}

impl SessionError {
    /// Whether something is missing that is needed to decide (exit code 3).
    pub fn is_incomplete(&self) -> bool {
        matches!(self, Self::Incomplete(_))
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(suites) => {
                let messages = suites.iter().flat_map(|suite| {
                    let found = suite.diagnostics.iter().chain(&suite.missing);
                    let found = found.map(|one| suite.secrets.redact(&one.message));
                    suite.messages.iter().cloned().chain(found)
                });
                f.write_str(&messages.collect::<Vec<_>>().join("\n"))
            }
            Self::DiscoveryError(DiscoveryError::Missing(path)) => {
                write!(f, "`{path}` does not exist")
            }
            Self::DiscoveryError(DiscoveryError::Ending(path)) => {
                write!(f, "`{path}` is not a suite: expected .yaml, .yml, .jsonl or .json")?;
                match Utf8Path::new(path).extension() {
                    Some("csv" | "tsv" | "ndjson") => {
                        write!(f, "; `evalrig convert {path}` makes a suite from a list")
                    }
                    Some("toml") => write!(f, "; `evalrig convert {path}` makes a suite of a task"),
                    _ => Ok(()),
                }
            }
            Self::DiscoveryError(DiscoveryError::Pattern(pattern)) => {
                write!(f, "`{pattern}` is not a valid pattern")
            }
            Self::DiscoveryError(DiscoveryError::Unreadable(path)) => {
                write!(f, "cannot read directory `{path}`; exclude it with `!{path}`")
            }
            Self::NoSuiteFile(others) => {
                f.write_str(
                    "no suite found: looked for `EVAL.yaml`, `*.eval.yaml` and `evals.json`",
                )?;
                others.iter().try_for_each(|other| write!(f, "\n  {other}"))
            }
            Self::OnlyGenerated(path) => {
                write!(f, "no suite found but `{path}`, which `transpile` wrote; name it to use it")
            }
            Self::NoSuite => f.write_str("no suite was found"),
            Self::NoTest => f.write_str("no test was selected"),
            Self::NoFailedTest => f.write_str(
                "--failed: every selected test passed in the earlier run; there is nothing to run again",
            ),
            Self::NothingInCommon(baseline) => {
                write!(f, "--baseline: no test of this run was measured in `{baseline}`")
            }
            Self::Argument { option, reason } => write!(f, "{option}: {reason}"),
            Self::Read(error) => write!(f, "{error}"),
            #[cfg(feature = "queue")]
            Self::Queue(error) => write!(f, "{error}"),
            Self::NoRow(text)
            | Self::StoredRun(text)
            | Self::Incomplete(text)
            | Self::Write(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SessionError {}

/// A file of another tool, found where no suite is.
#[derive(Debug)]
pub struct ForeignFileFound {
    /// As a user would type it.
    pub(super) path: Utf8PathBuf,
    /// What it is, behind "is".
    pub(super) title: &'static str,
}

impl fmt::Display for ForeignFileFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = quoted(self.path.as_str());
        let output = self.path.with_file_name("EVAL.yaml");
        let (title, output) = (self.title, quoted(output.as_str()));
        write!(f, "`{path}` is {title}: `evalrig convert {path} -o {output}` makes a suite of it")
    }
}

impl From<ReadError> for SessionError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

#[cfg(feature = "queue")]
impl From<QueueError> for SessionError {
    fn from(error: QueueError) -> Self {
        Self::Queue(error)
    }
}
