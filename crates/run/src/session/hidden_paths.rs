//! What agents in a sandbox never see (spec 17.4): the suites of a run with all that is in their repositories,
//! its targets files, results and run logs, and the cases that run beside theirs.

use camino::{Utf8Path, Utf8PathBuf};

use crate::execute::SuiteJob;
use crate::results::ResultsPaths;

use super::spec::RunSpec;

/// The paths as the file system has them. Most are below the roots of the suites.
pub(super) fn hidden_paths<'j>(
    spec: &RunSpec,
    jobs: impl Iterator<Item = &'j SuiteJob>,
    scratch: &Utf8Path,
) -> Vec<Utf8PathBuf> {
    let mut paths = vec![scratch.to_owned()];
    for job in jobs {
        paths.extend([job.root.clone(), job.path.clone()]);
        paths.extend(job.targets_file.clone());
    }
    if let Some(files) = spec.output.as_deref().map(ResultsPaths::existing) {
        paths.extend([files.results().to_owned(), files.journal()]);
    }
    paths.extend(spec.run_log.as_ref().and_then(|log| log.store.clone()));
    let real = |path: Utf8PathBuf| path.canonicalize_utf8().unwrap_or(path);
    let mut paths: Vec<Utf8PathBuf> = paths.into_iter().map(real).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}
