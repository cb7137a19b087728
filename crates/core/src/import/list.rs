//! Any list of records, by `--map`.

use crate::model::Value;

use super::field_map::{FieldMap, keys_of};
use super::foreign_file::ForeignFile;
use super::format::ImportFormat;
use super::importer::Importer;
use super::located::Located;
use super::row::{RowReader, settle_criteria};
use super::suite_draft::{SuiteDraft, TestDraft};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "list",
    title: "a list of records",
    doc: "Any list of records in JSON, JSONL, CSV or YAML, by `--map FIELD=KEY,…`. Without `--map`, evalrig
proposes one from the keys that it sees.

| field | becomes |
|---|---|
| `input` | what is sent: a text, messages, or the only text of a mapping. A last message of the assistant is not sent: it is the `expected_output`, unless that is mapped |
| `system` | a system message before the input |
| `expected_output` | the reference answer |
| `criteria`, `rubrics`, `id`, `tags`, `description`, `note` | the field of that name |
| `contains`, `icontains`, `equals`, `regex`, `starts-with`, … | an assertion of that type with the record's text |
| `metadata.NAME` | a key of `metadata` |
| keys that are not mapped | keys of `metadata` |

A key may be a path such as `inputs.question`; `a+b` joins two texts. A map may begin with the name of a preset: `qa`
(question, answer), `chat` (messages), `completion` (prompt, completion), `alpaca` (instruction, input, output) or `mmlu`.

A test with an expected output and nothing else has the criteria \"Agrees with the expected output\", which a judge
decides.
",
    detect: |_| None,
    read,
};

fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let rows = records(importer, file)?;
    let Some(map) = importer.map() else {
        return importer.refuse(
            rows.span.at_start(),
            "nothing says which key is the input",
            "add `--map input=KEY`",
        );
    };
    let reader = RowReader { map, ignored: &[], metadata: &["metadata"] };
    read_rows(importer, file, rows, &reader, |_, test, _| take_last_answer(test))
}

/// Takes the expected output from a conversation that ends with the assistant, unless another key has it, so
/// that it is not sent.
fn take_last_answer(test: &mut TestDraft) {
    let Value::List(messages) = &mut test.input else { return };
    let role = |message: &Value| Some(message.as_map()?.get("role")?.as_str()?.to_owned());
    let is_answer = messages.last().and_then(role).as_deref() == Some("assistant");
    if !is_answer || messages.len() < 2 || test.expected_output.is_some() {
        return;
    }
    let Some(answer) = messages.pop() else { return };
    let map = answer.as_map();
    let has_calls = map.is_some_and(|map| map.get("tool_calls").is_some());
    let text =
        map.and_then(|map| map.get("content")).and_then(Value::as_str).filter(|_| !has_calls);
    test.expected_output = match text {
        Some(text) if text.trim().is_empty() => None,
        Some(text) => Some(text.into()),
        None => Some(vec![answer].into()),
    };
}

/// The records of a file.
pub(super) fn records<'f>(
    importer: &mut Importer<'_>,
    file: &'f ForeignFile,
) -> Option<&'f Located> {
    let rows = file.rows();
    if rows.is_none() {
        let found = file.root.type_name();
        importer.refuse::<()>(
            file.root.span.at_start(),
            format!("expected a list of records, found {found}"),
            "a record is a mapping such as `{\"question\": …, \"answer\": …}`",
        );
    }
    rows
}

/// A suite with one test per record; `adjust` adds what the format has beyond the fields of the map.
pub(super) fn read_rows(
    importer: &mut Importer<'_>,
    file: &ForeignFile,
    rows: &Located,
    reader: &RowReader<'_>,
    mut adjust: impl FnMut(&mut Importer<'_>, &mut TestDraft, &Located),
) -> Option<SuiteDraft> {
    importer.check_map_keys(&rows.items().iter().collect::<Vec<_>>(), rows.span.at_start())?;
    let mut draft = SuiteDraft::named(file.suggested_name());
    let mut is_complete = true;
    for row in rows.items() {
        let Some(mut test) = reader.read(importer, &mut draft, row) else {
            is_complete = false;
            continue;
        };
        importer.enter_test(&test.id);
        adjust(importer, &mut test, row);
        settle_criteria(importer, &mut test, row.span);
        importer.leave_test();
        draft.tests.push(test);
    }
    is_complete.then_some(draft)
}

/// Keys by which an entry of evals.json is graded (spec 15.1).
const ENTRY_GRADES: &[&str] =
    &["expected_output", "assertions", "expectations", "expected_behavior", "should_trigger"];

/// What to type for a list without a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapProposal {
    /// The keys of the records.
    pub keys: Vec<String>,
    /// The value of `--map`; `None` if no key looks like an input.
    pub map: Option<String>,
}

impl MapProposal {
    /// `None` if the file is not a list of records.
    pub fn of(file: &ForeignFile) -> Option<Self> {
        let rows = file.rows()?.items();
        let keys = keys_of(rows).into_iter().map(str::to_owned).collect();
        let map = FieldMap::proposed(rows).map(|map| map.to_argument());
        Some(Self { keys, map })
    }

    /// Whether the reader of evals.json, which knows fewer names, would make metadata of what grades every
    /// answer.
    pub fn grades_more_than_evals_json(&self, file: &ForeignFile) -> bool {
        let has = |key: &str| self.keys.iter().any(|known| known == key);
        if ENTRY_GRADES.iter().any(|key| has(key)) {
            return false;
        }
        let rows = file.rows().map(Located::items).unwrap_or_default();
        let map = FieldMap::proposed(rows);
        let grades = ["expected_output", "criteria", "rubrics"];
        map.is_some_and(|map| grades.iter().any(|field| map.key_of(field).is_some()))
    }
}
