//! `files`: what the agent did to the files of its workspace (spec 17.5).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Check, CommonOptions, Evidence, EvidencePart, Fault, FileChanges, GradingContext, Map, Marks,
    Score, Step, TestView, WorkspaceFiles, WorkspaceView,
};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::{Span, Spanned};
use crate::syntax::fields::{Field, MISSING_OPTION, Shape};

use super::excerpt::excerpt;
use super::file_pattern::{FilePattern, listed};
use super::finding::{Finding, FindingList};
use super::kind::{AssertionKind, EntryContext};
use super::subject::missing_workspace;
use super::text_value::{empty_value, quoted};

declare_codes! {
    UNMATCHED_GLOB = "unmatched-glob", Warning, Assertion, r#"A pattern of `files` can never match: it is about an old file that is not in the template, a new file that is in the
template, a change of an ignored file, or a file in `.git`.

## Example
```yaml
name: demo
workspace: ./shop
tests:
  - id: a
    criteria: Fixes the sum
    input: Fix the sum
    assert:
      - {type: files, modified: [cart.js]}
```
```js shop/src/cart.js
let total = 0
```

## Instead
```yaml
name: demo
workspace: ./shop
tests:
  - id: a
    criteria: Fixes the sum
    input: Fix the sum
    assert:
      - {type: files, modified: [src/cart.js]}
```
```js shop/src/cart.js
let total = 0
```

## Why
A file that does not exist cannot be modified or deleted, and stays unchanged whatever the agent does; a file that
exists cannot be created. Changes of files that the workspace ignores are not recorded. Patterns start at the workspace;
`**/` matches any number of directories. Where repositories, hooks or attached files add to the template, only what
holds without knowing them is reported.
"#;
}

const GLOBS: Shape = Shape::NonEmptyList(&Shape::NonEmptyText);

static FIELDS: &[Field] = &[
    Field::new("exists", GLOBS, "patterns that match at least one file"),
    Field::new("absent", GLOBS, "patterns that match no file"),
    Field::new("created", GLOBS, "patterns that match at least one new file"),
    Field::new("modified", GLOBS, "patterns that match at least one changed file"),
    Field::new("deleted", GLOBS, "patterns that match at least one removed file"),
    Field::new("unchanged", GLOBS, "patterns that match no new, changed or removed file"),
    Field::new(
        "only",
        Shape::List(&Shape::NonEmptyText),
        "patterns outside which no file is new, changed or removed; `[]` for no change at all",
    ),
];

const NAMES: &[&str] = &["exists", "absent", "created", "modified", "deleted", "unchanged", "only"];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "files",
    FIELDS,
    read,
    "What the agent did to the files of its workspace. Every pattern is one statement, the whole list of `only`
too, and the score is the share of statements that hold. Patterns start at the workspace; `*` stops at `/`,
`**` does not. Only files are compared, not directories.

```yaml
workspace: {}
assert:
  - type: files
    created: [report.md]
    absent: [\"**/*.tmp\"]
    only: [report.md, \"data/**\"]
```
",
)
.needs_one_of(NAMES);

crate::words! {
    /// What a pattern says about the files that it matches.
    enum FileStatement {
        Exists = "exists",
        Absent = "absent",
        Created = "created",
        Modified = "modified",
        Deleted = "deleted",
        Unchanged = "unchanged",
    }
}

fn read(options: &mut Options<'_, '_, '_>, _: &mut EntryContext<'_>) -> ReadResult<Box<dyn Check>> {
    let mut statements = Vec::new();
    let mut is_valid = true;
    for word in FileStatement::WORDS {
        let Some(statement) = FileStatement::parse(word) else { continue };
        match read_globs(options, word) {
            Ok(globs) => {
                let globs = globs.unwrap_or_default().into_iter();
                statements.extend(globs.map(|pattern| Stated { statement, pattern }));
            }
            Err(Reported) => is_valid = false,
        }
    }
    let only = read_globs(options, "only")?;
    if !is_valid {
        return Err(Reported);
    }
    if statements.is_empty() && only.is_none() {
        let message = "`files` needs at least one of its options";
        let help =
            "add `created`, `modified`, `only` or another; `evalrig explain files` lists all";
        return Err(
            options.report(Diagnostic::new(&MISSING_OPTION, options.head(), message).help(help))
        );
    }
    Ok(Box::new(FilesCheck { statements, only }))
}

