//! Where tests come from: the configuration itself, other files, CSV rows and scenarios.

use camino::{Utf8Path, Utf8PathBuf};

use crate::model::{Map, Value};
use crate::source::Span;

use super::super::foreign_file::{FileSyntax, ForeignFile};
use super::super::importer::Importer;
use super::super::located::{Located, LocatedData, LocatedEntry};
use super::file_value::FileReference;
use super::foo_test::FooTest;

const GENERATED: &str = "write the generated tests to a YAML, JSON or CSV file, and name that file";

/// More files are a mistake, such as two that name each other twice.
const MOST_FILES: usize = 1_000;

/// Every test with what it inherits; without any, one without variables.
pub(super) fn read_tests(
    importer: &mut Importer<'_>,
    root: &Located,
    directory: &Utf8Path,
) -> Option<Vec<FooTest>> {
    let empty = Located::at(&Value::Map(Map::new()), root.span.at_start());
    let default = default_test(importer, root, directory)?.unwrap_or_else(|| empty.clone());
    let mut written: Vec<Located> = Vec::new();
    if let Some(tests) = root.get("tests") {
        for entry in tests.one_or_more() {
            collect(importer, entry, directory, &mut TestFiles::default(), &mut written)?;
        }
    }
    let mut tests: Vec<FooTest> = Vec::new();
    for test in &written {
        let test = with_vars_of_files(importer, test, directory)?;
        tests.push(FooTest::merged(importer, &[&default, &test]));
    }
    let scenarios = scenarios(importer, root, directory)?;
    for scenario in &scenarios {
        let inner = scenario.get("tests").map(Located::one_or_more).unwrap_or_default();
        let mut listed: Vec<Located> = Vec::new();
        for entry in inner {
            collect(importer, entry, directory, &mut TestFiles::default(), &mut listed)?;
        }
        if listed.is_empty() {
            listed.push(empty.clone());
        }
        for data in scenario.get("config").map(Located::one_or_more).unwrap_or_default() {
            for test in &listed {
                tests.push(FooTest::merged(importer, &[&default, data, test]));
            }
        }
    }
    if tests.is_empty() && scenarios.is_empty() {
        tests.push(FooTest::merged(importer, &[&default, &empty]));
    }
    Some(tests)
}

/// The outer `None` is a refusal.
fn default_test(
    importer: &mut Importer<'_>,
    root: &Located,
    directory: &Utf8Path,
) -> Option<Option<Located>> {
    let Some(default) = root.first_of(&["defaultTest", "default_test"]) else { return Some(None) };
    match default.as_str() {
        Some(text) => {
            let path = text.strip_prefix("file://").unwrap_or(text);
            let file = importer.open(&directory.join(path), default.span)?;
            Some(Some(file.root))
        }
        None => Some(Some(default.clone())),
    }
}

/// Files of tests, which may name further files.
#[derive(Debug, Default)]
struct TestFiles {
    /// Those that are being read, outermost first.
    open: Vec<Utf8PathBuf>,
    read: usize,
}

/// Tests under one entry: a mapping, or the path of a file.
fn collect(
    importer: &mut Importer<'_>,
    entry: &Located,
    directory: &Utf8Path,
    files: &mut TestFiles,
    tests: &mut Vec<Located>,
) -> Option<()> {
    let generator = entry.get("path").filter(|_| entry.has("config") && !entry.has("vars"));
    let Some(written) = generator.unwrap_or(entry).as_str() else {
        if entry.is_map() {
            tests.push(entry.clone());
            return Some(());
        }
        return importer.refuse(
            entry.span,
            format!("expected a test, found {}", entry.type_name()),
            "a test is a mapping with `vars` and `assert`",
        );
    };
    let path = written.strip_prefix("file://").unwrap_or(written);
    let reference = FileReference::of_path(path, directory);
    let is_remote = ["http://", "https://", "huggingface://", "az://"]
        .iter()
        .any(|scheme| written.starts_with(scheme));
    if is_remote || reference.kind().is_code() || FileSyntax::of(&reference.path).is_none() {
        let message = format!("tests from `{written}` are made when promptfoo runs");
        return importer.refuse(entry.span, message, GENERATED);
    }
    let paths = importer.matching(&reference.path);
    if paths.is_empty() {
        let message = format!("no file matches `{path}`");
        return importer.refuse(
            entry.span,
            message,
            "paths start at the configuration's directory",
        );
    }
    for path in paths {
        files.read += 1;
        if files.open.contains(&path) || files.read > MOST_FILES {
            let message =
                format!("`{}` leads to itself, or to too many files", importer.shown(&path));
            return importer.refuse(entry.span, message, "name every file of tests once");
        }
        let file = importer.open(&path, entry.span)?;
        files.open.push(path);
        collect_file(importer, &file, directory, files, tests)?;
        files.open.pop();
    }
    Some(())
}

