//! The bases of a run: each is prepared once, by the first case that needs it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Hook, Stage, Workspace};
use evalrig_core::source::{Files as _, Reach};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;

use crate::disk::{Access, Confinement, SuiteFiles, create_new_directory, full_disk_count};
use crate::lock::locked;

use super::additions::Additions;
use super::base::{BaseError, WorkspaceBase, tampered};
use super::base_draft::{BaseDraft, CopiedFacts, copy_template, copy_to, create_empty};
use super::base_source::SourceDirectory;
use super::case_facts::{CaseFacts, run_environment, run_hook_input};
use super::hook::{HookPlace, run_hook};
use super::hook_files::files_of_hook;
use super::place::{WorkspacePlaces, on_disk};
use super::repo::RepoCache;
use super::text_pack::ContentHash;

/// Above this number, bases are removed that no case uses and that can be made again.
const MOST_IDLE: usize = 32;

/// How long a template must have been left alone to be copied without a copy in between: longer than a
/// step of the coarsest clock of a file system.
pub(super) const REST: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) struct BaseCache {
    places: Arc<WorkspacePlaces>,
    repos: RepoCache,
    slots: Mutex<HashMap<String, Arc<BaseSlot>>>,
    /// By the key of a base that can be made again: what was in the first one.
    first: Mutex<HashMap<String, FirstBase>>,
    /// Copies of templates that are being made.
    settling: Mutex<Vec<JoinHandle<()>>>,
    rest: Duration,
}

/// What must be so when a base is made again.
#[derive(Debug, Clone, Copy)]
struct FirstBase {
    digest: ContentHash,
    /// Whether its template did not stay as it was.
    is_unsteady: bool,
}

/// A base, or why there is none: a failure is not tried again in the same run, unless the disk was full.
#[derive(Debug)]
struct BaseSlot {
    prepared: OnceCell<Result<Arc<WorkspaceBase>, Fault>>,
    /// Of which `after_all` runs in the end.
    workspace: Workspace,
    suite: String,
    root: Utf8PathBuf,
    kind: BaseKind,
    /// The programs of `after_all`, as they were before an agent used the base.
    programs: SuiteFiles,
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

    /// Why `after_all` is not run: an agent may have rewritten it.
    fn changed_program(&self, after_all: &Hook) -> Option<String> {
        files_of_hook(after_all, &self.root).iter().find_map(|path| {
            let error = self.programs.check_unchanged(path).err()?;
            let shown = path.strip_prefix(&self.root).unwrap_or(path);
            Some(format!("`after_all` does not run `{shown}`: {error}"))
        })
    }
}

impl BaseCache {
    pub(super) fn new(places: Arc<WorkspacePlaces>, repos: RepoCache, rest: Duration) -> Self {
        Self {
            places,
            repos,
            slots: Mutex::default(),
            first: Mutex::default(),
            settling: Mutex::default(),
            rest,
        }
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
                Ok(copied) => {
                    self.let_settle(&base);
                    return Ok((base, copied));
                }
                Err(BaseError::Copy(error)) => return Err(base.copy_fault(&error)),
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
        let Some((key, slot)) = slots.iter().find(|(_, slot)| is_it(slot)) else { return Ok(()) };
        if !slot.is_repeatable() {
            return Err(tampered());
        }
        if let Some(first) = locked(&self.first).get_mut(key) {
            first.is_unsteady |= base.source().directory.is_template();
        }
        slots.retain(|_, slot| !is_it(slot));
        Ok(())
    }

    /// Begins to copy a template that workspaces are copied from, while their agents run.
    fn let_settle(&self, base: &Arc<WorkspaceBase>) {
        if !base.needs_settling() {
            return;
        }
        let (base, places) = (Arc::clone(base), Arc::clone(&self.places));
        let settle = move || {
            let path = places.new_base()?;
            create_new_directory(&path, Access::Private)?;
            base.settle(path)
        };
        // If it fails, the template is looked at once more by each case.
        let task = tokio::task::spawn_blocking(move || drop(settle()));
        locked(&self.settling).push(task);
    }

    /// The template, the repositories and what `before_all` made of them.
    async fn shared(
        &self,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
    ) -> Result<Arc<WorkspaceBase>, Fault> {
        let key = shared_key(workspace, case);
        let slot = self.slot(key.clone(), workspace, case, BaseKind::Shared);
        let is_repeatable = slot.is_repeatable();
        let prepare = || async {
            let made = match self.of_template(&key, workspace, case.reach).await {
                Some(base) => base,
                None => self.make_shared(workspace, case).await?,
            };
            if is_repeatable {
                self.check_same(key.clone(), &made)?;
            }
            Ok(made)
        };
        self.prepare(&slot, prepare()).await
    }

