//! The arithmetic without simulation: how long a run takes at least, and where more workers stop
//! helping.

use std::time::Duration;

use crate::scenario::{Scenario, Split, Throttle};

/// Each is the least time of a run if nothing else were slow. Times are in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// All cases one after another, over the slots.
    pub work: f64,
    /// What the provider lets pass.
    pub limit: f64,
    /// The processors of the workers.
    pub cpu: f64,
    /// Messages through the server.
    pub server: f64,
    /// Changes of the shared bucket, one per round trip.
    pub bucket: f64,
    /// Queueing all cases, or writing all rows, whichever is slower.
    pub coordinator: f64,
    /// Mean time that a case takes a slot, without waits.
    pub slot_time: f64,
    cases: f64,
    slots_per_worker: f64,
}

impl Bounds {
    pub fn of(scenario: &Scenario) -> Self {
        let work = &scenario.work;
        let cases = f64::from(scenario.cases);
        let is_queue = scenario.split == Split::Queue;
        let round_trip = if is_queue { scenario.server.round_trip.as_secs_f64() } else { 0.0 };
        let measured = work.measured.iter().sum::<Duration>().as_secs_f64();
        let call = match work.measured.len() {
            0 => work.call.as_secs_f64(),
            count => measured / count as f64,
        };
        let judge = work.judge.unwrap_or_default().as_secs_f64();
        let requests = if work.judge.is_some() { 2.0 } else { 1.0 };
        let has_tokens = scenario.limits.tokens_per_minute.is_some();
        let bucket_changes = requests * if has_tokens { 2.0 } else { 1.0 };
        let slot_time = call
            + judge
            + work.checks.as_secs_f64()
            + work.cpu.as_secs_f64()
            // Delivery, answer and row.
            + round_trip * 3.0;
        let slots = f64::from(scenario.workers) * f64::from(scenario.slots);
        let lease = scenario.lease.length.as_secs_f64() / f64::from(scenario.lease.renewals);
        let operations = 3.0 + 1.0 / f64::from(scenario.conversation) + slot_time / lease;
        let at_rate = |count: f64, rate: f64| if rate > 0.0 { count / rate } else { 0.0 };
        let per_minute =
            |count: f64, limit: Option<u64>| limit.map_or(0.0, |limit| count * 60.0 / limit as f64);
        let hosts = scenario.workers.div_ceil(scenario.workers_per_host);
        let is_shared = matches!(scenario.throttle, Throttle::Shared(_));
        let coordinator = &scenario.coordinator;
        Self {
            work: cases * slot_time / slots,
            limit: per_minute(cases * requests, scenario.limits.requests_per_minute).max(
                per_minute(
                    cases * requests * work.tokens as f64,
                    scenario.limits.tokens_per_minute,
                ),
            ),
            cpu: cases * work.cpu.as_secs_f64() / f64::from(hosts * scenario.cores),
            server: if is_queue {
                at_rate(cases * operations, scenario.server.operations_per_second)
            } else {
                0.0
            },
            bucket: if is_shared { cases * bucket_changes * round_trip } else { 0.0 },
            coordinator: at_rate(cases, coordinator.rows_per_second)
                .max(at_rate(cases, coordinator.queued_per_second)),
            slot_time,
            cases,
            slots_per_worker: f64::from(scenario.slots),
        }
    }

    /// The least time of a run, in seconds.
    pub fn makespan(&self) -> f64 {
        self.work.max(self.floor()).max(self.cpu)
    }

    /// What more workers cannot shorten.
    pub fn floor(&self) -> f64 {
        self.limit.max(self.server).max(self.bucket).max(self.coordinator)
    }

    /// With more workers than this a run is not faster; `None` if nothing but workers limits it.
    pub fn knee_workers(&self) -> Option<f64> {
        let floor = self.floor();
        (floor > 0.0).then(|| self.cases / floor * self.slot_time / self.slots_per_worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::RateLimits;

    #[test]
    fn the_knee_is_the_limit_times_the_time_of_a_case() {
        let scenario = Scenario { cases: 15_000, ..Scenario::default() }
            .with_shared_limits(RateLimits::requests(600));
        let bounds = Bounds::of(&scenario);
        assert_eq!(bounds.limit, 1_500.0);
        // Ten per second, each for a minute: 600 slots of 16 per worker.
        assert_eq!(bounds.knee_workers(), Some(37.5));
        assert_eq!(bounds.work, 5_625.0);
        assert_eq!(bounds.makespan(), 5_625.0);
    }

    #[test]
    fn judges_and_tokens_count_for_the_limit() {
        let limits = RateLimits { requests_per_minute: Some(600), tokens_per_minute: Some(60_000) };
        let mut scenario =
            Scenario { cases: 600, ..Scenario::default() }.with_shared_limits(limits);
        scenario.work.judge = Some(Duration::from_secs(3));
        assert_eq!(Bounds::of(&scenario).limit, 120.0);
        scenario.work.tokens = 1_000;
        assert_eq!(Bounds::of(&scenario).limit, 1_200.0);
    }

    #[test]
    fn without_limits_there_is_no_knee() {
        assert_eq!(Bounds::of(&Scenario::default()).knee_workers(), None);
    }
}
