//! Copies the files of a tree into directories that exist, with several threads.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::fs::{Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, fchmod, futimens, openat};
use rustix::io::Errno;

use super::long_path::LongPath;
use super::tree::{facts_of, facts_of_file, mode_of, open_below};
use super::tree_copy::{CopiedFile, CopyError, CopyOrigin, CopyRules, clear};
use super::tree_facts::NodeFacts;

/// Fewer files are copied faster by one thread.
const WORTH_A_THREAD: usize = 48;
const MOST_THREADS: usize = 4;

/// Files that a thread takes at a time.
const BATCH: usize = 8;

/// Files up to this size are read and written at once.
const BUFFER: usize = 128 * 1024;

/// Between two trees with the same directories.
#[derive(Clone, Copy)]
pub(super) struct FileCopier<'a> {
    pub(super) source: BorrowedFd<'a>,
    pub(super) target: BorrowedFd<'a>,
    pub(super) rules: CopyRules<'a>,
}

impl FileCopier<'_> {
    pub(super) fn copy_all(&self, paths: Vec<Vec<u8>>) -> Result<Vec<CopiedFile>, CopyError> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (paths.len() / WORTH_A_THREAD).clamp(1, cores.min(MOST_THREADS));
        let next = AtomicUsize::new(0);
        if threads == 1 {
            return self.copy_batches(&paths, &next);
        }
        let mut copied = Vec::with_capacity(paths.len());
        thread::scope(|scope| {
            let work = || self.copy_batches(&paths, &next);
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let mut failure = None;
            let parts = others.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed").into()))
            });
            for part in parts.chain([own]) {
                match part {
                    Ok(part) => copied.extend(part),
                    Err(error) => failure = Some(error),
                }
            }
            failure.map_or(Ok(()), Err)
        })?;
        Ok(copied)
    }

    fn copy_batches(
        &self,
        paths: &[Vec<u8>],
        next: &AtomicUsize,
    ) -> Result<Vec<CopiedFile>, CopyError> {
        let mut content = ContentCopier::default();
        let mut copied = Vec::new();
        loop {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            if from >= paths.len() {
                return Ok(copied);
            }
            for path in &paths[from..paths.len().min(from + BATCH)] {
                let done = self.copy_one(path, &mut content);
                // The other threads stop as well.
                let done = done.inspect_err(|_| next.store(paths.len(), Ordering::Relaxed));
                copied.push(done.map_err(|error| CopyError::at(path, error))?);
            }
        }
    }

    fn copy_one(&self, path: &[u8], content: &mut ContentCopier) -> io::Result<CopiedFile> {
        let (source, mut original) = match open_below(self.source, path) {
            Ok(file) => {
                let facts = facts_of_file(&file)?;
                (Some(file), facts)
            }
            Err(error) => (None, self.facts_of_unreadable(path, error)?),
        };
        let (mode, times) = (original.mode & 0o777, times(&original));
        #[cfg(target_os = "macos")]
        if let Some(source) = &source
            && let Some(copy) = self.clone_whole(source, path, mode, content)?
        {
            let original = facts_of_file(source)?;
            return Ok(CopiedFile { path: path.to_owned(), original, copy });
        }
        let target = self.create(path, mode_of(mode))?;
        if let Some(source) = source {
            content.copy(&source, &target, original.size)?;
            original = facts_of_file(&source)?;
        }
        futimens(&target, &times)?;
        let mut copy = facts_of_file(&target)?;
        if copy.mode != mode {
            fchmod(&target, mode_of(mode))?;
            copy = facts_of_file(&target)?;
        }
        Ok(CopiedFile { path: path.to_owned(), original, copy })
    }

    /// The file with its times, which share their blocks until one of them is changed. `None` where the file
    /// system cannot. Extended attributes are cloned as well, unlike those of other copies.
    #[cfg(target_os = "macos")]
    fn clone_whole(
        &self,
        source: &File,
        path: &[u8],
        mode: u32,
        content: &mut ContentCopier,
    ) -> io::Result<Option<NodeFacts>> {
        use rustix::fs::{AtFlags, CloneFlags, chmodat, fclonefileat, statat};
        if !content.may_clone {
            return Ok(None);
        }
        let at = LongPath::below(self.target, path)?;
        let (parent, path) = (at.directory(), at.rest);
        let clone = || fclonefileat(source, parent, path, CloneFlags::NOOWNERCOPY);
        let mut cloned = clone();
        if cloned == Err(Errno::EXIST) {
            clear(parent, path)?;
            cloned = clone();
        }
        if cloned.is_err() {
            content.may_clone = false;
            return Ok(None);
        }
        let facts = || -> io::Result<NodeFacts> {
            Ok(facts_of(&statat(parent, path, AtFlags::SYMLINK_NOFOLLOW)?))
        };
        let mut copy = facts()?;
        if copy.mode != mode {
            chmodat(parent, path, mode_of(mode), AtFlags::empty())?;
            copy = facts()?;
        }
        Ok(Some(copy))
    }

    /// Programs that run as the same user cannot read it either, so an empty one will do.
    fn facts_of_unreadable(&self, path: &[u8], error: io::Error) -> io::Result<NodeFacts> {
        use rustix::fs::{AtFlags, statat};
        let is_refused = error.kind() == io::ErrorKind::PermissionDenied;
        if self.rules.origin == CopyOrigin::Authored || !is_refused {
            return Err(error);
        }
        let at = LongPath::below(self.source, path)?;
        Ok(facts_of(&statat(at.directory(), at.rest, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn create(&self, path: &[u8], mode: Mode) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let at = LongPath::below(self.target, path)?;
        let (parent, path) = (at.directory(), at.rest);
        match openat(parent, path, flags, mode) {
            Err(Errno::EXIST) => {
                clear(parent, path)?;
                Ok(openat(parent, path, flags, mode)?)
            }
            opened => Ok(opened?),
        }
    }
}

fn times(original: &NodeFacts) -> Timestamps {
    const SECOND: i128 = 1_000_000_000;
    let seconds = i64::try_from(original.modified.div_euclid(SECOND)).unwrap_or(0);
    let rest = i64::try_from(original.modified.rem_euclid(SECOND)).unwrap_or(0);
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "systems differ")]
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: seconds as _, tv_nsec: rest as _ },
    }
}

