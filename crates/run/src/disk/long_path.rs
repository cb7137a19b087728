//! Paths below a directory that are longer than one call of the system takes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};

use super::confine::PASSING;

/// What every system takes, with the byte at the end.
const LONGEST: usize = if cfg!(target_os = "linux") { 4000 } else { 1000 };

/// A path whose beginning was opened, so that the rest is short. No link is followed on the way.
#[derive(Debug)]
pub(super) struct LongPath<'r, 'p> {
    root: BorrowedFd<'r>,
    /// The directory that `rest` is in, unless that is the root.
    held: Option<OwnedFd>,
    pub(super) rest: &'p [u8],
}

impl<'r, 'p> LongPath<'r, 'p> {
    pub(super) fn below(root: BorrowedFd<'r>, path: &'p [u8]) -> io::Result<Self> {
        let mut long = Self { root, held: None, rest: path };
        while long.rest.len() > LONGEST {
            let cut = long.rest[..LONGEST].iter().rposition(|byte| *byte == b'/');
            let cut = cut.ok_or(io::ErrorKind::InvalidFilename)?;
            long.held = Some(open_directories(long.directory(), &long.rest[..cut])?);
            long.rest = &long.rest[cut + 1..];
        }
        Ok(long)
    }

    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.held.as_ref().map_or(self.root, AsFd::as_fd)
    }
}

fn open_directories(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{ResolveFlags, openat2};
        use rustix::io::Errno;
        let stay = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(root, path, PASSING, Mode::empty(), stay) {
            // The kernel or a sandbox does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
    }
    open_one_by_one(root, path)
}

/// Only then is it sure that none of them is a link. With thousands of levels it takes long.
fn open_one_by_one(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
    let mut here: Option<OwnedFd> = None;
    for name in path.split(|byte| *byte == b'/') {
        let parent = here.as_ref().map_or(root, AsFd::as_fd);
        here = Some(openat(parent, name, PASSING | OFlags::NOFOLLOW, Mode::empty())?);
    }
    here.ok_or_else(|| io::ErrorKind::InvalidFilename.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_on_the_way_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        fs::create_dir_all(place.join("a/b/c")).unwrap();
        symlink("b", place.join("a/link")).unwrap();
        let root = rustix::fs::openat(rustix::fs::CWD, place, PASSING, Mode::empty()).unwrap();
        for open in [open_directories, open_one_by_one] {
            assert!(open(root.as_fd(), b"a/b/c").is_ok());
            for path in [&b"a/link/c"[..], b"a/b/none", b"a/link"] {
                assert!(open(root.as_fd(), path).is_err());
            }
        }
        let long = LongPath::below(root.as_fd(), b"a/b").unwrap();
        assert!(long.held.is_none() && long.rest == b"a/b");
    }
}
