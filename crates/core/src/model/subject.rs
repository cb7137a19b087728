//! What a check looks at: the answer, or a file of the workspace (spec 17.5).

use std::fmt;

/// How sentences call it: `Output`, or `File 'PATH'`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubjectName<'a> {
    /// Below the workspace; the answer if `None`.
    pub file: Option<&'a str>,
}

impl fmt::Display for SubjectName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file {
            Some(path) => write!(f, "File '{path}'"),
            None => f.write_str("Output"),
        }
    }
}
