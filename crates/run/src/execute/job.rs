//! The input of a run: suites, their cases and connected targets. It is complete before anything is
//! called, so that a missing piece costs no money.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use camino::Utf8PathBuf;
use evalrig_core::model::{Judging, KeepRule, Suite, Transcript, Votes};
use evalrig_core::plan::{Chain, PlannedCase};
use evalrig_core::score::Thresholds;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Sources;

use crate::cache::AnswerCache;
use crate::descriptor::DescriptorBudget;
use crate::disk::{Confinement, SuiteFiles};
use crate::results::{CaseKey, JudgeReply, Row};
use crate::runlog::RunLogRecorder;
use crate::sandbox::Sandbox;
use crate::workspace::{JudgingFiles, Workspaces};

use super::case_setup::TreeDigests;
use super::connected_target::ConnectedTarget;
use super::judging_files::judging_files;
use super::limit::{AnswerPayment, FailFast};
use super::round_gate::RoundGate;
use super::row_sink::RowSink;
use super::target_variant::{TargetVariant, TargetVariants};

/// One suite with everything that its cases need.
#[derive(Debug)]
pub struct SuiteJob {
    pub suite: Suite,
    pub(crate) sources: Sources,
    /// The main file, absolute.
    pub(crate) path: Utf8PathBuf,
    /// The repository root, absolute.
    pub(crate) root: Utf8PathBuf,
    /// What cases read, checked against what was loaded.
    pub(crate) files: SuiteFiles,
    pub(crate) thresholds: Thresholds,
    pub(crate) targets_file: Option<Utf8PathBuf>,
    /// Digest of the skill that it belongs to; found only for the answer cache.
    pub(crate) skill: Option<String>,
    /// By the name that cases use.
    pub(crate) connected: HashMap<String, Arc<ConnectedTarget>>,
    /// Stored answers of the targets, when a run is graded again. A target may be a judge too, and
    /// judges are still called.
    pub(crate) replays: HashMap<String, Arc<ConnectedTarget>>,
    /// What the names of `targets` stand for. A name that is missing stands for itself.
    pub(crate) variants: TargetVariants,
    /// Judge of a target's cases, by the name of the target.
    pub(crate) judges: HashMap<String, String>,
    /// How often judges read an answer, whatever assertions and targets say (`--readings`).
    pub(crate) readings: Option<Votes>,
    /// The planned cases, in order.
    pub chains: Vec<Chain>,
    /// Names of the targets that cases of this suite run against.
    pub targets: Vec<String>,
    /// `testHash` by index of the test; empty for tests without a case.
    pub(crate) hashes: Vec<String>,
    /// Set for a shard.
    pub(crate) whole_plan: Option<WholePlan>,
    judging: OnceLock<JudgingFiles>,
}

/// The plan that a shard is part of.
#[derive(Debug, Clone)]
pub(crate) struct WholePlan {
    /// Hash of all its cases.
    pub(crate) name: String,
    /// Indices of the tests in other shards.
    pub(crate) other_tests: Vec<usize>,
}

/// Removes containers that killed runs have left, once before the first program is started. What only asks
/// what a run would do leaves them.
pub(crate) fn remove_stale_containers<'a>(jobs: impl Iterator<Item = &'a SuiteJob>) {
    let sandboxes = jobs.flat_map(SuiteJob::sandboxes).map(|sandbox| (sandbox.name(), sandbox));
    let each_once: BTreeMap<_, _> = sandboxes.collect();
    each_once.values().for_each(|sandbox| sandbox.remove_stale());
}

impl SuiteJob {
    /// Without cases; `prepare` plans them.
    pub(crate) fn new(
        suite: Suite,
        sources: Sources,
        path: Utf8PathBuf,
        root: Utf8PathBuf,
        confinement: Confinement,
    ) -> Self {
        Self {
            hashes: vec![String::new(); suite.tests.len()],
            thresholds: Thresholds {
                pass: suite.verdicts.pass(),
                borderline: suite.verdicts.borderline(),
            },
            suite,
            sources,
            path,
            files: SuiteFiles::new(&root, confinement),
            root,
            targets_file: None,
            skill: None,
            connected: HashMap::new(),
            replays: HashMap::new(),
            variants: TargetVariants::new(),
            judges: HashMap::new(),
            readings: None,
            chains: Vec::new(),
            targets: Vec::new(),
            whole_plan: None,
            judging: OnceLock::new(),
        }
    }

    /// What agents must not find in a checkout. `hidden` is what sandboxes do not show them.
    pub(crate) fn judging_files(&self, hidden: &[Utf8PathBuf]) -> &JudgingFiles {
        self.judging.get_or_init(|| judging_files(self, hidden))
    }

    /// The stored answers of a target, or the target itself.
    pub(crate) fn target(&self, name: &str) -> Option<&Arc<ConnectedTarget>> {
        self.replays.get(name).or_else(|| self.connected.get(name))
    }

    /// What texts must not show of the logins that its agents have.
    pub(crate) fn add_login_secrets(&self, secrets: &mut Secrets) {
        for target in self.connected.values() {
            secrets.absorb(target.login_secrets().clone());
        }
    }

