//! Limits on how often a service is called. All cases, judges and processes that call it with the same
//! key share one bucket (spec 9.6).

mod bucket;
mod file_store;
mod limited_agent;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;

pub(crate) use bucket::{BucketState, Permit};
pub(crate) use file_store::FileStores;
pub(crate) use limited_agent::LimitedAgent;

/// `rate` of a target. At least one is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimits {
    pub(crate) requests_per_minute: Option<u64>,
    pub(crate) tokens_per_minute: Option<u64>,
}

/// Where the state of a bucket is kept.
pub(crate) trait BucketStore: fmt::Debug + Send + Sync {
    /// Reads the state, changes it and writes it back, as one step for all that share the bucket.
    /// `change` may be called again if another process was faster.
    fn update<'a>(
        &'a self,
        change: &'a mut (dyn FnMut(&mut BucketState) + Send),
    ) -> BoxFuture<'a, Result<(), String>>;
}

/// Finds the bucket of a service and key, of which `account` is a digest.
pub(crate) trait BucketStores: fmt::Debug + Send + Sync {
    /// Fails with the reason.
    fn open(&self, account: &str) -> Result<Box<dyn BucketStore>, String>;
}

/// How often requests of this process have waited, and for how long.
#[derive(Debug)]
pub(crate) struct RateWaits {
    pub(crate) count: AtomicU64,
    pub(crate) milliseconds: AtomicU64,
}

pub(crate) static WAITS: RateWaits =
    RateWaits { count: AtomicU64::new(0), milliseconds: AtomicU64::new(0) };

/// A bucket of one service and key.
#[derive(Debug)]
pub(crate) struct RateBucket {
    limits: RateLimits,
    store: Box<dyn BucketStore>,
}

impl RateBucket {
    pub(crate) fn new(limits: RateLimits, store: Box<dyn BucketStore>) -> Self {
        Self { limits, store }
    }

    /// Waits until a request may be sent. Returns what it was estimated to use, for
    /// [`RateBucket::settle`].
    pub(crate) async fn take(&self) -> Result<Permit, String> {
        loop {
            let mut permit = None;
            let limits = self.limits;
            self.store.update(&mut |state| permit = Some(state.reserve(limits, now()))).await?;
            let permit = permit.ok_or("the bucket was not read")?;
            if permit.wait.is_zero() {
                return Ok(permit);
            }
            WAITS.count.fetch_add(1, Ordering::Relaxed);
            let waited = u64::try_from(permit.wait.as_millis()).unwrap_or(u64::MAX);
            WAITS.milliseconds.fetch_add(waited, Ordering::Relaxed);
            tokio::time::sleep(permit.wait).await;
            if !permit.is_granted {
                continue;
            }
            // Another process may have been refused in the meantime.
            let mut is_open = false;
            self.store.update(&mut |state| is_open = !state.is_blocked(now())).await?;
            if is_open {
                return Ok(permit);
            }
        }
    }

    /// Corrects the estimate by what the request used.
    pub(crate) async fn settle(&self, permit: Permit, tokens: Option<u64>) -> Result<(), String> {
        if self.limits.tokens_per_minute.is_none() || tokens.is_none() {
            return Ok(());
        }
        self.store.update(&mut |state| state.settle(permit, tokens.unwrap_or(0))).await
    }

    /// The service refused a request because there were too many: no request is sent until then.
    pub(crate) async fn block(&self, wait: Duration) -> Result<(), String> {
        self.store.update(&mut |state| state.block(now(), wait)).await
    }
}

/// Since the epoch: processes share it.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
