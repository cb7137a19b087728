//! Opens paths below a root without leaving it (spec 4): by `openat2`, or by a walk of descriptors where
//! the kernel lacks it. Both open each directory relative to the one before, so a link that is put in
//! the way later is followed only where it may lead.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{DirectoryEntry, DirectoryListing, EntryKind, FileFacts};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;

use super::open::{irregular, outside, regular};

/// As many links as Linux follows in one path.
const MOST_LINKS: u32 = 40;

/// Directories that a walk keeps open at a time.
const DEEPEST: usize = 128;

/// Flags for reading: a FIFO does not block, a terminal is not acquired.
const READING: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Enough to look below a directory; reading its names is not needed where there is `O_PATH`.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const PASSING: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) const PASSING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

pub(super) fn open_without_waiting(path: &Utf8Path) -> io::Result<File> {
    Ok(openat(CWD, path.as_str(), READING, Mode::empty())?.into())
}

/// Opens a regular file below the root.
pub(super) fn open_inside(root: &Utf8Path, path: &Utf8Path) -> io::Result<File> {
    let root = Root::open(root)?;
    let below = root.strip(path)?;
    // Looked at first: opening a FIFO would wake its writer, and opening a device may act on it.
    if root.look(&below)?.kind != EntryKind::File {
        return Err(irregular());
    }
    regular(root.open_below(&below, READING)?.into())
}

/// Opens a directory below the root, or the root.
pub(super) fn open_directory(
    root: &Utf8Path,
    directory: &Utf8Path,
    flags: OFlags,
) -> io::Result<OwnedFd> {
    let root = Root::open(root)?;
    root.open_below(&root.strip(directory)?, flags)
}

pub(super) fn look_inside(root: &Utf8Path, path: &Utf8Path) -> io::Result<FileFacts> {
    let root = Root::open(root)?;
    root.look(&root.strip(path)?)
}

/// The names in a directory below the root.
pub(super) fn list_inside(root: &Utf8Path, directory: &Utf8Path) -> io::Result<DirectoryListing> {
    let root = Root::open(root)?;
    let below = root.strip(directory)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = root.open_below(&below, flags)?;
    let mut listing = DirectoryListing::default();
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let raw = entry.file_name();
        if matches!(raw.to_bytes(), b"." | b"..") {
            continue;
        }
        let mut found = entry.file_type();
        if found == FileType::Unknown {
            let stat = statat(&opened, raw, AtFlags::SYMLINK_NOFOLLOW)?;
            found = FileType::from_raw_mode(stat.st_mode);
        }
        let is_link = found == FileType::Symlink;
        let Ok(name) = raw.to_str() else {
            listing.push_undecodable(raw.to_string_lossy().into_owned(), kind_of(found));
            continue;
        };
        let kind = if is_link { root.kind_behind(&below.join(name)) } else { kind_of(found) };
        let is_absolute_link = is_link
            && readlinkat(&opened, raw, Vec::new()).is_ok_and(|to| to.to_bytes().starts_with(b"/"));
        let name = name.to_owned();
        listing.entries.push(DirectoryEntry { name, kind, is_link, is_absolute_link });
    }
    listing.sort();
    Ok(listing)
}

fn kind_of(found: FileType) -> EntryKind {
    match found {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        _ => EntryKind::Other,
    }
}

fn facts_of(found: &Stat) -> FileFacts {
    let kind = kind_of(FileType::from_raw_mode(found.st_mode));
    FileFacts { kind, size: u64::try_from(found.st_size).unwrap_or(0) }
}

/// A directory that paths stay below.
struct Root<'p> {
    path: &'p Utf8Path,
    directory: OwnedFd,
}

impl<'p> Root<'p> {
    fn open(path: &'p Utf8Path) -> io::Result<Self> {
        Ok(Self { path, directory: openat(CWD, path.as_str(), PASSING, Mode::empty())? })
    }

    /// A path relative to the root, whichever way the root is spelt.
    fn strip(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        let below = match path.strip_prefix(self.path) {
            Ok(below) => below,
            Err(_) => {
                let real = self.path.canonicalize_utf8()?;
                path.strip_prefix(real).map_err(|_| outside())?
            }
        };
        // Stripping drops `/` and `/.` at the end, with which a path leads to a directory only.
        let is_directory = path.as_str().ends_with('/') || path.as_str().ends_with("/.");
        Ok(if is_directory { below.join(".") } else { below.to_owned() })
    }

