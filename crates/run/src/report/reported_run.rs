//! What is known when the last row has been heard.

use camino::Utf8PathBuf;
use evalrig_core::compare::{CompareOptions, Comparison};
use serde_json::Value;

use super::other_runs::{Compared, PastRuns};
use super::rounds::ReportedRounds;
use crate::results::Gaps;

/// Why a run ended before its plan did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Signal,
    /// `--budget-usd`.
    Budget,
    /// `--max-errors`.
    Errors,
    /// `--fail-fast`.
    Failures,
    /// Results could not be written.
    WriteError,
    /// `queue cancel` or `queue remove`.
    Elsewhere,
}

impl Stopped {
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Signal => "interrupted",
            Self::Budget => "stopped: the budget is used up",
            Self::Errors => "stopped: too many cases could not be measured",
            Self::Failures => "stopped after a failure",
            Self::WriteError => "stopped: results could not be written",
            Self::Elsewhere => "stopped: the run was ended on the server of its queue",
        }
    }
}

/// What a person should know about the run log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunLogNews {
    #[default]
    None,
    /// This run created it.
    New,
    /// It is off because this is a CI system.
    OffInCi,
}

impl RunLogNews {
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::New => Some(
                "new: commit it to keep a history, add `.co/` to .gitignore to leave it out, or set `no_record = \
                 true` in evalrig.toml to turn it off",
            ),
            Self::OffInCi => Some("off, because CI is set; --record turns it on"),
        }
    }
}

/// An arm beside the baseline arm.
#[derive(Debug, Clone)]
pub struct GatedArm {
    pub arm: String,
    pub comparison: Comparison,
}

/// Everything but the rows. A stored run that is shown again knows less, so all of it is optional.
#[derive(Debug, Clone, Default)]
pub struct ReportedRun {
    /// In the order of the plan. Suites without a row are named too.
    pub suites: Vec<String>,
    /// Where the rows are kept, as it is to be shown.
    pub results: Option<Utf8PathBuf>,
    pub summary: Option<Utf8PathBuf>,
    /// Reports that were written to files, as they are to be shown.
    pub reports: Vec<Utf8PathBuf>,
    /// The document of spec 11.3, if it was made.
    pub summary_document: Option<Value>,
    /// What was typed, without options that belong to that run alone.
    pub command: Option<String>,
    /// Wall-clock time. Cases run concurrently, so it is not the sum of their durations.
    pub duration_ms: Option<u64>,
    pub exit_code: Option<u8>,
    pub stopped: Option<Stopped>,
    /// Cases of the plan; more than there are rows when the run was interrupted.
    pub planned: Option<u64>,
    /// What the results lack. Such a run has not passed, whatever its rows say.
    pub gaps: Gaps,
    /// `--baseline`.
    pub compared: Option<Compared>,
    /// `--rounds`.
    pub rounds: Option<ReportedRounds>,
    /// `--gate`: the exit code is that of the comparison, and not that of the tests.
    pub is_gated: bool,
    /// Arms that the gate decides about, where there is no baseline.
    pub gated_arms: Vec<GatedArm>,
    /// How the arms are compared; rounds have their own margin and measure.
    pub arm_options: CompareOptions,
    /// The command that runs what did not pass again.
    pub failed_command: Option<String>,
    /// The command that continues the run.
    pub resume_command: Option<String>,
    /// What to type to see the whole comparison.
    pub compare_command: Option<String>,
    /// What the run log knows of these tests, oldest first; this run is the last of it.
    pub history: Vec<PastRuns>,
    pub run_log: RunLogNews,
}
