//! Orphans: processes that programs left behind. On Linux evalrig becomes their parent, whatever
//! session or process group they are in, so that they can be found, ended and reaped.

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, end_all_orphans, end_orphans, kill_orphans};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{adopt, end_all_orphans, end_orphans, kill_orphans};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::sync::OnceLock;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };

    use super::super::program_mark::{TOKEN, program_numbers};
    use super::super::supervisor::{between_starts, is_program, is_running, nothing_runs};
    use super::super::watchdog;

    /// How long to wait for orphans that were killed. Only one that hangs in the kernel takes longer;
    /// the next program's end tries again.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// How often to look whether they are gone.
    const POLL_INTERVAL: Duration = Duration::from_millis(1);

    /// Children that existed before the first program: those of a shell that became evalrig by `exec`.
    /// Set if this process is a subreaper.
    static FOREIGN: OnceLock<Vec<u32>> = OnceLock::new();

    pub(in super::super) fn adopt() {
        if FOREIGN.get().is_none() && set_child_subreaper(Some(getpid())).is_ok() {
            let _ = FOREIGN.set(children());
        }
    }

    /// Ends what programs left behind that are over. Each round kills one generation: its children
    /// become ours, and the next round finds them.
    pub(in super::super) async fn end_orphans() {
        let begun = Instant::now();
        while kill_and_reap(children) && begun.elapsed() < PATIENCE {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// The same at the end of a run, when also programs that were just killed must be waited for: what
    /// they started becomes ours only when they are dead. False if something may be left.
    pub(in super::super) fn end_all_orphans() -> bool {
        let begun = Instant::now();
        while kill_and_reap(children_of_all_threads) {
            if begun.elapsed() > PATIENCE {
                return false;
            }
            thread::sleep(POLL_INTERVAL);
        }
        FOREIGN.get().is_some_and(Vec::is_empty)
    }

    /// Kills without waiting or locking out anything.
    pub(in super::super) fn kill_orphans() {
        let Some(foreign) = FOREIGN.get() else { return };
        for id in children() {
            let is_ours = foreign.is_empty() || !program_numbers(id, &TOKEN).is_empty();
            if is_ours && watchdog::id() != Some(id) {
                kill(id);
            }
        }
    }

    /// One round; true if there may be more.
    fn kill_and_reap(children: fn() -> Vec<u32>) -> bool {
        let Some(foreign) = FOREIGN.get() else { return false };
        let is_ours =
            |id: &u32| !foreign.contains(id) && watchdog::id() != Some(*id) && !is_program(*id);
        // Almost always empty, so starts are not held up.
        if !children().iter().any(is_ours) {
            return false;
        }
        between_starts(|| {
            let orphans: Vec<u32> = children().into_iter().filter(is_ours).collect();
            let mut is_any_killed = false;
            for id in orphans {
                if !belongs_to_the_living(id, foreign.is_empty()) && kill(id) {
                    reap(id);
                    is_any_killed = true;
                }
            }
            is_any_killed
        })
    }

    fn pid(id: u32) -> Option<Pid> {
        Pid::from_raw(i32::try_from(id).ok()?)
    }

    /// False if it may not be killed because it belongs to another user.
    fn kill(id: u32) -> bool {
        // It is our child and was not waited for, so the number cannot belong to another process.
        pid(id).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
    }

    fn reap(id: u32) {
        if let Some(pid) = pid(id) {
            waitpid(Some(pid), WaitOptions::NOHANG).ok();
        }
    }

    /// Whether a program that still runs may have started this process. One without a mark is assigned by
    /// its process group; if that does not help, it stays until no program runs. Without certainty that it
    /// is ours at all, it is left alone.
    fn belongs_to_the_living(id: u32, all_are_ours: bool) -> bool {
        let programs = program_numbers(id, &TOKEN);
        if !programs.is_empty() {
            return programs.into_iter().any(is_running);
        }
        // Looked at last: one that is ending has no mark any more, and would be taken for one that never had any.
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let is_over =
            super::state_and_group(&stat).is_some_and(|(state, _)| matches!(state, 'Z' | 'X'));
        if is_over || super::is_ending(&stat) {
            return false;
        }
        let group = super::state_and_group(&stat).map(|(_, group)| group);
        !(all_are_ours && nothing_runs()) || group.is_some_and(is_program)
    }

    /// Orphans are given to the main thread, so its children are all there is to look at. A kernel
    /// without this file is asked for all processes.
    fn children() -> Vec<u32> {
        let main = getpid().as_raw_nonzero();
        match fs::read_to_string(format!("/proc/self/task/{main}/children")) {
            Ok(children) => children.split_ascii_whitespace().flat_map(str::parse).collect(),
            Err(_) => children_of(main.get()),
        }
    }

    /// The main thread comes last: it inherits the children of a thread that ends meanwhile.
    fn children_of_all_threads() -> Vec<u32> {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let lists = threads.map(|thread| fs::read_to_string(thread.path().join("children")));
        let mut all: Vec<u32> = Vec::new();
        for list in lists.flatten() {
            all.extend(list.split_ascii_whitespace().flat_map(str::parse::<u32>));
        }
        all.extend(children());
        all.sort_unstable();
        all.dedup();
        all
    }

    fn children_of(parent: i32) -> Vec<u32> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
        ids.filter(|id| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            super::parent(&stat) == Some(parent)
        })
        .collect()
    }
}

/// Other systems hand orphans to the first process, and only the process group leads to them.
#[cfg(not(target_os = "linux"))]
mod other {
    pub(in super::super) fn adopt() {}

    pub(in super::super) async fn end_orphans() {}

    pub(in super::super) fn end_all_orphans() -> bool {
        true
    }

    pub(in super::super) fn kill_orphans() {}
}

/// The fields after the name, which may contain any character: `pid (name) state ppid pgrp …`.
#[cfg(target_os = "linux")]
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
    fields.unwrap_or_default().split_ascii_whitespace()
}

/// State and process group of `/proc/PID/stat`.
#[cfg(target_os = "linux")]
pub(super) fn state_and_group(stat: &str) -> Option<(char, u32)> {
    let mut fields = fields(stat);
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(1)?.parse().ok()?))
}

/// Whether a process has begun to end: its memory and descriptors may be gone, though it is not a zombie yet.
#[cfg(target_os = "linux")]
fn is_ending(stat: &str) -> bool {
    const PF_EXITING: u32 = 4;
    let flags = fields(stat).nth(6).and_then(|flags| flags.parse::<u32>().ok());
    flags.is_some_and(|flags| flags & PF_EXITING != 0)
}

#[cfg(target_os = "linux")]
fn parent(stat: &str) -> Option<i32> {
    fields(stat).nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_may_contain_anything() {
        assert_eq!(state_and_group("12 (a) b) S 1 9 9 0"), Some(('S', 9)));
        assert_eq!(parent("12 (a) Z 7 8) S 1 9 9 0"), Some(1));
        assert_eq!(state_and_group(""), None);
        assert!(
            is_ending("12 (a) R 7 8 8 0 -1 4194308 0")
                && !is_ending("12 (a) R 7 8 8 0 -1 4194304 0")
        );
        assert!(!is_ending("") && !is_ending("12 (a 4) S 1"));
    }
}