/// Copies contents one after the other.
struct ContentCopier {
    buffer: Vec<u8>,
    /// Until the file system has refused it.
    may_clone: bool,
    may_copy_in_kernel: bool,
}

impl Default for ContentCopier {
    fn default() -> Self {
        let is_linux = cfg!(target_os = "linux");
        let may_clone = is_linux || cfg!(target_os = "macos");
        Self { buffer: vec![0; BUFFER], may_clone, may_copy_in_kernel: is_linux }
    }
}

impl ContentCopier {
    fn copy(&mut self, source: &File, target: &OwnedFd, size: u64) -> io::Result<()> {
        let is_shared = size > 0 && self.clone(source, target);
        if is_shared || self.copy_in_kernel(source, target, size)? {
            return Ok(());
        }
        self.copy_by_buffer(source, target)
    }

    #[cfg(target_os = "linux")]
    fn clone(&mut self, source: &File, target: &OwnedFd) -> bool {
        self.may_clone = self.may_clone && rustix::fs::ioctl_ficlone(target, source).is_ok();
        self.may_clone
    }

    /// macOS clones whole files.
    #[cfg(not(target_os = "linux"))]
    fn clone(&mut self, _: &File, _: &OwnedFd) -> bool {
        cfg!(target_os = "linux") && self.may_clone
    }

    /// False if it must be done otherwise; then nothing was copied. Holes stay holes: a program can make a file of
    /// any size without writing a byte of it.
    #[cfg(target_os = "linux")]
    fn copy_in_kernel(&mut self, source: &File, target: &OwnedFd, size: u64) -> io::Result<bool> {
        use rustix::fs::{SeekFrom, ftruncate, seek};
        if size <= BUFFER as u64 || !self.may_copy_in_kernel {
            return Ok(false);
        }
        let mut copied = 0;
        loop {
            match copy_data_after(source, target, copied) {
                Ok(None) => break,
                Ok(Some(end)) => copied = end,
                Err(error) if copied > 0 => return Err(error.into()),
                Err(_) => {
                    self.may_copy_in_kernel = false;
                    seek(source, SeekFrom::Start(0))?;
                    ftruncate(target, 0)?;
                    return Ok(false);
                }
            }
        }
        ftruncate(target, seek(source, SeekFrom::End(0))?)?;
        Ok(true)
    }

