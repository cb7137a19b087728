//! From a loaded suite and a targets file to work that can begin. Everything that could be missing
//! is found here, before anything is called.

mod again;
mod estimate;
mod judge;
mod station;
mod target;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::export::test_hash;
use evalrig_core::model::{Judging, Suite, Test, Verdicts};
use evalrig_core::plan::{Chain, Selection, plan};
use evalrig_core::score::Thresholds;
use evalrig_core::source::{Files, Sources};

use crate::execute::{Station, SuiteJob};
use crate::record::CaseKey;

pub use again::prepare_again;
pub use estimate::{Estimate, Range};
pub use judge::JUDGE_TARGET_MISSING;
pub use station::{Stations, TargetScope};
pub use target::{NO_TARGET, NO_TARGETS_FILE};

/// The codes of this room, file by file.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[judge::CODES, target::CODES];

/// What a run is asked for, apart from how it is carried out.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// `--target`, each once.
    pub targets: Vec<String>,
    /// `--judge`.
    pub judge: Option<String>,
    pub selection: Selection,
    pub trials: Option<u32>,
    pub judging: Judging,
    pub pass: Option<f64>,
    pub borderline: Option<f64>,
    /// `--failed`: nothing else.
    pub only: Option<HashSet<OnlyCase>>,
}

/// A test on a target, in all its trials.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OnlyCase {
    pub suite: String,
    pub test: String,
    pub target: String,
}

/// A suite without faults that block running.
#[derive(Debug)]
pub struct Runnable {
    pub suite: Suite,
    pub sources: Sources,
    /// The main file, absolute.
    pub path: Utf8PathBuf,
    pub root: Utf8PathBuf,
}

/// Why a suite cannot be run.
#[derive(Debug)]
pub struct Refused {
    pub runnable: Runnable,
    pub diagnostics: Vec<Diagnostic>,
    /// What has no place in a file.
    pub complaints: Vec<String>,
}

/// Work for one suite; its chains are empty when nothing was selected.
pub fn prepare(
    runnable: Runnable,
    wishes: &Wishes,
    scope: TargetScope<'_>,
    stations: &mut Stations,
) -> Result<SuiteJob, Box<Refused>> {
    match work(&runnable, wishes, scope, stations) {
        Ok(work) => Ok(job_of(runnable, work)),
        Err(problems) => Err(problems.refuse(runnable)),
    }
}

fn job_of(runnable: Runnable, work: Work) -> SuiteJob {
    SuiteJob {
        suite: runnable.suite,
        sources: runnable.sources,
        path: runnable.path,
        root: runnable.root,
        thresholds: work.thresholds,
        stations: work.stations,
        replays: work.replays,
        judges: work.judges,
        chains: work.chains,
        targets: work.targets,
        hashes: work.hashes,
    }
}

struct Work {
    thresholds: Thresholds,
    stations: HashMap<String, Arc<Station>>,
    replays: HashMap<String, Arc<Station>>,
    judges: HashMap<String, String>,
    chains: Vec<Chain>,
    targets: Vec<String>,
    hashes: Vec<String>,
}

impl Wishes {
    /// Tests of a suite that are chosen, by their place.
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

    /// Whether a target of this name was asked for.
    fn names(&self, name: &str) -> bool {
        self.targets
            .iter()
            .chain(&self.judge)
            .any(|one| one == name)
    }
}

/// What stands in the way; shown all at once.
#[derive(Debug, Default)]
struct Problems {
    diagnostics: Vec<Diagnostic>,
    complaints: Vec<String>,
}

impl Problems {
    fn complain(&mut self, complaint: String) {
        if !self.complaints.contains(&complaint) {
            self.complaints.push(complaint);
        }
    }

    fn refuse(self, runnable: Runnable) -> Box<Refused> {
        Box::new(Refused {
            runnable,
            diagnostics: self.diagnostics,
            complaints: self.complaints,
        })
    }

    fn checked<T>(self, value: T) -> Result<T, Self> {
        if self.diagnostics.is_empty() && self.complaints.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

fn work(
    runnable: &Runnable,
    wishes: &Wishes,
    scope: TargetScope<'_>,
    stations: &mut Stations,
) -> Result<Work, Problems> {
    let suite = &runnable.suite;
    let mut problems = Problems::default();
    let thresholds = thresholds(&suite.verdicts, wishes, &mut problems);
    let selected = wishes.select(suite);
    let chosen = target::choose(suite, &selected, wishes, scope.targets, &mut problems);
    let mut chains = plan(&suite.tests, &selected, wishes.trials, |test: &Test| {
        chosen.of(test).to_vec()
    });
    if let Some(only) = &wishes.only {
        for chain in &mut chains {
            chain.retain(|case| {
                only.contains(&OnlyCase {
                    suite: suite.name.clone(),
                    test: suite.tests[case.test].id.to_string(),
                    target: case.target.clone(),
                })
            });
        }
        chains.retain(|chain| !chain.is_empty());
    }
    let used: Vec<String> = in_use(&chains);
    let judges = judge::choose(suite, &chains, wishes, Some(scope), &mut problems);
    let names = used.iter().chain(&judges.names).map(String::as_str);
    // What was typed and is not there has been complained about.
    let names = names.filter(|name| scope.targets.has(name) || !wishes.names(name));
    let connected = stations.connect(scope, names, &mut problems);
    problems.checked(Work {
        hashes: hashes(suite, &chains, scope.files),
        thresholds,
        stations: connected,
        replays: HashMap::new(),
        judges: judges.of_targets,
        chains,
        targets: used,
    })
}

/// One for each test that has a case.
fn hashes(suite: &Suite, chains: &[Chain], files: &dyn Files) -> Vec<String> {
    let mut hashes = vec![String::new(); suite.tests.len()];
    for case in chains.iter().flatten() {
        if hashes[case.test].is_empty() {
            hashes[case.test] = test_hash(&suite.tests[case.test], files);
        }
    }
    hashes
}

/// Targets of the cases, in order of their first.
fn in_use(chains: &[Chain]) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    for case in chains.iter().flatten() {
        if !used.contains(&case.target) {
            used.push(case.target.clone());
        }
    }
    used
}

fn thresholds(verdicts: &Verdicts, wishes: &Wishes, problems: &mut Problems) -> Thresholds {
    let thresholds = Thresholds {
        pass: wishes.pass.unwrap_or(verdicts.pass()),
        borderline: wishes.borderline.unwrap_or_else(|| {
            // A lower `--pass` takes the borderline with it.
            let pass = wishes.pass.unwrap_or(verdicts.pass());
            verdicts.borderline().min(pass)
        }),
    };
    let (pass, borderline) = (thresholds.pass, thresholds.borderline);
    if !(0.0 < borderline && borderline <= pass && pass <= 1.0) {
        problems.complain(format!(
            "thresholds must keep 0 < borderline ≤ pass ≤ 1, and they are {borderline} and {pass}"
        ));
    }
    thresholds
}

/// Takes out of a job what an earlier run has finished. `is_finished` hears the case and the
/// `testHash` of its test.
pub fn leave_out(job: &mut SuiteJob, is_finished: impl Fn(&CaseKey, &str) -> bool) {
    let mut chains = std::mem::take(&mut job.chains);
    for chain in &mut chains {
        chain.retain(|case| !is_finished(&job.key(case), job.hash(case.test)));
    }
    chains.retain(|chain| !chain.is_empty());
    job.chains = chains;
}
