//! Where a report is shown and how much of it.

use std::fmt;
use std::sync::Arc;

/// What the place can show; reports for machines do not care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub color: bool,
    /// In columns; `None` when it is not a terminal.
    pub width: Option<usize>,
    /// Without it only ASCII is written.
    pub unicode: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            color: false,
            width: None,
            unicode: true,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Only the last line.
    Quiet,
    #[default]
    Normal,
    /// Passed and skipped cases too.
    Verbose,
}

/// The lines of suites, for drawing them. The file is relative to the repository root, lines count
/// from 1.
#[derive(Clone)]
pub struct SuiteText(Arc<LineOf>);

type LineOf = dyn Fn(&str, u32) -> Option<String> + Send + Sync;

impl SuiteText {
    pub fn new(line_of: impl Fn(&str, u32) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(line_of))
    }

    /// For stored runs whose suite is gone.
    pub fn unknown() -> Self {
        Self::new(|_, _| None)
    }

    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        (self.0)(file, line)
    }
}

impl fmt::Debug for SuiteText {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("SuiteText")
    }
}

/// What every report is made with.
#[derive(Debug, Clone)]
pub struct Setting {
    pub look: Look,
    pub detail: Detail,
    pub text: SuiteText,
}
