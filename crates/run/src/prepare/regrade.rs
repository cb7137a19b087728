//! Builds the job that grades a stored run again: the same cases with the suite's current assertions.
//! Only judges are called.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8Path;
use evalrig_core::plan::{Chain, PlannedCase};

use crate::execute::{ConnectedTarget, SuiteJob};
use crate::record::CaseKey;

use super::target_pool::{TargetPool, TargetScope};
use super::{
    CaseSpec, PrepareError, PrepareErrors, SuiteSource, hashes, in_use, judge, thresholds,
};

/// Cases of a results file that belong to the suite, and ids of tests that the suite no longer has.
fn cases(source: &SuiteSource, keys: &[CaseKey]) -> (Vec<Chain>, Vec<String>) {
    let tests = source.suite.tests.iter().enumerate();
    let places: HashMap<&str, usize> = tests.map(|(at, test)| (test.id.as_str(), at)).collect();
    let (mut chains, mut gone) = (Vec::new(), Vec::new());
    for key in keys.iter().filter(|key| key.suite == source.suite.name) {
        match places.get(key.test.as_str()) {
            Some(test) => chains.push(vec![PlannedCase {
                test: *test,
                target: key.target.clone(),
                trial: key.trial,
            }]),
            None if gone.last() != Some(&key.test) => gone.push(key.test.clone()),
            None => {}
        }
    }
    (chains, gone)
}

/// The job, and the ids of tests that the suite no longer has.
pub(crate) fn prepare_regrade(
    source: SuiteSource,
    spec: &CaseSpec,
    results: &Utf8Path,
    keys: &[CaseKey],
    scope: Option<TargetScope<'_>>,
) -> Result<(SuiteJob, Vec<String>), Box<PrepareError>> {
    let mut errors = PrepareErrors::default();
    let suite = &source.suite;
    let thresholds = thresholds(&suite.verdicts, spec, &mut errors);
    let (chains, gone) = cases(&source, keys);
    let targets = in_use(&chains);
    let judges = judge::choose(suite, &chains, spec, scope, &mut errors);
    let connected = match scope {
        Some(scope) => {
            let names = judges.names.iter().map(String::as_str);
            TargetPool::default().connect(scope, names, &mut errors)
        }
        None => HashMap::new(),
    };
    let mut replays = HashMap::new();
    for target in &targets {
        match ConnectedTarget::replay(results, target) {
            Ok(replay) => {
                replays.insert(target.clone(), Arc::new(replay));
            }
            Err(error) => errors.add(error.to_string()),
        }
    }
    let hashes = hashes(suite, &chains, &crate::disk::Disk);
    errors.check(source, |source| {
        let job = SuiteJob {
            suite: source.suite,
            sources: source.sources,
            path: source.path,
            root: source.root,
            thresholds,
            connected,
            replays,
            judges: judges.of_targets,
            chains,
            targets,
            hashes,
        };
        (job, gone)
    })
}
