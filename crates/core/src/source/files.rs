//! What the core asks of the world: files and variables.

use std::error::Error;
use std::fmt::{self, Debug};
use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    /// A device, a socket, a pipe.
    Other,
    /// In a listing: a link that leads out of the reach.
    Outside,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    pub kind: EntryKind,
    pub size: u64,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    pub name: String,
    pub kind: EntryKind,
    pub is_link: bool,
    /// Whether it is a link to an absolute path, wherever that leads.
    pub is_absolute_link: bool,
}

/// The names in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryListing {
    /// In byte order.
    pub entries: Vec<DirectoryEntry>,
    /// Files and directories whose names are not UTF-8, which no path can name. What is not UTF-8 is
    /// replaced.
    pub undecodable: Vec<(String, EntryKind)>,
}

impl DirectoryListing {
    pub fn push_undecodable(&mut self, lossy: String, kind: EntryKind) {
        self.undecodable.push((lossy, kind));
    }

    /// Puts the names in order.
    pub fn sort(&mut self) {
        self.entries.sort_by(|a, b| a.name.cmp(&b.name));
        self.undecodable.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// Where a path may lead, links included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach<'a> {
    /// The user named the path, or allowed any.
    Anywhere,
    /// To this directory and what is below it.
    Inside(&'a Utf8Path),
}

/// Why a path is refused: it leads out of its [`Reach`].
#[derive(Debug)]
pub struct OutsideReach;

impl fmt::Display for OutsideReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it leads out of the repository root")
    }
}

impl Error for OutsideReach {}

/// Whether a path was refused because it leads out of its [`Reach`].
pub fn is_outside(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<OutsideReach>())
}

/// Why a file is refused: its content is not what it was when the suite was loaded.
#[derive(Debug)]
pub struct ChangedFile;

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it has changed since the suite was loaded")
    }
}

impl Error for ChangedFile {}

/// Whether a file was refused because it has changed.
pub fn is_changed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<ChangedFile>())
}

/// Read access to a tree of files. All paths are absolute. A path that leads out of the reach, at the
/// moment of the call, is refused with [`OutsideReach`].
pub trait Files: Debug + Sync {
    /// What a path leads to, links followed.
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts>;

    /// At most `limit` bytes of a regular file; a longer one is truncated.
    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>>;

    /// Opens a regular file.
    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>>;

    /// The path without `..` and symbolic links; fails when it does not exist.
    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf>;

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing>;

    /// What a path leads to, wherever that is; `None` when there is nothing.
    fn kind(&self, path: &Utf8Path) -> Option<EntryKind> {
        self.look(path, Reach::Anywhere).ok().map(|found| found.kind)
    }

    /// The SHA-256 of a file as it was when the suite was loaded, where that is known.
    fn digest(&self, _path: &Utf8Path) -> Option<[u8; 32]> {
        None
    }

    /// Fails with [`ChangedFile`] if a file is not what it was when the suite was loaded, for files of
    /// which only the path is handed on.
    fn check_unchanged(&self, _path: &Utf8Path) -> io::Result<()> {
        Ok(())
    }
}

/// The variables of the process.
pub trait Environment: Debug + Sync {
    fn variable(&self, name: &str) -> Option<String>;
}

/// Lexical: `a/../b` is `b`. Links are looked at separately.
pub fn without_dots(path: &Utf8Path) -> Utf8PathBuf {
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

/// The way from a directory to a path, both absolute.
pub(crate) fn relative_path(from: &Utf8Path, to: &Utf8Path) -> String {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..");
    let down = to.components().skip(shared).map(|part: Utf8Component<'_>| part.as_str());
    let steps: Vec<&str> = up.chain(down).collect();
    steps.join("/")
}
