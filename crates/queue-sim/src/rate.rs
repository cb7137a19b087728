//! Limits on requests as workers keep to them. The arithmetic of a bucket is the file that the
//! runner compiles, so that the simulation finds what is wrong with it and not with a copy.

use std::time::Duration;

use serde::Serialize;

use crate::station::Station;

#[path = "../../run/src/rate/bucket.rs"]
mod bucket;

pub(crate) use bucket::Permit;

/// A bucket takes a state at 0 for one that was never used.
const START: Duration = Duration::from_secs(1_000_000);

/// Of a provider, or of `rate` on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RateLimits {
    pub requests_per_minute: Option<u64>,
    pub tokens_per_minute: Option<u64>,
}

impl RateLimits {
    pub const NONE: Self = Self { requests_per_minute: None, tokens_per_minute: None };

    pub fn requests(per_minute: u64) -> Self {
        Self { requests_per_minute: Some(per_minute), tokens_per_minute: None }
    }

    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// What each of several machines gets when the limit is divided by hand.
    pub(crate) fn share(&self, machines: u32) -> Self {
        let share = |limit: u64| (limit / u64::from(machines)).max(1);
        Self {
            requests_per_minute: self.requests_per_minute.map(share),
            tokens_per_minute: self.tokens_per_minute.map(share),
        }
    }
}

/// A bucket and the store that workers change it in, one change at a time.
#[derive(Debug)]
pub(crate) struct SimulatedBucket {
    limits: RateLimits,
    state: bucket::BucketState,
    pub(crate) store: Station,
}

impl SimulatedBucket {
    pub(crate) fn new(limits: RateLimits, store: Station) -> Self {
        Self { limits, state: bucket::BucketState::default(), store }
    }

    /// A permit, and when its owner may send.
    pub(crate) fn reserve(&mut self, now: Duration) -> (Permit, Duration) {
        let changed = self.store.pass(now, 1);
        let permit = self.state.reserve(self.limits, START + changed);
        (permit, changed + permit.wait)
    }

    pub(crate) fn settle(&mut self, now: Duration, permit: Permit, tokens: u64) {
        if self.limits.tokens_per_minute.is_some() {
            self.store.pass(now, 1);
            self.state.settle(permit, tokens);
        }
    }

    pub(crate) fn block(&mut self, now: Duration, wait: Duration) {
        self.store.pass(now, 1);
        self.state.block(START + now, wait);
    }

    pub(crate) fn is_blocked(&self, now: Duration) -> bool {
        self.state.is_blocked(START + now)
    }
}
