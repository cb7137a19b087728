//! The bases of a run: each is prepared once, by the first case that needs it.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, Workspace};
use evalrig_core::source::Reach;
use tokio::sync::OnceCell;

use crate::disk::{
    Access, CopyOrigin, CopyRules, NodeFacts, TreePlace, copy_tree, create_new_directory,
    remove_tree,
};
use crate::lock::locked;

use super::additions::Additions;
use super::base::{BaseError, WorkspaceBase, tampered};
use super::case_facts::{CaseFacts, run_environment, run_hook_input};
use super::hook::{HookPlace, run_hook};
use super::place::{StepError, WorkspacePlaces, io_fault, on_disk};
use super::repo::RepoCache;

/// Above this number, bases are removed that no case uses and that can be made again.
const MOST_IDLE: usize = 32;

/// The facts of a copied base, by position.
pub(super) type CopiedFacts = Vec<Option<NodeFacts>>;

#[derive(Debug)]
pub(super) struct BaseCache {
    places: Arc<WorkspacePlaces>,
    repos: RepoCache,
    slots: Mutex<HashMap<String, Arc<BaseSlot>>>,
}

/// A base, or why there is none: a failure is not tried again in the same run.
#[derive(Debug)]
struct BaseSlot {
    prepared: OnceCell<Result<Arc<WorkspaceBase>, Fault>>,
    /// Of which `after_all` runs in the end.
    workspace: Workspace,
    suite: String,
    root: Utf8PathBuf,
    kind: BaseKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BaseKind {
    /// Template, repositories, `before_all`.
    Shared,
    /// Also attached files, further directories and `setup`.
    Complete,
}

impl BaseSlot {
    /// Whether it may be removed and prepared once more without anyone noticing.
    fn is_repeatable(&self) -> bool {
        let workspace = &self.workspace;
        let has_hooks = workspace.before_all.is_some() || workspace.after_all.is_some();
        !has_hooks && self.kind == BaseKind::Shared
    }
}

impl BaseCache {
    pub(super) fn new(places: Arc<WorkspacePlaces>, repos: RepoCache) -> Self {
        Self { places, repos, slots: Mutex::new(HashMap::new()) }
    }

    /// Copies the base of a workspace. One that was changed is made again if that is possible: the case
    /// at hand is not to blame.
    pub(super) async fn copy(
        &self,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
        additions: Additions<'_>,
        target: &Utf8Path,
    ) -> Result<(Arc<WorkspaceBase>, CopiedFacts), Fault> {
        let mut is_second = false;
        loop {
            let mut base = self.shared(workspace, case).await?;
            if workspace.setup_cache && additions.are_any(workspace) {
                base = self.complete(base, workspace, case, additions).await?;
            }
            create_empty(target).await?;
            match copy_to(&base, target).await {
                Ok(copied) => return Ok((base, copied)),
                Err(BaseError::Copy(error)) => {
                    return Err(io_fault("cannot copy the workspace", &error));
                }
                Err(BaseError::Tampered) if is_second => return Err(tampered()),
                Err(BaseError::Tampered) => self.forget(&base)?,
            }
            is_second = true;
        }
    }

    /// Lets a base that was changed be made again.
    fn forget(&self, base: &Arc<WorkspaceBase>) -> Result<(), Fault> {
        let mut slots = locked(&self.slots);
        let is_it = |slot: &BaseSlot| matches!(slot.prepared.get(), Some(Ok(known)) if Arc::ptr_eq(known, base));
        match slots.values().find(|slot| is_it(slot)) {
            Some(slot) if !slot.is_repeatable() => Err(tampered()),
            _ => {
                slots.retain(|_, slot| !is_it(slot));
                Ok(())
            }
        }
    }

    /// The template, the repositories and what `before_all` made of them.
    async fn shared(
        &self,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
    ) -> Result<Arc<WorkspaceBase>, Fault> {
        let slot = self.slot(shared_key(workspace, case), workspace, case, BaseKind::Shared);
        let prepare = || async {
            let draft = self.new_draft().await?;
            copy_template(workspace, case.root, &draft.path).await?;
            for repo in &workspace.repos {
                self.repos.check_out(repo, &draft.path).await?;
            }
            if let Some(hook) = &workspace.before_all {
                let suite = (case.suite, case.root);
                run_once("before_all", hook, workspace, suite, &draft.path).await?;
            }
            draft.finish(&self.places, workspace).await
        };
        slot.prepared.get_or_init(prepare).await.clone()
    }

    /// The same with everything that a case adds.
    async fn complete(
        &self,
        shared: Arc<WorkspaceBase>,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
        additions: Additions<'_>,
    ) -> Result<Arc<WorkspaceBase>, Fault> {
        let key = format!(
            "{} {:?} {:?} {:?}",
            shared_key(workspace, case),
            workspace.setup,
            workspace.cwd,
            additions
        );
        let slot = self.slot(key, workspace, case, BaseKind::Complete);
        let prepare = || async {
            let draft = self.new_draft().await?;
            copy_to(&shared, &draft.path).await.map_err(|error| match error {
                BaseError::Tampered => tampered(),
                BaseError::Copy(error) => io_fault("cannot copy the workspace", &error),
            })?;
            additions.add(workspace, case, &draft.path).await?;
            draft.finish(&self.places, workspace).await
        };
        slot.prepared.get_or_init(prepare).await.clone()
    }

