//! The one way to replace a file: a draft beside it, then a rename. Readers see the old file or the
//! new one, never a part of either.
//!
//! Promised for every replacement:
//! - The draft is new (`O_EXCL`), hidden and in the directory of the file. It is removed when it is
//!   dropped before it was placed.
//! - The new file gets the permissions of the file that it replaces; without one, those of the
//!   process's umask. Owner, ACLs and extended attributes are not copied.
//! - A link at the path is replaced, not followed. Call [`behind_link`] first to keep it.
//! - What survives a power cut is the caller's choice, see [`Durability`].
//!
//! Devices and FIFOs are not treated specially: a rename replaces them where the directory allows.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

const PREFIX: &str = ".evalrig-";
const ENDING: &str = ".tmp";

/// Makes the names of one process's drafts unique.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// What a power cut can do to a replaced file. A crash of the process alone never harms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is synced: the file may be empty afterwards. For output that can be made again.
    Unsynced,
    /// The contents are synced before the rename: the file is the old one or the new one, complete.
    Contents,
    /// The directory is synced as well: once placed, the new file stays.
    Durable,
}

/// Replaces `path` with `contents`.
pub fn replace(path: &Utf8Path, contents: &[u8], durability: Durability) -> io::Result<()> {
    let mut draft = FileDraft::create(path)?;
    draft.write_all(contents)?;
    draft.place(durability)
}

/// The file that a link at `path` leads to, or `path` itself.
pub fn behind_link(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

/// Whether a file has the name of a draft. Outside of a running replacement it was left by a
/// process that was killed.
pub fn is_draft_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(ENDING)
}

/// A file that is written but not yet in its place.
#[derive(Debug)]
pub struct FileDraft {
    path: Utf8PathBuf,
    temporary: Utf8PathBuf,
    file: File,
    is_placed: bool,
}

impl FileDraft {
    /// The directory of `path` must exist.
    pub fn create(path: &Utf8Path) -> io::Result<Self> {
        let (temporary, file) = create_beside(path)?;
        let draft = Self { path: path.to_owned(), temporary, file, is_placed: false };
        if let Ok(replaced) = fs::metadata(path) {
            draft.file.set_permissions(replaced.permissions())?;
        }
        Ok(draft)
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub fn place(mut self, durability: Durability) -> io::Result<()> {
        if durability != Durability::Unsynced {
            self.sync()?;
        }
        self.rename()?;
        if durability == Durability::Durable {
            sync_parent(&self.path)?;
        }
        Ok(())
    }

    /// Fails with `AlreadyExists` where a file has appeared at the path, which a rename would replace.
    pub fn place_new(mut self, durability: Durability) -> io::Result<()> {
        if durability != Durability::Unsynced {
            self.sync()?;
        }
        match fs::hard_link(&self.temporary, &self.path) {
            // The draft's own name is removed when `self` is dropped.
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links.
            Err(_) => self.rename()?,
        }
        if durability == Durability::Durable {
            sync_parent(&self.path)?;
        }
        Ok(())
    }

    /// First half of [`FileDraft::place`], for callers that sync many drafts at once.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Second half of [`FileDraft::place`]. The directory is not synced.
    pub(crate) fn rename(&mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)?;
        self.is_placed = true;
        Ok(())
    }

    pub(crate) fn is_placed(&self) -> bool {
        self.is_placed
    }
}

impl Write for FileDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn create_beside(path: &Utf8Path) -> io::Result<(Utf8PathBuf, File)> {
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}{ENDING}", std::process::id());
        let temporary = directory_of(path).join(name);
        match File::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Left by an earlier process with the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// `.` for a bare file name.
pub fn directory_of(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    }
}

/// Makes a new, renamed or removed name survive a power cut.
pub fn sync_parent(path: &Utf8Path) -> io::Result<()> {
    sync_directory(directory_of(path))
}

pub fn sync_directory(directory: &Utf8Path) -> io::Result<()> {
    // Other systems cannot open directories.
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_directory(test: impl FnOnce(&Utf8Path)) {
        let folder = tempfile::tempdir().unwrap();
        test(Utf8Path::from_path(folder.path()).unwrap());
    }

    #[test]
    fn a_file_is_replaced_and_no_draft_is_left() {
        with_directory(|directory| {
            let path = directory.join("a.yaml");
            for durability in [Durability::Unsynced, Durability::Contents, Durability::Durable] {
                let text = format!("{durability:?}");
                replace(&path, text.as_bytes(), durability).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
            drop(FileDraft::create(&path).unwrap());
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
            assert!(replace(&directory.join("none/a"), b"x", Durability::Unsynced).is_err());
        });
    }

    #[test]
    fn an_existing_file_is_never_replaced_by_a_new_one() {
        with_directory(|directory| {
            let path = directory.join("a.yaml");
            let place_new = |text: &[u8]| {
                let mut draft = FileDraft::create(&path)?;
                draft.write_all(text)?;
                draft.place_new(Durability::Contents)
            };
            place_new(b"one").unwrap();
            let error = place_new(b"two").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&path).unwrap(), "one");
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        });
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_a_link_is_kept_only_on_request() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        with_directory(|directory| {
            let (file, link) = (directory.join("file"), directory.join("link"));
            fs::write(&file, "old").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
            symlink(&file, &link).unwrap();
            replace(&behind_link(&link), b"new", Durability::Unsynced).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "new");
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o640);
            replace(&link, b"own", Durability::Unsynced).unwrap();
            assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        });
    }

    #[test]
    fn drafts_are_recognised_by_their_names() {
        assert!(is_draft_name(".evalrig-12-0.tmp"));
        assert!(!is_draft_name(".lock"));
        assert!(!is_draft_name("a.yaml"));
    }
}
