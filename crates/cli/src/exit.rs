//! Exit codes (spec 11.4).

use std::process::ExitCode;

use evalrig_run::results::RunVerdict;
use evalrig_run::session::{SessionExit, StopSignal};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Success,
    Failure,
    CouldNotStart,
    Incomplete,
    NothingSelected,
    Signal(StopSignal),
}

/// Shown at the end of `--help`.
pub const HELP: &str = "\
Exit codes:
  0  success
  1  failed: errors were found, a test did not pass, or a file differs
  2  could not start: wrong usage, a missing path, an unreadable file
  3  incomplete: something could not be measured, or stored results lack rows
  4  nothing was selected
  129, 130, 131, 143  stopped by a signal; finished cases are saved";

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::CouldNotStart => 2,
            Self::Incomplete => 3,
            Self::NothingSelected => 4,
            Self::Signal(signal) => signal.exit_code(),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<RunVerdict> for Exit {
    fn from(exit: RunVerdict) -> Self {
        match exit {
            RunVerdict::Passed => Self::Success,
            RunVerdict::Failed => Self::Failure,
            RunVerdict::Incomplete => Self::Incomplete,
            RunVerdict::Nothing => Self::NothingSelected,
        }
    }
}

impl From<SessionExit> for Exit {
    fn from(exit: SessionExit) -> Self {
        match exit {
            SessionExit::Run(exit) => exit.into(),
            SessionExit::Signal(signal) => Self::Signal(signal),
        }
    }
}
