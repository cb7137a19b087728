//! The runs that a worker serves: it finds them in the list of runs, opens them, and follows their states until
//! they are gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{Operation, Store};
use futures_util::StreamExt as _;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::disk::full_disk_count;
use crate::lock::locked;

use super::control_state::ControlState;
use super::error::QueueError;
use super::link::QueueLink;
use super::names::{RunName, STATE_KEY};
use super::run_queue::RunQueue;
use super::trouble::Trouble;
use super::worker::{AGAIN, Say};
use super::worker_run::{ServingContext, WorkerRun};
use super::worker_state::WorkerState;

/// Between two attempts to get the files of a run.
const OPEN_AGAIN: Duration = Duration::from_secs(5);

/// The runs that are served now.
#[derive(Debug, Default)]
pub(super) struct ServedRuns {
    pub(super) all: Mutex<BTreeMap<RunName, Arc<WorkerRun>>>,
    /// Runs that are gone and being removed.
    ended: Mutex<JoinSet<()>>,
    pub(super) changed: Notify,
}

impl ServedRuns {
    fn end(&self, run: Arc<WorkerRun>, say: &Say) {
        run.end();
        let say = Arc::clone(say);
        let mut ended = locked(&self.ended);
        while ended.try_join_next().is_some() {}
        ended.spawn(async move {
            let name = run.queue.name.as_str().to_owned();
            for warning in run.remove().await {
                say(format!("warning: {warning}"));
            }
            drop(run);
            say(format!("run {name} has ended"));
        });
    }

    /// Waits until nothing is left of runs that are gone.
    pub(super) async fn wait_for_ended(&self) {
        let mut ended = std::mem::take(&mut *locked(&self.ended));
        while ended.join_next().await.is_some() {}
    }
}

/// Serves every run in the list of runs.
pub(super) async fn find_runs(
    link: QueueLink,
    bucket: Store,
    context: ServingContext,
    runs: Arc<ServedRuns>,
    counts: Arc<WorkerState>,
    say: Say,
) {
    let mut serving = JoinSet::new();
    let mut started: BTreeMap<RunName, tokio::task::AbortHandle> = BTreeMap::new();
    let trouble = Trouble::default();
    loop {
        let mut entries = match bucket.watch_with_history(">").await {
            Ok(entries) => entries,
            Err(error) => {
                trouble.say(&say, format!("cannot read the list of runs: {error}"));
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        };
        trouble.clear();
        while let Some(Ok(entry)) = entries.next().await {
            while serving.try_join_next().is_some() {}
            let Ok(name) = RunName::parse(&entry.key) else { continue };
            match entry.operation {
                Operation::Put if started.contains_key(&name) => {}
                Operation::Put => {
                    let run = serve_run(
                        link.clone(),
                        name.clone(),
                        context.clone(),
                        (Arc::clone(&runs), Arc::clone(&counts)),
                        Arc::clone(&say),
                    );
                    started.insert(name, serving.spawn(run));
                }
                Operation::Delete | Operation::Purge => {
                    if let Some(task) = started.remove(&name) {
                        task.abort();
                    }
                    counts.forget_run(name.as_str());
                    let removed = locked(&runs.all).remove(&name);
                    if let Some(run) = removed {
                        runs.end(run, &say);
                    }
                }
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Opens a run and follows its state until it is gone.
async fn serve_run(
    link: QueueLink,
    name: RunName,
    context: ServingContext,
    (runs, counts): (Arc<ServedRuns>, Arc<WorkerState>),
    say: Say,
) {
    let trouble = Trouble::default();
    let (control, state) = loop {
        let full = full_disk_count();
        match open_run(&link, &name, &context).await {
            Ok((run, state)) => {
                say_served(&run, &say);
                counts.disk.clear(Instant::now());
                let control = run.queue.control.clone();
                locked(&runs.all).insert(name, Arc::new(run));
                runs.changed.notify_waiters();
                break (control, state);
            }
            // A full disk, or a server that is away for a while.
            Err(error) => {
                trouble.say(&say, format!("run {} is not served: {error}", name.as_str()));
                if full_disk_count() > full {
                    counts.disk.note(Instant::now());
                }
                tokio::time::sleep(OPEN_AGAIN).await;
            }
        }
    };
    loop {
        if let Ok(mut changes) = control.watch_with_history(STATE_KEY).await {
            while let Some(Ok(entry)) = changes.next().await {
                if entry.operation == Operation::Put {
                    let _ = state.send(ControlState::read(&entry.value));
                    runs.changed.notify_waiters();
                }
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn open_run(
    link: &QueueLink,
    name: &RunName,
    context: &ServingContext,
) -> Result<(WorkerRun, watch::Sender<ControlState>), QueueError> {
    let queue = RunQueue::open(link, name.clone()).await?;
    let queue = queue.ok_or_else(|| QueueError::new("it is not complete"))?;
    let (state, following) = watch::channel(ControlState::of(&queue.control).await?);
    Ok((WorkerRun::open(queue, following, context).await?, state))
}

fn say_served(run: &WorkerRun, say: &Say) {
    let name = run.queue.name.as_str();
    for reason in &run.left_out {
        (say)(format!("run {name}: {reason}; this worker skips its cases"));
    }
    if run.consumers.is_empty() {
        (say)(format!("run {name} has no cases that can run here"));
    } else {
        (say)(format!("serving run {name}"));
    }
}
