//! The watchdog: a second process that ends the programs of a run when evalrig dies and cannot do it,
//! as after SIGKILL or when memory runs out.
//!
//! It is the same executable with a hidden argument, started before the first program. It reads which
//! programs run from a socket, and acts when evalrig's end of the socket closes. PR_SET_PDEATHSIG
//! cannot replace it: setting it needs unsafe code between fork and exec, it depends on the thread
//! that forked, and it does not reach what a program starts.

use std::process::ExitCode;

#[cfg(unix)]
pub(super) use unix::{ensure, id, note_end, note_start};

#[cfg(not(unix))]
pub(super) use other::{ensure, note_end, note_start};

#[cfg(unix)]
pub(crate) use unix::dismiss;
#[cfg(unix)]
pub use unix::{enable as enable_watchdog, watch};

#[cfg(not(unix))]
pub(crate) use other::dismiss;
#[cfg(not(unix))]
pub use other::{enable as enable_watchdog, watch};

/// The first argument of the watchdog; the second is the token of the run.
pub const WATCHDOG_ARGUMENT: &str = "__watchdog";

/// The name under which the watchdog runs.
pub(super) const WATCHDOG_NAME: &str = "evalrig-watchdog";

/// Runs the watchdog if the arguments ask for it. To be called first by an executable that calls
/// [`enable_watchdog`].
pub fn watch_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != WATCHDOG_ARGUMENT {
        return None;
    }
    watch(arguments.next()?.to_str()?);
    Some(ExitCode::SUCCESS)
}

/// The running executable, even if its file was replaced meanwhile.
pub(super) fn executable() -> std::io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

