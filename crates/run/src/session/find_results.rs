//! Finds the results files that an argument names: those of one run, or those that a pattern matches.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::plan::Filter;
use evalrig_core::read::repository_root;

use crate::disk::Disk;
use crate::results::{ResultsPaths, StoredRun, is_results_file, named_entries, stored_runs};

use super::error::SessionError;
use super::spec::LoadOptions;

/// Argument for the newest run.
pub const LATEST: &str = "latest";

/// Which runs `latest` and a directory may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunState {
    Any,
    /// Runs that can be resumed.
    Unfinished,
}

/// A results file, a directory with results, a pattern, `latest` or `latest~N`. Of a directory, the
/// newest run; a run has one file per suite.
pub fn find_results(
    options: &LoadOptions,
    argument: &str,
) -> Result<Vec<Utf8PathBuf>, SessionError> {
    find_run(options, argument, RunState::Any)
}

/// As [`find_results`], for arguments that belong together, such as the files of shards. Each file
/// counts once.
pub fn find_all_results(
    options: &LoadOptions,
    arguments: &[String],
) -> Result<Vec<Utf8PathBuf>, SessionError> {
    let mut found = Vec::with_capacity(arguments.len());
    for argument in arguments {
        for file in find_results(options, argument)? {
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    Ok(found)
}

pub(super) fn find_run(
    options: &LoadOptions,
    argument: &str,
    state: RunState,
) -> Result<Vec<Utf8PathBuf>, SessionError> {
    let path = options.working_directory.join(argument);
    if path.is_dir() {
        return pick(options, &results_folder(path), 0, state);
    }
    if let Some(found) = matching_results(options, argument)? {
        return Ok(found);
    }
    match steps_back(argument) {
        Some(steps) if !path.exists() => pick(options, &own_folder(options), steps, state),
        _ => Ok(vec![camino::absolute_utf8(&path).unwrap_or(path)]),
    }
}

/// Whether an argument that may also be a suite names results: a results file, a directory or a
/// pattern of them, `latest` or `latest~N`.
pub fn names_results(options: &LoadOptions, argument: &str) -> bool {
    let path = options.working_directory.join(argument);
    if path.is_dir() {
        return stored_runs(&path).is_ok_and(|runs| !runs.is_empty());
    }
    if path.exists() {
        return is_results_file(&path);
    }
    let matches = matching_results(options, argument).ok().flatten();
    steps_back(argument).is_some()
        || matches.is_some_and(|files| files.iter().all(|file| is_results_file(file)))
}

/// Where runs that are not given an output file write.
pub(super) fn own_folder(options: &LoadOptions) -> Utf8PathBuf {
    let root = options.root.clone();
    let root = root.unwrap_or_else(|| repository_root(&Disk, &options.working_directory));
    ResultsPaths::folder(&root)
}

/// The files that a pattern names, sorted, such as `shard-*.jsonl`, without the summaries that are beside
/// results. `None` if the argument is not a pattern. The pattern is that of one directory.
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
    let mut found = matching_files(folder, &pattern)
        .map_err(|error| cannot_read_folder(options, folder, &error))?;
    found.retain(|file| file.is_file() && !is_summary(file));
    found.sort();
    if found.is_empty() { Err(none("matches no file")) } else { Ok(Some(found)) }
}

/// A folder that does not exist has none.
fn matching_files(folder: &Utf8Path, pattern: &Filter) -> io::Result<Vec<Utf8PathBuf>> {
    let entries = match named_entries(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let matching = entries.iter().filter(|entry| pattern.is_match(entry.file_name()));
    Ok(matching.map(|entry| entry.path().to_owned()).collect())
}

/// The runs in a folder, the last one first. Without the folder there are none; one that cannot be read is
/// not the same as an empty one.
pub(super) fn runs_in(
    options: &LoadOptions,
    folder: &Utf8Path,
) -> Result<Vec<StoredRun>, SessionError> {
    match stored_runs(folder) {
        Ok(runs) => Ok(runs),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(cannot_read_folder(options, folder, &error)),
    }
}

fn cannot_read_folder(options: &LoadOptions, folder: &Utf8Path, error: &io::Error) -> SessionError {
    SessionError::StoredRun(format!("cannot read `{}`: {error}", options.shown(folder)))
}

/// Whether a run wrote the file beside its results.
fn is_summary(file: &Utf8Path) -> bool {
    file.file_name().is_some_and(|name| name.ends_with(".summary.json"))
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
    state: RunState,
) -> Result<Vec<Utf8PathBuf>, SessionError> {
    let mut runs = runs_in(options, folder)?;
    if state == RunState::Unfinished {
        runs.retain(|run| run.is_unfinished);
    }
    let count = runs.len();
    let found: Option<StoredRun> = runs.into_iter().nth(steps);
    found.map(|run| run.files).ok_or_else(|| {
        SessionError::StoredRun(match state {
            RunState::Any => too_few(options, folder, count),
            RunState::Unfinished => {
                let folder = options.shown(folder);
                format!(
                    "no interrupted run found in `{folder}`; to continue another, name its file"
                )
            }
        })
    })
}

pub(super) fn too_few(options: &LoadOptions, folder: &Utf8Path, count: usize) -> String {
    let folder = options.shown(folder);
    match count {
        0 => format!("no results in `{folder}`; `evalrig run` writes them"),
        1 => format!("`{folder}` has the results of only one run"),
        count => format!("`{folder}` has the results of only {count} runs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_read_is_not_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let options =
            LoadOptions { root: Some(root.to_owned()), ..LoadOptions::new(root.to_owned()) };
        let message = |argument: &str| find_results(&options, argument).unwrap_err().to_string();
        assert!(message("latest").starts_with("no results in "), "{}", message("latest"));
        assert!(message("none/*.jsonl").ends_with("matches no file"));
        std::fs::create_dir(root.join(".evalrig")).unwrap();
        // As good as a folder without permissions, which root could read.
        std::fs::write(root.join(".evalrig/results"), "").unwrap();
        assert!(message("latest").starts_with("cannot read `"), "{}", message("latest"));
        let pattern = message(".evalrig/results/*.jsonl");
        assert!(pattern.starts_with("cannot read `"), "{pattern}");
    }

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