fn read_globs(
    options: &mut Options<'_, '_, '_>,
    name: &str,
) -> ReadResult<Option<Vec<FilePattern>>> {
    let Some(texts) = options.texts(name)? else {
        return Ok(None);
    };
    if texts.is_empty() && name != "only" {
        let span = options.require(name)?.value.span();
        let message = format!("`{name}` is empty");
        return Err(empty_value(options, span, message, "list patterns of files"));
    }
    let mut patterns = Vec::with_capacity(texts.len());
    let mut is_valid = true;
    for Spanned { value, span } in texts {
        let glob = options.reader.workspace_glob(&value, span);
        match glob.map(|glob| FilePattern::of(glob, span)) {
            Some(pattern) => patterns.push(pattern),
            None => is_valid = false,
        }
    }
    if is_valid { Ok(Some(patterns)) } else { Err(Reported) }
}

#[derive(Debug)]
struct Stated {
    statement: FileStatement,
    pattern: FilePattern,
}

/// What is known about the files of a case.
struct KnownFiles<'a> {
    changes: &'a FileChanges,
    /// `None` when it is gone.
    workspace: Option<&'a dyn WorkspaceFiles>,
}

impl<'a> KnownFiles<'a> {
    fn of(evidence: &Evidence<'a>) -> Result<Self, Fault> {
        let Some(changes) = &evidence.transcript.files else {
            return Err(Fault::not_measured("the files of the workspace"));
        };
        Ok(Self { changes, workspace: evidence.workspace })
    }

    /// The files that match, also those that are not evidence. Without the workspace, what the agent wrote is known to exist, and whether
    /// other files do is unknown.
    fn existing(&self, pattern: &FilePattern) -> Result<Vec<&'a str>, Fault> {
        if let Some(workspace) = self.workspace {
            return Ok(pattern.find(workspace.list()?));
        }
        let mut found = pattern.find(&self.changes.created);
        found.extend(pattern.find(&self.changes.modified));
        if found.is_empty() {
            return Err(Fault::not_measured("the workspace, which is gone"));
        }
        Ok(found)
    }

    /// Every change that fits, in words.
    fn changed(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let changes = self.changes;
        let lists = [
            ("created", &changes.created),
            ("modified", &changes.modified),
            ("deleted", &changes.deleted),
        ];
        let all = lists.into_iter().flat_map(|(what, paths)| {
            paths.iter().filter(|path| is_meant(path)).map(move |path| format!("{what} {path}"))
        });
        all.collect()
    }
}

impl Stated {
    fn check(&self, known: &KnownFiles<'_>) -> Result<Finding, Fault> {
        let pattern = &self.pattern;
        let text = excerpt(&pattern.text);
        let changes = known.changes;
        let finding = |holds, text| Finding { holds, text };
        Ok(match self.statement {
            FileStatement::Exists | FileStatement::Absent => {
                let found = known.existing(pattern)?;
                let (is_wanted, exists) =
                    (self.statement == FileStatement::Exists, !found.is_empty());
                let text = if exists {
                    format!("{} exists", pattern.with_names(&found))
                } else {
                    format!("No file matches '{text}'")
                };
                finding(is_wanted == exists, text)
            }
            FileStatement::Created => self.changed(&changes.created),
            FileStatement::Modified => self.changed(&changes.modified),
            FileStatement::Deleted => self.changed(&changes.deleted),
            FileStatement::Unchanged => {
                let changed = known.changed(|path| pattern.matches(path));
                if changed.is_empty() {
                    finding(true, format!("'{text}' is unchanged"))
                } else {
                    let changed = listed(changed.iter().map(String::as_str));
                    finding(false, format!("'{text}' was changed: {changed}"))
                }
            }
        })
    }

