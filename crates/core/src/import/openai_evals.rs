//! OpenAI Evals: samples of the open-source registry, its YAML files, and what the Evals API returns.

mod api;
mod api_items;
mod registry;

use super::assertion_draft::text_check;
use super::field_map::FieldMap;
use super::foreign_file::ForeignFile;
use super::format::ImportFormat;
use super::importer::Importer;
use super::list::{read_rows, records};
use super::located::{Located, LocatedData};
use super::row::RowReader;
use super::suite_draft::SuiteDraft;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "openai-evals",
    title: "an OpenAI Evals file",
    doc: "OpenAI Evals: JSONL samples with `input` and `ideal`, YAML files of the registry, and JSON of the Evals
API (an eval with its runs).

| OpenAI Evals | EVAL.yaml |
|---|---|
| `input`: a text or messages | `input` |
| `ideal`, without a registry file | `contains-any`, as the class `Includes` does |
| class `Match` | `starts-with`, or a `regex` for several answers |
| class `Includes` | `contains-any`; with `ignore_case` `icontains-any` |
| classes `FuzzyMatch`, `JsonMatch` | `code-judge` with a script beside the suite |
| class `ModelBasedClassify` | `rubrics`, decided by a judge |
| several evals in one registry file | one suite; the eval is a tag |
| API: items of the runs, `datasource_item` of `/output_items`, or a JSONL file of items; `input_messages` | one test each, with the template filled in, or with the messages that a run has sent |
| API: `string_check` | `equals`, `contains` or `icontains`, negated for `ne` |
| API: `text_similarity`, `label_model` | `rubrics`, decided by a judge |
| API: `score_model` | `llm-judge` |
| API: `python` | `code-judge`: a script beside the suite calls `grade(sample, item)` |
| few-shot samples | left out |

What the API returns in several answers is converted together: `evalrig convert eval.json runs.json output_items.json`, or
`evalrig convert eval.json items.jsonl`.
",
    detect: |file| {
        if api::eval_of(&file.root).is_some() {
            return Some(vec!["testing_criteria"]);
        }
        if api::is_of_api(&file.root) {
            let is_answer = file.has_row_with(&["datasource_item"]);
            return Some(vec![if is_answer { "datasource_item" } else { "data_source" }]);
        }
        if registry::is_registry(&file.root) {
            return Some(vec!["class", "args"]);
        }
        file.has_row_with(&["input", "ideal"]).then(|| vec!["input", "ideal"])
    },
    read: |importer, file| {
        if api::is_of_api(&file.root) || !importer.request.others.is_empty() {
            return api::read(importer, file);
        }
        if registry::is_registry(&file.root) {
            return registry::read(importer, file);
        }
        samples(importer, file)
    },
};

/// Samples alone, or items of the API as a file of the dashboard has them.
fn samples(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let rows = records(importer, file)?;
    if rows.items().iter().all(|row| row.has("item")) {
        let items: Vec<Located> =
            rows.items().iter().filter_map(|row| row.get("item").cloned()).collect();
        let map = FieldMap::proposed(&items).unwrap_or_default().overlaid(importer.map());
        let reader = RowReader { map: &map, ignored: &[], metadata: &["metadata"] };
        let rows = Located { span: rows.span, data: LocatedData::List(items) };
        return read_rows(importer, file, &rows, &reader, |_, _, _| {});
    }
    let map = sample_map().overlaid(importer.map());
    let reader = RowReader { map: &map, ignored: &["ideal"], metadata: &["metadata"] };
    let message = "the class of the eval is in its registry file: the answer has to contain `ideal`, as \
                   for `Includes`";
    importer.loss_once("class", rows.items().first()?.span, message);
    read_rows(importer, file, rows, &reader, |_, test, row| {
        let ideal = ideal_of(row);
        if !ideal.is_empty() {
            test.assertions.push(text_check("contains-any", ideal).into());
        }
    })
}

fn sample_map() -> FieldMap {
    FieldMap::known(&[("id", "id"), ("input", "input"), ("criteria", "criteria")])
}

/// The accepted answers of a sample.
fn ideal_of(row: &Located) -> Vec<String> {
    let ideal = row.first_of(&["ideal", "expected"]).map(Located::texts).unwrap_or_default();
    ideal.into_iter().filter(|text| !text.is_empty()).collect()
}
