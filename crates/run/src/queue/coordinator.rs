//! The coordinator: sends chains to the server, takes rows from it, and decides when no case is started
//! any more. It may die at any moment: everything that it needs to go on is on the server and in the
//! results file.

use std::collections::{HashMap, HashSet};

use async_nats::jetstream::consumer::{Consumer, DeliverPolicy, pull};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;

use crate::event::Event;
use crate::execute::{CollectionEnd, RemoteExecution, RowIntake};
use crate::results::{CaseKey, Row};

use super::chain_sending::ChainSending;
use super::collection::Collection;
use super::control_state::ControlState;
use super::error::QueueError;
use super::link::QueueLink;
use super::manifest::{BundleManifest, CaseClass};
use super::message::{CaseMessage, ChainMessage};
use super::names::RunName;
use super::object_bucket::Unread;
use super::open_cases::OpenCases;
use super::payload;
use super::presence::Presence;
use super::row_message::row_of_message;
use super::run_description::{read_chains, read_manifest};
use super::run_queue::RunQueue;
use super::waiting::ClassWatch;

/// What the server says of a run.
pub(super) enum ServerAnswer {
    GoesOn,
    /// No case is started any more.
    Stopped(ControlState),
    Removed,
}

/// Takes the rows of a run from the server.
#[derive(Debug)]
pub(crate) struct Coordinator {
    pub(super) queue: RunQueue,
    classes: Vec<CaseClass>,
    /// In a run in rounds, those of earlier rounds come first.
    chains: Vec<ChainMessage>,
    sending: ChainSending,
    /// Whether the run goes on without this process (`--attach`).
    is_follower: bool,
    presence: Presence,
    /// Rows for cases that had one.
    pub(super) duplicates: u64,
    /// Rows that do not belong to the run.
    refused: u64,
}

impl Coordinator {
    /// A run that is on the server; `None` if it is not. `cases` are those that have no row yet; all of them must
    /// be part of that run.
    pub(crate) async fn attach<'k>(
        link: &QueueLink,
        name: RunName,
        cases: impl Iterator<Item = (CaseKey, &'k str)>,
    ) -> Result<Option<Self>, QueueError> {
        let Some(queue) = RunQueue::open(link, name).await? else { return Ok(None) };
        let manifest = read_manifest(&queue).await?;
        let chains = read_chains(&queue).await?;
        let queued = chains.iter().flat_map(|chain| &chain.cases);
        let queued: HashMap<CaseKey, &str> =
            queued.map(|case| (case.key(), case.hash.as_str())).collect();
        for (key, hash) in cases {
            if queued.get(&key) != Some(&hash) {
                let run = queue.name.as_str();
                return Err(QueueError::new(format!(
                    "test `{}` is not in run {run} as it is now; end that run with `evalrig queue \
                     remove {run} {}` and start again",
                    key.test,
                    link.option()
                )));
            }
        }
        let state = ControlState::of(&queue.control).await?;
        if state == ControlState::Cancelled {
            let run = queue.name.as_str();
            return Err(QueueError::new(format!(
                "run {run} was cancelled; `evalrig run --attach {run} {}` writes the rows that it has",
                link.option()
            )));
        }
        let sending = ChainSending::of(&queue, chains.len()).await?;
        Ok(Some(Self::new(queue, manifest.classes, chains, sending)))
    }

    /// As [`Self::attach`], for a run whose cases are all without a row here; it may be cancelled. A signal does
    /// not stop it.
    pub(crate) async fn follow(
        queue: RunQueue,
        manifest: &BundleManifest,
    ) -> Result<Self, QueueError> {
        let chains = read_chains(&queue).await?;
        let state = ControlState::of(&queue.control).await?;
        let classes = manifest.classes.clone();
        let sending = ChainSending::of(&queue, chains.len()).await?;
        if state != ControlState::Cancelled && queue.entry.in_rounds {
            let run = queue.name.as_str();
            return Err(QueueError::new(format!(
                "run {run} runs in rounds, which only its coordinator decides; continue it with `evalrig run --resume`, \
                 or cancel it with `evalrig queue cancel {run}` and attach again to write its rows"
            )));
        }
        Ok(Self {
            is_follower: true,
            presence: Presence::of_follower(),
            ..Self::new(queue, classes, chains, sending)
        })
    }

