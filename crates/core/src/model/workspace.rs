//! The workspace of a test: what its directory is made of, and what the agent did to it (spec 17).

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

use super::grade::Fault;

/// What the workspace of a test is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workspace {
    /// Directory that is copied; absolute.
    pub template: Option<Utf8PathBuf>,
    pub repos: Vec<WorkspaceRepo>,
    /// Once per run for each distinct workspace.
    pub before_all: Option<Hook>,
    /// In every workspace, before the snapshot.
    pub setup: Option<Hook>,
    /// In every workspace, after the checks.
    pub teardown: Option<Hook>,
    /// Once per run for each distinct workspace.
    pub after_all: Option<Hook>,
    /// Patterns as in `.gitignore`: these files are not part of the evidence.
    pub ignore: Vec<String>,
    /// Where the agent starts, below the workspace; the workspace itself if `None`.
    pub cwd: Option<String>,
    /// For every process of the case, in written order.
    pub env: Vec<(String, String)>,
    pub keep: KeepRule,
    /// Whether equal workspaces are prepared once per run and copied.
    pub setup_cache: bool,
    pub container: Option<ContainerSettings>,
}

/// A repository that is checked out inside a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceRepo {
    pub origin: RepoOrigin,
    /// Commit, tag or branch.
    pub commit: String,
    /// Below the workspace; empty for the workspace itself.
    pub path: String,
    /// How many commits before `commit`.
    pub ancestor: u32,
    /// Directories that are checked out; everything if empty.
    pub sparse: Vec<String>,
}

/// Where a repository comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepoOrigin {
    Url(String),
    /// Absolute.
    Path(Utf8PathBuf),
}

/// A program that prepares or clears away a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub command: HookCommand,
    /// Below the workspace, empty for the workspace itself; the `cwd` of the workspace if `None`.
    pub cwd: Option<String>,
    pub timeout_seconds: u64,
    /// The directory of the file that holds the hook; scripts are looked up there.
    pub base: Utf8PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookCommand {
    /// Run as it is. Never empty.
    Argv(Vec<String>),
    /// Run by the shell.
    Shell(String),
}

crate::words! {
    /// When a workspace is kept after its case.
    #[derive(Default)]
    pub enum KeepRule {
        Never = "never",
        /// Kept after failed and errored cases.
        #[default]
        Failed = "failed",
        Always = "always",
    }
}

/// The container that agent and checks run in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContainerSettings {
    pub image: Option<String>,
    /// As the container program takes it, such as `2g`.
    pub memory: Option<String>,
    /// As the container program takes it, such as `1.5`.
    pub cpus: Option<String>,
}

/// What the agent did to the files of its workspace. Paths are relative, with `/`, in byte order;
/// what is not UTF-8 in a name is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChanges {
    pub created: Vec<String>,
    pub modified: Vec<String>,
    pub deleted: Vec<String>,
    /// Unified diff of the text files, as long as it fits.
    pub diff: String,
    pub is_diff_truncated: bool,
    /// Absolute path of the workspace, if it is kept.
    pub path: Option<String>,
}

impl FileChanges {
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.modified.is_empty() && self.deleted.is_empty()
    }
}

/// The files of a workspace as the agent left them. All paths are relative to the workspace.
pub trait WorkspaceFiles: fmt::Debug + Sync {
    /// Absolute path of the workspace, for scripts.
    fn path(&self) -> &Utf8Path;

    /// At most `limit` bytes of a regular file; `None` if there is none. Links are followed inside the
    /// workspace only.
    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault>;

    /// Every file but those in `.git`, in byte order; also what is not part of the evidence.
    fn list(&self) -> Result<&[String], Fault>;
}
