//! The one way to load a suite: a request goes in; a sound suite or the findings come out.

use std::collections::HashMap;

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics, Level};
use crate::model::{Arm, Execution, Map, SkillSource, Suite, Test, Verdicts};
use crate::reader::{ReadPolicy, Reader, World};
use crate::secrets::Secrets;
use crate::source::{Sources, Span};

use super::loader::Loader;
use super::sink::{CollectTests, Sink};

/// How the caller came to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Written on the command line, or imported.
    Named,
    /// Found by walking a directory.
    Found,
}

/// What to load, and what it may touch.
#[derive(Debug, Clone, Copy)]
pub struct LoadRequest<'w> {
    world: World<'w>,
    policy: &'w ReadPolicy,
    path: &'w Utf8Path,
    root: &'w Utf8Path,
    origin: Origin,
    collects_env: bool,
    converted: Option<&'w str>,
}

impl<'w> LoadRequest<'w> {
    /// `path` is absolute; for `root` see [`super::repository_root`].
    pub fn new(
        world: World<'w>,
        policy: &'w ReadPolicy,
        path: &'w Utf8Path,
        root: &'w Utf8Path,
    ) -> Self {
        Self {
            world,
            policy,
            path,
            root,
            origin: Origin::Named,
            collects_env: false,
            converted: None,
        }
    }

    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Reads this YAML in place of the file, of another tool, that it was made from.
    #[must_use]
    pub fn converted(mut self, text: Option<&'w str>) -> Self {
        self.converted = text;
        self
    }

    /// Reads the `.env` files even if the suite refers to no variable: see
    /// [`Findings::env_values`].
    #[must_use]
    pub fn with_env_values(mut self) -> Self {
        self.collects_env = true;
        self
    }
}

/// Everything that reading files has found, over one suite or several.
#[derive(Debug, Default)]
pub struct Findings {
    sources: Sources,
    diagnostics: Diagnostics,
    secrets: Secrets,
    env_values: HashMap<String, String>,
}

impl Findings {
    pub fn new() -> Self {
        Self::default()
    }

    /// What another reader found.
    pub fn of_parts(sources: Sources, diagnostics: Diagnostics) -> Self {
        Self { sources, diagnostics, ..Self::default() }
    }

    /// Raises warnings and conformance errors to blocking errors.
    pub fn strict() -> Self {
        Self { diagnostics: Diagnostics::strict(), ..Self::default() }
    }

    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Values that must not be printed.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The variables of the last suite's `.env` files; empty unless
    /// [`LoadRequest::with_env_values`].
    pub fn env_values(&self) -> &HashMap<String, String> {
        &self.env_values
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.report(diagnostic);
    }

    pub fn add_secrets(&mut self, secrets: Secrets) {
        self.secrets.absorb(secrets);
    }

    /// For readers of other files that belong to the suite, such as a targets file.
    pub fn parts_mut(&mut self) -> (&mut Sources, &mut Diagnostics) {
        (&mut self.sources, &mut self.diagnostics)
    }

    pub fn is_blocked(&self) -> bool {
        self.diagnostics.is_blocked()
    }

    pub fn into_parts(self) -> (Sources, Vec<Diagnostic>, Secrets) {
        (self.sources, self.diagnostics.into_vec(), self.secrets)
    }

    /// As [`Self::into_parts`], with the blocking diagnostics only.
    pub fn into_blocking(self) -> (Sources, Vec<Diagnostic>, Secrets) {
        let (sources, mut diagnostics, secrets) = self.into_parts();
        diagnostics.retain(|one| one.level == Level::Blocking);
        (sources, diagnostics, secrets)
    }
}

/// Everything of a suite but its tests.
#[derive(Debug, Clone)]
pub struct Header {
    pub name: String,
    /// Where the name was written, or the file it comes from.
    pub name_span: Span,
    pub version: String,
    pub description: Option<String>,
    pub metadata: Map,
    pub execution: Execution,
    pub verdicts: Verdicts,
    pub skills: Option<Vec<SkillSource>>,
    pub arms: Vec<Arm>,
}

