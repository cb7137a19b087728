//! The answer cache (spec 11.8): answers of targets under `.evalrig/cache`, one readable file each, named
//! by a digest of everything that decides the answer. A file that is damaged, or of another version, is
//! ignored, so the target is asked again.

mod entry;
mod key;
mod prune;

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Transcript;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Reach;

use crate::disk::{Access, Durability, WritePath, create_own_directory, read_whole, replace};
use crate::lock::locked;
use crate::results::CaseKey;

pub(crate) use key::{AnswerKey, AskedCase};

use entry::{entry_text, read_entry};
use prune::{PruneLimits, prune};

/// Under the repository root.
const FOLDER: &str = ".evalrig/cache";
/// Keeps the folder out of git, whatever the repository ignores.
const IGNORE: (&str, &str) = (".gitignore", "*\n");
/// Larger answers are not kept.
const LARGEST: u64 = 32 * 1024 * 1024;

/// An answer, and how many attempts it took.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CachedAnswer {
    pub(crate) transcript: Transcript,
    pub(crate) attempts: u32,
}

/// The caches of the repositories of a run.
#[derive(Debug)]
pub(crate) struct AnswerCache {
    secrets: Arc<Secrets>,
    /// Roots whose folder exists.
    ready: Mutex<HashSet<Utf8PathBuf>>,
    /// Why the first answer that could not be kept was not.
    fault: Mutex<Option<String>>,
}

impl AnswerCache {
    /// Removes old answers of these repositories.
    pub(crate) fn open<'r>(
        roots: impl IntoIterator<Item = &'r Utf8Path>,
        secrets: Arc<Secrets>,
    ) -> Self {
        let roots: HashSet<&Utf8Path> = roots.into_iter().collect();
        for root in roots {
            prune(root, &root.join(FOLDER), PruneLimits::default(), SystemTime::now());
        }
        Self { secrets, ready: Mutex::default(), fault: Mutex::default() }
    }

    /// See [`AnswerKey::of`].
    pub(crate) fn key_of(&self, asked: &AskedCase<'_>) -> Option<AnswerKey> {
        AnswerKey::of(asked, &self.secrets)
    }

    pub(crate) fn find(&self, root: &Utf8Path, key: &AnswerKey) -> Option<CachedAnswer> {
        let path = file_of(root, key);
        let bytes = read_whole(&path, Reach::Inside(root), LARGEST).ok()?;
        read_entry(&bytes, key, &self.secrets)
    }

    /// Keeps an answer, redacted. A failure is remembered: the run goes on without the cache.
    pub(crate) fn store(
        &self,
        root: &Utf8Path,
        key: &AnswerKey,
        case: &CaseKey,
        answer: &CachedAnswer,
    ) {
        let text = entry_text(key, case, answer, &self.secrets);
        if text.len() as u64 > LARGEST {
            return;
        }
        if let Err(error) = self.write(root, key, &text) {
            let mut fault = locked(&self.fault);
            fault.get_or_insert_with(|| format!("--cache: cannot keep answers: {error}"));
        }
    }

    fn write(&self, root: &Utf8Path, key: &AnswerKey, text: &[u8]) -> io::Result<()> {
        let mut ready = locked(&self.ready);
        if !ready.contains(root) {
            let folder = create_own_directory(root, FOLDER)?;
            let ignore = folder.join(IGNORE.0);
            let place = WritePath::inside(root, &ignore);
            replace(place, IGNORE.1.as_bytes(), Access::Private, Durability::Unsynced)?;
            ready.insert(root.to_owned());
        }
        drop(ready);
        let path = file_of(root, key);
        // What a power cut leaves of it is found damaged.
        replace(WritePath::inside(root, &path), text, Access::Private, Durability::Unsynced)
    }

    /// What the user should know, once.
    pub(crate) fn take_warning(&self) -> Option<String> {
        locked(&self.fault).take()
    }
}

fn file_of(root: &Utf8Path, key: &AnswerKey) -> Utf8PathBuf {
    root.join(FOLDER).join(format!("{}.json", key.as_str()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use evalrig_core::model::Message;
    use evalrig_core::model::{Block, Role};

    use super::*;

    fn answer(text: &str) -> CachedAnswer {
        let message = Message::new(Role::Assistant, vec![Block::Text(text.to_owned())]);
        CachedAnswer { transcript: Transcript::of_messages(vec![message]), attempts: 2 }
    }

    fn case() -> CaseKey {
        CaseKey { suite: "s".into(), test: "t".into(), target: "default".into(), trial: 1 }
    }

    fn cache(secret: &str) -> AnswerCache {
        let mut secrets = Secrets::default();
        secrets.add(secret);
        AnswerCache::open([], Arc::new(secrets))
    }

    #[test]
    fn an_answer_comes_back_without_secrets_and_in_private_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let (cache, key) = (cache("topsecret"), AnswerKey::testing("a"));
        assert_eq!(cache.find(root, &key), None);
        cache.store(root, &key, &case(), &answer("it is topsecret"));
        assert_eq!(cache.find(root, &key), Some(answer("it is ***")));
        assert_eq!(cache.find(root, &AnswerKey::testing("b")), None);
        assert_eq!(cache.take_warning(), None);
        for entry in fs::read_dir(root.join(FOLDER)).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        // A secret that became known later is hidden too.
        let later = self::cache("it is");
        assert_eq!(later.find(root, &key), Some(answer("*** ***")));
    }

    #[test]
    fn a_damaged_answer_is_ignored_at_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let (cache, key) = (cache("topsecret"), AnswerKey::testing("a"));
        cache.store(root, &key, &case(), &answer("fine"));
        let path = file_of(root, &key);
        let whole = fs::read(&path).unwrap();
        // Without the line break it is still whole.
        for at in 0..whole.len() - 1 {
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.find(root, &key), None, "cut at {at}");
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            assert_eq!(cache.find(root, &key), None, "flipped at {at}");
        }
        // The answer to another question, under this name.
        cache.store(root, &AnswerKey::testing("b"), &case(), &answer("other"));
        fs::copy(file_of(root, &AnswerKey::testing("b")), &path).unwrap();
        assert_eq!(cache.find(root, &key), None);
        cache.store(root, &key, &case(), &answer("fine"));
        assert_eq!(cache.find(root, &key), Some(answer("fine")));
    }

    #[test]
    fn a_folder_that_leads_elsewhere_is_neither_read_nor_written() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir(root.join(".evalrig")).unwrap();
        symlink(outside.path(), root.join(FOLDER)).unwrap();
        let (cache, key) = (cache("topsecret"), AnswerKey::testing("a"));
        cache.store(root, &key, &case(), &answer("fine"));
        let warning = cache.take_warning().unwrap();
        assert!(warning.starts_with("--cache: cannot keep answers: "), "{warning}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        let foreign = outside.path().join(format!("{}.json", key.as_str()));
        fs::write(foreign, entry_text(&key, &case(), &answer("x"), &Secrets::default())).unwrap();
        assert_eq!(cache.find(root, &key), None);
    }
}
