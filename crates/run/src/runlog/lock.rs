//! Allows one writer at a time with an exclusive lock on `.lock` in the store. The operating system
//! releases it when the process ends.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::time::Duration;

use camino::Utf8Path;

use super::store::Store;
use super::store_error::StoreError;
use crate::disk::{
    Access, LockWait, OpenFile, create_durable_directories, open_regular, open_to_append,
};

/// How long to wait for other writers (spec 13.6).
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Between two attempts; short, because writers are quick.
const PAUSE: Duration = Duration::from_millis(2);

/// Held until it is dropped.
#[derive(Debug)]
pub(super) struct StoreLock(#[allow(dead_code, reason = "open is locked")] LockFile);

#[derive(Debug)]
enum LockFile {
    Writer(OpenFile),
    Reader(File),
}

impl LockFile {
    fn try_lock(&self) -> Result<(), TryLockError> {
        match self {
            Self::Writer(file) => file.try_lock(),
            Self::Reader(file) => file.try_lock(),
        }
    }
}

impl StoreLock {
    /// Creates the directory if it is missing.
    pub(super) fn acquire(store: &Store) -> Result<Self, StoreError> {
        Self::acquire_within(store, LONGEST_WAIT)
    }

    /// Creates nothing, so it works in read-only stores. Returns `None` without a lock file: then
    /// there has never been a writer.
    pub(super) fn acquire_for_reading(store: &Store) -> Result<Option<Self>, StoreError> {
        let path = store.directory().join(".lock");
        match open_regular(&path, store.reach()) {
            Ok(file) => Self::wait_for(LockFile::Reader(file), &path, LONGEST_WAIT).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("locked", &path, error)),
        }
    }

    fn acquire_within(store: &Store, wait: Duration) -> Result<Self, StoreError> {
        create_durable_directories(store.own_place(), Access::Private)
            .map_err(|error| StoreError::io("made", store.directory(), error))?;
        let path = store.directory().join(".lock");
        if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Err(StoreError::Link { path });
        }
        let file = open_to_append(store.place(&path), Access::Private);
        let file = file.map_err(|error| StoreError::io("locked", &path, error))?;
        Self::wait_for(LockFile::Writer(file), &path, wait)
    }

    fn wait_for(file: LockFile, path: &Utf8Path, wait: Duration) -> Result<Self, StoreError> {
        let waited = LockWait { patience: wait, pause: PAUSE }.block(|| file.try_lock());
        match waited {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::Error(error)) => Err(StoreError::io("locked", path, error)),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Busy { path: path.to_owned(), seconds: wait.as_secs() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_waits_and_then_gives_up() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Utf8Path::from_path(folder.path()).unwrap().join("a/b"));
        let first = StoreLock::acquire(&store).unwrap();
        let second = StoreLock::acquire_within(&store, Duration::from_millis(20));
        assert!(matches!(second, Err(StoreError::Busy { .. })));
        drop(first);
        assert!(StoreLock::acquire(&store).is_ok());
        assert!(StoreLock::acquire_for_reading(&store).unwrap().is_some());
        let missing = Store::open(store.directory().join("c"));
        assert!(StoreLock::acquire_for_reading(&missing).unwrap().is_none());
    }

    #[test]
    fn a_lock_file_that_cannot_be_opened_is_an_error_for_readers() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Utf8Path::from_path(folder.path()).unwrap().to_owned());
        std::fs::create_dir(store.directory().join(".lock")).unwrap();
        let refused = StoreLock::acquire_for_reading(&store);
        assert!(matches!(refused, Err(StoreError::Io { .. })), "{refused:?}");
    }
}
