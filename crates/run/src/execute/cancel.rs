//! Stopping: once lets what runs finish, twice does not.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub struct Cancel {
    asked: AtomicU8,
    changed: Notify,
}

impl Cancel {
    /// The first call keeps new cases from starting, the second ends those that run.
    pub fn ask(&self) {
        let asked = self.asked.load(Ordering::SeqCst).saturating_add(1);
        self.asked.store(asked, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst) >= 1
    }

    /// CaseDone when everything must end at once.
    pub async fn at_once(&self) {
        loop {
            let changed = self.changed.notified();
            if self.asked.load(Ordering::SeqCst) >= 2 {
                return;
            }
            changed.await;
        }
    }
}