#[cfg(unix)]
mod unix {
    use std::collections::BTreeSet;
    use std::io::{self, Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use crate::lock::locked;

    use super::super::group::ProcessGroup;
    use super::super::program_mark::{TOKEN, VARIABLE};
    use super::super::supervisor::running_ids;
    use super::{WATCHDOG_ARGUMENT, WATCHDOG_NAME, executable};

    /// Kinds of messages; a process id follows.
    const STARTED: u8 = b'+';
    const ENDED: u8 = b'-';
    const DISMISSED: u8 = b'q';

    static IS_ENABLED: AtomicBool = AtomicBool::new(false);
    static WATCHDOG: Mutex<Option<WatchdogProcess>> = Mutex::new(None);
    /// 0 if there is none. Readable without the lock, for a process that panics.
    static ID: AtomicU32 = AtomicU32::new(0);

    struct WatchdogProcess {
        process: Child,
        socket: UnixStream,
    }

    /// Allows the executable to be started again as a watchdog.
    pub fn enable() {
        IS_ENABLED.store(true, Ordering::SeqCst);
    }

    pub(in super::super) fn id() -> Option<u32> {
        Some(ID.load(Ordering::SeqCst)).filter(|id| *id > 0)
    }

    /// Starts the watchdog unless it runs. Without one, programs outlive only a SIGKILL.
    pub(in super::super) fn ensure() {
        if id().is_some() || !IS_ENABLED.load(Ordering::SeqCst) {
            return;
        }
        let mut watchdog = locked(&WATCHDOG);
        if watchdog.is_some() {
            return;
        }
        let Ok(mut started) = start() else { return };
        ID.store(started.process.id(), Ordering::SeqCst);
        for id in running_ids() {
            started.send(STARTED, id).ok();
        }
        *watchdog = Some(started);
    }

    fn start() -> io::Result<WatchdogProcess> {
        let (socket, theirs) = UnixStream::pair()?;
        // A watchdog that does not read must not block a run.
        socket.set_nonblocking(true)?;
        let mut command = Command::new(executable()?);
        command
            .arg0(WATCHDOG_NAME)
            .args([WATCHDOG_ARGUMENT, &TOKEN])
            .current_dir("/")
            // The watchdog of an evalrig that another one runs must survive them both.
            .env_remove(VARIABLE)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach for signals of the terminal.
            .process_group(0);
        Ok(WatchdogProcess { process: command.spawn()?, socket })
    }

    impl WatchdogProcess {
        fn send(&mut self, kind: u8, id: u32) -> io::Result<()> {
            let [a, b, c, d] = id.to_le_bytes();
            self.socket.write_all(&[kind, a, b, c, d])
        }
    }

    pub(in super::super) fn note_start(id: u32) {
        note(STARTED, id);
    }

    pub(in super::super) fn note_end(id: u32) {
        note(ENDED, id);
    }

    /// A watchdog with outdated knowledge could kill the wrong process, so it is replaced.
    fn note(kind: u8, id: u32) {
        let mut watchdog = locked(&WATCHDOG);
        if let Some(running) = &mut *watchdog
            && running.send(kind, id).is_err()
        {
            running.process.kill().ok();
            running.process.wait().ok();
            ID.store(0, Ordering::SeqCst);
            *watchdog = None;
        }
    }

    /// Ends the watchdog after a run that left nothing behind.
    pub(crate) fn dismiss() {
        if let Some(mut running) = locked(&WATCHDOG).take() {
            if running.send(DISMISSED, 0).is_err() {
                running.process.kill().ok();
            }
            running.process.wait().ok();
            ID.store(0, Ordering::SeqCst);
        }
    }

    /// What the watchdog does: reads until evalrig is gone, then kills what is left of its programs.
    pub fn watch(token: &str) {
        let mut running = BTreeSet::new();
        let (mut input, mut message) = (io::stdin().lock(), [0; 5]);
        while input.read_exact(&mut message).is_ok() {
            let [kind, id @ ..] = message;
            let id = u32::from_le_bytes(id);
            match kind {
                STARTED => running.insert(id),
                ENDED => running.remove(&id),
                _ => return,
            };
        }
        for id in running {
            ProcessGroup::of(id).kill();
        }
        #[cfg(target_os = "linux")]
        super::linux::kill_marked(token);
        #[cfg(not(target_os = "linux"))]
        let _ = token;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

    use super::super::program_mark::program_numbers;

    /// How long to look for processes that start others faster than they are killed.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// Kills every process with the mark of the run until none is left.
    pub(super) fn kill_marked(token: &str) {
        let begun = Instant::now();
        let since = started_at("self").unwrap_or(0);
        while kill_round(token, since) && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// True if there may be more.
    fn kill_round(token: &str, since: u64) -> bool {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|one| one.file_name().to_str()?.parse::<i32>().ok());
        let pids = ids.filter_map(Pid::from_raw);
        pids.filter(|pid| kill_if_marked(*pid, token) || is_starting(*pid, since)).count() > 0
    }

    /// Whether a process is inside `exec`: its old environment is gone and the new one is not there
    /// yet, so that its mark cannot be seen. What is older than the watchdog is not ours.
    fn is_starting(pid: Pid, since: u64) -> bool {
        let path = format!("/proc/{}", pid.as_raw_nonzero());
        fs::read(format!("{path}/environ")).is_ok_and(|environment| environment.is_empty())
            // Threads of the kernel and dead processes have no executable.
            && fs::read_link(format!("{path}/exe")).is_ok()
            && started_at(&pid.as_raw_nonzero().to_string()).is_some_and(|start| start >= since)
    }

    /// In clock ticks since the machine was started.
    fn started_at(process: &str) -> Option<u64> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name may hold spaces and parentheses; the time is field 22, the state field 3.
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
    }

    /// The descriptor is opened before the mark is read, so that the process that is killed is the one
    /// that has the mark, even if the number is used again.
    fn kill_if_marked(pid: Pid, token: &str) -> bool {
        let id = pid.as_raw_nonzero().get().unsigned_abs();
        let is_marked = || !program_numbers(id, token).is_empty();
        // Most processes are not ours.
        if !is_marked() {
            return false;
        }
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => is_marked() && pidfd_send_signal(process, Signal::KILL).is_ok(),
            // Before Linux 5.3.
            Err(Errno::NOSYS) => kill_process(pid, Signal::KILL).is_ok(),
            Err(_) => false,
        }
    }

    #[cfg(test)]
    mod tests {
        use std::process::Command;

        use super::*;

        #[test]
        fn a_process_without_an_environment_is_looked_at_again() {
            let since = started_at("self").unwrap();
            let mut bare = Command::new("/bin/sleep").arg("60").env_clear().spawn().unwrap();
            let pid = Pid::from_raw(bare.id().cast_signed()).unwrap();
            // Until the program runs, it has the environment of this process.
            while !is_starting(pid, since) {
                thread::sleep(Duration::from_millis(1));
            }
            assert!(!is_starting(pid, u64::MAX), "older processes are not ours");
            assert!(!is_starting(rustix::process::getpid(), since), "it has an environment");
            bare.kill().unwrap();
            bare.wait().unwrap();
            assert!(!is_starting(pid, since), "it is gone");
        }
    }
}

/// There are no process groups that a watchdog could kill.
#[cfg(not(unix))]
mod other {
    pub fn enable() {}

    pub(in super::super) fn ensure() {}

    pub(in super::super) fn note_start(_: u32) {}

    pub(in super::super) fn note_end(_: u32) {}

    pub(crate) fn dismiss() {}

    pub fn watch(_: &str) {}
}
