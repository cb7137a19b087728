//! Copies trees: by reference where the file system can (`FICLONE`, `fclonefileat`), otherwise with several
//! threads.
//!
//! Permissions and modification times of files are kept, hard links become files of their own, owners
//! and extended attributes are not copied, except by `fclonefileat`. Links stay links.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use camino::Utf8Path;
use evalrig_core::source::is_outside;
use rustix::fs::{AtFlags, FileType, Mode, chmodat, mkdirat, statat, symlinkat, unlinkat};
use rustix::io::Errno;

use super::confine;
use super::file_copy::FileCopier;
use super::long_path::LongPath;
use super::tree::{
    OpenDirectory, TreeEntry, TreePlace, TreeVisitor, facts_of, mode_of, walk_below,
};
use super::tree_facts::{NodeFacts, NodeKind, UnreadableDirectory};
use super::tree_remove::remove_below;

/// What is copied, and how far it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyOrigin {
    /// Written by an author: links must stay inside of it, and special files are refused.
    Authored,
    /// Made by programs: links are copied as they are, special files are left out, and a file that its
    /// owner cannot read is empty.
    Made,
}

/// What to copy besides files and where from.
#[derive(Clone, Copy)]
pub(crate) struct CopyRules<'a> {
    pub(crate) origin: CopyOrigin,
    /// Paths that are left out.
    pub(crate) leaves_out: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

/// A file that was copied.
#[derive(Debug)]
pub(crate) struct CopiedFile {
    pub(crate) path: Vec<u8>,
    /// After it was read.
    pub(crate) original: NodeFacts,
    pub(crate) copy: NodeFacts,
}

/// Everything that was copied, in no order.
#[derive(Debug, Default)]
pub(crate) struct CopiedTree {
    pub(crate) files: Vec<CopiedFile>,
    /// Paths and targets.
    pub(crate) links: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Why a tree could not be copied.
#[derive(Debug)]
pub(crate) struct CopyError {
    /// Below the tree; empty if it is the tree itself.
    pub(crate) path: String,
    pub(crate) error: io::Error,
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{}", self.error),
            path => write!(f, "`{path}`: {}", self.error),
        }
    }
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> Self {
        Self { path: String::new(), error }
    }
}

impl CopyError {
    pub(super) fn at(path: &[u8], error: impl Into<io::Error>) -> Self {
        Self { path: String::from_utf8_lossy(path).into_owned(), error: error.into() }
    }
}

/// Copies what is in one directory into another one, which exists. What has the same name is replaced;
/// directories are merged, and links in the way are not followed.
pub(super) fn copy_tree(
    from: TreePlace<'_>,
    to: TreePlace<'_>,
    rules: CopyRules<'_>,
) -> Result<CopiedTree, CopyError> {
    refuse_nesting(from.path, to.path)?;
    let (source, target) = (from.open()?, to.open()?);
    let mut survey = CopySurvey {
        root: from.path,
        source: source.as_fd(),
        target: target.as_fd(),
        rules,
        copied: CopiedTree::default(),
        files: Vec::new(),
        modes: Vec::new(),
        failure: None,
    };
    let unreadable = UnreadableDirectory::Refuse;
    let walked = walk_below(source.as_fd(), c".", unreadable, &mut survey);
    if let Some(failure) = survey.failure.take() {
        return Err(failure);
    }
    walked?;
    let mut copied = survey.copied;
    let copier = FileCopier { source: source.as_fd(), target: target.as_fd(), rules };
    copied.files = copier.copy_all(survey.files)?;
    for (path, mode) in survey.modes.iter().rev() {
        let changed = LongPath::below(target.as_fd(), path)
            .and_then(|at| Ok(chmodat(at.directory(), at.rest, *mode, AtFlags::empty())?));
        changed.map_err(|error| CopyError::at(path, error))?;
    }
    Ok(copied)
}

/// A copy inside of its original would never end.
fn refuse_nesting(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    if to.canonicalize_utf8()?.starts_with(from.canonicalize_utf8()?) {
        let message = format!("the directory for temporary files is inside of `{from}`");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(())
}

/// Creates directories and links, and notes files.
struct CopySurvey<'a> {
    root: &'a Utf8Path,
    source: BorrowedFd<'a>,
    target: BorrowedFd<'a>,
    rules: CopyRules<'a>,
    copied: CopiedTree,
    files: Vec<Vec<u8>>,
    /// Permissions of directories that are set when everything is in them.
    modes: Vec<(Vec<u8>, Mode)>,
    failure: Option<CopyError>,
}

