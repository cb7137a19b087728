//! The root of a suite file (`FORMAT.md` 3.1).

use camino::Utf8Path;

use crate::access::{Reader, type_of, wrong_type};
use crate::assertion::read_entries;
use crate::diagnostic::{Diagnostic, Fix, Level as Grade, declare_codes};
use crate::model::{Execution, Map, Number, Value, Verdicts};
use crate::source::{SourceId, Span};
use crate::syntax::fields::{
    Bound, CONFLICTING_FIELDS, DEPRECATED_FIELD, Entry, Field, Shape, UNKNOWN_FIELD,
    UNSUPPORTED_FEATURE, shorten, unknown_field,
};
use crate::syntax::{Node, Scalar, edit};

use super::execution::{MOST_TRIALS, read_execution, read_trials};
use super::level::Level;
use super::load::{Header, Loader};
use super::metadata::{read_root_metadata, reserved_fault, wrong};
use super::{dialect, input, sidecar};

declare_codes! {
    MISSING_NAME = "missing-name", Error, Conformance, r#"The suite has no `name`. The directory of `EVAL.yaml`, or the file's own name, stands in.

## Example
```yaml
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: greeting
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Results carry the suite's name; a directory that is renamed should not tear its history apart.
"#;
    INVALID_NAME = "invalid-name", Error, Conformance, r#"The suite's name has other characters than `a`–`z`, `0`–`9` and `-`, does not begin with a letter, ends
with a hyphen, or is longer than 64 characters.

## Example
```yaml
name: Code Review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: code-review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
The name becomes part of file names and command lines.
"#;
    NAME_DOUBLE_HYPHEN = "name-double-hyphen", Note, Conformance, r#"The suite's name has two hyphens in a row. That is allowed here, but not by every reader of the format.

## Example
```yaml
name: code--review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: code-review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
The published schema of the format refuses such names.
"#;
    INVALID_VERSION = "invalid-version", Error, Conformance, r#"`version` is not `MAJOR.MINOR` or `MAJOR.MINOR.PATCH`.

## Example
```yaml
name: demo
version: "one"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
version: "1.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
It is the version of the format, and tells readers whether they understand the file.
"#;
    VERSION_NOT_STRING = "version-not-string", Warning, Conformance, r#"`version` is written as a number. It is read as text.

## Example
```yaml
name: demo
version: 1.0
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
version: "1.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
As numbers, `1.10` and `1.1` are the same version.
"#;
    UNSUPPORTED_VERSION = "unsupported-version", Blocking, Conformance, r#"The suite is written for another major version of the format.

## Example
```yaml
name: demo
version: "2.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
version: "1.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
A major version may give the same words another meaning.
"#;
    DESCRIPTION_TOO_LONG = "description-too-long", Error, Conformance, r#"The suite's description is longer than 2048 characters.

## Example
```text
description: |
  three pages of text
```

## Instead
```text
description: Two sentences; the rest stands in a README beside the suite.
```

## Why
Listings and reports show it in full.
"#;
    MISSING_TESTS = "missing-tests", Blocking, Shape, r#"The file has no `tests`, and no JSONL file of the same name lies beside it.

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
Without tests it is no suite, so nothing else in it is checked.
"#;
    INVALID_THRESHOLDS = "invalid-thresholds", Blocking, Shape, r#"The thresholds of `verdicts` are not 0 < borderline ≤ pass ≤ 1.

## Example
```yaml
name: demo
verdicts: {pass: 0.5, borderline: 0.7}
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
verdicts: {pass: 0.9, borderline: 0.7}
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
A score cannot be a pass before it is borderline.
"#;
}

pub static ROOT_FIELDS: &[Field] = &[
    Field::new(
        "name",
        Shape::Text,
        "name of the suite: lower-case letters, digits and hyphens",
    )
    .required(),
    Field::new(
        "tests",
        Shape::Ref("tests"),
        "the tests, or paths of files that hold them",
    )
    .old(&["evalcases", "eval_cases", "cases"]),
    Field::new(
        "version",
        Shape::OneOf(&[
            Shape::Text,
            Shape::Number {
                min: 1.0,
                max: f64::MAX,
            },
        ]),
        "version of the format; default \"1.0\"",
    ),
    Field::new(
        "description",
        Shape::Text,
        "what the suite covers; at most 2048 characters",
    ),
    Field::new(
        "metadata",
        Shape::Ref("metadata"),
        "free data; a few keys are reserved",
    ),
    Field::new(
        "execution",
        Shape::Ref("execution"),
        "how the tests are run",
    ),
    Field::new(
        "assert",
        Shape::Ref("assertion-list"),
        "assertions added to every test",
    )
    .old(&["assertions", "evaluators"]),
    Field::new(
        "input",
        Shape::Ref("input"),
        "messages put before every test's own input",
    ),
    Field::new(
        "input_files",
        Shape::List(&Shape::Text),
        "files for tests with a string input and no `input_files` of their own",
    ),
    Field::new(
        "verdicts",
        Shape::Fields(VERDICT_FIELDS),
        "score thresholds",
    ),
    Field::new(
        "trials",
        Shape::Integer {
            min: 1,
            max: MOST_TRIALS,
        },
        "how often each test is run",
    ),
    Field::new(
        "target",
        Shape::NonEmptyText,
        "old place of `execution.target`",
    ),
    Field::new(
        "tags",
        Shape::List(&Shape::Text),
        "old place of `metadata.tags`",
    ),
    Field::new("author", Shape::Text, "old place of `metadata.author`"),
    Field::new("license", Shape::Text, "old place of `metadata.license`"),
];

static VERDICT_FIELDS: &[Field] = &[
    Field::new(
        "pass",
        Shape::PositiveFraction,
        "scores from here on pass; default 0.8",
    ),
    Field::new(
        "borderline",
        Shape::PositiveFraction,
        "scores from here on are borderline; default 0.6",
    ),
    Field::new(
        "fail",
        Shape::Number { min: 0.0, max: 0.0 },
        "accepted only as 0",
    ),
];

const LONGEST_DESCRIPTION: usize = 2048;
const LONGEST_NAME: usize = 64;

/// The main file of a suite.
pub(super) fn load_root(
    loader: &mut Loader<'_, '_>,
    path: &Utf8Path,
    source: SourceId,
    root: Node<'_>,
) -> Option<Header> {
    if !root.is_mapping() {
        let message = format!(
            "a suite is a mapping with `name` and `tests`, found {}",
            type_of(root)
        );
        let span = crate::access::short_span(root);
        let diagnostic = Diagnostic::new(&crate::syntax::fields::WRONG_TYPE, span, message);
        loader.reader.report(match root.is_sequence() {
            true => {
                diagnostic.help("put the list under `tests:`; a bare list can only be imported")
            }
            false => diagnostic,
        });
        return None;
    }
    if let Some(diagnostic) = dialect::foreign(root, loader.origin) {
        loader.reader.report(diagnostic);
        return None;
    }
    let tests = tests_entry(root);
    if tests.is_none() && root.get("targets").is_some() {
        loader.is_targets_file = true;
        return None;
    }
    let partner = sidecar::partner_of(loader, path, tests);
    if tests.is_none() && partner.is_none() {
        loader.reader.report(missing_tests(root));
        return None;
    }
    let bound = Bound::new(root, &[ROOT_FIELDS], loader.reader.out);
    let (header, level) = read_header(loader, path, source, &bound);
    loader.root_metadata = header.metadata.clone();
    match partner {
        Some(jsonl) => {
            let place = bound
                .get("tests")
                .map_or(bound.head(), |entry| entry.value.span());
            loader.imported.insert(jsonl.clone());
            loader.read_jsonl_tests(&jsonl, &level, place);
        }
        None => {
            if let Some(entry) = bound.get("tests") {
                loader.read_tests(&entry, &level);
            }
        }
    }
    let place = bound
        .get("tests")
        .map_or(bound.head(), |entry| entry.key.span());
    loader.check_count(place);
    Some(header)
}

/// `tests` under any of its names, unless it is null.
pub(super) fn tests_entry(root: Node<'_>) -> Option<Node<'_>> {
    ["tests", "evalcases", "eval_cases", "cases"]
        .iter()
        .find_map(|name| root.get(name))
        .filter(|value| !value.is_null())
}

pub(super) fn missing_tests(root: Node<'_>) -> Diagnostic {
    let head = root
        .written_entries()
        .next()
        .map_or(root.span(), |(key, _)| key.span());
    let near = root.written_entries().find(|(key, _)| {
        crate::diagnostic::did_you_mean(key.scalar_text().unwrap_or(""), ["tests"]).is_some()
    });
    let diagnostic = Diagnostic::new(&MISSING_TESTS, head, "the file has no `tests`");
    match near {
        Some((key, _)) => diagnostic.related(key.span(), "did you mean `tests`?"),
        None => {
            diagnostic.help("add `tests`, a list of tests or the path of a file that holds them")
        }
    }
}

/// The header of the main file, and the level that its tests stand on.
pub(super) fn read_header<'p>(
    loader: &mut Loader<'_, '_>,
    path: &Utf8Path,
    source: SourceId,
    bound: &Bound<'p>,
) -> (Header, Level<'p>) {
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
    let written = bound
        .get("trials")
        .and_then(|entry| read_trials(&mut loader.reader, &entry));
    loader.root_trials = written.or(trials);
    let header = Header {
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

/// What a suite file hands down: `assert`, `execution`, `input`, `input_files`.
pub(super) fn read_level<'p>(
    loader: &mut Loader<'_, '_>,
    bound: &Bound<'p>,
    parent: Option<&'p Level<'p>>,
) -> (Level<'p>, Option<u32>) {
    let mut level = loader.plain_level(parent);
    let reader = &mut loader.reader;
    if let Some(entry) = bound.get("assert") {
        let found = read_entries(reader, "assert", entry.value, 0);
        level.assertions = found.sound;
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
            let message = "only a test takes `skip_defaults`; here it has no effect";
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
    (level, trials)
}

pub(super) fn report_unknown(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    for (key, _) in bound.unknown() {
        if reader.out.is_full() {
            reader.out.count_unkept(UNKNOWN_FIELD.level);
            continue;
        }
        let name = key.scalar_text().unwrap_or("");
        reader.report(match name {
            "workspace" | "preprocessors" | "depends_on" => Diagnostic::new(
                &UNSUPPORTED_FEATURE,
                key.span(),
                format!("`{name}` is not supported"),
            )
            .level(Grade::BlocksRun)
            .help("prepare the files before the run, or let the target's command do it"),
            "requires" | "governance" | "category" => unknown_field(key, &[ROOT_FIELDS])
                .help("keep it under `metadata` if it is for people"),
            _ => unknown_field(key, &[ROOT_FIELDS]),
        });
    }
}

fn read_name(
    reader: &mut Reader<'_>,
    path: &Utf8Path,
    source: SourceId,
    bound: &Bound<'_>,
) -> (String, Span) {
    let Some(entry) = bound.get("name") else {
        let name = derived_name(path);
        let help = match bound.misspelt("name") {
            Some(key) => format!("`{}` looks like it", key.scalar_text().unwrap_or("")),
            None => format!("add `name: {name}`"),
        };
        let span = match bound.node.written_entries().next() {
            Some(_) => bound.head(),
            None => Span::new(source, 0, 0),
        };
        reader.report(Diagnostic::new(&MISSING_NAME, span, "the suite has no `name`").help(help));
        return (name, span);
    };
    let span = entry.value.span();
    let Some(name) = reader.text(&entry) else {
        return (derived_name(path), span);
    };
    if !is_legal_name(&name) {
        let message = format!("`{}` is not a legal suite name", shorten(&name));
        let legal = legal_name(&name);
        let help = match legal.is_empty() {
            true => "use lower-case letters, digits and hyphens".to_owned(),
            false => format!("write `{legal}`: lower-case letters, digits and hyphens, at most 64"),
        };
        reader.report(Diagnostic::new(&INVALID_NAME, span, message).help(help));
    } else if name.contains("--") {
        let message = "the name has two hyphens in a row";
        reader.report(Diagnostic::new(&NAME_DOUBLE_HYPHEN, span, message));
    }
    (name.into_owned(), span)
}

/// `^[a-z]([a-z0-9-]*[a-z0-9])?$`, at most 64 characters.
fn is_legal_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    (1..=LONGEST_NAME).contains(&bytes.len())
        && bytes[0].is_ascii_lowercase()
        && bytes[bytes.len() - 1] != b'-'
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

/// The nearest legal name; empty when nothing is left.
pub(super) fn legal_name(text: &str) -> String {
    let mut name = String::new();
    for character in text.to_lowercase().chars() {
        match character {
            'a'..='z' | '0'..='9' => name.push(character),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let cut: String = name.chars().take(LONGEST_NAME).collect();
    cut.trim_end_matches('-').to_owned()
}

/// The directory of `EVAL.yaml`, or the stem, lower-cased, other characters turned into `-`.
pub(super) fn derived_name(path: &Utf8Path) -> String {
    let stem = path.file_stem().unwrap_or("");
    let is_plain = stem.eq_ignore_ascii_case("eval");
    let base = match path.parent().and_then(Utf8Path::file_name) {
        Some(directory) if is_plain => directory,
        _ if stem.to_ascii_lowercase().ends_with(".eval") => &stem[..stem.len() - 5],
        _ => stem,
    };
    base.to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() {
                c
            } else {
                '-'
            }
        })
        .collect()
}

fn read_version(reader: &mut Reader<'_>, bound: &Bound<'_>) -> String {
    let default = || "1.0".to_owned();
    let Some(entry) = bound.get("version") else {
        return default();
    };
    let node = entry.value;
    let text = match node.scalar() {
        Some(Scalar::Int(text) | Scalar::Float(text)) => {
            let text = match text.contains('.') {
                true => text.to_owned(),
                false => format!("{text}.0"),
            };
            let diagnostic = Diagnostic::new(
                &VERSION_NOT_STRING,
                node.span(),
                "`version` is written as a number",
            );
            let diagnostic = diagnostic.help(format!("write `\"{text}\"`"));
            reader.report(match node.is_alias() {
                true => diagnostic,
                false => diagnostic.fix(Fix::replace(
                    "put it in quotes",
                    node.span(),
                    format!("\"{text}\""),
                )),
            });
            text
        }
        _ => match reader.text(&entry) {
            Some(text) => text.into_owned(),
            None => return default(),
        },
    };
    check_version(reader, &text, node.span());
    text
}

