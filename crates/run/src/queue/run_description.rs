//! The two objects that describe a run: its manifest, and its chains. What may be sent, and what is believed.

use evalrig_core::secrets::Secrets;

use super::error::QueueError;
use super::manifest::{BundleManifest, LARGEST_MANIFEST};
use super::message::{ChainMessage, LARGEST_CHAINS};
use super::names::{CHAINS, MANIFEST};
use super::run_queue::RunQueue;

/// Fails for what workers would refuse, and for secrets.
pub(super) fn check_sendable(text: &[u8], limit: u64, secrets: &Secrets) -> Result<(), QueueError> {
    if text.len() as u64 > limit {
        return Err(QueueError::new(
            "--queue: too many cases and files for one run; use --filter or --shard",
        ));
    }
    if secrets.is_in(&String::from_utf8_lossy(text)) {
        return Err(QueueError::new(
            "--queue: the options or the names of the run have a secret in them, which would be \
             sent to the server",
        ));
    }
    Ok(())
}

pub(super) async fn read_chains(queue: &RunQueue) -> Result<Vec<ChainMessage>, QueueError> {
    let fail = |error: String| QueueError::of("read the cases of the run", error);
    let chains = queue.bundle.read(CHAINS, LARGEST_CHAINS).await;
    let chains = chains.map_err(|error| fail(error.to_string()))?;
    serde_json::from_slice(&chains).map_err(|error| fail(error.to_string()))
}

/// The manifest of a run, checked.
pub(crate) async fn read_manifest(queue: &RunQueue) -> Result<BundleManifest, QueueError> {
    let bytes = queue.bundle.read(MANIFEST, LARGEST_MANIFEST).await;
    let bytes = bytes.map_err(|error| QueueError::of("read the description of the run", error))?;
    BundleManifest::read(&bytes, &queue.entry.manifest, queue.name.as_str())
}
