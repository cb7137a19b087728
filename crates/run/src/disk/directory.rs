//! Creating directories.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, is_outside};

use super::Access;
use super::Disk;
use super::replace::{directory_of, refusal, sync_parent};
use super::system::{self, create_directory};
#[cfg(unix)]
use super::write_at::occupant;
#[cfg(not(unix))]
use super::write_by_path::occupant;
use super::write_path::{Occupant, WritePath};

/// Creates a directory and the missing ones above it.
pub fn create_directories<'p>(path: impl Into<WritePath<'p>>, access: Access) -> io::Result<()> {
    create_missing(path.into(), access).map(|_| ())
}

/// As [`create_directories`]; the new names survive a power cut.
pub fn create_durable_directories<'p>(
    path: impl Into<WritePath<'p>>,
    access: Access,
) -> io::Result<()> {
    let place = path.into();
    let mut made = create_missing(place, access)?;
    if made.is_empty() && is_empty(place.path)? {
        let below_root = place.path.ancestors().take_while(|path| Some(*path) != place.root());
        made.extend(below_root.take(2).map(Utf8Path::to_owned));
    }
    made.iter().try_for_each(|path| sync_parent(place.at(path)))
}

/// Whether a directory may have been created just now, by a process that was then killed and has
/// not synced its name. A sync takes milliseconds even if nothing is left to do.
fn is_empty(directory: &Utf8Path) -> io::Result<bool> {
    Ok(directory.read_dir_utf8()?.next().is_none())
}

/// Creates a directory of our own below the root of a repository, durably. A link is refused, for the
/// repository may be a stranger's.
pub fn create_own_directory(root: &Utf8Path, below: &str) -> io::Result<Utf8PathBuf> {
    let mut path = root.to_owned();
    for part in below.split('/') {
        path.push(part);
        let place = WritePath::inside(root, &path);
        match system::create_directory(place, Access::Private) {
            Ok(()) => sync_parent(place)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match occupant(place)? {
                    Some(Occupant::Directory) => {}
                    Some(found) => {
                        let refusal = refusal(&found);
                        return Err(io::Error::new(refusal.kind(), format!("`{path}`: {refusal}")));
                    }
                    None => return Err(error),
                }
                if is_empty(&path)? {
                    sync_parent(place)?;
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

/// The directories that were created.
fn create_missing(place: WritePath<'_>, access: Access) -> io::Result<Vec<Utf8PathBuf>> {
    let is_directory = |path: &Utf8Path| {
        Disk.look(path, place.reach).is_ok_and(|found| found.kind == EntryKind::Directory)
    };
    let is_missing = |path: &&Utf8Path| {
        !path.as_str().is_empty() && Some(*path) != place.root() && !is_directory(path)
    };
    let mut missing: Vec<&Utf8Path> = place.path.ancestors().take_while(is_missing).collect();
    missing.reverse();
    let mut made = Vec::with_capacity(missing.len());
    for path in missing {
        match create_directory(place.at(path), access) {
            Ok(()) => made.push(path.to_owned()),
            Err(error) => match Disk.look(path, place.reach) {
                // Another process was faster.
                Ok(found) if found.kind == EntryKind::Directory => {}
                Err(refused) if is_outside(&refused) => return Err(refused),
                _ => return Err(error),
            },
        }
    }
    Ok(made)
}

/// Creates the directory that a file is to be in.
pub fn create_directory_of<'p>(path: impl Into<WritePath<'p>>, access: Access) -> io::Result<()> {
    let place = path.into();
    create_missing(place.at(directory_of(place.path)), access).map(|_| ())
}

/// The parent must exist, and the directory must not.
pub fn create_new_directory<'p>(path: impl Into<WritePath<'p>>, access: Access) -> io::Result<()> {
    create_directory(path.into(), access)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn directories_of_our_own_are_private_and_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let mode = |path: &Utf8Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for _ in 0..2 {
            let path = create_own_directory(root, "a/b").unwrap();
            assert_eq!((mode(&path), mode(&root.join("a"))), (0o700, 0o700));
        }
        create_durable_directories(&root.join("c/d"), Access::Private).unwrap();
        create_directories(&root.join("c/d/e"), Access::Private).unwrap();
        assert_eq!((mode(&root.join("c")), mode(&root.join("c/d/e"))), (0o700, 0o700));
        fs::write(root.join("file"), "").unwrap();
        assert!(create_directories(&root.join("file/a"), Access::Private).is_err());
        symlink("a", root.join("link")).unwrap();
        for below in ["link", "link/b", "file"] {
            assert!(create_own_directory(root, below).is_err(), "{below}");
        }
        let error = create_own_directory(root, "link/b").unwrap_err().to_string();
        assert!(error.ends_with("link`: it is a link, which could lead elsewhere"), "{error}");
    }
}
