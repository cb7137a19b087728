//! The workspaces of a run.

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, Workspace};

use crate::disk::user_cache;

use super::additions::Additions;
use super::base::WorkspaceBase;
use super::base_cache::{BaseCache, REST};
use super::base_draft::CopiedFacts;
use super::case_facts::CaseFacts;
use super::case_workspace::CaseWorkspace;
use super::place::{WorkspacePlaces, io_fault, on_disk};
use super::repo::RepoCache;
use super::snapshot::WorkspaceSnapshot;

/// The workspaces of a run. Nothing is created before the first one is prepared.
#[derive(Debug)]
pub struct Workspaces {
    places: Arc<WorkspacePlaces>,
    bases: BaseCache,
}

/// Where copies of repositories are kept: `$XDG_CACHE_HOME/evalrig/repos`.
fn repo_cache_path() -> Option<Utf8PathBuf> {
    Some(user_cache()?.join("repos"))
}

impl Workspaces {
    /// `scratch` is the directory for temporary files of the run.
    pub fn new(scratch: &Utf8Path) -> Self {
        Self::with_repo_cache(scratch, repo_cache_path())
    }

    /// The same with another directory for copies of repositories.
    pub fn with_repo_cache(scratch: &Utf8Path, cache: Option<Utf8PathBuf>) -> Self {
        Self::with_rest(scratch, cache, REST)
    }

    /// `rest`: how long a template was left alone that is copied without a copy in between.
    pub(super) fn with_rest(
        scratch: &Utf8Path,
        cache: Option<Utf8PathBuf>,
        rest: Duration,
    ) -> Self {
        let places = Arc::new(WorkspacePlaces::new(scratch));
        let bases = BaseCache::new(Arc::clone(&places), RepoCache::new(cache), rest);
        Self { places, bases }
    }

    /// Makes the workspace of one attempt: [`Self::create`], then [`Self::fill`].
    pub async fn prepare(
        &self,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
        attachments: &[(String, Utf8PathBuf)],
        directories: &[(String, Utf8PathBuf)],
    ) -> Result<CaseWorkspace, Fault> {
        let mut prepared = self.create(workspace, case).await?;
        self.fill(&mut prepared, case, attachments, directories).await?;
        Ok(prepared)
    }

    /// A directory for the workspace of one attempt, with nothing in it.
    pub async fn create(
        &self,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
    ) -> Result<CaseWorkspace, Fault> {
        let places = Arc::clone(&self.places);
        let created = on_disk(move || places.create_case()).await;
        let directory = created.map_err(|error| io_fault("cannot create the workspace", &error))?;
        // From here on dropping it removes the directory.
        CaseWorkspace::new(&self.places, directory, workspace, case)
    }

    /// Makes a new workspace ready for its agent. If that fails, it can still be kept, with what is in it.
    ///
    /// `attachments` are paths below the workspace (see `evalrig_core::evidence::placed_files`) with the absolute
    /// paths of the files, which must be within [`CaseFacts::reach`]. `directories` are paths below the
    /// workspace with directories that are copied there, without the parts that belong to evals.
    pub async fn fill(
        &self,
        prepared: &mut CaseWorkspace,
        case: &CaseFacts<'_>,
        attachments: &[(String, Utf8PathBuf)],
        directories: &[(String, Utf8PathBuf)],
    ) -> Result<(), Fault> {
        let additions = Additions { attachments, directories };
        let filled = self.fill_with(prepared, case, additions).await;
        if let Err(fault) = &filled {
            prepared.set_unready(fault);
        }
        filled
    }

    async fn fill_with(
        &self,
        prepared: &mut CaseWorkspace,
        case: &CaseFacts<'_>,
        additions: Additions<'_>,
    ) -> Result<(), Fault> {
        let workspace = prepared.workspace().clone();
        let root = prepared.root().path().to_owned();
        let (base, copied) = self.bases.copy(&workspace, case, additions, &root).await?;
        prepared.set_filled();
        let is_changed = !workspace.setup_cache && additions.are_any(&workspace);
        if is_changed {
            additions.add(&workspace, case, &root).await?;
        }
        prepared.find_cwd()?;
        prepared.begin(self.snapshot(&root, &workspace, base, copied, is_changed).await?);
        Ok(())
    }

    /// Lets the next test of a conversation go on in the same workspace: adds its attached files and takes
    /// a new snapshot.
    pub async fn go_on(
        &self,
        prepared: &mut CaseWorkspace,
        case: &CaseFacts<'_>,
        attachments: &[(String, Utf8PathBuf)],
    ) -> Result<(), Fault> {
        prepared.check_ready()?;
        prepared.set_case(case);
        prepared.root().check()?;
        let root = prepared.root().path().to_owned();
        let additions = Additions { attachments, directories: &[] };
        additions.copy(&root, case.reach).await?;
        let (base, copied) = prepared.known()?;
        let workspace = prepared.workspace().clone();
        let snapshot = self.snapshot(&root, &workspace, base, copied, true).await?;
        prepared.begin(snapshot);
        Ok(())
    }

    /// Ends the workspaces of a run: runs `after_all`. Returns warnings.
    pub async fn finish(&self) -> Vec<String> {
        let warnings = self.bases.finish().await;
        let places = Arc::clone(&self.places);
        let _ = tokio::task::spawn_blocking(move || places.removal().finish()).await;
        warnings
    }

    /// Waits until no workspace is copied from a template any more.
    #[cfg(test)]
    pub(super) async fn settled(&self) {
        self.bases.settled().await;
    }

    async fn snapshot(
        &self,
        root: &Utf8Path,
        workspace: &Workspace,
        base: Arc<WorkspaceBase>,
        copied: CopiedFacts,
        is_changed: bool,
    ) -> Result<WorkspaceSnapshot, Fault> {
        let (places, root) = (Arc::clone(&self.places), root.to_owned());
        let patterns = workspace.ignore.clone();
        let taken = on_disk(move || {
            let (base, texts) = (Arc::clone(&base), places.new_snapshot()?);
            if is_changed {
                WorkspaceSnapshot::of_tree(&root, base, &copied, texts, &patterns)
            } else {
                WorkspaceSnapshot::of_copy(base, copied.clone(), texts)
            }
        });
        taken.await.map_err(|error| io_fault("cannot read the workspace", &error))
    }
}
