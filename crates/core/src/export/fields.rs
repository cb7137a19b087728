//! The fields of a test, each described once: its keys, whether it is part of the test's meaning,
//! and what `transpile` reports when it has to leave it out. Canonical JSON, canonical YAML,
//! `testHash` and the losses of `transpile` are views of this list.

use std::borrow::Cow;

use camino::Utf8Path;

use crate::assertion::assertion_from_criteria;
use crate::model::{Execution, Expected, Map, Message, NamedAssertion, Skip, Test, TestId, Value};
use crate::source::Files;

use super::canonical_yaml::{assert_list, expected_value, input_value, own_metadata, own_settings};
use super::hash;
use super::rebase::Rebase;
use super::workspace::{hashed_workspace, shown_workspace, written_workspace};

/// Who asks for the fields of a test.
pub(super) enum FieldView<'v> {
    /// `show --format json`; paths start at the repository root.
    Json { root: &'v Utf8Path },
    /// A suite file: paths start at its directory, and what the root gives is left out.
    Suite { metadata: &'v Map, execution: &'v Execution, rebase: &'v Rebase<'v> },
    /// `testHash`: contents of files instead of their paths.
    Hash {
        files: &'v dyn Files,
        /// Digest of the template of the test's workspace.
        template: Option<&'v str>,
    },
}

