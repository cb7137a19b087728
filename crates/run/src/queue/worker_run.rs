//! A run as a worker serves it: its bundle on disk, the classes of cases that can run here, and the life
//! of a chain from lease to row.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use async_nats::Error;
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use camino::Utf8Path;
use evalrig_core::plan::PlannedCase;
use evalrig_core::secrets::Secrets;
use tokio::sync::{RwLock, watch};

use crate::disk::remove_tree;
use crate::execute::{ChainRunner, GivenChain, Job, RowSink};
use crate::lock::locked;
use crate::rate::BucketStores;

use super::bundle_cache::CachedBundle;
use super::control_state::ControlState;
use super::error::QueueError;
use super::given_back::{count_given_back, note_given_back};
use super::known_answers::EarlierWork;
use super::lease::Lease;
use super::manifest::BundleManifest;
use super::materialise::materialise;
use super::message::{ChainMessage, WorkerSign};
use super::names::class_consumer;
use super::publisher::{AnswerSink, RunPublisher, WarningSink};
use super::run_description::read_manifest;
use super::run_queue::RunQueue;
use super::taken_chain::TakenChain;
use super::trouble::Trouble;
use super::worker_state::WorkerState;

/// A chain is delivered once, and again this often. Then its cases are errored.
pub(super) const MOST_REDELIVERIES: i64 = 5;

/// Tests that are named in a sign of life.
const NAMED_TESTS: usize = 3;

/// Makes jobs from bundles.
pub(crate) trait BundleLoader: Send + Sync {
    /// Blocks. Fails with the reason why nothing of the bundle can be run.
    fn load(&self, bundle: BundleToLoad<'_>) -> Result<LoadedBundle, String>;
}

pub(crate) struct BundleToLoad<'a> {
    pub(crate) manifest: &'a BundleManifest,
    pub(crate) directory: &'a Utf8Path,
    pub(crate) buckets: Arc<dyn BucketStores>,
    /// The sink for answers, given the secrets that are known here.
    pub(crate) sink: &'a (dyn Fn(Arc<Secrets>) -> Arc<dyn RowSink> + Sync),
}

/// The suites of a bundle, in the order of its request.
pub(crate) struct LoadedBundle {
    pub(crate) job: Job,
    /// Suites whose tests are the same here as on the coordinator.
    pub(crate) usable: Vec<bool>,
    /// Why some targets cannot be used here.
    pub(crate) left_out: Vec<String>,
    /// Programs that checks need and this machine lacks.
    pub(crate) missing_programs: BTreeSet<String>,
}

/// How the life of a chain ended.
pub(super) enum ChainEnd {
    /// Its rows are on the server.
    Done,
    /// It is another worker's now, or the run is over.
    Lost,
    /// Another worker is to run the rest of it: this one drains, or the run starts no case.
    Left,
    /// This worker cannot run it.
    GivenBack(String),
    /// This worker has no space for it.
    DiskFull(String),
    /// It never can be run.
    Refused(String),
}

pub(super) struct WorkerRun {
    pub(super) queue: RunQueue,
    pub(super) state: watch::Receiver<ControlState>,
    pub(super) consumers: Vec<(usize, Consumer<pull::Config>)>,
    /// Of taking cases, by consumer: one that works does not hide that another does not.
    pub(super) troubles: Vec<Trouble>,
    pub(super) left_out: Vec<String>,
    pub(super) runner: ChainRunner,
    /// `None` once the run has ended.
    bundle: Mutex<Option<CachedBundle>>,
    /// Shared by chains while they run.
    busy: RwLock<()>,
    pub(super) publisher: Arc<RunPublisher>,
    /// By suite, the index of each test.
    tests: Vec<HashMap<String, usize>>,
    pub(super) done: AtomicU64,
    /// Chains whose lease this worker has.
    pub(super) leased: Mutex<BTreeMap<u64, LeasedChain>>,
    next: AtomicU64,
    warn: WarningSink,
}

/// A chain that this worker has.
#[derive(Debug)]
pub(super) struct LeasedChain {
    class: usize,
    /// The case that runs.
    pub(super) test: Option<String>,
}

/// What all runs of a worker share.
#[derive(Clone)]
pub(super) struct ServingContext {
    pub(super) worker: String,
    pub(super) cache: camino::Utf8PathBuf,
    pub(super) loader: Arc<dyn BundleLoader>,
    pub(super) buckets: Arc<dyn BucketStores>,
    pub(super) warn: WarningSink,
}