impl CopySurvey<'_> {
    /// Ends the walk with an error that has a path.
    fn noting(&mut self, path: &[u8], done: io::Result<()>) -> io::Result<()> {
        done.map_err(|error| {
            self.failure = Some(CopyError::at(path, error));
            io::Error::other("cannot be copied")
        })
    }

    fn create_directory(&mut self, path: &[u8], mode: u32) -> io::Result<()> {
        if path.is_empty() {
            return Ok(());
        }
        let mode = mode_of(mode & 0o777);
        let usable = mode | Mode::RWXU;
        let at = LongPath::below(self.target, path)?;
        let (parent, rest) = (at.directory(), at.rest);
        match mkdirat(parent, rest, usable) {
            Err(Errno::EXIST) => {
                if is_directory(parent, rest)? {
                    chmodat(parent, rest, usable, AtFlags::empty())?;
                } else {
                    unlinkat(parent, rest, AtFlags::empty())?;
                    mkdirat(parent, rest, usable)?;
                }
            }
            made => made?,
        }
        // The umask may have taken what the group or others have beyond reading.
        if mode != usable || !(Mode::RWXU | READABLE).contains(mode) {
            self.modes.push((path.to_owned(), mode));
        }
        Ok(())
    }

    fn add_link(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        let target = entry.link_target()?;
        if self.rules.origin == CopyOrigin::Authored && self.leads_out(entry.path, &target) {
            let message = "link-outside-template: the link leads out of the template";
            return Err(io::Error::other(message));
        }
        let at = LongPath::below(self.target, entry.path)?;
        let (parent, rest) = (at.directory(), at.rest);
        match symlinkat(target.as_slice(), parent, rest) {
            Err(Errno::EXIST) => {
                clear(parent, rest)?;
                symlinkat(target.as_slice(), parent, rest)?;
            }
            made => made?,
        }
        self.copied.links.push((entry.path.to_owned(), target));
        Ok(())
    }

    /// A link that leads nowhere stays inside.
    fn leads_out(&self, path: &[u8], target: &[u8]) -> bool {
        let Ok(path) = std::str::from_utf8(path) else {
            return true;
        };
        let path = self.root.join(path);
        target.starts_with(b"/")
            || confine::look_inside(self.root, &path).is_err_and(|error| is_outside(&error))
    }
}

const READABLE: Mode = Mode::RGRP.union(Mode::XGRP).union(Mode::ROTH).union(Mode::XOTH);

impl TreeVisitor for CopySurvey<'_> {
    fn enter(&mut self, path: &[u8], directory: OpenDirectory<'_>) -> io::Result<()> {
        let made = self.create_directory(path, directory.facts().mode);
        self.noting(path, made)
    }

    fn wants(&mut self, path: &[u8]) -> bool {
        !(self.rules.leaves_out)(path)
    }

    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        if (self.rules.leaves_out)(entry.path) {
            return Ok(());
        }
        let done = match (entry.kind, self.rules.origin) {
            (NodeKind::File, _) => {
                self.files.push(entry.path.to_owned());
                Ok(())
            }
            (NodeKind::Link, _) => self.add_link(entry),
            (_, CopyOrigin::Made) => Ok(()),
            (_, CopyOrigin::Authored) => {
                Err(io::Error::other("it is not a file, a directory or a link"))
            }
        };
        self.noting(entry.path, done)
    }

    /// Programs that run as the same user cannot read it either.
    fn refused(&mut self, path: &[u8], error: io::Error) -> io::Result<()> {
        if self.rules.origin == CopyOrigin::Authored
            || error.kind() != io::ErrorKind::PermissionDenied
        {
            return self.noting(path, Err(error));
        }
        let found = LongPath::below(self.source, path)
            .and_then(|at| Ok(statat(at.directory(), at.rest, AtFlags::SYMLINK_NOFOLLOW)?));
        let made = found.and_then(|found| self.create_directory(path, facts_of(&found).mode));
        self.noting(path, made)
    }
}

