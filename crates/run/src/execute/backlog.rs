//! Rows on their way to the disk, counted, so that memory does not grow while the disk is slow.

use std::sync::atomic::{AtomicIsize, Ordering};

use tokio::sync::Notify;

/// Rows that may wait for the disk before no further case is begun. Enough for long batches, and
/// so few that a slow disk does not fill the memory.
const MOST_ON_THE_WAY: isize = 1024;

/// How many rows are not safe yet.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    rows: AtomicIsize,
    fell: Notify,
}

impl Backlog {
    pub(super) fn add(&self) {
        self.rows.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn take(&self) {
        if self.rows.fetch_sub(1, Ordering::SeqCst) == MOST_ON_THE_WAY {
            self.fell.notify_waiters();
        }
    }

    /// For whoever takes rows: without them nobody would take any, and workers wait for ever.
    pub(super) fn lifted_at_the_end(&self) -> BacklogLift<'_> {
        BacklogLift(self)
    }

    /// From now on nobody waits.
    fn lift(&self) {
        self.rows.store(isize::MIN / 2, Ordering::SeqCst);
        self.fell.notify_waiters();
    }

    /// CaseDone when another case may begin. Rows of cases that have begun are never kept waiting.
    pub(super) async fn room(&self) {
        loop {
            let fell = self.fell.notified();
            if self.rows.load(Ordering::SeqCst) < MOST_ON_THE_WAY {
                return;
            }
            fell.await;
        }
    }
}

/// Lifts the limit when it is dropped, also by a panic.
#[derive(Debug)]
pub(super) struct BacklogLift<'a>(&'a Backlog);

impl Drop for BacklogLift<'_> {
    fn drop(&mut self) {
        self.0.lift();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn full() -> Backlog {
        let backlog = Backlog::default();
        (0..MOST_ON_THE_WAY).for_each(|_| backlog.add());
        backlog
    }

    #[test]
    fn cases_wait_until_a_row_is_safe() {
        let backlog = full();
        let mut room = Box::pin(backlog.room());
        assert!(room.as_mut().now_or_never().is_none());
        backlog.take();
        assert!(room.now_or_never().is_some());
    }

    #[test]
    fn nobody_waits_for_one_who_takes_no_rows_any_more() {
        let backlog = full();
        let mut room = Box::pin(backlog.room());
        assert!(room.as_mut().now_or_never().is_none());
        drop(backlog.lifted_at_the_end());
        assert!(room.now_or_never().is_some());
        backlog.add();
        backlog.take();
        assert!(backlog.room().now_or_never().is_some());
    }
}
