//! Every call of the operating system that creates, changes or removes a file or directory. Tests can
//! make each of them fail, and rebuild what a power cut after it would leave.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};

use super::Access;

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
}

#[cfg(not(all(test, unix)))]
#[inline]
fn attempt<T>(_: Operation<'_>, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    act()
}

#[cfg(all(test, unix))]
use super::faults::attempt;

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
    pub(super) fn create_new(path: &Utf8Path, access: Access) -> io::Result<Self> {
        attempt(Operation::CreateFile(path), || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            restrict(&mut options, access);
            let file = options.open(path)?;
            Ok(Self::new(path, file))
        })
    }

    /// Does not follow a link at the path.
    pub(super) fn open_to_append(path: &Utf8Path, access: Access) -> io::Result<Self> {
        attempt(Operation::OpenToAppend(path), || {
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true);
            restrict(&mut options, access);
            let file = options.open(path)?;
            Ok(Self::new(path, file))
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

#[cfg(unix)]
fn restrict(options: &mut OpenOptions, access: Access) {
    use std::os::unix::fs::OpenOptionsExt;

    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    options.custom_flags(no_follow);
    if access == Access::Private {
        options.mode(0o600);
    }
}

#[cfg(not(unix))]
fn restrict(_: &mut OpenOptions, _: Access) {}

/// The parent must exist.
pub(super) fn create_directory(path: &Utf8Path, access: Access) -> io::Result<()> {
    attempt(Operation::CreateDirectory(path), || {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        if access == Access::Private {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        #[cfg(not(unix))]
        let _ = access;
        builder.create(path)
    })
}

pub fn rename(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    attempt(Operation::Rename(from, to), || fs::rename(from, to))
}

pub(super) fn hard_link(original: &Utf8Path, link: &Utf8Path) -> io::Result<()> {
    attempt(Operation::HardLink(original, link), || fs::hard_link(original, link))
}

pub fn remove_file(path: &Utf8Path) -> io::Result<()> {
    attempt(Operation::RemoveFile(path), || fs::remove_file(path))
}

/// The directory must be empty.
pub fn remove_directory(path: &Utf8Path) -> io::Result<()> {
    attempt(Operation::RemoveDirectory(path), || fs::remove_dir(path))
}

pub fn remove_tree(path: &Utf8Path) -> io::Result<()> {
    attempt(Operation::RemoveTree(path), || fs::remove_dir_all(path))
}

pub fn sync_directory(path: &Utf8Path) -> io::Result<()> {
    attempt(Operation::SyncDirectory(path), || {
        // Other systems cannot open directories.
        if cfg!(unix) {
            let directory = File::open(path)?;
            wait_for_disk(|| directory.sync_all())
        } else {
            Ok(())
        }
    })
}

/// Tests see which syncs there are without waiting for them.
fn wait_for_disk(sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    if cfg!(test) { Ok(()) } else { sync() }
}

pub(super) fn symbolic_link(target: &str, path: &Utf8Path) -> io::Result<()> {
    attempt(Operation::SymbolicLink(target, path), || link(target, path))
}

#[cfg(unix)]
fn link(target: &str, path: &Utf8Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(windows)]
fn link(target: &str, path: &Utf8Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, path)
}

#[cfg(not(any(unix, windows)))]
fn link(_: &str, _: &Utf8Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
