//! Goldens of DeepEval, single-turn and conversational.

use super::assertion_draft::tools;
use super::chat::messages;
use super::field_map::FieldMap;
use super::foreign_file::{ForeignFile, json_in_text};
use super::format::ImportFormat;
use super::importer::Importer;
use super::list::{read_rows, records};
use super::located::{Located, LocatedData};
use super::ragas::expected_calls;
use super::row::RowReader;
use super::suite_draft::{SuiteDraft, TestDraft, one_line};
use crate::model::Value;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "deepeval",
    title: "a file of DeepEval goldens",
    doc: "Goldens of DeepEval, as `EvaluationDataset.save_as` writes them: JSON, JSONL or CSV, single-turn and
conversational.

| DeepEval | EVAL.yaml |
|---|---|
| `input` | `input` |
| `expected_output` | `expected_output`, with the criteria \"Agrees with the expected output\" |
| `expected_tools` | `assert` with a `tool-trajectory` in any order |
| `expectations.must`, `must_not` | `rubrics` |
| `name`, `comments` | `description`, `note` |
| `context`, `retrieval_context`, `source_file`, `additional_metadata`, custom columns | `metadata` |
| `turns` of a conversation | `input`: the messages up to the user's last one |
| `scenario`, `expected_outcome` | `description`, `criteria`; without turns the scenario is the input |
| `actual_output`, `tools_called`, tokens and cost | left out |

Metrics are chosen in Python and are not in the file; the criteria are decided by a judge.
",
    detect: |file| {
        if file.has_row_with(&["scenario", "expected_outcome"]) {
            return Some(vec!["scenario", "expected_outcome"]);
        }
        let own = file.row_key(&[
            "actual_output", "actualOutput", "retrieval_context", "retrievalContext",
            "additional_metadata", "additionalMetadata", "custom_column_key_values",
        ])?;
        file.has_row_with(&["input"]).then(|| vec!["input", own])
    },
    read,
};

const RESULTS: &[&str] = &[
    "actual_output",
    "actualOutput",
    "tools_called",
    "toolsCalled",
    "token_cost",
    "tokenCost",
    "input_token_count",
    "inputTokenCount",
    "output_token_count",
    "outputTokenCount",
];

fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let rows = records(importer, file)?;
    if let Some(row) =
        rows.items().iter().find(|row| RESULTS[..4].iter().any(|key| row.has_filled(key)))
    {
        importer.loss_once("results", row.span, "answers of an earlier run are left out");
    }
    if file.has_row_with(&["scenario"]) && !file.has_row_with(&["input"]) {
        return conversations(importer, file, rows);
    }
    let is_camel = file.has_row_with(&["expectedOutput"]);
    let map = FieldMap::known(&[
        ("input", "input"),
        ("expected_output", if is_camel { "expectedOutput" } else { "expected_output" }),
        ("description", "name"),
        ("note", "comments"),
    ]);
    let map = map.overlaid(importer.map());
    let mut ignored: Vec<&str> = RESULTS.to_vec();
    ignored.extend(["expected_tools", "expectedTools", "expectations", "id"]);
    let metadata = [
        "additional_metadata",
        "additionalMetadata",
        "custom_column_key_values",
        "customColumnKeyValues",
    ];
    let reader = RowReader { map: &map, ignored: &ignored, metadata: &metadata };
    read_rows(importer, file, rows, &reader, |_, test, row| add_expectations(test, row))
}

fn add_expectations(test: &mut TestDraft, row: &Located) {
    let data = |keys: &[&str]| {
        let value = row.first_of(keys)?;
        match value.as_str() {
            Some(text) => json_in_text(text, value.span),
            None => Some(value.clone()),
        }
    };
    let calls = data(&["expected_tools", "expectedTools"]);
    let calls = calls.as_ref().map(expected_calls).unwrap_or_default();
    if !calls.is_empty() {
        test.assertions.push(tools("any_order", calls).into());
    }
    let expectations = data(&["expectations"]);
    let texts = |keys: &[&str]| {
        let list = expectations.as_ref().and_then(|expectations| expectations.first_of(keys));
        list.map(Located::texts).unwrap_or_default()
    };
    test.rubrics.extend(texts(&["must"]).into_iter().map(Value::from));
    let never = texts(&["must_not", "mustNot"]).into_iter();
    test.rubrics.extend(never.map(|text| Value::from(format!("Does not do this: {text}"))));
    // Criteria alone are graded only in a test without checks.
    if test.is_graded() && test.expected_output.is_some() {
        test.rubrics.insert(0, super::row::AGREES.into());
    }
}

/// A simulated user goes on for several turns; a test sends one conversation.
fn conversations(
    importer: &mut Importer<'_>,
    file: &ForeignFile,
    rows: &Located,
) -> Option<SuiteDraft> {
    let mut draft = SuiteDraft::named(file.suggested_name());
    for row in rows.items() {
        let name = row.get("name").and_then(Located::text);
        let position = draft.tests.len() + 1;
        let id = draft.new_id(name.as_deref(), position);
        importer.enter_test(&id);
        let scenario = row.get("scenario").and_then(Located::text).unwrap_or_default();
        let input = match turns(importer, row) {
            Some(input) => input,
            None => {
                let message = "the user's part is not simulated: the scenario is sent as it is";
                importer.loss("simulated-user", row.span, message);
                super::row::sendable(scenario.as_str().into())
            }
        };
        let mut test = TestDraft::new(id, input);
        test.description = Some(one_line(&scenario)).filter(|text| !text.is_empty());
        test.criteria = row.get("expected_outcome").and_then(Located::text);
        test.note = row.get("comments").and_then(Located::text);
        for key in ["user_description", "persona", "context", "additional_metadata"] {
            test.metadata.insert_some(key, row.get(key).map(Located::value));
        }
        add_expectations(&mut test, row);
        if test.criteria.is_none() && !test.is_graded() {
            let message = "nothing says what a good answer does; write `criteria`";
            importer.loss("nothing-checked", row.span, message);
        }
        importer.leave_test();
        draft.tests.push(test);
    }
    Some(draft)
}

/// The messages up to the user's last one.
fn turns(importer: &mut Importer<'_>, row: &Located) -> Option<Value> {
    let turns = row.get("turns")?;
    let parsed = turns.as_str().and_then(|text| json_in_text(text, turns.span));
    let turns = parsed.as_ref().unwrap_or(turns);
    let is_user = |turn: &Located| turn.get("role").and_then(Located::as_str) == Some("user");
    let last = turns.items().iter().rposition(is_user)?;
    let kept = turns.items()[..=last].to_vec();
    if last + 1 < turns.items().len() {
        importer.loss("turns", turns.span, "the answers after the user's last turn are left out");
    }
    let list = Located { span: turns.span, data: LocatedData::List(kept) };
    Some(messages(importer, &list).into())
}
