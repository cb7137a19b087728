//! Builds a job from a loaded suite and a targets file. Missing targets, judges and variables are
//! found here, before anything is called.

mod affected_tests;
mod arm;
mod arm_effect;
mod container;
mod conversation_workspace;
mod estimate;
mod judge;
mod lone_turn;
mod regrade;
mod target;
mod target_pool;
mod unreported;
mod workspace_use;

use std::collections::HashSet;

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::export::TestHasher;
use evalrig_core::model::{Expected, Judging, NamedAssertion, Suite, Test, Verdicts, Votes};
use evalrig_core::plan::{Chain, PlannedCase, Selection, plan};
use evalrig_core::score::Thresholds;
use evalrig_core::stats::Fnv1a;

use crate::disk::SuiteFiles;
use crate::execute::{
    SuiteJob, TargetVariant, TargetVariants, WholePlan, remember_hooks, remember_target,
};
use crate::results::{CaseKey, ExitRule, add_case, plan_name};

use arm::ChosenArms;
pub(crate) use arm::{FindDirectory, WantedArms};
pub use estimate::{Estimate, EstimateRange};
pub use judge::JUDGE_TARGET_MISSING;
pub(crate) use regrade::plan_stored_cases;
pub use target::{NO_TARGET, NO_TARGETS_FILE};
#[cfg(feature = "queue")]
pub(crate) use target_pool::TargetNeed;
pub(crate) use target_pool::{TargetPool, TargetScope};

/// The codes of this room, file by file.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[
    arm_effect::CODES,
    conversation_workspace::CODES,
    judge::CODES,
    lone_turn::CODES,
    target::CODES,
    target_pool::CODES,
    unreported::CODES,
];

/// How answers are graded and how the exit code is decided.
#[derive(Debug, Clone, Default)]
pub struct GradingSpec {
    /// `--judge`.
    pub judge: Option<String>,
    pub judging: Judging,
    /// How often judges read an answer, whatever assertions and targets say.
    pub readings: Option<Votes>,
    /// Judge `criteria` even in tests with assertions.
    pub judge_criteria: bool,
    pub pass: Option<f64>,
    pub borderline: Option<f64>,
    pub exit_rule: ExitRule,
}

/// Which cases are run, and how they are graded.
#[derive(Debug, Clone)]
pub(crate) struct CaseSpec {
    /// `--target`, each once.
    pub(crate) targets: Vec<String>,
    pub(crate) arms: WantedArms,
    pub(crate) selection: Selection,
    pub(crate) trials: Option<u32>,
    /// `--failed`: only these.
    pub(crate) only: Option<HashSet<TestOnTarget>>,
    pub(crate) grading: GradingSpec,
}

/// All trials of a test on a target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TestOnTarget {
    pub(crate) suite: String,
    pub(crate) test: String,
    pub(crate) target: String,
}

/// Plans the selected cases of a job and connects their targets. `selected` are indices of tests.
pub(crate) fn plan_cases(
    job: &mut SuiteJob,
    selected: &[usize],
    spec: &CaseSpec,
    scope: TargetScope<'_>,
    pool: &mut TargetPool,
) -> PrepareErrors {
    let mut errors = PrepareErrors::default();
    job.thresholds = thresholds(&job.suite.verdicts, &spec.grading, &mut errors);
    target::check_targets(&job.suite, selected, spec, scope.targets, &mut errors);
    let arms =
        ChosenArms::choose(job, scope.targets, &spec.arms, scope.skill_directory, &mut errors);
    let suite = &job.suite;
    let variants_of =
        |test: &Test| arms.variants(test, target::targets_of(test, suite, spec, scope.targets));
    let names_of =
        |test: &Test| variants_of(test).iter().map(TargetVariant::name).collect::<Vec<_>>();
    let mut chains = plan(&suite.tests, selected, spec.trials, names_of);
    if let Some(only) = &spec.only {
        retain_only(&mut chains, suite, only);
    }
    let whole_plan = spec.select_all_shards(suite).map(|all| {
        let mut whole = plan(&suite.tests, &all, spec.trials, names_of);
        if let Some(only) = &spec.only {
            retain_only(&mut whole, suite, only);
        }
        whole_plan(suite, &whole, selected)
    });
    let variants: TargetVariants = selected
        .iter()
        .flat_map(|at| variants_of(&suite.tests[*at]))
        .map(|variant| (variant.name(), variant))
        .collect();
    let target_of = |name: &str| match variants.get(name) {
        Some(variant) => variant.target.clone(),
        None => name.to_owned(),
    };
    let judges = judge::choose(suite, &chains, &spec.grading, Some(scope), &target_of, &mut errors);
    set_cases(job, chains);
    job.whole_plan = whole_plan;
    let plain = |name: &String| TargetVariant::plain(name);
    let cases =
        job.targets.iter().map(|name| variants.get(name).cloned().unwrap_or_else(|| plain(name)));
    let wanted = cases.chain(judges.names.iter().map(plain));
    // An unknown name from the command line already has a message.
    let wanted = wanted.filter(|one| scope.targets.has(&one.target) || !spec.names(&one.target));
    job.connected = pool.connect(scope, wanted, &mut errors);
    job.variants = variants;
    remember_programs(job);
    job.judges = judges.of_targets;
    job.readings = spec.grading.readings;
    container::check_containers(job, &mut errors);
    workspace_use::check_workspaces(job, &mut errors);
    conversation_workspace::check_conversations(job, &mut errors);
    errors.warnings.extend(unreported::find_unreported(job));
    errors.warnings.extend(lone_turn::find_lone_turns(job));
    errors
}

