//! The old texts of files, one after the other in one file outside of the workspace. Where each is and
//! its hash are kept in memory, so one look at the file says whether all of them are as they were.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;
use sha2::{Digest, Sha256};

use crate::disk::{Access, Durability, FileDraft, NodeFacts, facts_at, open_regular, remove_file};

use super::diff::MOST_TEXT;

/// The SHA-256 of a file.
pub(super) type ContentHash = [u8; 32];

/// Bytes that are written at once.
const BUFFER: usize = 256 * 1024;

/// Where a text is in its pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextRange {
    at: u64,
    length: usize,
}

/// What is known of a file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileContent {
    pub(super) hash: ContentHash,
    /// `None` if it is too large for a diff.
    pub(super) text: Option<TextRange>,
}

/// A complete pack. Dropping it removes it.
#[derive(Debug)]
pub(super) struct TextPack {
    path: Utf8PathBuf,
    facts: NodeFacts,
}

impl Drop for TextPack {
    fn drop(&mut self) {
        let _ = remove_file(self.path.as_path());
    }
}

impl TextPack {
    /// Whether it is as it was.
    pub(super) fn is_intact(&self) -> bool {
        facts_at(&self.path).is_ok_and(|facts| facts == self.facts)
    }

    /// When it was completed, by the clock of the file system.
    pub(super) fn completed_at(&self) -> i128 {
        self.facts.changed
    }

    /// A text; `None` if it does not have its hash.
    pub(super) fn read(&self, range: TextRange, hash: &ContentHash) -> io::Result<Option<Vec<u8>>> {
        let file = open_regular(&self.path, Reach::Anywhere)?;
        let mut bytes = vec![0; range.length];
        file.read_exact_at(&mut bytes, range.at)?;
        Ok((hash_of_bytes(&bytes) == *hash).then_some(bytes))
    }
}

/// A pack to which texts are added.
#[derive(Debug)]
pub(super) struct TextPackDraft {
    path: Utf8PathBuf,
    writer: Option<BufWriter<FileDraft>>,
    length: u64,
    /// Of the file that was read last.
    text: Vec<u8>,
}

impl TextPackDraft {
    pub(super) fn new(path: Utf8PathBuf) -> Self {
        Self { path, writer: None, length: 0, text: Vec::new() }
    }

    /// Reads a file, whatever its size.
    pub(super) fn read(&mut self, file: File) -> io::Result<FileRead<'_>> {
        self.text.clear();
        let mut start = file.take(MOST_TEXT + 1);
        start.read_to_end(&mut self.text)?;
        if self.text.len() as u64 <= MOST_TEXT {
            let hash = hash_of_bytes(&self.text);
            return Ok(FileRead { hash, is_text: true, pack: self });
        }
        let hash = hash_onwards(Sha256::new_with_prefix(&self.text), start.into_inner())?;
        Ok(FileRead { hash, is_text: false, pack: self })
    }

    fn add_text(&mut self) -> io::Result<TextRange> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => self.writer.insert(BufWriter::with_capacity(BUFFER, draft_at(&self.path)?)),
        };
        writer.write_all(&self.text)?;
        let range = TextRange { at: self.length, length: self.text.len() };
        self.length += self.text.len() as u64;
        Ok(range)
    }

    pub(super) fn complete(self) -> io::Result<TextPack> {
        let draft = match self.writer {
            Some(writer) => writer.into_inner().map_err(io::IntoInnerError::into_error)?,
            None => draft_at(&self.path)?,
        };
        draft.place(Durability::Unsynced)?;
        Ok(TextPack { facts: facts_at(&self.path)?, path: self.path })
    }
}

fn draft_at(path: &Utf8Path) -> io::Result<FileDraft> {
    FileDraft::create(path, Access::Private)
}

/// A file that was read and may be added to the pack.
pub(super) struct FileRead<'a> {
    pub(super) hash: ContentHash,
    is_text: bool,
    pack: &'a mut TextPackDraft,
}

impl FileRead<'_> {
    pub(super) fn keep(self) -> io::Result<FileContent> {
        let text = if self.is_text { Some(self.pack.add_text()?) } else { None };
        Ok(FileContent { hash: self.hash, text })
    }
}

/// The hash of a file, whatever its size.
pub(super) fn hash_of(file: File) -> io::Result<ContentHash> {
    hash_onwards(Sha256::new(), file)
}

fn hash_onwards(mut hasher: Sha256, mut file: File) -> io::Result<ContentHash> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(length) => hasher.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hash_of_bytes(bytes: &[u8]) -> ContentHash {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        (folder, path)
    }

    #[test]
    fn texts_are_read_back_and_large_files_have_only_a_hash() {
        let (_folder, place) = place();
        let largest = usize::try_from(MOST_TEXT).unwrap();
        let texts = [b"".to_vec(), b"a\n".to_vec(), vec![7; largest], vec![8; largest + 1]];
        let mut draft = TextPackDraft::new(place.join("pack"));
        let mut kept = Vec::new();
        for text in &texts {
            fs::write(place.join("file"), text).unwrap();
            let file = File::open(place.join("file")).unwrap();
            kept.push(draft.read(file).unwrap().keep().unwrap());
        }
        let pack = draft.complete().unwrap();
        for (text, known) in texts.iter().zip(&kept) {
            assert_eq!(known.hash, hash_of_bytes(text));
            let read = known.text.map(|range| pack.read(range, &known.hash).unwrap().unwrap());
            assert_eq!(read.as_ref(), (text.len() <= largest).then_some(text));
        }
        assert!(pack.is_intact());
        drop(pack);
        assert!(!place.join("pack").exists());
    }

    #[test]
    fn a_pack_that_was_changed_is_not_intact_and_gives_no_text() {
        let (_folder, place) = place();
        let path = place.join("pack");
        fs::write(place.join("file"), "text").unwrap();
        let mut draft = TextPackDraft::new(path.clone());
        let read = draft.read(File::open(place.join("file")).unwrap()).unwrap();
        let known = read.keep().unwrap();
        let pack = draft.complete().unwrap();
        let times = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "test").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(times).unwrap();
        let range = known.text.unwrap();
        assert_eq!(pack.read(range, &known.hash).unwrap(), None);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "text").unwrap();
        assert!(!pack.is_intact());
    }
}
