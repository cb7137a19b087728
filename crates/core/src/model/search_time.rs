//! How long pattern searches and schema validations of a case may take together (spec 7.10). The
//! clock is the caller's, because the core has none.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time that is left to a case.
#[derive(Debug)]
pub struct SearchTime {
    /// The time since any moment.
    clock: fn() -> Duration,
    left_nanoseconds: AtomicU64,
}

impl SearchTime {
    /// For all searches of a case.
    pub const LIMIT: Duration = Duration::from_secs(10);

    pub fn new(clock: fn() -> Duration) -> Self {
        let limit = u64::try_from(Self::LIMIT.as_nanos()).unwrap_or(u64::MAX);
        Self { clock, left_nanoseconds: AtomicU64::new(limit) }
    }

    /// For a search that belongs to no case.
    pub(crate) fn of_one_search() -> Self {
        Self::new(|| Duration::ZERO)
    }

    /// `None` once the time is used up.
    pub(crate) fn left(&self) -> Option<Duration> {
        match self.left_nanoseconds.load(Ordering::Relaxed) {
            0 => None,
            left => Some(Duration::from_nanos(left)),
        }
    }

    /// Takes the time of a search away.
    pub(crate) fn measure<T>(&self, search: impl FnOnce() -> T) -> T {
        let begun = (self.clock)();
        let found = search();
        let taken = (self.clock)().saturating_sub(begun).as_nanos();
        let taken = u64::try_from(taken).unwrap_or(u64::MAX);
        let left = self.left_nanoseconds.load(Ordering::Relaxed);
        self.left_nanoseconds.store(left.saturating_sub(taken), Ordering::Relaxed);
        found
    }
}
