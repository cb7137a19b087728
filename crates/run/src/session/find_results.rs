//! Finds the results file that an argument names.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::plan::Filter;
use evalrig_core::read::repository_root;

use crate::disk::Disk;
use crate::results::ResultsPaths;

use super::error::SessionError;
use super::spec::LoadOptions;

/// Argument for the newest results.
pub const LATEST: &str = "latest";

/// A results file, a directory with results, a pattern, `latest` or `latest~N`.
pub fn find_results(
    options: &LoadOptions,
    argument: &str,
) -> Result<Vec<Utf8PathBuf>, SessionError> {
    let path = options.working_directory.join(argument);
    if path.is_dir() {
        return Ok(vec![pick(options, &results_folder(path), 0)?]);
    }
    if let Some(found) = matching_results(options, argument)? {
        return Ok(found);
    }
    match steps_back(argument) {
        Some(steps) if !path.exists() => {
            let root = repository_root(&Disk, &options.working_directory);
            Ok(vec![pick(options, &ResultsPaths::folder(&root), steps)?])
        }
        _ => Ok(vec![camino::absolute_utf8(&path).unwrap_or(path)]),
    }
}

/// The files that a pattern names, sorted, such as `shard-*.jsonl`. `None` if the argument is not a
/// pattern. The pattern is that of one directory.
pub fn matching_results(
    options: &LoadOptions,
    argument: &str,
) -> Result<Option<Vec<Utf8PathBuf>>, SessionError> {
    let path = options.working_directory.join(argument);
    let is_pattern = |text: &str| text.contains(['*', '?', '[', '{']);
    if path.exists() || !is_pattern(argument) {
        return Ok(None);
    }
    let none = |why: &str| SessionError::StoredRun(format!("`{argument}` {why}"));
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(none("is not a file"));
    };
    if is_pattern(folder.as_str()) && !folder.exists() {
        return Err(none("has a pattern in its directory; only file names can be patterns"));
    }
    let pattern = Filter::parse(name).map_err(|_| none("is not a valid pattern"))?;
    let entries = folder.read_dir_utf8().into_iter().flatten().filter_map(Result::ok);
    let files = entries.filter(|entry| pattern.is_match(entry.file_name()));
    let mut found: Vec<Utf8PathBuf> = files.map(|entry| entry.path().to_owned()).collect();
    found.retain(|file| file.is_file());
    found.sort();
    if found.is_empty() { Err(none("matches no file")) } else { Ok(Some(found)) }
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
