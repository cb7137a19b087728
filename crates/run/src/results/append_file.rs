//! A file that grows by whole lines. A line that could not be written completely is removed, so that
//! the file always ends with a complete line.

use std::fs::TryLockError;
use std::io::{self, Write};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::WriteError;
use super::results_paths::write_path;
use crate::disk::{Access, LockWait, OpenFile, open_to_append};

/// How long a lock is waited for. A program that a killed run was about to start holds the files
/// of that run until it has begun.
const LOCK_WAIT: LockWait =
    LockWait { patience: Duration::from_secs(1), pause: Duration::from_millis(10) };

/// What lines are written to.
pub(super) trait Medium: std::fmt::Debug + Send {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Returns when everything written so far survives a crash of the machine.
    fn sync(&mut self) -> io::Result<()>;
    /// The same from another thread, while this one writes on.
    fn syncer(&self) -> io::Result<Syncer>;
    /// Drops everything behind `length`.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Medium for Box<dyn Medium> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (**self).write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }

    fn syncer(&self) -> io::Result<Syncer> {
        (**self).syncer()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        (**self).cut(length)
    }
}

pub(super) type Syncer = Box<dyn FnMut() -> io::Result<()> + Send>;

/// Pipes and devices can neither be synced nor cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Regular,
    Stream,
}

#[derive(Debug)]
pub(super) struct DiskFile {
    file: OpenFile,
    kind: FileKind,
}

