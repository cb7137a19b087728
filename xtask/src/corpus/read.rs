//! Reading one file of the corpus as `validate` and `show` do.

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostics, Level};
use evalrig_core::export;
use evalrig_core::model::{Suite, Value};
use evalrig_core::read::{CollectTests, Findings, LoadRequest, load};
use evalrig_core::reader::{EnvFiles, ReadPolicy, TargetNames, World};
use evalrig_core::repair::Reading;
use evalrig_core::source::{Files, Reach, Sources, Variables};
use evalrig_run::target::{find_targets_file, read_targets};

use super::CorpusFile;

/// The result of reading one file.
#[derive(Debug)]
pub struct Read {
    pub findings: Findings,
    /// `None` when the file is blocked or is not a suite.
    pub suite: Option<Suite>,
}

impl Reading for Read {
    fn diagnostics(&self) -> &Diagnostics {
        self.findings.diagnostics()
    }

    fn sources(&self) -> &Sources {
        self.findings.sources()
    }
}

/// Reads `path`, a file of the same repository as `file`. The environment is empty, so that the
/// result is the same on every machine.
pub fn read(file: &CorpusFile, path: &Utf8Path, files: &dyn Files) -> Read {
    let environment = Variables::default();
    let world = World { files, environment: &environment, working_directory: &file.root };
    let limits = ReadPolicy {
        allow_outside_root: false,
        env_files: EnvFiles::None,
        targets: target_names(file, world),
    };
    let request = LoadRequest::new(world, &limits, path, &file.root);
    let mut tests = CollectTests::default();
    let loaded = load(&request, Findings::new(), &mut tests);
    let is_blocked = loaded.findings().is_blocked();
    let header = loaded.header().filter(|_| !is_blocked).cloned();
    Read {
        suite: header.map(|header| header.with_tests(tests.0)),
        findings: loaded.into_findings(),
    }
}

/// The repository's own targets; the faults of that file are not the suite's.
fn target_names(file: &CorpusFile, world: World<'_>) -> TargetNames {
    let Some(path) = find_targets_file(world.files, file.directory(), &file.root, &file.root)
    else {
        return TargetNames::NoFile;
    };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let targets = read_targets(world, &mut sources, &mut out, &path, &file.root, Reach::Anywhere);
    targets.map_or(TargetNames::Unchecked, |targets| targets.target_names())
}

impl Read {
    /// What `show --format json` prints, without locations, which move when a file is edited.
    pub fn shown(&self, file: &CorpusFile, files: &dyn Files) -> Option<Value> {
        let suite = self.suite.as_ref()?;
        let context = self.context(file, files);
        Some(without("source", export::suite_value(suite, &context)))
    }

    /// What `show --format yaml` prints, as data.
    pub fn document(&self, file: &CorpusFile, files: &dyn Files) -> Option<Value> {
        let suite = self.suite.as_ref()?;
        let context = self.context(file, files);
        Some(export::suite_document(suite, &context, file.directory()))
    }

    fn context<'a>(&'a self, file: &'a CorpusFile, files: &'a dyn Files) -> export::Context<'a> {
        export::Context { files, sources: self.findings.sources(), root: &file.root }
    }

    /// Names of the diagnostics that fit, each as often as it was reported.
    pub fn names(&self, fits: impl Fn(Level) -> bool) -> Vec<&'static str> {
        let fitting = self.findings.diagnostics().iter().filter(|one| fits(one.level));
        fitting.map(|one| one.code.name).collect()
    }
}

/// A shown suite whose tests lack one key.
pub fn without(key: &str, mut shown: Value) -> Value {
    if let Value::Map(root) = &mut shown
        && let Some(Value::List(tests)) = root.get("tests").cloned()
    {
        let tests: Vec<Value> = tests
            .into_iter()
            .map(|mut test| {
                if let Value::Map(fields) = &mut test {
                    fields.remove(key);
                }
                test
            })
            .collect();
        root.insert("tests", tests);
    }
    shown
}