impl Header {
    /// Of a file that says nothing but its name.
    pub(super) fn bare(name: String, name_span: Span) -> Self {
        Self {
            name,
            name_span,
            version: "1.0".to_owned(),
            description: None,
            metadata: Map::new(),
            execution: Execution::default(),
            verdicts: Verdicts::default(),
            skills: None,
            arms: Vec::new(),
        }
    }

    pub fn with_tests(self, tests: Vec<Test>) -> Suite {
        Suite {
            name: self.name,
            version: self.version,
            description: self.description,
            metadata: self.metadata,
            execution: self.execution,
            verdicts: self.verdicts,
            skills: self.skills,
            arms: self.arms,
            tests,
        }
    }
}

/// A file after it was read, with or without blocking diagnostics.
#[derive(Debug)]
pub struct Loaded {
    header: Option<Header>,
    findings: Findings,
    is_targets_file: bool,
    files: usize,
    tests: usize,
}

impl Loaded {
    /// `None` when the file is not a suite or cannot be read; the reason has been reported, except
    /// for a targets file.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The root has `targets`: the file is a targets file and was not read further.
    pub fn is_targets_file(&self) -> bool {
        self.is_targets_file
    }

    /// How many files were read: the file itself and everything it imports.
    pub fn files(&self) -> usize {
        self.files
    }

    /// How many tests were read, including faulty ones.
    pub fn tests(&self) -> usize {
        self.tests
    }

    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// For callers that load several suites into one set of findings.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// The suite, whose tests went to the sink.
    pub fn into_sound(self) -> Result<SoundSuite, LoadError> {
        self.with_tests(Vec::new())
    }

    /// The suite with these tests.
    pub fn with_tests(self, tests: Vec<Test>) -> Result<SoundSuite, LoadError> {
        if self.findings.is_blocked() {
            return Err(LoadError::Blocked(Box::new(self.findings)));
        }
        let Some(header) = self.header else {
            return Err(LoadError::NotASuite(Box::new(self.findings)));
        };
        Ok(SoundSuite { suite: header.with_tests(tests), findings: self.findings })
    }
}

/// A suite without blocking diagnostics.
#[derive(Debug)]
pub struct SoundSuite {
    suite: Suite,
    findings: Findings,
}

impl SoundSuite {
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// None of the diagnostics blocks the whole suite; some may block single tests.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    pub fn into_parts(self) -> (Suite, Findings) {
        (self.suite, self.findings)
    }
}

/// Why a file gives no suite.
#[derive(Debug)]
pub enum LoadError {
    /// At least one diagnostic is blocking.
    Blocked(Box<Findings>),
    /// Nothing is wrong, but the file is not a suite. The diagnostics say why, if there are any.
    NotASuite(Box<Findings>),
}

/// Reads a suite and passes its tests to the sink one by one. What it finds is added to `findings`.
pub fn load(request: &LoadRequest<'_>, mut findings: Findings, sink: &mut dyn Sink) -> Loaded {
    let directory = request.path.parent().unwrap_or(request.path).to_owned();
    let mut reader = Reader::new(
        request.world,
        &mut findings.sources,
        &mut findings.diagnostics,
        request.policy,
        request.root.to_owned(),
        directory,
    );
    // Suggestions are made from texts without the secrets that are known by now.
    reader.secrets = std::mem::take(&mut findings.secrets);
    let mut loader = Loader::new(reader, sink, request.origin);
    let header = match request.converted {
        Some(text) => loader.load_converted(request.path, text),
        None => loader.load_main(request.path),
    };
    let env_values =
        if request.collects_env { loader.reader.env_file_values() } else { HashMap::new() };
    let is_targets_file = loader.is_targets_file;
    let (files, tests) = (loader.imported.len(), loader.position as usize);
    let secrets = loader.reader.take_secrets();
    findings.secrets = secrets;
    findings.env_values = env_values;
    Loaded { header, findings, is_targets_file, files, tests }
}

