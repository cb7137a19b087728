//! The `execution` mapping of a suite or a test (spec 3.7).

use std::sync::Arc;

use crate::assertion::read_entries;
use crate::diagnostic::Diagnostic;
use crate::model::{Assertion, Execution, MOST_TRIALS, OnTimeout};
use crate::reader::{Reader, wrong_type};
use crate::syntax::edit;
use crate::syntax::fields::{Bound, DEPRECATED_FIELD, Entry, Field, Shape, unknown_field};

pub(super) const TRIALS: Shape = Shape::Integer { min: 1, max: MOST_TRIALS };

pub(super) const ALLOW_EMPTY: Field =
    Field::new("allow_empty", Shape::Boolean, "grade an empty answer; default false");
pub(super) const ON_TIMEOUT: Field = Field::new(
    "on_timeout",
    Shape::Choice(OnTimeout::WORDS),
    "whether a timeout is an error (default) or a failure",
);
pub(super) const STOP_ON_TRIGGER: Field = Field::new(
    "stop_on_trigger",
    Shape::Boolean,
    "stop the agent once every trigger-judge is decided and nothing else is graded; default false",
);

pub static EXECUTION_FIELDS: &[Field] = &[
    Field::new("target", Shape::NonEmptyText, "name of a target in the targets file"),
    Field::new(
        "timeout_seconds",
        Shape::Integer { min: 1, max: 3600 },
        "timeout of one attempt, in seconds; default 300",
    ),
    ALLOW_EMPTY,
    ON_TIMEOUT,
    STOP_ON_TRIGGER,
    Field::new("assert", Shape::Ref("assertion-list"), "assertions, as beside `execution`")
        .old(&["assertions", "evaluators"]),
    Field::new(
        "skip_defaults",
        Shape::Boolean,
        "tests only: take no root `assert`, `input`, `input_files`",
    ),
    Field::new(
        "trials",
        Shape::OneOf(&[TRIALS, Shape::Fields(TRIALS_FIELDS)]),
        "old place of `trials`",
    ),
];

static TRIALS_FIELDS: &[Field] = &[Field::new("count", TRIALS, "number of trials").required()];

/// The contents of an `execution` mapping.
#[derive(Debug, Default)]
pub(super) struct ReadExecution {
    pub(super) execution: Execution,
    pub(super) assertions: Vec<Arc<Assertion>>,
    pub(super) skip_defaults: bool,
    pub(super) trials: Option<u32>,
    /// An entry was wrong; it has been reported.
    pub(super) faulty: bool,
}

pub(super) fn read_execution(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    outer: &Bound<'_>,
) -> ReadExecution {
    let mut found = ReadExecution::default();
    if !entry.value.is_mapping() {
        reader.report(wrong_type("execution", entry.value, "a mapping"));
        found.faulty = true;
        return found;
    }
    let bound = Bound::new(entry.value, &[EXECUTION_FIELDS], reader.out);
    report_unknown(reader, &bound);
    if let Some(target) = bound.get("target") {
        found.execution.target = reader.target_name(&target).map(|name| name.value);
    }
    if let Some(timeout) = bound.get("timeout_seconds") {
        let seconds = reader.integer(&timeout, 1, 3600);
        found.faulty |= seconds.is_none();
        found.execution.timeout_seconds = seconds.map(|seconds| seconds as u32);
    }
    found.execution = read_endings(reader, &bound).or(&found.execution);
    if let Some(list) = bound.get("assert") {
        let list = read_entries(reader, "assert", list.value, 0);
        found.assertions = list.valid;
        found.faulty |= !list.is_complete;
    }
    if let Some(skip) = bound.get("skip_defaults") {
        found.skip_defaults = reader.boolean(&skip).unwrap_or(false);
    }
    if let Some(trials) = bound.get("trials") {
        found.trials = old_trials(reader, &trials, &bound, outer);
    }
    found
}

/// `allow_empty`, `on_timeout` and `stop_on_trigger` of a test or of `execution`.
pub(super) fn read_endings(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Execution {
    let mut boolean = |name: &str| bound.get(name).and_then(|entry| reader.boolean(&entry));
    let (allow_empty, stop_on_trigger) = (boolean("allow_empty"), boolean("stop_on_trigger"));
    let on_timeout = bound
        .get("on_timeout")
        .and_then(|entry| OnTimeout::parse(reader.choice(&entry, OnTimeout::WORDS)?));
    Execution { allow_empty, on_timeout, stop_on_trigger, ..Execution::default() }
}

/// `trials: 3` or `trials: {count: 3}` inside `execution`.
fn old_trials(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    bound: &Bound<'_>,
    outer: &Bound<'_>,
) -> Option<u32> {
    let count = if entry.value.is_mapping() { entry.value.get("count") } else { Some(entry.value) };
    let Some(count) = count else {
        let wants = "an integer, or a mapping with `count`";
        return reader.refuse(wrong_type("trials", entry.value, wants));
    };
    let trials = reader.integer_of("trials", count, 1, MOST_TRIALS)? as u32;
    let fix = edit::move_out(outer, "execution", bound, "trials", &trials.to_string());
    let message = "`execution.trials` is an old spelling of `trials`";
    let help = format!("write `trials: {trials}` beside `execution`");
    let diagnostic = Diagnostic::new(&DEPRECATED_FIELD, entry.key.span(), message);
    reader.report(diagnostic.help(help).fix_if(fix));
    Some(trials)
}

/// Settings that are options of the command line here.
fn report_unknown(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    bound.explain_unknown(reader.out, |key, _| {
        let diagnostic = unknown_field(key, &[EXECUTION_FIELDS]);
        let option = match key.scalar_text().unwrap_or("") {
            "workers" => "`--workers N`",
            "targets" => "`--target NAME`, once for each,",
            "threshold" => "`verdicts` at the root, or `--pass SCORE`",
            "budget_usd" => "`--budget-usd AMOUNT`",
            _ => return diagnostic,
        };
        diagnostic.help(format!("use {option} of `evalrig run` instead"))
    });
}

/// An integer `trials` beside `execution`.
pub(super) fn read_trials(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<u32> {
    reader.integer(entry, 1, MOST_TRIALS).map(|trials| trials as u32)
}
