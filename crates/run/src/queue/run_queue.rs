//! What a run has on the server: its streams and buckets, made, opened and deleted.

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::{GetStreamErrorKind, KeyValueErrorKind};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use futures_util::StreamExt as _;

use super::error::QueueError;
use super::link::QueueLink;
use super::message::RunEntry;
use super::names::{RUNS_BUCKET, RunName, class_consumer};
use super::object_bucket::ObjectBucket;

/// How long the server remembers messages, so that one that was sent twice is stored once.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// Bounds of what a run may hold on the server. There is none on all bytes: a server sets that much space aside when a
/// stream is made, and refuses the stream if it is not there.
const MOST_MESSAGES: i64 = 10_000_000;
const LONGEST_MESSAGE: i32 = 1024 * 1024;

/// How often a stream is asked for that the server says nothing about, and the pause in between.
const OPEN_ATTEMPTS: usize = 4;
const OPEN_AGAIN: Duration = Duration::from_secs(1);

/// The options of `run` about the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueSettings {
    pub(crate) replicas: usize,
    pub(crate) lease: Duration,
    pub(crate) patience: Duration,
}

/// A run on the server.
#[derive(Clone)]
pub(crate) struct RunQueue {
    pub(super) link: QueueLink,
    pub(super) name: RunName,
    pub(super) entry: RunEntry,
    pub(super) cases: Stream,
    pub(super) answers: Stream,
    pub(super) rows: Stream,
    pub(super) control: Store,
    pub(super) bundle: ObjectBucket,
}

impl std::fmt::Debug for RunQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunQueue").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The bucket with one entry per run.
pub(super) async fn runs_bucket(link: &QueueLink, replicas: usize) -> Result<Store, QueueError> {
    open_or_create_bucket(link, RUNS_BUCKET, replicas).await
}

/// Hashes of the manifests of every run on the server.
pub(super) async fn known_manifests(runs: &Store) -> Result<BTreeSet<String>, QueueError> {
    let fail = |error: &(dyn std::error::Error + 'static)| {
        QueueError::of("read the list of runs", describe(error))
    };
    let mut keys = runs.keys().await.map_err(|error| fail(&error))?;
    let mut found = BTreeSet::new();
    while let Some(key) = keys.next().await {
        let key = key.map_err(|error| fail(&error))?;
        let entry = runs.get(key).await.map_err(|error| fail(&error))?;
        // Anything may be in the bucket.
        let entry = entry.and_then(|bytes| serde_json::from_slice::<RunEntry>(&bytes).ok());
        found.extend(entry.map(|entry| entry.manifest));
    }
    Ok(found)
}

pub(super) async fn open_or_create_bucket(
    link: &QueueLink,
    name: &str,
    replicas: usize,
) -> Result<Store, QueueError> {
    let what = format!("open the bucket {name}");
    match link.stream.get_key_value(name).await {
        Ok(found) => return with_replicas(link, found, name, replicas).await,
        Err(error) if error.kind() != KeyValueErrorKind::GetBucket => {
            return Err(QueueError::of(&what, error));
        }
        Err(_) => {}
    }
    let created = link.stream.create_stream(bucket_config(name, replicas)).await;
    match (link.stream.get_key_value(name).await, created) {
        // Another process may have been faster, with other settings.
        (Ok(found), _) => Ok(found),
        (Err(_), Err(error)) => Err(QueueError::of(&what, describe(&error))),
        // It is being made for several processes at once.
        (Err(error), Ok(_)) => Err(QueueError::for_now(&what, describe(&error))),
    }
}

/// The first that needed the bucket may have wanted fewer copies.
async fn with_replicas(
    link: &QueueLink,
    found: Store,
    name: &str,
    replicas: usize,
) -> Result<Store, QueueError> {
    let known = found.stream.cached_info().config.num_replicas;
    if known >= replicas {
        return Ok(found);
    }
    let what = format!("copy the bucket {name}");
    let updated = link.stream.update_stream(&bucket_config(name, replicas)).await;
    updated.map_err(|error| QueueError::of(&what, describe(&error)))?;
    let found = link.stream.get_key_value(name).await;
    found.map_err(|error| QueueError::of(&what, describe(&error)))
}

/// As the library makes a bucket, but entries are read from the server that leads it: another one of a cluster may be
/// behind, and what was noted about a run would not be seen.
fn bucket_config(name: &str, replicas: usize) -> Config {
    Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        storage: StorageType::File,
        num_replicas: replicas,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: false,
        ..Config::default()
    }
}

