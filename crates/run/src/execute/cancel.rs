//! Cancels a run: the first request lets running cases finish, the second stops them.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Cancel {
    asked: AtomicU8,
    changed: Notify,
}

impl Cancel {
    /// The first call prevents new cases from starting, the second stops running ones.
    pub(crate) fn ask(&self) {
        let asked = self.asked.load(Ordering::SeqCst).saturating_add(1);
        self.asked.store(asked, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst) >= 1
    }

    #[cfg(feature = "queue")]
    pub(crate) fn is_asked_twice(&self) -> bool {
        self.asked.load(Ordering::SeqCst) >= 2
    }

    /// Waits for the first request.
    #[cfg(feature = "queue")]
    pub(crate) async fn wait_for_first(&self) {
        self.wait_for(1).await;
    }

    /// Waits for the second request.
    pub(crate) async fn wait_for_second(&self) {
        self.wait_for(2).await;
    }

    async fn wait_for(&self, requests: u8) {
        loop {
            let changed = self.changed.notified();
            if self.asked.load(Ordering::SeqCst) >= requests {
                return;
            }
            changed.await;
        }
    }
}
