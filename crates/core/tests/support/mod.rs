//! Loads suites from memory, for the tests of this folder. `/p` is the repository.
#![allow(dead_code, reason = "every test file uses another part of this support")]

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Code, Diagnostic, Diagnostics, Level};
use evalrig_core::export::{OutFile, TranspileOptions, transpile};
use evalrig_core::model::Loss;
use evalrig_core::model::{JsonStyle, Suite, Test, Value};
use evalrig_core::read::{CollectTests, Findings, LoadRequest, Origin, load, suite_root};
use evalrig_core::reader::{ReadPolicy, TargetNames, World};
use evalrig_core::source::{MemoryFiles, Sources, Variables};
use evalrig_core::syntax::parse_yaml;

/// Where every case lives.
pub const ROOT: &str = "/p";

/// Files and settings of one load.
#[derive(Debug, Clone)]
pub struct Project {
    files: Vec<(String, Vec<u8>)>,
    pub main: String,
    pub origin: Origin,
    pub has_git: bool,
    pub variables: Variables,
    pub limits: ReadPolicy,
    pub strict: bool,
}

/// One diagnostic with its place looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    pub line: u32,
    pub column: u32,
    pub code: &'static Code,
    pub level: Level,
    pub message: String,
    pub help: Option<String>,
    /// Lines of the related places.
    pub related: Vec<u32>,
    pub has_fix: bool,
    /// Position of the test it touches.
    pub test: Option<u32>,
}

/// The result of a load.
#[derive(Debug)]
pub struct Outcome {
    pub suite: Option<Suite>,
    pub seen: Vec<Seen>,
}

/// The suite that a file begins: itself, or the directory of the cases that it is one of.
fn suite_of(file: &str) -> String {
    let path = Utf8Path::new(file);
    let is_case = matches!(path.file_name(), Some("case.yaml" | "prompt.md"));
    let cases = path.parent().and_then(Utf8Path::parent).filter(|_| is_case);
    cases.filter(|path| !path.as_str().is_empty()).unwrap_or(path).to_string()
}

impl Project {
    /// A project whose suite is `EVAL.yaml`.
    pub fn new(suite: &str) -> Self {
        Self::named("EVAL.yaml", suite)
    }

    /// A project whose suite is this file.
    pub fn named(main: &str, text: impl Into<Vec<u8>>) -> Self {
        Self {
            files: vec![(main.to_owned(), text.into())],
            main: suite_of(main),
            origin: Origin::Named,
            has_git: true,
            variables: Variables::default(),
            limits: ReadPolicy::default(),
            strict: false,
        }
    }

    /// The text of the suite file itself.
    pub fn main_text(&self) -> Option<&str> {
        let (_, bytes) = self.files.iter().find(|(path, _)| *path == self.main)?;
        std::str::from_utf8(bytes).ok()
    }

    #[must_use]
    pub fn with(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((path.to_owned(), content.into()));
        self
    }

    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables = self.variables.with(name, value);
        self
    }

    /// The names that `.evalrig/targets.yaml` has, where there is one.
    #[must_use]
    pub fn with_targets_of_file(mut self) -> Self {
        let path = ".evalrig/targets.yaml";
        let found = self.files.iter().find(|(name, _)| name == path);
        if let Some((_, text)) = found {
            self.limits.targets = TargetNames::Known {
                names: target_names(text),
                file: Utf8Path::new(ROOT).join(path),
                skills: Vec::new(),
            };
        }
        self
    }

    pub fn load(&self) -> Outcome {
        let (suite, findings) = self.read(&self.memory());
        let (sources, diagnostics, _) = findings.into_parts();
        let seen = looked_up(&sources, &diagnostics);
        Outcome { suite, seen }
    }

    /// Loads and transpiles with the default options, which `change` may change.
    #[track_caller]
    pub fn transpile(&self, change: impl FnOnce(&mut TranspileOptions<'_>)) -> Made {
        let memory = self.memory();
        let (suite, findings) = self.read(&memory);
        let (sources, diagnostics, secrets) = findings.into_parts();
        let loading = looked_up(&sources, &diagnostics);
        let Some(suite) = suite else {
            panic!("the file is not a suite:\n{}", show(&loading));
        };
        let path = Utf8Path::new(ROOT).join(&self.main);
        let mut options = TranspileOptions::new(path.parent().unwrap_or(&path), ROOT.into());
        change(&mut options);
        let done = transpile(&suite, &sources, &secrets, &options);
        let lost = |loss: &Loss| Lost {
            kind: loss.kind,
            test: loss.test.as_ref().map(ToString::to_string).unwrap_or_default(),
            line: sources.position(loss.span).line,
        };
        Made {
            losses: done.losses.iter().map(lost).collect(),
            told: looked_up(&sources, &done.diagnostics),
            files: done.files,
            loading,
        }
    }

    fn memory(&self) -> MemoryFiles {
        let root = Utf8PathBuf::from(ROOT);
        let mut memory = MemoryFiles::new();
        if self.has_git {
            memory.insert(root.join(".git/HEAD"), b"ref: refs/heads/main\n".to_vec());
        }
        for (path, content) in &self.files {
            memory.insert(root.join(path), content.clone());
        }
        memory
    }

    /// The suite even if something blocks it, without its faulty tests.
    fn read(&self, memory: &MemoryFiles) -> (Option<Suite>, Findings) {
        let root = Utf8PathBuf::from(ROOT);
        let path = root.join(&self.main);
        let repository = suite_root(memory, &path);
        let world = World { files: memory, environment: &self.variables, working_directory: &root };
        let request = LoadRequest::new(world, &self.limits, &path, &repository).origin(self.origin);
        let findings = if self.strict { Findings::strict() } else { Findings::new() };
        let mut tests = CollectTests::default();
        let loaded = load(&request, findings, &mut tests);
        let header = loaded.header().cloned();
        let suite = header.map(|header| header.with_tests(tests.0));
        (suite, loaded.into_findings())
    }
}