    /// The sandboxes of its targets.
    fn sandboxes(&self) -> impl Iterator<Item = &'static dyn Sandbox> {
        let confined = self.connected.values().filter_map(|target| target.confinement());
        confined.map(|confinement| confinement.sandbox)
    }

    /// Target and arm behind the name that a case uses.
    pub(crate) fn variant(&self, name: &str) -> Option<&TargetVariant> {
        self.variants.get(name)
    }

    /// Whether the cases are turns of one conversation whose answers depend on what came before: the
    /// session of the agent, or the files of the workspace.
    pub(crate) fn is_one_session(&self, chain: &Chain) -> bool {
        let Some(first) = chain.first() else { return false };
        let test = &self.suite.tests[first.test];
        let goes_on = |target: &Arc<ConnectedTarget>| target.continues_sessions();
        test.conversation_id.is_some()
            && (test.workspace.is_some()
                || self.target(&first.target).is_some_and(goes_on)
                || self.gives_directory(&first.target))
    }

    /// `testHash` of a test that has a case.
    pub(crate) fn hash(&self, test: usize) -> &str {
        &self.hashes[test]
    }

    pub(crate) fn key(&self, case: &PlannedCase) -> CaseKey {
        CaseKey {
            suite: self.suite.name.clone(),
            test: self.suite.tests[case.test].id.to_string(),
            target: case.target.clone(),
            trial: case.trial,
        }
    }

    /// Every case with the `testHash` of its test.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (CaseKey, &str)> {
        let cases = self.chains.iter().flatten();
        cases.map(|case| (self.key(case), self.hash(case.test)))
    }

    /// The main file, relative to the repository root.
    pub(crate) fn file(&self) -> String {
        let shown = self.path.strip_prefix(&self.root).unwrap_or(&self.path);
        shown.as_str().replace('\\', "/")
    }

    /// Whether agents work in workspaces.
    pub(crate) fn uses_workspaces(&self) -> bool {
        let has_own = |case: &PlannedCase| self.suite.tests[case.test].workspace.is_some();
        let given = |one: &TargetVariant| one.workspace.is_some() || one.skills.is_some();
        let is_needed = |name: &String| self.gives_directory(name);
        self.chains.iter().flatten().any(has_own)
            || self.variants.values().any(given)
            || self.targets.iter().any(is_needed)
    }

    /// Whether cases of a target without a workspace get an empty one.
    fn gives_directory(&self, target: &str) -> bool {
        let root = self.root.canonicalize_utf8().unwrap_or_else(|_| self.root.clone());
        let target = self.target(target).filter(|target| !target.is_stored());
        target.is_some_and(|target| target.needs_own_directory(std::slice::from_ref(&root)))
    }

    /// Whether one of the later cases of a chain asks an agent.
    pub(crate) fn is_continued(&self, later: &[PlannedCase]) -> bool {
        later.iter().any(|case| self.suite.tests[case.test].skip.is_none())
    }

    pub(crate) fn case_count(&self) -> usize {
        self.chains.iter().map(Vec::len).sum()
    }
}

/// An answer that an earlier run got but did not grade.
#[derive(Debug, Clone)]
pub(crate) struct UngradedAnswer {
    pub(crate) transcript: Transcript,
    pub(crate) attempts: u32,
    /// What judges said of it before the run was interrupted.
    pub(crate) replies: Vec<JudgeReply>,
}

impl UngradedAnswer {
    pub(crate) fn new(transcript: Transcript, attempts: u32) -> Self {
        Self { transcript, attempts, replies: Vec::new() }
    }
}

#[derive(Debug)]
pub(crate) struct RunOptions {
    /// Limit on concurrent cases over all targets.
    pub(crate) workers: Option<usize>,
    /// What the limit of open files allows.
    pub(crate) descriptors: DescriptorBudget,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: Option<u32>,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) payment: AnswerPayment,
    pub(crate) max_errors: Option<u64>,
    pub(crate) fail_fast: Option<FailFast>,
    pub(crate) judging: Judging,
    /// Whether rows hold the messages.
    pub(crate) messages: bool,
    /// Where temporary files go.
    pub(crate) scratch: Utf8PathBuf,
    /// Makes the workspaces of cases.
    pub(crate) workspaces: Arc<Workspaces>,
    /// What agents in a sandbox never see: suites, results, run logs, other cases.
    pub(crate) hidden: Vec<Utf8PathBuf>,
    /// Goes before `keep` of the suite.
    pub(crate) keep_workspaces: Option<KeepRule>,
    /// Records cases in `.co/evals`.
    pub(crate) recording: Option<Arc<RunLogRecorder>>,
    /// What must not reach a judge by way of a stored answer.
    pub(crate) secrets: Arc<Secrets>,
    /// Answers of earlier runs.
    pub(crate) cache: Option<Arc<AnswerCache>>,
    pub(crate) trees: TreeDigests,
    /// Trials are run in rounds, and it says when to stop.
    pub(crate) rounds: Option<Arc<dyn RoundGate>>,
}

/// A suite with the sink of its rows.
#[derive(Debug)]
pub(crate) struct SuiteRun {
    pub(crate) job: SuiteJob,
    pub(crate) sink: Arc<dyn RowSink>,
}

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) suites: Vec<SuiteRun>,
    pub(crate) options: RunOptions,
    /// Answers of an interrupted run that only have to be graded.
    pub(crate) answered: HashMap<CaseKey, UngradedAnswer>,
    /// Rows of arms that an earlier run had (`--reuse-arm`).
    pub(crate) reusable: HashMap<CaseKey, Row>,
}

impl Job {
    pub(crate) fn case_count(&self) -> usize {
        self.suites.iter().map(|suite| suite.job.case_count()).sum()
    }
}
