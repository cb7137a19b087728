//! A stored run, to be graded again: the same cases, today's assertions, nobody called but judges.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8Path;
use evalrig_core::plan::{Chain, PlannedCase};

use crate::execute::{Station, SuiteJob};
use crate::record::CaseKey;

use super::station::{Stations, TargetScope};
use super::{Problems, Refused, Runnable, Wishes, hashes, in_use, job_of, judge, thresholds};

/// Cases of a results file that belong to the suite; and the ids that the suite does not have any
/// more.
fn cases(runnable: &Runnable, keys: &[CaseKey]) -> (Vec<Chain>, Vec<String>) {
    let tests = runnable.suite.tests.iter().enumerate();
    let places: HashMap<&str, usize> = tests.map(|(at, test)| (test.id.as_str(), at)).collect();
    let (mut chains, mut gone) = (Vec::new(), Vec::new());
    for key in keys.iter().filter(|key| key.suite == runnable.suite.name) {
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

/// Work that grades the cases of a results file again. With it, the tests that the suite does not
/// have any more.
pub fn prepare_again(
    runnable: Runnable,
    wishes: &Wishes,
    results: &Utf8Path,
    keys: &[CaseKey],
    scope: Option<TargetScope<'_>>,
    stations: &mut Stations,
) -> Result<(SuiteJob, Vec<String>), Box<Refused>> {
    let mut problems = Problems::default();
    let suite = &runnable.suite;
    let thresholds = thresholds(&suite.verdicts, wishes, &mut problems);
    let (chains, gone) = cases(&runnable, keys);
    let targets = in_use(&chains);
    let judges = judge::choose(suite, &chains, wishes, scope, &mut problems);
    let connected = match scope {
        Some(scope) => {
            let names = judges.names.iter().map(String::as_str);
            stations.connect(scope, names, &mut problems)
        }
        None => HashMap::new(),
    };
    let mut replays = HashMap::new();
    for target in &targets {
        match Station::replay(results, target) {
            Ok(station) => {
                replays.insert(target.clone(), Arc::new(station));
            }
            Err(error) => problems.complain(error.to_string()),
        }
    }
    let work = super::Work {
        hashes: hashes(suite, &chains, &crate::disk::Disk),
        thresholds,
        stations: connected,
        replays,
        judges: judges.of_targets,
        chains,
        targets,
    };
    match problems.checked(work) {
        Ok(work) => Ok((job_of(runnable, work), gone)),
        Err(problems) => Err(problems.refuse(runnable)),
    }
}
