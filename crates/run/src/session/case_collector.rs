//! Rows as the cases of a comparison.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use camino::Utf8PathBuf;
use evalrig_core::compare::ComparedCase;
use evalrig_core::secrets::Secrets;

use crate::results::{Row, Rows, SourcePlace};

use super::base_runs::BaseRunFiles;
use super::error::SessionError;
use super::known_secrets::known_secrets;
use super::spec::LoadOptions;
use super::stored_rounds::StoredRounds;

/// Cases of one run, added in any order.
#[derive(Debug, Clone, Default)]
pub(super) struct CaseCollector {
    /// Each with the number of its run in `runs`.
    cases: Vec<(SourcePlace, ComparedCase)>,
    /// Ids, in the order in which they were found.
    runs: Vec<Option<String>>,
}

impl CaseCollector {
    pub(super) fn add(&mut self, row: &Row) {
        self.add_case(row, ComparedCase::from(row));
    }

    pub(super) fn add_of_arm(&mut self, row: &Row) {
        self.add_case(row, row.case_without_arm());
    }

    fn add_case(&mut self, row: &Row, case: ComparedCase) {
        // Rows of one run follow each other.
        let known = self.runs.iter().rposition(|run| *run == row.run);
        let run = known.unwrap_or_else(|| {
            self.runs.push(row.run.clone());
            self.runs.len() - 1
        });
        let case = ComparedCase { run: run as u32, ..case };
        self.cases.push((row.source.clone(), case));
    }

    /// In the order of the suite; rows are in the order in which cases ended. Files of shards have ids
    /// of their own and are one run; if two ids have a case in common, as in a file that was joined
    /// from two, each is a run.
    pub(super) fn in_order(mut self) -> Vec<ComparedCase> {
        self.cases.sort_by(|one, other| position(one).cmp(&position(other)));
        let is_repeated = |pair: &[(SourcePlace, ComparedCase)]| {
            let [(_, one), (_, next)] = pair else {
                return false;
            };
            one.run != next.run
                && (&one.suite, &one.test, &one.target, one.trial)
                    == (&next.suite, &next.test, &next.target, next.trial)
        };
        let is_joined = self.runs.len() > 1 && self.cases.windows(2).any(is_repeated);
        let mut cases: Vec<ComparedCase> = self.cases.into_iter().map(|(_, case)| case).collect();
        if !is_joined {
            cases.iter_mut().for_each(|case| case.run = 0);
        }
        cases
    }
}

fn position((place, case): &(SourcePlace, ComparedCase)) -> impl Ord {
    let test = (&case.test, &case.target, case.trial);
    (&case.suite, &place.file, place.line, test)
}

/// The cases of stored results, and what the results lack.
#[derive(Debug)]
pub struct StoredCases {
    /// In the order of the suite, with the numbers of their runs from 0.
    pub cases: Vec<ComparedCase>,
    /// What is missing or damaged, a sentence each.
    pub gaps: Vec<String>,
    /// What is unknown of them.
    pub note: Option<String>,
    /// If the run was one in rounds.
    pub rounds: Option<StoredRounds>,
}

impl StoredCases {
    /// How many runs the files hold: usually one.
    pub fn runs(&self) -> u32 {
        self.cases.iter().map(|case| case.run + 1).max().unwrap_or(1)
    }
}

/// Reads the cases of runs, each with its files, on all cores.
pub fn read_cases(
    loading: &LoadOptions,
    runs: &[BaseRunFiles],
) -> Result<Vec<StoredCases>, SessionError> {
    let secrets = Arc::new(known_secrets(loading, &loading.working_directory));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let read = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = runs.get(at) else { return done };
            done.push((at, read_run(loading, files, None, &secrets, |_| {})));
        }
    };
    let mut found: Vec<(usize, Result<StoredCases, SessionError>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.min(runs.len())).map(|_| scope.spawn(read)).collect();
        let done = threads.into_iter().map(|thread| thread.join());
        done.flat_map(|part| part.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, cases)| cases).collect()
}

/// Reads results files that belong together, and shows each row to `keep`. With `shard`, the cases of
/// other shards do not count as missing.
pub(super) fn read_cases_with(
    loading: &LoadOptions,
    results: &[Utf8PathBuf],
    shard: Option<&str>,
    keep: impl FnMut(&Row),
) -> Result<StoredCases, SessionError> {
    let secrets = Arc::new(known_secrets(loading, &loading.working_directory));
    read_run(loading, results, shard, &secrets, keep)
}

fn read_run(
    loading: &LoadOptions,
    results: &[Utf8PathBuf],
    shard: Option<&str>,
    secrets: &Arc<Secrets>,
    mut keep: impl FnMut(&Row),
) -> Result<StoredCases, SessionError> {
    let mut found = CaseCollector::default();
    let mut rows = Rows::open_by_run(results)?.redacting(Arc::clone(secrets));
    for row in rows.by_ref() {
        let row = row?;
        keep(&row);
        found.add(&row);
    }
    let gaps = rows.gaps_shown(shard, |path| loading.shown(path));
    Ok(StoredCases {
        cases: found.in_order(),
        gaps: gaps.sentences(),
        note: gaps.unknown_note(),
        rounds: StoredRounds::of(&rows),
    })
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::*;
    use crate::report::fixture;

    fn runs(rows: &[(&str, u32, &str)]) -> Vec<u32> {
        let mut found = CaseCollector::default();
        for (test, trial, run) in rows {
            let mut row = fixture::row(test, Outcome::Passed, Some(1.0));
            (row.trial, row.run) = (*trial, Some((*run).to_owned()));
            found.add(&row);
        }
        found.in_order().iter().map(|case| case.run).collect()
    }

    #[test]
    fn a_file_joined_from_two_runs_has_the_trials_of_both() {
        assert_eq!(runs(&[("a", 1, "x"), ("b", 1, "x"), ("a", 1, "y")]), [0, 1, 0]);
    }

    #[test]
    fn shards_with_ids_of_their_own_are_one_run() {
        assert_eq!(runs(&[("a", 1, "x"), ("b", 1, "y"), ("c", 1, "x")]), [0, 0, 0]);
    }

    #[test]
    fn a_case_that_was_repeated_in_its_run_is_not_another_run() {
        assert_eq!(runs(&[("a", 1, "x"), ("a", 1, "x"), ("b", 1, "y")]), [0, 0, 0]);
    }
}