fn collect_file(
    importer: &mut Importer<'_>,
    file: &ForeignFile,
    directory: &Utf8Path,
    files: &mut TestFiles,
    tests: &mut Vec<Located>,
) -> Option<()> {
    if file.syntax == FileSyntax::Csv {
        for row in file.root.items() {
            let test = csv_test(importer, row);
            tests.push(test);
        }
        return Some(());
    }
    let list = file.root.get("tests").unwrap_or(&file.root);
    for entry in list.one_or_more() {
        collect(importer, entry, directory, files, tests)?;
    }
    Some(())
}

/// `vars` may name files whose values are the variables.
fn with_vars_of_files(
    importer: &mut Importer<'_>,
    test: &Located,
    directory: &Utf8Path,
) -> Option<Located> {
    let Some(vars) = test.get("vars").filter(|vars| !vars.is_map()) else {
        return Some(test.clone());
    };
    let mut entries: Vec<LocatedEntry> = Vec::new();
    for path in vars.texts() {
        let path = path.strip_prefix("file://").unwrap_or(&path).to_owned();
        for found in importer.matching(&directory.join(path)) {
            let file = importer.open(&found, vars.span)?;
            entries.extend(file.root.entries().iter().cloned());
        }
    }
    let mut test = test.clone();
    if let LocatedData::Map(own) = &mut test.data
        && let Some(slot) = own.iter_mut().find(|entry| entry.key == "vars")
    {
        slot.value = Located { span: slot.value.span, data: LocatedData::Map(entries) };
    }
    Some(test)
}

fn scenarios(
    importer: &mut Importer<'_>,
    root: &Located,
    directory: &Utf8Path,
) -> Option<Vec<Located>> {
    let mut found = Vec::new();
    for entry in root.get("scenarios").map(Located::one_or_more).unwrap_or_default() {
        let Some(written) = entry.as_str() else {
            found.push(entry.clone());
            continue;
        };
        let path = written.strip_prefix("file://").unwrap_or(written);
        for path in importer.matching(&directory.join(path)) {
            let file = importer.open(&path, entry.span)?;
            found.extend(file.root.one_or_more().iter().cloned());
        }
    }
    Some(found)
}

