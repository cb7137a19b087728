//! A row: one case as it is recorded (spec 11.1, 11.2). Readers ignore keys that they do not know. The
//! table of its keys is in `row_fields`.

use std::borrow::Cow;

use evalrig_core::compare::{CaseArm, ComparedCase};
use evalrig_core::model::{Outcome, PassShare, Tokens, Transcript, Verdict};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

use super::file_changes::WorkspaceChanges;
use super::row_skills::RowSkills;
use super::variant::variant_name;

pub const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    pub schema_version: u32,
    /// End of the case, RFC 3339, UTC.
    pub timestamp: String,
    pub eval_id: String,
    pub dataset: String,
    pub conversation_id: Option<String>,
    pub score: Option<f64>,
    #[serde(serialize_with = "write_verdict", deserialize_with = "read_verdict")]
    pub verdict: Option<Verdict>,
    /// The score from which this case passes. Older rows lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_threshold: Option<f64>,
    #[serde(serialize_with = "write_outcome", deserialize_with = "read_outcome")]
    pub outcome: Outcome,
    pub hits: Vec<String>,
    pub misses: Vec<String>,
    pub candidate_answer: Option<String>,
    pub target: String,
    /// The variant of the system under test; absent without arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Other arms of the run are compared with this one, and its failures do not fail the run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub baseline_arm: bool,
    pub trial: u32,
    pub attempts: u32,
    pub duration_ms: Option<u64>,
    /// Of the answer; nothing of it was spent if it was `cached`.
    pub cost_usd: Option<f64>,
    pub tokens: Option<TokenCounts>,
    pub trace_summary: Trace,
    /// Absent if nothing is known about skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<RowSkills>,
    /// The agent was stopped before it was done, so that calls, tokens and messages are those so far.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial: bool,
    /// How many of the test's trials must pass, if the test says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_trials: Option<PassTrials>,
    pub evaluator_results: Vec<EvaluatorResult>,
    pub judge_usage: Option<JudgeUsage>,
    pub error: Option<RowError>,
    pub test_hash: String,
    pub source: SourcePlace,
    pub record: Option<RecordPlace>,
    /// The name that `evals.json` gives the test beside its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Tests of one group share a fixture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What was asked: messages in the shape of spec 10.1, long ones cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<String>,
    /// A text, messages, or the data that the author wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<Value>,
    /// Whether the answer is that of an earlier run (`--cache`); absent if the target was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
    /// Whether the row is one of an earlier run (`--reuse-arm`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub reused: bool,
    /// Digest of what the answer depends on beside the test. Only cases of arms have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentFacts>,
    /// What the agent did to the files of its workspace; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceChanges>,
    /// Id of the run; the same in all its results files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanPlace>,
    /// The worker of a queue that ran the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Version that ran the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evalrig: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// The command line of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Absent with `--no-messages`, and if the answer is all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_messages: Option<Vec<Value>>,
}

/// Who answered. What the agent does not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The sandbox that its processes ran in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// The tools that the agent was not allowed to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_denials: Option<Vec<String>>,
    /// Events that the reader does not know.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown_events: u64,
}

/// A share of the trials of a test that got a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PassTrials {
    pub share: f64,
    /// The share itself is not enough.
    #[serde(default, skip_serializing_if = "is_false")]
    pub above: bool,
}

impl From<PassShare> for PassTrials {
    fn from(share: PassShare) -> Self {
        Self { share: share.share, above: share.above }
    }
}

impl From<PassTrials> for PassShare {
    fn from(trials: PassTrials) -> Self {
        Self { share: trials.share, above: trials.above }
    }
}

/// The plan that a row belongs to: its hash, and the shard as `I/N`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPlace {
    pub hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

/// The repository of the suite when the run started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitState {
    pub commit: String,
    /// Absent with a detached head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether tracked files differ from the commit; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

/// Which case a row is about. Two rows with one key are the same piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseKey {
    pub suite: String,
    pub test: String,
    /// The target, with the arm behind it where there is one.
    pub target: String,
    pub trial: u32,
}

impl Row {
    /// The target, with the arm behind it where there is one.
    pub fn variant(&self) -> Cow<'_, str> {
        match &self.arm {
            None => Cow::Borrowed(&self.target),
            Some(arm) => Cow::Owned(variant_name(&self.target, Some(arm))),
        }
    }

    /// Whether it counts if the case failed: the baseline arm shows what the others are worth.
    pub fn decides(&self) -> bool {
        !self.baseline_arm || self.outcome == Outcome::Errored
    }

    /// Whether the target was not asked, because an earlier answer was used.
    pub fn is_cached(&self) -> bool {
        self.cached == Some(true) || self.reused
    }

    /// Its case where arms are what is compared, so that the arm is not part of the target's name.
    pub(crate) fn case_without_arm(&self) -> ComparedCase {
        ComparedCase { target: self.target.clone(), arm: None, ..ComparedCase::from(self) }
    }

    pub fn key(&self) -> CaseKey {
        CaseKey {
            suite: self.dataset.clone(),
            test: self.eval_id.clone(),
            target: self.variant().into_owned(),
            trial: self.trial,
        }
    }
}

