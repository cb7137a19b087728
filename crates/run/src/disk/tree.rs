//! Walks trees of files that a hostile program may have made. Each directory is opened relative to its
//! parent, so neither links nor depth lead astray: a walk follows no link, enters no other file system,
//! and needs few descriptors however deep the tree is.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use camino::Utf8Path;
use evalrig_core::source::Reach;
use rustix::fs::{
    AtFlags, CWD, Dev, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, openat, readlinkat,
    statat,
};
use rustix::io::Errno;

use super::confine::{self, PASSING};
use super::long_path::LongPath;
use super::name_list::NameList;
use super::open::regular;
use super::tree_facts::{NodeFacts, NodeKind, UnreadableDirectory};

const READING: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Directories above the current one that stay open; the others are opened again on the way back.
const KEPT_OPEN: usize = 4;

/// A tree and the directory that its path may not leave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreePlace<'a> {
    pub(crate) path: &'a Utf8Path,
    pub(crate) reach: Reach<'a>,
}

impl<'a> From<&'a Utf8Path> for TreePlace<'a> {
    fn from(path: &'a Utf8Path) -> Self {
        Self { path, reach: Reach::Anywhere }
    }
}

impl TreePlace<'_> {
    /// Enough to look below it.
    pub(super) fn open(self) -> io::Result<OwnedFd> {
        match self.reach {
            Reach::Inside(limit) => confine::open_directory(limit, self.path, PASSING),
            Reach::Anywhere => Ok(openat(CWD, self.path.as_str(), PASSING, Mode::empty())?),
        }
    }
}

/// What is done with the entries of a tree. A directory is entered after all other entries of its
/// parent were visited.
pub(crate) trait TreeVisitor {
    /// A directory was opened; the path of the root is empty.
    fn enter(&mut self, _: &[u8], _: OpenDirectory<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Anything but a directory of the same file system.
    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()>;

    /// Whether to enter a directory.
    fn wants(&mut self, _: &[u8]) -> bool {
        true
    }

    /// A directory that cannot be opened.
    fn refused(&mut self, _: &[u8], error: io::Error) -> io::Result<()> {
        Err(error)
    }

    /// Everything below a directory was visited.
    fn leave(&mut self, _: &TreeEntry<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// A directory while it is read.
#[derive(Clone, Copy)]
pub(crate) struct OpenDirectory<'a> {
    descriptor: BorrowedFd<'a>,
    stat: &'a Stat,
    names: &'a NameList,
}

impl OpenDirectory<'_> {
    pub(crate) fn facts(self) -> NodeFacts {
        facts_of(self.stat)
    }

    /// Opens a regular file in it; links are not followed. `None` if there is nothing of that name.
    pub(crate) fn open(self, name: &CStr) -> Option<io::Result<File>> {
        self.names.contains(name).then(|| open_file(self.descriptor, name))
    }
}

/// An entry of a directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeEntry<'a> {
    pub(super) parent: BorrowedFd<'a>,
    pub(super) name: &'a CStr,
    /// Below the root, with `/`.
    pub(crate) path: &'a [u8],
    pub(crate) kind: NodeKind,
}