    fn changed(&self, paths: &[String]) -> Finding {
        let (found, what) = (self.pattern.find(paths), self.statement.word());
        if found.is_empty() {
            let text = excerpt(&self.pattern.text);
            return Finding {
                holds: false,
                text: format!("No file that matches '{text}' was {what}"),
            };
        }
        Finding { holds: true, text: format!("{} was {what}", self.pattern.with_names(&found)) }
    }

    /// Why no file can be what the pattern is about, and what to do.
    fn why_never(&self, workspace: &WorkspaceView<'_>) -> Option<(&'static str, &'static str)> {
        use FileStatement::{Absent, Created, Exists};
        let (pattern, literal) = (&self.pattern, self.pattern.literal());
        let is_about_changes = !matches!(self.statement, Exists | Absent);
        if pattern.is_in_git() {
            let help = "remove the pattern; `command` can run git in the workspace";
            return Some(("cannot match: `files` does not look into `.git`", help));
        }
        if is_about_changes && literal.is_some_and(|path| workspace.is_ignored(path)) {
            let help = "check it with `exists` or `absent`, or stop ignoring the file";
            return Some(("cannot match: changes of ignored files are not recorded", help));
        }
        let files = workspace.files?;
        let is_known = |path: &str| files.binary_search_by(|file| file.as_str().cmp(path)).is_ok();
        if self.statement == Created && literal.is_some_and(is_known) {
            let help = "use `modified`, or remove the file from the template";
            return Some(("is in the template, so it cannot be created", help));
        }
        // All others need a file that is there before the agent starts.
        let needs_file = is_about_changes && self.statement != Created;
        let help = "correct the pattern; it starts at the workspace";
        (needs_file && pattern.find(files).is_empty())
            .then_some(("matches no file of the template", help))
    }
}

#[derive(Debug)]
struct FilesCheck {
    statements: Vec<Stated>,
    only: Option<Vec<FilePattern>>,
}

impl FilesCheck {
    /// The patterns of each option, in the order of the options.
    fn patterns(&self) -> Vec<(&'static str, Vec<String>)> {
        let of = |statement: FileStatement| -> Vec<String> {
            let stated = self.statements.iter().filter(|one| one.statement == statement);
            stated.map(|one| one.pattern.text.clone()).collect()
        };
        let words = FileStatement::WORDS.iter().filter_map(|word| {
            let patterns = of(FileStatement::parse(word)?);
            (!patterns.is_empty()).then_some((*word, patterns))
        });
        let only = self.only.iter().map(|only| {
            ("only", only.iter().map(|pattern| pattern.text.clone()).collect::<Vec<_>>())
        });
        words.chain(only).collect()
    }

    fn check_only(&self, only: &[FilePattern], known: &KnownFiles<'_>) -> Finding {
        let outside = known.changed(|path| !only.iter().any(|pattern| pattern.matches(path)));
        let texts: Vec<String> = only.iter().map(|pattern| excerpt(&pattern.text).into()).collect();
        let (holds, texts) = (outside.is_empty(), quoted(&texts));
        let outside = listed(outside.iter().map(String::as_str));
        let text = match (holds, only.is_empty()) {
            (true, true) => "No file was changed".to_owned(),
            (true, false) => format!("No file outside {texts} was changed"),
            (false, true) => format!("Files were changed: {outside}"),
            (false, false) => format!("Files outside {texts} were changed: {outside}"),
        };
        Finding { holds, text }
    }

