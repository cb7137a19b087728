//! Any list of records, by `--map`.

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
| `input` | what is sent: a text, messages, or the only text of a mapping |
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
    read_rows(importer, file, rows, &reader, |_, _, _| {})
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
}