    fn slot(
        &self,
        key: String,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
        kind: BaseKind,
    ) -> Arc<BaseSlot> {
        let mut slots = locked(&self.slots);
        if let Some(slot) = slots.get(&key) {
            return Arc::clone(slot);
        }
        if slots.len() >= MOST_IDLE {
            slots.retain(|_, slot| !slot.is_repeatable() || is_in_use(slot));
        }
        let slot = Arc::new(BaseSlot {
            prepared: OnceCell::new(),
            workspace: workspace.clone(),
            suite: case.suite.to_owned(),
            root: case.root.to_owned(),
            kind,
        });
        slots.insert(key, Arc::clone(&slot));
        slot
    }

    async fn new_draft(&self) -> Result<BaseDraft, Fault> {
        let places = Arc::clone(&self.places);
        let created = on_disk(move || {
            let path = places.new_base()?;
            create_new_directory(&path, Access::Private)?;
            io::Result::Ok(path)
        });
        let path = created.await.map_err(|error| cannot_create(&error))?;
        Ok(BaseDraft { path, is_placed: false })
    }

    /// Runs `after_all` of every workspace, then removes the bases. Returns warnings.
    pub(super) async fn finish(&self) -> Vec<String> {
        let slots: Vec<_> = locked(&self.slots).drain().map(|(_, slot)| slot).collect();
        let mut warnings = Vec::new();
        for slot in &slots {
            if let (BaseKind::Shared, Some(hook), Some(Ok(base))) =
                (slot.kind, &slot.workspace.after_all, slot.prepared.get())
            {
                let ran = run_once(
                    "after_all",
                    hook,
                    &slot.workspace,
                    (&slot.suite, &slot.root),
                    &base.path,
                );
                warnings.extend(ran.await.err().map(|fault| fault.message));
            }
        }
        // A failure leaves them to the end of the run.
        let _ = tokio::task::spawn_blocking(move || drop(slots)).await;
        warnings
    }
}

/// Whether a case may use it.
fn is_in_use(slot: &Arc<BaseSlot>) -> bool {
    match slot.prepared.get() {
        Some(Ok(base)) => Arc::strong_count(slot) > 1 || Arc::strong_count(base) > 1,
        Some(Err(_)) => false,
        None => true,
    }
}

/// Equal workspaces have equal keys.
fn shared_key(workspace: &Workspace, case: &CaseFacts<'_>) -> String {
    let Workspace { template, repos, before_all, after_all, ignore, env, .. } = workspace;
    format!("{} {template:?} {repos:?} {before_all:?} {after_all:?} {ignore:?} {env:?}", case.root)
}

fn cannot_create(error: &io::Error) -> Fault {
    io_fault("cannot create the workspace", error)
}

async fn run_once(
    name: &str,
    hook: &evalrig_core::model::Hook,
    workspace: &Workspace,
    (suite, root): (&str, &Utf8Path),
    path: &Utf8Path,
) -> Result<(), Fault> {
    let env = run_environment(workspace, suite, path);
    let input = run_hook_input(path);
    let cwd = workspace.cwd.as_deref();
    run_hook(name, hook, HookPlace { root, workspace: path, cwd, env: &env, input: &input }).await
}

/// An empty directory, whatever an earlier attempt left there.
async fn create_empty(path: &Utf8Path) -> Result<(), Fault> {
    let path = path.to_owned();
    let created = on_disk(move || match create_new_directory(&path, Access::Private) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_tree(&path)?;
            create_new_directory(&path, Access::Private)
        }
        created => created,
    });
    created.await.map_err(|error| cannot_create(&error))
}

async fn copy_template(
    workspace: &Workspace,
    root: &Utf8Path,
    target: &Utf8Path,
) -> Result<(), Fault> {
    let Some(template) = workspace.template.clone() else {
        return Ok(());
    };
    let (from, to, root) = (template.clone(), target.to_owned(), root.to_owned());
    let copied = on_disk(move || {
        let rules = CopyRules { origin: CopyOrigin::Authored, leaves_out: &|_| false };
        let from = TreePlace { path: &from, reach: Reach::Inside(&root) };
        copy_tree(from, to.as_path().into(), rules).map(drop)
    });
    let copied = copied.await;
    copied.map_err(|error| io_fault(&format!("cannot copy the template `{template}`"), &error))
}

async fn copy_to(base: &Arc<WorkspaceBase>, target: &Utf8Path) -> Result<CopiedFacts, BaseError> {
    let (base, target) = (Arc::clone(base), target.to_owned());
    on_disk(move || base.copy_to(&target)).await
}

impl StepError for BaseError {
    fn is_missing_descriptor(&self) -> bool {
        match self {
            Self::Tampered => false,
            Self::Copy(error) => error.is_missing_descriptor(),
        }
    }
}

/// A directory that becomes a base, or is removed.
#[derive(Debug)]
struct BaseDraft {
    path: Utf8PathBuf,
    is_placed: bool,
}

impl BaseDraft {
    async fn finish(
        mut self,
        places: &Arc<WorkspacePlaces>,
        workspace: &Workspace,
    ) -> Result<Arc<WorkspaceBase>, Fault> {
        let (path, places) = (self.path.clone(), Arc::clone(places));
        let patterns = workspace.ignore.clone();
        let read =
            on_disk(move || WorkspaceBase::of(path.clone(), places.new_snapshot()?, &patterns));
        let base = read.await;
        let base = base.map_err(|error| io_fault("cannot read the workspace", &error))?;
        self.is_placed = true;
        Ok(Arc::new(base))
    }
}

impl Drop for BaseDraft {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = remove_tree(&self.path);
        }
    }
}
