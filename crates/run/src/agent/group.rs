//! Process groups: a program and everything it starts.

#[cfg(unix)]
use std::time::Duration;

/// The process group that a program leads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    /// How often to check whether a terminated group is gone.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// `leader` is the process id of a program that was started in a group of its own.
    pub(crate) fn of(leader: u32) -> Self {
        let leader = i32::try_from(leader).ok();
        Self { leader: leader.and_then(rustix::process::Pid::from_raw) }
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

#[cfg(target_os = "linux")]
fn is_live_member(stat: &str, leader: i32) -> bool {
    let found = super::orphan::state_and_group(stat);
    found.is_some_and(|(state, group)| {
        !matches!(state, 'Z' | 'X') && i32::try_from(group) == Ok(leader)
    })
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_running(_: rustix::process::Pid) -> bool {
    true
}

/// Without process groups, only the program itself is killed, through its handle.
#[cfg(not(unix))]
impl ProcessGroup {
    pub(crate) fn of(_: u32) -> Self {
        Self {}
    }

    pub(crate) fn terminate(&self) -> bool {
        false
    }

    pub(crate) fn kill(&self) {}

    pub(crate) async fn wait_until_gone(&self) {}
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