    #[cfg(not(target_os = "linux"))]
    fn copy_in_kernel(&mut self, _: &File, _: &OwnedFd, _: u64) -> io::Result<bool> {
        Ok(self.may_copy_in_kernel)
    }

    fn copy_by_buffer(&mut self, mut source: &File, target: &OwnedFd) -> io::Result<()> {
        loop {
            match source.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => write_all(target, &self.buffer[..length])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Copies the next part of a file that is not a hole. Returns where it ends; `None` if there is none.
#[cfg(target_os = "linux")]
fn copy_data_after(source: &File, target: &OwnedFd, offset: u64) -> Result<Option<u64>, Errno> {
    use rustix::fs::{SeekFrom, copy_file_range, seek};
    let start = match seek(source, SeekFrom::Data(offset)) {
        Err(Errno::NXIO) => return Ok(None),
        start => start?,
    };
    let end = seek(source, SeekFrom::Hole(start))?;
    let (mut from, mut to) = (start, start);
    while from < end {
        let rest = usize::try_from(end - from).unwrap_or(usize::MAX).min(1 << 30);
        match copy_file_range(source, Some(&mut from), target, Some(&mut to), rest) {
            // The file has become shorter.
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(end))
}

fn write_all(target: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(target, bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use super::*;

    fn created(path: &Path) -> OwnedFd {
        OpenOptions::new().write(true).create_new(true).open(path).unwrap().into()
    }

    #[test]
    fn holes_stay_holes() {
        use std::io::{Seek, SeekFrom, Write};
        use std::os::unix::fs::MetadataExt;
        const SIZE: u64 = 1 << 40;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut source = File::create_new(path("source")).unwrap();
        source.write_all(b"begin").unwrap();
        source.seek(SeekFrom::Start(SIZE / 2)).unwrap();
        source.write_all(b"middle").unwrap();
        source.set_len(SIZE).unwrap();
        let (source, target) = (File::open(path("source")).unwrap(), created(&path("target")));
        let mut copier = ContentCopier { may_clone: false, ..ContentCopier::default() };
        copier.copy(&source, &target, SIZE).unwrap();
        let mut target = File::open(path("target")).unwrap();
        let found = target.metadata().unwrap();
        assert_eq!(found.len(), SIZE);
        assert!(found.blocks() * 512 < 1 << 20, "{} blocks", found.blocks());
        for (at, expected) in [(0, "begin"), (SIZE / 2, "middle")] {
            let mut text = vec![0; expected.len()];
            target.seek(SeekFrom::Start(at)).unwrap();
            target.read_exact(&mut text).unwrap();
            assert_eq!(text, expected.as_bytes());
        }
    }

    /// `TMPDIR` says where: most file systems of temporary files cannot share blocks.
    #[test]
    #[expect(clippy::print_stderr, reason = "says why nothing was checked")]
    fn contents_are_shared_where_the_file_system_can() {
        let folder = tempfile::tempdir().unwrap();
        let text = "line\n".repeat(100_000);
        fs::write(folder.path().join("source"), &text).unwrap();
        let source = File::open(folder.path().join("source")).unwrap();
        let probe = created(&folder.path().join("probe"));
        let is_supported = rustix::fs::ioctl_ficlone(&probe, &source).is_ok();
        let target = created(&folder.path().join("target"));
        let mut copier = ContentCopier::default();
        copier.copy(&source, &target, text.len() as u64).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("target")).unwrap(), text);
        // It stays true only if the file was cloned.
        assert_eq!(copier.may_clone, is_supported);
        if !is_supported {
            eprintln!("skipped: {} cannot share blocks", folder.path().display());
        }
    }
}
