//! The one way to replace a file: a draft beside it, then a rename. Readers see the old file or the
//! new one, never a part of either.
//!
//! Promised for every replacement:
//! - The draft is new (`O_EXCL`), hidden, in the directory of the file, and has a random name. It is
//!   removed when it is dropped before it was placed.
//! - The new file gets the permissions of the file that it replaces, once it is complete; without
//!   one, those of its [`Access`]. Owner, ACLs and extended attributes are not copied.
//! - Only a regular file is replaced. A link at the path is refused: [`super::NamedOutput`] resolves
//!   those that the user named.
//! - What survives a power cut is the caller's choice, see [`Durability`].

use std::fs::Permissions;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};

use super::Access;
use super::system::{self, OpenFile};
#[cfg(unix)]
use super::write_at as platform;
#[cfg(not(unix))]
use super::write_by_path as platform;
use super::write_path::{Occupant, WritePath};

const PREFIX: &str = ".evalrig-";
const ENDING: &str = ".tmp";

/// What a power cut can do to a replaced file. A crash of the process alone never harms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is synced: the file may be empty afterwards. For output that can be made again.
    Unsynced,
    /// The contents are synced before the rename: the file is the old one or the new one, complete.
    Contents,
    /// The directory is synced as well: once placed, the new file stays.
    Durable,
}

/// What happens to a link at the path of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtLink {
    /// Nothing is written.
    Refuse,
    /// The link itself is replaced, whatever it leads to.
    Replace,
}

/// Replaces `path` with `contents`.
pub fn replace<'p>(
    path: impl Into<WritePath<'p>>,
    contents: &[u8],
    access: Access,
    durability: Durability,
) -> io::Result<()> {
    let mut draft = FileDraft::create(path, access)?;
    draft.write_all(contents)?;
    draft.place(durability)
}

/// Creates a file; fails with `AlreadyExists` if there is one. It is incomplete after a crash.
pub fn create_new<'p>(
    path: impl Into<WritePath<'p>>,
    contents: &[u8],
    access: Access,
) -> io::Result<()> {
    OpenFile::create_new(path.into(), access)?.write_all(contents)
}

/// Whether a file has the name of a draft. Outside of a running replacement it was left by a
/// process that was killed.
pub fn is_draft_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(ENDING)
}

/// A file that is written but not yet in its place.
#[derive(Debug)]
pub struct FileDraft {
    path: Utf8PathBuf,
    /// The directory that the file may not leave.
    root: Option<Utf8PathBuf>,
    file: OpenFile,
    /// Of the file that is replaced, where they differ from those of the draft.
    permissions: Option<Permissions>,
    is_placed: bool,
}

impl FileDraft {
    /// The directory of `path` must exist.
    pub fn create<'p>(path: impl Into<WritePath<'p>>, access: Access) -> io::Result<Self> {
        Self::create_at_link(path, access, AtLink::Refuse)
    }

    pub fn create_at_link<'p>(
        path: impl Into<WritePath<'p>>,
        access: Access,
        at_link: AtLink,
    ) -> io::Result<Self> {
        let place = path.into();
        let replaced = match platform::occupant(place) {
            Ok(Some(Occupant::File(permissions))) => Some(permissions),
            Ok(Some(Occupant::Link)) if at_link == AtLink::Replace => None,
            Ok(Some(found)) => return Err(refusal(&found)),
            Ok(None) | Err(_) => None,
        };
        // The draft is private, whatever the mode of the file will be.
        let access = if replaced.is_some() { Access::Private } else { access };
        let file = create_beside(place, access)?;
        let permissions = replaced.filter(|permissions| !is_private(permissions));
        let root = place.root().map(Utf8Path::to_owned);
        Ok(Self { path: place.path.to_owned(), root, file, permissions, is_placed: false })
    }

    /// A path with the limit of this file.
    fn limited<'p>(&'p self, path: &'p Utf8Path) -> WritePath<'p> {
        match &self.root {
            Some(root) => WritePath::inside(root, path),
            None => path.into(),
        }
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub fn place(mut self, durability: Durability) -> io::Result<()> {
        if durability != Durability::Unsynced {
            self.sync()?;
        }
        self.rename()?;
        if durability == Durability::Durable {
            sync_parent(self.limited(&self.path))?;
        }
        Ok(())
    }

    /// Fails with `AlreadyExists` where a file has appeared at the path, which a rename would replace.
    pub fn place_new(mut self, durability: Durability) -> io::Result<()> {
        if durability != Durability::Unsynced {
            self.sync()?;
        }
        match system::hard_link(self.limited(self.file.path()), self.limited(&self.path)) {
            // The draft's own name is removed when `self` is dropped.
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links.
            Err(_) => self.rename()?,
        }
        if durability == Durability::Durable {
            sync_parent(self.limited(&self.path))?;
        }
        Ok(())
    }

    /// First half of [`FileDraft::place`], for callers that sync many drafts at once.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// Second half of [`FileDraft::place`]. The directory is not synced.
    pub(crate) fn rename(&mut self) -> io::Result<()> {
        if let Some(permissions) = self.permissions.take() {
            self.file.set_permissions(permissions)?;
        }
        system::rename(self.limited(self.file.path()), self.limited(&self.path))?;
        self.is_placed = true;
        Ok(())
    }

    pub(crate) fn is_placed(&self) -> bool {
        self.is_placed
    }
}

impl Write for FileDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = system::remove_file(self.limited(self.file.path()));
        }
    }
}

