//! What is counted on the way, and the prediction made of it.

use std::time::Duration;

use crate::agenda::Event;
use crate::prediction::Prediction;

use super::Simulation;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseEnd {
    Graded,
    TimedOut,
    Refused,
    Lost,
}

/// Times are sums over slots.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) written: u32,
    most_written: Duration,
    graded: u32,
    timed_out: u32,
    refused_cases: u32,
    lost: u32,
    duplicates: u32,
    pub(super) calls: u64,
    pub(super) repeated: u64,
    pub(super) tokens: u64,
    pub(super) leases_lost: u32,
    pub(super) useful: Duration,
    pub(super) waiting: Duration,
    pub(super) wasted: Duration,
    pub(super) occupied: Duration,
}

impl Simulation<'_> {
    /// The first row of a case counts.
    pub(super) fn record_row(&mut self, case: u32, end: CaseEnd) {
        let state = &mut self.cases[case as usize];
        if state.is_done {
            self.tally.duplicates += 1;
            return;
        }
        state.is_done = true;
        let count = match end {
            CaseEnd::Graded => &mut self.tally.graded,
            CaseEnd::TimedOut => &mut self.tally.timed_out,
            CaseEnd::Refused => &mut self.tally.refused_cases,
            CaseEnd::Lost => &mut self.tally.lost,
        };
        *count += 1;
        let written = self.coordinator.pass(self.now + self.way, 1);
        self.agenda.plan(written, Event::Written);
    }

    pub(super) fn count_written(&mut self) {
        self.tally.written += 1;
        if u64::from(self.tally.written) * 100 <= u64::from(self.scenario.cases) * 99 {
            self.tally.most_written = self.now;
        }
    }

    pub(super) fn prediction(&self) -> Prediction {
        let tally = &self.tally;
        let makespan = self.now.as_secs_f64().max(1e-9);
        let slots = f64::from(self.scenario.workers) * f64::from(self.scenario.slots);
        let of_slots = |time: Duration| time.as_secs_f64() / (makespan * slots);
        let of_time = |time: Duration| time.as_secs_f64() / makespan;
        let limits = self.scenario.limits;
        let minutes = makespan / 60.0;
        let used =
            |amount: u64, limit: Option<u64>| Some(amount as f64 / (limit? as f64 * minutes));
        let requests = used(self.gate.accepted(), limits.requests_per_minute);
        let tokens = used(tally.tokens, limits.tokens_per_minute);
        let bucket_busy = self.buckets.iter().map(|bucket| bucket.store.busy()).max();
        Prediction {
            makespan,
            most_rows: tally.most_written.as_secs_f64(),
            graded: tally.graded,
            timed_out: tally.timed_out,
            refused_cases: tally.refused_cases,
            lost_cases: tally.lost,
            duplicate_rows: tally.duplicates,
            calls: tally.calls,
            repeated_calls: tally.repeated,
            refused_requests: self.gate.refused(),
            leases_lost: tally.leases_lost,
            busy_share: of_slots(tally.useful),
            waiting_share: of_slots(tally.waiting),
            wasted_share: of_slots(tally.wasted),
            idle_share: (1.0 - of_slots(tally.occupied)).max(0.0),
            limit_share: requests.into_iter().chain(tokens).reduce(f64::max),
            busiest_minute: limits
                .requests_per_minute
                .map(|limit| self.gate.busiest_minute() as f64 / limit as f64),
            server_share: of_time(self.server.busy()),
            bucket_share: of_time(bucket_busy.unwrap_or_default()),
            coordinator_share: of_time(self.coordinator.busy()),
            worker_hours: makespan * f64::from(self.scenario.workers) / 3600.0,
        }
    }
}
