//! Datasets exported from Braintrust: `input`, `expected`, `metadata`, `tags`.

use super::field_map::FieldMap;
use super::format::ImportFormat;
use super::list::{read_rows, records};
use super::row::RowReader;

/// Keys that only Braintrust writes.
const OWN_KEYS: &[&str] =
    &["_xact_id", "root_span_id", "span_id", "_pagination_key", "dataset_id", "is_root"];

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "braintrust",
    title: "a Braintrust dataset",
    doc: "Datasets of Braintrust, as JSON, JSONL or CSV, and the events of its API.

| Braintrust | EVAL.yaml |
|---|---|
| `input` | `input` |
| `expected` | `expected_output`, with the criteria \"Agrees with the expected output\" |
| `id` | `id` |
| `tags` | `tags` |
| `metadata` and other keys | `metadata` |
| `output`, `scores`, `metrics` of an experiment | left out |
",
    detect: |file| {
        let own = file.row_key(OWN_KEYS)?;
        file.has_row_with(&["input", "expected"]).then(|| vec!["input", "expected", own])
    },
    read: |importer, file| {
        let map = FieldMap::known(&[
            ("id", "id"),
            ("input", "input"),
            ("expected_output", "expected"),
            ("tags", "tags"),
        ]);
        let map = map.overlaid(importer.map());
        let rows = records(importer, file)?.with_parsed_texts();
        let results = ["output", "scores", "metrics", "error"];
        if let Some(row) =
            rows.items().iter().find(|row| results.iter().any(|key| row.has_filled(key)))
        {
            let message = "answers and scores of an earlier run are left out";
            importer.loss_once("results", row.span, message);
        }
        let mut ignored: Vec<&str> = OWN_KEYS.to_vec();
        ignored.extend(results);
        ignored.extend(["created", "project_id", "org_id", "origin", "span_parents", "context"]);
        let reader = RowReader { map: &map, ignored: &ignored, metadata: &["metadata"] };
        read_rows(importer, file, &rows, &reader, |_, _, _| {})
    },
};