    fn look(&self, below: &Utf8Path) -> io::Result<FileFacts> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(opened) = self.try_openat2(below, OFlags::PATH | OFlags::CLOEXEC) {
            return Ok(facts_of(&rustix::fs::fstat(opened?)?));
        }
        let walk = Walk::along(self, below)?;
        let found = match &walk.last {
            Some(name) => statat(walk.here(), name, AtFlags::SYMLINK_NOFOLLOW)?,
            None => rustix::fs::fstat(walk.here())?,
        };
        Ok(facts_of(&found))
    }

    /// What a link leads to, or that it leaves the root.
    fn kind_behind(&self, below: &Utf8Path) -> EntryKind {
        match self.look(below) {
            Ok(found) => found.kind,
            Err(error) if evalrig_core::source::is_outside(&error) => EntryKind::Outside,
            Err(_) => EntryKind::Other,
        }
    }

    fn open_below(&self, below: &Utf8Path, flags: OFlags) -> io::Result<OwnedFd> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(opened) = self.try_openat2(below, flags) {
            return opened;
        }
        let walk = Walk::along(self, below)?;
        let name = walk.last.as_deref().unwrap_or(".");
        Ok(openat(walk.here(), name, flags | OFlags::NOFOLLOW, Mode::empty())?)
    }

    /// `None` if the path must be walked: the kernel lacks `openat2`, or refuses absolute links, which
    /// may still lead back into the root.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn try_openat2(&self, below: &Utf8Path, flags: OFlags) -> Option<io::Result<OwnedFd>> {
        use rustix::fs::{ResolveFlags, openat2};
        static IS_MISSING: AtomicBool = AtomicBool::new(false);
        if IS_MISSING.load(Ordering::Relaxed) {
            return None;
        }
        #[cfg(test)]
        if FORCE_WALK.with(std::cell::Cell::get) {
            return None;
        }
        let below = if below.as_str().is_empty() { "." } else { below.as_str() };
        let stay = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.directory, below, flags, Mode::empty(), stay) {
            Ok(opened) => Some(Ok(opened)),
            // A sandbox that does not know the call may answer EPERM, and so may a file.
            Err(Errno::NOSYS) => {
                IS_MISSING.store(true, Ordering::Relaxed);
                None
            }
            // EAGAIN: something was renamed meanwhile. ELOOP: a magic link, or too many.
            Err(Errno::PERM | Errno::XDEV | Errno::AGAIN | Errno::LOOP) => None,
            Err(error) => Some(Err(error.into())),
        }
    }
}

/// A path that was followed part by part. Every directory on the way stays open, so that `..` leads
/// back to where the walk came from even if that was moved.
struct Walk<'r> {
    root: BorrowedFd<'r>,
    directories: Vec<OwnedFd>,
    /// The last part, which is not a link; `None` if the path leads to the directory itself.
    last: Option<String>,
}

impl<'r> Walk<'r> {
    fn along(root: &'r Root<'_>, below: &Utf8Path) -> io::Result<Self> {
        let mut walk = Self { root: root.directory.as_fd(), directories: Vec::new(), last: None };
        let mut pending = parts_reversed(below);
        let mut links = 0;
        while let Some(name) = pending.pop() {
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    walk.directories.pop().ok_or_else(outside)?;
                    continue;
                }
                _ => {}
            }
            let target = match readlinkat(walk.here(), name.as_str(), Vec::new()) {
                Ok(target) => target,
                Err(Errno::INVAL) => {
                    if pending.is_empty() {
                        walk.last = Some(name);
                    } else {
                        walk.enter(&name)?;
                    }
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::LOOP.into());
            }
            // Names that are not UTF-8 cannot be written in a suite and are not followed either.
            let target = target.to_str().map_err(|_| io::ErrorKind::NotFound)?;
            let mut target = Utf8PathBuf::from(target);
            if target.is_absolute() {
                target = root.strip(&target)?;
                walk.directories.clear();
            }
            pending.extend(parts_reversed(&target));
        }
        Ok(walk)
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.directories.last().map_or(self.root, AsFd::as_fd)
    }

    fn enter(&mut self, name: &str) -> io::Result<()> {
        if self.directories.len() >= DEEPEST {
            let message = "more than 128 directories below the root";
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
        }
        let entered = openat(self.here(), name, PASSING | OFlags::NOFOLLOW, Mode::empty())?;
        self.directories.push(entered);
        Ok(())
    }
}

#[cfg(test)]
thread_local! {
    /// Tests take the way of systems without `openat2`.
    static FORCE_WALK: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;

/// The parts of a relative path, the first one last.
fn parts_reversed(path: &Utf8Path) -> Vec<String> {
    path.as_str().split('/').rev().map(str::to_owned).collect()
}
