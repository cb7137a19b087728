//! What is simulated: the cases, the workers, the services they use, and what goes wrong.

use std::time::Duration;

use crate::rate::RateLimits;
use crate::spread::Spread;

/// How cases reach workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Every worker takes the next case that waits.
    Queue,
    /// Each machine has a fixed share of the cases, as with `--shard`, and resumes it after a crash.
    Shards,
}

/// What keeps workers below the limits of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throttle {
    /// Each worker finds out by being refused.
    None,
    /// `rate` of a target: one bucket for all workers.
    Shared(RateLimits),
    /// Each worker keeps to an equal share of these limits.
    Divided(RateLimits),
}

/// What a case takes.
#[derive(Debug, Clone)]
pub struct CaseWork {
    /// Mean time of the call that gives the answer.
    pub call: Duration,
    pub spread: Spread,
    /// Times of calls that were measured, in the order of the cases. In place of mean and spread.
    pub measured: Vec<Duration>,
    /// A longer call is errored.
    pub timeout: Option<Duration>,
    /// Mean tokens of a call; they are spread log-normally (sigma 0.5).
    pub tokens: u64,
    /// Time of checks on the worker.
    pub checks: Duration,
    /// Mean time of a judge's call, which counts for the same limits.
    pub judge: Option<Duration>,
    /// Work of the worker's own processor.
    pub cpu: Duration,
    /// Further attempts after a refusal.
    pub retries: u32,
}

/// What a service does to one worker at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedFault {
    pub worker: u32,
    pub at: Duration,
    pub kind: WorkerFault,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerFault {
    /// The process is gone, and another one starts later.
    Killed,
    /// The process stops and continues later, knowing nothing of it.
    Frozen,
}

/// How workers fail.
#[derive(Debug, Clone)]
pub struct WorkerFaults {
    /// Mean time between the faults of one worker.
    pub mean_time_between: Option<Duration>,
    /// Share of faults that are freezes.
    pub frozen: f64,
    /// From a fault until the worker works again.
    pub restart: Duration,
    pub planned: Vec<PlannedFault>,
}

/// How the queue notices that a worker is gone.
#[derive(Debug, Clone)]
pub struct Lease {
    pub length: Duration,
    /// Renewals per lease.
    pub renewals: u32,
    /// A case that is delivered more often is errored.
    pub deliveries: u32,
}

/// The NATS server, and the way to it.
#[derive(Debug, Clone)]
pub struct ServerSpeed {
    pub round_trip: Duration,
    /// Messages stored or delivered; 0 is without limit.
    pub operations_per_second: f64,
}

/// The process that queues cases and writes rows.
#[derive(Debug, Clone)]
pub struct CoordinatorSpeed {
    /// 0 is without limit.
    pub queued_per_second: f64,
    /// 0 is without limit.
    pub rows_per_second: f64,
    /// When it is away, and until when. Rows wait in the queue meanwhile.
    pub outages: Vec<(Duration, Duration)>,
}

/// Everything about a run.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub seed: u64,
    pub split: Split,
    pub workers: u32,
    /// Cases at once per worker.
    pub slots: u32,
    /// Workers start one after another within this time.
    pub ramp: Duration,
    /// Workers that share the cores of one machine, and how many cores it has.
    pub workers_per_host: u32,
    pub cores: u32,
    pub cases: u32,
    /// Cases that one worker runs in order.
    pub conversation: u32,
    pub work: CaseWork,
    pub limits: RateLimits,
    /// The provider lets pass at once what flows in within this time.
    pub burst: Duration,
    pub throttle: Throttle,
    pub faults: WorkerFaults,
    pub lease: Lease,
    pub server: ServerSpeed,
    pub coordinator: CoordinatorSpeed,
}

impl Default for Scenario {
    /// Nothing is limited and nothing fails.
    fn default() -> Self {
        Self {
            seed: 1,
            split: Split::Queue,
            workers: 10,
            slots: 16,
            ramp: Duration::ZERO,
            workers_per_host: 1,
            cores: 1,
            cases: 10_000,
            conversation: 1,
            work: CaseWork {
                call: Duration::from_secs(60),
                spread: Spread::LogNormal(1.0),
                measured: Vec::new(),
                timeout: None,
                tokens: 0,
                checks: Duration::ZERO,
                judge: None,
                cpu: Duration::ZERO,
                retries: 2,
            },
            limits: RateLimits::NONE,
            burst: Duration::from_secs(10),
            throttle: Throttle::None,
            faults: WorkerFaults {
                mean_time_between: None,
                frozen: 0.0,
                restart: Duration::from_secs(60),
                planned: Vec::new(),
            },
            lease: Lease { length: Duration::from_secs(30), renewals: 3, deliveries: 6 },
            server: ServerSpeed { round_trip: Duration::ZERO, operations_per_second: 0.0 },
            coordinator: CoordinatorSpeed {
                queued_per_second: 0.0,
                rows_per_second: 0.0,
                outages: Vec::new(),
            },
        }
    }
}

/// The most slots, and the most cases.
const MOST: u64 = 10_000_000;

impl Scenario {
    /// The limits of the provider, shared by all workers as `rate`.
    #[must_use]
    pub fn with_shared_limits(mut self, limits: RateLimits) -> Self {
        self.limits = limits;
        self.throttle = Throttle::Shared(limits);
        self
    }

    /// Fails with the reason why this cannot be simulated.
    pub fn check(&self) -> Result<(), String> {
        let counts = [
            (self.workers, "workers"),
            (self.slots, "slots"),
            (self.cases, "cases"),
            (self.conversation, "conversation"),
            (self.workers_per_host, "workers-per-host"),
            (self.cores, "cores"),
            (self.lease.deliveries, "deliveries"),
            (self.lease.renewals, "renewals"),
        ];
        if let Some((_, name)) = counts.into_iter().find(|(count, _)| *count == 0) {
            return Err(format!("`{name}` must be at least 1"));
        }
        let slots = u64::from(self.workers) * u64::from(self.slots);
        if slots > MOST || u64::from(self.cases) > MOST {
            return Err(format!("at most {MOST} cases, and as many workers × slots"));
        }
        let limits = [self.limits.requests_per_minute, self.limits.tokens_per_minute];
        if limits.contains(&Some(0)) {
            return Err("a limit must be at least 1 per minute".to_owned());
        }
        if !(0.0..=1.0).contains(&self.faults.frozen) {
            return Err("the share of freezes must be between 0 and 1".to_owned());
        }
        if self.faults.mean_time_between.is_some_and(|time| time < Duration::from_secs(1)) {
            return Err("workers must work for at least a second on average".to_owned());
        }
        if self.lease.length.is_zero() {
            return Err("a lease must have a length".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_zero_are_refused_by_name() {
        assert_eq!(Scenario::default().check(), Ok(()));
        let scenario = Scenario { workers: 0, ..Scenario::default() };
        assert_eq!(scenario.check().unwrap_err(), "`workers` must be at least 1");
        let many = Scenario { workers: 10_000_000, slots: 2, ..Scenario::default() };
        assert!(many.check().is_err());
    }
}