fn check_version(reader: &mut Reader<'_>, text: &str, span: Span) {
    let parts: Vec<&str> = text.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !(2..=3).contains(&parts.len()) || !parts.iter().all(is_number) {
        let message = format!("`{}` is not a version", shorten(text));
        let diagnostic = Diagnostic::new(&INVALID_VERSION, span, message);
        reader.report(diagnostic.help("write `\"1.0\"`: MAJOR.MINOR or MAJOR.MINOR.PATCH"));
    } else if parts[0].trim_start_matches('0') != "1" {
        let message = format!("version {text} of the format is not supported");
        reader.report(
            Diagnostic::new(&UNSUPPORTED_VERSION, span, message).help("evalrig reads version 1"),
        );
    }
}

fn read_description(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<String> {
    let entry = bound.get("description")?;
    let text = reader.owned_text(&entry)?;
    let length = text.chars().count();
    if length > LONGEST_DESCRIPTION {
        let message = format!(
            "the description has {length} characters, at most {LONGEST_DESCRIPTION} are allowed"
        );
        let span = crate::access::short_span(entry.value);
        reader.report(Diagnostic::new(&DESCRIPTION_TOO_LONG, span, message));
    }
    Some(text)
}

/// An old root key whose place is in `metadata`.
fn move_to_metadata(reader: &mut Reader<'_>, bound: &Bound<'_>, key: &str, metadata: &mut Map) {
    let Some(entry) = bound.get(key) else { return };
    if let Some((other, _)) = written_in(bound.get("metadata"), key) {
        reader.report(two_places(entry.key.span(), key, "metadata", other));
        return;
    }
    let fix = edit::move_into(bound, key, "metadata");
    reader.report(old_place(&entry, "metadata", fix));
    let value: Value = reader.value(key, entry.value);
    match reserved_fault(key, &value) {
        Some(wants) => reader.report(wrong(key, entry.value, wants)),
        None => metadata.insert(key, value),
    }
}

fn move_to_execution(
    reader: &mut Reader<'_>,
    bound: &Bound<'_>,
    entry: &Entry<'_>,
    execution: &mut Execution,
) {
    if let Some((other, _)) = written_in(bound.get("execution"), "target") {
        reader.report(two_places(entry.key.span(), "target", "execution", other));
        return;
    }
    let fix = edit::move_into(bound, "target", "execution");
    reader.report(old_place(entry, "execution", fix));
    execution.target = reader.target_name(entry).map(|name| name.value);
}

fn written_in<'t>(outer: Option<Entry<'t>>, key: &str) -> Option<(Span, Node<'t>)> {
    let mapping = outer?.value;
    let (key, value) = mapping
        .entries()
        .into_iter()
        .find(|(name, value)| name.scalar_text() == Some(key) && !value.is_null())?;
    Some((key.span(), value))
}

