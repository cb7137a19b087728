//! The root of a suite file (spec 3.1).

use camino::Utf8Path;

use crate::assertion::read_entries;
use crate::diagnostic::{Diagnostic, Diagnostics, declare_codes};
use crate::model::{Map, Verdicts};
use crate::reader::{Reader, short_span, type_of};
use crate::source::SourceId;
use crate::syntax::Node;
use crate::syntax::fields::{Bound, Field, Shape, UNKNOWN_FIELD, WRONG_TYPE, unknown_field};

use super::arms::{ARM_FIELDS, read_arms, read_skills};
use super::execution::{TRIALS, read_execution, read_trials};
use super::given_skills::given_skills;
use super::inherited_defaults::InheritedDefaults;
use super::load::Header;
use super::loader::Loader;
use super::metadata::read_root_metadata;
use super::name::read_name;
use super::old_place::{move_to_execution, move_to_metadata, written_in};
use super::test::unsupported_preparation;
use super::verdicts::{VERDICT_FIELDS, read_verdicts};
use super::version::read_version;
use super::{dialect, input, sidecar};

declare_codes! {
    DESCRIPTION_TOO_LONG = "description-too-long", Error, Conformance, r#"The suite's description is longer than 2048 characters.

## Example
```text
description: |
  three pages of text
```

## Instead
```text
description: Two sentences; the rest is in a README beside the suite.
```

## Why
Listings and reports show it in full.
"#;
    MISSING_TESTS = "missing-tests", Blocking, Shape, r#"The file has no `tests`, and there is no JSONL file of the same name beside it.

## Example
```yaml
name: demo
test:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Without tests it is not a suite, so nothing else in it is checked.
"#;
}

pub static ROOT_FIELDS: &[Field] = &[
    Field::new("name", Shape::Text, "name of the suite: lower-case letters, digits and hyphens")
        .required(),
    Field::new("tests", Shape::Ref("tests"), "the tests, or paths of files that contain them")
        .old(&["evalcases", "eval_cases", "cases"]),
    Field::new(
        "version",
        Shape::OneOf(&[Shape::Text, Shape::Number { min: 1.0, max: f64::MAX }]),
        "version of the format; default \"1.0\"",
    ),
    Field::new("description", Shape::Text, "what the suite covers; at most 2048 characters"),
    Field::new("metadata", Shape::Ref("metadata"), "free-form data; a few keys are reserved"),
    Field::new("execution", Shape::Ref("execution"), "how the tests are run"),
    Field::new("assert", Shape::Ref("assertion-list"), "assertions added to every test")
        .old(&["assertions", "evaluators"])
        .expected_as(&["assertion", "evaluator"]),
    Field::new("input", Shape::Ref("input"), "messages placed before every test's own input"),
    Field::new(
        "input_files",
        Shape::List(&Shape::Text),
        "files for tests with a string input and no `input_files` of their own",
    ),
    Field::new("workspace", Shape::Ref("workspace"), "the directory that every case gets"),
    Field::new("verdicts", Shape::Fields(VERDICT_FIELDS), "score thresholds"),
    Field::new("trials", TRIALS, "how many times each test is run"),
    Field::new(
        "skills",
        Shape::List(&Shape::NonEmptyText),
        "directories of the skills that the agent is given; default: the skill that the suite lies in",
    ),
    Field::new(
        "arms",
        Shape::MapOf(&Shape::Fields(ARM_FIELDS)),
        "variants of the system under test, by name",
    ),
    Field::new("target", Shape::NonEmptyText, "old place of `execution.target`"),
    Field::new("tags", Shape::List(&Shape::Text), "old place of `metadata.tags`"),
    Field::new("author", Shape::Text, "old place of `metadata.author`"),
    Field::new("license", Shape::Text, "old place of `metadata.license`"),
];

const LONGEST_DESCRIPTION: usize = 2048;
/// The main file of a suite.
pub(super) fn load_root(
    loader: &mut Loader<'_, '_>,
    path: &Utf8Path,
    source: SourceId,
    root: Node<'_>,
) -> Option<Header> {
    if !root.is_mapping() {
        return loader.reader.refuse(not_a_mapping(root));
    }
    if let Some(diagnostic) = dialect::foreign(root, loader.origin, &loader.file_of(root)) {
        return loader.reader.refuse(diagnostic);
    }
    let tests = tests_entry(root);
    if tests.is_none() && root.get("targets").is_some() {
        loader.is_targets_file = true;
        return None;
    }
    let partner = sidecar::partner_of(loader, path, tests);
    if tests.is_none() && partner.is_none() {
        report_other_typos(&mut loader.reader, root);
        return loader.reader.refuse(missing_tests(root));
    }
    if let Some(jsonl) = &partner
        && let Some(diagnostic) = sidecar::second_sidecar(loader, source, jsonl)
    {
        return loader.reader.refuse(diagnostic);
    }
    let bound = Bound::new(root, &[ROOT_FIELDS], loader.reader.out);
    let (header, level) = read_header(loader, path, source, &bound);
    loader.defaults.metadata = header.metadata.clone();
    let tests = bound.get("tests");
    match (partner, &tests) {
        (Some(jsonl), _) => {
            let place = tests.map_or(bound.head(), |entry| entry.value.span());
            loader.imported.insert(jsonl.clone());
            loader.read_jsonl_tests(&jsonl, &level, place);
        }
        (None, Some(entry)) => loader.read_tests(entry, &level),
        (None, None) => {}
    }
    loader.check_count(tests.map_or(bound.head(), |entry| entry.key.span()));
    Some(header)
}

fn not_a_mapping(root: Node<'_>) -> Diagnostic {
    let message = format!("a suite is a mapping with `name` and `tests`, found {}", type_of(root));
    let diagnostic = Diagnostic::new(&WRONG_TYPE, short_span(root), message);
    if root.is_sequence() {
        diagnostic.help("put the list under `tests:`; a bare list can only be imported")
    } else {
        diagnostic
    }
}

/// `tests` under any of its names, unless it is null.
pub(super) fn tests_entry(root: Node<'_>) -> Option<Node<'_>> {
    ["tests", "evalcases", "eval_cases", "cases"]
        .iter()
        .find_map(|name| root.get(name))
        .filter(|value| !value.is_null())
}

pub(super) fn missing_tests(root: Node<'_>) -> Diagnostic {
    let head = root.written_entries().next().map_or(root.span(), |(key, _)| key.span());
    let near = root.written_entries().find(|(key, _)| {
        crate::diagnostic::did_you_mean(key.scalar_text().unwrap_or(""), ["tests"]).is_some()
    });
    let diagnostic = Diagnostic::new(&MISSING_TESTS, head, "the file has no `tests`");
    match near {
        Some((key, _)) => diagnostic.related(key.span(), "did you mean `tests`?"),
        None => {
            diagnostic.help("add `tests`, a list of tests or the path of a file that contains them")
        }
    }
}

/// The header of the main file, and what it passes down to its tests.
pub(super) fn read_header<'p>(
    loader: &mut Loader<'_, '_>,
    path: &Utf8Path,
    source: SourceId,
    bound: &Bound<'p>,
) -> (Header, InheritedDefaults<'p>) {
    let reader = &mut loader.reader;
    report_unknown(reader, bound);
    let (name, name_span) = read_name(reader, path, source, bound);
    let version = read_version(reader, bound);
    let description = read_description(reader, bound);
    let mut metadata = match bound.get("metadata") {
        Some(entry) => read_root_metadata(reader, &entry),
        None => Map::new(),
    };
    for key in ["tags", "author", "license"] {
        move_to_metadata(reader, bound, key, &mut metadata);
    }
    let verdicts = match bound.get("verdicts") {
        Some(entry) => read_verdicts(reader, &entry),
        None => Verdicts::default(),
    };
    let (level, trials) = read_level(loader, bound, None);
    let written = bound.get("trials").and_then(|entry| read_trials(&mut loader.reader, &entry));
    loader.defaults.trials = written.or(trials);
    let skills = bound.get("skills").and_then(|entry| read_skills(&mut loader.reader, &entry));
    let arms = bound.get("arms").map(|entry| read_arms(loader, &entry, &level));
    let arms = arms.unwrap_or_default();
    let given = given_skills(&loader.reader, path, skills.as_deref(), &arms);
    loader.defaults.given_skills = given;
    let header = Header {
        skills,
        arms,
        name,
        name_span,
        version,
        description,
        metadata,
        execution: level.execution.clone(),
        verdicts,
    };
    (header, level)
}

/// What a suite file passes down: `assert`, `execution`, `input`, `input_files`, `workspace`.
pub(super) fn read_level<'p>(
    loader: &mut Loader<'_, '_>,
    bound: &Bound<'p>,
    parent: Option<&'p InheritedDefaults<'p>>,
) -> (InheritedDefaults<'p>, Option<u32>) {
    let mut level = loader.plain_level(parent);
    let reader = &mut loader.reader;
    if let Some(entry) = bound.get("assert") {
        let found = read_entries(reader, "assert", entry.value, 0);
        level.assertions = found.valid;
        level.faulty = !found.is_complete;
    }
    let mut trials = None;
    if let Some(entry) = bound.get("execution") {
        let found = read_execution(reader, &entry, bound);
        level.execution = found.execution;
        level.assertions.extend(found.assertions);
        level.faulty |= found.faulty;
        trials = found.trials;
        if let Some((key, _)) = written_in(Some(entry), "skip_defaults") {
            let message = "`skip_defaults` only has an effect in a test";
            reader.report(Diagnostic::new(&UNKNOWN_FIELD, key, message).help("remove it"));
        }
    }
    if let Some(entry) = bound.get("target") {
        move_to_execution(reader, bound, &entry, &mut level.execution);
    }
    if let Some(entry) = bound.get("input") {
        level.input = input::read_root_input(reader, &entry).unwrap_or_default();
        level.input_node = Some(entry.value);
    }
    if let Some(entry) = bound.get("input_files") {
        level.input_files = input::check_file_list(reader, &entry);
    }
    if let Some(entry) = bound.get("workspace") {
        level.workspace = loader.read_workspace(&entry);
    }
    (level, trials)
}

pub(super) fn report_unknown(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    bound.explain_unknown(reader.out, |key, _| unknown_root_field(key));
}

fn unknown_root_field(key: Node<'_>) -> Diagnostic {
    match key.scalar_text().unwrap_or("") {
        "preprocessors" | "depends_on" => unsupported_preparation(key),
        "requires" | "governance" | "category" => {
            unknown_field(key, &[ROOT_FIELDS]).help("move it to `metadata` to keep it for readers")
        }
        _ => unknown_field(key, &[ROOT_FIELDS]),
    }
}

/// A misspelt `tests` shows that the file is meant to be a suite, so its other unknown keys are
/// mistakes too. They would appear only after `tests` has been corrected.
fn report_other_typos(reader: &mut Reader<'_>, root: Node<'_>) {
    let bound = Bound::new(root, &[ROOT_FIELDS], &mut Diagnostics::new());
    let Some(tests) = bound.misspelt("tests") else {
        return;
    };
    bound.explain_unknown_but(Some(tests), reader.out, |key, _| unknown_root_field(key));
}

fn read_description(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<String> {
    let entry = bound.get("description")?;
    let text = reader.owned_text(&entry)?;
    let length = text.chars().count();
    if length > LONGEST_DESCRIPTION {
        let message = format!(
            "the description has {length} characters, at most {LONGEST_DESCRIPTION} are allowed"
        );
        let span = short_span(entry.value);
        reader.report(Diagnostic::new(&DESCRIPTION_TOO_LONG, span, message));
    }
    Some(text)
}

/// Only the version of an imported suite is looked at; its name and metadata are not used.
pub(super) fn check_imported(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    report_unknown(reader, bound);
    read_version(reader, bound);
}
