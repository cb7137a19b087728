//! The `execution` mapping of a suite or a test (spec 3.7).

use std::sync::Arc;

use crate::assertion::read_entries;
use crate::model::{Assertion, Execution};
use crate::reader::{Reader, wrong_type};
use crate::syntax::fields::{
    Bound, DEPRECATED_FIELD, Entry, Field, Shape, UNKNOWN_FIELD, unknown_field,
};
use crate::syntax::{Node, edit};

/// The most trials of one test.
pub(super) const MOST_TRIALS: u64 = 100;

pub static EXECUTION_FIELDS: &[Field] = &[
    Field::new(
        "target",
        Shape::NonEmptyText,
        "name of a target in the targets file",
    ),
    Field::new(
        "timeout_seconds",
        Shape::Integer { min: 1, max: 3600 },
        "timeout of one attempt, in seconds; default 300",
    ),
    Field::new(
        "assert",
        Shape::Ref("assertion-list"),
        "assertions, as beside `execution`",
    )
    .old(&["assertions", "evaluators"]),
    Field::new(
        "skip_defaults",
        Shape::Boolean,
        "tests only: take no root `assert`, `input`, `input_files`",
    ),
    Field::new(
        "trials",
        Shape::OneOf(&[
            Shape::Integer {
                min: 1,
                max: MOST_TRIALS,
            },
            Shape::Fields(TRIALS_FIELDS),
        ]),
        "old place of `trials`",
    ),
];

static TRIALS_FIELDS: &[Field] = &[Field::new(
    "count",
    Shape::Integer {
        min: 1,
        max: MOST_TRIALS,
    },
    "number of trials",
)
.required()];

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

/// `trials: 3` or `trials: {count: 3}` inside `execution`.
fn old_trials(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    bound: &Bound<'_>,
    outer: &Bound<'_>,
) -> Option<u32> {
    let count: Node<'_> = if entry.value.is_mapping() {
        match entry.value.get("count") {
            Some(count) => count,
            None => {
                let wants = "an integer, or a mapping with `count`";
                return reader.refuse(wrong_type("trials", entry.value, wants));
            }
        }
    } else {
        entry.value
    };
    let trials = reader.integer_of("trials", count, 1, MOST_TRIALS)? as u32;
    let fix = edit::move_out(outer, "execution", bound, "trials", &trials.to_string());
    reader.report(
        crate::diagnostic::Diagnostic::new(
            &DEPRECATED_FIELD,
            entry.key.span(),
            "`execution.trials` is an old spelling of `trials`",
        )
        .help(format!("write `trials: {trials}` beside `execution`"))
        .fix_if(fix),
    );
    Some(trials)
}

/// Settings that are options of the command line here.
fn report_unknown(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    for (key, _) in bound.unknown() {
        if reader.out.is_full() {
            reader.out.count_unkept(UNKNOWN_FIELD.level);
            continue;
        }
        let diagnostic = unknown_field(key, &[EXECUTION_FIELDS]);
        let option = match key.scalar_text().unwrap_or("") {
            "workers" => Some("`--workers N`"),
            "targets" => Some("`--target NAME`, once for each,"),
            "threshold" => Some("`verdicts` at the root, or `--pass SCORE`"),
            "budget_usd" => Some("`--budget-usd AMOUNT`"),
            _ => None,
        };
        reader.report(match option {
            Some(option) => diagnostic.help(format!("use {option} of `evalrig run` instead")),
            None => diagnostic,
        });
    }
}

/// An integer `trials` beside `execution`.
pub(super) fn read_trials(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<u32> {
    reader
        .integer(entry, 1, MOST_TRIALS)
        .map(|trials| trials as u32)
}
