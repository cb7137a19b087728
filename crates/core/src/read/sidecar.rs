//! JSONL suites and the YAML beside them (spec 2.2).

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::source::{Files, SourceId, Span, without_dots};
use crate::syntax::Node;
use crate::syntax::fields::Bound;

use super::dialect;
use super::load::{Header, Origin};
use super::loader::Loader;
use super::name::derived_name;
use super::suite::{ROOT_FIELDS, read_header, tests_entry};

declare_codes! {
    SIDECAR_HAS_TESTS = "sidecar-has-tests", Blocking, Shape, r#"The YAML file beside a JSONL file has tests of its own, so it is not clear which of them are the suite.

## Example
```jsonl dataset.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi"}
```
```yaml dataset.yaml
name: demo
tests:
  - {id: b, criteria: Greets, input: Hello}
```

## Instead
```jsonl dataset.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi"}
```
```yaml dataset.yaml
name: demo
```

## Why
A sidecar holds what all lines share. A suite of its own needs another name.
"#;
    CONFLICTING_SIDECARS = "conflicting-sidecars", Blocking, Reference, r#"A JSONL file has both a `.yaml` and a `.yml` file of its name beside it.

## Example
```jsonl dataset.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi"}
```
```yaml dataset.yaml
name: demo
```
```yaml dataset.yml
name: other
```

## Instead
```jsonl dataset.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi"}
```
```yaml dataset.yaml
name: demo
```

## Why
Only one of them can be the sidecar.
"#;
    MISSING_SIDECAR = "missing-sidecar", Warning, Reference, r#"A JSONL file has no sidecar: the suite has no name and no settings of its own. The file's name is used instead.

## Example
```jsonl dataset.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi"}
```

## Instead
```jsonl dataset.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi"}
```
```yaml dataset.yaml
name: demo
```

## Why
Results carry the suite's name, and assertions that all lines share can only be written in a sidecar.
"#;
}

/// A JSONL file named as a suite.
pub(super) fn load_jsonl(loader: &mut Loader<'_, '_>, path: &Utf8Path) -> Option<Header> {
    match sidecars_of(loader, path).as_slice() {
        [] => load_alone(loader, path),
        [sidecar] => load_with(loader, path, sidecar),
        _ => {
            let source = loader.reader.sources.reserve(path.to_owned().into());
            let message = "both a `.yaml` and a `.yml` file exist beside this one";
            loader.reader.refuse(conflicting(source, message))
        }
    }
}

fn sidecars_of(loader: &mut Loader<'_, '_>, jsonl: &Utf8Path) -> Vec<Utf8PathBuf> {
    ["yaml", "yml"]
        .iter()
        .map(|end| jsonl.with_extension(end))
        .filter(|sidecar| loader.is_file(sidecar))
        .collect()
}

/// Whether a JSONL file is beside a YAML file, which is its sidecar.
pub(crate) fn is_sidecar_of_list(files: &dyn Files, path: &Utf8Path) -> bool {
    files.kind(&path.with_extension("jsonl")).is_some()
}

fn conflicting(source: SourceId, message: &str) -> Diagnostic {
    Diagnostic::new(&CONFLICTING_SIDECARS, Span::new(source, 0, 0), message)
        .help("remove one of them")
}

/// The fault of a sidecar named as a suite, when its JSONL file has another one.
pub(super) fn second_sidecar(
    loader: &mut Loader<'_, '_>,
    source: SourceId,
    jsonl: &Utf8Path,
) -> Option<Diagnostic> {
    let is_alone = sidecars_of(loader, jsonl).len() < 2;
    let message = "its JSONL file has both a `.yaml` and a `.yml` file beside it";
    (!is_alone).then(|| conflicting(source, message))
}

fn load_alone(loader: &mut Loader<'_, '_>, path: &Utf8Path) -> Option<Header> {
    let source = loader.reader.sources.reserve(path.to_owned().into());
    let span = Span::new(source, 0, 0);
    let beside = path.with_extension("yaml");
    let message = "no YAML file beside this one names the suite";
    loader.reader.report(
        Diagnostic::new(&MISSING_SIDECAR, span, message)
            .help(format!("add `{}` with at least a `name`", beside.file_name().unwrap_or(""))),
    );
    let level = loader.plain_level(None);
    loader.read_jsonl_tests(path, &level, span);
    loader.check_count(span);
    Some(Header::bare(derived_name(path), span))
}

fn load_with(loader: &mut Loader<'_, '_>, path: &Utf8Path, sidecar: &Utf8Path) -> Option<Header> {
    let (source, tree) = loader.parse_yaml_file(sidecar)?;
    let root = tree.root();
    if !root.is_mapping() {
        let diagnostic = crate::reader::wrong_type("a sidecar", root, "a mapping");
        return loader.reader.refuse(diagnostic);
    }
    if let Some(diagnostic) = dialect::foreign(root, Origin::Named, &loader.file_of(root)) {
        return loader.reader.refuse(diagnostic);
    }
    if let Some(tests) = tests_entry(root)
        && !points_to(tests, sidecar, path, &loader.reader.root)
    {
        let message = "this file is the sidecar of a JSONL file, and has tests of its own";
        let span = crate::reader::short_span(tests);
        return loader.reader.refuse(
            Diagnostic::new(&SIDECAR_HAS_TESTS, span, message)
                .help("remove `tests`, or give this file another name"),
        );
    }
    let bound = Bound::new(root, &[ROOT_FIELDS], loader.reader.out);
    let (header, level) = read_header(loader, sidecar, source, &bound);
    loader.defaults.metadata = header.metadata.clone();
    loader.read_jsonl_tests(path, &level, bound.head());
    loader.check_count(bound.head());
    Some(header)
}

/// The JSONL file that a YAML file without other tests belongs to.
pub(super) fn partner_of(
    loader: &mut Loader<'_, '_>,
    path: &Utf8Path,
    tests: Option<Node<'_>>,
) -> Option<Utf8PathBuf> {
    let partner = path.with_extension("jsonl");
    match tests {
        None => loader.is_file(&partner).then_some(partner),
        Some(_) => None,
    }
}

/// Whether `tests` is the path of the JSONL file beside the sidecar.
fn points_to(tests: Node<'_>, sidecar: &Utf8Path, jsonl: &Utf8Path, root: &Utf8Path) -> bool {
    let single = if tests.is_sequence() {
        tests.items().next().filter(|_| tests.items().len() == 1)
    } else {
        Some(tests)
    };
    let Some(text) = single.and_then(Node::scalar_text) else {
        return false;
    };
    let text = text.strip_prefix("file://").unwrap_or(text);
    let named = match text.strip_prefix('/') {
        Some(rest) => root.join(rest),
        None => sidecar.parent().unwrap_or(sidecar).join(text),
    };
    without_dots(&named) == jsonl
}
