//! Every call of the operating system that creates, changes or removes a file or directory. Tests can
//! make each of them fail, and rebuild what a power cut after it would leave.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use super::Access;
#[cfg(unix)]
use super::tree::TreePlace;
#[cfg(unix)]
use super::tree_copy::{self, CopiedTree, CopyError, CopyRules};
#[cfg(unix)]
use super::tree_remove;
#[cfg(unix)]
use super::write_at as platform;
#[cfg(not(unix))]
use super::write_by_path as platform;
use super::write_path::WritePath;

/// One call, with what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, unix)), allow(dead_code, reason = "only tests look at it"))]
pub(super) enum Operation<'a> {
    CreateDirectory(&'a Utf8Path),
    /// Fails if there is a file.
    CreateFile(&'a Utf8Path),
    /// Opens a file for appending and creates it if it is missing.
    OpenToAppend(&'a Utf8Path),
    /// Opens something that exists.
    OpenStream(&'a Utf8Path),
    Write(&'a Utf8Path, &'a [u8]),
    SetLength(&'a Utf8Path, u64),
    SetMode(&'a Utf8Path),
    SyncFile(&'a Utf8Path),
    SyncDirectory(&'a Utf8Path),
    Rename(&'a Utf8Path, &'a Utf8Path),
    HardLink(&'a Utf8Path, &'a Utf8Path),
    SymbolicLink(&'a str, &'a Utf8Path),
    RemoveFile(&'a Utf8Path),
    RemoveDirectory(&'a Utf8Path),
    RemoveTree(&'a Utf8Path),
    /// Into this directory.
    CopyTree(&'a Utf8Path),
}

#[inline]
fn attempt<T>(operation: Operation<'_>, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    try_operation(operation, act).inspect_err(note_full_disk)
}

#[cfg(not(all(test, unix)))]
#[inline]
fn try_operation<T>(_: Operation<'_>, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    act()
}

#[cfg(all(test, unix))]
use super::faults::attempt as try_operation;

/// How many operations of this process failed because there was no space, or none left for the user.
static FULL: AtomicU64 = AtomicU64::new(0);

fn note_full_disk(error: &io::Error) {
    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        FULL.fetch_add(1, Ordering::SeqCst);
    }
}

/// Grows whenever a file cannot be written for lack of space.
#[cfg_attr(not(unix), allow(dead_code, reason = "for workspaces and queues"))]
pub(crate) fn full_disk_count() -> u64 {
    FULL.load(Ordering::SeqCst)
}

/// A file that is open for writing.
#[derive(Debug)]
pub struct OpenFile {
    path: Utf8PathBuf,
    file: File,
    /// It is written to as it is: a device, a FIFO, a descriptor of this process.
    is_stream: bool,
}

impl OpenFile {
    fn new(path: &Utf8Path, file: File) -> Self {
        Self { path: path.to_owned(), file, is_stream: false }
    }

    /// A new file; neither an existing file nor a link at the path is touched.
    pub(super) fn create_new(place: WritePath<'_>, access: Access) -> io::Result<Self> {
        attempt(Operation::CreateFile(place.path), || {
            Ok(Self::new(place.path, platform::create_new(place, access)?))
        })
    }

    /// Does not follow a link at the path.
    pub(super) fn open_to_append(place: WritePath<'_>, access: Access) -> io::Result<Self> {
        attempt(Operation::OpenToAppend(place.path), || {
            Ok(Self::new(place.path, platform::open_to_append(place, access)?))
        })
    }

    /// Something that is written to as it is: a device, a FIFO, an open descriptor.
    pub(super) fn open_stream(path: &Utf8Path) -> io::Result<Self> {
        attempt(Operation::OpenStream(path), || {
            let mut options = OpenOptions::new();
            // A descriptor may lead to a regular file that others append to as well.
            options.append(true);
            let file = options.open(path)?;
            Ok(Self { is_stream: true, ..Self::new(path, file) })
        })
    }

    #[cfg(unix)]
    pub(super) fn of_descriptor(path: &Utf8Path, descriptor: std::os::fd::OwnedFd) -> Self {
        Self { is_stream: true, ..Self::new(path, descriptor.into()) }
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Whether it can neither be synced nor be shortened.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    pub fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()
    }

    /// Several may hold it together.
    #[cfg(feature = "queue")]
    pub(crate) fn try_lock_shared(&self) -> Result<(), TryLockError> {
        self.file.try_lock_shared()
    }

    /// Whether the path still leads to this file, and not to none or another one.
    #[cfg(all(unix, feature = "queue"))]
    pub(crate) fn is_at_its_path(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let [own, there] = [self.file.metadata(), fs::symlink_metadata(&self.path)];
        let [own, there] = [own, there].map(|found| found.map(|one| (one.dev(), one.ino())).ok());
        own.is_some() && own == there
    }

    /// An open file cannot be removed.
    #[cfg(all(not(unix), feature = "queue"))]
    pub(crate) fn is_at_its_path(&self) -> bool {
        true
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            path: self.path.clone(),
            file: self.file.try_clone()?,
            is_stream: self.is_stream,
        })
    }

    pub fn set_length(&self, length: u64) -> io::Result<()> {
        attempt(Operation::SetLength(&self.path, length), || self.file.set_len(length))
    }

    pub(super) fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        attempt(Operation::SetMode(&self.path), || self.file.set_permissions(permissions))
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        attempt(Operation::SyncFile(&self.path), || wait_for_disk(|| self.file.sync_all()))
    }

    /// Contents and length, without times.
    pub fn sync_data(&self) -> io::Result<()> {
        attempt(Operation::SyncFile(&self.path), || wait_for_disk(|| self.file.sync_data()))
    }
}

impl Write for OpenFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(all(test, unix))]
        let bytes = &bytes[..super::faults::writable(&self.path, bytes)];
        attempt(Operation::Write(&self.path, bytes), || self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The parent must exist.
pub(super) fn create_directory(place: WritePath<'_>, access: Access) -> io::Result<()> {
    attempt(Operation::CreateDirectory(place.path), || platform::create_directory(place, access))
}

/// Both are below the same directory, if there is one.
pub fn rename<'p>(from: impl Into<WritePath<'p>>, to: impl Into<WritePath<'p>>) -> io::Result<()> {
    let (from, to) = (from.into(), to.into());
    attempt(Operation::Rename(from.path, to.path), || platform::rename(from, to))
}

pub(super) fn hard_link(original: WritePath<'_>, link: WritePath<'_>) -> io::Result<()> {
    attempt(Operation::HardLink(original.path, link.path), || platform::hard_link(original, link))
}

pub fn remove_file<'p>(place: impl Into<WritePath<'p>>) -> io::Result<()> {
    let place = place.into();
    attempt(Operation::RemoveFile(place.path), || platform::remove_file(place))
}

/// The directory must be empty.
pub fn remove_directory<'p>(place: impl Into<WritePath<'p>>) -> io::Result<()> {
    let place = place.into();
    attempt(Operation::RemoveDirectory(place.path), || platform::remove_directory(place))
}

/// Whatever is in it: directories without permissions, any depth. Links are not followed.
pub fn remove_tree(path: &Utf8Path) -> io::Result<()> {
    #[cfg(unix)]
    let remove = tree_remove::remove_tree;
    #[cfg(not(unix))]
    let remove = fs::remove_dir_all;
    attempt(Operation::RemoveTree(path), || remove(path))
}

/// Copies what is in one directory into another one, which exists. What has the same name is replaced;
/// directories are merged, and links in the way are not followed.
#[cfg(unix)]
pub(crate) fn copy_tree(
    from: TreePlace<'_>,
    to: TreePlace<'_>,
    rules: CopyRules<'_>,
) -> Result<CopiedTree, CopyError> {
    // The error has a path, which the operation of tests does not know.
    let mut failure = None;
    let copied = attempt(Operation::CopyTree(to.path), || {
        tree_copy::copy_tree(from, to, rules).map_err(|error| {
            note_full_disk(&error.error);
            failure = Some(error);
            io::Error::other("the tree cannot be copied")
        })
    });
    copied.map_err(|error| failure.unwrap_or_else(|| error.into()))
}

/// Sets the permission bits of a file or directory; below a root, of a file that is no link.
#[cfg(unix)]
pub(crate) fn set_mode<'p>(path: impl Into<WritePath<'p>>, mode: u32) -> io::Result<()> {
    let place = path.into();
    attempt(Operation::SetMode(place.path), || platform::set_mode(place, mode))
}

/// Where a link leads, as it is written.
#[cfg(feature = "queue")]
pub(crate) fn read_link<'p>(path: impl Into<WritePath<'p>>) -> io::Result<String> {
    platform::read_link(path.into())
}

pub fn sync_directory<'p>(place: impl Into<WritePath<'p>>) -> io::Result<()> {
    let place = place.into();
    attempt(Operation::SyncDirectory(place.path), || match platform::open_directory(place)? {
        Some(directory) => wait_for_disk(|| directory.sync_all()),
        None => Ok(()),
    })
}

/// Tests see which syncs there are without waiting for them.
fn wait_for_disk(sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    if cfg!(test) { Ok(()) } else { sync() }
}

/// Creates a symbolic link; whatever is there stays.
pub(crate) fn create_link<'p>(target: &str, place: impl Into<WritePath<'p>>) -> io::Result<()> {
    symbolic_link(target, place.into())
}

pub(super) fn symbolic_link(target: &str, place: WritePath<'_>) -> io::Result<()> {
    attempt(Operation::SymbolicLink(target, place.path), || platform::symbolic_link(target, place))
}
