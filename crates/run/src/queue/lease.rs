//! The lease of a chain: for how long this worker may believe that the chain is its own. The server
//! gives the chain to another worker when it has not heard of this one for the time of a lease.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use async_nats::jetstream::{AckKind, Message};
use tokio::task::JoinHandle;

use crate::lock::locked;

/// Renewals in the time of a lease.
const RENEWALS: u32 = 3;

#[derive(Debug)]
struct LeaseTime {
    length: Duration,
    /// When the server last heard of this worker, at the latest. Both clocks: one may stand still
    /// while the machine sleeps.
    heard: Mutex<(Instant, SystemTime)>,
    is_lost: AtomicBool,
}

impl LeaseTime {
    /// Whether the chain is still this worker's. Once lost, it stays lost.
    fn is_held(&self) -> bool {
        let (instant, time) = *locked(&self.heard);
        let by_clock = time.elapsed().unwrap_or_default();
        if instant.elapsed().max(by_clock) >= self.length {
            self.is_lost.store(true, Ordering::SeqCst);
        }
        !self.is_lost.load(Ordering::SeqCst)
    }

    fn renew(&self, at: (Instant, SystemTime)) {
        *locked(&self.heard) = at;
    }
}

/// Renewed until it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    time: Arc<LeaseTime>,
    renewing: JoinHandle<()>,
}

impl Lease {
    /// `asked` is when the server was asked for the message, which is before it gave it away.
    pub(super) fn new(
        message: Arc<Message>,
        length: Duration,
        asked: (Instant, SystemTime),
    ) -> Self {
        let heard = Mutex::new(asked);
        let time = Arc::new(LeaseTime { length, heard, is_lost: AtomicBool::new(false) });
        let renewed = Arc::clone(&time);
        let renewing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(length / RENEWALS).await;
                let now = (Instant::now(), SystemTime::now());
                // A process that was stopped must not take back what is another's.
                if !renewed.is_held() {
                    return;
                }
                if message.double_ack_with(AckKind::Progress).await.is_ok() {
                    renewed.renew(now);
                }
            }
        });
        Self { time, renewing }
    }

    pub(super) fn is_held(&self) -> bool {
        self.time.is_held()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_was_lost_stays_lost() {
        let ago = |seconds| {
            let before = Duration::from_secs(seconds);
            (Instant::now().checked_sub(before).unwrap(), SystemTime::now() - before)
        };
        let length = Duration::from_secs(30);
        let time =
            LeaseTime { length, heard: Mutex::new(ago(29)), is_lost: AtomicBool::new(false) };
        assert!(time.is_held());
        time.renew((ago(0).0, ago(31).1));
        assert!(!time.is_held());
        time.renew(ago(0));
        assert!(!time.is_held());
    }
}
