//! The commands that a report suggests after a run. They name the results only if the newest run of the
//! repository is another one.

use camino::Utf8PathBuf;

use crate::disk::is_plain_file;

use super::command_line::quoted;
use super::find_results::{LATEST, find_results};
use super::spec::LoadOptions;

/// `evalrig run --failed`, for the run that these files are of. `None` if no argument names them.
pub(super) fn next_command(
    loading: &LoadOptions,
    option: &str,
    results: &[Utf8PathBuf],
    more: &str,
) -> Option<String> {
    let run = run_argument(loading, results)?;
    let words = ["evalrig run", option, &run, more];
    Some(words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

/// How the files are named behind an option whose default is the newest run.
fn run_argument(loading: &LoadOptions, results: &[Utf8PathBuf]) -> Option<String> {
    let real = |files: &[Utf8PathBuf]| -> Vec<Utf8PathBuf> {
        let real = files.iter().map(|file| file.canonicalize_utf8());
        let mut real: Vec<_> = real.filter_map(Result::ok).collect();
        real.sort();
        real
    };
    let own = real(results);
    if own.is_empty() || !results.iter().all(|file| is_plain_file(file)) {
        return None;
    }
    let is_latest = find_results(loading, LATEST).is_ok_and(|latest| real(&latest) == own);
    match results {
        _ if is_latest => Some(String::new()),
        [one] => Some(quoted(loading.shown(one).as_str())),
        _ => None,
    }
}