impl WorkerRun {
    pub(super) async fn open(
        queue: RunQueue,
        state: watch::Receiver<ControlState>,
        context: &ServingContext,
    ) -> Result<Self, QueueError> {
        let manifest = read_manifest(&queue).await?;
        let bundle = materialise(&queue, &manifest, &context.cache).await?;
        let directory = bundle.directory.clone();
        let ServingContext { worker, loader, buckets, warn, .. } = context.clone();
        let publisher = Arc::new(RunPublisher::new(queue.clone(), worker, warn.clone()));
        let answers = Arc::clone(&publisher);
        let classes = manifest.classes.clone();
        let loaded = tokio::task::spawn_blocking(move || {
            let sink = |secrets| -> Arc<dyn RowSink> {
                Arc::new(AnswerSink { publisher: Arc::clone(&answers), secrets })
            };
            loader.load(BundleToLoad {
                manifest: &manifest,
                directory: &directory,
                buckets,
                sink: &sink,
            })
        });
        let loaded = loaded.await.map_err(|error| QueueError::of("load the run", error))?;
        let loaded = loaded.map_err(QueueError::new)?;
        let LoadedBundle { job, usable, left_out, missing_programs } = loaded;
        let is_served = |member: &super::manifest::ClassMember| {
            let suite = &job.suites[member.suite].job;
            let mut needed = member.needed.iter();
            let mut programs = member.programs.iter();
            usable[member.suite]
                && needed.all(|name| suite.connected.contains_key(name))
                && !programs.any(|program| missing_programs.contains(program))
        };
        let mut consumers = Vec::new();
        for (at, class) in classes.iter().enumerate() {
            if class.members.iter().all(is_served) {
                let consumer = queue.cases.get_consumer(&class_consumer(at)).await;
                let consumer = consumer
                    .map_err(|error| QueueError::new(format!("cannot take cases: {error}")))?;
                consumers.push((at, consumer));
            }
        }
        let index = |suite: &crate::execute::SuiteRun| {
            let tests = suite.job.suite.tests.iter().enumerate();
            tests.map(|(at, test)| (test.id.to_string(), at)).collect()
        };
        let tests = job.suites.iter().map(index).collect();
        let warn = warn.redacting(Arc::clone(&job.options.secrets));
        let retried = warn.clone();
        let tell = Box::new(move |event| {
            if let crate::event::Event::Warning(text) = event {
                (retried.0)(text);
            }
        });
        Ok(Self {
            queue,
            state,
            troubles: consumers.iter().map(|_| Trouble::default()).collect(),
            consumers,
            left_out,
            runner: ChainRunner::new(job, tell),
            bundle: Mutex::new(Some(bundle)),
            busy: RwLock::new(()),
            publisher,
            tests,
            done: AtomicU64::new(0),
            leased: Mutex::default(),
            next: AtomicU64::new(0),
            warn,
        })
    }

    pub(super) fn takes_cases(&self) -> bool {
        !self.is_over() && self.state.borrow().takes_cases()
    }

    /// Whether the run is gone, or running cases are to be stopped.
    pub(super) fn is_over(&self) -> bool {
        self.state.has_changed().is_err() || *self.state.borrow() == ControlState::Abandoned
    }

    /// Nothing more need be stored.
    pub(super) fn end(&self) {
        self.publisher.end();
    }

    /// Of a run that is gone: what is left of it here is removed once its chains have stopped. Returns
    /// warnings.
    pub(super) async fn remove(&self) -> Vec<String> {
        let _alone = self.busy.write().await;
        let warnings = self.finish().await;
        let scratch = self.runner.job().options.scratch.clone();
        let bundle = locked(&self.bundle).take();
        let removed = tokio::task::spawn_blocking(move || {
            // What cannot be removed goes with the worker's own directory.
            let _ = remove_tree(&scratch);
            if let Some(bundle) = bundle {
                bundle.remove();
            }
        });
        let _ = removed.await;
        warnings
    }

    pub(super) async fn finish(&self) -> Vec<String> {
        let secrets = &self.runner.job().options.secrets;
        self.runner.finish().await.iter().map(|warning| secrets.redact(warning)).collect()
    }

    pub(super) fn sign(&self, name: &str, counts: &WorkerState) -> WorkerSign {
        let leased = locked(&self.leased);
        let classes = self.consumers.iter().map(|(class, _)| *class);
        let held: BTreeSet<usize> = leased.values().map(|chain| chain.class).collect();
        let tests = leased.values().filter_map(|chain| chain.test.clone());
        WorkerSign {
            name: name.to_owned(),
            slots: counts.slots,
            running: leased.len(),
            done: self.done.load(Ordering::Relaxed),
            starts_cases: self.takes_cases() && !counts.is_draining(),
            classes: if counts.is_ready() { classes.collect() } else { Vec::new() },
            held: held.into_iter().collect(),
            tests: tests.take(NAMED_TESTS).collect(),
            trouble: self.publisher.trouble(),
        }
    }

    /// From lease to acknowledgement.
    pub(super) async fn serve(
        &self,
        message: Message,
        class: usize,
        asked: (Instant, SystemTime),
        counts: &WorkerState,
    ) {
        let _busy = self.busy.read().await;
        let message = Arc::new(message);
        let lease = Lease::new(Arc::clone(&message), self.queue.lease(), asked);
        counts.leases.fetch_add(1, Ordering::Relaxed);
        let delivered = message.info().map_or(1, |info| {
            counts.set_pending(self.queue.name.as_str(), class, info.pending);
            info.delivered
        });
        if delivered > 1 {
            counts.redeliveries.fetch_add(1, Ordering::Relaxed);
        }
        let mut state = self.state.clone();
        let abandoned = state.wait_for(|state| *state == ControlState::Abandoned);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        locked(&self.leased).insert(number, LeasedChain { class, test: None });
        let end = tokio::select! {
            end = self.run_message(&message, delivered, &lease, number, counts) => end,
            _ = abandoned => ChainEnd::Left,
        };
        self.acknowledge(&message, end, counts).await;
        locked(&self.leased).remove(&number);
    }