/// What a comparison needs of it. A cost is known only if all of it is.
impl From<&Row> for ComparedCase {
    fn from(row: &Row) -> Self {
        let judges = match &row.judge_usage {
            Some(usage) => usage.cost_usd,
            None => Some(0.0),
        };
        Self {
            suite: row.dataset.clone(),
            test: row.eval_id.clone(),
            target: row.variant().into_owned(),
            arm: row
                .arm
                .as_ref()
                .map(|name| CaseArm { name: name.clone(), is_baseline: row.baseline_arm }),
            group: row.group.clone(),
            run: 0,
            trial: row.trial,
            outcome: row.outcome,
            score: row.score,
            hash: row.test_hash.clone(),
            cost: row.cost_usd.zip(judges).map(|(own, judges)| own + judges),
            // Of some runs only the sum is known.
            tokens: row.tokens.map(|tokens| tokens.total).or(row.trace_summary.total_tokens),
            duration_ms: row.duration_ms,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Null, like output and cached, if only the sum is known.
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub total: u64,
    pub cached: Option<u64>,
}

impl TokenCounts {
    /// The tokens of a transcript.
    pub(crate) fn of(transcript: &Transcript) -> Option<Self> {
        let tokens = transcript.tokens?;
        let part = |count: u64| (!transcript.is_token_sum).then_some(count);
        Some(Self {
            input: part(tokens.input),
            output: part(tokens.output),
            total: tokens.total(),
            cached: part(tokens.cached),
        })
    }

    /// Puts them back. A sum is stored as input.
    pub(crate) fn restore(self, transcript: &mut Transcript) {
        let Some((input, output)) = self.input.zip(self.output) else {
            transcript.tokens = Some(Tokens { input: self.total, ..Tokens::default() });
            transcript.is_token_sum = true;
            return;
        };
        let cached = self.cached.unwrap_or(0);
        transcript.tokens = Some(Tokens { input, output, cached });
    }
}

/// What was not measured is null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Trace {
    pub event_count: Option<u64>,
    pub tool_names: Option<Vec<String>>,
    pub tool_call_count: Option<u64>,
    pub llm_call_count: Option<u64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub total_tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    pub duration_ms: Option<u64>,
}

/// Sums over the judge calls of a case; null where one of them did not report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JudgeUsage {
    pub calls: u64,
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub cost_usd: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowError {
    pub stage: String,
    pub kind: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePlace {
    /// Relative to the repository root.
    pub file: String,
    /// From 1.
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPlace {
    pub file: String,
    pub run: u64,
}

/// `graded`, `skipped` or `errored`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GradeOutcome {
    Graded,
    Skipped,
    Errored,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatorResult {
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub weight: Number,
    /// A boolean, or a number in (0, 1].
    pub required: Value,
    pub outcome: GradeOutcome,
    /// What the assertion demands, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// `met`, `missed`, `unchecked`; null where nothing is required.
    pub gate: Option<String>,
    #[serde(default)]
    pub hits: Vec<String>,
    #[serde(default)]
    pub misses: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RowError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluator_results: Option<Vec<EvaluatorResult>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<String>,
    /// Where the assertion is written, so that reports can draw its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourcePlace>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn write_outcome<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.word())
}

fn read_outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
    let word = String::deserialize(deserializer)?;
    let unknown = || serde::de::Error::custom(format!("`{word}` is not an outcome"));
    Outcome::parse(&word).ok_or_else(unknown)
}

fn write_verdict<S: Serializer>(
    verdict: &Option<Verdict>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    verdict.map(Verdict::word).serialize(serializer)
}

fn read_verdict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Verdict>, D::Error> {
    let Some(word) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    match word.as_str() {
        "pass" => Ok(Some(Verdict::Pass)),
        "borderline" => Ok(Some(Verdict::Borderline)),
        "fail" => Ok(Some(Verdict::Fail)),
        other => Err(serde::de::Error::custom(format!("`{other}` is not a verdict"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of spec 11.2.
    const EXAMPLE: &str = include_str!("example_row.json");

    #[test]
    fn the_example_of_the_format_comes_back_as_it_was() {
        let row: Row = serde_json::from_str(EXAMPLE).unwrap();
        let before: Value = serde_json::from_str(EXAMPLE).unwrap();
        let after = serde_json::to_value(&row).unwrap();
        assert_eq!(after, before);
        let keys =
            |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
        assert_eq!(keys(&after), keys(&before));
    }

    #[test]
    fn a_sum_of_tokens_is_not_input() {
        let mut sum = Transcript { is_token_sum: true, ..Transcript::of_text("x") };
        sum.tokens = Some(Tokens { input: 334, output: 0, cached: 0 });
        let counts = TokenCounts::of(&sum).unwrap();
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, r#"{"input":null,"output":null,"total":334,"cached":null}"#);
        let mut back = Transcript::of_text("x");
        counts.restore(&mut back);
        assert_eq!(back, sum);
    }

    #[test]
    fn words_that_are_no_outcome_are_refused() {
        let text = EXAMPLE.replacen("\"outcome\": \"borderline\"", "\"outcome\": \"fine\"", 1);
        assert!(serde_json::from_str::<Row>(&text).is_err());
    }
}