    pub(super) fn new(
        queue: RunQueue,
        classes: Vec<CaseClass>,
        chains: Vec<ChainMessage>,
        sending: ChainSending,
    ) -> Self {
        Self {
            queue,
            classes,
            chains,
            sending,
            is_follower: false,
            presence: Presence::of_coordinator(),
            duplicates: 0,
            refused: 0,
        }
    }

    pub(crate) fn link(&self) -> &QueueLink {
        &self.queue.link
    }

    pub(crate) fn name(&self) -> &RunName {
        &self.queue.name
    }

    /// Lets workers begin, unless the run was cancelled. In a run in rounds, cases are sent when their round begins.
    pub(crate) async fn begin(&mut self) -> Result<(), QueueError> {
        // What the server cannot store is noticed with the state.
        let _ = self.presence.give(&self.queue.control).await;
        if ControlState::of(&self.queue.control).await? == ControlState::Cancelled {
            return Ok(());
        }
        if !self.queue.entry.in_rounds {
            self.send_chains(self.chains.len()).await?;
        }
        ControlState::Running.put(&self.queue.control).await
    }

    /// Sends what was not sent of these first chains.
    async fn send_chains(&mut self, first: usize) -> Result<(), QueueError> {
        self.sending.send(&self.queue, &self.chains, first).await
    }

    /// Sends the cases of the rounds up to this one.
    pub(super) async fn send_rounds(&mut self, round: u32) -> Result<(), QueueError> {
        self.send_chains(self.chains.partition_point(|chain| chain.round() <= round)).await
    }

    pub(super) fn is_in_rounds(&self) -> bool {
        self.queue.entry.in_rounds
    }

    pub(super) fn watch_classes(&self) -> ClassWatch {
        ClassWatch::new(self.classes.len(), self.queue.patience())
    }

    pub(super) fn class(&self, class: usize) -> Option<&CaseClass> {
        self.classes.get(class)
    }

    /// The cases of a class that have no row.
    pub(super) fn cases_of(&self, class: usize, open: &OpenCases) -> Vec<CaseKey> {
        let chains = self.chains.iter().filter(|chain| chain.class == class);
        let keys = chains.flat_map(|chain| chain.cases.iter().map(CaseMessage::key));
        keys.filter(|key| open.is_due(key)).collect()
    }

    /// Removes the cases of a class that no worker has taken.
    pub(super) async fn purge_class(&self, class: usize) {
        let subject = self.queue.name.class_subject(class);
        let _ = self.queue.cases.purge().filter(subject).await;
    }

    pub(super) async fn put_state(&self, state: ControlState) {
        // The run ends whether or not workers hear of it.
        let _ = state.put(&self.queue.control).await;
    }

    /// Whether someone else has ended the run.
    pub(super) async fn ask_server(&self) -> ServerAnswer {
        if !self.is_connected() {
            return ServerAnswer::GoesOn;
        }
        match self.queue.control.get(super::names::STATE_KEY).await {
            Ok(Some(bytes)) => match ControlState::read(&bytes) {
                state if state.takes_cases() => ServerAnswer::GoesOn,
                state => ServerAnswer::Stopped(state),
            },
            Ok(None) => ServerAnswer::GoesOn,
            Err(_) => {
                let found = RunQueue::open(&self.queue.link, self.queue.name.clone()).await;
                if matches!(found, Ok(None)) { ServerAnswer::Removed } else { ServerAnswer::GoesOn }
            }
        }
    }

    pub(super) async fn open_rows(&self, next: u64) -> Option<pull::Ordered> {
        let deliver_policy = DeliverPolicy::ByStartSequence { start_sequence: next };
        let config = pull::OrderedConfig { deliver_policy, ..pull::OrderedConfig::default() };
        let consumer: Consumer<pull::OrderedConfig> =
            self.queue.rows.create_consumer(config).await.ok()?;
        consumer.messages().await.ok()
    }

