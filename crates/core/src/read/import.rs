//! `tests` in all its forms, and the files it names (spec 2.3).

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::reader::{
    FileUse, INVALID_PATH, Resolved, malformed_path, short_span, type_of, wrong_type,
};
use crate::source::{EntryKind, Span};
use crate::syntax::fields::{Bound, Entry, WRONG_TYPE};
use crate::syntax::{Node, Scalar};

use super::dialect;
use super::inherited_defaults::InheritedDefaults;
use super::loader::Loader;
use super::pattern::{PathPattern, fixed_part, is_pattern};
use super::suite::{ROOT_FIELDS, check_imported, missing_tests, read_level, tests_entry};
use super::test::{LineRetention, not_a_test};

declare_codes! {
    UNSUPPORTED_IMPORT = "unsupported-import", Blocking, Reference, r#"`tests` names a directory, or a file that is not YAML, JSON or JSONL.

## Example
```yaml
name: demo
tests: [./cases.csv]
```
```csv cases.csv
id,input
```

## Instead
```yaml
name: demo
tests: [./cases.yaml]
```
```yaml cases.yaml
- {id: a, criteria: Greets, input: Hi}
```

## Why
Only these formats say which field is which.
"#;
    IMPORT_NO_MATCH = "import-no-match", Blocking, Reference, r#"A pattern in `tests` matches no file.

## Example
```yaml
name: demo
tests: ["cases/*.yaml"]
```

## Instead
```yaml
name: demo
tests: ["cases/*.yaml"]
```
```yaml cases/a.yaml
- {id: a, criteria: Greets, input: Hi}
```

## Why
The tests were moved, or the pattern is misspelt; either way they would silently stop running.
"#;
    DUPLICATE_IMPORT = "duplicate-import", Warning, Reference, r#"The same file is imported twice. It is loaded once.

## Example
```yaml
name: demo
tests: [./cases.yaml, ./cases.yaml]
```
```yaml cases.yaml
- {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
tests: [./cases.yaml]
```
```yaml cases.yaml
- {id: a, criteria: Greets, input: Hi}
```

## Why
Loaded twice, every id in it would clash with itself.
"#;
    IMPORT_CYCLE = "import-cycle", Blocking, Reference, r#"A file imports itself, directly or through others.

## Example
```yaml
name: demo
tests: [./more.yaml]
```
```yaml more.yaml
tests: [./EVAL.yaml]
```

## Instead
```yaml
name: demo
tests: [./more.yaml]
```
```yaml more.yaml
- {id: a, criteria: Greets, input: Hi}
```

## Why
Such a suite would never end.
"#;
    IMPORT_DEPTH = "import-depth", Blocking, Reference, r#"Files import each other more than 16 levels deep.

## Example
```text
a.yaml imports b.yaml, which imports c.yaml, and so on to q.yaml
```

## Instead
```text
EVAL.yaml imports a.yaml to q.yaml itself
```

## Why
With so many levels it becomes unclear where a test comes from.
"#;
    IMPORT_LIMIT = "import-limit", Blocking, Reference, r#"The patterns of a suite look at too many files: one of them matches more than 100,000, a directory has more than 1,000,000 files below it, or there are too many patterns for so many files.

## Example
```text
tests: ["**/*"] in a directory with a million files
```

## Instead
```text
tests: ["cases/*.yaml"]
```

## Why
Every pattern is compared with every file below the directory in which it begins. Such a suite would take
minutes to load.
"#;
    UNDECODABLE_NAME = "undecodable-name", Warning, Reference, r#"A file or directory in the way of a pattern has a name that is not UTF-8. It is skipped.

## Example
```text
tests: ["cases/*.yaml"], and a file whose name contains the byte FF in cases
```

## Instead
```text
the same file with a name in UTF-8
```

## Why
No path can name such a file. Without this warning its tests would silently not run.
"#;
}

const DEEPEST: usize = 16;

impl Loader<'_, '_> {
    /// Tests are missing for the reason that the diagnostic gives.
    fn fail_import(&mut self, diagnostic: Diagnostic) {
        self.import_failed = true;
        self.reader.report(diagnostic);
    }

