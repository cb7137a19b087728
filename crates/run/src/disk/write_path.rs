//! Where something is written. Below a root, no call follows a link that leads out of it: the directory
//! is opened relative to the root each time, and the name is used relative to that directory.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

/// A path that is written to, and the directory that it may not leave.
#[derive(Debug, Clone, Copy)]
pub struct WritePath<'a> {
    pub path: &'a Utf8Path,
    pub reach: Reach<'a>,
}

impl<'a> WritePath<'a> {
    /// A path below a root, where the files of a repository are.
    pub fn inside(root: &'a Utf8Path, path: &'a Utf8Path) -> Self {
        Self { path, reach: Reach::Inside(root) }
    }

    /// Another path with the same limit.
    pub fn at<'b>(self, path: &'b Utf8Path) -> WritePath<'b>
    where
        'a: 'b,
    {
        WritePath { path, reach: self.reach }
    }

    pub(super) fn root(self) -> Option<&'a Utf8Path> {
        match self.reach {
            Reach::Inside(root) => Some(root),
            Reach::Anywhere => None,
        }
    }
}

/// A path that the user named, or one of ours that no repository can change.
impl<'a> From<&'a Utf8Path> for WritePath<'a> {
    fn from(path: &'a Utf8Path) -> Self {
        Self { path, reach: Reach::Anywhere }
    }
}

impl<'a> From<&'a Utf8PathBuf> for WritePath<'a> {
    fn from(path: &'a Utf8PathBuf) -> Self {
        path.as_path().into()
    }
}

/// What is at a path that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Occupant {
    File(std::fs::Permissions),
    Directory,
    Link,
    /// A device, a FIFO or a socket.
    Other,
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io;
    use std::os::unix::fs::symlink;

    use evalrig_core::source::is_outside;

    use super::super::{
        Access, Durability, create_durable_directories, create_new, create_own_directory,
        open_to_append, remove_directory, remove_file, rename, replace, replace_link,
        sync_directory,
    };
    use super::*;

    fn with_root(test: impl FnOnce(&Utf8Path, &Utf8Path)) {
        let folder = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let (root, beside) = (base.join("root"), base.join("beside"));
        fs::create_dir_all(root.join("real")).unwrap();
        fs::create_dir_all(beside.join("empty")).unwrap();
        fs::write(beside.join("file"), "kept").unwrap();
        symlink(&beside, root.join("out")).unwrap();
        symlink("../beside", root.join("relative")).unwrap();
        symlink("real", root.join("in")).unwrap();
        test(&root, &beside);
    }

    #[test]
    fn nothing_is_changed_through_a_link_out_of_the_root() {
        with_root(|root, beside| {
            for name in ["out", "relative", "../beside", "real/../../beside"] {
                let path = |file: &str| root.join(name).join(file);
                let file = path("file");
                let (new, empty, here) = (path("new"), path("empty"), root.join(name));
                let place = |path| WritePath::inside(root, path);
                let own = root.join("real/own");
                fs::write(&own, "").unwrap();
                let attempts: [(&str, io::Result<()>); 9] = [
                    ("replace", replace(place(&file), b"x", Access::Shared, Durability::Durable)),
                    ("create", create_new(place(&new), b"x", Access::Private)),
                    ("append", open_to_append(place(&file), Access::Private).map(|_| ())),
                    ("remove", remove_file(place(&file))),
                    ("remove directory", remove_directory(place(&empty))),
                    ("rename in", rename(place(&own), place(&new))),
                    ("rename out", rename(place(&file), place(&own))),
                    ("link", replace_link(place(&new), "file")),
                    ("directories", create_durable_directories(place(&new), Access::Shared)),
                ];
                for (what, attempt) in attempts {
                    assert!(is_outside(&attempt.unwrap_err()), "{what} in {name}");
                }
                assert!(sync_directory(place(&here)).is_err());
            }
            assert!(create_own_directory(root, "out/new").is_err());
            assert_eq!(fs::read_to_string(beside.join("file")).unwrap(), "kept");
            assert_eq!(fs::read_dir(beside).unwrap().count(), 2);
        });
    }

    #[test]
    fn links_inside_the_root_are_followed_to_directories() {
        with_root(|root, _| {
            let file = root.join("in/file");
            let place = WritePath::inside(root, &file);
            replace(place, b"one", Access::Shared, Durability::Durable).unwrap();
            replace(place, b"two", Access::Shared, Durability::Durable).unwrap();
            assert_eq!(fs::read_to_string(root.join("real/file")).unwrap(), "two");
            remove_file(place).unwrap();
            assert_eq!(fs::read_dir(root.join("real")).unwrap().count(), 0);
        });
    }
}
