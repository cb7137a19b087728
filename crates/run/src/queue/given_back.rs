//! How often workers gave a chain back. The server counts such deliveries like those to workers that
//! were lost.

use async_nats::jetstream::kv::Store;

use super::error::QueueError;
use super::names::GIVEN_BACK_KEYS;

/// Written only by the worker that has the lease.
pub(super) async fn note_given_back(control: &Store, sequence: u64) -> Result<(), QueueError> {
    let count = count_given_back(control, sequence).await? + 1;
    let put = control.put(key(sequence), count.to_string().into()).await;
    put.map(|_| ()).map_err(|error| QueueError::of("give a case back", error))
}

pub(super) async fn count_given_back(control: &Store, sequence: u64) -> Result<i64, QueueError> {
    let found = control.get(key(sequence)).await;
    let found =
        found.map_err(|error| QueueError::of("read how often a case was given back", error))?;
    let text = found.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
    // Anything may be in the bucket.
    Ok(text.and_then(|text| text.parse().ok()).filter(|count| *count > 0).unwrap_or(0))
}

fn key(sequence: u64) -> String {
    format!("{GIVEN_BACK_KEYS}{sequence}")
}