/// An error with its causes, which the server's own words are among.
pub(super) fn describe(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

impl RunQueue {
    /// Makes everything that a run needs, as far as it is not there.
    pub(super) async fn create(
        link: &QueueLink,
        name: RunName,
        entry: RunEntry,
    ) -> Result<Self, QueueError> {
        let stream = |stream: String, subjects: String, retention: RetentionPolicy| Config {
            name: stream,
            subjects: vec![subjects],
            retention,
            storage: StorageType::File,
            num_replicas: entry.replicas,
            duplicate_window: DUPLICATE_WINDOW,
            discard: DiscardPolicy::New,
            max_messages: MOST_MESSAGES,
            max_message_size: LONGEST_MESSAGE,
            ..Config::default()
        };
        let configs = [
            stream(name.cases(), name.all_cases(), RetentionPolicy::WorkQueue),
            stream(name.answers(), name.all_answers(), RetentionPolicy::Limits),
            stream(name.rows(), name.all_rows(), RetentionPolicy::Limits),
        ];
        let mut streams = Vec::with_capacity(configs.len());
        for config in configs {
            let what = format!("create the stream {}", config.name);
            let made = link.stream.get_or_create_stream(config).await;
            streams.push(made.map_err(|error| QueueError::of(&what, describe(&error)))?);
        }
        let control = open_or_create_bucket(link, &name.control(), entry.replicas).await?;
        let bundle = ObjectBucket::open_or_create(link, name.bundle(), entry.replicas).await?;
        let [cases, answers, rows] = <[Stream; 3]>::try_from(streams)
            .map_err(|_| QueueError::new("the streams of the run are not complete"))?;
        let queue = Self { link: link.clone(), name, entry, cases, answers, rows, control, bundle };
        for class in 0..queue.entry.classes {
            queue.create_consumer(class).await?;
        }
        Ok(queue)
    }

    /// One for each class: a work queue allows no two for the same messages.
    async fn create_consumer(&self, class: usize) -> Result<(), QueueError> {
        let config = pull::Config {
            durable_name: Some(class_consumer(class)),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease(),
            max_ack_pending: -1,
            max_waiting: 20_000,
            filter_subject: self.name.class_subject(class),
            ..pull::Config::default()
        };
        let created = self.cases.get_or_create_consumer(&class_consumer(class), config).await;
        let created = created.map(|_: Consumer<pull::Config>| ());
        created.map_err(|error| QueueError::of("create a consumer", describe(&error)))
    }

    /// A run that is on the server. `None` if it is not.
    pub(crate) async fn open(link: &QueueLink, name: RunName) -> Result<Option<Self>, QueueError> {
        match entry_of(link, &name).await? {
            Some(entry) => Self::open_entry(link, name, entry?).await,
            None => Ok(None),
        }
    }

    /// As [`Self::open`], with the entry of the run.
    pub(super) async fn open_entry(
        link: &QueueLink,
        name: RunName,
        entry: RunEntry,
    ) -> Result<Option<Self>, QueueError> {
        let stream = async |stream: String| {
            let mut attempts = 1;
            loop {
                match link.stream.get_stream(&stream).await {
                    Ok(found) => return Ok(Some(found)),
                    Err(error) if is_missing(&error.kind()) => return Ok(None),
                    // A cluster that has lost a server may have no leader for it now.
                    Err(error) if is_unanswered(&error.kind()) && attempts < OPEN_ATTEMPTS => {
                        attempts += 1;
                        tokio::time::sleep(OPEN_AGAIN).await;
                    }
                    Err(error) => {
                        let what = format!("open the stream {stream}");
                        return Err(QueueError::of(&what, describe(&error)));
                    }
                }
            }
        };
        let (Some(cases), Some(answers), Some(rows)) = (
            stream(name.cases()).await?,
            stream(name.answers()).await?,
            stream(name.rows()).await?,
        ) else {
            return Ok(None);
        };
        let control = link.stream.get_key_value(name.control()).await;
        let control = control.map_err(|error| QueueError::of("open the run", describe(&error)))?;
        let bundle = ObjectBucket::open(link, name.bundle()).await?;
        Ok(Some(Self { link: link.clone(), name, entry, cases, answers, rows, control, bundle }))
    }

    /// Workers find it from now on.
    pub(super) async fn announce(&self) -> Result<(), QueueError> {
        let runs = runs_bucket(&self.link, self.entry.replicas).await?;
        let entry = serde_json::to_vec(&self.entry)
            .map_err(|error| QueueError::of("describe the run", error))?;
        let put = runs.put(self.name.as_str(), entry.into()).await;
        put.map(|_| ()).map_err(|error| QueueError::of("announce the run", describe(&error)))
    }

    /// Deletes everything of the run. What is already gone is no error.
    pub(crate) async fn delete(link: &QueueLink, name: &RunName) -> Result<(), QueueError> {
        let runs = runs_bucket(link, 1).await?;
        let purged = runs.purge(name.as_str()).await;
        for stream in [name.cases(), name.answers(), name.rows()] {
            let _ = link.stream.delete_stream(stream).await;
        }
        let _ = link.stream.delete_key_value(name.control()).await;
        let _ = link.stream.delete_object_store(name.bundle()).await;
        // Last: a server without room deletes streams all the same.
        purged.map_err(|error| QueueError::of("remove the run from the list", describe(&error)))
    }

    pub(super) fn lease(&self) -> Duration {
        Duration::from_millis(self.entry.lease_ms.clamp(100, 600_000))
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.entry.patience_ms)
    }
}

/// The entry of a run in the list of runs: none, one, or something that is not an entry.
pub(super) async fn entry_of(
    link: &QueueLink,
    name: &RunName,
) -> Result<Option<Result<RunEntry, QueueError>>, QueueError> {
    let runs = runs_bucket(link, 1).await?;
    let entry = runs.get(name.as_str()).await;
    let entry = entry.map_err(|error| QueueError::of("read the list of runs", error))?;
    Ok(entry.map(|bytes| RunEntry::read(&bytes, name)))
}

fn is_unanswered(kind: &GetStreamErrorKind) -> bool {
    matches!(kind, GetStreamErrorKind::Request)
}

fn is_missing(kind: &GetStreamErrorKind) -> bool {
    match kind {
        GetStreamErrorKind::JetStream(error) => error.code() == 404,
        _ => false,
    }
}
