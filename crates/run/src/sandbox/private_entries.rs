//! Entries of a system directory that are not for every user. A program that runs as root could read
//! them; in a sandbox it sees what an ordinary user sees.

use std::fs;
use std::path::Path;

use camino::Utf8PathBuf;

/// Directories inside of directories that are looked at.
const DEPTH: u32 = 3;

/// What a sandbox hides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PrivateEntries {
    pub(super) files: Vec<Utf8PathBuf>,
    pub(super) directories: Vec<Utf8PathBuf>,
}

impl PrivateEntries {
    pub(super) fn below(directory: &str) -> Self {
        let mut found = Self::default();
        found.add(Path::new(directory), DEPTH);
        found.files.sort();
        found.directories.sort();
        found
    }

    fn add(&mut self, directory: &Path, depth: u32) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(path) = Utf8PathBuf::from_path_buf(entry.path()) else { continue };
            // A link is as private as what it leads to, which is elsewhere.
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                if !is_for_everyone(&found, 0o005) {
                    self.directories.push(path);
                } else if depth > 1 {
                    self.add(path.as_std_path(), depth - 1);
                }
            } else if found.is_file() && !is_for_everyone(&found, 0o004) {
                self.files.push(path);
            }
        }
    }
}

#[cfg(unix)]
fn is_for_everyone(found: &fs::Metadata, bits: u32) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & bits == bits
}

#[cfg(not(unix))]
fn is_for_everyone(_: &fs::Metadata, _: u32) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_others_may_not_read_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for (path, mode) in
            [("passwd", 0o644), ("shadow", 0o640), ("ssh/key", 0o600), ("ssh/key.pub", 0o644)]
        {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "").unwrap();
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir_all(root.join("ssl/private")).unwrap();
        let private = fs::Permissions::from_mode(0o710);
        fs::set_permissions(root.join("ssl/private"), private).unwrap();
        symlink(root.join("shadow"), root.join("link")).unwrap();
        let found = PrivateEntries::below(root.as_str());
        assert_eq!(found.files, [root.join("shadow"), root.join("ssh/key")]);
        assert_eq!(found.directories, [root.join("ssl/private")]);
    }
}