    /// A list of tests and paths, or one path.
    pub(super) fn read_tests(&mut self, entry: &Entry<'_>, level: &InheritedDefaults<'_>) {
        let node = entry.value;
        match node.scalar() {
            Some(Scalar::Str(_)) => self.import(node, level),
            _ if node.is_sequence() => self.read_items(node, level),
            _ => {
                let wants = "a list of tests, or the path of a file that contains them";
                self.fail_import(wrong_type(entry.field.name, node, wants));
            }
        }
    }

    fn read_items(&mut self, list: Node<'_>, level: &InheritedDefaults<'_>) {
        for item in list.items() {
            match item.scalar() {
                Some(Scalar::Str(_)) => self.import(item, level),
                None if item.is_mapping() => self.read_test(item, level, &LineRetention::Kept),
                _ => self.fail_import(not_a_test(item)),
            }
        }
    }

    /// A path or pattern among the tests.
    fn import(&mut self, node: Node<'_>, level: &InheritedDefaults<'_>) {
        let Some(text) = self.reader.text_of("tests", node) else {
            self.import_failed = true;
            return;
        };
        let span = node.span();
        let path = text.strip_prefix("file://").unwrap_or(&text);
        if is_pattern(path) {
            self.import_pattern(path, span, level);
            return;
        }
        match self.reader.resolve(path, span, Level::Blocking) {
            Some(Resolved(found)) => self.import_file(&found, path, span, level),
            None => self.import_failed = true,
        }
    }

    fn import_pattern(&mut self, pattern: &str, span: Span, level: &InheritedDefaults<'_>) {
        let before = self.reader.out.len();
        let matches = self.matching_files(pattern, span);
        if matches.is_empty() {
            self.import_failed = true;
            if self.reader.out.len() == before {
                let message = format!("no file matches `{pattern}`");
                self.reader.report(
                    Diagnostic::new(&IMPORT_NO_MATCH, span, message)
                        .help("patterns start at the directory of this file"),
                );
            }
        }
        for path in matches {
            let written = self.as_written(&path);
            if self.reader.refuse_outside(&path, &written, span, Level::Blocking) {
                self.import_failed = true;
                continue;
            }
            self.import_file(&path, &written, span, level);
        }
    }

    /// How an import would name a file.
    fn as_written(&self, path: &Utf8Path) -> String {
        let (here, root) = (&self.reader.directory, &self.reader.root);
        match (path.strip_prefix(here), path.strip_prefix(root)) {
            (Ok(below), _) => below.to_string(),
            (_, Ok(below)) => format!("/{below}"),
            _ => path.to_string(),
        }
    }

    /// In byte order, without the importing file. Directories whose files do not match are among
    /// them: no test can be read from one, and that is to be said.
    fn matching_files(&mut self, pattern: &str, span: Span) -> Vec<Utf8PathBuf> {
        if let Some(fault) = malformed_path(pattern) {
            self.reader.report(Diagnostic::new(&INVALID_PATH, span, fault));
            return Vec::new();
        }
        let fixed = fixed_part(pattern);
        let start = match fixed {
            "" => Some(Resolved(self.reader.directory.clone())),
            fixed => self.reader.resolve(fixed, span, Level::Blocking),
        };
        let Some(Resolved(start)) = start else {
            return Vec::new();
        };
        let rest = &pattern[fixed.len()..];
        let Some(pattern) = PathPattern::new(&start, rest) else {
            let message = format!("`{pattern}` is not a pattern");
            self.reader.report(Diagnostic::new(&IMPORT_NO_MATCH, span, message));
            return Vec::new();
        };
        let (files, reach) = (self.reader.world.files, self.reader.policy.reach(&self.reader.root));
        let searched = self.trees.search(files, reach, &start, &pattern);
        for name in searched.undecodable {
            let shown = self.reader.shown(&name);
            let message = format!("`{shown}` is skipped: its name is not UTF-8");
            self.reader.report(Diagnostic::new(&UNDECODABLE_NAME, span, message));
        }
        if let Some(limit) = searched.limit {
            self.import_failed = true;
            let help = "begin the pattern in a directory with fewer files, or name the files";
            self.reader.report(Diagnostic::new(&IMPORT_LIMIT, span, limit.message()).help(help));
            return Vec::new();
        }
        let mut found = searched.found;
        let own = self.chain.last().cloned();
        found.retain(|path| Some(path) != own.as_ref());
        found.sort();
        found
    }