    fn marks(&self, evidence: &Evidence<'_>) -> Result<Marks, Fault> {
        let known = KnownFiles::of(evidence)?;
        let mut findings = FindingList::default();
        for stated in &self.statements {
            findings.add(stated.check(&known)?);
        }
        if let Some(only) = &self.only {
            findings.add(self.check_only(only, &known));
        }
        let (holding, all) = (findings.hits.len(), findings.hits.len() + findings.misses.len());
        Ok(findings.marks(Score::of_share(holding as f64 / all as f64)))
    }
}

impl Check for FilesCheck {
    fn options(&self) -> Map {
        let mut map = Map::new();
        for (name, patterns) in self.patterns() {
            map.insert(name, patterns);
        }
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        let parts: Vec<String> = self
            .patterns()
            .iter()
            .map(|(name, patterns)| match &patterns[..] {
                [] => format!("{name} nothing"),
                patterns => format!("{name} {}", patterns.join(", ")),
            })
            .collect();
        vec![format!("Files match: {}", parts.join("; "))]
    }

    fn parts(&self) -> Vec<EvidencePart> {
        let forbids = |one: &Stated| {
            matches!(one.statement, FileStatement::Absent | FileStatement::Unchanged)
        };
        let demands = self.only.is_some() || !self.statements.iter().all(forbids);
        if demands { vec![EvidencePart::Files] } else { Vec::new() }
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        self.marks(context.evidence).map_or_else(Step::from, Step::from)
    }

    fn diagnostics_in(&self, test: &TestView<'_>, span: Span) -> Vec<Diagnostic> {
        let Some(workspace) = test.workspace else {
            return missing_workspace("`files`", test, span).into_iter().collect();
        };
        let fault = |stated: &Stated| {
            let (reason, help) = stated.why_never(&workspace)?;
            let message = format!("`{}` {reason}", excerpt(&stated.pattern.text));
            let fault = Diagnostic::new(&UNMATCHED_GLOB, stated.pattern.span, message);
            Some(fault.related(test.span, "the test that it is applied to").help(help))
        };
        self.statements.iter().filter_map(fault).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MemoryWorkspace, Trial, read};
    use super::*;
    use crate::model::{FaultKind, Transcript};

