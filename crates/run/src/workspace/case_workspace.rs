//! The workspace of one attempt: where its agent runs, what the agent did, and what checks see.

use std::io;
use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{
    Answer, CommandQuestion, ContainerSettings, Fault, FaultKind, FileChanges, Hook, Stage,
    Workspace, WorkspaceFiles,
};
use evalrig_core::source::{Files, Reach, is_outside};
use serde_json::Value;

use crate::disk::{Access, Disk, create_directories, create_new_directory, rename};
use crate::sandbox::SandboxUse;

use super::base::WorkspaceBase;
use super::base_draft::CopiedFacts;
use super::case_facts::CaseFacts;
use super::case_root::CaseRoot;
use super::changes::{FoundChanges, find_changes};
use super::command::CheckedWorkspace;
use super::file_list::list_files;
use super::hook::{HookPlace, directory_inside, run_hook};
use super::place::{KEPT, WorkspacePlaces, io_fault};
use super::snapshot::WorkspaceSnapshot;
use super::suite_reach::SuiteReach;

/// A workspace that is ready for its agent. Dropping it removes it.
#[derive(Debug)]
pub struct CaseWorkspace {
    places: Arc<WorkspacePlaces>,
    /// Holds the workspace and copies of it.
    directory: Utf8PathBuf,
    root: CaseRoot,
    cwd: Utf8PathBuf,
    env: Vec<(String, String)>,
    workspace: Workspace,
    /// For the hook after the case.
    hook_input: Value,
    /// The name of a kept workspace.
    label: String,
    suite_root: Utf8PathBuf,
    suite_reach: SuiteReach,
    /// Whether its base was copied into it.
    is_filled: bool,
    /// Why it could not be made ready: later tests of a conversation cannot go on in it.
    unready: Option<Fault>,
    state: Option<Arc<ObservedState>>,
    /// Most cases do not ask for them.
    files: OnceLock<Result<Vec<String>, Fault>>,
}

/// The snapshot, and what was found when the workspace was compared with it.
#[derive(Debug)]
struct ObservedState {
    root: CaseRoot,
    snapshot: WorkspaceSnapshot,
    evidence: OnceLock<Result<FoundChanges, Fault>>,
}

impl ObservedState {
    fn changes(&self) -> Result<FileChanges, Fault> {
        self.observe().as_ref().map(|found| found.shown.clone()).map_err(Clone::clone)
    }

    fn observe(&self) -> &Result<FoundChanges, Fault> {
        self.evidence.get_or_init(|| {
            self.root.check()?;
            let found = find_changes(self.root.path(), &self.snapshot)?;
            // What was compared is not known to be the workspace otherwise.
            self.root.check().map(|()| found)
        })
    }

    /// Of a file that is not evidence it is not known.
    fn is_as_before(&self, path: &[u8]) -> bool {
        let Ok(found) = self.observe() else { return false };
        self.snapshot.find(path).is_some() && !found.is_modified(path)
    }
}

impl CaseWorkspace {
    pub(super) fn new(
        places: &Arc<WorkspacePlaces>,
        directory: Utf8PathBuf,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
    ) -> Result<Self, Fault> {
        let root = CaseRoot::inside(&directory)?;
        let mut prepared = Self {
            places: Arc::clone(places),
            cwd: root.path().to_owned(),
            root,
            directory,
            env: Vec::new(),
            workspace: workspace.clone(),
            hook_input: Value::Null,
            label: String::new(),
            suite_root: case.root.to_owned(),
            suite_reach: case.reach.into(),
            is_filled: false,
            unready: None,
            state: None,
            files: OnceLock::new(),
        };
        prepared.set_case(case);
        Ok(prepared)
    }

    pub(super) fn set_case(&mut self, case: &CaseFacts<'_>) {
        self.env = case.environment(&self.workspace, self.root.path());
        self.hook_input = case.hook_input(self.root.path());
        self.label = label(case);
    }

    pub(super) fn begin(&mut self, snapshot: WorkspaceSnapshot) {
        let (root, evidence) = (self.root.clone(), OnceLock::new());
        self.state = Some(Arc::new(ObservedState { root, snapshot, evidence }));
        self.files = OnceLock::new();
    }

    pub(super) fn set_filled(&mut self) {
        self.is_filled = true;
    }

    pub(super) fn set_unready(&mut self, fault: &Fault) {
        self.unready = Some(fault.clone());
    }

    /// Fails if it could not be made ready for the test that it was made for.
    pub(super) fn check_ready(&self) -> Result<(), Fault> {
        let Some(fault) = &self.unready else { return Ok(()) };
        let message = format!("the workspace of the conversation is not ready: {}", fault.message);
        Err(Fault { message, ..fault.clone() })
    }

    pub(super) fn find_cwd(&mut self) -> Result<(), Fault> {
        let found = directory_inside(self.root.path(), self.workspace.cwd.as_deref());
        self.cwd =
            found.map_err(|reason| Fault::new(Stage::Workspace, FaultKind::Setup, reason))?;
        Ok(())
    }

    pub(super) fn root(&self) -> &CaseRoot {
        &self.root
    }

