//! A tree of files and a set of variables that live in memory, for tests and embedders.

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use camino::{Utf8Path, Utf8PathBuf};

use super::files::{DirectoryEntry, EntryKind, Environment, Files, without_dots};

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

    fn content(&self, path: &Utf8Path) -> io::Result<&[u8]> {
        let content = self.files.get(&without_dots(path));
        Ok(content.ok_or(io::ErrorKind::NotFound)?)
    }
}

impl Files for MemoryFiles {
    fn kind(&self, path: &Utf8Path) -> Option<EntryKind> {
        let path = without_dots(path);
        if self.files.contains_key(&path) {
            return Some(EntryKind::File);
        }
        let inside = self.files.keys().any(|file| file.starts_with(&path));
        inside.then_some(EntryKind::Directory)
    }

    fn size(&self, path: &Utf8Path) -> io::Result<u64> {
        self.content(path).map(|content| content.len() as u64)
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> io::Result<Vec<u8>> {
        let content = self.content(path)?;
        let end = content.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(content[..end].to_vec())
    }

    fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn io::BufRead>> {
        Ok(Box::new(Cursor::new(self.content(path)?.to_vec())))
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        let path = without_dots(path);
        self.kind(&path).ok_or(io::ErrorKind::NotFound)?;
        Ok(path)
    }

    fn list(&self, directory: &Utf8Path) -> io::Result<Vec<DirectoryEntry>> {
        let directory = without_dots(directory);
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
        Ok(names
            .into_iter()
            .map(|(name, kind)| DirectoryEntry { name, kind, is_link: false })
            .collect())
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
        let names: Vec<_> = files.list("/p".into()).unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["a", "b.md"]);
    }
}
