//! A directory that programs may do anything to, and may put something else in the place of. It is looked at
//! before each use, so that nothing outside is read, changed or removed in its name.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, CWD, Mode, Stat, fstat, openat, statat};
use rustix::io::Errno;

use super::Access;
use super::confine::PASSING;
use super::replace::directory_of;
use super::system::{create_directory, remove_file};
use super::tree::{facts_of, unlock, unlock_opened};
use super::tree_facts::NodeKind;

/// What its owner needs to look into it, and into the directory that it is in.
const READABLE: u32 = 0o500;
const USABLE: u32 = 0o700;

/// A path, and the directory of our own that it is in.
#[derive(Debug, Clone)]
pub(crate) struct GuardedDirectory {
    path: Utf8PathBuf,
    /// Device and inode.
    parent: (u64, u64),
}

/// What is there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuardedState {
    /// A directory that can be read.
    Present,
    /// Nothing, or something that is neither a directory nor a link.
    Gone,
    /// A link, another file system, or the way there leads elsewhere.
    Replaced,
}

impl GuardedDirectory {
    /// The directory that it is in exists, and no program has run yet.
    pub(crate) fn new(path: Utf8PathBuf) -> io::Result<Self> {
        let parent = statat(CWD, directory_of(&path).as_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Self { parent: identity(&parent), path })
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Looks at it. Its owner may list and enter it from now on.
    pub(crate) fn look(&self) -> io::Result<GuardedState> {
        let opened = openat(CWD, directory_of(&self.path).as_str(), PASSING, Mode::empty());
        let parent = match opened {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(GuardedState::Replaced),
            opened => opened?,
        };
        let found = fstat(&parent)?;
        if identity(&found) != self.parent {
            return Ok(GuardedState::Replaced);
        }
        if facts_of(&found).mode & USABLE != USABLE {
            unlock_opened(&parent, USABLE)?;
        }
        self.look_in(parent.as_fd(), &found)
    }

    fn look_in(&self, parent: BorrowedFd<'_>, above: &Stat) -> io::Result<GuardedState> {
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let found = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(GuardedState::Gone),
            found => found?,
        };
        let facts = facts_of(&found);
        match facts.kind {
            NodeKind::Directory if found.st_dev == above.st_dev => {}
            NodeKind::Directory | NodeKind::Link => return Ok(GuardedState::Replaced),
            NodeKind::File | NodeKind::Special => return Ok(GuardedState::Gone),
        }
        if is_mounted(parent, name)? {
            return Ok(GuardedState::Replaced);
        }
        if facts.mode & READABLE != READABLE {
            let name = std::ffi::CString::new(name)?;
            unlock(parent, &name, READABLE)?;
        }
        Ok(GuardedState::Present)
    }

    /// Makes an empty directory where none is left.
    pub(crate) fn restore(&self) -> io::Result<()> {
        match remove_file(self.path.as_path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        create_directory(self.path.as_path().into(), Access::Private)
    }
}

#[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "systems differ")]
fn identity(found: &Stat) -> (u64, u64) {
    (found.st_dev as u64, found.st_ino as u64)
}

/// Whether a directory of the same file system is mounted there.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_mounted(parent: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
    use rustix::fs::{OFlags, ResolveFlags, openat2};
    let flags = PASSING | OFlags::NOFOLLOW;
    match openat2(parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV) {
        Err(Errno::XDEV) => Ok(true),
        // The kernel or a sandbox does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => Ok(false),
        opened => Ok(opened.map(|_| false)?),
    }
}

/// Elsewhere only file systems are mounted.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_mounted(_: BorrowedFd<'_>, _: &str) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_a_directory_in_its_own_place_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let (own, outside) = (place.join("own"), place.join("outside"));
        let path = own.join("tree");
        for directory in [&path, &outside.join("tree")] {
            fs::create_dir_all(directory).unwrap();
        }
        let guarded = GuardedDirectory::new(path.clone()).unwrap();
        let look = || guarded.look().unwrap();
        assert_eq!(look(), GuardedState::Present);
        for locked in [&path, &own] {
            fs::set_permissions(locked, fs::Permissions::from_mode(0o000)).unwrap();
            assert_eq!(look(), GuardedState::Present);
            let mode = fs::metadata(locked).unwrap().permissions().mode();
            assert_eq!(mode & READABLE, READABLE, "{locked}");
        }
        fs::remove_dir(&path).unwrap();
        assert_eq!(look(), GuardedState::Gone);
        symlink(&outside, &path).unwrap();
        assert_eq!(look(), GuardedState::Replaced);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert_eq!(look(), GuardedState::Gone);
        guarded.restore().unwrap();
        assert_eq!(look(), GuardedState::Present);
        // The same name below another directory.
        fs::rename(&own, place.join("moved")).unwrap();
        assert_eq!(look(), GuardedState::Replaced);
        symlink(&outside, &own).unwrap();
        assert_eq!(look(), GuardedState::Replaced);
        fs::remove_file(&own).unwrap();
        symlink(place.join("moved"), &own).unwrap();
        assert_eq!(look(), GuardedState::Present, "it is the same directory");
    }
}
