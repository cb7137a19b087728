//! What a workspace gets besides its base: attached files, further directories, and what `setup` makes.

use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, Workspace};
use evalrig_core::source::Reach;

use crate::disk::{
    Access, CopyError, CopyOrigin, CopyRules, Durability, FileDraft, TreePlace, WritePath,
    copy_tree, create_directory_of, create_durable_directories, open_regular, set_mode,
};

use super::case_facts::CaseFacts;
use super::hook::{HookPlace, run_hook};
use super::place::{io_fault, on_disk};
use super::skill_contents::belongs_to_evals;
use super::suite_reach::SuiteReach;

/// Paths below the workspace with where they come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Additions<'a> {
    /// Files within the reach of the suite.
    pub(super) attachments: &'a [(String, Utf8PathBuf)],
    pub(super) directories: &'a [(String, Utf8PathBuf)],
}

impl Additions<'_> {
    /// Whether anything is added to the base.
    pub(super) fn are_any(&self, workspace: &Workspace) -> bool {
        workspace.setup.is_some() || !self.attachments.is_empty() || !self.directories.is_empty()
    }

    /// Adds everything, in this order.
    pub(super) async fn add(
        &self,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
        target: &Utf8Path,
    ) -> Result<(), Fault> {
        self.copy(target, case.reach).await?;
        if let Some(hook) = &workspace.setup {
            let env = case.environment(workspace, target);
            let input = case.hook_input(target);
            let cwd = workspace.cwd.as_deref();
            let place = HookPlace {
                root: case.root,
                workspace: target,
                cwd,
                env: &env,
                input: &input,
                sandbox: None,
            };
            run_hook("setup", hook, place).await?;
        }
        Ok(())
    }

    /// Adds the files and directories.
    pub(super) async fn copy(&self, target: &Utf8Path, reach: Reach<'_>) -> Result<(), Fault> {
        if self.attachments.is_empty() && self.directories.is_empty() {
            return Ok(());
        }
        let (files, directories) =
            (Arc::new(self.attachments.to_vec()), Arc::new(self.directories.to_vec()));
        let (target, suite) = (target.to_owned(), SuiteReach::from(reach));
        let copied = on_disk(move || {
            for (below, source) in files.iter() {
                copy_attachment(&target, below, source, suite.reach())
                    .map_err(|error| CopyError { path: below.clone(), error })?;
            }
            for (below, source) in directories.iter() {
                copy_directory(&target, below, source)?;
            }
            Ok::<(), CopyError>(())
        });
        copied.await.map_err(|error| io_fault("cannot copy into the workspace", &error))
    }
}

fn copy_attachment(
    target: &Utf8Path,
    below: &str,
    source: &Utf8Path,
    reach: Reach<'_>,
) -> io::Result<()> {
    let mut file = open_regular(source, reach)?;
    let path = target.join(below);
    let place = WritePath::inside(target, &path);
    create_directory_of(place, Access::Shared)?;
    let mut draft = FileDraft::create(place, Access::Shared)?;
    io::copy(&mut file, &mut draft)?;
    draft.place(Durability::Unsynced)?;
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions());
    set_mode(&path, mode & 0o777)
}

fn copy_directory(target: &Utf8Path, below: &str, source: &Utf8Path) -> Result<(), CopyError> {
    let path = target.join(below);
    let place = WritePath::inside(target, &path);
    let named = |error: io::Error| CopyError { path: below.to_owned(), error };
    create_durable_directories(place, Access::Shared).map_err(named)?;
    let rules = CopyRules { origin: CopyOrigin::Authored, leaves_out: &belongs_to_evals };
    let to = TreePlace { path: &path, reach: Reach::Inside(target) };
    copy_tree(source.into(), to, rules).map(drop)
}
