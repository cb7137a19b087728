//! The directory of a workspace once its agent has run: it may have removed it, locked it, or put something
//! else in its place (spec 17.3).

use camino::Utf8Path;
use evalrig_core::model::{Fault, FaultKind, Stage};

use crate::disk::{GuardedDirectory, GuardedState};

use super::place::io_fault;

/// Where a workspace is. Nothing else is taken for it.
#[derive(Debug, Clone)]
pub(super) struct CaseRoot(GuardedDirectory);

impl CaseRoot {
    /// `directory` is that of the case, in which no program has run yet.
    pub(super) fn inside(directory: &Utf8Path) -> Result<Self, Fault> {
        let guarded = GuardedDirectory::new(directory.join("workspace"));
        Ok(Self(guarded.map_err(|error| io_fault("cannot create the workspace", &error))?))
    }

    pub(super) fn path(&self) -> &Utf8Path {
        self.0.path()
    }

    /// To be called before the workspace is used in any way, as programs may have outlived the agent. An
    /// agent that removed its workspace has deleted every file, and is graded like that.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let unusable = |error| io_fault("cannot read the workspace", &error);
        match self.0.look().map_err(unusable)? {
            GuardedState::Present => Ok(()),
            GuardedState::Gone => self.0.restore().map_err(unusable),
            GuardedState::Replaced => Err(replaced()),
        }
    }
}

/// Whatever is there, it says nothing about what the agent did.
fn replaced() -> Fault {
    let message = "something else was put in the place of the workspace while the case ran";
    Fault::new(Stage::Workspace, FaultKind::Tampered, message)
}
