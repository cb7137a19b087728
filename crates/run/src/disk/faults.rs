//! A file layer for tests. Below a directory it fails the n-th operation, and it records every
//! operation so that the state after a power cut can be built.

mod power_cut;
mod sweep;

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use camino::{Utf8Path, Utf8PathBuf};

use super::system::Operation;

pub(crate) use sweep::{Recovery, Scenario, assert_points, sweep};

/// The fewest failure points of results, of the store and of whole runs.
pub(crate) const LEAST_POINTS: [usize; 3] = [700, 1000, 450];
const _: () = assert!(LEAST_POINTS[0] + LEAST_POINTS[1] + LEAST_POINTS[2] >= 2000);

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// ENOSPC, once.
    Full,
    /// ENOSPC from then on.
    StaysFull,
    /// EIO, once.
    Broken,
    /// EIO from then on.
    StaysBroken,
    /// EMFILE when something is opened.
    NoDescriptor,
    /// Half of a write succeeds, and the next one fails with ENOSPC.
    ShortWrite,
    /// EINTR, after which a write is repeated.
    Interrupted,
}

impl Fault {
    pub(crate) const ALL: [Self; 7] = [
        Self::Full,
        Self::StaysFull,
        Self::Broken,
        Self::StaysBroken,
        Self::NoDescriptor,
        Self::ShortWrite,
        Self::Interrupted,
    ];

    fn error(self) -> io::Error {
        let code = match self {
            Self::Full | Self::StaysFull | Self::ShortWrite => rustix::io::Errno::NOSPC,
            Self::Broken | Self::StaysBroken => rustix::io::Errno::IO,
            Self::NoDescriptor => rustix::io::Errno::MFILE,
            Self::Interrupted => rustix::io::Errno::INTR,
        };
        code.into()
    }

    /// A full disk lets files be removed.
    fn concerns(self, operation: &RecordedOperation) -> bool {
        use RecordedOperation as Op;
        match self {
            Self::Full | Self::StaysFull => {
                !matches!(operation, Op::RemoveFile(_) | Op::RemoveDirectory(_) | Op::RemoveTree(_))
            }
            Self::Broken | Self::StaysBroken => true,
            Self::NoDescriptor => matches!(
                operation,
                Op::CreateFile(_) | Op::OpenToAppend(_) | Op::OpenStream | Op::SyncDirectory(_)
            ),
            Self::ShortWrite | Self::Interrupted => matches!(operation, Op::Write(..)),
        }
    }

    fn stays(self) -> bool {
        matches!(self, Self::StaysFull | Self::StaysBroken)
    }
}

/// An operation that has succeeded.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum RecordedOperation {
    CreateDirectory(Utf8PathBuf),
    CreateFile(Utf8PathBuf),
    OpenToAppend(Utf8PathBuf),
    OpenStream,
    Write(Utf8PathBuf, Vec<u8>),
    SetLength(Utf8PathBuf, u64),
    SetMode,
    SyncFile(Utf8PathBuf),
    SyncDirectory(Utf8PathBuf),
    Rename(Utf8PathBuf, Utf8PathBuf),
    HardLink(Utf8PathBuf, Utf8PathBuf),
    SymbolicLink(String, Utf8PathBuf),
    RemoveFile(Utf8PathBuf),
    RemoveDirectory(Utf8PathBuf),
    RemoveTree(Utf8PathBuf),
    CopyTree(Utf8PathBuf),
}

impl fmt::Debug for RecordedOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &Utf8PathBuf| path.file_name().unwrap_or_default().to_owned();
        match self {
            Self::CreateDirectory(path) => write!(f, "create directory {}", name(path)),
            Self::CreateFile(path) => write!(f, "create {}", name(path)),
            Self::OpenToAppend(path) => write!(f, "open {} to append", name(path)),
            Self::OpenStream => f.write_str("open a stream"),
            Self::Write(path, bytes) => write!(f, "write {} bytes to {}", bytes.len(), name(path)),
            Self::SetLength(path, length) => write!(f, "cut {} to {length}", name(path)),
            Self::SetMode => f.write_str("set permissions"),
            Self::SyncFile(path) => write!(f, "sync {}", name(path)),
            Self::SyncDirectory(path) => write!(f, "sync directory {}", name(path)),
            Self::Rename(from, to) => write!(f, "rename {} to {}", name(from), name(to)),
            Self::HardLink(from, to) => write!(f, "link {} to {}", name(to), name(from)),
            Self::SymbolicLink(target, path) => write!(f, "link {} to {target}", name(path)),
            Self::RemoveFile(path) => write!(f, "remove {}", name(path)),
            Self::RemoveDirectory(path) => write!(f, "remove directory {}", name(path)),
            Self::RemoveTree(path) => write!(f, "remove tree {}", name(path)),
            Self::CopyTree(path) => write!(f, "copy into {}", name(path)),
        }
    }
}

