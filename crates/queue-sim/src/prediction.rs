//! What a simulation found.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::duration_text::rounded;

/// All times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// Until the last row was written.
    pub makespan: f64,
    /// Until 99 % of the rows were written.
    pub most_rows: f64,
    /// Cases with a row of their own.
    pub graded: u32,
    pub timed_out: u32,
    /// Errored because the provider refused every attempt.
    pub refused_cases: u32,
    /// Errored because too many workers died with them.
    pub lost_cases: u32,
    /// Rows beyond the first of a case.
    pub duplicate_rows: u32,
    /// Calls for answers that the provider accepted.
    pub calls: u64,
    /// Of these, calls for a case that had been called for before.
    pub repeated_calls: u64,
    /// Requests that the provider refused.
    pub refused_requests: u64,
    pub leases_lost: u32,
    /// Share of the time of all slots that was spent in calls and checks which counted.
    pub busy_share: f64,
    /// Share of the time of all slots that was spent waiting for the limit.
    pub waiting_share: f64,
    /// Share of the time of all slots that was spent in calls which did not count.
    pub wasted_share: f64,
    /// Share of the time of all slots in which there was no case for them.
    pub idle_share: f64,
    /// Accepted requests, relative to what the limit allows within the makespan.
    pub limit_share: Option<f64>,
    /// Accepted requests in the busiest minute, relative to the limit.
    pub busiest_minute: Option<f64>,
    /// Share of the time in which each of these was at work.
    pub server_share: f64,
    pub bucket_share: f64,
    pub coordinator_share: f64,
    /// Time for which workers were paid.
    pub worker_hours: f64,
}

impl Prediction {
    /// Cases that have no verdict.
    pub fn errored(&self) -> u32 {
        self.timed_out + self.refused_cases + self.lost_cases
    }
}

pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

pub(crate) fn seconds(seconds: f64) -> String {
    rounded(Duration::from_secs_f64(seconds))
}

impl fmt::Display for Prediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: String| writeln!(f, "{name:<26} {value}");
        line("makespan", seconds(self.makespan))?;
        line("99 % of the rows after", seconds(self.most_rows))?;
        line("worker hours", format!("{:.1}", self.worker_hours))?;
        line("slots: busy", percent(self.busy_share))?;
        line("slots: waiting for limit", percent(self.waiting_share))?;
        line("slots: wasted calls", percent(self.wasted_share))?;
        line("slots: without a case", percent(self.idle_share))?;
        if let (Some(used), Some(busiest)) = (self.limit_share, self.busiest_minute) {
            line("limit used", percent(used))?;
            line("busiest minute", format!("{} of the limit", percent(busiest)))?;
        }
        line("calls", self.calls.to_string())?;
        line("calls repeated", self.repeated_calls.to_string())?;
        line("requests refused", self.refused_requests.to_string())?;
        line("leases lost", self.leases_lost.to_string())?;
        line("cases graded", self.graded.to_string())?;
        line("cases errored: timeout", self.timed_out.to_string())?;
        line("cases errored: refused", self.refused_cases.to_string())?;
        line("cases errored: lost worker", self.lost_cases.to_string())?;
        line("duplicate rows", self.duplicate_rows.to_string())?;
        line("server at work", percent(self.server_share))?;
        line("bucket at work", percent(self.bucket_share))?;
        line("coordinator at work", percent(self.coordinator_share))
    }
}
