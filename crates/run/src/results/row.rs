//! A row: one case as it is recorded (spec 11.1, 11.2), and the table of its keys that the JSON Schema
//! is made from. Readers ignore keys that they do not know.

use evalrig_core::compare::ComparedCase;
use evalrig_core::model::{Outcome, Tokens, Verdict};
use evalrig_core::syntax::fields::{Field, Shape};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

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
    pub trial: u32,
    pub attempts: u32,
    pub duration_ms: Option<u64>,
    pub cost_usd: Option<f64>,
    pub tokens: Option<TokenCounts>,
    pub trace_summary: Trace,
    pub evaluator_results: Vec<EvaluatorResult>,
    pub judge_usage: Option<JudgeUsage>,
    pub error: Option<RowError>,
    pub test_hash: String,
    pub source: SourcePlace,
    pub record: Option<RecordPlace>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_messages: Option<Vec<Value>>,
}

/// Which case a row is about. Two rows with one key are the same piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseKey {
    pub suite: String,
    pub test: String,
    pub target: String,
    pub trial: u32,
}

impl Row {
    pub fn key(&self) -> CaseKey {
        CaseKey {
            suite: self.dataset.clone(),
            test: self.eval_id.clone(),
            target: self.target.clone(),
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
            target: row.target.clone(),
            trial: row.trial,
            outcome: row.outcome,
            score: row.score,
            hash: row.test_hash.clone(),
            cost: row.cost_usd.zip(judges).map(|(own, judges)| own + judges),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
    pub total: u64,
    pub cached: u64,
}

impl From<Tokens> for TokenCounts {
    fn from(tokens: Tokens) -> Self {
        Self {
            input: tokens.input,
            output: tokens.output,
            total: tokens.total(),
            cached: tokens.cached,
        }
    }
}

impl From<TokenCounts> for Tokens {
    fn from(counts: TokenCounts) -> Self {
        Self { input: counts.input, output: counts.output, cached: counts.cached }
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

pub(super) const COUNT: Shape = Shape::Integer { min: 0, max: u64::MAX };
pub(super) const ORDINAL: Shape = Shape::Integer { min: 1, max: u64::MAX };
pub(super) const AMOUNT: Shape = Shape::Number { min: 0.0, max: f64::MAX };
pub(super) const SHARE: Shape = Shape::Number { min: 0.0, max: 1.0 };
const TEXTS: Shape = Shape::List(&Shape::Text);
pub(super) const VERSION: Field =
    Field::new("schemaVersion", Shape::Integer { min: 1, max: 1 }, "version of this format")
        .required();

/// A field that is not marked required may be null.
pub(super) static ROW_FIELDS: &[Field] = &[
    VERSION,
    Field::new("timestamp", Shape::Text, "end of the case, RFC 3339, UTC").required(),
    Field::new("evalId", Shape::NonEmptyText, "id of the test").required(),
    Field::new("dataset", Shape::Text, "name of the suite").required(),
    Field::new("conversationId", Shape::Text, "the test's `conversation_id`"),
    Field::new("score", SHARE, "score of the case"),
    Field::new(
        "verdict",
        Shape::Choice(&["pass", "borderline", "fail"]),
        "what the score and the gates say",
    ),
    Field::new("passThreshold", SHARE, "score from which the case passes"),
    Field::new(
        "outcome",
        Shape::Choice(&["passed", "borderline", "failed", "errored", "skipped"]),
        "the verdict, or why there is none",
    )
    .required(),
    Field::new("hits", TEXTS, "hits of all grades").required(),
    Field::new("misses", TEXTS, "misses of all grades").required(),
    Field::new("candidateAnswer", Shape::Text, "the answer"),
    Field::new("target", Shape::Text, "name of the target").required(),
    Field::new("trial", ORDINAL, "which trial, from 1").required(),
    Field::new("attempts", COUNT, "tries at the case").required(),
    Field::new("durationMs", AMOUNT, "duration of the last attempt"),
    Field::new("costUsd", AMOUNT, "cost of the last attempt"),
    Field::new("tokens", Shape::Fields(TOKEN_FIELDS), "tokens of the last attempt"),
    Field::new("traceSummary", Shape::Fields(TRACE_FIELDS), "what the agent did").required(),
    Field::new(
        "evaluatorResults",
        Shape::List(&Shape::Ref("evaluator-result")),
        "one grade per assertion",
    )
    .required(),
    Field::new("judgeUsage", Shape::Fields(JUDGE_FIELDS), "what judging took"),
    Field::new("error", Shape::Fields(ERROR_FIELDS), "why the case has no verdict"),
    Field::new("testHash", Shape::Text, "digest of the test's meaning").required(),
    Field::new("source", Shape::Fields(SOURCE_FIELDS), "where the test is written").required(),
    Field::new("record", Shape::Fields(RECORD_FIELDS), "where the case is recorded"),
    Field::new(
        "outputMessages",
        Shape::List(&Shape::Map),
        "what the agent said, with `--messages`",
    ),
    Field::new("crc", Shape::Text, "checksum of the line"),
];

/// Keys of every row, null or not.
pub(super) const ALWAYS_WRITTEN: &[&str] = &[
    "conversationId",
    "score",
    "verdict",
    "candidateAnswer",
    "durationMs",
    "costUsd",
    "tokens",
    "judgeUsage",
    "error",
    "record",
];

pub(super) static TOKEN_FIELDS: &[Field] = &[
    Field::new("input", COUNT, "tokens read, cached ones included"),
    Field::new("output", COUNT, "tokens written"),
    Field::new("total", COUNT, "input and output"),
    Field::new("cached", COUNT, "tokens read from a cache"),
];

static TRACE_FIELDS: &[Field] = &[
    Field::new("eventCount", COUNT, "calls, and one for an answer"),
    Field::new("toolNames", TEXTS, "every call in order"),
    Field::new("toolCallCount", COUNT, "tool calls"),
    Field::new("llmCallCount", COUNT, "assistant messages"),
    Field::new("inputTokens", COUNT, "tokens read"),
    Field::new("outputTokens", COUNT, "tokens written"),
    Field::new("totalTokens", COUNT, "input and output"),
    Field::new("costUsd", AMOUNT, "cost"),
    Field::new("durationMs", AMOUNT, "duration"),
];

pub(super) static JUDGE_FIELDS: &[Field] = &[
    Field::new("calls", COUNT, "calls of judges"),
    Field::new("input", COUNT, "tokens read by judges"),
    Field::new("output", COUNT, "tokens written by judges"),
    Field::new("costUsd", AMOUNT, "cost of judging"),
];

static ERROR_FIELDS: &[Field] = &[
    Field::new(
        "stage",
        Shape::Choice(&["target", "judge", "script", "measure", "record", "skip"]),
        "where it happened",
    )
    .required(),
    Field::new(
        "kind",
        Shape::Choice(&[
            "start",
            "timeout",
            "exit",
            "network",
            "http",
            "reply",
            "no-match",
            "limit",
            "not-measured",
            "io",
            "changed-file",
            "skip",
            "nothing-to-grade",
            "not-judged",
        ]),
        "what happened",
    )
    .required(),
    Field::new("message", Shape::Text, "in words").required(),
];

static SOURCE_FIELDS: &[Field] = &[
    Field::new("file", Shape::Text, "relative to the repository root").required(),
    Field::new("line", ORDINAL, "from 1").required(),
];

static RECORD_FIELDS: &[Field] = &[
    Field::new("file", Shape::Text, "in `.co/evals`").required(),
    Field::new("run", ORDINAL, "number of the run").required(),
];

pub(super) static GRADE_FIELDS: &[Field] = &[
    Field::new("name", Shape::Text, "name of the assertion in its test").required(),
    Field::new("type", Shape::NonEmptyText, "canonical type").required(),
    Field::new("score", SHARE, "absent without a grade"),
    Field::new("weight", AMOUNT, "share in the score").required(),
    Field::new(
        "required",
        Shape::OneOf(&[Shape::Boolean, Shape::PositiveFraction]),
        "whether it is a gate",
    )
    .required(),
    Field::new(
        "outcome",
        Shape::Choice(&["graded", "skipped", "errored"]),
        "whether there is a grade",
    )
    .required(),
    Field::new(
        "gate",
        Shape::Choice(&["met", "missed", "unchecked"]),
        "null when the assertion is not a gate",
    ),
    Field::new("hits", TEXTS, "what was fulfilled"),
    Field::new("misses", TEXTS, "what was not fulfilled"),
    Field::new("reasoning", Shape::Text, "in the judge's words"),
    Field::new("details", Shape::Any, "more from a script"),
    Field::new("error", Shape::Any, "why it could not be graded"),
    Field::new("durationMs", AMOUNT, "time that grading took"),
    Field::new(
        "evaluatorResults",
        Shape::List(&Shape::Ref("evaluator-result")),
        "members of a composite",
    ),
    Field::new("aggregator", Shape::Any, "how a composite joins its members"),
    Field::new("source", Shape::Fields(SOURCE_FIELDS), "where the assertion is written"),
];

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
    fn words_that_are_no_outcome_are_refused() {
        let text = EXAMPLE.replacen("\"outcome\": \"borderline\"", "\"outcome\": \"fine\"", 1);
        assert!(serde_json::from_str::<Row>(&text).is_err());
    }
}
