//! Builds the job that grades a stored run again: the same cases with the suite's current assertions.
//! Only judges are called.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8Path;
use evalrig_core::model::Suite;
use evalrig_core::plan::{Chain, PlannedCase};

use crate::execute::{ConnectedTarget, SuiteJob, TargetVariant, TargetVariants};
use crate::results::{ALL, CaseKey, WITH, WITHOUT};

use super::target_pool::{TargetPool, TargetScope};
use super::{GradingSpec, PrepareErrors, judge, set_cases, thresholds};

/// Cases of a results file that belong to the suite, and ids of tests that the suite no longer has.
fn stored_cases(suite: &Suite, keys: &[CaseKey]) -> (Vec<Chain>, Vec<String>) {
    let tests = suite.tests.iter().enumerate();
    let places: HashMap<&str, usize> = tests.map(|(at, test)| (test.id.as_str(), at)).collect();
    let (mut chains, mut gone) = (Vec::new(), Vec::new());
    for key in keys.iter().filter(|key| key.suite == suite.name) {
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

/// Target and arm behind the names of stored cases. An arm need not exist any more in the suite.
fn stored_variants(suite: &Suite, keys: &[CaseKey]) -> TargetVariants {
    let known = suite.arms.iter().map(|arm| arm.name.as_str()).chain([WITH, WITHOUT, ALL]);
    let known: Vec<&str> = known.collect();
    let names = keys.iter().filter(|key| key.suite == suite.name).map(|key| &key.target);
    let variant = |name: &String| {
        let (target, arm) = name.rsplit_once('/')?;
        let arm = known.contains(&arm).then(|| arm.to_owned())?;
        Some(TargetVariant { arm: Some(arm), ..TargetVariant::plain(target) })
    };
    names.filter_map(|name| Some((name.clone(), variant(name)?))).collect()
}

/// Plans the cases of a results file and connects their judges. Also returns the ids of tests that
/// the suite no longer has.
pub(crate) fn plan_stored_cases(
    job: &mut SuiteJob,
    spec: &GradingSpec,
    results: &Utf8Path,
    keys: &[CaseKey],
    scope: Option<TargetScope<'_>>,
) -> (PrepareErrors, Vec<String>) {
    let mut errors = PrepareErrors::default();
    job.thresholds = thresholds(&job.suite.verdicts, spec, &mut errors);
    let (chains, gone) = stored_cases(&job.suite, keys);
    let variants = stored_variants(&job.suite, keys);
    let target_of = |name: &str| variants.get(name).map_or(name, |one| &one.target).to_owned();
    let judges = judge::choose(&job.suite, &chains, spec, scope, &target_of, &mut errors);
    set_cases(job, chains);
    job.variants = variants;
    if let Some(scope) = scope {
        let names = judges.names.iter().map(|name| TargetVariant::plain(name));
        job.connected = TargetPool::default().connect(scope, names, &mut errors);
    }
    for target in &job.targets {
        match ConnectedTarget::replay(results, target) {
            Ok(replay) => {
                job.replays.insert(target.clone(), Arc::new(replay));
            }
            Err(error) => errors.add(error.to_string()),
        }
    }
    job.judges = judges.of_targets;
    job.readings = spec.readings;
    (errors, gone)
}
