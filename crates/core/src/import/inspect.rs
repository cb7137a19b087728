//! Datasets of Inspect: samples with `input` and `target`.

use super::assertion_draft::text_check;
use super::field_map::FieldMap;
use super::foreign_file::{ForeignFile, json_in_text};
use super::format::ImportFormat;
use super::importer::Importer;
use super::list::{read_rows, records};
use super::located::Located;
use super::row::{AGREES, RowReader, lettered};
use super::suite_draft::{SuiteDraft, TestDraft};
use crate::model::Value;

/// Longer targets are judged instead of being looked for.
const LONGEST_LITERAL: usize = 60;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "inspect",
    title: "an Inspect dataset",
    doc: "Datasets of Inspect, as JSONL, JSON or CSV: samples with `input` and `target`.

| Inspect | EVAL.yaml |
|---|---|
| `input`: a text or messages | `input` |
| `target`, short | `expected_output`, and `assert` with `icontains`, as the scorer `includes` does; a list gives `icontains-any` |
| `target`, longer than 60 characters | `expected_output`, with the criteria \"Agrees with the expected output\" |
| `choices` with a letter as `target` | the choices behind the input, and a `regex` for `ANSWER: X` |
| `id` | `id` |
| `metadata` and other keys | `metadata` |
| `files`, `setup`, `sandbox` | left out |

The scorer is chosen in Python and is not in the file.
",
    detect: |file| {
        let is_golden = file.row_key(&["ideal", "expected_output", "actual_output"]).is_some();
        let fits = file.has_row_with(&["input", "target"]) && !is_golden;
        fits.then(|| vec!["input", "target"])
    },
    read,
};

fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let map = FieldMap::known(&[
        ("id", "id"),
        ("input", "input"),
        ("expected_output", "target"),
        ("description", "description"),
    ]);
    let map = map.overlaid(importer.map());
    let ignored = ["choices", "files", "setup", "sandbox", "checkpoint"];
    let reader = RowReader { map: &map, ignored: &ignored, metadata: &["metadata"] };
    let rows = records(importer, file)?;
    read_rows(importer, file, rows, &reader, |importer, test, row| {
        for key in ["files", "setup", "sandbox"] {
            if let Some(value) = row.get(key) {
                let message = format!("`{key}` is left out: the test has no workspace");
                importer.loss("workspace", value.span, message);
            }
        }
        grade(importer, test, row);
    })
}

fn grade(importer: &mut Importer<'_>, test: &mut TestDraft, row: &Located) {
    let choices = row.get("choices").map(texts).unwrap_or_default();
    let targets = row.get("target").map(texts).unwrap_or_default();
    if targets.is_empty() {
        return;
    }
    let message = "the file does not name its scorer: short targets are looked for in the answer, \
                   long ones are judged";
    importer.loss_once("scorer", row.span, message);
    let is_letter =
        |target: &String| target.len() == 1 && target.as_bytes()[0].is_ascii_uppercase();
    if !choices.is_empty() && targets.iter().all(is_letter) {
        add_choices(test, &choices, &targets);
        return;
    }
    let is_short = |target: &String| target.chars().count() <= LONGEST_LITERAL;
    if targets.iter().all(is_short) {
        let check = match targets.as_slice() {
            [only] => text_check("icontains", only.as_str()),
            _ => text_check("icontains-any", targets.clone()),
        };
        test.assertions.push(check.into());
        test.criteria = None;
    } else if targets.len() > 1 {
        test.rubrics.push(Value::from(format!("Agrees with one of: {}", targets.join("; "))));
        test.criteria = None;
    } else {
        test.criteria = Some(AGREES.to_owned());
    }
    if targets.len() > 1 {
        test.expected_output = None;
    }
}

fn add_choices(test: &mut TestDraft, choices: &[String], targets: &[String]) {
    let question = format!(
        "{}\n\nEnd your answer with a line such as `ANSWER: A` that names the right {}.",
        lettered(choices),
        if targets.len() == 1 { "choice" } else { "choices" }
    );
    test.input = match std::mem::replace(&mut test.input, Value::Null) {
        Value::String(text) => format!("{text}\n\n{question}").into(),
        Value::List(mut messages) => {
            let message = crate::model::Map::new().with("role", "user").with("content", question);
            messages.push(message.into());
            messages.into()
        }
        other => other,
    };
    // As Inspect reads it: the last line counts, letters are in any order, and nothing follows them.
    let orders: Vec<String> =
        orders_of(targets).iter().map(|letters| letters.join("(?:[ ,]|and)*")).collect();
    let pattern = format!(
        r"ANSWER\s*:\s*(?:{})[ ,]*(?:[^A-Za-z0-9 ,]|\z)(?![\s\S]*ANSWER\s*:)",
        orders.join("|")
    );
    test.assertions.push(text_check("regex", pattern).with("flags", "i").into());
    test.expected_output = Some(targets.join(", ").into());
    test.criteria = None;
}

/// Every order of a few letters; many keep theirs.
fn orders_of(letters: &[String]) -> Vec<Vec<String>> {
    const MOST: usize = 4;
    if letters.len() < 2 || letters.len() > MOST {
        return vec![letters.to_vec()];
    }
    let mut orders = Vec::new();
    for (at, first) in letters.iter().enumerate() {
        let others: Vec<String> = letters
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, one)| one.clone())
            .collect();
        for mut rest in orders_of(&others) {
            rest.insert(0, first.clone());
            orders.push(rest);
        }
    }
    orders
}

/// A list, a JSON list in a cell, or one text.
fn texts(value: &Located) -> Vec<String> {
    let parsed = value.as_str().and_then(|text| json_in_text(text, value.span));
    let value = parsed.as_ref().unwrap_or(value);
    value.texts().into_iter().filter(|text| !text.is_empty()).collect()
}
