//! A bucket in a file, for all processes of a user on one machine.

use std::fs::TryLockError;
use std::io::Write;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use crate::disk::{
    Access, LockWait, OpenFile, create_directories, open_to_append, read_whole, user_cache,
};

use super::bucket::BucketState;
use super::{BucketStore, BucketStores};

/// Give up after this long; the process that holds the file is probably suspended.
const LOCK_WAIT: LockWait =
    LockWait { patience: Duration::from_secs(60), pause: Duration::from_millis(1) };

const LARGEST: u64 = 64 * 1024;

/// The buckets of a user on one machine.
#[derive(Debug, Default)]
pub(crate) struct FileStores;

impl BucketStores for FileStores {
    fn open(&self, account: &str) -> Result<Box<dyn BucketStore>, String> {
        Ok(Box::new(FileStore::open(account)?))
    }
}

/// The file is locked while it is read and written.
#[derive(Debug)]
struct FileStore {
    path: Utf8PathBuf,
    /// One task of this process at a time.
    turn: Mutex<()>,
}

impl FileStore {
    fn open(account: &str) -> Result<Self, String> {
        let cache = user_cache().ok_or("there is no directory for caches; set `XDG_CACHE_HOME`")?;
        Self::open_below(&cache.join("rate"), account)
    }

    fn open_below(directory: &Utf8Path, account: &str) -> Result<Self, String> {
        create_directories(directory, Access::Private)
            .map_err(|error| format!("cannot create `{directory}`: {error}"))?;
        Ok(Self { path: directory.join(format!("{account}.json")), turn: Mutex::new(()) })
    }

    async fn lock(&self) -> Result<OpenFile, String> {
        let path = &self.path;
        let file = open_to_append(path.as_path(), Access::Private)
            .map_err(|error| format!("cannot open `{path}`: {error}"))?;
        match LOCK_WAIT.wait(|| file.try_lock()).await {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(format!("another process holds `{path}`")),
            Err(TryLockError::Error(error)) => Err(format!("cannot lock `{path}`: {error}")),
        }
    }

    fn change(
        &self,
        file: &mut OpenFile,
        change: &mut (dyn FnMut(&mut BucketState) + Send),
    ) -> std::io::Result<()> {
        let bytes = read_whole(&self.path, Reach::Anywhere, LARGEST)?;
        // Empty at first, and after a crash in the middle of writing.
        let before: Option<BucketState> = serde_json::from_slice(&bytes).ok();
        let mut state = before.clone().unwrap_or_default();
        change(&mut state);
        if before.as_ref() == Some(&state) {
            return Ok(());
        }
        let text = serde_json::to_vec(&state)?;
        file.set_length(0)?;
        file.write_all(&text)
    }
}

impl BucketStore for FileStore {
    fn update<'a>(
        &'a self,
        change: &'a mut (dyn FnMut(&mut BucketState) + Send),
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let mut file = self.lock().await?;
            let changed = self.change(&mut file, change);
            changed.map_err(|error| format!("cannot change `{}`: {error}", self.path))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{RateBucket, RateLimits};
    use super::*;

    fn store(folder: &tempfile::TempDir) -> FileStore {
        FileStore::open_below(Utf8Path::from_path(folder.path()).unwrap(), "a").unwrap()
    }

    #[tokio::test]
    async fn several_buckets_of_one_file_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let limits = RateLimits { requests_per_minute: Some(6000), tokens_per_minute: None };
        let buckets: Vec<_> =
            (0..4).map(|_| Arc::new(RateBucket::new(limits, Box::new(store(&folder))))).collect();
        let begun = std::time::Instant::now();
        let tasks: Vec<_> = (0..40)
            .map(|at: usize| {
                let bucket = Arc::clone(&buckets[at % 4]);
                tokio::spawn(async move { bucket.take().await.unwrap() })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        // A hundred per second: forty cannot be sent sooner, from whichever bucket.
        assert!(begun.elapsed() >= Duration::from_millis(390), "{:?}", begun.elapsed());
    }

    #[tokio::test]
    async fn a_damaged_file_is_a_new_bucket() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        for text in ["", "{\"requests\":", "[]", "{\"requests\":1e999}"] {
            std::fs::write(folder.path().join("a.json"), text).unwrap();
            let mut seen = None;
            store.update(&mut |state| seen = Some(state.clone())).await.unwrap();
            assert_eq!(seen, Some(BucketState::default()), "{text}");
        }
    }
}
