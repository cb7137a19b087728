//! Calls that change files where the system has no descriptors of directories: the real directory is
//! checked, then used.

use std::fs::{self, File, OpenOptions};
use std::io;

use camino::Utf8PathBuf;
use evalrig_core::source::Reach;

use super::Access;
use super::confine_by_path::real_path;
use super::replace::directory_of;
use super::write_path::{Occupant, WritePath};

pub(super) fn create_new(place: WritePath<'_>, _: Access) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(checked(place)?)
}

pub(super) fn open_to_append(place: WritePath<'_>, _: Access) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).open(checked(place)?)
}

pub(super) fn create_directory(place: WritePath<'_>, _: Access) -> io::Result<()> {
    fs::create_dir(checked(place)?)
}

pub(super) fn rename(from: WritePath<'_>, to: WritePath<'_>) -> io::Result<()> {
    fs::rename(checked(from)?, checked(to)?)
}

pub(super) fn hard_link(original: WritePath<'_>, link: WritePath<'_>) -> io::Result<()> {
    fs::hard_link(checked(original)?, checked(link)?)
}

#[cfg(windows)]
pub(super) fn symbolic_link(target: &str, place: WritePath<'_>) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, checked(place)?)
}

#[cfg(not(windows))]
pub(super) fn symbolic_link(_: &str, _: WritePath<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(feature = "queue")]
pub(super) fn read_link(place: WritePath<'_>) -> io::Result<String> {
    Ok(checked(place)?.read_link_utf8()?.into_string())
}

pub(super) fn remove_file(place: WritePath<'_>) -> io::Result<()> {
    fs::remove_file(checked(place)?)
}

pub(super) fn remove_directory(place: WritePath<'_>) -> io::Result<()> {
    fs::remove_dir(checked(place)?)
}

/// Directories cannot be synced here.
pub(super) fn open_directory(_: WritePath<'_>) -> io::Result<Option<File>> {
    Ok(None)
}

pub(super) fn occupant(place: WritePath<'_>) -> io::Result<Option<Occupant>> {
    let found = match fs::symlink_metadata(checked(place)?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    Ok(Some(if found.is_file() {
        Occupant::File(found.permissions())
    } else if found.is_dir() {
        Occupant::Directory
    } else if found.is_symlink() {
        Occupant::Link
    } else {
        Occupant::Other
    }))
}

fn checked(place: WritePath<'_>) -> io::Result<Utf8PathBuf> {
    let Reach::Inside(root) = place.reach else {
        return Ok(place.path.to_owned());
    };
    let name = place.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(real_path(root, directory_of(place.path))?.join(name))
}