/// The result of transpiling.
#[derive(Debug)]
pub struct Made {
    pub files: Vec<OutFile>,
    pub losses: Vec<Lost>,
    /// Reported while loading.
    pub loading: Vec<Seen>,
    /// Reported while transpiling.
    pub told: Vec<Seen>,
}

/// One loss with its place looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    pub kind: &'static str,
    pub test: String,
    pub line: u32,
}

impl Made {
    pub fn names(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.name.as_str()).collect()
    }

    pub fn told_names(&self) -> Vec<&'static str> {
        self.told.iter().map(|seen| seen.code.name).collect()
    }

    #[track_caller]
    pub fn text(&self, name: &str) -> &str {
        let file = self.files.iter().find(|file| file.name == name);
        let file = file.unwrap_or_else(|| panic!("no `{name}` among {:?}", self.names()));
        &file.text
    }

    #[track_caller]
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(self.text(name)).expect("what is written is JSON")
    }

    /// `kind test line` of each loss.
    pub fn lost(&self) -> Vec<String> {
        let lines = self.losses.iter();
        lines.map(|one| format!("{} {} {}", one.kind, one.test, one.line)).collect()
    }
}

fn looked_up(sources: &Sources, all: &[Diagnostic]) -> Vec<Seen> {
    all.iter().map(|found| look_up(sources, found)).collect()
}

fn look_up(sources: &Sources, found: &Diagnostic) -> Seen {
    let position = sources.position(found.span);
    let path = sources.get(found.span.source).path();
    Seen {
        path: path.strip_prefix(ROOT).unwrap_or(path).to_string(),
        line: position.line,
        column: position.column,
        code: found.code,
        level: found.level,
        message: found.message.clone(),
        help: found.help.clone(),
        related: found.related.iter().map(|related| sources.position(related.span).line).collect(),
        has_fix: found.fix.is_some(),
        test: found.test,
    }
}

fn target_names(text: &[u8]) -> std::collections::HashSet<String> {
    let text = String::from_utf8(text.to_vec()).expect("a targets file is UTF-8");
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let source = sources.add_file("/targets.yaml".into(), text, 0);
    let shared = sources.get(source).shared_text();
    let tree = parse_yaml(source, shared, &mut out).expect("a targets file is YAML");
    let list = tree.root().get("targets").expect("it has `targets`");
    list.items().filter_map(|target| target.get("name")?.scalar_text().map(str::to_owned)).collect()
}

impl Outcome {
    /// The names of what was reported, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.seen.iter().map(|seen| seen.code.name).collect()
    }

    /// The suite of a load that must have reported nothing.
    #[track_caller]
    pub fn clean(self) -> Suite {
        assert!(self.seen.is_empty(), "{}", show(&self.seen));
        self.suite.expect("a clean file is a suite")
    }

    /// The suite, whatever was reported beside it; the names must be these.
    #[track_caller]
    pub fn with_names(self, names: &[&str]) -> Suite {
        assert_eq!(self.names(), names, "{}", show(&self.seen));
        self.suite.expect("the file is a suite")
    }

    /// The only diagnostic.
    #[track_caller]
    pub fn only(&self) -> &Seen {
        match self.seen.as_slice() {
            [only] => only,
            _ => panic!("one diagnostic was expected:\n{}", show(&self.seen)),
        }
    }
}

/// One line per diagnostic, as the concise report has it.
pub fn show(seen: &[Seen]) -> String {
    seen.iter().map(|seen| format!("{seen}\n")).collect()
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}:{}:{} {}[{}] {}: {}",
            self.path,
            self.line,
            self.column,
            self.level.severity().word(),
            self.code.name,
            self.level.mark(),
            self.message
        )
    }
}

/// The test with this id.
#[track_caller]
pub fn test<'s>(suite: &'s Suite, id: &str) -> &'s Test {
    let found = suite.tests.iter().find(|test| test.id.as_str() == id);
    found.unwrap_or_else(|| panic!("no test `{id}`"))
}

/// The names of a test's assertions, in order.
pub fn assertion_names(test: &Test) -> Vec<&str> {
    test.assertions.iter().map(|placed| &*placed.name).collect()
}

pub fn json(value: &Value) -> String {
    value.to_json(JsonStyle::Compact)
}

/// The input as `show` prints it, one JSON text per message.
pub fn input_json(test: &Test) -> Vec<String> {
    test.input.iter().map(|message| json(&message.to_value())).collect()
}
