//! Dataset items exported from Langfuse: `input` and `expectedOutput`.

use super::field_map::FieldMap;
use super::format::ImportFormat;
use super::list::{read_rows, records};
use super::row::RowReader;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "langfuse",
    title: "a Langfuse dataset",
    doc: "Dataset items of Langfuse, as JSON, JSONL or CSV.

| Langfuse | EVAL.yaml |
|---|---|
| `input` | `input` |
| `expectedOutput`, `expected_output` | `expected_output`, with the criteria \"Agrees with the expected output\" |
| `id` | `id` |
| `metadata` and other keys | `metadata` |
| `status: ARCHIVED` | `skip` |
",
    detect: |file| {
        if file.has_row_with(&["input", "expectedOutput"]) {
            return Some(vec!["input", "expectedOutput"]);
        }
        let own = file.row_key(&["sourceTraceId", "source_trace_id", "sourceObservationId"])?;
        file.has_row_with(&["input"]).then(|| vec!["input", own])
    },
    read: |importer, file| {
        let rows = records(importer, file)?.with_parsed_texts();
        let expected = if file.has_row_with(&["expectedOutput"]) {
            "expectedOutput"
        } else {
            "expected_output"
        };
        let map =
            FieldMap::known(&[("id", "id"), ("input", "input"), ("expected_output", expected)]);
        let map = map.overlaid(importer.map());
        let ignored = [
            "datasetId", "dataset_id", "datasetName", "dataset_name", "createdAt", "created_at",
            "updatedAt", "updated_at", "status", "projectId", "project_id", "sourceTraceId",
            "source_trace_id", "sourceObservationId", "source_observation_id", "validFrom",
        ];
        let reader = RowReader { map: &map, ignored: &ignored, metadata: &["metadata"] };
        read_rows(importer, file, &rows, &reader, |_, test, row| {
            let status = row.get("status").and_then(|status| status.text());
            if status.is_some_and(|status| status.eq_ignore_ascii_case("archived")) {
                test.skip = Some("archived in Langfuse".to_owned());
            }
        })
    },
};
