//! `evalrig queue`: what runs are on the server, and ending them.

use std::collections::BTreeSet;

use async_nats::jetstream::kv::Store;
use futures_util::StreamExt as _;
use serde::Serialize;

use super::control_state::ControlState;
use super::error::QueueError;
use super::link::QueueLink;
use super::message::WorkerSign;
use super::names::{RunName, WORKER_KEYS};
use super::run_queue::{RunQueue, describe, entry_of, runs_bucket};
use super::waiting::SILENT;

/// A run on the server.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    pub run: String,
    /// `queueing`, `running`, `stopped`, `cancelled` or `abandoned`; `incomplete` if it is not all
    /// there, and `unreadable` if its entry in the list of runs is not one. These only have a name.
    pub state: &'static str,
    /// RFC 3339, UTC.
    pub created: String,
    pub cases: usize,
    /// Messages in the stream of rows; a case may have two.
    pub rows: u64,
    /// Chains that no worker has taken.
    pub waiting: u64,
    /// Chains that workers run.
    pub leased: u64,
    pub workers: Vec<WorkerStatus>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStatus {
    pub name: String,
    pub slots: usize,
    pub running: usize,
    pub done: u64,
}

/// Every run, or the one that is named, by id.
pub(crate) async fn list(
    link: &QueueLink,
    run: Option<&str>,
) -> Result<Vec<RunStatus>, QueueError> {
    let known = known_runs(link).await?;
    let names = match run {
        Some(run) => {
            let name = RunName::parse(run)?;
            if !known.contains(&name) {
                return Err(unknown(&name));
            }
            BTreeSet::from([name])
        }
        None => known,
    };
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let queue = match entry_of(link, &name).await? {
            Some(Ok(entry)) => RunQueue::open_entry(link, name.clone(), entry).await?,
            Some(Err(_)) => {
                found.push(RunStatus::without_run(&name, "unreadable"));
                continue;
            }
            None => None,
        };
        found.push(match queue {
            Some(queue) => status_of(&queue).await?,
            None => RunStatus::without_run(&name, "incomplete"),
        });
    }
    Ok(found)
}

impl RunStatus {
    fn without_run(name: &RunName, state: &'static str) -> Self {
        Self {
            run: name.as_str().to_owned(),
            state,
            created: String::new(),
            cases: 0,
            rows: 0,
            waiting: 0,
            leased: 0,
            workers: Vec::new(),
        }
    }
}

/// Runs that are in the list, and those of which there is a stream or a bucket.
async fn known_runs(link: &QueueLink) -> Result<BTreeSet<RunName>, QueueError> {
    let fail = |error: &(dyn std::error::Error + 'static)| {
        QueueError::of("read the list of runs", describe(error))
    };
    let bucket = runs_bucket(link, 1).await?;
    let mut keys = bucket.keys().await.map_err(|error| fail(&error))?;
    let mut names = BTreeSet::new();
    while let Some(key) = keys.next().await {
        names.extend(RunName::parse(&key.map_err(|error| fail(&error))?));
    }
    let mut streams = link.stream.stream_names();
    while let Some(stream) = streams.next().await {
        names.extend(RunName::of_stream(&stream.map_err(|error| fail(&error))?));
    }
    Ok(names)
}

fn unknown(name: &RunName) -> QueueError {
    let run = name.as_str();
    QueueError::new(format!("the server has no run {run}; `evalrig queue status` lists them"))
}

async fn status_of(queue: &RunQueue) -> Result<RunStatus, QueueError> {
    let fail = |error: &(dyn std::error::Error + 'static)| {
        QueueError::of("read the state of the run", describe(error))
    };
    let rows = queue.rows.get_info().await.map_err(|error| fail(&error))?;
    let (mut waiting, mut leased) = (0, 0);
    let mut consumers = queue.cases.consumers();
    while let Some(info) = consumers.next().await {
        let info = info.map_err(|error| fail(&error))?;
        waiting += info.num_pending;
        leased += info.num_ack_pending as u64;
    }
    let state = ControlState::of(&queue.control).await?;
    let workers = workers_of(&queue.control).await?;
    if !state.takes_cases() {
        // The server counts what was given back as leased until a worker asks for it.
        let running: usize = workers.iter().map(|worker| worker.running).sum();
        let given_back = leased.saturating_sub(running as u64);
        (waiting, leased) = (waiting + given_back, leased - given_back);
    }
    Ok(RunStatus {
        run: queue.name.as_str().to_owned(),
        state: state.word(),
        created: crate::text::single_line(&queue.entry.created),
        cases: queue.entry.cases,
        rows: rows.state.messages,
        waiting,
        leased,
        workers,
    })
}

async fn workers_of(control: &Store) -> Result<Vec<WorkerStatus>, QueueError> {
    let fail = |error: &(dyn std::error::Error + 'static)| {
        QueueError::of("read the workers of the run", describe(error))
    };
    let mut keys = control.keys().await.map_err(|error| fail(&error))?;
    let mut workers = Vec::new();
    while let Some(key) = keys.next().await {
        let key = key.map_err(|error| fail(&error))?;
        if !key.starts_with(WORKER_KEYS) {
            continue;
        }
        let entry = control.entry(key).await.map_err(|error| fail(&error))?;
        let Some(entry) = entry else { continue };
        let age = std::time::SystemTime::now().duration_since(entry.created.into());
        let sign = serde_json::from_slice::<WorkerSign>(&entry.value);
        if let (Ok(sign), false) = (sign, age.is_ok_and(|age| age > SILENT)) {
            let WorkerSign { name, slots, running, done, .. } = sign;
            let name = crate::text::single_line(&name);
            workers.push(WorkerStatus { name, slots, running, done });
        }
    }
    workers.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(workers)
}

/// No case is started any more. Rows stay until the run is removed.
pub(crate) async fn cancel(link: &QueueLink, run: &str) -> Result<(), QueueError> {
    let name = RunName::parse(run)?;
    match RunQueue::open(link, name.clone()).await? {
        Some(queue) => ControlState::Cancelled.put(&queue.control).await,
        None => Err(unknown(&name)),
    }
}

/// Deletes a run and its rows, or what there is of it.
pub(crate) async fn remove(link: &QueueLink, run: &str) -> Result<(), QueueError> {
    let name = RunName::parse(run)?;
    if !known_runs(link).await?.contains(&name) {
        return Err(unknown(&name));
    }
    RunQueue::delete(link, &name).await
}
