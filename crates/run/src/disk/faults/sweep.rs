//! Runs a scenario with a fault at every operation and with a power cut after every operation, and
//! checks what can be recovered.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};

use super::power_cut::{DirectoryState, ModelDisk, PowerCut, build};
use super::{Fault, FaultyDirectory, RecordedOperation};

/// Most of the time is spent waiting for files.
const THREADS: usize = 8;

/// What a check may rely on.
#[derive(Debug)]
pub(crate) struct Recovery<'a> {
    pub(crate) root: &'a Utf8Path,
    /// What the scenario promised before the fault.
    pub(crate) promised: &'a [String],
    /// Whether the disk lied about a sync, so that promises are void.
    pub(crate) lost_sync: bool,
}

/// Something that writes files below a directory.
pub(crate) struct Scenario<'a> {
    pub(crate) name: &'a str,
    /// Fills the directory, undisturbed.
    pub(crate) prepare: &'a (dyn Fn(&Utf8Path) + Sync),
    /// Must neither panic nor promise what is not safe.
    pub(crate) act: &'a (dyn Fn(&Utf8Path, &FaultyDirectory) + Sync),
    /// Panics unless all that was promised is there and the rest can be made again.
    pub(crate) check: &'a (dyn Fn(&Recovery<'_>) + Sync),
}

/// Says where it happened when a check panics.
struct PointNote<'a>(&'a str, String);

impl Drop for PointNote<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            note(&format!("{}: {}", self.0, self.1));
        }
    }
}

#[allow(clippy::print_stderr, reason = "tests tell what they tried")]
fn note(text: &str) {
    eprintln!("{text}");
}

/// Tells how many failures were tried, so that a sweep cannot become empty unnoticed.
pub(crate) fn assert_points(points: &[(&str, usize)], least: usize) {
    let sum: usize = points.iter().map(|(_, points)| points).sum();
    note(&format!("{sum} failure points: {points:?}"));
    assert!(sum >= least, "only {sum} failure points");
}

/// Returns how many distinct failures were tried.
pub(crate) fn sweep(scenario: &Scenario<'_>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let root = real_path(&folder);
    (scenario.prepare)(&root);
    let before = ModelDisk::read(&root);
    let prepared = before.cut(PowerCut::Everything);
    let watched = FaultyDirectory::new(&root, None);
    (scenario.act)(&root, &watched);
    let (trace, promises) = (watched.trace(), watched.promises());
    drop(watched);
    fail_each_operation(scenario, &prepared, trace.len())
        + cut_after_each(scenario, &before, &trace, &promises)
}

fn real_path(folder: &tempfile::TempDir) -> Utf8PathBuf {
    Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap()
}

fn fail_each_operation(
    scenario: &Scenario<'_>,
    prepared: &DirectoryState,
    operations: usize,
) -> usize {
    let points: Vec<(usize, Fault)> =
        (0..operations).flat_map(|at| Fault::ALL.map(|fault| (at, fault))).collect();
    let hits = AtomicUsize::new(0);
    for_each_on_threads(&points, |(at, fault)| {
        let _note = PointNote(scenario.name, format!("{fault:?} at operation {at}"));
        let folder = tempfile::tempdir().unwrap();
        let root = real_path(&folder);
        build(prepared, &root);
        let watched = FaultyDirectory::new(&root, Some((*at, *fault)));
        (scenario.act)(&root, &watched);
        let is_hit = watched.is_hit();
        let promised: Vec<String> = watched.promises().into_iter().map(|(_, what)| what).collect();
        drop(watched);
        (scenario.check)(&Recovery { root: &root, promised: &promised, lost_sync: false });
        hits.fetch_add(usize::from(is_hit), Ordering::Relaxed);
    });
    hits.into_inner()
}

/// A state of the disk after a power cut.
struct CutPoint {
    note: String,
    state: DirectoryState,
    promised: Vec<String>,
    lost_sync: bool,
}

fn cut_after_each(
    scenario: &Scenario<'_>,
    before: &ModelDisk,
    trace: &[RecordedOperation],
    promises: &[(usize, String)],
) -> usize {
    let mut points = Vec::new();
    let mut known = HashSet::new();
    let mut add = |note: String, state: DirectoryState, done: usize, lost_sync: bool| {
        let made = promises.iter().filter(|(at, _)| *at <= done);
        let promised: Vec<String> = made.map(|(_, what)| what.clone()).collect();
        let mut hasher = DefaultHasher::new();
        (&state, promised.len(), lost_sync).hash(&mut hasher);
        if known.insert(hasher.finish()) {
            points.push(CutPoint { note, state, promised, lost_sync });
        }
    };
    let mut disk = before.clone();
    for done in 0..=trace.len() {
        for cut in PowerCut::ALL {
            let last = done.checked_sub(1).map(|last| &trace[last]);
            let note = format!("power cut after {done} operations ({last:?}), kept: {cut:?}");
            add(note, disk.cut(cut), done, false);
        }
        if let Some(next) = trace.get(done) {
            disk.apply(next);
        }
    }
    for (lost, operation) in trace.iter().enumerate() {
        use RecordedOperation as Op;
        if matches!(operation, Op::SyncFile(_) | Op::SyncDirectory(_)) {
            let mut disk = before.clone();
            let others = trace.iter().enumerate().filter(|(at, _)| *at != lost);
            others.for_each(|(_, operation)| disk.apply(operation));
            for cut in [PowerCut::Nothing, PowerCut::Half] {
                let note = format!("lost sync at operation {lost} ({operation:?}), kept: {cut:?}");
                add(note, disk.cut(cut), trace.len(), true);
            }
        }
    }
    for_each_on_threads(&points, |point| {
        let _note = PointNote(scenario.name, point.note.clone());
        let folder = tempfile::tempdir().unwrap();
        let root = real_path(&folder);
        build(&point.state, &root);
        let CutPoint { promised, lost_sync, .. } = point;
        (scenario.check)(&Recovery { root: &root, promised, lost_sync: *lost_sync });
    });
    points.len()
}

fn for_each_on_threads<T: Sync>(all: &[T], act: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            act(one);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                // The others stop soon.
                next.store(all.len(), Ordering::Relaxed);
                resume_unwind(panic);
            }
        }
    });
}
