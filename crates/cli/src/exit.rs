//! Exit codes (spec 11.4): one enum, one sentence each.

use std::process::ExitCode;

use evalrig_run::record::RunExit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Well,
    No,
    CouldNotStart,
    Incomplete,
    NothingSelected,
    Interrupted,
    Terminated,
}

/// Shown at the end of `--help`.
pub const HELP: &str = "\
Exit codes:
  0  all is well
  1  the answer is no: errors were found, a test failed, a file differs
  2  could not start: usage, a missing path, a file that cannot be understood
  3  incomplete: something could not be measured
  4  nothing was selected
  130, 143  interrupted by a signal; what was finished is kept";

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::No => 1,
            Self::CouldNotStart => 2,
            Self::Incomplete => 3,
            Self::NothingSelected => 4,
            // As shells say it: 128 and the number of the signal.
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<RunExit> for Exit {
    fn from(exit: RunExit) -> Self {
        match exit {
            RunExit::Passed => Self::Well,
            RunExit::Failed => Self::No,
            RunExit::Incomplete => Self::Incomplete,
            RunExit::Nothing => Self::NothingSelected,
        }
    }
}