    async fn acknowledge(&self, message: &Message, end: ChainEnd, counts: &WorkerState) {
        let acknowledged = match end {
            ChainEnd::Done => message.ack().await,
            ChainEnd::Lost => {
                counts.lost.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            ChainEnd::Left => self.give_back(message, None).await,
            ChainEnd::GivenBack(reason) => {
                (self.warn.0)(format!("leaving a case to other workers: {reason}"));
                self.give_back(message, Some(self.queue.lease())).await
            }
            ChainEnd::DiskFull(reason) => {
                if counts.disk.note(Instant::now()) {
                    (self.warn.0)(format!(
                        "disk full; leaving cases to other workers until there is space: {reason}"
                    ));
                }
                self.give_back(message, Some(self.queue.lease())).await
            }
            ChainEnd::Refused(reason) => {
                (self.warn.0)(format!("a message is not a case of this run: {reason}"));
                message.ack_with(AckKind::Term).await
            }
        };
        // Without it the chain is delivered again, and its rows are found.
        drop(acknowledged);
    }

    /// Lets another worker have the chain, after a wait if this one would get it again at once.
    async fn give_back(&self, message: &Message, wait: Option<Duration>) -> Result<(), Error> {
        if let Ok(info) = message.info() {
            // Without it, this delivery counts as one to a worker that was lost.
            let _ = note_given_back(&self.queue.control, info.stream_sequence).await;
        }
        message.ack_with(AckKind::Nak(wait)).await
    }

    async fn run_message(
        &self,
        message: &Message,
        delivered: i64,
        lease: &Lease,
        number: u64,
        counts: &WorkerState,
    ) -> ChainEnd {
        let chain: ChainMessage = match serde_json::from_slice(&message.payload) {
            Ok(chain) => chain,
            Err(error) => return ChainEnd::Refused(error.to_string()),
        };
        let cases = match self.planned(&chain) {
            Ok(cases) => cases,
            Err(reason) => return ChainEnd::Refused(reason),
        };
        let mut earlier = EarlierWork { finished: vec![false; cases.len()], ..Default::default() };
        if delivered > 1 {
            match EarlierWork::of(&self.queue, &chain.cases).await {
                Ok(found) => earlier = found,
                Err(reason) => return ChainEnd::GivenBack(reason),
            }
        }
        if earlier.finished.iter().all(|is_finished| *is_finished) {
            return ChainEnd::Done;
        }
        let EarlierWork { finished, answered } = earlier;
        let given = GivenChain { suite: chain.suite, cases, answered };
        // A server that has just become the leader may not know of the first delivery.
        let may_be_repeated = delivered > 1 || self.queue.entry.replicas > 1;
        let cases = &chain.cases;
        let taken = TakenChain { given, cases, finished, may_be_repeated, lease, number };
        match self.was_lost_too_often(message, delivered).await {
            Ok(true) => self.give_up(&taken, counts).await,
            Ok(false) => self.run_cases(&taken, counts).await,
            Err(error) => ChainEnd::GivenBack(error.to_string()),
        }
    }

    async fn was_lost_too_often(
        &self,
        message: &Message,
        delivered: i64,
    ) -> Result<bool, QueueError> {
        if delivered <= 1 + MOST_REDELIVERIES {
            return Ok(false);
        }
        let sequence = message.info().map_or(0, |info| info.stream_sequence);
        let given_back = count_given_back(&self.queue.control, sequence).await?;
        Ok(delivered - given_back > 1 + MOST_REDELIVERIES)
    }

    /// The cases of a chain in the suites that this worker has.
    fn planned(&self, chain: &ChainMessage) -> Result<Vec<PlannedCase>, String> {
        let (Some(suite), Some(tests)) =
            (self.runner.job().suites.get(chain.suite), self.tests.get(chain.suite))
        else {
            return Err("it has an unknown suite".to_owned());
        };
        let suite = &suite.job;
        if chain.cases.is_empty() {
            return Err("it has no cases".to_owned());
        }
        let planned = chain.cases.iter().map(|case| {
            let test = tests.get(&case.test).copied().filter(|_| case.suite == suite.suite.name);
            let test = test.ok_or_else(|| "it has an unknown test".to_owned())?;
            if suite.hash(test) != case.hash {
                return Err(format!("hash mismatch for test `{}`", case.test));
            }
            if !suite.connected.contains_key(&case.target) {
                return Err("it has an unknown target".to_owned());
            }
            Ok(PlannedCase { test, target: case.target.clone(), trial: case.trial })
        });
        planned.collect()
    }
}

impl std::fmt::Debug for WorkerRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerRun").field("name", &self.queue.name).finish_non_exhaustive()
    }
}
