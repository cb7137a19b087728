//! How a base is made in a directory of the run, and how it is copied.

use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, Workspace};
use evalrig_core::source::Reach;

use crate::disk::{Access, CopyError, NodeFacts, copy_tree, create_new_directory, remove_tree};

use super::base::{BaseError, WorkspaceBase};
use super::base_source::SourceDirectory;
use super::place::{StepError, WorkspacePlaces, io_fault, on_disk};

/// The facts of a copied base, by position.
pub(super) type CopiedFacts = Vec<Option<NodeFacts>>;

/// A directory that becomes a base, or is removed.
#[derive(Debug)]
pub(super) struct BaseDraft {
    pub(super) path: Utf8PathBuf,
    is_placed: bool,
}

impl BaseDraft {
    /// Empty.
    pub(super) async fn new(places: &Arc<WorkspacePlaces>) -> Result<Self, Fault> {
        let places = Arc::clone(places);
        let created = on_disk(move || {
            let path = places.new_base()?;
            create_new_directory(&path, Access::Private)?;
            io::Result::Ok(path)
        });
        let path = created.await.map_err(|error| cannot_create(&error))?;
        Ok(Self { path, is_placed: false })
    }

    pub(super) async fn finish(
        mut self,
        places: &Arc<WorkspacePlaces>,
        workspace: &Workspace,
    ) -> Result<Arc<WorkspaceBase>, Fault> {
        let (path, places) = (self.path.clone(), Arc::clone(places));
        let patterns = workspace.ignore.clone();
        let read = on_disk(move || {
            let directory = SourceDirectory::made(path.clone());
            WorkspaceBase::of(directory, places.new_snapshot()?, &patterns)
        });
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

fn cannot_create(error: &io::Error) -> Fault {
    io_fault("cannot create the workspace", error)
}

/// An empty directory, whatever an earlier attempt left there.
pub(super) async fn create_empty(path: &Utf8Path) -> Result<(), Fault> {
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

pub(super) async fn copy_template(
    workspace: &Workspace,
    reach: Reach<'_>,
    target: &Utf8Path,
) -> Result<(), Fault> {
    let Some(template) = &workspace.template else {
        return Ok(());
    };
    let (from, to) = (SourceDirectory::template(template, reach), target.to_owned());
    let copied =
        on_disk(move || copy_tree(from.place(), to.as_path().into(), from.rules()).map(drop));
    copied.await.map_err(|error| template_fault(template, &error))
}

fn template_fault(template: &Utf8Path, error: &CopyError) -> Fault {
    io_fault(&format!("cannot copy the template `{template}`"), error)
}

impl WorkspaceBase {
    pub(super) fn copy_fault(&self, error: &CopyError) -> Fault {
        let source = self.source();
        if source.directory.is_template() {
            template_fault(&source.directory.path, error)
        } else {
            io_fault("cannot copy the workspace", error)
        }
    }
}

pub(super) async fn copy_to(
    base: &Arc<WorkspaceBase>,
    target: &Utf8Path,
) -> Result<CopiedFacts, BaseError> {
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
