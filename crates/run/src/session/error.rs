//! Errors and notices of a session.

use std::fmt;

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::read::DiscoveryError;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Sources;

use crate::results::ReadError;

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
    NoSuiteFile,
    /// Every suite that was found was written by `transpile`; this is the first.
    OnlyGenerated(Utf8PathBuf),
    /// No file that was found is a suite.
    NoSuite,
    /// No test was selected.
    NoTest,
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
            Self::NoSuiteFile
                | Self::OnlyGenerated(_)
                | Self::NoSuite
                | Self::NoTest
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
                if path.ends_with(".csv") || path.ends_with(".tsv") {
                    write!(f, "; `evalrig convert {path}` makes a suite from a list")?;
                }
                Ok(())
            }
            Self::DiscoveryError(DiscoveryError::Pattern(pattern)) => {
                write!(f, "`{pattern}` is not a valid pattern")
            }
            Self::DiscoveryError(DiscoveryError::Unreadable(path)) => {
                write!(f, "cannot read directory `{path}`; exclude it with `!{path}`")
            }
            Self::NoSuiteFile => f.write_str(
                "no suite found: looked for `EVAL.yaml`, `*.eval.yaml` and `evals.json`",
            ),
            Self::OnlyGenerated(path) => {
                write!(f, "no suite found but `{path}`, which `transpile` wrote; name it to use it")
            }
            Self::NoSuite => f.write_str("no suite was found"),
            Self::NoTest => f.write_str("no test was selected"),
            Self::NothingInCommon(baseline) => {
                write!(f, "--baseline: no test of this run was measured in `{baseline}`")
            }
            Self::Argument { option, reason } => write!(f, "{option}: {reason}"),
            Self::Read(error) => write!(f, "{error}"),
            Self::NoRow(text)
            | Self::StoredRun(text)
            | Self::Incomplete(text)
            | Self::Write(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<ReadError> for SessionError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}