/// Points a link at `path` to `target`, atomically.
pub fn replace_link<'p>(path: impl Into<WritePath<'p>>, target: &str) -> io::Result<()> {
    let place = path.into();
    let temporary = draft_path(place.path);
    let temporary = place.at(&temporary);
    system::symbolic_link(target, temporary)?;
    system::rename(temporary, place).inspect_err(|_| {
        let _ = system::remove_file(temporary);
    })
}

/// Why nothing is written to something that is there.
pub(super) fn refusal(found: &Occupant) -> io::Error {
    match found {
        Occupant::Link => {
            let reason = "it is a link, which could lead elsewhere";
            io::Error::new(io::ErrorKind::InvalidInput, reason)
        }
        Occupant::Directory => io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"),
        Occupant::File(_) | Occupant::Other => {
            io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
        }
    }
}

#[cfg(unix)]
fn is_private(permissions: &Permissions) -> bool {
    use std::os::unix::fs::PermissionsExt;
    permissions.mode() & 0o7777 == 0o600
}

#[cfg(not(unix))]
fn is_private(_: &Permissions) -> bool {
    false
}

fn create_beside(place: WritePath<'_>, access: Access) -> io::Result<OpenFile> {
    loop {
        match OpenFile::create_new(place.at(&draft_path(place.path)), access) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
    }
}

/// A name that other programs cannot guess and drafts do not share.
fn draft_path(path: &Utf8Path) -> Utf8PathBuf {
    // Each state has keys of its own, which come from the random numbers of the system.
    let random = RandomState::new().hash_one(std::process::id());
    directory_of(path).join(format!("{PREFIX}{random:016x}{ENDING}"))
}

/// `.` for a bare file name.
pub fn directory_of(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    }
}

/// Makes a new, renamed or removed name survive a power cut.
pub fn sync_parent<'p>(path: impl Into<WritePath<'p>>) -> io::Result<()> {
    let place = path.into();
    system::sync_directory(place.at(directory_of(place.path)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn with_directory(test: impl FnOnce(&Utf8Path)) {
        let folder = tempfile::tempdir().unwrap();
        test(Utf8Path::from_path(folder.path()).unwrap());
    }

    #[test]
    fn a_file_is_replaced_and_no_draft_is_left() {
        with_directory(|directory| {
            let path = directory.join("a.yaml");
            for durability in [Durability::Unsynced, Durability::Contents, Durability::Durable] {
                let text = format!("{durability:?}");
                replace(&path, text.as_bytes(), Access::Shared, durability).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
            drop(FileDraft::create(&path, Access::Private).unwrap());
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
            let missing = directory.join("none/a");
            assert!(replace(&missing, b"x", Access::Private, Durability::Unsynced).is_err());
        });
    }

    #[test]
    fn an_existing_file_is_never_replaced_by_a_new_one() {
        with_directory(|directory| {
            let path = directory.join("a.yaml");
            let place_new = |text: &[u8]| {
                let mut draft = FileDraft::create(&path, Access::Shared)?;
                draft.write_all(text)?;
                draft.place_new(Durability::Contents)
            };
            place_new(b"one").unwrap();
            let error = place_new(b"two").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            let error = create_new(&path, b"two", Access::Shared).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&path).unwrap(), "one");
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        });
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_drafts_are_private_until_placed() {
        use std::os::unix::fs::PermissionsExt;

        let mode = |path: &Utf8Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        with_directory(|directory| {
            let path = directory.join("file");
            replace(&path, b"new", Access::Private, Durability::Unsynced).unwrap();
            assert_eq!(mode(&path), 0o600);
            for kept in [0o640, 0o444, 0o600] {
                fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
                let draft = FileDraft::create(&path, Access::Shared).unwrap();
                assert_eq!(mode(draft.file.path()), 0o600);
                draft.place(Durability::Unsynced).unwrap();
                assert_eq!(mode(&path), kept);
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_refused_or_replaced_and_never_followed() {
        use std::os::unix::fs::symlink;

        with_directory(|directory| {
            let (file, link) = (directory.join("file"), directory.join("link"));
            fs::write(&file, "old").unwrap();
            symlink(&file, &link).unwrap();
            let error = replace(&link, b"new", Access::Private, Durability::Unsynced).unwrap_err();
            assert_eq!(error.to_string(), "it is a link, which could lead elsewhere");
            assert!(replace(directory, b"new", Access::Private, Durability::Unsynced).is_err());
            let draft = FileDraft::create_at_link(&link, Access::Private, AtLink::Replace);
            draft.unwrap().place(Durability::Unsynced).unwrap();
            assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_link_planted_at_the_name_of_a_draft_is_not_opened() {
        use std::os::unix::fs::symlink;

        with_directory(|directory| {
            let (victim, planted) = (directory.join("victim"), directory.join("planted"));
            fs::write(&victim, "precious").unwrap();
            symlink(&victim, &planted).unwrap();
            let error = OpenFile::create_new((&planted).into(), Access::Private).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert!(OpenFile::open_to_append((&planted).into(), Access::Private).is_err());
            symlink(directory.join("missing"), directory.join("dangling")).unwrap();
            assert!(
                OpenFile::create_new((&directory.join("dangling")).into(), Access::Private)
                    .is_err()
            );
            assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
            assert!(!directory.join("missing").exists());
        });
    }

    #[test]
    fn drafts_are_recognised_by_their_names_and_share_none() {
        let names: Vec<Utf8PathBuf> = (0..100).map(|_| draft_path("a/b".into())).collect();
        assert!(names.iter().all(|path| path.parent() == Some("a".into())));
        assert!(names.iter().all(|path| is_draft_name(path.file_name().unwrap())));
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
        assert!(!is_draft_name(".lock"));
        assert!(!is_draft_name("a.yaml"));
    }
}
