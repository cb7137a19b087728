//! Finds the results file that an argument names.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::repository_root;

use crate::disk::Disk;
use crate::results::ResultsPaths;

use super::error::SessionError;
use super::spec::LoadOptions;

/// Argument for the newest results.
pub const LATEST: &str = "latest";

/// A results file, a directory with results, `latest` or `latest~N`.
pub fn find_results(options: &LoadOptions, argument: &str) -> Result<Utf8PathBuf, SessionError> {
    let path = options.working_directory.join(argument);
    if path.is_dir() {
        return pick(options, &results_folder(path), 0);
    }
    match steps_back(argument) {
        Some(steps) if !path.exists() => {
            let root = repository_root(&Disk, &options.working_directory);
            pick(options, &ResultsPaths::folder(&root), steps)
        }
        _ => Ok(camino::absolute_utf8(&path).unwrap_or(path)),
    }
}

/// The results folder inside a directory, or the directory itself.
pub(super) fn results_folder(directory: Utf8PathBuf) -> Utf8PathBuf {
    let inner = ResultsPaths::folder(&directory);
    if inner.is_dir() { inner } else { directory }
}

/// `latest` is 0, `latest~2` is 2.
pub(super) fn steps_back(argument: &str) -> Option<usize> {
    let rest = argument.strip_prefix(LATEST)?;
    match rest.strip_prefix('~') {
        None if rest.is_empty() => Some(0),
        None => None,
        Some("") => Some(1),
        Some(number) => number.parse().ok(),
    }
}

fn pick(
    options: &LoadOptions,
    folder: &Utf8Path,
    steps: usize,
) -> Result<Utf8PathBuf, SessionError> {
    let history = ResultsPaths::history(folder).unwrap_or_default();
    let count = history.len();
    let found = history.into_iter().nth(steps);
    found.ok_or_else(|| SessionError::StoredRun(too_few(options, folder, count)))
}

pub(super) fn too_few(options: &LoadOptions, folder: &Utf8Path, count: usize) -> String {
    let folder = options.shown(folder);
    match count {
        0 => format!("no results in `{folder}`"),
        1 => format!("`{folder}` has the results of only one run"),
        count => format!("`{folder}` has the results of only {count} runs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_back_are_written_as_in_git() {
        assert_eq!(steps_back("latest"), Some(0));
        assert_eq!(steps_back("latest~"), Some(1));
        assert_eq!(steps_back("latest~2"), Some(2));
        assert_eq!(steps_back("latest.jsonl"), None);
        assert_eq!(steps_back("latest~x"), None);
        assert_eq!(steps_back("out.jsonl"), None);
    }
}