impl Medium for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.kind {
            FileKind::Regular => self.file.sync_data(),
            FileKind::Stream => Ok(()),
        }
    }

    fn syncer(&self) -> io::Result<Syncer> {
        let (file, kind) = (self.file.try_clone()?, self.kind);
        Ok(Box::new(move || match kind {
            FileKind::Regular => file.sync_data(),
            FileKind::Stream => Ok(()),
        }))
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        match self.kind {
            FileKind::Regular => self.file.set_length(length),
            FileKind::Stream => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// Appends to one file.
#[derive(Debug)]
pub(super) struct AppendFile<M> {
    path: Utf8PathBuf,
    medium: M,
    /// Of the whole lines.
    length: u64,
    /// Whether a partial write may follow them.
    has_debris: bool,
}

impl AppendFile<DiskFile> {
    /// Opens or creates the file and keeps others from writing to it until it is closed.
    pub(super) fn open(path: &Utf8Path) -> Result<Self, WriteError> {
        let fail = |source| WriteError::io(path, source);
        let file = open_to_append(write_path(path), Access::Private).map_err(fail)?;
        let kind = if file.is_stream() { FileKind::Stream } else { FileKind::Regular };
        // Not every file system has locks; where there are none, nothing is guarded.
        if kind == FileKind::Regular && is_busy(&file) {
            let path = path.to_owned();
            return Err(WriteError::Busy { path });
        }
        // Read after locking: the previous holder may have written until then.
        let length = match kind {
            FileKind::Regular => file.length().map_err(fail)?,
            FileKind::Stream => 0,
        };
        Ok(Self::new(path, DiskFile { file, kind }, length))
    }

    pub(super) fn kind(&self) -> FileKind {
        self.medium.kind
    }
}

impl<M: Medium> AppendFile<M> {
    pub(super) fn new(path: &Utf8Path, medium: M, length: u64) -> Self {
        Self { path: path.to_owned(), medium, length, has_debris: false }
    }

    /// The same lines, whatever they are written to.
    pub(super) fn boxed(self) -> AppendFile<Box<dyn Medium>>
    where
        M: 'static,
    {
        AppendFile {
            path: self.path,
            medium: Box::new(self.medium),
            length: self.length,
            has_debris: self.has_debris,
        }
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Writes whole lines and waits until they are safe.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), WriteError> {
        self.write(lines)?;
        let synced = self.medium.sync();
        synced.map_err(|source| WriteError::io(&self.path, source))
    }

    pub(super) fn syncer(&self) -> Result<Syncer, WriteError> {
        let syncer = self.medium.syncer();
        syncer.map_err(|source| WriteError::io(&self.path, source))
    }

    /// Writes whole lines, all or none. From now on no death of this process can lose them; that
    /// of the machine can, until they are synced.
    pub(super) fn write(&mut self, lines: &[u8]) -> Result<(), WriteError> {
        self.clear_debris()?;
        match self.write_whole(lines) {
            Ok(()) => {
                self.length += lines.len() as u64;
                self.has_debris = false;
                Ok(())
            }
            Err(source) => {
                // If that fails too, the next call tries again and says so.
                let _ = self.clear_debris();
                Err(WriteError::io(&self.path, source))
            }
        }
    }

    /// Keeps the first `length` bytes only.
    pub(super) fn cut(&mut self, length: u64) -> Result<(), WriteError> {
        let fail = |source| WriteError::io(&self.path, source);
        self.medium.cut(length).map_err(fail)?;
        self.medium.sync().map_err(fail)?;
        self.length = length;
        Ok(())
    }

    fn write_whole(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            match self.medium.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.has_debris = true;
                    rest = &rest[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn clear_debris(&mut self) -> Result<(), WriteError> {
        if !self.has_debris {
            return Ok(());
        }
        let path = &self.path;
        let damaged = |_| WriteError::Damaged { path: path.clone() };
        self.medium.cut(self.length).map_err(damaged)?;
        self.has_debris = false;
        Ok(())
    }
}

/// Tries to take the lock. Whether another process keeps it.
fn is_busy(file: &OpenFile) -> bool {
    matches!(LOCK_WAIT.block(|| file.try_lock()), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
pub(super) mod testing {
    //! A medium that fails on demand and tells what happened.

    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Debug, Default)]
    pub(crate) struct FakeState {
        pub(crate) bytes: Vec<u8>,
        /// How much has been synced.
        pub(crate) safe: usize,
        pub(crate) syncs: usize,
        /// Bytes that still fit.
        pub(crate) room: Option<usize>,
        pub(crate) cannot_cut: bool,
        pub(crate) cannot_sync: bool,
    }

    #[derive(Debug, Clone, Default)]
    pub(crate) struct Fake(pub(crate) Arc<Mutex<FakeState>>);

    impl Medium for Fake {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut state = self.0.lock().unwrap();
            // Short writes are legal, so they are the rule here.
            let mut count = bytes.len().min(7);
            if let Some(room) = &mut state.room {
                count = count.min(*room);
                *room -= count;
                if count == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
            }
            state.bytes.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn sync(&mut self) -> io::Result<()> {
            let mut state = self.0.lock().unwrap();
            if state.cannot_sync {
                return Err(io::Error::other("no sync"));
            }
            state.syncs += 1;
            state.safe = state.bytes.len();
            Ok(())
        }

        fn syncer(&self) -> io::Result<Syncer> {
            let mut fake = self.clone();
            Ok(Box::new(move || fake.sync()))
        }

        fn cut(&mut self, length: u64) -> io::Result<()> {
            let mut state = self.0.lock().unwrap();
            if state.cannot_cut {
                return Err(io::Error::other("no cut"));
            }
            let length = usize::try_from(length).unwrap();
            let freed = state.bytes.len() - length;
            state.bytes.truncate(length);
            state.room = state.room.map(|room| room + freed);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Fake;
    use super::*;

    fn lines(fake: &Fake) -> AppendFile<Fake> {
        AppendFile::new("x.jsonl".into(), fake.clone(), 0)
    }

    #[test]
    fn what_does_not_fit_is_taken_back_and_the_next_may_fit() {
        let fake = Fake::default();
        let mut lines = lines(&fake);
        lines.append(b"{\"a\":1}\n").unwrap();
        fake.0.lock().unwrap().room = Some(10);
        let error = lines.append(b"{\"a\":\"far too long\"}\n").unwrap_err();
        assert!(matches!(error, WriteError::Io { .. }), "{error}");
        assert_eq!(fake.0.lock().unwrap().bytes, b"{\"a\":1}\n");
        lines.append(b"{\"b\":2}\n").unwrap();
        assert_eq!(fake.0.lock().unwrap().bytes, b"{\"a\":1}\n{\"b\":2}\n");
    }

    #[test]
    fn nothing_is_written_behind_part_of_a_line() {
        let fake = Fake::default();
        let mut lines = lines(&fake);
        {
            let mut state = fake.0.lock().unwrap();
            state.room = Some(3);
            state.cannot_cut = true;
        }
        lines.append(b"{\"a\":1}\n").unwrap_err();
        fake.0.lock().unwrap().room = None;
        let error = lines.append(b"{\"b\":2}\n").unwrap_err();
        assert!(matches!(error, WriteError::Damaged { .. }), "{error}");
        fake.0.lock().unwrap().cannot_cut = false;
        lines.append(b"{\"b\":2}\n").unwrap();
        assert_eq!(fake.0.lock().unwrap().bytes, b"{\"b\":2}\n");
    }

    #[test]
    fn what_is_not_synced_is_written_and_not_promised() {
        let fake = Fake::default();
        let mut lines = lines(&fake);
        fake.0.lock().unwrap().cannot_sync = true;
        lines.append(b"{\"a\":1}\n").unwrap_err();
        assert_eq!(fake.0.lock().unwrap().bytes, b"{\"a\":1}\n");
        fake.0.lock().unwrap().cannot_sync = false;
        lines.append(b"{\"b\":2}\n").unwrap();
        let state = fake.0.lock().unwrap();
        assert_eq!(state.safe, state.bytes.len());
    }
}
