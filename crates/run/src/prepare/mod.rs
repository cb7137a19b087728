//! Builds a job from a loaded suite and a targets file. Missing targets, judges and variables are
//! found here, before anything is called.

mod estimate;
mod judge;
mod regrade;
mod target;
mod target_pool;

use std::collections::{HashMap, HashSet};

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::export::test_hash;
use evalrig_core::model::{Judging, Suite, Test, Verdicts};
use evalrig_core::plan::{Chain, Selection, plan};
use evalrig_core::score::Thresholds;
use evalrig_core::source::{Files, Sources};

use crate::execute::SuiteJob;
use crate::record::CaseKey;

pub use estimate::{Estimate, EstimateRange};
pub use judge::JUDGE_TARGET_MISSING;
pub(crate) use regrade::prepare_regrade;
pub use target::{NO_TARGET, NO_TARGETS_FILE};
pub use target_pool::TargetPool;
pub(crate) use target_pool::TargetScope;

/// The codes of this room, file by file.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[judge::CODES, target::CODES];

/// Which cases are run, and how they are graded.
#[derive(Debug, Clone, Default)]
pub struct CaseSpec {
    /// `--target`, each once.
    pub targets: Vec<String>,
    /// `--judge`.
    pub judge: Option<String>,
    pub selection: Selection,
    pub trials: Option<u32>,
    pub judging: Judging,
    pub pass: Option<f64>,
    pub borderline: Option<f64>,
    /// `--failed`: only these.
    pub only: Option<HashSet<TestOnTarget>>,
}

/// All trials of a test on a target.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TestOnTarget {
    pub suite: String,
    pub test: String,
    pub target: String,
}

/// A suite without blocking diagnostics. Only `session::LoadedSuite` makes one.
#[derive(Debug)]
pub(crate) struct SuiteSource {
    pub(crate) suite: Suite,
    pub(crate) sources: Sources,
    /// The main file, absolute.
    pub(crate) path: Utf8PathBuf,
    pub(crate) root: Utf8PathBuf,
}

/// Why a suite cannot be run.
#[derive(Debug)]
pub(crate) struct PrepareError {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Errors without a place in a file.
    pub(crate) messages: Vec<String>,
}

/// The job of one suite; its chains are empty when nothing was selected.
pub(crate) fn prepare(
    source: SuiteSource,
    spec: &CaseSpec,
    scope: TargetScope<'_>,
    pool: &mut TargetPool,
) -> Result<SuiteJob, Box<PrepareError>> {
    let suite = &source.suite;
    let mut errors = PrepareErrors::default();
    let thresholds = thresholds(&suite.verdicts, spec, &mut errors);
    let selected = spec.select(suite);
    let chosen = target::choose(suite, &selected, spec, scope.targets, &mut errors);
    let mut chains = plan(&suite.tests, &selected, spec.trials, |test: &Test| {
        chosen.of(test).to_vec()
    });
    if let Some(only) = &spec.only {
        retain_only(&mut chains, suite, only);
    }
    let targets = in_use(&chains);
    let judges = judge::choose(suite, &chains, spec, Some(scope), &mut errors);
    let names = targets.iter().chain(&judges.names).map(String::as_str);
    // An unknown name from the command line already has a message.
    let names = names.filter(|name| scope.targets.has(name) || !spec.names(name));
    let connected = pool.connect(scope, names, &mut errors);
    let hashes = hashes(suite, &chains, scope.files);
    errors.check(source, |source| SuiteJob {
        suite: source.suite,
        sources: source.sources,
        path: source.path,
        root: source.root,
        thresholds,
        connected,
        replays: HashMap::new(),
        judges: judges.of_targets,
        chains,
        targets,
        hashes,
    })
}

/// `--failed`.
fn retain_only(chains: &mut Vec<Chain>, suite: &Suite, only: &HashSet<TestOnTarget>) {
    for chain in chains.iter_mut() {
        chain.retain(|case| {
            only.contains(&TestOnTarget {
                suite: suite.name.clone(),
                test: suite.tests[case.test].id.to_string(),
                target: case.target.clone(),
            })
        });
    }
    chains.retain(|chain| !chain.is_empty());
}

impl CaseSpec {
    /// Indices of the selected tests of a suite.
    pub fn select(&self, suite: &Suite) -> Vec<usize> {
        let Some(only) = &self.only else {
            return self.selection.of(&suite.tests);
        };
        let own = only.iter().filter(|case| case.suite == suite.name);
        let ids = Some(own.map(|case| case.test.clone()).collect());
        let selection = Selection {
            ids,
            ..self.selection.clone()
        };
        selection.of(&suite.tests)
    }

    /// Whether the command line names this target.
    fn names(&self, name: &str) -> bool {
        self.targets
            .iter()
            .chain(&self.judge)
            .any(|one| one == name)
    }
}

/// Collects everything that is missing, so that it is reported together.
#[derive(Debug, Default)]
struct PrepareErrors {
    diagnostics: Vec<Diagnostic>,
    messages: Vec<String>,
}

impl PrepareErrors {
    fn add(&mut self, message: String) {
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    fn check<T>(
        self,
        source: SuiteSource,
        make: impl FnOnce(SuiteSource) -> T,
    ) -> Result<T, Box<PrepareError>> {
        if self.diagnostics.is_empty() && self.messages.is_empty() {
            Ok(make(source))
        } else {
            Err(Box::new(PrepareError {
                sources: source.sources,
                diagnostics: self.diagnostics,
                messages: self.messages,
            }))
        }
    }
}

/// `testHash` of each test that has a case, by index.
fn hashes(suite: &Suite, chains: &[Chain], files: &dyn Files) -> Vec<String> {
    let mut hashes = vec![String::new(); suite.tests.len()];
    for case in chains.iter().flatten() {
        if hashes[case.test].is_empty() {
            hashes[case.test] = test_hash(&suite.tests[case.test], files);
        }
    }
    hashes
}

/// Targets of the cases, in order of first use.
fn in_use(chains: &[Chain]) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    for case in chains.iter().flatten() {
        if !used.contains(&case.target) {
            used.push(case.target.clone());
        }
    }
    used
}

fn thresholds(verdicts: &Verdicts, spec: &CaseSpec, errors: &mut PrepareErrors) -> Thresholds {
    let thresholds = Thresholds {
        pass: spec.pass.unwrap_or(verdicts.pass()),
        borderline: spec.borderline.unwrap_or_else(|| {
            // A lower `--pass` lowers the borderline threshold with it.
            let pass = spec.pass.unwrap_or(verdicts.pass());
            verdicts.borderline().min(pass)
        }),
    };
    let (pass, borderline) = (thresholds.pass, thresholds.borderline);
    if !(0.0 < borderline && borderline <= pass && pass <= 1.0) {
        errors.add(format!(
            "thresholds must satisfy 0 < borderline ≤ pass ≤ 1, but are {borderline} and {pass}"
        ));
    }
    thresholds
}

/// Removes the cases that an earlier run has finished. `is_finished` gets the case and the `testHash`
/// of its test.
pub(crate) fn remove_finished(job: &mut SuiteJob, is_finished: impl Fn(&CaseKey, &str) -> bool) {
    let mut chains = std::mem::take(&mut job.chains);
    for chain in &mut chains {
        chain.retain(|case| !is_finished(&job.key(case), job.hash(case.test)));
    }
    chains.retain(|chain| !chain.is_empty());
    job.chains = chains;
}
