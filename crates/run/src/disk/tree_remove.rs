//! Removes a tree whatever is in it: directories without permissions, any depth, links. Nothing outside
//! of it is touched.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use camino::Utf8Path;
use rustix::fs::{AtFlags, CWD, Mode, openat, unlinkat};
use rustix::io::Errno;

use super::confine::PASSING;
use super::replace::directory_of;
use super::tree::{TreeEntry, TreeVisitor, walk_below};
use super::tree_facts::UnreadableDirectory;

/// How often to start again when something creates files meanwhile.
const ATTEMPTS: u32 = 5;

/// Removes a directory and everything in it, or a file or link of that name.
pub(super) fn remove_tree(path: &Utf8Path) -> io::Result<()> {
    let parent = openat(CWD, directory_of(path).as_str(), PASSING, Mode::empty())?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    remove_below(parent.as_fd(), name.as_bytes())
}

/// The same for a path below a directory, in which only the last part may be a link.
pub(super) fn remove_below(parent: BorrowedFd<'_>, path: &[u8]) -> io::Result<()> {
    let name = CString::new(path)?;
    let mut attempt = 0;
    loop {
        match unlinkat(parent, &name, AtFlags::empty()) {
            // What a directory gives depends on the system.
            Err(Errno::ISDIR | Errno::PERM) => {}
            removed => return Ok(removed?),
        }
        let mut removal = TreeRemoval::default();
        walk_below(parent, &name, UnreadableDirectory::UnlockToRemove, &mut removal)?;
        match (unlinkat(parent, &name, AtFlags::REMOVEDIR), removal.first) {
            (Ok(()), _) => return Ok(()),
            (Err(_), Some(error)) => return Err(error),
            (Err(Errno::NOTEMPTY | Errno::EXIST), None) if attempt < ATTEMPTS => attempt += 1,
            (Err(error), None) => return Err(error.into()),
        }
    }
}

/// Goes on after errors, so that as little as possible is left.
#[derive(Default)]
struct TreeRemoval {
    first: Option<io::Error>,
}

impl TreeRemoval {
    fn remove(&mut self, entry: &TreeEntry<'_>, flags: AtFlags) {
        match unlinkat(entry.parent, entry.name, flags) {
            // The next attempt finds what is new in a directory.
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => self.note(error.into()),
        }
    }

    fn note(&mut self, error: io::Error) {
        self.first.get_or_insert(error);
    }
}

impl TreeVisitor for TreeRemoval {
    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        self.remove(entry, AtFlags::empty());
        Ok(())
    }

    fn refused(&mut self, _: &[u8], error: io::Error) -> io::Result<()> {
        self.note(error);
        Ok(())
    }

    fn leave(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        self.remove(entry, AtFlags::REMOVEDIR);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use camino::Utf8PathBuf;

    use super::*;

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        (folder, path)
    }

    #[test]
    fn links_are_removed_and_what_they_lead_to_is_not() {
        let (_folder, place) = place();
        let (tree, beside) = (place.join("tree"), place.join("beside"));
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::create_dir(&beside).unwrap();
        fs::write(beside.join("kept"), "").unwrap();
        symlink(&beside, tree.join("a/directory")).unwrap();
        symlink(beside.join("kept"), tree.join("a/b/file")).unwrap();
        symlink("nowhere", tree.join("dangling")).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        assert!(beside.join("kept").exists());
        symlink(&beside, &tree).unwrap();
        remove_tree(&tree).unwrap();
        assert!(beside.join("kept").exists());
        assert_eq!(remove_tree(&tree).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// Only root may mount, so that elsewhere there is nothing to check.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_mounted_in_a_tree_is_left_alone() {
        let (_folder, place) = place();
        let (victim, mounted) = (place.join("victim"), place.join("tree/inner/mounted"));
        fs::create_dir_all(&victim).unwrap();
        fs::create_dir_all(&mounted).unwrap();
        fs::write(victim.join("file"), "kept").unwrap();
        let run = |program: &str, words: &[&str]| {
            let ended = std::process::Command::new(program).args(words).output();
            ended.is_ok_and(|ended| ended.status.success())
        };
        if !run("mount", &["--bind", victim.as_str(), mounted.as_str()]) {
            return;
        }
        let removed = remove_tree(&place.join("tree"));
        let is_kept = victim.join("file").exists();
        assert!(run("umount", &[mounted.as_str()]));
        assert!(is_kept && removed.is_err(), "{removed:?}");
        remove_tree(&place.join("tree")).unwrap();
    }

    #[test]
    fn directories_without_permissions_are_removed() {
        let (_folder, place) = place();
        let tree = place.join("tree");
        for mode in [0o000, 0o300, 0o500, 0o600] {
            fs::create_dir_all(tree.join("a/b")).unwrap();
            fs::write(tree.join("a/b/file"), "").unwrap();
            for directory in ["a/b", "a", ""] {
                let mode = fs::Permissions::from_mode(mode);
                fs::set_permissions(tree.join(directory), mode).unwrap();
            }
            remove_tree(&tree).unwrap();
            assert!(!tree.exists(), "{mode:o}");
        }
    }

    #[test]
    fn a_tree_may_be_deeper_than_a_path_is_long() {
        let (_folder, place) = place();
        let tree = place.join("tree");
        fs::create_dir(&tree).unwrap();
        let mut here = openat(CWD, tree.as_str(), PASSING, Mode::empty()).unwrap();
        for _ in 0..6000 {
            rustix::fs::mkdirat(&here, c"d", Mode::RWXU).unwrap();
            here = openat(&here, c"d", PASSING, Mode::empty()).unwrap();
        }
        drop(here);
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
    }
}
