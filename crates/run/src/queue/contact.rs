//! Whether the coordinator hears the workers of its run. Only while it does, a class of cases that no worker
//! takes is one that no worker can run.

use std::time::{Duration, Instant};

use super::waiting::SILENT;

/// Looks come more often. After a longer pause this process was stopped, or the server did not answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct WorkerContact {
    last_look: Instant,
    /// When workers could last not be heard.
    lost: Option<Instant>,
}

impl WorkerContact {
    pub(super) fn new(now: Instant) -> Self {
        Self { last_look: now, lost: None }
    }

    /// Whether every worker that is there has given a sign, if it could.
    pub(super) fn has_heard_all(&mut self, now: Instant, is_reachable: bool) -> bool {
        let was_paused = now.saturating_duration_since(self.last_look) > LONGEST_PAUSE;
        self.last_look = now;
        if was_paused || !is_reachable {
            self.lost = Some(now);
        }
        self.lost.is_none_or(|lost| now.saturating_duration_since(lost) > SILENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_time_to_give_signs_after_an_outage() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut contact = WorkerContact::new(start);
        assert!(contact.has_heard_all(at(1), true));
        for second in 2..100 {
            assert!(!contact.has_heard_all(at(second), false), "{second}");
        }
        let heard: Vec<u64> =
            (100..130).filter(|second| contact.has_heard_all(at(*second), true)).collect();
        assert_eq!(heard, (120..130).collect::<Vec<u64>>());
    }

    #[test]
    fn a_pause_is_an_outage() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut contact = WorkerContact::new(start);
        assert!(contact.has_heard_all(at(5), true));
        // A server that hangs keeps its connection, and a request takes ten seconds.
        assert!(!contact.has_heard_all(at(15), true));
    }
}