impl TreeEntry<'_> {
    pub(crate) fn facts(&self) -> io::Result<NodeFacts> {
        Ok(facts_of(&statat(self.parent, self.name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    pub(crate) fn link_target(&self) -> io::Result<Vec<u8>> {
        Ok(readlinkat(self.parent, self.name, Vec::new())?.into_bytes())
    }

    /// Opens a regular file.
    pub(crate) fn open(&self) -> io::Result<File> {
        open_file(self.parent, self.name)
    }
}

fn open_file(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    regular(openat(parent, name, flags | OFlags::NOCTTY, Mode::empty())?.into())
}

pub(super) fn facts_of(found: &Stat) -> NodeFacts {
    #[allow(clippy::useless_conversion, reason = "it has 16 bits on other systems")]
    let mode = u32::from(found.st_mode) & 0o7777;
    let nanoseconds = |seconds, rest| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "systems differ")]
    NodeFacts {
        kind: kind_of(FileType::from_raw_mode(found.st_mode)),
        mode,
        size: u64::try_from(found.st_size).unwrap_or(0),
        inode: u64::from(found.st_ino),
        modified: nanoseconds(found.st_mtime as i64, found.st_mtime_nsec as i64),
        changed: nanoseconds(found.st_ctime as i64, found.st_ctime_nsec as i64),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "systems differ")]
pub(super) fn mode_of(bits: u32) -> Mode {
    Mode::from_raw_mode(bits as rustix::fs::RawMode)
}

pub(super) fn kind_of(found: FileType) -> NodeKind {
    match found {
        FileType::RegularFile => NodeKind::File,
        FileType::Directory => NodeKind::Directory,
        FileType::Symlink => NodeKind::Link,
        _ => NodeKind::Special,
    }
}

/// What a path is; a link at its end is not followed.
pub(crate) fn facts_at(path: &Utf8Path) -> io::Result<NodeFacts> {
    Ok(facts_of(&statat(CWD, path.as_str(), AtFlags::SYMLINK_NOFOLLOW)?))
}

pub(super) fn facts_of_file(file: impl AsFd) -> io::Result<NodeFacts> {
    Ok(facts_of(&fstat(file)?))
}

/// Reads entries of a tree by their paths. Links are not followed.
#[derive(Debug)]
pub(crate) struct TreeReader(OwnedFd);

impl TreeReader {
    pub(crate) fn open(root: &Utf8Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, root.as_str(), PASSING, Mode::empty())?))
    }

    /// Opens a regular file.
    pub(crate) fn file(&self, path: &[u8]) -> io::Result<File> {
        open_below(self.0.as_fd(), path)
    }

    pub(crate) fn facts(&self, path: &[u8]) -> io::Result<NodeFacts> {
        let at = LongPath::below(self.0.as_fd(), path)?;
        Ok(facts_of(&statat(at.directory(), at.rest, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Lets the owner of a file read it. Elsewhere than on Linux nothing is done.
    pub(crate) fn unlock_file(&self, path: &[u8]) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = open_with(self.0.as_fd(), path, flags)?;
            if facts_of(&fstat(&opened)?).kind == NodeKind::File {
                unlock_opened(&opened, 0o400)?;
            }
        }
        let _ = path;
        Ok(())
    }

    pub(crate) fn link_target(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        let at = LongPath::below(self.0.as_fd(), path)?;
        Ok(readlinkat(at.directory(), at.rest, Vec::new())?.into_bytes())
    }
}

/// Opens a regular file by its path below a directory.
pub(super) fn open_below(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    regular(open_with(root, path, flags)?.into())
}

fn open_with(root: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let at = LongPath::below(root, path)?;
    let (root, path) = (at.directory(), at.rest);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let stay = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(root, path, flags, Mode::empty(), stay) {
            // The kernel or a sandbox does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
    }
    Ok(openat(root, path, flags, Mode::empty())?)
}

/// Visits everything below a directory.
pub(crate) fn walk_tree(
    root: TreePlace<'_>,
    unreadable: UnreadableDirectory,
    visitor: &mut dyn TreeVisitor,
) -> io::Result<()> {
    let directory = root.open()?;
    walk_below(directory.as_fd(), c".", unreadable, visitor)
}

/// Visits everything below the directory `name`.
pub(super) fn walk_below(
    parent: BorrowedFd<'_>,
    name: &CStr,
    unreadable: UnreadableDirectory,
    visitor: &mut dyn TreeVisitor,
) -> io::Result<()> {
    let (here, stat) = open_directory(parent, name, unreadable)?;
    let mut walk = TreeWalk {
        here,
        device: stat.st_dev,
        levels: Vec::new(),
        path: Vec::new(),
        names: NameList::default(),
        unreadable,
        visitor,
    };
    walk.read(&stat)?;
    while !walk.levels.is_empty() {
        walk.step()?;
    }
    Ok(())
}

/// A directory on the way to the current one.
struct TreeLevel {
    inode: u64,
    /// Directories that are still to be entered.
    pending: Vec<CString>,
    /// Of the path of this directory.
    path_length: usize,
    /// Set while a directory below it is read.
    kept: Option<OwnedFd>,
}

struct TreeWalk<'v> {
    here: OwnedFd,
    device: Dev,
    levels: Vec<TreeLevel>,
    path: Vec<u8>,
    names: NameList,
    unreadable: UnreadableDirectory,
    visitor: &'v mut dyn TreeVisitor,
}

