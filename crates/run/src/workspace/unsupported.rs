//! Workspaces where the system is not Unix: there are none.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{
    Answer, CommandQuestion, ContainerSettings, Fault, FaultKind, FileChanges, Hook, Stage,
    Workspace, WorkspaceFiles,
};

use crate::sandbox::SandboxUse;

use super::CaseFacts;

fn unsupported() -> Fault {
    let message = "workspaces need Linux or macOS";
    Fault::new(Stage::Workspace, FaultKind::Setup, message)
}

#[derive(Debug)]
pub struct NoWorkspaces;

impl NoWorkspaces {
    pub fn new(_: &Utf8Path) -> Self {
        Self
    }

    pub async fn prepare(
        &self,
        _: &Workspace,
        _: &CaseFacts<'_>,
        _: &[(String, Utf8PathBuf)],
        _: &[(String, Utf8PathBuf)],
    ) -> Result<NoCaseWorkspace, Fault> {
        Err(unsupported())
    }

    pub async fn create(&self, _: &Workspace, _: &CaseFacts<'_>) -> Result<NoCaseWorkspace, Fault> {
        Err(unsupported())
    }

    pub async fn fill(
        &self,
        _: &mut NoCaseWorkspace,
        _: &CaseFacts<'_>,
        _: &[(String, Utf8PathBuf)],
        _: &[(String, Utf8PathBuf)],
    ) -> Result<(), Fault> {
        Err(unsupported())
    }

    pub async fn go_on(
        &self,
        _: &mut NoCaseWorkspace,
        _: &CaseFacts<'_>,
        _: &[(String, Utf8PathBuf)],
    ) -> Result<(), Fault> {
        Err(unsupported())
    }

    pub async fn finish(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Never made.
#[derive(Debug)]
pub struct NoCaseWorkspace(std::convert::Infallible);

impl NoCaseWorkspace {
    pub fn cwd(&self) -> &Utf8Path {
        match self.0 {}
    }

    pub fn env(&self) -> &[(String, String)] {
        match self.0 {}
    }

    pub fn directory(&self) -> &Utf8Path {
        match self.0 {}
    }

    pub fn container(&self) -> Option<&ContainerSettings> {
        match self.0 {}
    }

    pub async fn changes(&self) -> Result<FileChanges, Fault> {
        match self.0 {}
    }

    pub async fn run_command(&self, _: &CommandQuestion, _: Option<SandboxUse<'_>>) -> Answer {
        match self.0 {}
    }

    pub fn is_filled(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn teardown_hook(&self) -> Option<&Hook> {
        match self.0 {}
    }

    pub async fn teardown(&self, _: Option<SandboxUse<'_>>) -> Option<String> {
        match self.0 {}
    }

    pub async fn keep(self) -> Result<Utf8PathBuf, Fault> {
        match self.0 {}
    }

    pub async fn remove(self) {
        match self.0 {}
    }
}

impl WorkspaceFiles for NoCaseWorkspace {
    fn path(&self) -> &Utf8Path {
        match self.0 {}
    }

    fn read(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Fault> {
        match self.0 {}
    }

    fn list(&self) -> Result<&[String], Fault> {
        match self.0 {}
    }
}

/// Never made.
#[derive(Debug)]
pub struct NoKeptWorkspace(std::convert::Infallible);

impl NoKeptWorkspace {
    pub fn open(_: &str) -> Option<Self> {
        None
    }

    pub async fn run_command(
        &self,
        _: &CommandQuestion,
        _: (&Workspace, &CaseFacts<'_>),
        _: Option<&str>,
        _: &Utf8Path,
    ) -> Answer {
        match self.0 {}
    }
}

impl WorkspaceFiles for NoKeptWorkspace {
    fn path(&self) -> &Utf8Path {
        match self.0 {}
    }

    fn read(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Fault> {
        match self.0 {}
    }

    fn list(&self) -> Result<&[String], Fault> {
        match self.0 {}
    }
}
