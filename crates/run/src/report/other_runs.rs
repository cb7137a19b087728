//! What a run is seen against: an earlier run of the same tests, and what the run log remembers.

use evalrig_core::compare::Comparison;

use super::html::EarlierCase;

/// This run beside a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// What the baseline is called, as it is to be shown.
    pub base: String,
    /// The files of each of its runs, as they are to be shown.
    pub base_runs: Vec<Vec<String>>,
    pub comparison: Comparison,
    /// Answers and costs of the baseline, for reports that show them. May be empty.
    pub earlier: Vec<EarlierCase>,
}

/// Runs of the same inputs that were logged close together in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRuns {
    /// Local times as written in the log; equal when there was only one.
    pub first: String,
    pub last: String,
    pub passes: u64,
    /// Those with a verdict.
    pub trials: u64,
}
