//! What the core asks of the world: files and variables.

use std::fmt::Debug;
use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    /// A device, a socket, a pipe.
    Other,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    pub name: String,
    pub kind: EntryKind,
    pub is_link: bool,
}

/// Read access to a tree of files. All paths are absolute.
pub trait Files: Debug + Sync {
    /// What a path leads to, links followed; `None` when there is nothing.
    fn kind(&self, path: &Utf8Path) -> Option<EntryKind>;

    fn size(&self, path: &Utf8Path) -> io::Result<u64>;

    /// At most `limit` bytes; a longer file is truncated.
    fn read(&self, path: &Utf8Path, limit: u64) -> io::Result<Vec<u8>>;

    fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn io::BufRead>>;

    /// The path without `..` and symbolic links; fails when it does not exist.
    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf>;

    /// The names in a directory, in byte order. Names that are not UTF-8 are left out.
    fn list(&self, directory: &Utf8Path) -> io::Result<Vec<DirectoryEntry>>;
}

/// The variables of the process.
pub trait Environment: Debug + Sync {
    fn variable(&self, name: &str) -> Option<String>;
}

/// Lexical: `a/../b` is `b`. Links are looked at separately.
pub(crate) fn without_dots(path: &Utf8Path) -> Utf8PathBuf {
    let mut out = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
