//! Containers of a suite: a test that asks for one gets one, and every image exists, before anything is called
//! (spec 17.4).

use std::collections::{BTreeMap, HashSet};

use evalrig_core::model::ContainerSettings;

use crate::execute::{ConnectedTarget, SuiteJob};

use super::PrepareErrors;
use super::affected_tests::AffectedTests;

pub(super) fn check_containers(job: &SuiteJob, errors: &mut PrepareErrors) {
    let mut outside: BTreeMap<&str, AffectedTests<'_>> = BTreeMap::new();
    let mut known = HashSet::new();
    for case in job.chains.iter().flatten() {
        let test = &job.suite.tests[case.test];
        let Some(connected) = job.connected.get(&case.target).filter(|one| !one.is_stored()) else {
            continue;
        };
        if test.skip.is_some() {
            continue;
        }
        let arm = job.variants.get(&case.target).and_then(|variant| variant.workspace.as_ref());
        let workspace = arm.or(test.workspace.as_ref());
        let container = workspace.and_then(|workspace| workspace.container.as_ref());
        if container.is_some() && !is_container(connected) {
            let id = test.id.as_str();
            outside.entry(&connected.name).or_insert_with(|| AffectedTests::new(id)).add(id);
            continue;
        }
        check_image(connected, container, &mut known, errors);
    }
    for (name, judge) in &job.connected {
        if !job.targets.contains(name) {
            check_image(judge, None, &mut known, errors);
        }
    }
    for (target, tests) in outside {
        errors.add(format!(
            "test {tests} needs a container (`docker` of its workspace), and target `{target}` \
             does not run in one; add `--sandbox podman` or `--sandbox docker`"
        ));
    }
}

fn is_container(connected: &ConnectedTarget) -> bool {
    connected.confinement().is_some_and(|confinement| confinement.is_container())
}

/// Asks once for each target and image.
fn check_image(
    connected: &ConnectedTarget,
    workspace: Option<&ContainerSettings>,
    known: &mut HashSet<(String, Option<String>)>,
    errors: &mut PrepareErrors,
) {
    let Some(confinement) = connected.confinement().filter(|one| one.is_container()) else {
        return;
    };
    let container = confinement.container_for(workspace);
    let key = (connected.name.clone(), container.image.clone());
    if !known.insert(key) {
        return;
    }
    if let Err(reason) = confinement.sandbox.available(&container) {
        errors.add(format!("target `{}`: {reason}", connected.name));
    }
}