fn two_places(span: Span, key: &str, home: &str, other: Span) -> Diagnostic {
    let message = format!("`{key}` and `{home}.{key}` are two spellings of one field");
    Diagnostic::new(&CONFLICTING_FIELDS, span, message)
        .related(other, "the other one")
        .help(format!("keep `{home}.{key}`"))
}

fn old_place(entry: &Entry<'_>, home: &str, fix: Option<Fix>) -> Diagnostic {
    let key = entry.field.name;
    let message = format!("`{key}` at the root is an old spelling of `{home}.{key}`");
    Diagnostic::new(&DEPRECATED_FIELD, entry.key.span(), message)
        .help(format!("write it under `{home}:`"))
        .fix_if(fix)
}

fn read_verdicts(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Verdicts {
    if !entry.value.is_mapping() {
        reader.report(wrong_type("verdicts", entry.value, "a mapping"));
        return Verdicts::default();
    }
    let bound = Bound::new(entry.value, &[VERDICT_FIELDS], reader.out);
    bound.report_unknown(&[VERDICT_FIELDS], reader.out);
    let mut number = |name: &str, default: Number| match bound.get(name) {
        Some(entry) => reader.number(&entry, f64::MIN, f64::MAX),
        None => Some(default),
    };
    let pass = number("pass", Verdicts::default_pass());
    let borderline = number("borderline", Verdicts::default_borderline());
    let fail = number("fail", 0.into());
    let (Some(pass), Some(borderline), Some(fail)) = (pass, borderline, fail) else {
        return Verdicts::default();
    };
    if fail.value() != 0.0
        && let Some(entry) = bound.get("fail")
    {
        let message = "`fail` is accepted only as 0";
        let span = crate::access::short_span(entry.value);
        let help = "remove it: every score below `borderline` fails";
        reader.report(Diagnostic::new(&INVALID_THRESHOLDS, span, message).help(help));
    }
    let shown = format!("pass {pass}, borderline {borderline}");
    Verdicts::new(pass, borderline).unwrap_or_else(|| {
        let message = format!("the thresholds do not fit together: {shown}");
        let help = "they must be 0 < borderline <= pass <= 1; the defaults are 0.6 and 0.8";
        let span = crate::access::short_span(entry.value);
        reader.report(Diagnostic::new(&INVALID_THRESHOLDS, span, message).help(help));
        Verdicts::default()
    })
}

/// Only the version of an imported suite is looked at; its name and metadata are not used.
pub(super) fn check_imported(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    report_unknown(reader, bound);
    read_version(reader, bound);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_directory_or_the_stem() {
        assert_eq!(
            derived_name("/p/Code Review/EVAL.yaml".into()),
            "code-review"
        );
        assert_eq!(derived_name("/p/x/eval.yml".into()), "x");
        assert_eq!(derived_name("/p/smoke.eval.yaml".into()), "smoke");
        assert_eq!(derived_name("/p/data_set.yaml".into()), "data-set");
    }

    #[test]
    fn legal_names() {
        for name in ["a", "a1", "code-review", "a--b"] {
            assert!(is_legal_name(name), "{name}");
        }
        for name in ["", "1a", "A", "a-", "-a", "a b", "é", &"a".repeat(65)] {
            assert!(!is_legal_name(name), "{name}");
        }
        assert_eq!(legal_name("1. Code Review!"), "code-review");
    }
}
