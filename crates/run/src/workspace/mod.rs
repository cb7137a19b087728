//! Workspaces: the directory that one attempt of a case owns, and what the agent did to it (spec 17).
//!
//! # The life of a workspace
//!
//! [`Workspaces`] exists once per run. [`Workspaces::create`] and [`Workspaces::fill`] give each attempt a
//! [`CaseWorkspace`]:
//!
//! 1. A *base* is prepared once per run for equal `template`, `repos`, `before_all` and `ignore`: the
//!    template is copied, repositories are checked out from the cache, `before_all` runs in it. A template
//!    without repositories and hooks that is left alone is the base itself, and is copied while the first
//!    agents run.
//! 2. The base is copied into a new directory.
//! 3. Attached files, then further directories such as skills, are copied into it.
//! 4. `setup` runs in it. With `setup_cache`, 3 and 4 happen once per run in a second base.
//! 5. The snapshot is taken.
//!
//! Then the agent runs in [`CaseWorkspace::cwd`] with [`CaseWorkspace::env`], and
//! [`CaseWorkspace::changes`] says what it did. Checks read through
//! [`evalrig_core::model::WorkspaceFiles`], commands run in copies ([`CaseWorkspace::run_command`]).
//! [`CaseWorkspace::teardown`] comes last, in the sandbox of the agent, then [`CaseWorkspace::keep`] or
//! [`CaseWorkspace::remove`]; a workspace that is dropped is removed as well. On ext4 that may mean to be set aside until
//! [`Workspaces::finish`] (see `removal`), which also runs `after_all`.
//!
//! # What holds
//!
//! - Everything is below the scratch directory of the run, which the next run removes if this one is
//!   killed. Only a kept workspace leaves it.
//! - The snapshot is not below the workspace. It is in memory except for the old texts, which are in one
//!   file per base and per case. Nothing of them is used that does not have its hash, and if one of
//!   these files was changed, the case has a fault of the kind `tampered`.
//! - A file is compared by what the file system says about it, including the time of its last change,
//!   which no program can set; by its content if that differs or the clock is too coarse.
//! - A checkout of the suite's own repository has neither the suite nor what it judges by, nor a history.
//! - No call follows a link out of the workspace, whatever the agent puts there, or in its place: before
//!   each use it must be the directory in its place (`case_root`).
//!
//! Only Unix has workspaces: elsewhere [`Workspaces::create`] gives a fault.

#[cfg(unix)]
mod additions;
#[cfg(unix)]
mod base;
#[cfg(unix)]
mod base_cache;
#[cfg(unix)]
mod base_draft;
#[cfg(unix)]
mod base_source;
mod case_facts;
#[cfg(unix)]
mod case_root;
#[cfg(unix)]
mod case_workspace;
#[cfg(unix)]
mod changes;
#[cfg(unix)]
mod collected;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod diff;
#[cfg(unix)]
mod file_list;
#[cfg(unix)]
mod file_name;
#[cfg(unix)]
mod git;
#[cfg(unix)]
mod hook;
mod hook_files;
#[cfg(unix)]
mod ignore_rules;
mod judging_files;
#[cfg(unix)]
mod kept_workspace;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod removal;
#[cfg(unix)]
mod repo;
#[cfg(unix)]
mod repo_leftovers;
mod skill_contents;
#[cfg(unix)]
mod snapshot;
#[cfg(unix)]
mod suite_reach;
#[cfg(unix)]
mod text_pack;
#[cfg(not(unix))]
mod unsupported;
#[cfg(unix)]
mod withheld_files;
#[cfg(unix)]
mod workspaces;

#[cfg(all(test, unix))]
mod base_tests;
#[cfg(all(test, unix))]
mod changes_tests;
#[cfg(all(test, target_os = "linux"))]
mod ending_tests;
#[cfg(all(test, unix))]
mod repo_tests;
#[cfg(all(test, unix))]
mod root_tests;
#[cfg(all(test, target_os = "linux"))]
mod sandbox_tests;
#[cfg(all(test, unix))]
mod testing;
#[cfg(all(test, unix))]
mod withheld_tests;
#[cfg(all(test, unix))]
mod workspaces_tests;

pub use case_facts::CaseFacts;
#[cfg(unix)]
pub use case_workspace::CaseWorkspace;
pub(crate) use hook_files::files_of_hook;
pub use judging_files::JudgingFiles;
#[cfg(unix)]
pub use kept_workspace::KeptWorkspace;
pub(crate) use skill_contents::belongs_to_evals;
#[cfg(not(unix))]
pub use unsupported::{
    NoCaseWorkspace as CaseWorkspace, NoKeptWorkspace as KeptWorkspace, NoWorkspaces as Workspaces,
};
#[cfg(unix)]
pub use workspaces::Workspaces;
