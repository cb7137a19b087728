//! `{WORKSPACE}` in a command: every case of the target has a workspace, before anything is called
//! (spec 9.3).

use std::collections::BTreeMap;

use crate::execute::SuiteJob;

use super::PrepareErrors;
use super::affected_tests::AffectedTests;

pub(super) fn check_workspaces(job: &SuiteJob, errors: &mut PrepareErrors) {
    let mut without: BTreeMap<&str, AffectedTests<'_>> = BTreeMap::new();
    for case in job.chains.iter().flatten() {
        let test = &job.suite.tests[case.test];
        let Some(connected) = job.connected.get(&case.target).filter(|one| one.needs_workspace())
        else {
            continue;
        };
        let variant = job.variants.get(&case.target);
        // A process that is given skills gets an empty workspace.
        let has_workspace = test.workspace.is_some()
            || variant.is_some_and(|one| one.workspace.is_some() || one.skills.is_some());
        if has_workspace || test.skip.is_some() {
            continue;
        }
        let id = test.id.as_str();
        without.entry(&connected.name).or_insert_with(|| AffectedTests::new(id)).add(id);
    }
    for (target, tests) in without {
        errors.add(format!(
            "the command of target `{target}` uses `{{WORKSPACE}}`, and test {tests} has no \
             workspace; add `workspace: {{}}` to the suite"
        ));
    }
}