/// The name of the plan that a shard is part of, and its tests in other shards.
fn whole_plan(suite: &Suite, chains: &[Chain], selected: &[usize]) -> WholePlan {
    let mut hash = Fnv1a::default();
    let mut other_tests = Vec::new();
    for case in chains.iter().flatten() {
        add_case(&mut hash, suite.tests[case.test].id.as_str(), &case.target, case.trial);
        if selected.binary_search(&case.test).is_err() {
            other_tests.push(case.test);
        }
    }
    other_tests.sort_unstable();
    other_tests.dedup();
    WholePlan { name: plan_name(&hash), other_tests }
}

/// Sets the cases of a job, with their targets and hashes.
fn set_cases(job: &mut SuiteJob, chains: Vec<Chain>) {
    let mut hasher = TestHasher::default();
    for case in chains.iter().flatten() {
        if !job.targets.contains(&case.target) {
            job.targets.push(case.target.clone());
        }
        if job.hashes[case.test].is_empty() {
            let test = &job.suite.tests[case.test];
            remember_files(test, &mut job.files);
            job.hashes[case.test] = hasher.hash(test, &job.files);
        }
    }
    job.chains = chains;
}

/// The programs of targets, judges and hooks, before an agent can change them.
fn remember_programs(job: &mut SuiteJob) {
    for connected in job.connected.values() {
        remember_target(connected, &job.root, &mut job.files);
    }
    let used = job.chains.iter().flatten().map(|case| &job.suite.tests[case.test]);
    let written = used.filter_map(|test| test.workspace.as_ref());
    let of_arms = job.variants.values().filter_map(|variant| variant.workspace.as_ref());
    for workspace in written.chain(of_arms) {
        remember_hooks(workspace, &job.root, &mut job.files);
    }
}

/// The attached files and scripts of a test, before an agent can change them.
fn remember_files(test: &Test, files: &mut SuiteFiles) {
    let expected = match &test.expected_output {
        Some(Expected::Messages(messages)) => messages.as_slice(),
        _ => &[],
    };
    let blocks = test.input.iter().chain(expected).flat_map(|message| &message.content);
    for path in blocks.filter_map(|block| block.file()?.path.as_deref()) {
        files.remember(path);
    }
    remember_scripts(&test.assertions, files);
}

fn remember_scripts(assertions: &[NamedAssertion], files: &mut SuiteFiles) {
    for check in assertions.iter().map(|named| &named.assertion.check) {
        check.script_files().iter().for_each(|path| files.remember(path));
        remember_scripts(check.members(), files);
    }
}

/// The tests that `--failed` repeats. A conversation is repeated as a whole.
fn repeated_tests<'a>(
    suite: &'a Suite,
    only: &'a HashSet<TestOnTarget>,
) -> impl Iterator<Item = &'a Test> {
    let own = only.iter().filter(|case| case.suite == suite.name);
    let named: HashSet<&str> = own.map(|case| case.test.as_str()).collect();
    let tests = suite.tests.iter().filter(|test| named.contains(test.id.as_str()));
    let conversations: HashSet<&str> =
        tests.filter_map(|test| test.conversation_id.as_deref()).collect();
    suite.tests.iter().filter(move |test| {
        let conversation = test.conversation_id.as_deref();
        named.contains(test.id.as_str())
            || conversation.is_some_and(|id| conversations.contains(id))
    })
}

