//! Bundles in the cache of a worker: a directory for each, and two locks beside it. A process that uses the
//! bundle shares the first, so that nothing removes it; while it writes files it also holds the second. No
//! process waits for another one's run.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::{Access, OpenFile, WritePath, open_to_append, remove_file, remove_tree};

use super::manifest::is_hash;

/// Shared while the bundle is used.
const LOCK: &str = ".lock";

/// Held by one process, while it writes files.
const WRITING: &str = ".writing";

/// Between two attempts to get a lock.
const AGAIN: Duration = Duration::from_millis(50);

/// A directory that is not removed while this exists.
#[derive(Debug)]
pub(crate) struct CachedBundle {
    pub(crate) directory: Utf8PathBuf,
    lock: OpenFile,
}

impl CachedBundle {
    /// Waits while another process removes the bundle.
    pub(super) async fn share(cache: &Utf8Path, hash: &str) -> std::io::Result<Self> {
        loop {
            let path = beside(cache, hash, LOCK);
            let lock = open_to_append(WritePath::inside(cache, &path), Access::Private)?;
            while lock.try_lock_shared().is_err() {
                tokio::time::sleep(AGAIN).await;
            }
            if lock.is_at_its_path() {
                return Ok(Self { directory: cache.join(hash), lock });
            }
        }
    }

    /// Waits until no other process writes files of the bundle; none does until the result is dropped.
    pub(super) async fn write_alone(&self) -> std::io::Result<OpenFile> {
        let Some((cache, hash)) = self.directory.parent().zip(self.directory.file_name()) else {
            return Err(std::io::ErrorKind::NotFound.into());
        };
        let path = beside(cache, hash, WRITING);
        let lock = open_to_append(WritePath::inside(cache, &path), Access::Private)?;
        while lock.try_lock().is_err() {
            tokio::time::sleep(AGAIN).await;
        }
        Ok(lock)
    }

    /// Removes the bundle unless another process uses it.
    pub(super) fn remove(self) {
        let Self { directory, lock } = self;
        drop(lock);
        if let (Some(cache), Some(hash)) = (directory.parent(), directory.file_name()) {
            remove_unlocked(cache, hash);
        }
    }
}

/// Removes bundles that no process uses, but for these.
pub(super) fn remove_unused(cache: &Utf8Path, used: &BTreeSet<String>) {
    let entries = cache.read_dir_utf8().into_iter().flatten().flatten();
    let hash_of = |name: &str| {
        let lock = name.strip_suffix(LOCK).or_else(|| name.strip_suffix(WRITING));
        lock.unwrap_or(name).to_owned()
    };
    let found: BTreeSet<String> = entries.map(|entry| hash_of(entry.file_name())).collect();
    for hash in found.difference(used).filter(|hash| is_hash(hash)) {
        remove_unlocked(cache, hash);
    }
}

fn remove_unlocked(cache: &Utf8Path, hash: &str) {
    let path = beside(cache, hash, LOCK);
    let Ok(lock) = open_to_append(WritePath::inside(cache, &path), Access::Private) else { return };
    if lock.try_lock().is_err() || !lock.is_at_its_path() {
        return;
    }
    // What stays is tried again at the next start.
    if remove_tree(&cache.join(hash)).is_ok() || !cache.join(hash).exists() {
        let _ = remove_file(&beside(cache, hash, WRITING));
        let _ = remove_file(&path);
    }
}

fn beside(cache: &Utf8Path, hash: &str, suffix: &str) -> Utf8PathBuf {
    cache.join(format!("{hash}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::create_directories;

    fn names(cache: &Utf8Path) -> BTreeSet<String> {
        let entries = cache.read_dir_utf8().unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_owned()).collect()
    }

    async fn bundle(cache: &Utf8Path, hash: &str) -> CachedBundle {
        let bundle = CachedBundle::share(cache, hash).await.unwrap();
        let _writing = bundle.write_alone().await.unwrap();
        create_directories(&bundle.directory, Access::Private).unwrap();
        std::fs::write(bundle.directory.join("file"), "x").unwrap();
        bundle
    }

    #[tokio::test]
    async fn only_bundles_that_nobody_uses_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(folder.path()).unwrap();
        let [used, known, left] = ["a", "b", "c"].map(|letter| letter.repeat(64));
        let held = bundle(cache, &used).await;
        drop(bundle(cache, &known).await);
        drop(bundle(cache, &left).await);
        std::fs::write(cache.join("notes"), "mine").unwrap();
        remove_unused(cache, &BTreeSet::from([known.clone()]));
        let both = |hash: &str| ["", LOCK, WRITING].map(|suffix| format!("{hash}{suffix}"));
        let mut expected: BTreeSet<String> =
            [both(&used), both(&known)].concat().into_iter().collect();
        expected.insert("notes".to_owned());
        assert_eq!(names(cache), expected);
        held.remove();
        remove_unused(cache, &BTreeSet::new());
        assert_eq!(names(cache), BTreeSet::from(["notes".to_owned()]));
    }

    #[tokio::test]
    async fn a_bundle_that_another_one_uses_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(folder.path()).unwrap();
        let hash = "d".repeat(64);
        let held = bundle(cache, &hash).await;
        // It waits for no one that has written its files, although they are still used.
        let other = bundle(cache, &hash).await;
        held.remove();
        assert!(cache.join(&hash).join("file").exists());
        // One that was removed meanwhile is noticed.
        std::fs::remove_file(beside(cache, &hash, LOCK)).unwrap();
        assert!(!other.lock.is_at_its_path());
    }
}
