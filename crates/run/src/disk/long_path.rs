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

/// One after the other: only then is it sure that none of them is a link.
fn open_directories(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
    let mut here: Option<OwnedFd> = None;
    for name in path.split(|byte| *byte == b'/') {
        let parent = here.as_ref().map_or(root, AsFd::as_fd);
        here = Some(openat(parent, name, PASSING | OFlags::NOFOLLOW, Mode::empty())?);
    }
    here.ok_or_else(|| io::ErrorKind::InvalidFilename.into())
}
