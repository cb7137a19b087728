//! The files from which suites are loaded: the disk, and on request a list of every path that was
//! looked at, with what was there at that moment.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{DirectoryListing, FileFacts, Files, Reach};

use super::Disk;
use super::path_state::PathState;

/// The disk. Clones share their list.
#[derive(Debug, Clone, Default)]
pub struct LoadFiles {
    seen: Option<Arc<Mutex<SeenPaths>>>,
}

/// Paths with what was there when they were first looked at.
pub(crate) type SeenPaths = BTreeMap<Utf8PathBuf, PathState>;

impl LoadFiles {
    /// Remembers every path from now on.
    pub(crate) fn recording() -> Self {
        Self { seen: Some(Arc::default()) }
    }

    /// What was looked at. A path that did not exist is part of it: a file may appear there.
    pub(crate) fn take_seen(&self) -> SeenPaths {
        self.locked().map(|mut seen| std::mem::take(&mut *seen)).unwrap_or_default()
    }

    pub(crate) fn has_seen(&self, path: &Utf8Path) -> bool {
        self.locked().is_some_and(|seen| seen.contains_key(path))
    }

    fn locked(&self) -> Option<MutexGuard<'_, SeenPaths>> {
        let seen = self.seen.as_ref()?;
        Some(seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Before the file is read, so that a change while it is read is noticed later.
    fn note(&self, path: &Utf8Path, state: impl FnOnce(&Utf8Path) -> PathState) {
        let Some(mut seen) = self.locked() else { return };
        // A directory may be looked at before it is listed.
        if seen.get(path).is_none_or(|known| known.is_unlisted_directory()) {
            seen.insert(path.to_owned(), state(path));
        }
    }
}

impl Files for LoadFiles {
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
        self.note(path, PathState::of);
        Disk.look(path, reach)
    }

    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        self.note(path, PathState::of);
        Disk.read(path, reach, limit)
    }

    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn BufRead>> {
        self.note(path, PathState::of);
        Disk.open(path, reach)
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        Disk.canonicalize(path)
    }

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
        self.note(directory, PathState::of_listed);
        Disk.list(directory, reach)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_path_is_remembered_with_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let (file, none) = (root.join("a"), root.join("none"));
        fs::write(&file, "one").unwrap();
        let files = LoadFiles::recording();
        files.look(root, Reach::Anywhere).unwrap();
        files.list(root, Reach::Anywhere).unwrap();
        files.read(&file, Reach::Anywhere, 100).unwrap();
        assert!(files.look(&none, Reach::Anywhere).is_err());
        let seen = files.take_seen();
        let changed = || -> Vec<&Utf8Path> {
            let changed = seen.iter().filter(|(path, state)| **state != state.now(path));
            changed.map(|(path, _)| path.as_path()).collect()
        };
        assert_eq!((seen.len(), changed()), (3, vec![]));
        fs::write(&file, "other").unwrap();
        assert_eq!(changed(), [&file]);
        fs::write(&none, "").unwrap();
        assert_eq!(changed(), [root, &file, &none]);
        assert!(files.take_seen().is_empty() && LoadFiles::default().take_seen().is_empty());
    }

    #[test]
    fn a_directory_that_was_only_looked_at_may_get_entries() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let files = LoadFiles::recording();
        files.look(root, Reach::Anywhere).unwrap();
        let seen = files.take_seen();
        fs::write(root.join("a"), "").unwrap();
        assert_eq!(seen[root], seen[root].now(root));
        fs::remove_dir_all(root).unwrap();
        assert_ne!(seen[root], seen[root].now(root));
    }
}
