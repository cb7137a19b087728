//! The files of a loaded suite as its cases use them: inside the repository, and with the content they
//! had when the suite was loaded (spec 4.4). An agent that rewrites its judge or an attachment of a later
//! test gives errored cases.

use std::collections::HashMap;
use std::io::{self, BufRead};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{ChangedFile, DirectoryListing, FileFacts, Files, Reach, is_outside};
use sha2::{Digest, Sha256};

use super::Disk;
use super::open::open_regular;
use super::path_state::Fingerprint;

#[derive(Debug, Clone)]
pub(crate) struct SuiteFiles {
    root: Utf8PathBuf,
    confinement: Confinement,
    /// What each file was when the suite was loaded.
    known: HashMap<Utf8PathBuf, Fingerprint>,
}

/// Whether the paths of a suite may leave its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confinement {
    Root,
    /// `--allow-outside-root`.
    None,
}

impl SuiteFiles {
    pub(crate) fn new(root: &Utf8Path, confinement: Confinement) -> Self {
        Self { root: root.to_owned(), confinement, known: HashMap::new() }
    }

    /// Remembers what a file is now. A path that leads to no regular file is left alone.
    pub(crate) fn remember(&mut self, path: &Utf8Path) {
        if self.known.contains_key(path) {
            return;
        }
        let found = open_regular(path, self.reach()).and_then(Fingerprint::of);
        if let Ok(fingerprint) = found {
            self.known.insert(path.to_owned(), fingerprint);
        }
    }

    /// What a remembered file was; `None` for another path.
    pub(crate) fn known_state(&self, path: &Utf8Path) -> Option<String> {
        self.known.get(path).map(Fingerprint::text)
    }

    /// Where the paths of the suite may lead.
    pub(crate) fn reach(&self) -> Reach<'_> {
        match self.confinement {
            Confinement::Root => Reach::Inside(&self.root),
            Confinement::None => Reach::Anywhere,
        }
    }

    /// A file that was there is now missing, a link out of the repository, or not a file.
    fn explain(&self, path: &Utf8Path, error: io::Error) -> io::Error {
        let is_gone = is_outside(&error)
            || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput);
        if is_gone && self.known.contains_key(path) { changed() } else { error }
    }
}

fn changed() -> io::Error {
    io::Error::other(ChangedFile)
}

/// The reach of each call is that of the suite, whatever the caller allows.
impl Files for SuiteFiles {
    fn look(&self, path: &Utf8Path, _reach: Reach<'_>) -> io::Result<FileFacts> {
        Disk.look(path, self.reach())
    }

    fn read(&self, path: &Utf8Path, _reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        let read = Disk.read(path, self.reach(), limit);
        let bytes = read.map_err(|error| self.explain(path, error))?;
        let is_whole = (bytes.len() as u64) < limit;
        match self.known.get(path) {
            Some(Fingerprint::Content(digest)) if is_whole => {
                let is_same = Sha256::digest(&bytes)[..] == digest[..];
                if is_same { Ok(bytes) } else { Err(changed()) }
            }
            Some(_) => self.check_unchanged(path).map(|()| bytes),
            None => Ok(bytes),
        }
    }

    fn open(&self, path: &Utf8Path, _reach: Reach<'_>) -> io::Result<Box<dyn BufRead>> {
        Disk.open(path, self.reach())
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        Disk.canonicalize(path)
    }

    fn list(&self, directory: &Utf8Path, _reach: Reach<'_>) -> io::Result<DirectoryListing> {
        Disk.list(directory, self.reach())
    }

    fn digest(&self, path: &Utf8Path) -> Option<[u8; 32]> {
        match self.known.get(path)? {
            Fingerprint::Content(digest) => Some(*digest),
            Fingerprint::State(_) => None,
        }
    }

    fn check_unchanged(&self, path: &Utf8Path) -> io::Result<()> {
        let Some(known) = self.known.get(path) else {
            return Ok(());
        };
        let now = open_regular(path, self.reach()).and_then(Fingerprint::of);
        let now = now.map_err(|error| self.explain(path, error))?;
        if now == *known { Ok(()) } else { Err(changed()) }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use evalrig_core::source::is_changed;

    use super::super::path_state::HASH_LIMIT;
    use super::*;

    #[test]
    fn a_file_is_read_only_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap().join("root");
        fs::create_dir(&root).unwrap();
        let path = root.join("notes.md");
        fs::write(&path, "one").unwrap();
        fs::write(root.join("../outside"), "one").unwrap();
        let mut files = SuiteFiles::new(&root, Confinement::Root);
        files.remember(&path);
        files.remember(&root.join("none"));
        let read = || files.read(&path, Reach::Anywhere, 100);
        let check = || files.check_unchanged(&path);
        assert_eq!(read().unwrap(), b"one");
        assert!(check().is_ok());
        // The same length, the same time: only the content tells.
        let times = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "two").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(times).unwrap();
        assert!(is_changed(&read().unwrap_err()) && is_changed(&check().unwrap_err()));
        fs::remove_file(&path).unwrap();
        assert!(is_changed(&read().unwrap_err()) && is_changed(&check().unwrap_err()));
        // The same content, but not a file of the repository.
        symlink("../outside", &path).unwrap();
        assert!(is_changed(&read().unwrap_err()) && is_changed(&check().unwrap_err()));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "one").unwrap();
        assert!(read().is_ok() && check().is_ok());
    }

    #[test]
    fn a_large_file_is_compared_by_its_state() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        let path = root.join("tool");
        fs::File::create(&path).unwrap().set_len(HASH_LIMIT + 1).unwrap();
        let mut files = SuiteFiles::new(root, Confinement::Root);
        files.remember(&path);
        assert!(files.check_unchanged(&path).is_ok());
        fs::File::options().write(true).open(&path).unwrap().set_len(HASH_LIMIT + 2).unwrap();
        assert!(is_changed(&files.check_unchanged(&path).unwrap_err()));
    }
}