    fn import_file(
        &mut self,
        path: &Utf8Path,
        written: &str,
        span: Span,
        level: &InheritedDefaults<'_>,
    ) {
        if self.chain.iter().any(|open| open == path) {
            return self.fail_import(self.cycle(path, span));
        }
        if self.chain.len() > DEEPEST {
            let message = format!("files import each other more than {DEEPEST} levels deep");
            return self.fail_import(Diagnostic::new(&IMPORT_DEPTH, span, message));
        }
        let extension = path.extension().map(str::to_ascii_lowercase);
        let is_jsonl = extension.as_deref() == Some("jsonl");
        let is_known = is_jsonl || matches!(extension.as_deref(), Some("yaml" | "yml" | "json"));
        let kind = self.reader.kind_of(path);
        if !is_known || kind == Some(EntryKind::Directory) {
            return self.fail_import(unsupported(path, written, span, kind));
        }
        if !self.reader.check_file(path, written, span, FileUse::Import) {
            self.import_failed = true;
            return;
        }
        if !self.imported.insert(path.to_owned()) {
            let message =
                format!("`{}` is imported twice; it is loaded once", self.reader.shown(path));
            self.reader
                .report(Diagnostic::new(&DUPLICATE_IMPORT, span, message).help("remove one"));
            return;
        }
        self.chain.push(path.to_owned());
        let directory = path.parent().unwrap_or(path).to_owned();
        self.within(&directory, |loader| {
            if is_jsonl {
                loader.read_jsonl_tests(path, level, span);
            } else {
                loader.import_yaml(path, level);
            }
        });
        self.chain.pop();
    }

    /// A list of tests, a suite, or one test.
    fn import_yaml(&mut self, path: &Utf8Path, level: &InheritedDefaults<'_>) {
        let Some((_, tree)) = self.parse_yaml_file(path) else {
            self.import_failed = true;
            return;
        };
        let root = tree.root();
        if root.is_sequence() {
            let inner = self.plain_level(Some(level));
            self.read_items(root, &inner);
        } else if !root.is_mapping() {
            let found = type_of(root);
            let message = format!(
                "an imported file holds a list of tests, a suite or one test, found {found}"
            );
            self.fail_import(Diagnostic::new(&WRONG_TYPE, short_span(root), message));
        } else if let Some(diagnostic) = dialect::foreign_import(root, &self.file_of(root)) {
            self.fail_import(diagnostic);
        } else if tests_entry(root).is_some() {
            self.import_suite(root, level);
        } else if root.get("id").is_some() {
            let inner = self.plain_level(Some(level));
            self.read_test(root, &inner, &LineRetention::Kept);
        } else {
            self.fail_import(missing_tests(root));
        }
    }

    fn import_suite(&mut self, root: Node<'_>, level: &InheritedDefaults<'_>) {
        let bound = Bound::new(root, &[ROOT_FIELDS], self.reader.out);
        check_imported(&mut self.reader, &bound);
        let (inner, _) = read_level(self, &bound, Some(level));
        if let Some(entry) = bound.get("tests") {
            self.read_tests(&entry, &inner);
        }
    }

    fn cycle(&self, path: &Utf8Path, span: Span) -> Diagnostic {
        let from = self.chain.iter().position(|open| open == path).unwrap_or(0);
        let mut names: Vec<String> =
            self.chain[from..].iter().map(|open| self.reader.shown(open).into_string()).collect();
        names.push(self.reader.shown(path).into_string());
        let message = format!("this import leads back to itself: {}", names.join(" → "));
        Diagnostic::new(&IMPORT_CYCLE, span, message).help("remove one of these imports")
    }
}

fn unsupported(path: &Utf8Path, written: &str, span: Span, kind: Option<EntryKind>) -> Diagnostic {
    if kind == Some(EntryKind::Directory) {
        let help = format!("name its files: `{}/*.yaml`", written.trim_end_matches('/'));
        let message = format!("`{written}` is a directory");
        return Diagnostic::new(&UNSUPPORTED_IMPORT, span, message).help(help);
    }
    let name = path.file_name().unwrap_or(written);
    let message = format!("tests cannot be read from `{name}`");
    Diagnostic::new(&UNSUPPORTED_IMPORT, span, message)
        .help("tests are read from `.yaml`, `.yml`, `.json` and `.jsonl` files")
}
