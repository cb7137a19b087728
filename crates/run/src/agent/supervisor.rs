//! Every program that runs, so that a signal or a panic can end all of them, and so that orphans can be
//! assigned to the program that left them behind.
//!
//! Three layers, each for what the one before cannot do: the process group of a program (any Unix);
//! orphans, which Linux hands to evalrig once it is a subreaper; and a watchdog process for the case
//! that evalrig itself is killed.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::process::{Child, Command};

use crate::descriptor;
use crate::lock::locked;

use super::group::ProcessGroup;
use super::{orphan, program_mark, watchdog};

/// Process ids of running programs, by their number.
static RUNNING: Mutex<BTreeMap<u64, u32>> = Mutex::new(BTreeMap::new());

/// Held while a program starts, until it is in `RUNNING`, so that no other program inherits its mark. Held
/// also while orphans are reaped, so that no program is mistaken for an orphan.
static STARTING: Mutex<()> = Mutex::new(());

/// A program from its start until it was waited for. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct RunningProgram {
    number: u64,
    pub(crate) group: ProcessGroup,
}

impl RunningProgram {
    /// Starts a program in a process group of its own.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        command.env(program_mark::VARIABLE, program_mark::value_for(number));
        #[cfg(unix)]
        command.process_group(0);
        let starting = locked(&STARTING);
        watchdog::ensure();
        let mark = program_mark::open_mark(number);
        let child = command.spawn()?;
        drop(mark);
        let id = child.id().unwrap_or_default();
        locked(&RUNNING).insert(number, id);
        drop(starting);
        descriptor::restore_limit(id);
        watchdog::note_start(id);
        Ok((child, Self { number, group: ProcessGroup::of(id) }))
    }

    /// For a program that has exited: kills what is left of its group and waits for the end of what it
    /// left behind.
    pub(crate) async fn end(self) {
        drop(self);
        orphan::end_orphans().await;
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.group.kill();
        if let Some(id) = locked(&RUNNING).remove(&self.number) {
            watchdog::note_end(id);
        }
    }
}

/// Whether a program of this number runs.
pub(super) fn is_running(number: u64) -> bool {
    locked(&RUNNING).contains_key(&number)
}

/// Whether this process was started as a program and runs.
pub(super) fn is_program(id: u32) -> bool {
    locked(&RUNNING).values().any(|running| *running == id)
}

#[cfg(unix)]
pub(super) fn running_ids() -> Vec<u32> {
    locked(&RUNNING).values().copied().collect()
}

pub(super) fn nothing_runs() -> bool {
    locked(&RUNNING).is_empty()
}

/// Runs while no program starts.
pub(super) fn between_starts<T>(work: impl FnOnce() -> T) -> T {
    let _guard = locked(&STARTING);
    work()
}

/// Takes charge of what programs leave behind. For processes that are all ours: a library must not
/// reap the children of the program it is part of.
pub(crate) fn adopt_orphans() {
    orphan::adopt();
}

/// Ends whatever programs left behind, at the end of a run.
pub(crate) fn end_all() {
    kill_all_groups();
    // Otherwise the watchdog looks once more when the process ends.
    if orphan::end_all_orphans() {
        watchdog::dismiss();
    }
}

/// Kills every program without waiting, for the end of the process. Works while other threads hold
/// any lock; the watchdog completes it.
pub fn kill_programs() {
    kill_all_groups();
    orphan::kill_orphans();
}

fn kill_all_groups() {
    // A thread that panicked or is stuck may hold the lock.
    if let Ok(running) = RUNNING.try_lock() {
        for id in running.values() {
            ProcessGroup::of(*id).kill();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use super::super::program_mark::{TOKEN, program_numbers};
    use super::*;

    /// A second mark would tie what a program leaves behind to a program that still runs.
    #[test]
    fn programs_that_start_at_the_same_time_have_one_mark_each() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let start = || {
            let _entered = runtime.enter();
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "exec env -i sleep 60"]).kill_on_drop(true);
            let (child, program) = RunningProgram::start(&mut command).unwrap();
            let path = format!("/proc/{}/cmdline", child.id().unwrap());
            while !std::fs::read(&path).unwrap().starts_with(b"sleep") {
                thread::yield_now();
            }
            let numbers = program_numbers(child.id().unwrap(), &TOKEN);
            let programs: Vec<_> = numbers.into_iter().filter(|one| *one < u64::MAX / 2).collect();
            assert_eq!(programs, [program.number]);
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20).for_each(|_| start()));
            }
        });
    }
}