    fn strings(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    fn transcript() -> Transcript {
        let files = FileChanges {
            created: strings(&["docs/new.md", "report.md"]),
            modified: strings(&["src/a.rs"]),
            deleted: strings(&["old.txt"]),
            ..FileChanges::default()
        };
        Transcript { files: Some(files), ..Transcript::of_text("Done") }
    }

    fn stored(options: &str) -> Trial {
        Trial::new(&format!("- {{type: files, {options}}}"), transcript())
    }

    fn trial(options: &str) -> Trial {
        let workspace = ["docs/new.md", "report.md", "src/a.rs", "src/b.rs"]
            .iter()
            .fold(MemoryWorkspace::new(), |files, path| files.with(path, ""));
        stored(options).inside(workspace)
    }

    #[test]
    fn every_statement_says_what_it_found() {
        for (options, holds, text) in [
            ("exists: [report.md]", true, "'report.md' exists"),
            ("exists: ['src/*.rs']", true, "'src/*.rs' (src/a.rs, src/b.rs) exists"),
            ("exists: ['*.rs']", false, "No file matches '*.rs'"),
            ("absent: ['**/*.tmp']", true, "No file matches '**/*.tmp'"),
            ("absent: [report.md]", false, "'report.md' exists"),
            ("created: ['**/*.md']", true, "'**/*.md' (docs/new.md, report.md) was created"),
            ("created: [src/a.rs]", false, "No file that matches 'src/a.rs' was created"),
            ("modified: [src/a.rs]", true, "'src/a.rs' was modified"),
            ("modified: [report.md]", false, "No file that matches 'report.md' was modified"),
            ("deleted: [./old.txt]", true, "'old.txt' was deleted"),
            ("deleted: [src/*]", false, "No file that matches 'src/*' was deleted"),
            ("unchanged: [src/b.rs]", true, "'src/b.rs' is unchanged"),
            (
                "unchanged: ['**']",
                false,
                "'**' was changed: created docs/new.md, created report.md, modified src/a.rs, deleted old.txt",
            ),
            (
                "only: ['*.md', 'docs/**', 'src/**', old.txt]",
                true,
                "No file outside '*.md', 'docs/**', 'src/**', 'old.txt' was changed",
            ),
            (
                "only: ['src/**', '*.md']",
                false,
                "Files outside 'src/**', '*.md' were changed: created docs/new.md, deleted old.txt",
            ),
            (
                "only: []",
                false,
                "Files were changed: created docs/new.md, created report.md, modified src/a.rs, deleted old.txt",
            ),
        ] {
            let marks = trial(options).marks();
            assert_eq!(marks.score, Score::when(holds), "{options}");
            let (found, other) =
                if holds { (marks.hits, marks.misses) } else { (marks.misses, marks.hits) };
            assert_eq!(found, [text], "{options}");
            assert!(other.is_empty());
        }
    }

    #[test]
    fn the_score_is_the_share_of_statements_and_only_is_one() {
        let marks = trial("exists: [report.md, none], only: ['src/**', 'docs/**']").marks();
        assert_eq!(marks.score.rounded(), 0.333_333);
        assert_eq!((marks.hits.len(), marks.misses.len()), (1, 2));
        let negated = trial("negate: true, absent: [report.md]").marks();
        assert_eq!(negated.score, Score::ONE);
        assert_eq!(negated.hits, ["'report.md' exists"]);
    }

    #[test]
    fn many_names_are_cut() {
        let mut transcript = transcript();
        if let Some(files) = &mut transcript.files {
            files.created = (0..100).map(|at| format!("f{at:03}")).collect();
        }
        let marks = Trial::new("- {type: files, only: [x]}", transcript).marks();
        assert!(marks.misses[0].ends_with("created f019 and 82 more"), "{}", marks.misses[0]);
    }

    #[test]
    fn a_stored_answer_suffices_for_what_the_changes_tell() {
        for options in ["created: [report.md]", "only: ['**']", "exists: [src/a.rs]"] {
            assert_eq!(stored(options).marks().score, Score::ONE, "{options}");
        }
        assert_eq!(stored("absent: [report.md]").marks().score, Score::ZERO);
        assert_eq!(stored("unchanged: ['src/*']").marks().score, Score::ZERO);
        for options in ["exists: [src/b.rs]", "absent: [none]", "created: [report.md], absent: [x]"]
        {
            assert_eq!(stored(options).fault().kind, FaultKind::NotMeasured, "{options}");
        }
        let without = Trial::new("- {type: files, only: []}", Transcript::of_text("a"));
        assert_eq!(without.fault().kind, FaultKind::NotMeasured);
    }

    #[test]
    fn options_and_sentences_keep_the_patterns() {
        let found = read("- {type: files, only: [], created: [./a, b/*], absent: [c]}");
        assert_eq!(found.names(), [""; 0]);
        assert_eq!(found.options(), r#"{"absent":["c"],"created":["a","b/*"],"only":[]}"#);
        assert_eq!(found.sentences(), ["Files match: absent c; created a, b/*; only nothing"]);
    }

    #[test]
    fn patterns_that_cannot_match_are_marked() {
        for (options, fault) in [
            ("created: ['../a', /b, c/]", vec!["invalid-glob"; 3]),
            ("created: ['a[']", vec!["invalid-glob"]),
            ("created: []", vec!["empty-value"]),
            ("created: a", vec!["wrong-type"]),
            ("x-a: 1", vec!["missing-option"]),
        ] {
            let found = read(&format!("- {{type: files, {options}}}"));
            assert_eq!(found.names(), fault, "{options}");
        }
    }
}