/// As [`load`], with all tests collected.
pub fn load_suite(request: &LoadRequest<'_>, findings: Findings) -> Result<SoundSuite, LoadError> {
    let mut tests = CollectTests::default();
    let loaded = load(request, findings, &mut tests);
    // Kept for the whole run, and a list that grew has room for twice as many.
    tests.0.shrink_to_fit();
    loaded.with_tests(tests.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::DiscardTests;
    use crate::source::{MemoryFiles, Variables};

    const SOUND: &str = "name: demo\ntests: [{id: a, criteria: Greets, input: Hi}]\n";

    fn with_request<T>(files: &MemoryFiles, work: impl FnOnce(LoadRequest<'_>) -> T) -> T {
        let world =
            World { files, environment: &Variables::default(), working_directory: "/p".into() };
        let policy = ReadPolicy::default();
        work(LoadRequest::new(world, &policy, "/p/EVAL.yaml".into(), "/p".into()))
    }

    fn load_text(text: &str) -> Result<SoundSuite, LoadError> {
        let files = MemoryFiles::new().with("/p/EVAL.yaml", text);
        with_request(&files, |request| load_suite(&request, Findings::new()))
    }

    #[test]
    fn a_suite_without_blocking_diagnostics_is_sound() {
        let sound = load_text(SOUND).unwrap();
        assert_eq!(sound.suite().tests.len(), 1);
        assert!(sound.findings().diagnostics().is_empty());
    }

    #[test]
    fn a_blocking_diagnostic_leaves_only_findings() {
        let Err(LoadError::Blocked(findings)) = load_text("name: demo\ntests: []\n") else {
            panic!("a suite without tests is blocked");
        };
        let (_, blocking, _) = findings.into_blocking();
        assert_eq!(blocking[0].code.name, "no-tests");
    }

    #[test]
    fn a_targets_file_is_not_a_suite() {
        let found = load_text("targets: []\n");
        assert!(matches!(found, Err(LoadError::NotASuite(_))));
    }

    #[test]
    fn env_files_are_read_once_and_only_on_demand() {
        let suite = "name: demo\ntests: [{id: a, criteria: Greets, input: 'Hi ${{ WHO }}'}]\n";
        let files = MemoryFiles::new()
            .with("/p/EVAL.yaml", suite)
            .with("/p/.env", "WHO=Alice\nAPI_KEY=0123456789\nnot a setting\n");
        let sound = with_request(&files, |request| {
            load_suite(&request.with_env_values(), Findings::new()).unwrap()
        });
        let findings = sound.findings();
        assert_eq!(findings.env_values()["WHO"], "Alice");
        assert_eq!(findings.secrets().redact("0123456789"), "***");
        let diagnostics = findings.diagnostics().iter();
        let names: Vec<&str> = diagnostics.map(|one| one.code.name).collect();
        assert_eq!(names, ["bad-env-line"]);

        let files =
            MemoryFiles::new().with("/p/EVAL.yaml", SOUND).with("/p/.env", "not a setting\n");
        let loaded =
            with_request(&files, |request| load(&request, Findings::new(), &mut DiscardTests));
        assert!(loaded.findings().diagnostics().is_empty());
    }

    #[test]
    fn findings_grow_over_several_suites() {
        let mut findings = Findings::new();
        for text in ["name: demo\n", "name: other\n"] {
            let files = MemoryFiles::new().with("/p/EVAL.yaml", text);
            let loaded =
                with_request(&files, |request| load(&request, findings, &mut DiscardTests));
            findings = loaded.into_findings();
        }
        assert_eq!(findings.diagnostics().len(), 2);
    }
}
