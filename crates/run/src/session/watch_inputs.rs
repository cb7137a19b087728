//! What the result of a case depends on, as one digest per test and target: the test, the files it
//! names, the target, and what all tests of a suite share.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{JudgePrompt, NamedAssertion};
use evalrig_core::reader::EnvFiles;
use evalrig_core::source::{Files, Reach};
use sha2::{Digest, Sha256};

use crate::disk::{Fingerprint, LoadFiles};
use crate::execute::SuiteJob;
use crate::prepare::TestOnTarget;

use super::skill_files::{directories, skill_files};
use super::spec::LoadOptions;

/// By test and target; the number of trials is part of the digest.
pub(super) type CaseInputs = BTreeMap<TestOnTarget, [u8; 32]>;

/// The inputs of all cases. Files that loading did not look at, such as programs and skills, are
/// looked at through `loading.files`, so that they are remembered with the others.
pub(super) fn case_inputs(suites: &[SuiteJob], loading: &LoadOptions) -> CaseInputs {
    let mut inputs = CaseInputs::new();
    for job in suites {
        let shared = shared_inputs(job, loading);
        let mut trials: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        for case in job.chains.iter().flatten() {
            *trials.entry((case.test, &case.target)).or_default() += 1;
        }
        for ((at, target), trials) in trials {
            let test = &job.suite.tests[at];
            let mut digest = shared.clone();
            add(&mut digest, &[job.hash(at), &trials.to_string()]);
            add_target(&mut digest, job, target, &loading.files);
            if let Some(judge) = job.judges.get(target) {
                add_target(&mut digest, job, judge, &loading.files);
            }
            add_checks(&mut digest, job, &test.assertions, &loading.files);
            let key = TestOnTarget {
                suite: job.suite.name.clone(),
                test: test.id.to_string(),
                target: target.to_owned(),
            };
            inputs.insert(key, digest.finalize().into());
        }
    }
    inputs
}

/// Each text with its length, so that no two lists give the same bytes.
fn add(digest: &mut Sha256, texts: &[&str]) {
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
}

fn add_file(digest: &mut Sha256, path: &Utf8Path, files: &LoadFiles) {
    // Remembered before it is read.
    let _ = files.look(path, Reach::Anywhere);
    let found = Fingerprint::of_path(path).map(|found| found.text());
    add(digest, &[path.as_str(), found.as_deref().unwrap_or("none")]);
}

/// The targets file, `.env` files, thresholds and the skill.
fn shared_inputs(job: &SuiteJob, loading: &LoadOptions) -> Sha256 {
    let mut digest = Sha256::new();
    add(&mut digest, &[&format!("{:?}", job.thresholds)]);
    if let Some(file) = &job.targets_file {
        add_file(&mut digest, file, &loading.files);
    }
    let env_files: Vec<Utf8PathBuf> = match &loading.env_files {
        EnvFiles::None => Vec::new(),
        EnvFiles::Only(file) => vec![file.clone()],
        EnvFiles::Search => directories(job).map(|directory| directory.join(".env")).collect(),
    };
    // What a suite reads itself counts only for the tests that use it.
    let skill = skill_files(job, &loading.files, |path| loading.files.has_seen(path));
    for file in env_files.iter().chain(&skill) {
        add_file(&mut digest, file, &loading.files);
    }
    digest
}

fn add_target(digest: &mut Sha256, job: &SuiteJob, name: &str, files: &LoadFiles) {
    let Some(connected) = job.target(name) else { return };
    for file in connected.source_files() {
        let _ = files.look(&file, Reach::Anywhere);
    }
    add(digest, &[name, connected.identity().unwrap_or("unknown")]);
}

/// What grading runs and asks. The hash of a test has the path of a prompt, and of scripts nothing.
fn add_checks(
    digest: &mut Sha256,
    job: &SuiteJob,
    assertions: &[NamedAssertion],
    files: &LoadFiles,
) {
    for check in assertions.iter().map(|named| &named.assertion.check) {
        for script in check.script_files() {
            add_file(digest, &script, files);
        }
        if let Some(JudgePrompt::File { file: Some(file), .. }) = check.prompt() {
            add(digest, &[&file.text]);
        }
        if let Some(judge) = check.judge() {
            add_target(digest, job, judge, files);
        }
        add_checks(digest, job, check.members(), files);
    }
}
