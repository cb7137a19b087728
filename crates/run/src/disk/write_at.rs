//! Calls that change files, relative to a directory that was opened below its root.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use evalrig_core::source::Reach;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, linkat, mkdirat, openat, renameat, statat, symlinkat,
    unlinkat,
};

use super::Access;
use super::confine;
use super::open::irregular;
use super::replace::directory_of;
use super::write_path::{Occupant, WritePath};

const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL);
const GROWING: OFlags = OFlags::RDWR.union(OFlags::APPEND).union(OFlags::CREATE);

pub(super) fn create_new(place: WritePath<'_>, access: Access) -> io::Result<File> {
    in_directory(place, |directory, name| open(directory, name, NEW, access))
}

pub(super) fn open_to_append(place: WritePath<'_>, access: Access) -> io::Result<File> {
    let file = in_directory(place, |directory, name| open(directory, name, GROWING, access))?;
    // Devices and FIFOs are for paths that the user named.
    let is_sound = place.root().is_none() || file.metadata()?.is_file();
    if is_sound { Ok(file) } else { Err(irregular()) }
}

pub(super) fn create_directory(place: WritePath<'_>, access: Access) -> io::Result<()> {
    let mode = if access == Access::Private { 0o700 } else { 0o777 };
    let mode = Mode::from_raw_mode(mode);
    in_directory(place, |directory, name| Ok(mkdirat(directory, name.as_str(), mode)?))
}

pub(super) fn rename(from: WritePath<'_>, to: WritePath<'_>) -> io::Result<()> {
    in_directory(from, |source, old| {
        in_directory(to, |target, new| Ok(renameat(source, old.as_str(), target, new.as_str())?))
    })
}

pub(super) fn hard_link(original: WritePath<'_>, link: WritePath<'_>) -> io::Result<()> {
    in_directory(original, |source, old| {
        in_directory(link, |target, new| {
            Ok(linkat(source, old.as_str(), target, new.as_str(), AtFlags::empty())?)
        })
    })
}

pub(super) fn symbolic_link(target: &str, place: WritePath<'_>) -> io::Result<()> {
    in_directory(place, |directory, name| Ok(symlinkat(target, directory, name.as_str())?))
}

pub(super) fn remove_file(place: WritePath<'_>) -> io::Result<()> {
    unlink(place, AtFlags::empty())
}

pub(super) fn remove_directory(place: WritePath<'_>) -> io::Result<()> {
    unlink(place, AtFlags::REMOVEDIR)
}

fn unlink(place: WritePath<'_>, flags: AtFlags) -> io::Result<()> {
    in_directory(place, |directory, name| Ok(unlinkat(directory, name.as_str(), flags)?))
}

pub(super) fn set_mode(place: WritePath<'_>, mode: u32) -> io::Result<()> {
    let permissions = Permissions::from_mode(mode);
    if place.root().is_none() {
        return std::fs::set_permissions(place.path, permissions);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = in_directory(place, |directory, name| {
        Ok(File::from(openat(directory, name.as_str(), flags, Mode::empty())?))
    })?;
    if file.metadata()?.is_file() { file.set_permissions(permissions) } else { Err(irregular()) }
}

#[cfg(feature = "queue")]
pub(super) fn read_link(place: WritePath<'_>) -> io::Result<String> {
    let target = in_directory(place, |directory, name| {
        Ok(rustix::fs::readlinkat(directory, name.as_str(), Vec::new())?)
    })?;
    target.into_string().map_err(|_| io::ErrorKind::InvalidData.into())
}

/// For syncing.
pub(super) fn open_directory(place: WritePath<'_>) -> io::Result<Option<File>> {
    match place.reach {
        Reach::Anywhere => File::open(place.path).map(Some),
        Reach::Inside(root) => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Some(confine::open_directory(root, place.path, flags)?.into()))
        }
    }
}

/// What is at the path; a link is not followed. `None` if there is nothing.
pub(super) fn occupant(place: WritePath<'_>) -> io::Result<Option<Occupant>> {
    let found = in_directory(place, |directory, name| {
        Ok(statat(directory, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)?)
    });
    let found = match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    Ok(Some(match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => {
            #[allow(clippy::useless_conversion, reason = "it has 16 bits on other systems")]
            let mode = u32::from(found.st_mode);
            Occupant::File(Permissions::from_mode(mode & 0o7777))
        }
        FileType::Directory => Occupant::Directory,
        FileType::Symlink => Occupant::Link,
        _ => Occupant::Other,
    }))
}

/// A link at the name is not followed.
fn open(
    directory: BorrowedFd<'_>,
    name: &Utf8Path,
    flags: OFlags,
    access: Access,
) -> io::Result<File> {
    let mode = Mode::from_raw_mode(if access == Access::Private { 0o600 } else { 0o666 });
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name.as_str(), flags, mode)?.into())
}

/// Below a root, the directory is opened first, and only the name is left.
fn in_directory<T>(
    place: WritePath<'_>,
    act: impl FnOnce(BorrowedFd<'_>, &Utf8Path) -> io::Result<T>,
) -> io::Result<T> {
    let Reach::Inside(root) = place.reach else {
        return act(CWD, place.path);
    };
    let name = place.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let directory = confine::open_directory(root, directory_of(place.path), confine::PASSING)?;
    act(directory.as_fd(), name.into())
}
