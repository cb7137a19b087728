//! Payloads of any size: large ones go to the object store, and the message names them by their hash.

use std::fmt::Display;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::text::hex;

use super::manifest::is_hash;
use super::object_bucket::{ObjectBucket, Unread};

/// A larger payload is an object.
const MOST_INLINE: usize = 256 * 1024;

/// Rows are at most 256 MiB.
pub(super) const LARGEST: u64 = 300 * 1024 * 1024;

/// Names the object that holds the payload.
const OBJECT: &str = "Evalrig-Object";

const PAYLOADS: &str = "payload-";

/// Between two attempts to store a message.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A message whose payload, if it is large, is already an object.
pub(super) struct PreparedPayload {
    headers: HeaderMap,
    payload: Bytes,
    id: String,
}

impl PreparedPayload {
    /// Exact repetitions of the payload have the same id.
    pub(super) async fn new(store: &ObjectBucket, bytes: Vec<u8>) -> Result<Self, String> {
        let id = sha256(&bytes);
        let mut headers = HeaderMap::new();
        if bytes.len() <= MOST_INLINE {
            return Ok(Self { headers, payload: bytes.into(), id });
        }
        let name = format!("{PAYLOADS}{id}");
        store.put(&name, &bytes).await?;
        headers.insert(OBJECT, name);
        Ok(Self { headers, payload: Bytes::new(), id })
    }

    fn message(&self, subject: &str) -> PublishMessage {
        let message = PublishMessage::build().headers(self.headers.clone());
        message.payload(self.payload.clone()).message_id(format!("{subject} {}", self.id))
    }
}

/// Publishes until the server has stored the message, or `is_over` says that it need not any more.
pub(super) async fn publish(
    stream: &Context,
    store: &ObjectBucket,
    subject: String,
    bytes: Vec<u8>,
    is_over: &(dyn Fn() -> bool + Sync),
    warn: &(dyn Fn(String) + Sync),
) -> Result<(), String> {
    let mut pause = FIRST_PAUSE;
    let mut has_warned = false;
    let mut prepared = None;
    loop {
        let error = match try_publish(stream, store, &subject, &bytes, &mut prepared).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if is_over() {
            return Err(error);
        }
        if !std::mem::replace(&mut has_warned, true) {
            warn(format!("the server did not store a message, trying again: {error}"));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn try_publish(
    stream: &Context,
    store: &ObjectBucket,
    subject: &str,
    bytes: &[u8],
    prepared: &mut Option<PreparedPayload>,
) -> Result<(), String> {
    let payload = match prepared {
        Some(payload) => payload,
        None => prepared.insert(PreparedPayload::new(store, bytes.to_vec()).await?),
    };
    let shown = |error: &dyn Display, kind: PublishErrorKind| match kind {
        PublishErrorKind::StreamNotFound => "no server has its stream".to_owned(),
        _ => error.to_string(),
    };
    let acknowledged = stream.send_publish(subject.to_owned(), payload.message(subject)).await;
    let acknowledged = acknowledged.map_err(|error| shown(&error, error.kind()))?;
    acknowledged.await.map(|_| ()).map_err(|error| shown(&error, error.kind()))
}

/// The payload of a message that was received.
pub(super) async fn received(
    store: &ObjectBucket,
    headers: Option<&HeaderMap>,
    payload: &[u8],
) -> Result<Vec<u8>, Unread> {
    let Some(name) = headers.and_then(|headers| headers.get(OBJECT)) else {
        return Ok(payload.to_vec());
    };
    let hash = payload_hash(name.as_str())?;
    let bytes = store.read(name.as_str(), LARGEST).await?;
    if sha256(&bytes) == hash {
        Ok(bytes)
    } else {
        Err(Unread::Forged("its object does not match its hash".to_owned()))
    }
}

/// The hash in the name of an object that holds a payload.
fn payload_hash(name: &str) -> Result<&str, Unread> {
    let hash = name.strip_prefix(PAYLOADS).filter(|hash| is_hash(hash));
    hash.ok_or_else(|| Unread::Forged("it names an object that is not a payload".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_no_object_but_payloads() {
        let hash = sha256(b"x");
        assert_eq!(payload_hash(&format!("{PAYLOADS}{hash}")), Ok(hash.as_str()));
        for name in ["", "manifest", &hash, "payload-", "payload-../manifest", "payload-ABC"] {
            assert!(matches!(payload_hash(name), Err(Unread::Forged(_))), "{name}");
        }
    }
}
