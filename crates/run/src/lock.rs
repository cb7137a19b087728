//! Locks a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ignores poisoning. Callers keep the guarded value consistent even if they panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
