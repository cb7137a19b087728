//! Directories of a run's workspaces below its scratch directory, and blocking work on them.
//!
//! ```text
//! SCRATCH/bases/NUMBER                    what workspaces are copied from
//! SCRATCH/snapshots/NUMBER                texts of a base, or of a workspace that differs from its base
//! SCRATCH/workspaces/RANDOM/workspace     the workspace of a case
//! SCRATCH/workspaces/RANDOM/check-NUMBER  a copy in which a command runs
//! SCRATCH/finished/RANDOM                directories of finished cases that are removed at the end
//! ```
//!
//! `workspaces` cannot be listed, so that an agent that looks around does not come across other cases.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Stage};

use crate::descriptor::{self, DescriptorWait};
use crate::disk::{Access, CopyError, create_directories, create_new_directory, set_mode};

use super::removal::CaseRemoval;

/// How the names of directories begin that hold kept workspaces.
pub(super) const KEPT: &str = "kept-";

/// How the names of scratch directories begin.
const RUN: &str = "evalrig-";

/// Whether this is the name of a run's scratch directory: `evalrig-PROCESS-TIME`.
pub(super) fn is_run_directory(name: &str) -> bool {
    name.strip_prefix(RUN).is_some_and(|rest| !rest.is_empty())
}

/// Paths of new directories.
#[derive(Debug)]
pub(super) struct WorkspacePlaces {
    scratch: Utf8PathBuf,
    count: AtomicUsize,
    removal: CaseRemoval,
}

impl WorkspacePlaces {
    pub(super) fn new(scratch: &Utf8Path) -> Self {
        let removal = CaseRemoval::new(scratch);
        Self { scratch: scratch.to_owned(), count: AtomicUsize::new(0), removal }
    }

    pub(super) fn scratch(&self) -> &Utf8Path {
        &self.scratch
    }

    pub(super) fn removal(&self) -> &CaseRemoval {
        &self.removal
    }

    fn next(&self) -> usize {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// A new base; it does not exist yet.
    pub(super) fn new_base(&self) -> io::Result<Utf8PathBuf> {
        let parent = self.scratch.join("bases");
        create_directories(&parent, Access::Private)?;
        Ok(parent.join(self.next().to_string()))
    }

    /// A new file for the texts of a snapshot; it does not exist yet.
    pub(super) fn new_snapshot(&self) -> io::Result<Utf8PathBuf> {
        let parent = self.scratch.join("snapshots");
        create_directories(&parent, Access::Private)?;
        Ok(parent.join(self.next().to_string()))
    }

    /// The directory of a case, which holds its workspace and its copies.
    pub(super) fn create_case(&self) -> io::Result<Utf8PathBuf> {
        let parent = self.scratch.join("workspaces");
        if !parent.is_dir() {
            create_directories(&parent, Access::Private)?;
            set_mode(&parent, 0o300)?;
        }
        loop {
            let random = RandomState::new().hash_one(self.next());
            let path = parent.join(format!("{random:016x}"));
            match create_new_directory(&path, Access::Private) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|()| path),
            }
        }
    }
}

pub(super) fn io_fault(what: &str, error: &dyn std::fmt::Display) -> Fault {
    Fault::new(Stage::Workspace, FaultKind::Io, format!("{what}: {error}"))
}

/// Errors that may be a lack of descriptors.
pub(super) trait StepError: From<io::Error> + Send + 'static {
    fn is_missing_descriptor(&self) -> bool;
}

impl StepError for io::Error {
    fn is_missing_descriptor(&self) -> bool {
        descriptor::is_missing_descriptor(self)
    }
}

impl StepError for CopyError {
    fn is_missing_descriptor(&self) -> bool {
        descriptor::is_missing_descriptor(&self.error)
    }
}

/// Runs work that waits for the disk. Work that lacks a descriptor is not at fault: it is done again when
/// there may be one.
pub(super) async fn on_disk<T, E, W>(work: W) -> Result<T, E>
where
    T: Send + 'static,
    E: StepError,
    W: Fn() -> Result<T, E> + Clone + Send + 'static,
{
    let mut wait = DescriptorWait::new();
    loop {
        let done = tokio::task::spawn_blocking(work.clone()).await;
        match done.unwrap_or_else(|error| Err(io::Error::other(error).into())) {
            Err(error) if error.is_missing_descriptor() => {
                if !wait.wait().await {
                    descriptor::note_exhaustion();
                    return Err(error);
                }
            }
            done => return done,
        }
    }
}
