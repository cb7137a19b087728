//! What an agent can never report, known before it is called. Each agent and each format describes this
//! beside its reader.

use evalrig_core::model::Measurement;

/// Something that an agent does not report, and what to change so that it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreported {
    pub what: Measurement,
    /// The setting or the agent that is the cause.
    pub cause: &'static str,
    pub remedy: &'static str,
}

impl Unreported {
    pub(crate) fn sentence(&self, target: &str) -> String {
        format!("target `{target}` does not report {} ({})", self.what.word(), self.cause)
    }
}