fn is_directory(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<bool> {
    let found = statat(root, path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

/// Makes a name free.
pub(super) fn clear(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<()> {
    if is_directory(root, path)? {
        return remove_below(root, path);
    }
    Ok(unlinkat(root, path, AtFlags::empty())?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use camino::Utf8PathBuf;
    use rustix::fs::CWD;

    use super::*;

    const MADE: CopyRules<'static> = CopyRules { origin: CopyOrigin::Made, leaves_out: &|_| false };

    fn place() -> (tempfile::TempDir, Utf8PathBuf, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let (from, to) = (place.join("from"), place.join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        (folder, from, to)
    }

    #[test]
    fn many_files_of_all_sizes_are_copied_by_several_threads() {
        let (_folder, from, to) = place();
        let content = |at: usize| vec![u8::try_from(at % 251).unwrap(); (at * at * 7) % 300_000];
        for at in 0..300 {
            fs::create_dir_all(from.join(format!("d{}", at % 7))).unwrap();
            fs::write(from.join(format!("d{}/{at}", at % 7)), content(at)).unwrap();
        }
        for _ in 0..2 {
            let copied = copy_tree(from.as_path().into(), to.as_path().into(), MADE).unwrap();
            assert_eq!(copied.files.len(), 300);
            for file in &copied.files {
                let path = std::str::from_utf8(&file.path).unwrap();
                let bytes = fs::read(to.join(path)).unwrap();
                assert_eq!(bytes, fs::read(from.join(path)).unwrap(), "{path}");
                assert_eq!(file.copy.size, bytes.len() as u64);
                assert_eq!(file.copy.modified, file.original.modified);
            }
        }
    }

    #[test]
    fn what_is_in_the_way_is_replaced_and_links_are_not_followed() {
        let (_folder, from, to) = place();
        let beside = to.join("../beside");
        fs::create_dir(&beside).unwrap();
        for path in ["directory/x", "file", "link/y"] {
            fs::create_dir_all(from.join(path).parent().unwrap()).unwrap();
            fs::write(from.join(path), "new").unwrap();
        }
        symlink("file", from.join("to-file")).unwrap();
        // A file for the directory, a directory for the file, a link for the directory.
        fs::write(to.join("directory"), "old").unwrap();
        fs::create_dir_all(to.join("file/deep")).unwrap();
        fs::write(to.join("file/deep/x"), "old").unwrap();
        symlink(&beside, to.join("link")).unwrap();
        fs::create_dir(to.join("to-file")).unwrap();
        fs::write(to.join("kept"), "old").unwrap();
        copy_tree(from.as_path().into(), to.as_path().into(), MADE).unwrap();
        for path in ["directory/x", "file", "link/y", "to-file"] {
            assert_eq!(fs::read_to_string(to.join(path)).unwrap(), "new", "{path}");
        }
        assert_eq!(fs::read_to_string(to.join("kept")).unwrap(), "old");
        assert_eq!(beside.read_dir_utf8().unwrap().count(), 0);
    }

    #[test]
    fn a_tree_is_not_copied_into_itself() {
        let (_folder, from, _) = place();
        fs::create_dir(from.join("inside")).unwrap();
        let inside = from.join("inside");
        let error = copy_tree(from.as_path().into(), inside.as_path().into(), MADE).unwrap_err();
        assert!(error.to_string().contains("is inside of"), "{error}");
    }

    #[test]
    fn programs_may_have_made_anything() {
        let (_folder, from, to) = place();
        symlink("/etc/passwd", from.join("out")).unwrap();
        rustix::fs::mknodat(CWD, from.join("pipe").as_str(), FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        let copied = copy_tree(from.as_path().into(), to.as_path().into(), MADE).unwrap();
        assert_eq!(copied.links, [(b"out".to_vec(), b"/etc/passwd".to_vec())]);
        assert!(to.join("out").symlink_metadata().unwrap().is_symlink());
        assert!(!to.join("pipe").exists());
        let authored = CopyRules { origin: CopyOrigin::Authored, ..MADE };
        let error = copy_tree(from.as_path().into(), to.as_path().into(), authored).unwrap_err();
        assert!(matches!(error.path.as_str(), "out" | "pipe"), "{error}");
    }
}