    /// Fails with the reason if the server cannot give the row now.
    pub(super) async fn take_row(
        &mut self,
        intake: &RowIntake,
        message: &async_nats::jetstream::Message,
        open: &mut OpenCases,
        seen: &mut HashSet<CaseKey>,
    ) -> Result<(), String> {
        let row = match self.read_row(intake, message, open).await {
            Ok(row) => row,
            Err(Unread::Unreachable(reason)) => return Err(reason),
            Err(Unread::Forged(reason)) => {
                self.refuse(intake, &reason);
                return Ok(());
            }
        };
        let key = row.key();
        if !seen.insert(key.clone()) {
            self.duplicates += 1;
        } else if let Some(at) = open.remove(&key) {
            intake.accept(at, row).await;
        }
        Ok(())
    }

    /// Counts a message that is not a row. The user hears of the first.
    pub(super) fn refuse(&mut self, intake: &RowIntake, reason: &str) {
        self.refused += 1;
        if self.refused == 1 {
            let text = format!("the server has a message that is not a row of this run: {reason}");
            intake.tell(Event::Warning(text));
        }
    }

    async fn read_row(
        &self,
        intake: &RowIntake,
        message: &async_nats::jetstream::Message,
        open: &OpenCases,
    ) -> Result<Row, Unread> {
        let bytes =
            payload::received(&self.queue.bundle, message.headers.as_ref(), &message.payload);
        let row = row_of_message(&bytes.await?, &message.subject, &self.queue.name);
        let row = row.map_err(Unread::Forged)?;
        match open.find(&row.key()) {
            Some(at) if row.test_hash != intake.test_hash(at) => {
                Err(Unread::Forged(format!("hash mismatch for test `{}`", row.eval_id)))
            }
            // A case that has a row: nothing is written.
            _ => Ok(row),
        }
    }

    /// Fails with the reason if the server stores nothing. Workers cannot tell: their signs are stored too.
    pub(super) async fn try_store(&self) -> Result<(), String> {
        self.presence.give(&self.queue.control).await
    }

    pub(super) fn is_connected(&self) -> bool {
        self.queue.link.is_connected()
    }

    pub(super) async fn has_read_all(&self, next: u64) -> bool {
        let info = self.queue.rows.get_info().await;
        info.is_ok_and(|info| info.state.last_sequence < next)
    }

    pub(super) async fn has_no_leases(&self) -> bool {
        let mut consumers = self.queue.cases.consumers();
        while let Some(info) = consumers.next().await {
            if !info.is_ok_and(|info| info.num_ack_pending == 0) {
                return false;
            }
        }
        true
    }

    /// Whether no chain is on the server, and no row that was not read.
    pub(super) async fn has_nothing(&self, next: u64) -> bool {
        let info = self.queue.cases.get_info().await;
        info.is_ok_and(|info| info.state.messages == 0) && self.has_read_all(next).await
    }

    /// Whether it can go on, or must be removed; also if the server cannot be asked.
    pub(crate) async fn is_on_server(&self) -> bool {
        let found = RunQueue::open(&self.queue.link, self.queue.name.clone()).await;
        !matches!(found, Ok(None))
    }

    /// Whether the run goes on without this process.
    pub(crate) fn is_follower(&self) -> bool {
        self.is_follower
    }

    /// The option that leads to the server.
    pub(crate) fn option(&self) -> String {
        self.queue.link.option()
    }

    /// Takes the sign of this process away. True if another one takes rows still.
    pub(crate) async fn leave(&self) -> bool {
        self.is_connected() && self.presence.end(&self.queue.control).await
    }

    pub(crate) async fn delete(&self) -> Result<(), QueueError> {
        RunQueue::delete(&self.queue.link, &self.queue.name).await
    }
}

impl RemoteExecution for Coordinator {
    fn collect<'a>(&'a mut self, intake: &'a RowIntake) -> BoxFuture<'a, CollectionEnd> {
        Box::pin(Collection::new(self, intake).run())
    }
}
