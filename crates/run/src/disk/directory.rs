//! Creating directories.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::Access;
use super::replace::{directory_of, refusal, sync_parent};
use super::system::{self, create_directory};

/// Creates a directory and the missing ones above it.
pub fn create_directories(path: &Utf8Path, access: Access) -> io::Result<()> {
    create_missing(path, access).map(|_| ())
}

/// As [`create_directories`]; the new names survive a power cut.
pub fn create_durable_directories(path: &Utf8Path, access: Access) -> io::Result<()> {
    let mut made = create_missing(path, access)?;
    if made.is_empty() && is_empty(path)? {
        made.extend(path.ancestors().take(2).map(Utf8Path::to_owned));
    }
    made.iter().try_for_each(|path| sync_parent(path))
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
        match system::create_directory(&path, Access::Private) {
            Ok(()) => sync_parent(&path)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let found = path.symlink_metadata()?;
                if !found.is_dir() {
                    let refusal = refusal(found.file_type());
                    return Err(io::Error::new(refusal.kind(), format!("`{path}`: {refusal}")));
                }
                if is_empty(&path)? {
                    sync_parent(&path)?;
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

/// The directories that were created.
fn create_missing(path: &Utf8Path, access: Access) -> io::Result<Vec<Utf8PathBuf>> {
    let mut missing: Vec<&Utf8Path> =
        path.ancestors().take_while(|path| !path.as_str().is_empty() && !path.is_dir()).collect();
    missing.reverse();
    let mut made = Vec::with_capacity(missing.len());
    for path in missing {
        match create_directory(path, access) {
            Ok(()) => made.push(path.to_owned()),
            // Another process was faster.
            Err(_) if path.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(made)
}

/// Creates the directory that a file is to be in.
pub fn create_directory_of(path: &Utf8Path, access: Access) -> io::Result<()> {
    create_directories(directory_of(path), access)
}

/// The parent must exist, and the directory must not.
pub fn create_new_directory(path: &Utf8Path, access: Access) -> io::Result<()> {
    create_directory(path, access)
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
