//! The input of grading.

use std::fmt;

use crate::source::Files;

use super::test::Test;
use super::transcript::Transcript;
use super::workspace::WorkspaceFiles;

/// A test and what its target returned.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// Name of the suite.
    pub suite: &'a str,
    pub test: &'a Test,
    /// From 1.
    pub trial: u32,
    pub transcript: &'a Transcript,
    /// For attached files, which judges are shown.
    pub files: &'a dyn Files,
    /// The files that the agent left. `None` without a workspace, and for a stored answer whose
    /// workspace is gone; what changed is in the transcript.
    pub workspace: Option<&'a dyn WorkspaceFiles>,
    /// Names of the skills that the case was given. `None` if nothing says which.
    pub given_skills: Option<&'a [String]>,
    /// The arm that the case runs in.
    pub arm: Option<&'a str>,
}

impl fmt::Debug for Evidence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evidence")
            .field("suite", &self.suite)
            .field("test", &self.test.id)
            .field("trial", &self.trial)
            .finish_non_exhaustive()
    }
}
