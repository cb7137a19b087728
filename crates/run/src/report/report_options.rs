//! Where a report is shown and how much of it.

use std::fmt;
use std::sync::Arc;

use evalrig_core::secrets::Secrets;

use crate::results::ExitRule;
use crate::text::OutputStyle;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Only what went wrong.
    Quiet,
    #[default]
    Normal,
    /// Passed and skipped cases too.
    Verbose,
}

/// The lines of suites, for drawing them. The file is relative to the repository root, lines count
/// from 1.
#[derive(Clone)]
pub struct SuiteText {
    line_of: Arc<LineOf>,
    path_of: Arc<PathOf>,
}

type LineOf = dyn Fn(&str, u32) -> Option<String> + Send + Sync;
type PathOf = dyn Fn(&str) -> String + Send + Sync;

impl SuiteText {
    pub fn new(line_of: impl Fn(&str, u32) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { line_of: Arc::new(line_of), path_of: Arc::new(str::to_owned) }
    }

    /// With paths as the person at the terminal would type them.
    #[must_use]
    pub fn with_paths(self, path_of: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self { path_of: Arc::new(path_of), ..self }
    }

    pub fn path(&self, file: &str) -> String {
        (self.path_of)(file)
    }

    /// Without secrets: an author may have written one out.
    #[must_use]
    pub fn redacted(self, secrets: Arc<Secrets>) -> Self {
        if secrets.is_empty() {
            return self;
        }
        let Self { line_of, path_of } = self;
        let known = Arc::clone(&secrets);
        Self::new(move |file, line| Some(known.redact(&line_of(file, line)?)))
            .with_paths(move |file| secrets.redact(&path_of(file)))
    }

    /// For stored runs whose suite is gone.
    pub fn unknown() -> Self {
        Self::new(|_, _| None)
    }

    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        (self.line_of)(file, line)
    }
}

impl fmt::Debug for SuiteText {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("SuiteText")
    }
}

/// What every report is made with.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    pub style: OutputStyle,
    pub detail: Detail,
    pub text: SuiteText,
    /// Which tests pass, as the exit code has it.
    pub exit_rule: ExitRule,
}
