//! The keys of a row, from which its JSON Schema is made. A key of [`super::row::Row`] needs an entry.

use evalrig_core::syntax::fields::{Field, Shape};

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
    Field::new("arm", Shape::Text, "variant of the system under test"),
    Field::new("baselineArm", Shape::Boolean, "whether other arms are compared with this one"),
    Field::new("trial", ORDINAL, "which trial, from 1").required(),
    Field::new("attempts", COUNT, "tries at the case").required(),
    Field::new("durationMs", AMOUNT, "duration of the last attempt"),
    Field::new("costUsd", AMOUNT, "cost of the last attempt"),
    Field::new("tokens", Shape::Fields(TOKEN_FIELDS), "tokens of the last attempt"),
    Field::new("traceSummary", Shape::Fields(TRACE_FIELDS), "what the agent did").required(),
    Field::new("skills", Shape::Fields(SKILL_FIELDS), "skills that the agent knew and used"),
    Field::new("partial", Shape::Boolean, "whether the agent was stopped before it was done"),
    Field::new("passTrials", Shape::Fields(PASS_FIELDS), "how many trials of the test must pass"),
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
    Field::new("testName", Shape::Text, "name of the test in `evals.json`"),
    Field::new("tags", TEXTS, "tags of the test"),
    Field::new("group", Shape::Text, "the group of tests that share a fixture"),
    Field::new("input", Shape::List(&Shape::Map), "the messages of the test"),
    Field::new("criteria", Shape::Text, "criteria of the test"),
    Field::new("expectedOutput", Shape::Any, "expected output: a text, messages or data"),
    Field::new("cached", Shape::Boolean, "whether the answer is that of an earlier run"),
    Field::new("reused", Shape::Boolean, "whether the row is one of an earlier run"),
    Field::new("setup", Shape::Text, "digest of target, arm, skills and workspace"),
    Field::new("agent", Shape::Fields(AGENT_FIELDS), "what answered"),
    Field::new(
        "workspace",
        Shape::Fields(WORKSPACE_FIELDS),
        "what the agent did to the files of its workspace",
    ),
    Field::new("run", Shape::Text, "id of the run"),
    Field::new("plan", Shape::Fields(PLAN_FIELDS), "the plan that the case is part of"),
    Field::new("worker", Shape::Text, "the worker of a queue that ran the case"),
    Field::new("evalrig", Shape::Text, "version that ran the case"),
    Field::new("git", Shape::Fields(GIT_FIELDS), "the repository when the run started"),
    Field::new("command", Shape::Text, "command line of the run"),
    Field::new(
        "outputMessages",
        Shape::List(&Shape::Map),
        "what the agent said, unless the answer is all there is",
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

pub(super) static AGENT_FIELDS: &[Field] = &[
    Field::new("provider", Shape::Text, "provider of the target"),
    Field::new("model", Shape::Text, "model that answered"),
    Field::new("version", Shape::Text, "version of the agent"),
    Field::new("sessionId", Shape::Text, "the agent's id of the session"),
    Field::new("stopReason", Shape::Text, "why the agent stopped"),
    Field::new("sandbox", Shape::Text, "the sandbox that its processes ran in"),
    Field::new("permissionDenials", TEXTS, "tools that the agent was not allowed to use"),
    Field::new("unknownEvents", COUNT, "events of types that evalrig does not know"),
];

pub(super) static SKILL_FIELDS: &[Field] = &[
    Field::new("offered", TEXTS, "names in the agent's catalogue; null if it reports none"),
    Field::new(
        "used",
        Shape::List(&Shape::Fields(SKILL_USE_FIELDS)),
        "uses in order; null if they cannot be seen",
    ),
    Field::new("given", TEXTS, "skills that the agent was given"),
    Field::new("wanted", TEXTS, "skills that the test wants to be used"),
    Field::new("unwanted", TEXTS, "skills that the test wants to be left alone"),
    Field::new("contract", Shape::Boolean, "whether the test demands nothing else than that"),
];

pub(super) static PASS_FIELDS: &[Field] = &[
    Field::new("share", SHARE, "share of the trials with a verdict").required(),
    Field::new("above", Shape::Boolean, "whether the share itself is not enough"),
];

static SKILL_USE_FIELDS: &[Field] = &[
    Field::new("name", Shape::Text, "name of the skill").required(),
    Field::new(
        "how",
        Shape::Choice(&["tool", "read", "script", "explicit"]),
        "by the tool for skills, by reading `SKILL.md`, by running a script, or by the prompt",
    )
    .required(),
    Field::new("ok", Shape::Boolean, "false if the call was refused or failed").required(),
    Field::new("call", COUNT, "index of the call"),
    Field::new("subagent", Shape::Boolean, "whether a sub-agent used it"),
];

pub(super) static PLAN_FIELDS: &[Field] = &[
    Field::new("hash", Shape::Text, "hash of all planned cases").required(),
    Field::new("shard", Shape::Text, "`I/N`"),
];

pub(super) static GIT_FIELDS: &[Field] = &[
    Field::new("commit", Shape::Text, "checked-out commit").required(),
    Field::new("branch", Shape::Text, "checked-out branch"),
    Field::new("dirty", Shape::Boolean, "whether tracked files differ from the commit"),
];

pub(super) static TRACE_FIELDS: &[Field] = &[
    Field::new("eventCount", COUNT, "calls, and one for an answer"),
    Field::new("toolNames", TEXTS, "every call in order"),
    Field::new("toolCallCount", COUNT, "tool calls"),
    Field::new("llmCallCount", COUNT, "requests to the model"),
    Field::new("inputTokens", COUNT, "tokens read"),
    Field::new("outputTokens", COUNT, "tokens written"),
    Field::new("totalTokens", COUNT, "input and output"),
    Field::new("costUsd", AMOUNT, "cost"),
    Field::new("durationMs", AMOUNT, "duration"),
];

pub(super) static WORKSPACE_FIELDS: &[Field] = &[
    Field::new("created", TEXTS, "new files, relative to the workspace"),
    Field::new("modified", TEXTS, "changed files"),
    Field::new("deleted", TEXTS, "removed files"),
    Field::new("diff", Shape::Text, "unified diff of the text files"),
    Field::new("diffTruncated", Shape::Boolean, "whether the diff was cut"),
    Field::new("path", Shape::Text, "where the workspace is, if it was kept"),
];

pub(super) static JUDGE_FIELDS: &[Field] = &[
    Field::new("calls", COUNT, "calls of judges"),
    Field::new("input", COUNT, "tokens read by judges"),
    Field::new("output", COUNT, "tokens written by judges"),
    Field::new("costUsd", AMOUNT, "cost of judging"),
];

pub(super) static ERROR_FIELDS: &[Field] = &[
    Field::new(
        "stage",
        Shape::Choice(&["workspace", "target", "judge", "script", "measure", "record", "skip"]),
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
            "setup",
            "clone",
            "tampered",
            "empty-reply",
            "not-offered",
            "no-worker",
            "lost-worker",
            "skip",
            "nothing-to-grade",
            "not-judged",
        ]),
        "what happened",
    )
    .required(),
    Field::new("message", Shape::Text, "in words").required(),
];

pub(super) static SOURCE_FIELDS: &[Field] = &[
    Field::new("file", Shape::Text, "relative to the repository root").required(),
    Field::new("line", ORDINAL, "from 1").required(),
];

pub(super) static RECORD_FIELDS: &[Field] = &[
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
    Field::new("sentence", Shape::Text, "what the assertion demands"),
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