impl TreeWalk<'_> {
    /// Visits what is in the current directory and notes its directories.
    fn read(&mut self, stat: &Stat) -> io::Result<()> {
        // All names are read first: a visitor may remove the entries.
        let mut names = std::mem::take(&mut self.names);
        let read = names.read(self.here.as_fd());
        let visited = read.and_then(|()| self.visit_all(stat, &names));
        self.names = names;
        #[allow(clippy::useless_conversion, reason = "it has 32 bits on other systems")]
        let inode = u64::from(stat.st_ino);
        let (pending, path_length) = (visited?, self.path.len());
        self.levels.push(TreeLevel { inode, pending, path_length, kept: None });
        Ok(())
    }

    /// Returns the directories.
    fn visit_all(&mut self, stat: &Stat, names: &NameList) -> io::Result<Vec<CString>> {
        let parent = self.here.as_fd();
        self.visitor.enter(&self.path, OpenDirectory { descriptor: parent, stat, names })?;
        let path_length = self.path.len();
        let mut pending = Vec::new();
        for (name, found) in names.iter() {
            let mut kind = kind_of(found);
            if found == FileType::Unknown {
                match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind = kind_of(FileType::from_raw_mode(stat.st_mode)),
                    Err(Errno::NOENT) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            if kind == NodeKind::Directory {
                pending.push(name.to_owned());
                continue;
            }
            push_name(&mut self.path, name);
            let visited = self.visitor.visit(&TreeEntry { parent, name, path: &self.path, kind });
            self.path.truncate(path_length);
            visited?;
        }
        Ok(pending)
    }

    /// Enters the next directory, or goes back up.
    fn step(&mut self) -> io::Result<()> {
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        let Some(name) = level.pending.pop() else {
            return self.go_up();
        };
        push_name(&mut self.path, &name);
        if self.visitor.wants(&self.path) {
            match open_directory(self.here.as_fd(), &name, self.unreadable) {
                Ok((inner, stat)) if stat.st_dev == self.device => {
                    self.go_down(inner);
                    return self.read(&stat);
                }
                Ok(_) => self.visit_mount(&name)?,
                Err(error) if Errno::from_io_error(&error) == Some(Errno::XDEV) => {
                    self.visit_mount(&name)?;
                }
                // It vanished, or something else took its name.
                Err(error) if is_gone(&error) => {}
                Err(error) => self.visitor.refused(&self.path, error)?,
            }
        }
        let length = self.levels.last().map_or(0, |level| level.path_length);
        self.path.truncate(length);
        Ok(())
    }

    /// What is mounted in a tree is not part of it.
    fn visit_mount(&mut self, name: &CStr) -> io::Result<()> {
        let (parent, kind) = (self.here.as_fd(), NodeKind::Special);
        self.visitor.visit(&TreeEntry { parent, name, path: &self.path, kind })
    }

    fn go_down(&mut self, inner: OwnedFd) {
        let outer = std::mem::replace(&mut self.here, inner);
        let depth = self.levels.len();
        if let Some(level) = self.levels.last_mut().filter(|_| depth <= KEPT_OPEN) {
            level.kept = Some(outer);
        }
    }

    /// The directory above the current one.
    fn reopen(&self, inode: u64) -> io::Result<OwnedFd> {
        let parent = openat(&self.here, c"..", PASSING, Mode::empty())?;
        let found = fstat(&parent)?;
        #[allow(clippy::useless_conversion, reason = "it has 32 bits on other systems")]
        let is_same = found.st_dev == self.device && u64::from(found.st_ino) == inode;
        if !is_same {
            return Err(io::Error::other("a directory was moved while it was read"));
        }
        Ok(parent)
    }

    fn go_up(&mut self) -> io::Result<()> {
        self.levels.pop();
        let Some(above) = self.levels.last_mut() else { return Ok(()) };
        let (kept, inode, length) = (above.kept.take(), above.inode, above.path_length);
        self.here = match kept {
            Some(kept) => kept,
            None => self.reopen(inode)?,
        };
        let from = if length == 0 { 0 } else { length + 1 };
        let name = CString::new(&self.path[from..])?;
        let parent = self.here.as_fd();
        let kind = NodeKind::Directory;
        let entry = TreeEntry { parent, name: &name, path: &self.path, kind };
        let left = self.visitor.leave(&entry);
        self.path.truncate(length);
        left
    }
}

fn push_name(path: &mut Vec<u8>, name: &CStr) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.to_bytes());
}

fn is_gone(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

/// `XDEV` for what is mounted there, also if it is a directory of the same file system.
#[cfg(target_os = "linux")]
fn open_unless_mounted(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    match openat2(parent, name, READING, Mode::empty(), ResolveFlags::NO_XDEV) {
        // Kernels and filters of system calls that do not know it.
        Err(Errno::NOSYS | Errno::PERM) => openat(parent, name, READING, Mode::empty()),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_unless_mounted(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    openat(parent, name, READING, Mode::empty())
}

fn open_directory(
    parent: BorrowedFd<'_>,
    name: &CStr,
    unreadable: UnreadableDirectory,
) -> io::Result<(OwnedFd, Stat)> {
    let needed = unreadable.needed();
    let opened = match open_unless_mounted(parent, name) {
        Err(Errno::ACCESS) if needed > 0 => {
            unlock(parent, name, needed)?;
            open_unless_mounted(parent, name)?
        }
        opened => opened?,
    };
    let stat = fstat(&opened)?;
    let mode = facts_of(&stat).mode;
    if mode & needed != needed {
        // Looking or removing fails later if it belongs to another user.
        let _ = fchmod(&opened, mode_of(mode | needed));
    }
    Ok((opened, stat))
}

/// Gives the owner of a directory further permissions. It is opened first, because a name could
/// meanwhile be that of a link.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn unlock(parent: BorrowedFd<'_>, name: &CStr, needed: u32) -> io::Result<()> {
    unlock_opened(&openat(parent, name, PASSING | OFlags::NOFOLLOW, Mode::empty())?, needed)
}

/// The same for an open directory, also one that was opened only to look below it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn unlock_opened(opened: &OwnedFd, needed: u32) -> io::Result<()> {
    let mode = mode_of(facts_of(&fstat(opened)?).mode | needed);
    let path = format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd());
    Ok(chmodat(CWD, path.as_str(), mode, AtFlags::empty())?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn unlock(parent: BorrowedFd<'_>, name: &CStr, needed: u32) -> io::Result<()> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mode = mode_of(facts_of(&stat).mode | needed);
    Ok(chmodat(parent, name, mode, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn unlock_opened(opened: &OwnedFd, needed: u32) -> io::Result<()> {
    let mode = mode_of(facts_of(&fstat(opened)?).mode | needed);
    Ok(fchmod(opened, mode)?)
}