    /// A template that needs nothing besides and that is left alone, without a copy of it.
    async fn of_template(
        &self,
        key: &str,
        workspace: &Workspace,
        reach: Reach<'_>,
    ) -> Option<Arc<WorkspaceBase>> {
        let has_hooks = workspace.before_all.is_some() || workspace.after_all.is_some();
        let is_unsteady = locked(&self.first).get(key).is_some_and(|first| first.is_unsteady);
        if has_hooks || is_unsteady || !workspace.repos.is_empty() {
            return None;
        }
        let directory = SourceDirectory::template(workspace.template.as_deref()?, reach);
        let (places, patterns, rest) =
            (Arc::clone(&self.places), workspace.ignore.clone(), self.rest);
        let read = on_disk(move || {
            WorkspaceBase::of_template(directory.clone(), places.new_snapshot()?, &patterns, rest)
        });
        // What is wrong with it is said when it is copied.
        read.await.ok().map(Arc::new)
    }

    /// Later cases start from the files that the first one started from, or not at all.
    fn check_same(&self, key: String, base: &WorkspaceBase) -> Result<(), Fault> {
        let digest = base.digest();
        let mut first = locked(&self.first);
        let known = first.entry(key).or_insert(FirstBase { digest, is_unsteady: false });
        if known.digest == digest {
            return Ok(());
        }
        let message = "the template or a repository of the workspace has changed since the first \
                       case of this run";
        Err(Fault::new(Stage::Workspace, FaultKind::ChangedFile, message))
    }

    async fn make_shared(
        &self,
        workspace: &Workspace,
        case: &CaseFacts<'_>,
    ) -> Result<Arc<WorkspaceBase>, Fault> {
        let draft = BaseDraft::new(&self.places).await?;
        copy_template(workspace, case.reach, &draft.path).await?;
        for repo in &workspace.repos {
            self.repos.check_out(repo, case, &draft.path).await?;
        }
        if let Some(hook) = &workspace.before_all {
            let suite = (case.suite, case.root);
            run_once("before_all", hook, workspace, suite, &draft.path).await?;
        }
        draft.finish(&self.places, workspace).await
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
            let draft = BaseDraft::new(&self.places).await?;
            copy_to(&shared, &draft.path).await.map_err(|error| match error {
                BaseError::Tampered => tampered(),
                BaseError::Copy(error) => shared.copy_fault(&error),
            })?;
            self.let_settle(&shared);
            additions.add(workspace, case, &draft.path).await?;
            draft.finish(&self.places, workspace).await
        };
        self.prepare(&slot, prepare()).await
    }

    /// A failure for lack of space says nothing about the next case, which tries again.
    async fn prepare(
        &self,
        slot: &Arc<BaseSlot>,
        make: impl Future<Output = Result<Arc<WorkspaceBase>, Fault>>,
    ) -> Result<Arc<WorkspaceBase>, Fault> {
        let prepare = || async {
            let full = full_disk_count();
            let made = make.await;
            if made.is_err() && full_disk_count() > full {
                locked(&self.slots).retain(|_, known| !Arc::ptr_eq(known, slot));
            }
            made
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
        let confinement = match case.reach {
            Reach::Anywhere => Confinement::None,
            Reach::Inside(_) => Confinement::Root,
        };
        let mut programs = SuiteFiles::new(case.root, confinement);
        for path in workspace.after_all.iter().flat_map(|hook| files_of_hook(hook, case.root)) {
            programs.remember(&path);
        }
        let slot = Arc::new(BaseSlot {
            prepared: OnceCell::new(),
            workspace: workspace.clone(),
            suite: case.suite.to_owned(),
            root: case.root.to_owned(),
            kind,
            programs,
        });
        slots.insert(key, Arc::clone(&slot));
        slot
    }

    /// Waits for the copies of templates that are being made.
    pub(super) async fn settled(&self) {
        let settling = std::mem::take(&mut *locked(&self.settling));
        for task in settling {
            // It fails only by a bug, and then the template stays the base.
            let _ = task.await;
        }
    }

    /// Runs `after_all` of every workspace, then removes the bases. Returns warnings.
    pub(super) async fn finish(&self) -> Vec<String> {
        self.settled().await;
        let slots: Vec<_> = locked(&self.slots).drain().map(|(_, slot)| slot).collect();
        let mut warnings = Vec::new();
        for slot in &slots {
            if let (BaseKind::Shared, Some(hook), Some(Ok(base))) =
                (slot.kind, &slot.workspace.after_all, slot.prepared.get())
            {
                if let Some(warning) = slot.changed_program(hook) {
                    warnings.push(warning);
                    continue;
                }
                let (source, suite) = (base.source(), (slot.suite.as_str(), slot.root.as_path()));
                let path = &source.directory.path;
                let ran = run_once("after_all", hook, &slot.workspace, suite, path);
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
    let key = format!(
        "{} {:?} {template:?} {repos:?} {before_all:?} {after_all:?} {ignore:?} {env:?}",
        case.root, case.reach
    );
    // What is left out of a repository depends on the suite.
    if repos.is_empty() { key } else { format!("{key} {:?}", case.judging) }
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
    let place = HookPlace { root, workspace: path, cwd, env: &env, input: &input, sandbox: None };
    run_hook(name, hook, place).await
}
