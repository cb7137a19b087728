//! The JSON files of skill-creator as it reads them. Unknown numbers are absent: its scripts add up what
//! is there, and null would end them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

/// `grading.json`. It has no `timing`: with one, `aggregate_benchmark` takes characters for tokens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Grading {
    pub(super) expectations: Vec<Expectation>,
    pub(super) summary: GradingSummary,
    pub(super) execution_metrics: ExecutionMetrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user_notes_summary: Option<UserNotes>,
}

/// One statement about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Expectation {
    pub(super) text: String,
    pub(super) passed: bool,
    pub(super) evidence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct GradingSummary {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) total: usize,
    pub(super) pass_rate: f64,
}

impl GradingSummary {
    pub(super) fn of(expectations: &[Expectation]) -> Self {
        let passed = expectations.iter().filter(|one| one.passed).count();
        let total = expectations.len();
        let pass_rate = if total == 0 { 0.0 } else { passed as f64 / total as f64 };
        Self { passed, failed: total - passed, total, pass_rate: rounded(pass_rate) }
    }
}

/// To four digits after the point, as skill-creator rounds.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// It has no `output_chars`, which would be shown as tokens where those are unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct ExecutionMetrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_calls: Option<BTreeMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_tool_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_steps: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct UserNotes {
    pub(super) uncertainties: Vec<String>,
    pub(super) needs_review: Vec<String>,
    pub(super) workarounds: Vec<String>,
}

/// `timing.json`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Timing {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_duration_seconds: Option<f64>,
}

/// `eval_metadata.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct EvalMetadata {
    /// The scripts sort ids, so all of them are numbers.
    pub(super) eval_id: u64,
    pub(super) eval_name: String,
    pub(super) prompt: String,
    pub(super) assertions: Vec<String>,
}

/// `benchmark.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Benchmark {
    pub(super) metadata: BenchmarkMetadata,
    pub(super) runs: Vec<BenchmarkRun>,
    /// One entry per configuration, in order, and `delta`.
    pub(super) run_summary: Map<String, Value>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct BenchmarkMetadata {
    pub(super) skill_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) executor_model: Option<String>,
    pub(super) timestamp: String,
    pub(super) evals_run: Vec<u64>,
    pub(super) runs_per_configuration: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct BenchmarkRun {
    pub(super) eval_id: u64,
    pub(super) eval_name: String,
    pub(super) configuration: String,
    pub(super) run_number: u32,
    pub(super) result: RunFigures,
    pub(super) expectations: Vec<Expectation>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct RunFigures {
    pub(super) pass_rate: f64,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_calls: Option<u64>,
    pub(super) errors: u64,
}
