//! The real file system and environment behind the traits of the core, and the only place that
//! creates, changes or removes files (spec 16.8).

mod directory;
#[cfg(all(test, unix))]
pub(crate) mod faults;
mod named_output;
mod replace;
mod system;

use std::fs::{self, File, FileType};
use std::io::{self, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{DirectoryEntry, EntryKind, Environment, Files};

pub use directory::{
    create_directories, create_directory_of, create_durable_directories, create_new_directory,
    create_own_directory,
};
pub use named_output::{NamedOutput, behind_links, is_plain_file, open_to_append, write_named};
pub use replace::{
    AtLink, Durability, FileDraft, create_new, directory_of, is_draft_name, replace, replace_link,
    sync_parent,
};
pub use system::{OpenFile, remove_directory, remove_file, remove_tree, rename, sync_directory};

/// Who may read a new file or directory. A file that is replaced keeps its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its owner: results, records, reports, temporary files.
    Private,
    /// What the umask says: files that are made to be passed on.
    Shared,
}

/// Large enough that reading lines is not bound by system calls.
const BUFFER: usize = 256 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Disk;

fn kind(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else {
        EntryKind::Other
    }
}

/// Refuses FIFOs and devices, which could block or never end. Checked before opening, because
/// opening a FIFO waits for its writer, and again afterwards, because the path may have changed.
fn open_regular(path: &Utf8Path) -> io::Result<File> {
    let irregular = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    if !fs::metadata(path)?.is_file() {
        return Err(irregular());
    }
    let file = File::open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

impl Files for Disk {
    fn kind(&self, path: &Utf8Path) -> Option<EntryKind> {
        fs::metadata(path).ok().map(|found| kind(found.file_type()))
    }

    fn size(&self, path: &Utf8Path) -> io::Result<u64> {
        fs::metadata(path).map(|found| found.len())
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = open_regular(path)?;
        let size = file.metadata()?.len().min(limit);
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn io::BufRead>> {
        Ok(Box::new(BufReader::with_capacity(BUFFER, open_regular(path)?)))
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        path.canonicalize_utf8()
    }

    fn list(&self, directory: &Utf8Path) -> io::Result<Vec<DirectoryEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let file_type = entry.file_type()?;
            let is_link = file_type.is_symlink();
            let kind = if is_link {
                self.kind(&directory.join(&name)).unwrap_or(EntryKind::Other)
            } else {
                kind(file_type)
            };
            entries.push(DirectoryEntry { name, kind, is_link });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}
