//! The arithmetic of a bucket. What is taken before it has flowed in is a reservation: the balance is
//! negative, and its owner waits until it is not.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RateLimits;

/// A bucket holds what flows in within this time.
const CAPACITY: f64 = 1.0;

/// What the first requests are taken to use, until some are known.
const FIRST_ESTIMATE: f64 = 1000.0;

/// Weight of the newest request in the estimate.
const NEWEST: f64 = 0.2;

/// No request is granted that would be sent later. A state that lies further in the future is of another
/// clock.
const MOST_AHEAD: Duration = Duration::from_secs(600);

/// Of one request. An agent may report any number, and the target would be blocked for years.
const MOST_TOKENS: f64 = 1e8;
/// Requests that may be in debt at the same time.
const MOST_AT_ONCE: f64 = 1e5;

/// After a refusal that does not say for how long.
const USUAL_BLOCK: Duration = Duration::from_secs(1);

/// What everyone who shares a bucket knows. Times are since the epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BucketState {
    requests: f64,
    tokens: f64,
    /// Tokens per request, as far as they are known.
    estimate: f64,
    /// When the balances were true, in seconds.
    at: f64,
    /// No request is sent before this.
    blocked_until: f64,
}

/// How soon, and how late, a request that was not granted asks again.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(60);

/// A request that may be sent after a wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Permit {
    pub(crate) wait: Duration,
    /// False if too many wait before it: it took nothing, and asks again after the wait.
    pub(crate) is_granted: bool,
    tokens: f64,
}

impl Default for BucketState {
    fn default() -> Self {
        Self { requests: 0.0, tokens: 0.0, estimate: FIRST_ESTIMATE, at: 0.0, blocked_until: 0.0 }
    }
}

impl BucketState {
    /// Takes a request, and the tokens it is estimated to use.
    pub(crate) fn reserve(&mut self, limits: RateLimits, now: Duration) -> Permit {
        self.flow(limits, now);
        let wait = (self.at - now.as_secs_f64()).max(0.0) + self.seconds_until_next(limits);
        let excess = wait - MOST_AHEAD.as_secs_f64();
        if excess > 0.0 {
            let wait = excess.clamp(SOONEST.as_secs_f64(), LATEST.as_secs_f64());
            let wait = Duration::from_secs_f64(wait);
            return Permit { wait, is_granted: false, tokens: 0.0 };
        }
        if limits.requests_per_minute.is_some() {
            self.requests -= 1.0;
        }
        let tokens = if limits.tokens_per_minute.is_some() { self.estimate } else { 0.0 };
        self.tokens -= tokens;
        Permit { wait: Duration::from_secs_f64(wait), is_granted: true, tokens }
    }

    /// How long it takes until enough has flowed in for one request more.
    fn seconds_until_next(&self, limits: RateLimits) -> f64 {
        let requests =
            limits.requests_per_minute.map(|limit| (1.0 - self.requests) / per_second(limit));
        // A request is allowed as long as tokens are left, however few.
        let tokens = limits.tokens_per_minute.map(|limit| -self.tokens / per_second(limit));
        [requests, tokens].into_iter().flatten().fold(0.0, f64::max)
    }

    /// A request used so many tokens.
    pub(crate) fn settle(&mut self, permit: Permit, tokens: u64) {
        let tokens = (tokens as f64).min(MOST_TOKENS);
        self.tokens += permit.tokens - tokens;
        self.estimate += NEWEST * (tokens - self.estimate);
    }

    /// The bucket is empty, and nothing flows in until then.
    pub(crate) fn block(&mut self, now: Duration, wait: Duration) {
        let wait = if wait.is_zero() { USUAL_BLOCK } else { wait.min(MOST_AHEAD) };
        let until = (now + wait).as_secs_f64();
        self.blocked_until = self.blocked_until.max(until);
        self.requests = 0.0;
        self.tokens = self.tokens.min(0.0);
        self.at = self.blocked_until;
    }

    pub(crate) fn is_blocked(&self, now: Duration) -> bool {
        let ahead = self.blocked_until - now.as_secs_f64();
        ahead > 0.0 && ahead <= MOST_AHEAD.as_secs_f64()
    }

    /// Adds what has flowed in since.
    fn flow(&mut self, limits: RateLimits, now: Duration) {
        let now = now.as_secs_f64();
        let is_plausible = [self.requests, self.tokens, self.estimate, self.at]
            .iter()
            .all(|number| number.is_finite() && *number >= -MOST_TOKENS * MOST_AT_ONCE)
            && self.at <= now + MOST_AHEAD.as_secs_f64();
        if !is_plausible {
            *self = Self::default();
        }
        if self.at == 0.0 {
            // Full buckets of many machines that start together would be too much at once.
            self.at = now;
        }
        let elapsed = (now - self.at).max(0.0);
        if let Some(limit) = limits.requests_per_minute {
            let capacity = (per_second(limit) * CAPACITY).max(1.0);
            self.requests = (self.requests + elapsed * per_second(limit)).min(capacity);
        }
        if let Some(limit) = limits.tokens_per_minute {
            let capacity = per_second(limit) * CAPACITY;
            self.tokens = (self.tokens + elapsed * per_second(limit)).min(capacity);
        }
        self.at = self.at.max(now);
    }
}

