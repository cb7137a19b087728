//! The processes that a program starts, as a group.

#[cfg(unix)]
use std::time::Duration;

use tokio::process::Child;

/// The process group of a program; ended when this is dropped before it is released.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    /// How often a group that was asked to end is looked at.
    const GLANCE: Duration = Duration::from_millis(20);

    pub(crate) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            leader: id.and_then(rustix::process::Pid::from_raw),
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            // It fails when nobody is left, which is what is wanted.
            rustix::process::kill_process_group(leader, signal).ok();
        }
    }

    /// Whether asking is possible.
    pub(crate) fn ask_to_end(&self) -> bool {
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
            tokio::time::sleep(Self::GLANCE).await;
        }
    }

    pub(crate) fn release(&mut self) {
        self.leader = None;
    }
}

/// Whether anyone in the group still runs. The dead whom nobody has buried yet count as members to
/// the system; in a container without an init process they stay for ever.
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

/// `id (name) state parent group …`; a name may hold anything.
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

/// Without groups only the program itself is ended, by its handle.
#[cfg(not(unix))]
impl ProcessGroup {
    pub(crate) fn of(_: &Child) -> Self {
        Self {}
    }

    pub(crate) fn ask_to_end(&self) -> bool {
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
    fn the_dead_are_no_members() {
        assert!(is_live_member("12 (a) b) S 1 9 9 0", 9));
        assert!(!is_live_member("12 (sh) S 1 8 9 0", 9));
        assert!(!is_live_member("12 (sh) Z 1 9 9 0", 9));
        assert!(!is_live_member("", 9));
    }
}
