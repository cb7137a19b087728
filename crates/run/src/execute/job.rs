//! The input of a run: suites, their cases and connected targets. It is complete before anything is
//! called, so that a missing piece costs no money.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use evalrig_core::model::{Judging, Suite, Transcript};
use evalrig_core::plan::{Chain, PlannedCase};
use evalrig_core::score::Thresholds;
use evalrig_core::source::Sources;

use crate::record::CaseKey;
use crate::runlog::Recording;

use super::connected_target::ConnectedTarget;
use super::row_sink::RowSink;

/// One suite with everything that its cases need.
#[derive(Debug)]
pub struct SuiteJob {
    pub suite: Suite,
    pub sources: Sources,
    /// The main file, absolute.
    pub path: Utf8PathBuf,
    /// The repository root, absolute.
    pub root: Utf8PathBuf,
    pub thresholds: Thresholds,
    /// By the name that cases use.
    pub connected: HashMap<String, Arc<ConnectedTarget>>,
    /// Stored answers of the targets, when a run is graded again. A target may be a judge too, and
    /// judges are still called.
    pub replays: HashMap<String, Arc<ConnectedTarget>>,
    /// Judge of a target's cases, by the name of the target.
    pub judges: HashMap<String, String>,
    /// The planned cases, in order.
    pub chains: Vec<Chain>,
    /// Names of the targets that cases of this suite run against.
    pub targets: Vec<String>,
    /// `testHash` by index of the test; empty for tests without a case.
    pub hashes: Vec<String>,
}

impl SuiteJob {
    /// The stored answers of a target, or the target itself.
    pub fn target(&self, name: &str) -> Option<&Arc<ConnectedTarget>> {
        self.replays.get(name).or_else(|| self.connected.get(name))
    }

    /// `testHash` of a test that has a case.
    pub fn hash(&self, test: usize) -> &str {
        &self.hashes[test]
    }

    pub fn key(&self, case: &PlannedCase) -> CaseKey {
        CaseKey {
            suite: self.suite.name.clone(),
            test: self.suite.tests[case.test].id.to_string(),
            target: case.target.clone(),
            trial: case.trial,
        }
    }

    /// Every case with the `testHash` of its test.
    pub fn keys(&self) -> impl Iterator<Item = (CaseKey, &str)> {
        let cases = self.chains.iter().flatten();
        cases.map(|case| (self.key(case), self.hash(case.test)))
    }

    /// The main file, relative to the repository root.
    pub fn file(&self) -> String {
        let shown = self.path.strip_prefix(&self.root).unwrap_or(&self.path);
        shown.as_str().replace('\\', "/")
    }

    pub fn case_count(&self) -> usize {
        self.chains.iter().map(Vec::len).sum()
    }

    pub fn target_count(&self) -> usize {
        self.targets.len()
    }
}

/// An answer that an earlier run got but did not grade.
#[derive(Debug, Clone)]
pub struct UngradedAnswer {
    pub transcript: Transcript,
    pub attempts: u32,
}

#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Limit on concurrent cases over all targets.
    pub workers: Option<usize>,
    pub timeout: Option<Duration>,
    pub retries: Option<u32>,
    pub budget_usd: Option<f64>,
    pub max_errors: Option<u64>,
    pub judging: Judging,
    /// Whether rows hold the messages.
    pub messages: bool,
    /// Where temporary files go.
    pub scratch: Utf8PathBuf,
    /// Records cases in `.co/evals`.
    pub recording: Option<Arc<Recording>>,
}

/// A suite with the sink of its rows.
#[derive(Debug)]
pub struct SuiteRun {
    pub job: SuiteJob,
    pub sink: Arc<dyn RowSink>,
}

#[derive(Debug)]
pub struct Job {
    pub suites: Vec<SuiteRun>,
    pub options: RunOptions,
    /// Answers of an interrupted run that only have to be graded.
    pub answered: HashMap<CaseKey, UngradedAnswer>,
}

impl Job {
    pub fn case_count(&self) -> usize {
        self.suites.iter().map(|suite| suite.job.case_count()).sum()
    }
}
