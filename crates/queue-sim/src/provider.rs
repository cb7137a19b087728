//! The service that is called: refuses what is above its limits and says when to come back.

use std::time::Duration;

use crate::rate::RateLimits;

/// Holds what flows in within some time.
#[derive(Debug, Clone)]
struct Meter {
    per_second: f64,
    capacity: f64,
    level: f64,
    at: Duration,
}

impl Meter {
    fn new(per_minute: u64, burst: Duration) -> Self {
        let per_second = per_minute as f64 / 60.0;
        let capacity = (per_second * burst.as_secs_f64()).max(1.0);
        Self { per_second, capacity, level: capacity, at: Duration::ZERO }
    }

    /// How long until so much is there; more than fits is let through when it is full.
    fn wait(&mut self, now: Duration, amount: f64) -> Duration {
        let elapsed = (now - self.at).as_secs_f64();
        self.level = (self.level + elapsed * self.per_second).min(self.capacity);
        self.at = now;
        // What flows in within a nanosecond is below the precision of the clock.
        let missing = amount.min(self.capacity) - self.level - self.per_second * 1e-9;
        Duration::from_secs_f64((missing / self.per_second).max(0.0))
    }
}

/// Decides about every request.
#[derive(Debug)]
pub(crate) struct ProviderGate {
    requests: Option<Meter>,
    tokens: Option<Meter>,
    accepted: u64,
    refused: u64,
    /// Accepted requests by second.
    seconds: Vec<u32>,
}

impl ProviderGate {
    pub(crate) fn new(limits: RateLimits, burst: Duration) -> Self {
        Self {
            requests: limits.requests_per_minute.map(|limit| Meter::new(limit, burst)),
            tokens: limits.tokens_per_minute.map(|limit| Meter::new(limit, burst)),
            accepted: 0,
            refused: 0,
            seconds: Vec::new(),
        }
    }

    /// Fails with `Retry-After`: whole seconds, as in the header.
    pub(crate) fn admit(&mut self, now: Duration, tokens: u64) -> Result<(), Duration> {
        let amounts = [1.0, tokens as f64];
        let mut meters = [&mut self.requests, &mut self.tokens];
        let mut wait = Duration::ZERO;
        for (meter, amount) in meters.iter_mut().zip(amounts) {
            if let Some(meter) = meter {
                wait = wait.max(meter.wait(now, amount));
            }
        }
        if !wait.is_zero() {
            self.refused += 1;
            return Err(Duration::from_secs(wait.as_secs_f64().ceil() as u64));
        }
        for (meter, amount) in meters.iter_mut().zip(amounts) {
            if let Some(meter) = meter {
                meter.level -= amount;
            }
        }
        self.accepted += 1;
        let second = now.as_secs() as usize;
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, 0);
        }
        self.seconds[second] += 1;
        Ok(())
    }

    pub(crate) fn accepted(&self) -> u64 {
        self.accepted
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// Accepted requests in the busiest minute, counted from full seconds.
    pub(crate) fn busiest_minute(&self) -> u64 {
        let mut within: u64 = 0;
        let mut most = 0;
        for (at, count) in self.seconds.iter().enumerate() {
            within += u64::from(*count);
            if at >= 60 {
                within -= u64::from(self.seconds[at - 60]);
            }
            most = most.max(within);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn what_is_above_the_burst_is_refused_until_it_has_flowed_in() {
        let mut gate = ProviderGate::new(RateLimits::requests(60), seconds(2));
        assert_eq!(gate.admit(seconds(0), 0), Ok(()));
        assert_eq!(gate.admit(seconds(0), 0), Ok(()));
        assert_eq!(gate.admit(seconds(0), 0), Err(seconds(1)));
        assert_eq!(gate.admit(seconds(1), 0), Ok(()));
        assert_eq!((gate.accepted(), gate.refused()), (3, 1));
    }

    #[test]
    fn tokens_are_limited_too() {
        let limits = RateLimits { requests_per_minute: None, tokens_per_minute: Some(6_000) };
        let mut gate = ProviderGate::new(limits, seconds(10));
        // More than fits is let through once.
        assert_eq!(gate.admit(seconds(0), 5_000), Ok(()));
        assert_eq!(gate.admit(seconds(10), 100), Err(seconds(31)));
        assert_eq!(gate.admit(seconds(41), 100), Ok(()));
    }

    #[test]
    fn a_refused_request_takes_nothing_from_the_other_limit() {
        let limits = RateLimits { requests_per_minute: Some(60), tokens_per_minute: Some(60) };
        let mut gate = ProviderGate::new(limits, seconds(1));
        assert!(gate.admit(seconds(0), 1).is_ok());
        assert!(gate.admit(seconds(0), 1).is_err());
        assert!(gate.admit(seconds(1), 1).is_ok());
    }

    #[test]
    fn the_busiest_minute_slides() {
        let mut gate = ProviderGate::new(RateLimits::NONE, seconds(1));
        for second in [0, 59, 60, 61, 100, 200] {
            gate.admit(seconds(second), 0).unwrap();
        }
        assert_eq!(gate.busiest_minute(), 4);
    }
}
