//! What serves one thing after another: the server, the coordinator, a bucket, the cores of a host.

use std::time::Duration;

/// Serves in the order of arrival, each operation for the same time.
#[derive(Debug, Clone)]
pub(crate) struct Station {
    service: Duration,
    free_at: Duration,
    busy: Duration,
}

impl Station {
    pub(crate) fn new(service: Duration) -> Self {
        Self { service, free_at: Duration::ZERO, busy: Duration::ZERO }
    }

    /// No rate means that it takes no time.
    pub(crate) fn with_rate(per_second: f64) -> Self {
        Self::new(Duration::from_secs_f64(if per_second > 0.0 { 1.0 / per_second } else { 0.0 }))
    }

    /// When operations that arrive now are done.
    pub(crate) fn pass(&mut self, now: Duration, operations: u32) -> Duration {
        let service = self.service * operations;
        self.busy += service;
        self.free_at = self.free_at.max(now) + service;
        self.free_at
    }

    /// Serves nothing before this time.
    pub(crate) fn stop_until(&mut self, until: Duration) {
        self.free_at = self.free_at.max(until);
    }

    pub(crate) fn busy(&self) -> Duration {
        self.busy
    }
}

/// The cores of a machine: each takes the next piece of work.
#[derive(Debug, Clone)]
pub(crate) struct Cores(Vec<Duration>);

impl Cores {
    pub(crate) fn new(cores: u32) -> Self {
        Self(vec![Duration::ZERO; cores.max(1) as usize])
    }

    /// When work that arrives now is done.
    pub(crate) fn work(&mut self, now: Duration, time: Duration) -> Duration {
        let mut first = 0;
        for (at, free_at) in self.0.iter().enumerate() {
            if *free_at < self.0[first] {
                first = at;
            }
        }
        self.0[first] = self.0[first].max(now) + time;
        self.0[first]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn operations_wait_for_those_before_them() {
        let mut station = Station::new(ms(10));
        assert_eq!(station.pass(ms(0), 2), ms(20));
        assert_eq!(station.pass(ms(5), 1), ms(30));
        assert_eq!(station.pass(ms(100), 1), ms(110));
        assert_eq!(station.busy(), ms(40));
        station.stop_until(ms(500));
        assert_eq!(station.pass(ms(200), 1), ms(510));
    }

    #[test]
    fn two_cores_work_at_the_same_time() {
        let mut cores = Cores::new(2);
        let done = [0, 0, 0, 50].map(|at| cores.work(ms(at), ms(10)));
        assert_eq!(done, [ms(10), ms(10), ms(20), ms(60)]);
    }
}
