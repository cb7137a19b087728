//! What the agents of a suite must not find in a checkout of its repository: the suite, what it reads to
//! judge, its targets and results (spec 17.1).

use camino::Utf8PathBuf;
use evalrig_core::model::Assertion;

use crate::workspace::JudgingFiles;

use super::job::SuiteJob;

/// `hidden` is what sandboxes do not show.
pub(super) fn judging_files(job: &SuiteJob, hidden: &[Utf8PathBuf]) -> JudgingFiles {
    // A skill is what an agent works with.
    let read = job.sources.paths().filter(|path| path.file_name() != Some("SKILL.md"));
    let mut paths: Vec<Utf8PathBuf> = read.map(ToOwned::to_owned).collect();
    for test in &job.suite.tests {
        paths.extend(test.expected_output.iter().flat_map(|expected| expected.files()));
        for named in &test.assertions {
            add_files_of(&named.assertion, &mut paths);
        }
    }
    paths.extend(job.targets_file.clone());
    paths.extend([".evalrig", ".agentv", ".co/evals"].map(|own| job.root.join(own)));
    // Whole repositories are hidden from sandboxes.
    paths.extend(hidden.iter().filter(|path| !job.path.starts_with(path)).cloned());
    JudgingFiles::new(&job.path, paths)
}

fn add_files_of(assertion: &Assertion, paths: &mut Vec<Utf8PathBuf>) {
    let mut open = vec![assertion];
    while let Some(assertion) = open.pop() {
        let check = &assertion.check;
        open.extend(check.members().iter().map(|member| &*member.assertion));
        match check.hidden_directory() {
            Some(directory) => paths.push(directory.to_owned()),
            None => paths.extend(check.hidden_files()),
        }
    }
}
