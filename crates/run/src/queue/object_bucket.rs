//! The object store of a run. Objects are read from the server that leads it, part by part: another server of a
//! cluster may be behind, and the library takes the end of what such a server has for the end of the object.

use std::fmt::{Display, Formatter};
use std::io::Cursor;
use std::time::Duration;

use async_nats::jetstream::object_store::{self, ObjectInfo, ObjectStore};
use async_nats::jetstream::stream::{
    LastRawMessageErrorKind, RawMessageErrorKind, StorageType, Stream,
};
use base64::prelude::{BASE64_URL_SAFE, Engine as _};
use sha2::{Digest, Sha256};

use super::error::QueueError;
use super::link::QueueLink;
use super::run_queue::describe;

/// Looks for an object that is not there or not whole, and the time between two of them: it may be replaced just now,
/// and a server that has just become the leader may lack its last messages for a moment.
const MOST_LOOKS: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub(super) struct ObjectBucket {
    name: String,
    store: ObjectStore,
    stream: Stream,
}

impl std::fmt::Debug for ObjectBucket {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectBucket").field("name", &self.name).finish_non_exhaustive()
    }
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
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (Self::Forged(reason) | Self::Unreachable(reason)) = self;
        f.write_str(reason)
    }
}

impl ObjectBucket {
    /// Makes the bucket, unless it is there.
    pub(super) async fn open_or_create(
        link: &QueueLink,
        name: String,
        replicas: usize,
    ) -> Result<Self, QueueError> {
        let config = object_store::Config {
            bucket: name.clone(),
            storage: StorageType::File,
            num_replicas: replicas,
            ..object_store::Config::default()
        };
        if link.stream.get_object_store(&name).await.is_ok() {
            return Self::open(link, name).await;
        }
        let what = "create the object store of the run";
        let created = link.stream.create_object_store(config).await;
        created.map_err(|error| QueueError::of(what, describe(&error)))?;
        let opened = Self::open(link, name).await;
        opened.map_err(|error| QueueError::for_now(what, error))
    }

    pub(super) async fn open(link: &QueueLink, name: String) -> Result<Self, QueueError> {
        let fail = |error: &(dyn std::error::Error + 'static)| {
            QueueError::of("open the run", describe(error))
        };
        let store = link.stream.get_object_store(&name).await.map_err(|error| fail(&error))?;
        let stream = link.stream.get_stream(format!("OBJ_{name}")).await;
        Ok(Self { name, store, stream: stream.map_err(|error| fail(&error))? })
    }

    /// Stores an object under a name.
    pub(super) async fn put(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let put = self.store.put(name, &mut Cursor::new(bytes)).await;
        put.map(|_| ()).map_err(|error| error.to_string())
    }

    /// Reads an object of at most this size.
    pub(super) async fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, Unread> {
        for _ in 1..MOST_LOOKS {
            if let Some(bytes) = self.find(name, limit).await? {
                return Ok(bytes);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let found = self.find(name, limit).await?;
        found.ok_or_else(|| Unread::Forged("no object of its name, or only a part".to_owned()))
    }

    /// `None` if it is not there, or not whole.
    async fn find(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Unread> {
        let Some(info) = self.info(name).await? else { return Ok(None) };
        if info.size as u64 > limit {
            return Err(Unread::Forged(format!("larger than {limit} bytes")));
        }
        let Some(bytes) = self.parts(&info).await? else { return Ok(None) };
        let digest = format!("SHA-256={}", BASE64_URL_SAFE.encode(Sha256::digest(&bytes)));
        match &info.digest {
            Some(expected) if *expected != digest => Err(Unread::Forged("wrong digest".to_owned())),
            _ => Ok(Some(bytes)),
        }
    }

    async fn info(&self, name: &str) -> Result<Option<ObjectInfo>, Unread> {
        let subject = format!("$O.{}.M.{}", self.name, BASE64_URL_SAFE.encode(name));
        let message = match self.stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => message,
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                return Ok(None);
            }
            Err(error) => return Err(Unread::Unreachable(describe(&error))),
        };
        let info = serde_json::from_slice::<ObjectInfo>(&message.payload);
        let info = info.map_err(|error| Unread::Forged(format!("not an object: {error}")))?;
        Ok(Some(info).filter(|info| !info.deleted))
    }

    /// The parts up to the size of the object. `None` if there are fewer.
    async fn parts(&self, info: &ObjectInfo) -> Result<Option<Vec<u8>>, Unread> {
        let subject = format!("$O.{}.C.{}", self.name, info.nuid);
        let (mut bytes, mut next) = (Vec::new(), 1);
        while bytes.len() < info.size {
            match self.stream.get_first_raw_message_by_subject(&subject, next).await {
                Ok(part) => {
                    next = part.sequence + 1;
                    bytes.extend_from_slice(&part.payload);
                }
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {
                    return Ok(None);
                }
                Err(error) => return Err(Unread::Unreachable(describe(&error))),
            }
        }
        if bytes.len() == info.size {
            Ok(Some(bytes))
        } else {
            Err(Unread::Forged(format!("larger than {} bytes", info.size)))
        }
    }
}
