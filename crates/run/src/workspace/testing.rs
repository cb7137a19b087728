//! Workspaces for tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{
    CommandQuestion, Fault, FileChanges, Hook, HookCommand, Workspace, WorkspaceFiles,
};
use evalrig_core::source::Reach;
use serde_json::Value;

use super::{CaseFacts, CaseWorkspace, JudgingFiles, Workspaces};

/// A check with `command`.
pub(super) fn command(line: &str) -> CommandQuestion {
    CommandQuestion {
        command: HookCommand::Shell(line.to_owned()),
        cwd: None,
        overlay: None,
        overlay_files: Vec::new(),
        overlay_others: Vec::new(),
        timeout_seconds: 60,
        collect: None,
    }
}

/// A suite with a template, and the scratch directory of a run.
pub(super) struct TestRun {
    _folder: tempfile::TempDir,
    pub(super) suite: Utf8PathBuf,
    pub(super) scratch: Utf8PathBuf,
    pub(super) workspaces: Workspaces,
    pub(super) judging: JudgingFiles,
}

impl TestRun {
    pub(super) fn new(template: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let (suite, scratch) = (place.join("suite"), place.join("tmp/evalrig-run"));
        fs::create_dir_all(suite.join("template")).unwrap();
        fs::create_dir_all(&scratch).unwrap();
        for (path, text) in template {
            write(&suite.join("template").join(path), text);
        }
        let cache = Some(place.join("cache"));
        let workspaces = Workspaces::with_rest(&scratch, cache, Duration::ZERO);
        Self { _folder: folder, suite, scratch, workspaces, judging: JudgingFiles::default() }
    }

    /// One in which no template was left alone for long enough.
    pub(super) fn with_fresh_template(template: &[(&str, &str)]) -> Self {
        let mut run = Self::new(template);
        run.workspaces = Workspaces::with_rest(&run.scratch, None, Duration::MAX);
        run
    }

    pub(super) fn template(&self) -> Utf8PathBuf {
        self.suite.join("template")
    }

    pub(super) fn workspace(&self) -> Workspace {
        Workspace { template: Some(self.template()), ..Workspace::default() }
    }

    pub(super) fn hook(&self, line: &str) -> Hook {
        Hook {
            command: HookCommand::Shell(line.to_owned()),
            cwd: None,
            timeout_seconds: 60,
            base: self.suite.clone(),
        }
    }

    pub(super) fn facts<'a>(&'a self, test_id: &'a str) -> CaseFacts<'a> {
        CaseFacts {
            root: &self.suite,
            reach: Reach::Inside(&self.suite),
            suite: "shop",
            judging: &self.judging,
            test_id,
            trial: 1,
            attempt: 1,
            input: &Value::Null,
            metadata: &Value::Null,
        }
    }

    pub(super) async fn prepare(&self, workspace: &Workspace) -> Result<CaseWorkspace, Fault> {
        self.workspaces.prepare(workspace, &self.facts("test"), &[], &[]).await
    }

    /// A workspace with the template, in which `act` is what the agent does.
    pub(super) async fn changes(&self, act: impl FnOnce(&Utf8Path)) -> FileChanges {
        let case = self.prepare(&self.workspace()).await.unwrap();
        act(case.path());
        case.changes().await.unwrap()
    }
}

pub(super) fn write(path: &Utf8Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(super) fn set_mode(path: &Utf8Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(super) fn mode(path: &Utf8Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The names in a directory, sorted.
pub(super) fn names(directory: &Utf8Path) -> Vec<String> {
    let entries = directory.read_dir_utf8().unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().to_owned()).collect();
    names.sort();
    names
}
