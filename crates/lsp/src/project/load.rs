//! Loads one suite or targets file in the way of `validate`, from any tree of files.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::read::{Findings, LoadRequest, Origin, Sink, load, repository_root, suite_root};
use evalrig_core::reader::{ReadPolicy, TargetNames, World};
use evalrig_core::repair::Reading;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Files, Reach, Sources};
use evalrig_run::disk::ProcessEnvironment;
use evalrig_run::target::{find_targets_file, is_agentv, reach_of_found, read_targets};

/// What is loaded.
#[derive(Debug, Clone)]
pub(crate) struct MainFile {
    pub(crate) path: Utf8PathBuf,
    pub(crate) is_targets_file: bool,
    /// The folder of the workspace that it is in.
    pub(crate) working_directory: Utf8PathBuf,
}

/// What loading found.
#[derive(Debug, Default)]
pub(crate) struct LoadResult {
    pub(crate) findings: Findings,
    /// The suite's.
    pub(crate) name: Option<String>,
    pub(crate) root: Utf8PathBuf,
    pub(crate) targets_file: Option<Utf8PathBuf>,
}

impl Reading for LoadResult {
    fn diagnostics(&self) -> &Diagnostics {
        self.findings.diagnostics()
    }

    fn sources(&self) -> &Sources {
        self.findings.sources()
    }
}

impl MainFile {
    pub(crate) fn load(
        &self,
        files: &dyn Files,
        secrets: Secrets,
        sink: &mut dyn Sink,
    ) -> LoadResult {
        let mut findings = Findings::new();
        findings.add_secrets(secrets);
        if self.is_targets_file {
            self.load_targets(files, findings)
        } else {
            self.load_suite(files, findings, sink)
        }
    }

    fn world<'w>(&'w self, files: &'w dyn Files) -> World<'w> {
        let working_directory = &self.working_directory;
        World { files, environment: &ProcessEnvironment, working_directory }
    }

    fn load_targets(&self, files: &dyn Files, mut findings: Findings) -> LoadResult {
        let directory = self.path.parent().unwrap_or(&self.path);
        let root = repository_root(files, directory);
        let (sources, out) = findings.parts_mut();
        let (world, path) = (self.world(files), &self.path);
        let targets = read_targets(world, sources, out, path, &root, Reach::Anywhere);
        if let Some(targets) = targets {
            findings.add_secrets(targets.secrets().clone());
        }
        LoadResult { findings, name: None, root, targets_file: Some(self.path.clone()) }
    }

    fn load_suite(
        &self,
        files: &dyn Files,
        mut findings: Findings,
        sink: &mut dyn Sink,
    ) -> LoadResult {
        let root = suite_root(files, &self.path);
        let directory = self.path.parent().unwrap_or(&self.path);
        let targets_file = find_targets_file(files, directory, &root, &self.working_directory);
        let names = match &targets_file {
            Some(file) => self.target_names(files, &mut findings, file, &root),
            None => TargetNames::NoFile,
        };
        let policy = ReadPolicy { targets: names, ..ReadPolicy::default() };
        // A file of another tool is passed over, as in a directory that is checked.
        let request =
            LoadRequest::new(self.world(files), &policy, &self.path, &root).origin(Origin::Found);
        let loaded = load(&request, findings, sink);
        let name = loaded.header().map(|header| header.name.clone());
        LoadResult { findings: loaded.into_findings(), name, root, targets_file }
    }

    /// The diagnostics of the targets file are reported with those of the suite. One of another tool is
    /// only read for its names.
    fn target_names(
        &self,
        files: &dyn Files,
        findings: &mut Findings,
        file: &Utf8Path,
        root: &Utf8Path,
    ) -> TargetNames {
        let world = self.world(files);
        let reach = reach_of_found(&ReadPolicy::default(), file, root, &self.working_directory);
        let targets = if is_agentv(file) {
            let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
            read_targets(world, &mut sources, &mut out, file, root, reach)
        } else {
            let (sources, out) = findings.parts_mut();
            read_targets(world, sources, out, file, root, reach)
        };
        match targets {
            Some(targets) => {
                findings.add_secrets(targets.secrets().clone());
                targets.target_names()
            }
            None => TargetNames::Unchecked,
        }
    }
}
