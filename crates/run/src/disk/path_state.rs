//! What the system says about a path, and what a file contains: two ways to find out whether it has
//! changed.

use std::fs::{self, File, Metadata};
use std::io;
use std::time::SystemTime;

use camino::Utf8Path;
use evalrig_core::digest::hex;
use evalrig_core::source::Reach;
use sha2::{Digest, Sha256};

use super::open::{open_regular, read_up_to};

/// Larger files are not read. An attachment is always smaller.
pub(super) const HASH_LIMIT: u64 = 16 * 1024 * 1024;

/// What the system says about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileState {
    size: u64,
    modified: Option<SystemTime>,
    /// Device and inode.
    identity: (u64, u64),
    /// When the inode changed, which cannot be set back without setting the clock.
    changed: (i64, i64),
}

impl FileState {
    fn of(found: &Metadata) -> Self {
        let (identity, changed) = inode(found);
        Self { size: found.len(), modified: found.modified().ok(), identity, changed }
    }
}

#[cfg(unix)]
fn inode(found: &Metadata) -> ((u64, u64), (i64, i64)) {
    use std::os::unix::fs::MetadataExt;
    ((found.dev(), found.ino()), (found.ctime(), found.ctime_nsec()))
}

#[cfg(not(unix))]
fn inode(_found: &Metadata) -> ((u64, u64), (i64, i64)) {
    ((0, 0), (0, 0))
}

/// What a file is, by its content if it is not too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fingerprint {
    Content([u8; 32]),
    /// Of a file over the limit.
    State(FileState),
}

impl Fingerprint {
    /// Reads the file through one descriptor.
    pub(super) fn of(file: File) -> io::Result<Self> {
        let found = file.metadata()?;
        if found.len() > HASH_LIMIT {
            return Ok(Self::State(FileState::of(&found)));
        }
        Ok(Self::Content(Sha256::digest(read_up_to(file, HASH_LIMIT)?).into()))
    }

    /// Of a path that the user or a targets file named; `None` unless it leads to a regular file.
    pub(crate) fn of_path(path: &Utf8Path) -> Option<Self> {
        open_regular(path, Reach::Anywhere).and_then(Self::of).ok()
    }

    /// Equal for equal fingerprints, and only for them.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Content(digest) => hex(digest),
            Self::State(state) => format!("{state:?}"),
        }
    }
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathState(Found);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    Nothing,
    File(FileState),
    /// A directory of which only the existence matters.
    Directory,
    /// A directory whose entries were read.
    Listed(FileState),
}

impl PathState {
    pub(super) fn of(path: &Utf8Path) -> Self {
        Self(match fs::metadata(path) {
            Err(_) => Found::Nothing,
            Ok(found) if found.is_dir() => Found::Directory,
            Ok(found) => Found::File(FileState::of(&found)),
        })
    }

    pub(super) fn of_listed(path: &Utf8Path) -> Self {
        Self(match fs::metadata(path) {
            Ok(found) if found.is_dir() => Found::Listed(FileState::of(&found)),
            _ => return Self::of(path),
        })
    }

    pub(super) fn is_unlisted_directory(&self) -> bool {
        self.0 == Found::Directory
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.0, Found::Directory | Found::Listed(_))
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self.0, Found::File(_))
    }

    /// What is at the path now.
    pub(crate) fn now(&self, path: &Utf8Path) -> Self {
        match self.0 {
            Found::Listed(_) => Self::of_listed(path),
            _ => Self::of(path),
        }
    }
}
