//! A run on its way to the server. Everything about it that can be wrong is found before anything is there.

use evalrig_core::model::Judging;

use crate::clock::rfc3339;

use super::bundle::CollectedFiles;
use super::chain_sending::ChainSending;
use super::control_state::ControlState;
use super::coordinator::Coordinator;
use super::error::QueueError;
use super::link::QueueLink;
use super::manifest::{BundleManifest, CaseClass, LARGEST_MANIFEST};
use super::message::{ChainMessage, LARGEST_CHAINS, RunEntry, VERSION};
use super::names::{CHAINS, MANIFEST, RunName};
use super::patience::ServerPatience;
use super::payload;
use super::queued_plan::{QueuedPlan, classes_and_chains, hashes_of};
use super::run_description::check_sendable;
use super::run_queue::RunQueue;

#[derive(Debug)]
pub(crate) struct PreparedRun {
    name: RunName,
    entry: RunEntry,
    files: CollectedFiles,
    manifest: Vec<u8>,
    listed: Vec<u8>,
    classes: Vec<CaseClass>,
    /// In a run in rounds, those of earlier rounds come first.
    chains: Vec<ChainMessage>,
}

impl PreparedRun {
    pub(crate) fn new(plan: QueuedPlan<'_>) -> Result<Self, QueueError> {
        let judging = if plan.request.skip_judges { Judging::Skip } else { Judging::Ask };
        let (classes, mut chains) = classes_and_chains(&plan.suites, judging);
        if plan.in_rounds {
            chains.sort_by_key(ChainMessage::round);
        }
        let cases = chains.iter().map(|chain| chain.cases.len()).sum();
        let files = CollectedFiles::read(&plan.files, plan.base, plan.secrets)?;
        let manifest = BundleManifest {
            version: VERSION,
            run: plan.name.as_str().to_owned(),
            files: files.files.clone(),
            directories: files.directories.clone(),
            links: files.links.clone(),
            request: plan.request,
            planned: plan.planned,
            hashes: plan.suites.iter().map(|suite| hashes_of(suite)).collect(),
            classes: classes.clone(),
        };
        let bytes = manifest.to_bytes()?;
        // The bundle must be one that workers accept.
        let hash = payload::sha256(&bytes);
        BundleManifest::read(&bytes, &hash, plan.name.as_str())?;
        let listed = serde_json::to_vec(&chains)
            .map_err(|error| QueueError::of("describe the cases", error))?;
        check_sendable(&bytes, LARGEST_MANIFEST, plan.secrets)?;
        check_sendable(&listed, LARGEST_CHAINS, plan.secrets)?;
        let entry = RunEntry {
            version: VERSION,
            evalrig: env!("CARGO_PKG_VERSION").to_owned(),
            manifest: hash,
            cases,
            chains: chains.len(),
            classes: classes.len(),
            lease_ms: u64::try_from(plan.settings.lease.as_millis()).unwrap_or(u64::MAX),
            patience_ms: u64::try_from(plan.settings.patience.as_millis()).unwrap_or(u64::MAX),
            replicas: plan.settings.replicas,
            in_rounds: plan.in_rounds,
            created: rfc3339(std::time::SystemTime::now()),
        };
        Ok(Self { name: plan.name, entry, files, manifest: bytes, listed, classes, chains })
    }

    pub(crate) fn name(&self) -> &RunName {
        &self.name
    }

    /// Workers may run it from now on. If that fails, nothing of it stays there.
    pub(crate) async fn put_on_server(
        self,
        link: &QueueLink,
        patience: &mut ServerPatience<'_>,
    ) -> Result<Coordinator, QueueError> {
        let name = self.name.clone();
        let started = self.put(link, patience).await;
        if started.is_err() && link.is_connected() {
            // `queue remove` can do the same later.
            let _ = RunQueue::delete(link, &name).await;
        }
        started
    }

    /// Each step may be repeated.
    async fn put(
        self,
        link: &QueueLink,
        patience: &mut ServerPatience<'_>,
    ) -> Result<Coordinator, QueueError> {
        let create = async || RunQueue::create(link, self.name.clone(), self.entry.clone()).await;
        let queue = patience.attempt(link, create).await?;
        patience.attempt(link, async || self.put_description(&queue).await).await?;
        let first = ChainSending::first();
        let mut coordinator = Coordinator::new(queue, self.classes, self.chains, first);
        patience.attempt(link, async || coordinator.begin().await).await?;
        Ok(coordinator)
    }

    async fn put_description(&self, queue: &RunQueue) -> Result<(), QueueError> {
        self.files.upload(&queue.bundle).await?;
        for (name, bytes) in [(CHAINS, &self.listed), (MANIFEST, &self.manifest)] {
            let put = queue.bundle.put(name, bytes).await;
            put.map_err(|error| QueueError::of("send the description of the run", error))?;
        }
        ControlState::Queueing.put(&queue.control).await?;
        queue.announce().await
    }
}
