//! A worker: finds runs, takes chains from them as long as it has free slots, and drains when it is
//! asked to end.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use async_nats::jetstream::kv::Store;
use camino::Utf8PathBuf;
use futures_util::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::execute::Cancel;
use crate::lock::locked;

use super::bundle_cache::remove_unused;
use super::error::QueueError;
use super::health::serve_health;
use super::link::{QueueLink, REQUEST_TIMEOUT};
use super::names::{RunName, WORKER_KEYS, key_token};
use super::publisher::WarningSink;
use super::rate_store::KeyValueStores;
use super::run_queue::{known_manifests, runs_bucket};
use super::served_runs::{ServedRuns, find_runs};
use super::trouble::Trouble;
use super::worker_run::{BundleLoader, ServingContext, WorkerRun};
use super::worker_state::WorkerState;

/// Longest wait for a case on one class, before others are asked.
const POLL: Duration = Duration::from_secs(2);

/// Between two signs of life, and the most often that a changed one is given.
const SIGN: Duration = Duration::from_secs(5);
const CHANGED_SIGN: Duration = Duration::from_secs(1);

/// Between two attempts while the server cannot be reached.
pub(super) const AGAIN: Duration = Duration::from_secs(1);

/// Between two looks whether the server is away while the worker is to end.
const LOOK: Duration = Duration::from_millis(200);

/// Longest wait for the server at the end.
const FAREWELL: Duration = Duration::from_secs(3);

#[derive(Debug, Clone)]
pub(crate) struct WorkerSettings {
    pub(crate) name: String,
    pub(crate) slots: usize,
    pub(crate) cache: Utf8PathBuf,
    pub(crate) health: Option<SocketAddr>,
    /// Ends when there were no cases for so long.
    pub(crate) until_idle: Option<Duration>,
    pub(crate) replicas: usize,
}

/// Tells the user.
pub type Say = Arc<dyn Fn(String) + Send + Sync>;

pub(crate) struct QueueWorker {
    link: QueueLink,
    /// The list of runs.
    listed: Store,
    settings: WorkerSettings,
    /// The key of its signs, in the control bucket of every run.
    sign_key: String,
    context: ServingContext,
    counts: Arc<WorkerState>,
    runs: Arc<ServedRuns>,
    say: Say,
}

impl QueueWorker {
    pub(crate) async fn new(
        link: QueueLink,
        settings: WorkerSettings,
        loader: Arc<dyn BundleLoader>,
        say: Say,
    ) -> Result<Self, QueueError> {
        let listed = runs_bucket(&link, settings.replicas).await?;
        let buckets = Arc::new(KeyValueStores::open(&link, settings.replicas).await?);
        let context = ServingContext {
            worker: settings.name.clone(),
            cache: settings.cache.clone(),
            loader,
            buckets,
            warn: WarningSink(Arc::clone(&say)),
        };
        let counts = Arc::new(WorkerState::new(settings.slots));
        let sign_key = sign_key(&settings.name);
        Ok(Self { link, listed, settings, sign_key, context, counts, runs: Arc::default(), say })
    }

    /// Serves until it is asked to end, and what runs then has ended.
    pub(crate) async fn run(self, cancel: &Cancel) -> Result<(), QueueError> {
        if let Some(address) = self.settings.health {
            let bound = serve_health(address, self.link.clone(), Arc::clone(&self.counts)).await?;
            (self.say)(format!("health and metrics on http://{bound}"));
        }
        // Without the list, nothing is known to be unused.
        if let Ok(used) = known_manifests(&self.listed).await {
            let cache = self.settings.cache.clone();
            let removed = tokio::task::spawn_blocking(move || remove_unused(&cache, &used));
            let _ = removed.await;
        }
        let mut background = JoinSet::new();
        background.spawn(find_runs(
            self.link.clone(),
            self.listed.clone(),
            self.context.clone(),
            Arc::clone(&self.runs),
            Arc::clone(&self.counts),
            Arc::clone(&self.say),
        ));
        background.spawn(give_signs(
            self.settings.name.clone(),
            self.sign_key.clone(),
            Arc::clone(&self.runs),
            Arc::clone(&self.counts),
        ));
        let mut tasks = JoinSet::new();
        tokio::select! {
            () = self.take_cases(cancel, &mut tasks) => {}
            // What was asked of the server has no answer.
            () = self.is_to_end_without_server(cancel) => {}
        }
        self.counts.is_draining.store(true, Ordering::SeqCst);
        if !tasks.is_empty() {
            (self.say)("finishing running cases".to_owned());
        }
        while tasks.join_next().await.is_some() {}
        background.shutdown().await;
        self.runs.wait_for_ended().await;
        self.leave().await;
        Ok(())
    }

