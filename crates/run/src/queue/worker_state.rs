//! What a worker counts, and its metrics as Prometheus text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use evalrig_core::model::Outcome;

use crate::lock::locked;
use crate::rate::WAITS;

use super::full_disk::FullDisk;

#[derive(Debug, Default)]
pub(super) struct WorkerState {
    pub(super) slots: usize,
    pub(super) running: AtomicUsize,
    pub(super) leases: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) redeliveries: AtomicU64,
    pub(super) is_draining: AtomicBool,
    pub(super) disk: FullDisk,
    cases: Mutex<BTreeMap<&'static str, u64>>,
    /// By run and class.
    pending: Mutex<BTreeMap<(String, usize), u64>>,
}

impl WorkerState {
    pub(super) fn new(slots: usize) -> Self {
        Self { slots, ..Self::default() }
    }

    pub(super) fn count(&self, outcome: Outcome) {
        *locked(&self.cases).entry(outcome.word()).or_default() += 1;
        self.disk.clear(Instant::now());
    }

    pub(super) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Whether cases are taken, as far as it is up to this worker.
    pub(super) fn is_ready(&self) -> bool {
        !self.is_draining() && !self.disk.is_full()
    }

    /// How many chains wait on the server, as it said last.
    pub(super) fn set_pending(&self, run: &str, class: usize, count: u64) {
        locked(&self.pending).insert((run.to_owned(), class), count);
    }

    pub(super) fn forget_run(&self, run: &str) {
        locked(&self.pending).retain(|(known, _), _| known != run);
    }

    pub(super) fn metrics(&self) -> String {
        let mut text = String::new();
        let head = |name: &str, kind: &str, help: &str| {
            format!("# HELP {name} {help}\n# TYPE {name} {kind}\n")
        };
        text += &head("evalrig_worker_cases_total", "counter", "Cases with a row, by outcome.");
        for (outcome, count) in &*locked(&self.cases) {
            let _ = writeln!(text, "evalrig_worker_cases_total{{outcome=\"{outcome}\"}} {count}");
        }
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed).to_string();
        let seconds = WAITS.milliseconds.load(Ordering::Relaxed) as f64 / 1000.0;
        let pending: u64 = locked(&self.pending).values().sum();
        let draining = u8::from(self.is_draining());
        let full = u8::from(self.disk.is_full());
        for (name, kind, help, value) in [
            (
                "evalrig_worker_chains_running",
                "gauge",
                "Chains of cases that run now.",
                self.running.load(Ordering::Relaxed).to_string(),
            ),
            (
                "evalrig_worker_slots",
                "gauge",
                "Chains that may run at the same time.",
                self.slots.to_string(),
            ),
            (
                "evalrig_worker_leases_total",
                "counter",
                "Chains taken from the queue.",
                of(&self.leases),
            ),
            (
                "evalrig_worker_leases_lost_total",
                "counter",
                "Leases that ended before their chain did.",
                of(&self.lost),
            ),
            (
                "evalrig_worker_redeliveries_total",
                "counter",
                "Chains that another worker had taken before.",
                of(&self.redeliveries),
            ),
            (
                "evalrig_worker_rate_waits_total",
                "counter",
                "Requests that waited for the rate of their target.",
                of(&WAITS.count),
            ),
            (
                "evalrig_worker_rate_wait_seconds_total",
                "counter",
                "Time that requests waited for the rate of their target.",
                format!("{seconds:.3}"),
            ),
            ("evalrig_worker_draining", "gauge", "1 after SIGTERM.", draining.to_string()),
            (
                "evalrig_worker_disk_full",
                "gauge",
                "1 while no case is taken because the disk is full.",
                full.to_string(),
            ),
            (
                "evalrig_queue_pending",
                "gauge",
                "Chains that wait on the server, as last seen.",
                pending.to_string(),
            ),
        ] {
            text += &head(name, kind, help);
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_prometheus_text() {
        let state = WorkerState::new(16);
        state.count(Outcome::Passed);
        state.count(Outcome::Passed);
        state.count(Outcome::Failed);
        state.leases.fetch_add(3, Ordering::Relaxed);
        state.set_pending("r", 0, 7);
        state.set_pending("other", 0, 9);
        state.forget_run("other");
        let text = state.metrics();
        for line in [
            "# TYPE evalrig_worker_cases_total counter",
            "evalrig_worker_cases_total{outcome=\"passed\"} 2",
            "evalrig_worker_cases_total{outcome=\"failed\"} 1",
            "evalrig_worker_slots 16",
            "evalrig_worker_leases_total 3",
            "evalrig_worker_draining 0",
            "evalrig_queue_pending 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
