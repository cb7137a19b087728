//! Invariants of every suite in a corpus of public repositories. The corpus is not part of the
//! project: without it these tests print a note and pass (`cargo xtask corpus` prints the outcomes). Where it is
//! present, each test has at least as many files to look at as when it was written.
#![allow(clippy::print_stdout)]

use std::cell::Cell;
use std::convert::Infallible;
use std::sync::Arc;

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostics, Level, Severity};
use evalrig_core::model::{JsonStyle, Value};
use evalrig_core::repair::{Overlay, Repaired, repair};
use evalrig_core::schema::{self, Draft};
use evalrig_core::source::{Files, Reach, SourceId, Sources};
use evalrig_core::syntax::{EmitStyle, Node, Scalar, Tree, parse_json, parse_yaml, to_yaml};
use evalrig_run::disk::Disk;
use serde_json::{Value as Json, json};
use xtask::corpus::{Corpus, CorpusFile, Outcome, Read, read, without};

/// What the corpus has had since 2026-11-19: a test that finds less looks at the wrong files.
const LEAST_FILES: usize = 899;
const LEAST_WITH_WORKSPACE: usize = 40;
const LEAST_PREPARED: usize = 16;

/// Calls `check` for every file of the corpus and fails with all complaints at once.
fn for_every_file(check: impl Fn(&CorpusFile, &Read) -> Vec<String>) {
    let Some(corpus) = Corpus::find() else {
        println!("{}", Corpus::ABSENT);
        return;
    };
    let mut complaints = Vec::new();
    let count = corpus.suites().count();
    assert!(count >= LEAST_FILES, "the corpus has {count} files, fewer than {LEAST_FILES}");
    for file in corpus.suites() {
        let read = read(file, &file.path, &Disk);
        for complaint in check(file, &read) {
            complaints.push(format!("{}: {complaint}", file.name));
        }
    }
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

fn text_of(path: &Utf8Path, files: &dyn Files) -> String {
    let bytes = files.read(path, Reach::Anywhere, u64::MAX).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn every_file_is_read_or_refused_with_a_reason() {
    for_every_file(|file, read| {
        let outcome = Outcome::of(read);
        let mut complaints = Vec::new();
        if outcome == Outcome::NoSuite && file.role == "eval" {
            complaints.push("neither loaded nor refused".to_owned());
        }
        if file.kind == "foreign" && outcome != Outcome::Refused {
            complaints.push("a file of another tool was read".to_owned());
        }
        complaints
    });
}

#[test]
fn files_of_other_tools_are_recognised() {
    for_every_file(|file, read| {
        // A CI workflow with a suite's file name has no key of any dialect.
        let is_eval = file.kind == "foreign" && !file.name.contains("/workflows/");
        let names = read.names(|level| level == Level::Blocking);
        if is_eval && names != ["foreign-dialect"] {
            vec![format!("refused for {names:?}")]
        } else {
            Vec::new()
        }
    });
}

/// Why a suite with a `workspace` may be refused: for something else in it. `unsupported-feature` is not
/// here, because what is not supported may be a part of the workspace.
const NOT_ABOUT_WORKSPACES: &[&str] = &["duplicate-key", "missing-variable", "unsupported-import"];

#[test]
fn suites_with_a_workspace_are_read() {
    let (all, refused) = (Cell::new(0_usize), Cell::new(0_usize));
    for_every_file(|file, read| {
        let is_yaml = matches!(file.path.extension(), Some("yaml" | "yml"));
        let suite = is_yaml.then(|| parsed(&text_of(&file.path, &Disk), parse_yaml)).flatten();
        let has_workspace = suite.is_some_and(|suite| {
            let tests = suite.get("tests").and_then(Json::as_array);
            let mut tests = tests.into_iter().flatten();
            suite.get("workspace").is_some() || tests.any(|test| test.get("workspace").is_some())
        });
        if !has_workspace || file.kind == "foreign" {
            return Vec::new();
        }
        all.set(all.get() + 1);
        let Some(suite) = &read.suite else {
            refused.set(refused.get() + 1);
            let mut names = read.names(|level| level == Level::Blocking);
            names.retain(|name| !NOT_ABOUT_WORKSPACES.contains(name));
            let is_excused = names.is_empty();
            return if is_excused { Vec::new() } else { vec![format!("refused for {names:?}")] };
        };
        let is_known = suite.tests.iter().any(|test| test.workspace.is_some());
        if is_known { Vec::new() } else { vec!["no test has a workspace".to_owned()] }
    });
    let (all, refused) = (all.get(), refused.get());
    println!("{all} suites with a workspace, {refused} refused for other reasons");
    assert!(Corpus::find().is_none() || all - refused >= LEAST_WITH_WORKSPACE);
}

/// Hooks are left out: their scripts are not in the corpus, or do anything. Repositories need the network.
#[cfg(unix)]
#[test]
fn workspaces_prepare_if_their_template_is_there() {
    use evalrig_core::model::Workspace;
    use evalrig_run::workspace::{CaseFacts, JudgingFiles, Workspaces};

    let scratch = tempfile::tempdir().unwrap();
    let scratch = Utf8Path::from_path(scratch.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let workspaces = Workspaces::with_repo_cache(scratch, None);
    let prepared = Cell::new(0_usize);
    for_every_file(|_, read| {
        let tests = read.suite.iter().flat_map(|suite| &suite.tests);
        let wanted = tests.filter_map(|test| test.workspace.as_ref()).filter_map(|workspace| {
            let template = workspace.template.clone().filter(|path| path.is_dir())?;
            let ignore = workspace.ignore.clone();
            Some(Workspace { template: Some(template), ignore, ..Workspace::default() })
        });
        let mut complaints = Vec::new();
        for workspace in wanted {
            let root = workspace.template.as_ref().and_then(|path| path.parent()).unwrap();
            let facts = CaseFacts {
                root,
                reach: Reach::Inside(root),
                suite: "corpus",
                judging: &JudgingFiles::default(),
                test_id: "test",
                trial: 1,
                attempt: 1,
                input: &Json::Null,
                metadata: &Json::Null,
            };
            let changes = runtime.block_on(async {
                let case = workspaces.prepare(&workspace, &facts, &[], &[]).await?;
                case.changes().await
            });
            prepared.set(prepared.get() + 1);
            match changes {
                Ok(changes) if changes.is_empty() => {}
                Ok(changes) => complaints.push(format!("{changes:?}")),
                Err(fault) => complaints.push(fault.message),
            }
        }
        complaints
    });
    println!("{} workspaces prepared", prepared.get());
    assert!(Corpus::find().is_none() || prepared.get() >= LEAST_PREPARED);
}

/// All fixes, made in memory.
fn repaired(file: &CorpusFile) -> Repaired<'static, Read> {
    let again = |files: &dyn Files| Ok::<_, Infallible>(read(file, &file.path, files));
    let Ok(first) = again(&Disk);
    let Ok(repaired) = repair(&Disk, first, again);
    repaired
}

#[test]
fn fixes_leave_no_old_spelling_and_change_no_meaning() {
    for_every_file(|file, before| {
        let after = repaired(file);
        let mut complaints = Vec::new();
        if before.suite.is_some() {
            let left = after.reading.findings.diagnostics().iter();
            let old = left.filter(|one| one.code.name == "deprecated-field");
            complaints.extend(old.map(|one| {
                let place = after.reading.findings.sources().position(one.span);
                format!("still there, line {}: {}", place.line, one.message)
            }));
            let meant = sorted_text(before.shown(file, &Disk));
            let means = sorted_text(after.reading.shown(file, &after.files));
            if meant != means {
                complaints.push(format!("meaning changed: {}", difference(&meant, &means)));
            }
        }
        for (path, _) in after.files.texts() {
            complaints.extend(lost_comments(path, &after.files));
        }
        complaints
    });
}

/// Sorts keys: the order of moved entries has no meaning.
fn sorted_text(value: Option<Value>) -> String {
    value.map_or(String::new(), |value| value.to_json(JsonStyle::Sorted))
}

/// The first lines that differ.
fn difference(before: &str, after: &str) -> String {
    let mut lines = before.lines().zip(after.lines());
    let first = lines.find(|(before, after)| before != after);
    format!("{first:?}")
}

/// Comments that a repaired file no longer has.
fn lost_comments(path: &Utf8Path, files: &dyn Files) -> Vec<String> {
    let (before, after) = (text_of(path, &Disk), text_of(path, files));
    let mut kept = comments(&after);
    let mut lost = Vec::new();
    for comment in comments(&before) {
        match kept.iter().position(|other| *other == comment) {
            Some(at) => {
                kept.swap_remove(at);
            }
            None => lost.push(format!("lost in {path}: {comment}")),
        }
    }
    lost
}

/// Comments, and text that looks like one: both must be kept.
fn comments(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    let found = lines.filter_map(|line| {
        if line.starts_with('#') { Some(line) } else { line.find(" #").map(|at| &line[at + 1..]) }
    });
    found.collect()
}

#[test]
fn a_shown_suite_loads_again_as_the_same_suite() {
    for_every_file(|file, before| {
        let Some(document) = before.document(file, &Disk) else {
            return Vec::new();
        };
        let path = file.directory().join("shown-again.eval.yaml");
        let mut files = Overlay::new(&Disk);
        let text = to_yaml(&document, &EmitStyle::default());
        files.insert(path.clone(), text.into_bytes());
        let after = read(file, &path, &files);
        if after.suite.is_none() {
            let names = after.names(|level| level == Level::Blocking);
            return vec![format!("refused: {names:?}")];
        }
        let (mut first, mut second) = (before.shown(file, &Disk), after.shown(file, &files));
        if reaches_elsewhere(file, before) {
            // A script is named by another path from here, which the hash covers.
            first = first.map(|shown| without("testHash", shown));
            second = second.map(|shown| without("testHash", shown));
        }
        if first == second {
            Vec::new()
        } else {
            let (first, second) = (sorted_text(first), sorted_text(second));
            vec![difference(&first, &second)]
        }
    });
}

/// Whether an assertion is written in a file of another directory.
fn reaches_elsewhere(file: &CorpusFile, read: &Read) -> bool {
    let tests = read.suite.iter().flat_map(|suite| &suite.tests);
    let mut assertions = tests.flat_map(|test| &test.assertions);
    assertions.any(|named| {
        let source = read.findings.sources().get(named.assertion.common.span.source);
        source.path().parent() != Some(file.directory())
    })
}

/// Errors about other files, and errors that the test's own values remove.
const OUTSIDE_THE_SCHEMA: &[&str] = &[
    "attachment-too-large",
    "file-not-found",
    "invalid-name",
    "missing-criteria",
    "missing-name",
    "not-a-directory",
    "not-a-file",
    "nothing-to-grade",
    "path-outside-root",
    "script-not-found",
    "unknown-target",
    "unknown-template-variable",
];

#[test]
fn the_schema_accepts_what_validate_accepts() {
    let drafts = [Draft::D07, Draft::D2020].map(|draft| {
        let suites = validator(&schema::suite(draft));
        (draft, suites, validator(&schema::evals_json(draft)))
    });
    for_every_file(|file, read| {
        let errors = read.names(|level| level.severity() == Severity::Error);
        let is_accepted = errors.iter().all(|name| OUTSIDE_THE_SCHEMA.contains(name));
        if read.suite.is_none() || !is_accepted {
            return Vec::new();
        }
        let (Some(written), Some(shown)) = (data_of(file), shown_data(file, read)) else {
            return vec!["not parsed".to_owned()];
        };
        let is_evals_json = file.path.extension() == Some("json");
        let mut complaints = Vec::new();
        for (draft, suites, evals_json) in &drafts {
            let own = if is_evals_json { evals_json } else { suites };
            for (what, validator, data) in [("file", own, &written), ("shown", suites, &shown)] {
                complaints.extend(
                    validator.iter_errors(data).map(|fault| {
                        format!("{draft:?}, {what} {}: {fault}", fault.instance_path())
                    }),
                );
            }
        }
        complaints
    });
}

/// What `show --format yaml` prints.
fn shown_data(file: &CorpusFile, read: &Read) -> Option<Json> {
    let document = read.document(file, &Disk)?;
    let json = serde_json::from_str(&document.to_json(JsonStyle::Compact));
    json.ok().map(completed)
}

fn validator(schema: &Value) -> jsonschema::Validator {
    let json = serde_json::from_str(&schema.to_json(JsonStyle::Pretty)).expect("legal JSON");
    jsonschema::validator_for(&json).expect("a legal schema")
}

/// The document as a YAML tool passes it to a validator, with a valid name and criteria for every test.
fn data_of(file: &CorpusFile) -> Option<Json> {
    let text = text_of(&file.path, &Disk);
    match file.path.extension() {
        Some("json") => parsed(&text, parse_json),
        Some("jsonl") => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let tests: Option<Vec<Json>> = lines.map(|line| parsed(line, parse_json)).collect();
            Some(completed(json!({ "tests": tests? })))
        }
        _ => parsed(&text, parse_yaml).map(completed),
    }
}

type Parse = fn(SourceId, Arc<String>, &mut Diagnostics) -> Option<Tree>;

fn parsed(text: &str, parse: Parse) -> Option<Json> {
    let text = text.trim_start_matches('\u{feff}').to_owned();
    let mut sources = Sources::new();
    let source = sources.add_file("/data".into(), text.clone(), 0);
    let tree = parse(source, Arc::new(text), &mut Diagnostics::new())?;
    Some(to_json(tree.root()))
}

fn to_json(node: Node<'_>) -> Json {
    if node.is_sequence() {
        return node.items().map(to_json).collect();
    }
    if node.is_mapping() {
        let entries = node.entries().into_iter();
        let pairs = entries.map(|(key, value)| {
            let name = key.scalar_text().unwrap_or_default().to_owned();
            (name, to_json(value))
        });
        return Json::Object(pairs.collect());
    }
    match node.scalar() {
        None | Some(Scalar::Null) => Json::Null,
        Some(Scalar::Bool(value)) => Json::Bool(value),
        Some(Scalar::Int(text) | Scalar::Float(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text.parse::<f64>().ok()))
        }
        Some(Scalar::Str(text)) => Json::String(text.to_owned()),
    }
}

fn completed(mut suite: Json) -> Json {
    suite["name"] = json!("corpus");
    for key in ["tests", "evalcases", "eval_cases", "cases"] {
        let tests = suite.get_mut(key).and_then(Json::as_array_mut);
        for test in tests.into_iter().flatten().filter(|test| test.is_object()) {
            let says = |key: &str| test.get(key).is_some_and(|value| !value.is_null());
            if !says("criteria") && !says("expected_outcome") {
                test["criteria"] = json!("Does what it should");
            }
        }
    }
    suite
}
