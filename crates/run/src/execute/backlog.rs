//! Counts rows that are not on disk yet, so that a slow disk does not fill the memory.

use std::sync::atomic::{AtomicIsize, Ordering};

use tokio::sync::Notify;

/// No further case starts while this many rows wait for the disk. Large enough for long batches.
const MOST_WAITING: isize = 1024;

/// The number of rows that are not on disk yet.
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
        let before = self.rows.fetch_sub(1, Ordering::SeqCst);
        if before == MOST_WAITING || before == 1 {
            self.fell.notify_waiters();
        }
    }

    /// A guard for the consumer of rows. It lifts the limit when the consumer ends, so that workers
    /// cannot deadlock.
    pub(super) fn lift_on_drop(&self) -> BacklogLift<'_> {
        BacklogLift(self)
    }

    /// Workers no longer wait.
    fn lift(&self) {
        self.rows.store(isize::MIN / 2, Ordering::SeqCst);
        self.fell.notify_waiters();
    }

    /// Waits until every row is on disk and was reported.
    pub(super) async fn wait_until_empty(&self) {
        self.wait_for_fewer(1).await;
    }

    /// Waits until another case may start. Rows of started cases are always accepted.
    pub(super) async fn wait_for_room(&self) {
        self.wait_for_fewer(MOST_WAITING).await;
    }

    async fn wait_for_fewer(&self, count: isize) {
        loop {
            let fell = self.fell.notified();
            if self.rows.load(Ordering::SeqCst) < count {
                return;
            }
            fell.await;
        }
    }
}

/// Lifts the limit when dropped, even by a panic.
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
        (0..MOST_WAITING).for_each(|_| backlog.add());
        backlog
    }

    #[test]
    fn cases_wait_until_a_row_is_on_disk() {
        let backlog = full();
        let mut room = Box::pin(backlog.wait_for_room());
        assert!(room.as_mut().now_or_never().is_none());
        backlog.take();
        assert!(room.now_or_never().is_some());
    }

    #[test]
    fn a_round_ends_when_every_row_was_reported() {
        let backlog = Backlog::default();
        assert!(backlog.wait_until_empty().now_or_never().is_some());
        backlog.add();
        backlog.add();
        let mut empty = Box::pin(backlog.wait_until_empty());
        assert!(empty.as_mut().now_or_never().is_none());
        backlog.take();
        assert!(empty.as_mut().now_or_never().is_none());
        backlog.take();
        assert!(empty.now_or_never().is_some());
    }

    #[test]
    fn workers_do_not_wait_after_the_consumer_ended() {
        let backlog = full();
        let mut room = Box::pin(backlog.wait_for_room());
        assert!(room.as_mut().now_or_never().is_none());
        drop(backlog.lift_on_drop());
        assert!(room.now_or_never().is_some());
        backlog.add();
        backlog.take();
        assert!(backlog.wait_for_room().now_or_never().is_some());
    }
}
