//! Which processes take the rows of a run: each has an entry in the control bucket, so that one that is done
//! does not delete the run under another. The sign of a coordinator that was killed does not keep the one that
//! resumes its run from deleting it.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use async_nats::jetstream::kv::Store;
use futures_util::StreamExt as _;

use super::names::{COORDINATOR_KEYS, FOLLOWER_KEYS};
use super::run_queue::describe;
use super::waiting::SILENT;

/// The entry of this process.
#[derive(Debug)]
pub(super) struct Presence {
    key: String,
    /// Before the keys of processes that the run is left to.
    others: &'static [&'static str],
}

impl Presence {
    pub(super) fn of_coordinator() -> Self {
        Self::new(COORDINATOR_KEYS, &[FOLLOWER_KEYS])
    }

    pub(super) fn of_follower() -> Self {
        Self::new(FOLLOWER_KEYS, &[COORDINATOR_KEYS, FOLLOWER_KEYS])
    }

    fn new(prefix: &str, others: &'static [&'static str]) -> Self {
        let random = RandomState::new().hash_one(SystemTime::now());
        Self { key: format!("{prefix}{random:016x}"), others }
    }

    /// Fails with the reason if the server stores nothing.
    pub(super) async fn give(&self, control: &Store) -> Result<(), String> {
        let put = control.put(&self.key, Vec::new().into()).await;
        put.map(|_| ()).map_err(|error| describe(&error))
    }

    /// Removes the entry. Whether another process takes rows still, as far as the server says.
    pub(super) async fn end(&self, control: &Store) -> bool {
        self.find_others(control).await.unwrap_or(false)
    }

    async fn find_others(
        &self,
        control: &Store,
    ) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        // Its time is that of the server, whose clock may differ.
        self.give(control).await?;
        let now = control.entry(&self.key).await?.map(|entry| entry.created);
        // First: of two processes that end together, one sees no other.
        control.purge(&self.key).await?;
        let mut keys = control.keys().await?;
        while let Some(key) = keys.next().await {
            let key = key?;
            if !self.others.iter().any(|prefix| key.starts_with(prefix)) || key == self.key {
                continue;
            }
            let Some(entry) = control.entry(key).await? else { continue };
            if now.is_some_and(|now| now - entry.created < SILENT) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
