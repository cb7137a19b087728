//! Process groups: a program and everything it starts.

#[cfg(unix)]
use std::time::Duration;

use tokio::process::Child;

/// The process group of a program, killed on drop unless it was released.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    /// How often to check whether a terminated group is gone.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    pub(crate) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            // Fails if the group is already gone.
            rustix::process::kill_process_group(leader, signal).ok();
        }
    }

    /// Sends SIGTERM; false where there are no signals.
    pub(crate) fn terminate(&self) -> bool {
        self.signal(rustix::process::Signal::TERM);
        true
    }

    pub(crate) fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    pub(crate) async fn wait_until_gone(&self) {
        let Some(leader) = self.leader else {
            return;
        };
        while rustix::process::test_kill_process_group(leader).is_ok() && is_running(leader) {
            tokio::time::sleep(Self::POLL_INTERVAL).await;
        }
    }

    pub(crate) fn release(&mut self) {
        self.leader = None;
    }
}

/// Whether a process of the group still runs. Zombies count as members of the group, and in a
/// container without an init process they are never reaped.
#[cfg(target_os = "linux")]
fn is_running(leader: rustix::process::Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return true;
    };
    let leader = leader.as_raw_nonzero().get();
    processes.flatten().any(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat"));
        stat.is_ok_and(|stat| is_live_member(&stat, leader))
    })
}

/// Parses `pid (name) state ppid pgrp …`; the name may contain any character.
#[cfg(target_os = "linux")]
fn is_live_member(stat: &str, leader: i32) -> bool {
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
    let mut fields = fields.unwrap_or_default().split_ascii_whitespace();
    let is_dead = matches!(fields.next(), None | Some("Z" | "X"));
    let group = fields.nth(1).and_then(|group| group.parse().ok());
    !is_dead && group == Some(leader)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_running(_: rustix::process::Pid) -> bool {
    true
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Without process groups, only the program itself is killed, through its handle.
#[cfg(not(unix))]
impl ProcessGroup {
    pub(crate) fn of(_: &Child) -> Self {
        Self {}
    }

    pub(crate) fn terminate(&self) -> bool {
        false
    }

    pub(crate) fn kill(&self) {}

    pub(crate) async fn wait_until_gone(&self) {}

    pub(crate) fn release(&mut self) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn zombies_do_not_count_as_running() {
        assert!(is_live_member("12 (a) b) S 1 9 9 0", 9));
        assert!(!is_live_member("12 (sh) S 1 8 9 0", 9));
        assert!(!is_live_member("12 (sh) Z 1 9 9 0", 9));
        assert!(!is_live_member("", 9));
    }
}
