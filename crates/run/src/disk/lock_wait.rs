//! Waits for a lock that another process holds, for some time and no longer.

use std::fs::TryLockError;
use std::thread;
use std::time::{Duration, Instant};

/// How long a lock is waited for, and how long between two attempts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LockWait {
    pub(crate) patience: Duration,
    pub(crate) pause: Duration,
}

impl LockWait {
    /// Blocks the thread. Returns what the last attempt did: [`TryLockError::WouldBlock`] if the lock was
    /// held all the time.
    pub(crate) fn block(
        self,
        try_lock: impl Fn() -> Result<(), TryLockError>,
    ) -> Result<(), TryLockError> {
        let begun = Instant::now();
        loop {
            match try_lock() {
                Err(TryLockError::WouldBlock) if begun.elapsed() < self.patience => {
                    thread::sleep(self.pause);
                }
                ended => return ended,
            }
        }
    }

    /// The same without blocking the thread.
    pub(crate) async fn wait(
        self,
        try_lock: impl Fn() -> Result<(), TryLockError>,
    ) -> Result<(), TryLockError> {
        // The time itself, because a sleep may take far longer than it was asked to.
        let begun = tokio::time::Instant::now();
        loop {
            match try_lock() {
                Err(TryLockError::WouldBlock) if begun.elapsed() < self.patience => {
                    tokio::time::sleep(self.pause).await;
                }
                ended => return ended,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;

    use super::*;

    const WAIT: LockWait =
        LockWait { patience: Duration::from_millis(20), pause: Duration::from_millis(1) };

    #[test]
    fn a_lock_is_waited_for_until_the_time_is_over() {
        let attempts = Cell::new(0);
        let third = || {
            attempts.set(attempts.get() + 1);
            if attempts.get() < 3 { Err(TryLockError::WouldBlock) } else { Ok(()) }
        };
        assert!(WAIT.block(third).is_ok());
        assert_eq!(attempts.get(), 3);
        let begun = Instant::now();
        let held = WAIT.block(|| Err(TryLockError::WouldBlock));
        assert!(matches!(held, Err(TryLockError::WouldBlock)));
        assert!(begun.elapsed() >= WAIT.patience);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_attempts_do_not_make_the_wait_longer() {
        let begun = tokio::time::Instant::now();
        // As on a machine that is busy: every sleep takes a hundred times as long.
        let slow = LockWait { pause: Duration::from_millis(100), ..WAIT };
        let held = slow.wait(|| Err(TryLockError::WouldBlock)).await;
        assert!(matches!(held, Err(TryLockError::WouldBlock)));
        assert!(begun.elapsed() < Duration::from_millis(200), "{:?}", begun.elapsed());
    }

    #[test]
    fn an_error_is_not_waited_for() {
        let broken = || Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        assert!(matches!(WAIT.block(broken), Err(TryLockError::Error(_))));
    }
}
