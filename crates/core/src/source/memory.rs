//! A tree of files and a set of variables that live in memory, for tests and embedders.

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use camino::{Utf8Path, Utf8PathBuf};

use super::files::{
    DirectoryEntry, DirectoryListing, EntryKind, Environment, FileFacts, Files, OutsideReach,
    Reach, without_dots,
};

/// Files by absolute path. A directory exists if it contains a file.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles {
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn with(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(Utf8PathBuf::from(path), content.into());
        self
    }

    pub fn insert(&mut self, path: Utf8PathBuf, content: Vec<u8>) {
        self.files.insert(path, content);
    }

    fn content(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<&[u8]> {
        let path = confined(path, reach)?;
        Ok(self.files.get(&path).ok_or(io::ErrorKind::NotFound)?)
    }
}

/// There are no links here, so the path alone decides.
fn confined(path: &Utf8Path, reach: Reach<'_>) -> io::Result<Utf8PathBuf> {
    let path = without_dots(path);
    match reach {
        Reach::Inside(root) if !path.starts_with(root) => Err(io::Error::other(OutsideReach)),
        _ => Ok(path),
    }
}

impl Files for MemoryFiles {
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
        let path = confined(path, reach)?;
        if let Some(content) = self.files.get(&path) {
            return Ok(FileFacts { kind: EntryKind::File, size: content.len() as u64 });
        }
        if self.files.keys().any(|file| file.starts_with(&path)) {
            return Ok(FileFacts { kind: EntryKind::Directory, size: 0 });
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        let content = self.content(path, reach)?;
        let end = content.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(content[..end].to_vec())
    }

    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
        Ok(Box::new(Cursor::new(self.content(path, reach)?.to_vec())))
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        let path = without_dots(path);
        self.look(&path, Reach::Anywhere)?;
        Ok(path)
    }

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
        let directory = confined(directory, reach)?;
        let mut names = BTreeMap::new();
        for file in self.files.keys() {
            let Ok(rest) = file.strip_prefix(&directory) else {
                continue;
            };
            let mut parts = rest.components();
            let Some(first) = parts.next() else { continue };
            let kind = match parts.next() {
                Some(_) => EntryKind::Directory,
                None => EntryKind::File,
            };
            names.insert(first.as_str().to_owned(), kind);
        }
        let entry =
            |(name, kind)| DirectoryEntry { name, kind, is_link: false, is_absolute_link: false };
        let entries = names.into_iter().map(entry).collect();
        Ok(DirectoryListing { entries, undecodable: Vec::new() })
    }
}

/// A fixed set of variables.
#[derive(Debug, Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.insert(name.to_owned(), value.to_owned());
        self
    }
}

impl Environment for Variables {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_exist_because_files_lie_in_them() {
        let files = MemoryFiles::new().with("/p/a/x.md", "x").with("/p/b.md", "y");
        assert_eq!(files.kind("/p/a".into()), Some(EntryKind::Directory));
        assert_eq!(files.kind("/p/a/../b.md".into()), Some(EntryKind::File));
        assert_eq!(files.kind("/p/c".into()), None);
        let listing = files.list("/p".into(), Reach::Anywhere).unwrap();
        let names: Vec<_> = listing.entries.into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["a", "b.md"]);
    }
}
