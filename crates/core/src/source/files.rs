//! What the core asks of the world: files and variables.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

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
pub trait Files: Sync {
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
pub trait Environment: Sync {
    fn variable(&self, name: &str) -> Option<String>;
}