pub(super) struct TestField {
    /// In canonical JSON, where the order is a contract (spec 16.2), and in the hash.
    json: FieldKey,
    /// In a suite file; `None` for what only JSON shows.
    suite: Option<FieldKey>,
    /// Whether the field is part of the test's meaning (spec 11.1).
    is_hashed: bool,
    /// `None` leaves the key out.
    value: fn(&Test, &FieldView<'_>) -> Option<Value>,
    /// What evals.json cannot say (spec 12.7): the kind of the loss, and its message if the test
    /// has one.
    losses: &'static [FieldLoss],
}

/// A key and its place among the others: each document has an order of its own.
#[derive(Clone, Copy)]
struct FieldKey(&'static str, u8);

type FieldLoss = (&'static str, fn(&Test) -> Option<Cow<'static, str>>);

/// In the order in which losses are reported.
static EXPORTED_FIELDS: &[TestField] = &[
    TestField {
        json: FieldKey("id", 0),
        suite: Some(FieldKey("id", 0)),
        is_hashed: false,
        value: |test, _| Some(id_value(&test.id)),
        losses: &[("name", |test| lost(test.name.is_some(), "`name` is left out"))],
    },
    TestField {
        json: FieldKey("position", 1),
        suite: None,
        is_hashed: false,
        value: |test, _| Some(test.position.into()),
        losses: &[],
    },
    TestField {
        json: FieldKey("criteria", 2),
        suite: Some(FieldKey("criteria", 3)),
        is_hashed: true,
        value: |test, _| text(&test.criteria),
        // Written as an assertion, or lost by request.
        losses: &[],
    },
    TestField {
        json: FieldKey("description", 3),
        suite: Some(FieldKey("description", 1)),
        is_hashed: false,
        value: |test, _| text(&test.description),
        losses: &[],
    },
    TestField {
        json: FieldKey("execution", 10),
        suite: Some(FieldKey("execution", 8)),
        is_hashed: false,
        value: |test, view| match view {
            FieldView::Suite { execution, .. } => filled(own_settings(&test.execution, execution)),
            _ => (!test.execution.is_empty()).then(|| test.execution.to_value()),
        },
        losses: &[
            ("target", |test| {
                let target = test.execution.target.as_ref()?;
                Some(format!("target `{target}` is left out").into())
            }),
            ("timeout", |test| {
                let seconds = test.execution.timeout_seconds.as_ref()?;
                Some(format!("the timeout of {seconds} seconds is left out").into())
            }),
        ],
    },
    TestField {
        json: FieldKey("note", 5),
        suite: Some(FieldKey("note", 4)),
        is_hashed: true,
        value: |test, _| text(&test.note),
        losses: &[("note", |test| lost(test.note.is_some(), "`note` is left out"))],
    },
    TestField {
        json: FieldKey("conversationId", 4),
        suite: Some(FieldKey("conversation_id", 2)),
        is_hashed: false,
        value: |test, _| text(&test.conversation_id),
        losses: &[("conversation", |test| {
            lost(test.conversation_id.is_some(), "`conversation_id` is left out")
        })],
    },
    TestField {
        json: FieldKey("metadata", 6),
        suite: Some(FieldKey("metadata", 11)),
        is_hashed: false,
        value: |test, view| match view {
            FieldView::Suite { metadata, .. } => filled(own_metadata(&test.metadata, metadata)),
            _ => filled(test.metadata.clone()),
        },
        losses: &[],
    },
    TestField {
        json: FieldKey("input", 7),
        suite: Some(FieldKey("input", 5)),
        is_hashed: true,
        value: |test, view| {
            Some(match view {
                FieldView::Json { .. } => {
                    Value::List(test.input.iter().map(Message::to_value).collect())
                }
                FieldView::Suite { rebase, .. } => input_value(&test.input, rebase),
                FieldView::Hash { files, .. } => hash::messages(&test.input, *files),
            })
        },
        losses: &[],
    },
    TestField {
        json: FieldKey("expectedOutput", 8),
        suite: Some(FieldKey("expected_output", 6)),
        is_hashed: true,
        value: |test, view| {
            let expected = test.expected_output.as_ref()?;
            Some(match view {
                FieldView::Json { .. } => Expected::to_value(expected),
                FieldView::Suite { rebase, .. } => expected_value(expected, rebase),
                FieldView::Hash { files, .. } => hash::expected_value(expected, *files),
            })
        },
        losses: &[],
    },
    TestField {
        json: FieldKey("assertions", 9),
        suite: Some(FieldKey("assert", 7)),
        is_hashed: true,
        value: assertions_value,
        losses: &[],
    },
    TestField {
        json: FieldKey("trials", 11),
        suite: Some(FieldKey("trials", 9)),
        is_hashed: false,
        value: |test, view| {
            let is_default = matches!(view, FieldView::Suite { .. }) && test.trials == 1;
            (!is_default).then(|| test.trials.into())
        },
        losses: &[("trials", |test| {
            (test.trials != 1).then(|| format!("`trials: {}` is left out", test.trials).into())
        })],
    },
    TestField {
        json: FieldKey("skip", 12),
        suite: Some(FieldKey("skip", 10)),
        is_hashed: false,
        value: |test, _| test.skip.as_ref().map(skip_value),
        losses: &[("skip", |test| {
            lost(test.skip.is_some(), "`skip` is left out: the entry will be run")
        })],
    },
    TestField {
        json: FieldKey("workspace", 13),
        suite: Some(FieldKey("workspace", 12)),
        is_hashed: true,
        value: |test, view| {
            let workspace = test.workspace.as_ref()?;
            Some(match view {
                FieldView::Json { root } => shown_workspace(workspace, root),
                FieldView::Suite { rebase, .. } => written_workspace(workspace, rebase),
                FieldView::Hash { template, .. } => hashed_workspace(workspace, *template),
            })
        },
        losses: &[("workspace", |test| {
            lost(test.workspace.is_some(), "`workspace` is left out: its files must be there")
        })],
    },
];

/// The fields of a test as one view shows them, in its order.
pub(super) fn canonical_fields(test: &Test, view: &FieldView<'_>) -> Map {
    let mut found: Vec<(FieldKey, Value)> = Vec::with_capacity(EXPORTED_FIELDS.len());
    for field in EXPORTED_FIELDS {
        let shown = match view {
            FieldView::Json { .. } => Some(field.json),
            FieldView::Suite { .. } => field.suite,
            FieldView::Hash { .. } => field.is_hashed.then_some(field.json),
        };
        if let Some(key) = shown
            && let Some(value) = (field.value)(test, view)
        {
            found.push((key, value));
        }
    }
    found.sort_by_key(|(FieldKey(_, place), _)| *place);
    let entries = found.into_iter();
    entries.map(|(FieldKey(name, _), value)| (name.to_owned(), value)).collect()
}

/// The fields of a test that evals.json leaves out, as kind and message.
pub(super) fn lost_fields(test: &Test) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    let losses = EXPORTED_FIELDS.iter().flat_map(|field| field.losses);
    losses.filter_map(|(kind, message)| Some((*kind, message(test)?)))
}

/// Whether reading would derive the same assertions from the criteria alone. Compared as shown, so
/// that an author's own assertion that says no more counts as derived too.
pub(super) fn is_derived_from_criteria(test: &Test) -> bool {
    let ([only], Some(criteria)) = (test.assertions.as_slice(), &test.criteria) else {
        return false;
    };
    if only.assertion.type_name != "rubrics" || only.name != "criteria" {
        return false;
    }
    let derived = NamedAssertion {
        name: only.name.clone(),
        assertion: assertion_from_criteria(criteria.trim().to_owned(), test.span).into(),
    };
    derived.to_value() == only.to_value()
}

fn assertions_value(test: &Test, view: &FieldView<'_>) -> Option<Value> {
    match view {
        FieldView::Json { .. } => {
            let shown = test.assertions.iter().map(NamedAssertion::to_value);
            Some(Value::List(shown.collect()))
        }
        FieldView::Suite { rebase, .. } => {
            let is_written = !test.assertions.is_empty() && !is_derived_from_criteria(test);
            is_written.then(|| assert_list(&test.assertions, rebase).into())
        }
        FieldView::Hash { .. } => {
            let meant = test.assertions.iter().map(|one| hash::assertion(one).into());
            Some(Value::List(meant.collect()))
        }
    }
}

/// A number where the author wrote a plain one, so that `1` and `"1"` stay different.
fn id_value(id: &TestId) -> Value {
    match id.number() {
        Some(number) => number.into(),
        None => id.as_str().into(),
    }
}

/// The reason, or `true` where there is none.
fn skip_value(skip: &Skip) -> Value {
    match &skip.reason {
        Some(reason) => reason.as_str().into(),
        None => true.into(),
    }
}

fn text(field: &Option<String>) -> Option<Value> {
    field.as_deref().map(Value::from)
}

/// The map, unless it is empty.
pub(super) fn filled(map: Map) -> Option<Value> {
    (!map.is_empty()).then(|| map.into())
}

fn lost(is_lost: bool, message: &'static str) -> Option<Cow<'static, str>> {
    is_lost.then_some(Cow::Borrowed(message))
}