    async fn is_to_end_without_server(&self, cancel: &Cancel) {
        cancel.wait_for_first().await;
        while self.link.is_connected() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends what is left of runs here, and takes the signs of this worker away. A server that is away forgets
    /// them by itself.
    async fn leave(&self) {
        let runs: Vec<Arc<WorkerRun>> = locked(&self.runs.all).values().cloned().collect();
        for run in &runs {
            for warning in run.finish().await {
                (self.say)(format!("warning: {warning}"));
            }
        }
        let farewell = async {
            for run in &runs {
                let _ = run.queue.control.delete(&self.sign_key).await;
            }
            self.link.flush().await;
        };
        if self.link.is_connected() {
            let _ = tokio::time::timeout(FAREWELL, farewell).await;
        }
    }

    async fn take_cases(&self, cancel: &Cancel, tasks: &mut JoinSet<()>) {
        let slots = Arc::new(Semaphore::new(self.settings.slots));
        let mut turn = 0usize;
        let mut last_busy = Instant::now();
        loop {
            if !tasks.is_empty() {
                last_busy = Instant::now();
            }
            while tasks.try_join_next().is_some() {}
            if tasks.is_empty() && self.was_idle_since(last_busy) {
                return;
            }
            let permit = tokio::select! {
                permit = Arc::clone(&slots).acquire_owned() => permit,
                () = cancel.wait_for_first() => return,
            };
            let Ok(permit) = permit else { return };
            if cancel.is_asked() {
                return;
            }
            // A request that waits for the server would be answered when nothing waits for it any more.
            let away = Some(AGAIN).filter(|_| !self.link.is_connected());
            if let Some(pause) = away.or_else(|| self.counts.disk.pause(Instant::now())) {
                drop(permit);
                tokio::select! {
                    () = tokio::time::sleep(pause) => continue,
                    () = cancel.wait_for_first() => return,
                }
            }
            let mut permits = vec![permit];
            while let Ok(more) = Arc::clone(&slots).try_acquire_owned() {
                permits.push(more);
            }
            let places = self.places();
            turn = turn.wrapping_add(1);
            let mut has_taken = false;
            for at in 0..places.len() {
                if permits.is_empty() {
                    break;
                }
                let place = &places[(turn + at) % places.len()];
                has_taken |= self.take(place, None, &mut permits, tasks).await;
            }
            if has_taken {
                continue;
            }
            if places.is_empty() {
                drop(permits);
                tokio::select! {
                    () = self.runs.changed.notified() => {}
                    () = cancel.wait_for_first() => return,
                    () = tokio::time::sleep(AGAIN) => {}
                }
                continue;
            }
            let place = &places[turn % places.len()];
            permits.truncate(1);
            self.take(place, Some(place.poll()), &mut permits, tasks).await;
        }
    }

    /// Whether it is to end because there were no cases since then.
    fn was_idle_since(&self, last_busy: Instant) -> bool {
        let until = self.settings.until_idle.filter(|until| last_busy.elapsed() >= *until);
        if let Some(until) = until {
            (self.say)(format!("no cases for {} s, ending", until.as_secs_f64()));
        }
        until.is_some()
    }

    /// The classes of all runs that have cases to give.
    fn places(&self) -> Vec<TakePlace> {
        let runs = locked(&self.runs.all);
        let open = runs.values().filter(|run| run.takes_cases());
        let of = |run: &Arc<WorkerRun>| {
            let run = Arc::clone(run);
            (0..run.consumers.len()).map(move |at| TakePlace { run: Arc::clone(&run), at })
        };
        open.flat_map(of).collect()
    }

    /// Takes as many chains as there are permits. Waits for one only if asked to.
    async fn take(
        &self,
        place: &TakePlace,
        wait: Option<Duration>,
        permits: &mut Vec<OwnedSemaphorePermit>,
        tasks: &mut JoinSet<()>,
    ) -> bool {
        let (class, consumer) = &place.run.consumers[place.at];
        let asked = (Instant::now(), SystemTime::now());
        // A request is not given up before its end: what it brings would be lost until its lease ends. One without
        // an answer was lost with the connection.
        let most = wait.unwrap_or_default() + REQUEST_TIMEOUT;
        let batch = match wait {
            None => consumer.fetch().max_messages(permits.len()).messages().await,
            Some(wait) => consumer.batch().max_messages(1).expires(wait).messages().await,
        };
        let mut batch = match batch {
            Ok(batch) => batch,
            Err(error) => {
                let run = place.run.queue.name.as_str();
                place.trouble().say(&self.say, format!("run {run}: cannot take cases: {error}"));
                tokio::time::sleep(AGAIN).await;
                return false;
            }
        };
        place.trouble().clear();
        let mut has_taken = false;
        while let Ok(Some(message)) = tokio::time::timeout(most, batch.next()).await {
            let Ok(message) = message else { break };
            // As many as were asked for.
            let permit = permits.pop();
            has_taken = true;
            let (run, counts, class) = (Arc::clone(&place.run), Arc::clone(&self.counts), *class);
            tasks.spawn(async move {
                counts.running.fetch_add(1, Ordering::Relaxed);
                run.serve(message, class, asked, &counts).await;
                counts.running.fetch_sub(1, Ordering::Relaxed);
                drop(permit);
            });
        }
        if wait.is_some() && !has_taken {
            self.counts.set_pending(place.run.queue.name.as_str(), *class, 0);
        }
        has_taken
    }
}

/// A class of a run.
struct TakePlace {
    run: Arc<WorkerRun>,
    /// Index of its consumer.
    at: usize,
}

impl TakePlace {
    fn trouble(&self) -> &Trouble {
        &self.run.troubles[self.at]
    }

