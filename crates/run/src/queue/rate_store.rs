//! Buckets of `rate` on the server, for all workers: each update reads an entry and writes it if it is
//! still the same.

use std::time::Duration;

use async_nats::jetstream::kv::{Store, UpdateErrorKind};
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use crate::rate::{BucketState, BucketStore, BucketStores};

use super::error::QueueError;
use super::link::QueueLink;
use super::names::{RATE_BUCKET, key_token};
use super::run_queue::open_or_create_bucket;

/// Attempts while the server cannot be reached, before the case is a fault.
const ATTEMPTS: u32 = 60;
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct KeyValueStores(Store);

impl KeyValueStores {
    pub(super) async fn open(link: &QueueLink, replicas: usize) -> Result<Self, QueueError> {
        Ok(Self(open_or_create_bucket(link, RATE_BUCKET, replicas).await?))
    }
}

impl BucketStores for KeyValueStores {
    fn open(&self, account: &str) -> Result<Box<dyn BucketStore>, String> {
        let (store, key) = (self.0.clone(), key_token(account));
        Ok(Box::new(KeyValueStore { store, key, turn: Mutex::new(()) }))
    }
}

#[derive(Debug)]
struct KeyValueStore {
    store: Store,
    key: String,
    /// One task of this process at a time: others would only make it fail.
    turn: Mutex<()>,
}

impl KeyValueStore {
    /// Whether the entry was still the same.
    async fn try_update(
        &self,
        change: &mut (dyn FnMut(&mut BucketState) + Send),
    ) -> Result<bool, String> {
        let entry = self.store.entry(&self.key).await.map_err(|error| error.to_string())?;
        let revision = entry.as_ref().map_or(0, |entry| entry.revision);
        let before: Option<BucketState> =
            entry.and_then(|entry| serde_json::from_slice(&entry.value).ok());
        let mut state = before.clone().unwrap_or_default();
        change(&mut state);
        if before.as_ref() == Some(&state) {
            return Ok(true);
        }
        let bytes = serde_json::to_vec(&state).map_err(|error| error.to_string())?;
        match self.store.update(&self.key, bytes.into(), revision).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl BucketStore for KeyValueStore {
    fn update<'a>(
        &'a self,
        change: &'a mut (dyn FnMut(&mut BucketState) + Send),
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let mut failures = 0;
            loop {
                match self.try_update(change).await {
                    Ok(true) => return Ok(()),
                    Ok(false) => tokio::task::yield_now().await,
                    Err(error) => {
                        failures += 1;
                        if failures == ATTEMPTS {
                            return Err(error);
                        }
                        let pause = Duration::from_millis(50) * failures;
                        tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
                    }
                }
            }
        })
    }
}
