//! The options of a run that its results file keeps, beside those that select cases. A run that goes on
//! or is repeated takes them from here, so that they need not be typed again.

use evalrig_core::secrets::Secrets;
use serde::{Deserialize, Serialize};

/// What is not said is the default. Limits such as a budget are for one invocation and not kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunSettings {
    /// Relative to the repository root, if it is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub skip_judges: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub judge_criteria: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub borderline: Option<f64>,
    #[serde(skip_serializing_if = "is_false")]
    pub allow_borderline: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_trials: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    #[serde(skip_serializing_if = "is_false")]
    pub no_messages: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub no_record: bool,
    /// Whether only what had failed or changed was run: `--failed`, or a rerun of `--watch`.
    #[serde(skip_serializing_if = "is_false")]
    pub failed: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_false(value: &bool) -> bool {
    !value
}

impl RunSettings {
    /// The texts that may hold a secret.
    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        self.targets_file.iter().chain(&self.judge)
    }

    pub(super) fn redact(&mut self, secrets: &Secrets) {
        for text in self.targets_file.iter_mut().chain(&mut self.judge) {
            secrets.redact_in_place(text);
        }
    }
}
