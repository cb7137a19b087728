//! Payloads of any size: large ones go to the object store, and the message names them by their hash.

use std::fmt::Display;
use std::io::{Cursor, ErrorKind};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{GetErrorKind, Object, ObjectStore};
use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt as _;

use crate::text::hex;

use super::manifest::is_hash;
use super::run_queue::describe;

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

/// Looks for an object that is not there, and the time between two of them.
const MOST_LOOKS: u32 = 3;
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How much of an object is read at once, and how long the server may take for it.
const READ_AT_ONCE: usize = 64 * 1024;
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Stores an object under a name.
pub(super) async fn put_object(
    store: &ObjectStore,
    name: &str,
    bytes: &[u8],
) -> Result<(), String> {
    let put = store.put(name, &mut Cursor::new(bytes)).await;
    put.map(|_| ()).map_err(|error| error.to_string())
}

/// Why the payload of a message, or an object, was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// The server has it, and it is not what it should be; or the server has no such object.
    Forged(String),
    /// The server could not be asked, or stopped in the middle. It may succeed later.
    Unreachable(String),
}

impl Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Forged(reason) | Self::Unreachable(reason)) = self;
        f.write_str(reason)
    }
}

/// Reads an object of at most this size.
pub(super) async fn read_object(
    store: &ObjectStore,
    name: &str,
    limit: u64,
) -> Result<Vec<u8>, Unread> {
    let too_large = || Unread::Forged(format!("larger than {limit} bytes"));
    let mut object = find_object(store, name).await?;
    if object.info.size as u64 > limit {
        return Err(too_large());
    }
    let (mut bytes, mut part) = (Vec::new(), vec![0; READ_AT_ONCE]);
    loop {
        let read = tokio::time::timeout(LONGEST_SILENCE, object.read(&mut part)).await;
        match read {
            Ok(Ok(0)) => return Ok(bytes),
            Ok(Ok(count)) => bytes.extend_from_slice(&part[..count]),
            // The digest that was stored with it is another.
            Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => {
                return Err(Unread::Forged(error.to_string()));
            }
            Ok(Err(error)) => return Err(Unread::Unreachable(error.to_string())),
            Err(_) => return Err(Unread::Unreachable("the server sends no more of it".to_owned())),
        }
        if bytes.len() as u64 > limit {
            return Err(too_large());
        }
    }
}

/// An object is stored before a message names it. Looks again all the same: a server of a cluster that is behind may
/// be the one that answers.
async fn find_object(store: &ObjectStore, name: &str) -> Result<Object, Unread> {
    let mut looks = 0;
    loop {
        looks += 1;
        match tokio::time::timeout(LONGEST_SILENCE, store.get(name)).await {
            Ok(Ok(object)) => return Ok(object),
            Err(_) => return Err(Unread::Unreachable("the server does not answer".to_owned())),
            Ok(Err(error)) => match error.kind() {
                GetErrorKind::NotFound if looks < MOST_LOOKS => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                GetErrorKind::NotFound | GetErrorKind::InvalidName | GetErrorKind::BucketLink => {
                    return Err(Unread::Forged(format!("no object of its name: {error}")));
                }
                GetErrorKind::ConsumerCreate | GetErrorKind::Other | GetErrorKind::TimedOut => {
                    return Err(Unread::Unreachable(describe(&error)));
                }
            },
        }
    }
}

/// A message whose payload, if it is large, is already an object.
pub(super) struct PreparedPayload {
    headers: HeaderMap,
    payload: Bytes,
    id: String,
}

impl PreparedPayload {
    /// Exact repetitions of the payload have the same id.
    pub(super) async fn new(store: &ObjectStore, bytes: Vec<u8>) -> Result<Self, String> {
        let id = sha256(&bytes);
        let mut headers = HeaderMap::new();
        if bytes.len() <= MOST_INLINE {
            return Ok(Self { headers, payload: bytes.into(), id });
        }
        let name = format!("{PAYLOADS}{id}");
        put_object(store, &name, &bytes).await?;
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
    store: &ObjectStore,
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
    store: &ObjectStore,
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
    store: &ObjectStore,
    headers: Option<&HeaderMap>,
    payload: &[u8],
) -> Result<Vec<u8>, Unread> {
    let Some(name) = headers.and_then(|headers| headers.get(OBJECT)) else {
        return Ok(payload.to_vec());
    };
    let hash = payload_hash(name.as_str())?;
    let bytes = read_object(store, name.as_str(), LARGEST).await?;
    if sha256(&bytes) == hash {
        Ok(bytes)
    } else {
        Err(Unread::Forged("its object has another hash".to_owned()))
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
