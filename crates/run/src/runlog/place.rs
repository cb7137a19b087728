//! Files that are there whole or not at all: a hidden temporary file, fsync, rename, fsync of the
//! directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use super::fault::StoreError;

const PREFIX: &str = ".evalrig-";
const ENDING: &str = ".tmp";

/// Tells the temporary files of one process apart.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Whether the name is that of a file that some writer left behind.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(ENDING)
}

/// Replaces the file.
pub(super) fn place(path: &Utf8Path, text: &str) -> Result<(), StoreError> {
    let fail = |error| StoreError::io("written", path, error);
    let directory = path.parent().unwrap_or(Utf8Path::new("."));
    let (temporary, mut file) = temporary(directory).map_err(fail)?;
    let placed = file
        .write_all(text.as_bytes())
        .and_then(|()| keep_permissions(path, &file))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = placed {
        let _ = fs::remove_file(&temporary);
        return Err(fail(error));
    }
    sync_directory(directory).map_err(fail)
}

fn temporary(directory: &Utf8Path) -> io::Result<(Utf8PathBuf, File)> {
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}{ENDING}", std::process::id());
        let path = directory.join(name);
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            // Left by a process of the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn keep_permissions(path: &Utf8Path, file: &File) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(old) => file.set_permissions(old.permissions()),
        Err(_) => Ok(()),
    }
}

/// A rename is safe only when its directory is.
#[cfg(unix)]
fn sync_directory(directory: &Utf8Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Directories cannot be opened there.
#[cfg(not(unix))]
fn sync_directory(_: &Utf8Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(folder.path()).unwrap();
        let path = directory.join("a.yaml");
        place(&path, "one").unwrap();
        place(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        assert!(place(&directory.join("none/a.yaml"), "x").is_err());
    }

    #[test]
    fn temporary_files_are_recognised() {
        assert!(is_temporary(".evalrig-12-0.tmp"));
        assert!(!is_temporary(".lock"));
        assert!(!is_temporary("a.yaml"));
    }
}
