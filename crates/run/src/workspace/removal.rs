//! When the directories of finished cases are removed: at once, or together at the end of the run.
//!
//! ext4 without a journal reuses no inode for minutes after its file was removed, and searches past all of them
//! whenever a file is created. With short cases, removing each workspace at once made the next ones several
//! times slower. So on ext4, as long as they take little space, workspaces are set aside and removed at the end.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::{
    Access, FreeSpace, create_directories, create_new_directory, remove_tree, rename, set_mode,
};

/// What directories that were set aside may take.
const MOST_BYTES: u64 = 512 * 1024 * 1024;
const MOST_FILES: u64 = 50_000;

#[derive(Debug)]
pub(super) struct CaseRemoval {
    /// Where directories are set aside. Like the directory of the cases it cannot be listed.
    aside: Utf8PathBuf,
    /// What was free when the first case was over.
    first: OnceLock<FreeSpace>,
    count: AtomicUsize,
    free_space: fn(&Utf8Path) -> io::Result<FreeSpace>,
}

impl CaseRemoval {
    pub(super) fn new(scratch: &Utf8Path) -> Self {
        Self::by(FreeSpace::around, scratch)
    }

    fn by(free_space: fn(&Utf8Path) -> io::Result<FreeSpace>, scratch: &Utf8Path) -> Self {
        let aside = scratch.join("finished");
        Self { aside, first: OnceLock::new(), count: AtomicUsize::new(0), free_space }
    }

    /// Afterwards there is nothing at its path. A failure leaves it to the end of the run.
    pub(super) fn remove(&self, directory: &Utf8Path) {
        if !self.is_postponed(directory) || self.set_aside(directory).is_err() {
            let _ = remove_tree(directory);
        }
    }

    /// Removes what was set aside.
    pub(super) fn finish(&self) {
        let _ = remove_tree(&self.aside);
    }

    fn is_postponed(&self, directory: &Utf8Path) -> bool {
        let Ok(now) = (self.free_space)(directory) else { return false };
        leaves_room(*self.first.get_or_init(|| now), now)
    }

    /// Under a new name, so that the old path leads to nothing.
    fn set_aside(&self, directory: &Utf8Path) -> io::Result<()> {
        if !self.aside.is_dir() {
            create_directories(&self.aside, Access::Private)?;
            set_mode(&self.aside, 0o300)?;
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self.aside.join(format!("{:016x}", RandomState::new().hash_one(number)));
        // The name is taken before anything is moved there.
        create_new_directory(&path, Access::Private)?;
        rename(directory, &path)
    }
}

/// Whether directories may be set aside: they have taken little since the first one, and half is left.
fn leaves_room(first: FreeSpace, now: FreeSpace) -> bool {
    let (bytes, files) =
        (first.bytes.saturating_sub(now.bytes), first.files.saturating_sub(now.files));
    let is_little = bytes <= MOST_BYTES && files <= MOST_FILES;
    now.is_ext && is_little && now.bytes >= first.bytes / 2 && now.files >= first.files / 2
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{names, write};
    use super::*;

    const EXT: FreeSpace = FreeSpace { is_ext: true, bytes: 8 << 30, files: 500_000 };

    fn case(folder: &tempfile::TempDir) -> (Utf8PathBuf, Utf8PathBuf) {
        let scratch = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let directory = scratch.join("workspaces/1");
        write(&directory.join("workspace/a"), "text");
        (scratch, directory)
    }

    #[test]
    fn on_ext_a_case_is_set_aside_until_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let (scratch, directory) = case(&folder);
        let removal = CaseRemoval::by(|_| Ok(EXT), &scratch);
        removal.remove(&directory);
        assert!(!directory.exists());
        let aside = names(&scratch.join("finished"));
        assert_eq!(aside.len(), 1);
        let text = scratch.join("finished").join(&aside[0]).join("workspace/a");
        assert_eq!(fs::read_to_string(text).unwrap(), "text");
        removal.finish();
        assert_eq!(names(&scratch), ["workspaces"]);
    }

    #[test]
    fn elsewhere_a_case_is_removed_at_once() {
        let others: [fn(&Utf8Path) -> io::Result<FreeSpace>; 2] = [
            |_| Ok(FreeSpace { is_ext: false, ..EXT }),
            |_| Err(io::ErrorKind::Unsupported.into()),
        ];
        for free_space in others {
            let folder = tempfile::tempdir().unwrap();
            let (scratch, directory) = case(&folder);
            CaseRemoval::by(free_space, &scratch).remove(&directory);
            assert_eq!(names(&scratch.join("workspaces")), [""; 0]);
            assert!(!scratch.join("finished").exists());
        }
    }

    #[test]
    fn what_is_set_aside_leaves_room() {
        let is_postponed = |bytes: u64, files: u64| {
            leaves_room(
                EXT,
                FreeSpace { bytes: EXT.bytes - bytes, files: EXT.files - files, ..EXT },
            )
        };
        assert!(is_postponed(0, 0) && is_postponed(MOST_BYTES, MOST_FILES));
        assert!(!is_postponed(MOST_BYTES + 1, 0) && !is_postponed(0, MOST_FILES + 1));
        let small = FreeSpace { is_ext: true, bytes: 1000, files: 1000 };
        assert!(leaves_room(small, FreeSpace { bytes: 500, ..small }));
        assert!(!leaves_room(small, FreeSpace { bytes: 499, ..small }));
        assert!(!leaves_room(small, FreeSpace { files: 499, ..small }));
    }
}
