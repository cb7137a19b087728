//! Paths below a root where the system has no descriptors of directories: the real path is checked,
//! then opened.

use std::fs::{self, File};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{DirectoryListing, FileFacts};

use super::open::{facts, irregular, outside};

pub(super) fn open_without_waiting(path: &Utf8Path) -> io::Result<File> {
    File::open(path)
}

pub(super) fn open_inside(root: &Utf8Path, path: &Utf8Path) -> io::Result<File> {
    let real = real_path(root, path)?;
    if !fs::metadata(&real)?.is_file() {
        return Err(irregular());
    }
    File::open(real)
}

pub(super) fn look_inside(root: &Utf8Path, path: &Utf8Path) -> io::Result<FileFacts> {
    fs::metadata(real_path(root, path)?).map(|found| facts(&found))
}

pub(super) fn list_inside(root: &Utf8Path, directory: &Utf8Path) -> io::Result<DirectoryListing> {
    super::list_anywhere(&real_path(root, directory)?)
}

pub(super) fn real_path(root: &Utf8Path, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let root_path = root.canonicalize_utf8()?;
    let existing = path.ancestors().find_map(|ancestor| ancestor.canonicalize_utf8().ok());
    if !existing.is_some_and(|real| real.starts_with(&root_path)) {
        return Err(outside());
    }
    path.canonicalize_utf8()
}