impl From<Operation<'_>> for RecordedOperation {
    fn from(operation: Operation<'_>) -> Self {
        match operation {
            Operation::CreateDirectory(path) => Self::CreateDirectory(path.to_owned()),
            Operation::CreateFile(path) => Self::CreateFile(path.to_owned()),
            Operation::OpenToAppend(path) => Self::OpenToAppend(path.to_owned()),
            Operation::OpenStream(_) => Self::OpenStream,
            Operation::Write(path, bytes) => Self::Write(path.to_owned(), bytes.to_owned()),
            Operation::SetLength(path, length) => Self::SetLength(path.to_owned(), length),
            Operation::SetMode(_) => Self::SetMode,
            Operation::SyncFile(path) => Self::SyncFile(path.to_owned()),
            Operation::SyncDirectory(path) => Self::SyncDirectory(path.to_owned()),
            Operation::Rename(from, to) => Self::Rename(from.to_owned(), to.to_owned()),
            Operation::HardLink(from, to) => Self::HardLink(from.to_owned(), to.to_owned()),
            Operation::SymbolicLink(target, path) => {
                Self::SymbolicLink(target.to_owned(), path.to_owned())
            }
            Operation::RemoveFile(path) => Self::RemoveFile(path.to_owned()),
            Operation::RemoveDirectory(path) => Self::RemoveDirectory(path.to_owned()),
            Operation::RemoveTree(path) => Self::RemoveTree(path.to_owned()),
            Operation::CopyTree(path) => Self::CopyTree(path.to_owned()),
        }
    }
}

fn path_of<'a>(operation: &Operation<'a>) -> &'a Utf8Path {
    match *operation {
        Operation::CreateDirectory(path)
        | Operation::CreateFile(path)
        | Operation::OpenToAppend(path)
        | Operation::OpenStream(path)
        | Operation::Write(path, _)
        | Operation::SetLength(path, _)
        | Operation::SetMode(path)
        | Operation::SyncFile(path)
        | Operation::SyncDirectory(path)
        | Operation::Rename(path, _)
        | Operation::HardLink(path, _)
        | Operation::SymbolicLink(_, path)
        | Operation::RemoveFile(path)
        | Operation::RemoveDirectory(path)
        | Operation::RemoveTree(path)
        | Operation::CopyTree(path) => path,
    }
}

/// Directories below which operations are watched.
static WATCHED: RwLock<Vec<Arc<WatchedDirectory>>> = RwLock::new(Vec::new());

#[derive(Debug)]
struct WatchedDirectory {
    root: Utf8PathBuf,
    state: Mutex<WatchState>,
}

#[derive(Debug, Default)]
struct WatchState {
    /// Operations so far, failed ones included.
    count: usize,
    fault: Option<(usize, Fault)>,
    is_hit: bool,
    /// The next write fails.
    is_full: bool,
    trace: Vec<RecordedOperation>,
    /// What was promised after how many operations of the trace.
    promises: Vec<(usize, String)>,
}

impl WatchedDirectory {
    fn state(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn promise(&self, what: String) {
        let mut state = self.state();
        let at = state.trace.len();
        state.promises.push((at, what));
    }
}

impl WatchState {
    /// Counts the operation and fails it if that is planned.
    fn enter(&mut self, operation: &RecordedOperation) -> io::Result<()> {
        let number = self.count;
        self.count += 1;
        if self.is_full && matches!(operation, RecordedOperation::Write(..)) {
            self.is_full = false;
            return Err(Fault::Full.error());
        }
        let Some((at, fault)) = self.fault else {
            return Ok(());
        };
        let is_due = number == at || (fault.stays() && number > at);
        if !is_due || fault == Fault::ShortWrite || !fault.concerns(operation) {
            return Ok(());
        }
        self.is_hit = true;
        Err(fault.error())
    }
}

fn watching(path: &Utf8Path) -> Option<Arc<WatchedDirectory>> {
    let watched = WATCHED.read().unwrap_or_else(PoisonError::into_inner);
    watched.iter().find(|one| path.starts_with(&one.root)).cloned()
}

/// Passes an operation on, unless it is to fail. Operations below one directory happen one at a time,
/// so that their order is known.
pub(super) fn attempt<T>(
    operation: Operation<'_>,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let Some(watched) = watching(path_of(&operation)) else {
        return act();
    };
    let mut state = watched.state();
    let recorded = RecordedOperation::from(operation);
    state.enter(&recorded)?;
    let result = act()?;
    state.trace.push(recorded);
    Ok(result)
}

/// How many of the bytes the next write may write.
pub(super) fn writable(path: &Utf8Path, bytes: &[u8]) -> usize {
    let Some(watched) = watching(path) else {
        return bytes.len();
    };
    let mut state = watched.state();
    if state.fault != Some((state.count, Fault::ShortWrite)) || bytes.len() < 2 {
        return bytes.len();
    }
    state.is_hit = true;
    state.is_full = true;
    bytes.len() / 2
}

/// Watches a directory until it is dropped.
#[derive(Debug)]
pub(crate) struct FaultyDirectory(Arc<WatchedDirectory>);

impl FaultyDirectory {
    pub(crate) fn new(root: &Utf8Path, fault: Option<(usize, Fault)>) -> Self {
        let state = Mutex::new(WatchState { fault, ..WatchState::default() });
        let watched = Arc::new(WatchedDirectory { root: root.to_owned(), state });
        WATCHED.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&watched));
        Self(watched)
    }

    /// Notes that something is safe from now on, whatever happens.
    pub(crate) fn promise(&self, what: impl Into<String>) {
        self.0.promise(what.into());
    }

    /// The same from elsewhere.
    pub(crate) fn promiser(&self) -> impl Fn(String) + Send + Sync + 'static {
        let watched = Arc::clone(&self.0);
        move |what| watched.promise(what)
    }

    fn is_hit(&self) -> bool {
        self.0.state().is_hit
    }

    fn trace(&self) -> Vec<RecordedOperation> {
        self.0.state().trace.clone()
    }

    fn promises(&self) -> Vec<(usize, String)> {
        self.0.state().promises.clone()
    }
}

impl Drop for FaultyDirectory {
    fn drop(&mut self) {
        let mut watched = WATCHED.write().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|one| !Arc::ptr_eq(one, &self.0));
    }
}
