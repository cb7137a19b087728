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

    /// Waits for the second request.
    pub(crate) async fn wait_for_second(&self) {
        loop {
            let changed = self.changed.notified();
            if self.asked.load(Ordering::SeqCst) >= 2 {
                return;
            }
            changed.await;
        }
    }
}
