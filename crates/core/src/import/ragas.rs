//! Datasets and test sets of Ragas.

use super::assertion_draft::tools;
use super::field_map::FieldMap;
use super::format::ImportFormat;
use super::importer::Importer;
use super::list::{read_rows, records};
use super::located::Located;
use super::row::{AGREES, RowReader};
use super::suite_draft::TestDraft;
use crate::model::{Map, Value};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "ragas",
    title: "a Ragas dataset",
    doc: "Evaluation datasets and test sets of Ragas, as JSON, JSONL or CSV.

| Ragas | EVAL.yaml |
|---|---|
| `user_input`, in older versions `question` | `input`: a text, or a conversation |
| `reference`, `ground_truth` | `expected_output`, with the criteria \"Agrees with the expected output\" |
| `rubrics` | `rubrics`; of levels such as `score5_description` only the best |
| `reference_tool_calls` | `assert` with a `tool-trajectory` in any order |
| `reference_contexts`, `retrieved_contexts`, `persona_name` and other keys | `metadata` |
| `response`, `answer` of an earlier run | left out |
",
    detect: |file| {
        if let Some(other) = file.row_key(&[
            "reference", "response", "retrieved_contexts", "reference_contexts", "synthesizer_name",
            "rubrics", "reference_tool_calls",
        ]) && file.has_row_with(&["user_input"])
        {
            return Some(vec!["user_input", other]);
        }
        let other = file.row_key(&["ground_truth", "ground_truths"])?;
        file.has_row_with(&["question"]).then(|| vec!["question", other])
    },
    read: |importer, file| {
        let is_new = file.has_row_with(&["user_input"]);
        let reference = file.row_key(&["reference", "ground_truth", "ground_truths"]);
        let map = FieldMap::known(&[
            ("id", "id"),
            ("input", if is_new { "user_input" } else { "question" }),
            ("expected_output", reference.unwrap_or("reference")),
            ("rubrics", "rubrics"),
        ]);
        let map = map.overlaid(importer.map());
        let rows = records(importer, file)?;
        let mut ignored = vec!["response", "multi_responses", "reference_tool_calls"];
        if !is_new {
            ignored.push("answer");
        }
        if let Some(row) = rows.items().iter().find(|row| ignored[..2].iter().any(|key| row.has_filled(key)))
        {
            importer.loss_once("results", row.span, "answers of an earlier run are left out");
        }
        let reader = RowReader { map: &map, ignored: &ignored, metadata: &[] };
        read_rows(importer, file, rows, &reader, |importer, test, row| {
            if let Some(rubrics) = row.get("rubrics") {
                best_level(importer, test, rubrics);
            }
            let calls = row.get("reference_tool_calls").map(expected_calls).unwrap_or_default();
            if !calls.is_empty() {
                test.assertions.push(tools("any_order", calls).into());
            }
            // Criteria alone are graded only in a test without checks.
            if test.is_graded() && test.expected_output.is_some() {
                test.rubrics.insert(0, AGREES.into());
            }
        })
    },
};

/// `score1_description` and so on describe what earns a score, not what must hold.
fn best_level(importer: &mut Importer<'_>, test: &mut TestDraft, rubrics: &Located) {
    let level =
        |key: &str| key.strip_prefix("score")?.strip_suffix("_description")?.parse::<u32>().ok();
    let levels = rubrics.entries().iter().filter_map(|entry| Some((level(&entry.key)?, entry)));
    if let Some((_, best)) = levels.max_by_key(|(level, _)| *level) {
        let message = "of the levels of a rubric only the best is checked";
        importer.loss("rubric", rubrics.span, message);
        test.rubrics = best.value.text().map(Value::from).into_iter().collect();
    }
}

/// Calls with their arguments: `{name, args}` of Ragas, `{name, input_parameters}` of DeepEval.
pub(super) fn expected_calls(list: &Located) -> Vec<Value> {
    let call = |item: &Located| {
        let name = item.get("name").unwrap_or(item).text()?;
        let args = item.first_of(&["args", "input_parameters", "inputParameters"]);
        Some(match args.filter(|args| args.is_map() && !args.entries().is_empty()) {
            Some(args) => Map::new().with("tool", name).with("args", args.map()).into(),
            None => Value::from(name),
        })
    };
    list.items().iter().filter_map(call).collect()
}