/// A row of a CSV file as a test. Columns that begin with `__` are not variables.
fn csv_test(importer: &mut Importer<'_>, row: &Located) -> Located {
    let span = row.span;
    let (mut vars, mut options, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
    let mut assertions: Vec<Located> = Vec::new();
    let mut thresholds: Vec<(usize, Located)> = Vec::new();
    let mut test: Vec<LocatedEntry> = Vec::new();
    let mut metric: Option<Located> = None;
    for entry in row.entries() {
        let text = entry.value.text().unwrap_or_default();
        let is_blank = text.trim().is_empty();
        let renamed = |key: &str| LocatedEntry { key: key.to_owned(), ..entry.clone() };
        match entry.key.as_str() {
            key if key.starts_with("__expected") && !is_blank => {
                assertions.push(expected_assertion(text.trim(), entry.value.span));
            }
            key if key.starts_with("__expected") => {}
            "__prefix" => options.push(renamed("prefix")),
            "__suffix" => options.push(renamed("suffix")),
            "__description" if is_blank => {}
            "__description" => test.push(renamed("description")),
            "__threshold" if !is_blank => test.push(renamed("threshold")),
            "__metric" if !is_blank => metric = Some(entry.value.clone()),
            "__providerOutput" if !is_blank => test.push(renamed("providerOutput")),
            "__threshold" | "__metric" | "__providerOutput" => {}
            key if key.starts_with("__metadata:") => {
                let name = &key["__metadata:".len()..];
                if !is_blank {
                    metadata.push(csv_metadata(entry, name, &text));
                }
            }
            key if key.starts_with("__config:") => {
                let which = key.split(':').nth(1).unwrap_or("").trim_start_matches("__expected");
                let which = which.parse::<usize>().unwrap_or(1).saturating_sub(1);
                thresholds.push((which, entry.value.clone()));
            }
            "__metadata" => {
                importer.loss(
                    "column",
                    entry.key_span,
                    "`__metadata` needs a key: `__metadata:NAME`",
                );
            }
            _ => vars.push(entry.clone()),
        }
    }
    for (which, value) in thresholds {
        if let Some(assertion) = assertions.get_mut(which) {
            set(assertion, "threshold", value);
        }
    }
    if let Some(metric) = metric {
        for assertion in &mut assertions {
            set(assertion, "metric", metric.clone());
        }
    }
    let mut add = |key: &str, data: LocatedData| {
        let value = Located { span, data };
        test.push(LocatedEntry { key: key.to_owned(), key_span: span, value });
    };
    add("vars", LocatedData::Map(vars));
    add("assert", LocatedData::List(assertions));
    add("options", LocatedData::Map(options));
    add("metadata", LocatedData::Map(metadata));
    Located { span, data: LocatedData::Map(test) }
}

fn set(assertion: &mut Located, key: &str, value: Located) {
    if let LocatedData::Map(entries) = &mut assertion.data {
        entries.retain(|entry| entry.key != key);
        entries.push(LocatedEntry { key: key.to_owned(), key_span: value.span, value });
    }
}

/// `name[]` is a list whose commas may have a backslash before them.
fn csv_metadata(entry: &LocatedEntry, name: &str, text: &str) -> LocatedEntry {
    let Some(name) = name.strip_suffix("[]") else {
        return LocatedEntry { key: name.to_owned(), ..entry.clone() };
    };
    let protected = text.replace("\\,", "\u{FDD0}");
    let items = protected.split(',').map(|item| item.trim().replace('\u{FDD0}', ","));
    let items: Vec<Value> = items.map(Value::from).collect();
    LocatedEntry {
        key: name.to_owned(),
        key_span: entry.key_span,
        value: Located::at(&items.into(), entry.value.span),
    }
}

/// `type:value`, `type(0.8):value`, `not-type:value`, or the text that the output must be.
fn expected_assertion(text: &str, span: Span) -> Located {
    let made = |kind: &str, value: Option<&str>, threshold: Option<&str>| {
        let mut map = Map::new().with("type", kind);
        map.insert_some("value", value);
        let threshold = threshold.and_then(crate::model::Number::parse);
        map.insert_some("threshold", threshold);
        Located::at(&map.into(), span)
    };
    for (prefix, kind) in [
        ("javascript:", "javascript"),
        ("fn:", "javascript"),
        ("eval:", "javascript"),
        ("python:", "python"),
        ("grade:", "llm-rubric"),
        ("llm-rubric:", "llm-rubric"),
    ] {
        if let Some(value) = text.strip_prefix(prefix) {
            return made(kind, Some(value.trim()), None);
        }
    }
    if let Some(path) = text.strip_prefix("file://") {
        let kind = if path.contains(".py") { "python" } else { "javascript" };
        return made(kind, Some(text), None);
    }
    let (head, value) = match text.split_once(':') {
        Some((head, value)) => (head, Some(value.trim())),
        None => (text, None),
    };
    let (kind, threshold) = match head.split_once('(') {
        Some((kind, rest)) => (kind, rest.strip_suffix(')')),
        None => (head, None),
    };
    let base = kind.strip_prefix("not-").unwrap_or(kind);
    if !super::foo_check::is_known_type(base) {
        return made("equals", Some(text), None);
    }
    let default = match base {
        "similar" => Some("0.8"),
        "latency" | "cost" | "levenshtein" => Some("0.75"),
        _ => None,
    };
    made(kind, value, threshold.or(default))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;
    use crate::source::SourceId;

    #[test]
    fn cells_become_assertions() {
        let span = Span::new(SourceId(0), 0, 0);
        for (text, json) in [
            ("Paris", r#"{"type":"equals","value":"Paris"}"#),
            ("contains: Hello", r#"{"type":"contains","value":"Hello"}"#),
            ("not-icontains:err", r#"{"type":"not-icontains","value":"err"}"#),
            ("similar(0.9):x", r#"{"type":"similar","value":"x","threshold":0.9}"#),
            ("levenshtein(5):abc", r#"{"type":"levenshtein","value":"abc","threshold":5}"#),
            ("is-json", r#"{"type":"is-json"}"#),
            ("fn:output.length > 3", r#"{"type":"javascript","value":"output.length > 3"}"#),
            ("grade: is kind", r#"{"type":"llm-rubric","value":"is kind"}"#),
            ("https://a.b", r#"{"type":"equals","value":"https://a.b"}"#),
            ("file://a.py:f", r#"{"type":"python","value":"file://a.py:f"}"#),
        ] {
            let found = expected_assertion(text, span).value().to_json(JsonStyle::Compact);
            assert_eq!(found, json, "{text}");
        }
    }
}
