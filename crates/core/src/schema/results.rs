//! Rows of a results file and the summary beside them (spec 11).

use crate::model::Value;
use crate::syntax::fields::{Field, Shape};

use super::document::{Document, Draft};
use super::keyword::{any_of, list_of, matching, of_type};
use super::object::ObjectSchema;
use super::shape::Writer;

const COUNT: Shape = Shape::Integer {
    min: 0,
    max: u64::MAX,
};
const ORDINAL: Shape = Shape::Integer {
    min: 1,
    max: u64::MAX,
};
const AMOUNT: Shape = Shape::Number {
    min: 0.0,
    max: f64::MAX,
};
const SHARE: Shape = Shape::Number { min: 0.0, max: 1.0 };
const TEXTS: Shape = Shape::List(&Shape::Text);
const VERSION: Field = Field::new(
    "schemaVersion",
    Shape::Integer { min: 1, max: 1 },
    "version of this format",
)
.required();

/// A field that is not marked required may be null.
static ROW_FIELDS: &[Field] = &[
    VERSION,
    Field::new("timestamp", Shape::Text, "end of the case, RFC 3339, UTC").required(),
    Field::new("evalId", Shape::NonEmptyText, "id of the test").required(),
    Field::new("dataset", Shape::Text, "name of the suite").required(),
    Field::new(
        "conversationId",
        Shape::Text,
        "the test's `conversation_id`",
    ),
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
    Field::new("hits", TEXTS, "what was fulfilled, over all grades").required(),
    Field::new("misses", TEXTS, "what was not fulfilled, over all grades").required(),
    Field::new("candidateAnswer", Shape::Text, "the answer"),
    Field::new("target", Shape::Text, "name of the target").required(),
    Field::new("trial", ORDINAL, "which trial, from 1").required(),
    Field::new("attempts", COUNT, "tries at the case").required(),
    Field::new("durationMs", AMOUNT, "duration of the last attempt"),
    Field::new("costUsd", AMOUNT, "cost of the last attempt"),
    Field::new(
        "tokens",
        Shape::Fields(TOKEN_FIELDS),
        "tokens of the last attempt",
    ),
    Field::new(
        "traceSummary",
        Shape::Fields(TRACE_FIELDS),
        "what the agent did",
    )
    .required(),
    Field::new(
        "evaluatorResults",
        Shape::List(&Shape::Ref("evaluator-result")),
        "one grade per assertion",
    )
    .required(),
    Field::new(
        "judgeUsage",
        Shape::Fields(JUDGE_FIELDS),
        "what judging took",
    ),
    Field::new(
        "error",
        Shape::Fields(ERROR_FIELDS),
        "why the case has no verdict",
    ),
    Field::new("testHash", Shape::Text, "digest of the test's meaning").required(),
    Field::new(
        "source",
        Shape::Fields(SOURCE_FIELDS),
        "where the test is written",
    )
    .required(),
    Field::new(
        "record",
        Shape::Fields(RECORD_FIELDS),
        "where the case is recorded",
    ),
    Field::new(
        "outputMessages",
        Shape::List(&Shape::Map),
        "what the agent said, with `--messages`",
    ),
];

/// Keys of every row, null or not.
const ALWAYS: &[&str] = &[
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

static TOKEN_FIELDS: &[Field] = &[
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

static JUDGE_FIELDS: &[Field] = &[
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

static GRADE_FIELDS: &[Field] = &[
    Field::new("name", Shape::Text, "name of the assertion in its test").required(),
    Field::new("type", Shape::NonEmptyText, "canonical type").required(),
    Field::new("score", SHARE, "null without a grade"),
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
    Field::new(
        "aggregator",
        Shape::Any,
        "how a composite joins its members",
    ),
    Field::new(
        "source",
        Shape::Fields(SOURCE_FIELDS),
        "where the assertion is written",
    ),
];

static SUMMARY_FIELDS: &[Field] = &[
    VERSION,
    Field::new("suite", Shape::Text, "name of the suite").required(),
    Field::new("timestamp", Shape::Text, "end of the run, RFC 3339, UTC").required(),
    Field::new(
        "target",
        Shape::Any,
        "name of the target, or a list of names",
    )
    .required(),
    Field::new("summary", Shape::Fields(TOTAL_FIELDS), "counts of cases").required(),
    Field::new(
        "byEvaluator",
        Shape::MapOf(&Shape::Fields(EVALUATOR_FIELDS)),
        "scores by name of the assertion",
    )
    .required(),
    Field::new(
        "topMisses",
        Shape::List(&Shape::Fields(MISS_FIELDS)),
        "what was missed most often",
    )
    .required(),
    Field::new("tokens", Shape::Fields(TOKEN_FIELDS), "sums over all cases"),
    Field::new("costUsd", AMOUNT, "sum over all cases"),
    Field::new(
        "judgeUsage",
        Shape::Fields(JUDGE_FIELDS),
        "what judging took",
    ),
    Field::new("durationMs", AMOUNT, "duration of the run"),
    Field::new("exitCode", COUNT, "exit code of the run"),
];

static TOTAL_FIELDS: &[Field] = &[
    Field::new("total", COUNT, "all cases").required(),
    Field::new("pass", COUNT, "cases that passed").required(),
    Field::new("borderline", COUNT, "borderline cases").required(),
    Field::new("fail", COUNT, "cases that failed").required(),
    Field::new("errored", COUNT, "cases that could not be measured").required(),
    Field::new("skipped", COUNT, "cases that were not run or not graded").required(),
    Field::new("passRate", SHARE, "share of passes among verdicts"),
    Field::new("averageScore", SHARE, "over cases with a score"),
];

static EVALUATOR_FIELDS: &[Field] = &[
    Field::new("count", COUNT, "grades").required(),
    Field::new("averageScore", SHARE, "mean"),
    Field::new("minScore", SHARE, "lowest"),
    Field::new("maxScore", SHARE, "highest"),
    Field::new("errored", COUNT, "could not be graded"),
    Field::new("skipped", COUNT, "not graded"),
];

static MISS_FIELDS: &[Field] = &[
    Field::new("miss", Shape::Text, "what was missed").required(),
    Field::new("count", ORDINAL, "how often").required(),
];

/// One line of a results file; the summary is the definition `summary`.
pub fn results(draft: Draft) -> Value {
    let writer = Writer::for_records(draft);
    let row = ObjectSchema::new(writer, &[ROW_FIELDS])
        .replace("testHash", matching("^[0-9a-f]{16}$"))
        .always(ALWAYS)
        .finish();
    let targets = any_of(vec![of_type("string"), list_of(of_type("string"))]);
    Document::new(
        draft,
        "evalrig results",
        "One line of a results file: what became of one case. The summary: the definition `summary`.",
    )
    .define(
        "evaluator-result",
        ObjectSchema::new(writer, &[GRADE_FIELDS])
            .title("Grade of one assertion")
            .finish(),
    )
    .define(
        "summary",
        ObjectSchema::new(writer, &[SUMMARY_FIELDS])
            .title("Suite summary")
            .replace("target", targets)
            .finish(),
    )
    .finish(&row)
}

#[cfg(test)]
pub(super) const TABLES: &[&[Field]] = &[ROW_FIELDS, GRADE_FIELDS, SUMMARY_FIELDS];
