//! The directory that a base is copied from: one that was made for it, or an author's template for as long
//! as that is as it was.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

use crate::disk::{CopyOrigin, CopyRules, NodeFacts, TreePlace, UnreadableDirectory, remove_tree};

use super::suite_reach::SuiteReach;

/// Where a directory comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DirectoryOrigin {
    /// It was made for the base, and is removed with it.
    Made,
    /// It belongs to the author of a suite.
    Template(SuiteReach),
}

/// A directory that is copied.
#[derive(Debug, Clone)]
pub(super) struct SourceDirectory {
    pub(super) path: Utf8PathBuf,
    pub(super) origin: DirectoryOrigin,
}

impl SourceDirectory {
    pub(super) fn made(path: Utf8PathBuf) -> Self {
        Self { path, origin: DirectoryOrigin::Made }
    }

    pub(super) fn template(path: &Utf8Path, reach: Reach<'_>) -> Self {
        Self { path: path.to_owned(), origin: DirectoryOrigin::Template(reach.into()) }
    }

    pub(super) fn is_template(&self) -> bool {
        self.origin != DirectoryOrigin::Made
    }

    pub(super) fn place(&self) -> TreePlace<'_> {
        let reach = match &self.origin {
            DirectoryOrigin::Made => Reach::Anywhere,
            DirectoryOrigin::Template(suite) => suite.reach(),
        };
        TreePlace { path: &self.path, reach }
    }

    pub(super) fn rules(&self) -> CopyRules<'static> {
        let origin = match self.origin {
            DirectoryOrigin::Made => CopyOrigin::Made,
            DirectoryOrigin::Template(_) => CopyOrigin::Authored,
        };
        CopyRules { origin, leaves_out: &|_| false }
    }

    /// Nothing is changed in a template.
    pub(super) fn unreadable(&self) -> UnreadableDirectory {
        match self.origin {
            DirectoryOrigin::Made => UnreadableDirectory::UnlockToRead,
            DirectoryOrigin::Template(_) => UnreadableDirectory::Refuse,
        }
    }
}

/// What a base is copied from now.
#[derive(Debug)]
pub(super) struct BaseSource {
    pub(super) directory: SourceDirectory,
    /// Of the entries of the base, in their order.
    pub(super) facts: Vec<NodeFacts>,
}

impl Drop for BaseSource {
    fn drop(&mut self) {
        if !self.directory.is_template() {
            let _ = remove_tree(&self.directory.path);
        }
    }
}
