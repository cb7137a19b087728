//! The files of the disk with the unsaved texts of the editor over them. Remembers every path that it
//! was asked for, so that the project knows what a change affects.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{
    DirectoryEntry, DirectoryListing, EntryKind, FileFacts, Files, OutsideReach, Reach, is_outside,
};
use evalrig_run::disk::Disk;

use crate::text::Document;

#[derive(Debug)]
pub(crate) struct OpenFiles<'d> {
    documents: &'d BTreeMap<Utf8PathBuf, Document>,
    touched: Mutex<HashSet<Utf8PathBuf>>,
}

impl<'d> OpenFiles<'d> {
    pub(crate) fn new(documents: &'d BTreeMap<Utf8PathBuf, Document>) -> Self {
        Self { documents, touched: Mutex::default() }
    }

    /// Every path that was asked for; of a directory that was listed, its own.
    pub(crate) fn into_touched(self) -> HashSet<Utf8PathBuf> {
        self.touched.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, path: &Utf8Path) {
        let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        if !touched.contains(path) {
            touched.insert(path.to_owned());
        }
    }

    /// The open document at a path, if the path may be read at all.
    fn document(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Option<&'d Document>> {
        self.touch(path);
        let Some(document) = self.documents.get(path) else {
            return Ok(None);
        };
        match Disk.look(path, reach) {
            Err(error) if is_outside(&error) => Err(error),
            Ok(_) => Ok(Some(document)),
            // Not saved yet: there are no links in its way that matter.
            Err(_) => match reach {
                Reach::Inside(root) if !path.starts_with(root) => {
                    Err(io::Error::other(OutsideReach))
                }
                _ => Ok(Some(document)),
            },
        }
    }
}

impl Files for OpenFiles<'_> {
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
        match self.document(path, reach)? {
            Some(document) => {
                Ok(FileFacts { kind: EntryKind::File, size: document.text().len() as u64 })
            }
            None => Disk.look(path, reach),
        }
    }

    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        match self.document(path, reach)? {
            Some(document) => {
                let bytes = document.text().as_bytes();
                let end = bytes.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
                Ok(bytes[..end].to_vec())
            }
            None => Disk.read(path, reach, limit),
        }
    }

    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
        match self.document(path, reach)? {
            Some(document) => Ok(Box::new(io::Cursor::new(document.text().to_owned()))),
            None => Disk.open(path, reach),
        }
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        match (Disk.canonicalize(path), self.documents.contains_key(path)) {
            (Err(_), true) => Ok(path.to_owned()),
            (result, _) => result,
        }
    }

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
        self.touch(directory);
        let mut listing = Disk.list(directory, reach)?;
        for path in self.documents.keys().filter(|path| path.parent() == Some(directory)) {
            let name = path.file_name().unwrap_or_default();
            if !listing.entries.iter().any(|entry| entry.name == name) {
                let (name, kind) = (name.to_owned(), EntryKind::File);
                listing.entries.push(DirectoryEntry {
                    name,
                    kind,
                    is_link: false,
                    is_absolute_link: false,
                });
            }
        }
        listing.sort();
        Ok(listing)
    }
}
