//! The limit of open files: raised for a run, and divided among workers and drafts of the run log. A
//! program or connection that finds no free descriptor waits for one.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What the results, reports and the runtime may still open once a run has begun.
const RESERVE: usize = 16;

/// What a worker needs: three pipes and a handle for its program, and twice the pipes while it starts.
const PER_WORKER: usize = 8;

/// Without a limit that can be read.
const UNLIMITED: usize = 1 << 20;

/// The share of the free descriptors that drafts may take.
const DRAFT_SHARE: usize = 4;

/// How long to wait for a free descriptor before the run stops.
const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Why a run stops if waiting does not help.
pub(crate) const EXHAUSTED: &str =
    "too many open files; raise the limit with `ulimit -n`, or use fewer `--workers`";

/// Set once a wait was in vain.
static IS_EXHAUSTED: AtomicBool = AtomicBool::new(false);

/// How many files a run may keep open, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DescriptorBudget {
    pub(crate) workers: usize,
    /// Drafts of the run log at the same time.
    pub(crate) drafts: usize,
}

impl DescriptorBudget {
    /// For a process that has opened its results and reports.
    pub(crate) fn now() -> Self {
        Self::of(limit(), open_count())
    }

    fn of(limit: usize, open: usize) -> Self {
        let free = limit.saturating_sub(open + RESERVE);
        let drafts = (free / DRAFT_SHARE).max(1);
        Self { drafts, workers: (free.saturating_sub(drafts) / PER_WORKER).max(1) }
    }
}

/// Waits between attempts to get a descriptor.
#[derive(Debug)]
pub(crate) struct DescriptorWait {
    next: Duration,
    waited: Duration,
}

impl DescriptorWait {
    pub(crate) fn new() -> Self {
        Self { next: FIRST_WAIT, waited: Duration::ZERO }
    }

    /// Waits a little; false if that was done for too long.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.waited >= PATIENCE || is_exhausted() {
            return false;
        }
        tokio::time::sleep(self.next).await;
        self.waited += self.next;
        self.next = (self.next * 2).min(LONGEST_WAIT);
        true
    }
}

/// Stops the run, whose errored cases then count as not run.
pub(crate) fn note_exhaustion() {
    IS_EXHAUSTED.store(true, Ordering::SeqCst);
}

/// Whether a wait for a descriptor was in vain.
pub(crate) fn is_exhausted() -> bool {
    IS_EXHAUSTED.load(Ordering::SeqCst)
}

#[cfg(unix)]
mod unix {
    use std::sync::OnceLock;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    /// The limits before they were raised.
    static ORIGINAL: OnceLock<Rlimit> = OnceLock::new();

    /// More than macOS allows, whose hard limit is "unlimited".
    const MOST: u64 = 10_240;

    /// Raises the limit as far as the system allows.
    pub(crate) fn raise_limit() {
        let original = getrlimit(Resource::Nofile);
        let hard = original.maximum.unwrap_or(MOST);
        if original.current.is_none_or(|soft| soft >= hard) || ORIGINAL.get().is_some() {
            return;
        }
        let raised = Rlimit { current: Some(hard), maximum: original.maximum };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            let _ = ORIGINAL.set(original);
        }
    }

    pub(super) fn limit() -> usize {
        let soft = getrlimit(Resource::Nofile).current;
        soft.and_then(|soft| usize::try_from(soft).ok())
            .map_or(UNLIMITED, |soft| soft.min(UNLIMITED))
    }

    /// Gives a program the limit that it would have had without us: one that uses `select` or closes
    /// every possible descriptor cannot cope with a high one.
    #[cfg(target_os = "linux")]
    pub(crate) fn restore_limit(program: u32) {
        let pid = i32::try_from(program).ok().and_then(rustix::process::Pid::from_raw);
        if let (Some(pid), Some(original)) = (pid, ORIGINAL.get()) {
            let original = Rlimit { current: original.current, maximum: original.maximum };
            rustix::process::prlimit(Some(pid), Resource::Nofile, original).ok();
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn restore_limit(_: u32) {}

    /// Whether an operation failed for lack of a descriptor, in this process or in the system.
    pub(crate) fn is_missing_descriptor(error: &io::Error) -> bool {
        use rustix::io::Errno;
        let errno = Errno::from_io_error(error);
        matches!(errno, Some(Errno::MFILE | Errno::NFILE))
    }
}

#[cfg(not(unix))]
mod unix {
    use super::*;

    pub(crate) fn raise_limit() {}

    pub(super) fn limit() -> usize {
        UNLIMITED
    }

    pub(crate) fn restore_limit(_: u32) {}

    pub(crate) fn is_missing_descriptor(_: &io::Error) -> bool {
        false
    }
}

use unix::limit;
pub(crate) use unix::{is_missing_descriptor, raise_limit, restore_limit};

/// How many files are open; a guess where the system does not say.
fn open_count() -> usize {
    std::fs::read_dir("/dev/fd").map_or(RESERVE, |open| open.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_and_drafts_fit_into_the_limit() {
        for limit in 0..3000 {
            let budget = DescriptorBudget::of(limit, 20);
            let used = 20 + RESERVE + budget.drafts + budget.workers * PER_WORKER;
            let least = 20 + RESERVE + budget.drafts + PER_WORKER;
            assert!(used <= limit.max(least), "{limit}: {budget:?}");
            assert!(budget.workers > 0 && budget.drafts > 0);
        }
        let usual = DescriptorBudget::of(1024, 20);
        assert_eq!(usual, DescriptorBudget { workers: 92, drafts: 247 });
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_has_an_end() {
        let mut wait = DescriptorWait::new();
        let mut rounds = 0;
        while wait.wait().await {
            rounds += 1;
        }
        assert!((30..50).contains(&rounds), "{rounds}");
    }
}
