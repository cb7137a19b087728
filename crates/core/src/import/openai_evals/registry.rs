//! YAML files of the registry: which class grades which samples.

use camino::{Utf8Path, Utf8PathBuf};

use crate::model::{Map, Value};
use crate::source::Span;

use super::super::assertion_draft::{exact_text, literal_pattern, text_check};
use super::super::foreign_file::ForeignFile;
use super::super::importer::Importer;
use super::super::located::{Located, LocatedEntry};
use super::super::row::{AGREES, RowReader, settle_criteria};
use super::super::script::{ScriptLanguage, script_check};
use super::super::suite_draft::{SuiteDraft, TestDraft};
use super::{ideal_of, sample_map};

pub(super) fn is_registry(root: &Located) -> bool {
    root.entries().iter().any(is_eval)
}

fn is_eval(entry: &LocatedEntry) -> bool {
    entry.value.has("class") && entry.value.has("args")
}

pub(super) fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let evals: Vec<&LocatedEntry> =
        file.root.entries().iter().filter(|entry| is_eval(entry)).collect();
    let mut draft = SuiteDraft::named(match evals.as_slice() {
        [only] => base_name(&only.key).to_owned(),
        _ => file.suggested_name(),
    });
    let described = file.root.entries().iter().find_map(|entry| entry.value.get("description"));
    draft.description = described.and_then(Located::text);
    for entry in &evals {
        let tag = (evals.len() > 1).then(|| base_name(&entry.key));
        read_eval(importer, &mut draft, file, entry, tag)?;
    }
    Some(draft)
}

/// `arithmetic.dev.v0` without split and version.
fn base_name(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

fn read_eval(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    file: &ForeignFile,
    entry: &LocatedEntry,
    tag: Option<&str>,
) -> Option<()> {
    let args = entry.value.get("args")?;
    let Some(written) =
        args.first_of(&["samples_jsonl", "samples"]).filter(|path| path.as_str().is_some())
    else {
        return importer.refuse(
            entry.key_span,
            format!("`{}` names no `samples_jsonl`", entry.key),
            "name the file with the samples under `args`",
        );
    };
    let path = written.as_str().unwrap_or_default();
    let Some(found) = samples_path(importer, &file.path, path) else {
        return importer.refuse(
            written.span,
            format!("`{path}` does not exist"),
            "samples are in `registry/data`, beside `registry/evals`, or beside this file",
        );
    };
    report_arguments(importer, args);
    let samples = importer.open(&found, written.span)?;
    let rows = samples.rows().map(Located::items).unwrap_or_default();
    let class = entry.value.get("class").and_then(Located::text).unwrap_or_default();
    let map = sample_map().overlaid(importer.map());
    let reader =
        RowReader { map: &map, ignored: &["ideal", "completion"], metadata: &["metadata"] };
    importer.check_map_keys(&rows.iter().collect::<Vec<_>>(), written.span)?;
    for row in rows {
        let mut test = reader.read(importer, draft, row)?;
        importer.enter_test(&test.id);
        let span = entry.value.get("class").map_or(entry.key_span, |class| class.span);
        grade(importer, draft, &mut test, &Graded { class: &class, args, row, span });
        settle_criteria(importer, &mut test, row.span);
        importer.leave_test();
        test.tags.extend(tag.map(str::to_owned));
        draft.tests.push(test);
    }
    Some(())
}

/// `registry/data/…` for `registry/evals/….yaml`, or beside the file.
fn samples_path(importer: &Importer<'_>, file: &Utf8Path, written: &str) -> Option<Utf8PathBuf> {
    let directory = file.parent()?;
    let above =
        directory.ancestors().skip(1).take(3).map(|parent| parent.join("data").join(written));
    [directory.join(written)].into_iter().chain(above).find(|path| importer.exists(path))
}

fn report_arguments(importer: &mut Importer<'_>, args: &Located) {
    for entry in args.entries() {
        let is_known = matches!(
            entry.key.as_str(),
            "samples_jsonl"
                | "samples"
                | "ignore_case"
                | "modelgraded_spec"
                | "eval_type"
                | "max_tokens"
        );
        if !is_known && !entry.value.is_null() {
            let message = format!("`{}` is left out", entry.key);
            importer.loss("argument", entry.key_span, message);
        }
    }
}

/// A sample and what grades it.
struct Graded<'a> {
    class: &'a str,
    args: &'a Located,
    row: &'a Located,
    span: Span,
}

fn grade(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    test: &mut TestDraft,
    graded: &Graded<'_>,
) {
    let ideal = ideal_of(graded.row);
    let class = graded.class.rsplit([':', '.']).next().unwrap_or_default();
    let is_ignoring_case = graded.args.get("ignore_case").and_then(Located::as_bool) == Some(true);
    if ideal.is_empty() && class != "ModelBasedClassify" {
        return;
    }
    let check = match class {
        "Match" => {
            importer.loss_once(
                "white-space",
                graded.span,
                "white space before the answer is ignored; `Match` compares exactly",
            );
            match ideal.as_slice() {
                [only] => exact_text("starts-with", only),
                _ => {
                    let parts: Vec<String> =
                        ideal.iter().map(|text| literal_pattern(text)).collect();
                    text_check("regex", format!(r"\A(?:{})", parts.join("|")))
                }
            }
        }
        "Includes" if is_ignoring_case => text_check("icontains-any", ideal),
        "Includes" => text_check("contains-any", ideal),
        "FuzzyMatch" => scripted(draft, "fuzzy-match", ideal),
        "JsonMatch" => scripted(draft, "json-match", ideal),
        "ModelBasedClassify" => return classify(importer, test, graded, &ideal),
        _ => {
            let message = format!("the class `{class}` is left out; a judge compares with `ideal`");
            importer.loss("class", graded.span, message);
            test.expected_output = Some(ideal.join("\n").into());
            test.criteria = Some(AGREES.to_owned());
            return;
        }
    };
    test.assertions.push(check.into());
    test.criteria = None;
}

/// A check that no assertion has, as a script beside the suite.
fn scripted(draft: &mut SuiteDraft, kind: &str, ideal: Vec<String>) -> Map {
    let config = Map::new().with("type", kind).with("value", ideal);
    script_check(draft, ScriptLanguage::JavaScript, None, config)
}

fn classify(
    importer: &mut Importer<'_>,
    test: &mut TestDraft,
    graded: &Graded<'_>,
    ideal: &[String],
) {
    let spec = graded.args.get("modelgraded_spec").and_then(Located::text).unwrap_or_default();
    importer.loss_once(
        "judged",
        graded.span,
        "the judge gets the criteria, not the prompt of the registry",
    );
    if !ideal.is_empty() {
        test.expected_output = Some(Value::from(ideal.join("\n")));
    }
    let criteria = graded.row.get("criteria").and_then(Located::text);
    test.criteria = match (spec.as_str(), criteria) {
        (_, Some(criteria)) => Some(criteria),
        ("fact", None) => Some("Agrees with the facts of the expected output".to_owned()),
        (_, None) if !ideal.is_empty() => Some(AGREES.to_owned()),
        _ => None,
    };
}
