//! Messages, as JSON. Unknown keys are ignored, so that later versions can add some.

use serde::{Deserialize, Serialize};

use crate::results::CaseKey;

use super::error::QueueError;
use super::names::RunName;

/// All chains of a run, as one text. A million cases need less.
pub(super) const LARGEST_CHAINS: u64 = 256 * 1024 * 1024;

/// A chain: cases that one worker runs, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChainMessage {
    /// Index of the suite in the manifest.
    pub(super) suite: usize,
    pub(super) class: usize,
    pub(super) cases: Vec<CaseMessage>,
}

impl ChainMessage {
    /// The round of a run in rounds: its cases are of one trial.
    pub(super) fn round(&self) -> u32 {
        self.cases.first().map_or(0, |case| case.trial)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CaseMessage {
    pub(super) suite: String,
    pub(super) test: String,
    pub(super) target: String,
    pub(super) trial: u32,
    pub(super) hash: String,
}

impl CaseMessage {
    pub(super) fn new(key: CaseKey, hash: &str) -> Self {
        let CaseKey { suite, test, target, trial } = key;
        Self { suite, test, target, trial, hash: hash.to_owned() }
    }

    pub(super) fn key(&self) -> CaseKey {
        CaseKey {
            suite: self.suite.clone(),
            test: self.test.clone(),
            target: self.target.clone(),
            trial: self.trial,
        }
    }
}

/// The entry of a run in the bucket of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunEntry {
    pub(super) version: u32,
    pub(super) evalrig: String,
    /// SHA-256 of the manifest.
    pub(super) manifest: String,
    pub(super) cases: usize,
    pub(super) chains: usize,
    pub(super) classes: usize,
    pub(super) lease_ms: u64,
    pub(super) patience_ms: u64,
    pub(super) replicas: usize,
    /// Whether cases are sent round by round.
    #[serde(default)]
    pub(super) in_rounds: bool,
    /// RFC 3339, UTC.
    pub(super) created: String,
}

impl RunEntry {
    pub(super) fn read(bytes: &[u8], name: &RunName) -> Result<Self, QueueError> {
        let entry: Self = serde_json::from_slice(bytes)
            .map_err(|error| QueueError::of("read the entry of the run", error))?;
        if entry.version == VERSION {
            Ok(entry)
        } else {
            let (run, version) = (name.as_str(), entry.version);
            Err(QueueError::new(format!(
                "run {run} has version {version}, which this evalrig does not know"
            )))
        }
    }
}

/// The version of everything that is on the server.
pub(super) const VERSION: u32 = 1;

/// What a worker says of itself, in the control bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkerSign {
    pub(super) name: String,
    pub(super) slots: usize,
    pub(super) running: usize,
    /// Cases of this run.
    pub(super) done: u64,
    /// Whether it starts cases of this run.
    #[serde(default)]
    pub(super) starts_cases: bool,
    /// The classes that it takes cases of.
    pub(super) classes: Vec<usize>,
    /// The classes of the chains that it has.
    #[serde(default)]
    pub(super) held: Vec<usize>,
    /// Ids of some tests that run.
    pub(super) tests: Vec<String>,
    /// Why its rows wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trouble: Option<String>,
}
