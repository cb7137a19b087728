//! A worker whose disk is full: it takes no cases for a while, and is not ready before one ends well.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::locked;

/// Until the disk is tried again, first and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
struct DiskPause {
    until: Instant,
    length: Duration,
}

#[derive(Debug, Default)]
pub(super) struct FullDisk(Mutex<Option<DiskPause>>);

impl FullDisk {
    /// A case could not be run for lack of space. Returns whether that is new.
    pub(super) fn note(&self, now: Instant) -> bool {
        let mut pause = locked(&self.0);
        let length = match *pause {
            None => FIRST_PAUSE,
            // Cases that ran at the same time.
            Some(known) if now < known.until => return false,
            Some(known) => (known.length * 2).min(LONGEST_PAUSE),
        };
        let is_new = pause.is_none();
        *pause = Some(DiskPause { until: now + length, length });
        is_new
    }

    /// A case ended with a row. Those that began before the disk was full say nothing about it.
    pub(super) fn clear(&self, now: Instant) {
        let mut pause = locked(&self.0);
        if pause.is_some_and(|known| now >= known.until) {
            *pause = None;
        }
    }

    pub(super) fn is_full(&self) -> bool {
        locked(&self.0).is_some()
    }

    /// How long no case is to be taken.
    pub(super) fn pause(&self, now: Instant) -> Option<Duration> {
        let left = (*locked(&self.0))?.until.saturating_duration_since(now);
        Some(left).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_tried_again_after_longer_and_longer_pauses() {
        let (disk, start) = (FullDisk::default(), Instant::now());
        assert!(disk.note(start) && !disk.note(start) && disk.is_full());
        assert_eq!(disk.pause(start), Some(FIRST_PAUSE));
        let later = start + FIRST_PAUSE;
        assert_eq!(disk.pause(later), None);
        assert!(!disk.note(later));
        assert_eq!(disk.pause(later), Some(FIRST_PAUSE * 2));
        disk.clear(later);
        assert!(disk.is_full());
        disk.clear(later + FIRST_PAUSE * 2);
        assert!(!disk.is_full() && disk.note(later));
    }
}
