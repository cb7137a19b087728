//! Exit codes (`FORMAT.md` 11.4): one enum, one sentence each.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Well,
    No,
    CouldNotStart,
    NothingSelected,
}

/// Shown at the end of `--help`.
pub const HELP: &str = "\
Exit codes:
  0  all is well
  1  the answer is no: errors were found, a test failed, a file differs
  2  could not start: usage, a missing path, a file that cannot be understood
  3  incomplete: something could not be measured
  4  nothing was selected";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Well => 0,
            Exit::No => 1,
            Exit::CouldNotStart => 2,
            Exit::NothingSelected => 4,
        })
    }
}