/// As [`repeated_tests`], on the targets of the failures.
fn retain_only(chains: &mut Vec<Chain>, suite: &Suite, only: &HashSet<TestOnTarget>) {
    let is_wanted = |case: &PlannedCase| {
        only.contains(&TestOnTarget {
            suite: suite.name.clone(),
            test: suite.tests[case.test].id.to_string(),
            target: case.target.clone(),
        })
    };
    chains.retain(|chain| chain.iter().any(is_wanted));
}

impl CaseSpec {
    /// Indices of the selected tests of a suite.
    pub(crate) fn select(&self, suite: &Suite) -> Vec<usize> {
        let Some(only) = &self.only else {
            return self.selection.of(&suite.tests);
        };
        let ids = Some(repeated_tests(suite, only).map(|test| test.id.to_string()).collect());
        let selection = Selection { ids, ..self.selection.clone() };
        selection.of(&suite.tests)
    }

    /// As [`CaseSpec::select`], of all shards together; `None` without `--shard`.
    fn select_all_shards(&self, suite: &Suite) -> Option<Vec<usize>> {
        self.selection.shard?;
        let selection = Selection { shard: None, ..self.selection.clone() };
        let whole = Self {
            targets: Vec::new(),
            arms: WantedArms::default(),
            selection,
            trials: self.trials,
            only: self.only.clone(),
            grading: GradingSpec::default(),
        };
        Some(whole.select(suite))
    }

    /// Whether the command line names this target.
    fn names(&self, name: &str) -> bool {
        self.targets.iter().chain(&self.grading.judge).any(|one| one == name)
    }
}

/// Collects everything that is missing, so that it is reported together.
#[derive(Debug, Default)]
pub(crate) struct PrepareErrors {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Errors without a location in a file.
    pub(crate) messages: Vec<String>,
    /// What does not keep the cases from being run.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl PrepareErrors {
    pub(crate) fn add(&mut self, message: String) {
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    fn absorb(&mut self, other: Self) {
        self.diagnostics.extend(other.diagnostics);
        other.messages.into_iter().for_each(|message| self.add(message));
        self.warnings.extend(other.warnings);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.diagnostics.is_empty() && self.messages.is_empty()
    }
}

fn thresholds(verdicts: &Verdicts, spec: &GradingSpec, errors: &mut PrepareErrors) -> Thresholds {
    let pass = spec.pass.unwrap_or(verdicts.pass());
    // A lower `--pass` lowers the borderline threshold with it.
    let borderline = spec.borderline.unwrap_or(verdicts.borderline().min(pass));
    if !(0.0 < borderline && borderline <= pass && pass <= 1.0) {
        errors.add(format!(
            "thresholds must satisfy 0 < borderline ≤ pass ≤ 1, but are {borderline} and {pass}"
        ));
    }
    Thresholds { pass, borderline }
}

/// What is known of a case from an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseProgress {
    Finished,
    /// Only to be graded.
    Answered,
    Unknown,
}

/// Removes the cases that an earlier run has finished, and names those whose answers it has. `look` gets
/// the case and the `testHash` of its test.
///
/// A conversation that goes on in one session or workspace begins again if a turn is not finished: both
/// went with the earlier run.
pub(crate) fn remove_finished(
    job: &mut SuiteJob,
    look: impl Fn(&CaseKey, &str) -> CaseProgress,
) -> Vec<CaseKey> {
    let mut answered = Vec::new();
    let mut chains = std::mem::take(&mut job.chains);
    for chain in &mut chains {
        let known = chain.iter().map(|case| look(&job.key(case), job.hash(case.test)));
        let known: Vec<CaseProgress> = known.collect();
        let is_whole = known.iter().all(|case| *case == CaseProgress::Finished);
        if !is_whole && job.is_one_session(chain) {
            continue;
        }
        let cases = chain.iter().zip(&known);
        let cases = cases.filter(|(_, known)| **known == CaseProgress::Answered);
        answered.extend(cases.map(|(case, _)| job.key(case)));
        let mut known = known.into_iter();
        chain.retain(|_| known.next() != Some(CaseProgress::Finished));
    }
    chains.retain(|chain| !chain.is_empty());
    job.chains = chains;
    answered
}