    pub(crate) fn teardown_hook(&self) -> Option<&Hook> {
        self.workspace.teardown.as_ref()
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// What a later snapshot builds on: the base, and the facts of files that are as there.
    pub(super) fn known(&self) -> Result<(Arc<WorkspaceBase>, CopiedFacts), Fault> {
        let snapshot = &self.state()?.snapshot;
        Ok((Arc::clone(snapshot.base()), snapshot.settled_facts()))
    }

    fn state(&self) -> Result<&Arc<ObservedState>, Fault> {
        self.state.as_ref().ok_or_else(|| Fault::not_measured("the workspace has no snapshot"))
    }

    /// Where the agent starts: absolute, at or below [`WorkspaceFiles::path`].
    pub fn cwd(&self) -> &Utf8Path {
        &self.cwd
    }

    /// Variables for every process of the case; later ones take precedence.
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// The directory of the case: the workspace is in it, and a home can be put beside it. Removed with
    /// the workspace.
    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// What the agent did, once it is over. The first call compares, later ones repeat the result.
    pub async fn changes(&self) -> Result<FileChanges, Fault> {
        let state = Arc::clone(self.state()?);
        let found = tokio::task::spawn_blocking(move || state.changes()).await;
        found.map_err(|error| io_fault("cannot read the workspace", &error))?
    }

    /// Runs a command in a copy of the workspace, with its overlay on top, and removes the copy.
    pub async fn run_command(
        &self,
        question: &CommandQuestion,
        sandbox: Option<SandboxUse<'_>>,
    ) -> Answer {
        if let Err(fault) = self.root.check() {
            return Answer::Failed(fault);
        }
        let state = self.state();
        let is_authored = |path: &[u8]| state.as_ref().is_ok_and(|state| state.is_as_before(path));
        let checked = CheckedWorkspace {
            root: self.root.path(),
            directory: &self.directory,
            reach: self.suite_reach.reach(),
            cwd: self.workspace.cwd.as_deref(),
            env: &self.env,
            is_authored: &is_authored,
        };
        checked.run_command(question, sandbox).await
    }

    /// The container that its programs run in.
    pub fn container(&self) -> Option<&ContainerSettings> {
        self.workspace.container.as_ref()
    }

    /// Whether there is anything in it that can be kept. Not if its base could not be made.
    pub fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// Runs `teardown`, after the checks. Returns a warning if it failed. In `sandbox` it cannot do more
    /// than the agent, whose programs it may run.
    pub async fn teardown(&self, sandbox: Option<SandboxUse<'_>>) -> Option<String> {
        let hook = self.workspace.teardown.as_ref().filter(|_| self.is_filled)?;
        if let Err(fault) = self.root.check() {
            return Some(format!("`teardown` is not run: {}", fault.message));
        }
        let place = HookPlace {
            root: &self.suite_root,
            workspace: self.root.path(),
            cwd: self.workspace.cwd.as_deref(),
            env: &self.env,
            input: &self.hook_input,
            sandbox,
        };
        run_hook("teardown", hook, place).await.err().map(|fault| fault.message)
    }

    /// Moves the workspace to where the end of the run does not remove it: `kept-RUN/TEST-TRIAL` beside
    /// the scratch directory. Returns its new path.
    pub async fn keep(self) -> Result<Utf8PathBuf, Fault> {
        let kept = tokio::task::spawn_blocking(move || self.move_away()).await;
        let kept = kept.unwrap_or_else(|error| Err(io::Error::other(error)));
        kept.map_err(|error| io_fault("cannot keep the workspace", &error))
    }

    fn move_away(self) -> io::Result<Utf8PathBuf> {
        self.root.check().map_err(|fault| io::Error::other(fault.message))?;
        let scratch = self.places.scratch();
        let run = scratch.file_name().unwrap_or("run");
        let parent = scratch.parent().unwrap_or(scratch).join(format!("{KEPT}{run}"));
        create_directories(&parent, Access::Private)?;
        let mut path = parent.join(&self.label);
        let mut number = 2;
        // The name is taken before anything is moved there.
        while let Err(error) = create_new_directory(&path, Access::Private) {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            path = parent.join(format!("{}-{number}", self.label));
            number += 1;
        }
        rename(self.root.path(), &path)?;
        Ok(path)
    }

    /// Removes the workspace now, without blocking the caller's thread.
    pub async fn remove(self) {
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}

impl Drop for CaseWorkspace {
    fn drop(&mut self) {
        self.places.removal().remove(&self.directory);
    }
}

impl WorkspaceFiles for CaseWorkspace {
    fn path(&self) -> &Utf8Path {
        self.root.path()
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        self.root.check()?;
        read_inside(self.root.path(), path, limit)
    }

    fn list(&self) -> Result<&[String], Fault> {
        let files = self.files.get_or_init(|| {
            self.root.check()?;
            list_files(self.root.path())
        });
        files.as_deref().map_err(Clone::clone)
    }
}

/// A file of a workspace; `None` if there is none.
pub(super) fn read_inside(
    root: &Utf8Path,
    path: &str,
    limit: u64,
) -> Result<Option<Vec<u8>>, Fault> {
    match Disk.read(&root.join(path), Reach::Inside(root), limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(io_fault(&format!("cannot read `{path}` in the workspace"), &error)),
    }
}

/// Whether there is no regular file that belongs to the workspace.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let is_loop = rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP);
    let is_missing = matches!(error.kind(), Kind::NotFound | Kind::NotADirectory);
    let is_other = matches!(error.kind(), Kind::IsADirectory | Kind::InvalidInput);
    is_outside(error) || is_loop || is_missing || is_other || error.kind() == Kind::InvalidFilename
}

/// The name of a kept workspace: the test and its trial.
fn label(case: &CaseFacts<'_>) -> String {
    const MOST: usize = 80;
    let plain =
        |one: char| if one.is_ascii_alphanumeric() || "._".contains(one) { one } else { '-' };
    let test: String = case.test_id.chars().map(plain).take(MOST).collect();
    let test = test.trim_start_matches(['.', '-']);
    match case.attempt {
        1 => format!("{test}-{}", case.trial),
        attempt => format!("{test}-{}-{attempt}", case.trial),
    }
}