fn per_second(per_minute: u64) -> f64 {
    per_minute as f64 / 60.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Duration = Duration::from_secs(1_800_000_000);

    fn requests(per_minute: u64) -> RateLimits {
        RateLimits { requests_per_minute: Some(per_minute), tokens_per_minute: None }
    }

    fn tokens(per_minute: u64) -> RateLimits {
        RateLimits { requests_per_minute: None, tokens_per_minute: Some(per_minute) }
    }

    #[test]
    fn requests_are_spread_evenly() {
        let mut state = BucketState::default();
        let waits: Vec<f64> =
            (0..4).map(|_| state.reserve(requests(120), START).wait.as_secs_f64()).collect();
        assert_eq!(waits, [0.5, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn one_answer_cannot_block_a_target_for_ever() {
        let mut state = BucketState::default();
        let permit = state.reserve(tokens(600_000), START);
        state.settle(permit, u64::MAX);
        let wait = state.reserve(tokens(600_000), START).wait;
        assert!(wait <= Duration::from_secs(10_001), "{wait:?}");
        let mut stored = BucketState { tokens: -1e15, at: START.as_secs_f64(), ..state };
        assert!(stored.reserve(tokens(600_000), START).is_granted);
    }

    #[test]
    fn a_rest_saves_up_a_second_and_no_more() {
        let mut state = BucketState::default();
        state.reserve(requests(120), START);
        let later = START + Duration::from_secs(100);
        let waits: Vec<f64> =
            (0..4).map(|_| state.reserve(requests(120), later).wait.as_secs_f64()).collect();
        assert_eq!(waits, [0.0, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_slow_limit_lets_one_request_through() {
        let mut state = BucketState::default();
        state.reserve(requests(6), START);
        let later = START + Duration::from_secs(60);
        assert_eq!(state.reserve(requests(6), later).wait, Duration::ZERO);
        assert_eq!(state.reserve(requests(6), later).wait, Duration::from_secs(10));
    }

    #[test]
    fn a_request_that_would_wait_too_long_asks_again() {
        let mut state = BucketState::default();
        let granted = (0..600).map(|_| state.reserve(requests(60), START));
        assert!(granted.last().is_some_and(|last| last.is_granted && last.wait == MOST_AHEAD));
        let refused = state.reserve(requests(60), START);
        assert_eq!((refused.is_granted, refused.wait), (false, SOONEST));
        // It took nothing, so the next one is sent when it could have been.
        assert_eq!(state.reserve(requests(60), START), refused);
        let later = state.reserve(requests(60), START + SOONEST);
        assert_eq!((later.is_granted, later.wait), (true, MOST_AHEAD));
    }

    #[test]
    fn a_large_debt_of_tokens_is_paid_before_the_next_request() {
        let mut state = BucketState::default();
        let first = state.reserve(tokens(6000), START);
        state.settle(first, 120_000);
        let refused = state.reserve(tokens(6000), START);
        assert_eq!((refused.is_granted, refused.wait), (false, LATEST));
        let later = state.reserve(tokens(6000), START + Duration::from_secs(601));
        assert!(later.is_granted && later.wait >= Duration::from_secs(598), "{later:?}");
    }

    #[test]
    fn tokens_are_estimated_and_corrected() {
        let mut state = BucketState::default();
        let first = state.reserve(tokens(6000), START);
        assert_eq!(first.wait, Duration::ZERO);
        // Taken to use 1000 tokens, which flow in within ten seconds.
        assert_eq!(state.reserve(tokens(6000), START).wait, Duration::from_secs(10));
        state.settle(first, 100);
        assert_eq!(state.reserve(tokens(6000), START).wait, Duration::from_secs(11));
        assert!(state.estimate < FIRST_ESTIMATE);
    }

    #[test]
    fn no_request_is_sent_until_a_refusal_ends() {
        let mut state = BucketState::default();
        state.block(START, Duration::from_secs(7));
        assert!(state.is_blocked(START + Duration::from_secs(6)));
        assert!(!state.is_blocked(START + Duration::from_secs(7)));
        let waits: Vec<u64> =
            (0..2).map(|_| state.reserve(requests(60), START).wait.as_secs()).collect();
        assert_eq!(waits, [8, 9]);
    }

    #[test]
    fn a_state_of_another_clock_or_without_sense_is_forgotten() {
        for at in [START.as_secs_f64() + 1e6, f64::NAN, f64::INFINITY] {
            let mut state = BucketState { at, requests: -1e9, ..BucketState::default() };
            assert_eq!(state.reserve(requests(60), START).wait, Duration::from_secs(1), "{at}");
        }
    }

    proptest! {
        /// However requests arrive, no window of a minute has more than the limit and one second of it.
        #[test]
        fn no_minute_has_more_than_the_limit(
            limit in 10u64..5000,
            gaps in prop::collection::vec(0u64..200, 50..400),
        ) {
            let mut state = BucketState::default();
            let mut now = START;
            let mut sent = Vec::new();
            for gap in gaps {
                now += Duration::from_millis(gap);
                let permit = state.reserve(requests(limit), now);
                prop_assert!(permit.is_granted || !permit.wait.is_zero());
                if permit.is_granted {
                    sent.push((now + permit.wait).as_secs_f64());
                }
            }
            sent.sort_by(f64::total_cmp);
            let most = limit as f64 * 61.0 / 60.0 + 1.001;
            for (at, time) in sent.iter().enumerate() {
                let within = sent[at..].iter().take_while(|other| **other < time + 60.0).count();
                prop_assert!(within as f64 <= most, "{within} of {limit}");
            }
        }
    }
}
