//! Datasets exported from LangSmith: examples with `inputs` and `outputs`.

use super::field_map::FieldMap;
use super::format::ImportFormat;
use super::list::{read_rows, records};
use super::row::RowReader;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "langsmith",
    title: "a LangSmith dataset",
    doc: "Datasets of LangSmith, as JSON, JSONL or CSV: examples with `inputs` and `outputs`.

| LangSmith | EVAL.yaml |
|---|---|
| `inputs` with one text or `messages` | `input` |
| `inputs` with several keys | `input` as JSON; `--map input=inputs.question` sends one of them |
| `outputs` | `expected_output`, with the criteria \"Agrees with the expected output\" |
| `id` | `id` |
| `split` | `tags` |
| `metadata` and other keys | `metadata` |
",
    detect: |file| {
        let fits = file.has_row_with(&["inputs", "outputs"]);
        fits.then(|| vec!["inputs", "outputs"])
    },
    read: |importer, file| {
        let map = FieldMap::known(&[
            ("id", "id"),
            ("input", "inputs"),
            ("expected_output", "outputs"),
            ("tags", "split"),
        ]);
        let map = map.overlaid(importer.map());
        let ignored = [
            "dataset_id",
            "created_at",
            "modified_at",
            "source_run_id",
            "attachments",
            "attachment_urls",
            "name",
        ];
        let reader = RowReader { map: &map, ignored: &ignored, metadata: &["metadata"] };
        let rows = records(importer, file)?.with_parsed_texts();
        read_rows(importer, file, &rows, &reader, |_, _, _| {})
    },
};
