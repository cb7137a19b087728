//! Changed texts over a tree of files that is not modified.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::Fix;
use crate::source::{DirectoryListing, EntryKind, FileFacts, Files, Reach, Sources};
use crate::syntax::edit;

#[derive(Debug, Clone)]
pub struct Overlay<'f> {
    below: &'f dyn Files,
    texts: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl<'f> Overlay<'f> {
    pub fn new(below: &'f dyn Files) -> Self {
        Self { below, texts: BTreeMap::new() }
    }

    /// The files that read differently from those below.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = (&Utf8Path, &[u8])> {
        self.texts.iter().map(|(path, text)| (path.as_path(), text.as_slice()))
    }

    /// Lays a text over a file; its directory exists below.
    pub fn insert(&mut self, path: Utf8PathBuf, text: Vec<u8>) {
        self.texts.insert(path, text);
    }

    /// As this one, with these fixes made; `None` when they cannot be made together.
    pub(super) fn with(&self, sources: &Sources, fixes: &[Fix]) -> Option<Self> {
        let mut edits: BTreeMap<&Utf8Path, Vec<(Range<usize>, &str)>> = BTreeMap::new();
        for edit in fixes.iter().flat_map(|fix| &fix.edits) {
            let source = sources.get(edit.span.source);
            let base = usize::try_from(source.offset()).ok()?;
            let range = base + edit.span.start as usize..base + edit.span.end as usize;
            let of_file = edits.entry(source.path()).or_default();
            of_file.push((range, edit.text.as_str()));
        }
        let mut next = self.clone();
        for (path, edits) in edits {
            let before =
                String::from_utf8(self.read(path, Reach::Anywhere, u64::MAX).ok()?).ok()?;
            let after = edit::apply(&before, &edits).ok()?;
            next.insert(path.to_owned(), after.into_bytes());
        }
        Some(next)
    }
}

impl Files for Overlay<'_> {
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
        match self.texts.get(path) {
            Some(text) => Ok(FileFacts { kind: EntryKind::File, size: text.len() as u64 }),
            None => self.below.look(path, reach),
        }
    }

    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        match self.texts.get(path) {
            Some(text) => {
                let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                Ok(text[..text.len().min(limit)].to_vec())
            }
            None => self.below.read(path, reach, limit),
        }
    }

    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
        match self.texts.get(path) {
            Some(text) => Ok(Box::new(io::Cursor::new(text.clone()))),
            None => self.below.open(path, reach),
        }
    }

    /// A file that exists only here has no links in its way that matter.
    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        match (self.below.canonicalize(path), self.texts.contains_key(path)) {
            (Err(_), true) => Ok(path.to_owned()),
            (result, _) => result,
        }
    }

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
        self.below.list(directory, reach)
    }
}