    /// A message may come at the end of the wait, and its lease has begun by then.
    fn poll(&self) -> Duration {
        POLL.min(self.run.queue.lease() / 4)
    }
}

/// The random end keeps workers apart whose names are the same as part of a key.
fn sign_key(name: &str) -> String {
    let random = RandomState::new().hash_one(SystemTime::now());
    format!("{WORKER_KEYS}{}-{random:016x}", key_token(name))
}

/// Tells each run that this worker is there, and what it does.
async fn give_signs(name: String, key: String, runs: Arc<ServedRuns>, counts: Arc<WorkerState>) {
    let mut given = BTreeMap::new();
    loop {
        let served: Vec<(RunName, Arc<WorkerRun>)> =
            locked(&runs.all).iter().map(|(name, run)| (name.clone(), Arc::clone(run))).collect();
        given.retain(|name, _| served.iter().any(|(served, _)| served == name));
        for (run_name, run) in served {
            let sign = run.sign(&name, &counts);
            let is_due = match given.get(&run_name) {
                None => true,
                Some((last, at)) => {
                    let elapsed = Instant::elapsed(at);
                    elapsed >= SIGN || (*last != sign && elapsed >= CHANGED_SIGN)
                }
            };
            if is_due && let Ok(bytes) = serde_json::to_vec(&sign) {
                let _ = run.queue.control.put(&key, bytes.into()).await;
                given.insert(run_name, (sign, Instant::now()));
            }
        }
        tokio::select! {
            () = runs.changed.notified() => {}
            () = tokio::time::sleep(CHANGED_SIGN) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_with_names_that_look_the_same_have_keys_of_their_own() {
        let keys = ["pod.1", "pod_1", "pod.1"].map(sign_key);
        assert!(keys.iter().all(|key| key.starts_with("worker.pod_1-")), "{keys:?}");
        assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2], "{keys:?}");
    }
}
