//! The one opener of files that are read: regular files only, never waiting for a writer, and
//! confined to a directory where the caller asks for it. The descriptor that passed the checks is the
//! one that is read, so nothing can be swapped between a check and its use.

use std::fs::{self, File, FileType};
use std::io::{self, Read};

use camino::Utf8Path;
use evalrig_core::source::{EntryKind, FileFacts, OutsideReach, Reach};

#[cfg(unix)]
use super::confine as platform;
#[cfg(not(unix))]
use super::confine_by_path as platform;

/// Opens a regular file.
pub(crate) fn open_regular(path: &Utf8Path, reach: Reach<'_>) -> io::Result<File> {
    match reach {
        Reach::Anywhere => {
            if !fs::metadata(path)?.is_file() {
                return Err(irregular());
            }
            regular(platform::open_without_waiting(path)?)
        }
        Reach::Inside(root) => platform::open_inside(root, path),
    }
}

/// What a path leads to, without opening it.
pub(super) fn look(path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
    match reach {
        Reach::Anywhere => fs::metadata(path).map(|found| facts(&found)),
        Reach::Inside(root) => platform::look_inside(root, path),
    }
}

/// Opens what the user named: a regular file, or a stream such as `/dev/stdin`, a pipe of the shell or a
/// FIFO, for which this waits until there is a writer.
pub(crate) fn open_named(path: &Utf8Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

/// The whole content of a regular file; longer ones are an error.
pub fn read_whole(path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path, reach)?;
    let bytes = read_up_to(file, limit.saturating_add(1))?;
    if bytes.len() as u64 > limit {
        let message = format!("it is larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// At most `limit` bytes. Room is reserved for a file of ordinary size only, because a sparse file may
/// claim any.
pub(super) fn read_up_to(file: File, limit: u64) -> io::Result<Vec<u8>> {
    const RESERVED: u64 = 64 * 1024 * 1024;
    let size = file.metadata()?.len().min(limit).min(RESERVED);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn facts(found: &fs::Metadata) -> FileFacts {
    FileFacts { kind: kind(found.file_type()), size: found.len() }
}

pub(super) fn kind(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else {
        EntryKind::Other
    }
}

/// The file, unless it is a FIFO, a device or a directory.
pub(super) fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

pub(super) fn irregular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

pub(super) fn outside() -> io::Error {
    io::Error::other(OutsideReach)
}
