//! Finds the earlier runs that a run may be compared with. Each run has one file per suite, or one
//! per shard.

use std::ops::RangeInclusive;

use camino::{Utf8Path, Utf8PathBuf};

use crate::results::{ResultsPaths, RunHeader, StoredRun, header_of_file};

use super::error::{Notice, Notify, SessionError};
use super::find_results::{LATEST, matching_results, results_folder, runs_in, steps_back, too_few};
use super::rejected_runs::{AcceptedFiles, SkippedRuns};
use super::spec::LoadOptions;

const OPTION: &str = "--baseline";

/// Runs that `latest` stands for, unless the user says how many.
pub const DEFAULT_BASELINE_RUNS: usize = 4;

/// The files of one run.
pub type BaseRunFiles = Vec<Utf8PathBuf>;

/// A suite whose earlier results may serve as baseline.
#[derive(Debug, Clone)]
pub(super) struct BaselineSuite<'a> {
    pub(super) root: &'a Utf8Path,
    pub(super) name: &'a str,
    /// Of the cases that are run; empty if they are not known.
    pub(super) targets: &'a [String],
}

/// Where a baseline is looked for.
pub(super) struct BaselineSearch<'a> {
    pub(super) loading: &'a LoadOptions,
    pub(super) suites: Vec<BaselineSuite<'a>>,
    /// Results of the run itself; only older results are considered.
    pub(super) own: Vec<Utf8PathBuf>,
    /// The shard that is run; that of the baseline is enough.
    pub(super) shard: Option<&'a str>,
}

/// What an argument names.
#[derive(Debug)]
pub(super) enum LocatedRuns {
    These(Vec<BaseRunFiles>),
    /// Files that were named, of one or several runs.
    Files(Vec<Utf8PathBuf>),
    /// For each suite the files from before the run; so many complete ones of the same targets are
    /// wanted.
    Newest {
        histories: Vec<SuiteHistory>,
        most: usize,
    },
}

/// The earlier results of a suite, the newest first.
#[derive(Debug)]
pub(super) struct SuiteHistory {
    pub(super) files: AcceptedFiles,
    pub(super) targets: Vec<String>,
}

impl BaselineSearch<'_> {
    pub(super) fn locate(
        &self,
        argument: &str,
        most: Option<usize>,
        skipped: &mut SkippedRuns,
        notify: &mut Notify<'_>,
    ) -> Result<LocatedRuns, SessionError> {
        let path = self.loading.working_directory.join(argument);
        if path.is_dir() {
            let (folder, most) = (results_folder(path), most.unwrap_or(1));
            return self.in_folder(&folder, most, skipped).map(LocatedRuns::These);
        }
        if let Some(found) = matching_results(self.loading, argument)? {
            let older = found.into_iter().filter(|file| !self.is_own(file));
            return Ok(LocatedRuns::Files(older.collect()));
        }
        match run_range(argument).filter(|_| !path.exists()) {
            Some(_) if argument == LATEST => {
                self.newest(most.unwrap_or(DEFAULT_BASELINE_RUNS), notify)
            }
            Some(range) => self.latest(range, skipped, notify).map(LocatedRuns::These),
            None => self.named_file(argument, &path).map(|file| LocatedRuns::Files(vec![file])),
        }
    }

    fn named_file(&self, argument: &str, path: &Utf8Path) -> Result<Utf8PathBuf, SessionError> {
        // Resolved now, because the run will point `latest.jsonl` to its own results.
        let path = ResultsPaths::existing(path).results().to_owned();
        if self.is_own(&path) {
            let reason =
                format!("`{argument}` contains the results of this run; name an earlier one");
            return Err(SessionError::argument(OPTION, reason));
        }
        Ok(path)
    }

    /// The newest results of each suite; if no file is named after a suite, the newest runs.
    fn in_folder(
        &self,
        folder: &Utf8Path,
        most: usize,
        skipped: &mut SkippedRuns,
    ) -> Result<Vec<BaseRunFiles>, SessionError> {
        let mut found: Vec<BaseRunFiles> = Vec::new();
        for suite in &self.suites {
            let mut history = self.older(ResultsPaths::history_of(folder, suite.name));
            add_to_runs(&mut found, history.by_ref().take(most));
            skipped.absorb(history.skipped);
        }
        if found.is_empty() {
            let is_own = |run: &StoredRun| run.files.iter().any(|file| self.is_own(file));
            let runs = runs_in(self.loading, folder)?.into_iter();
            found = accepted(runs.filter(|run| !is_own(run)), most, skipped);
        }
        if found.is_empty() {
            let reason = too_few(self.loading, folder, 0) + &skipped.reason();
            return Err(SessionError::argument(OPTION, reason));
        }
        Ok(found)
    }

    /// The history of each suite of the run. New suites without results are skipped.
    fn newest(&self, most: usize, notify: &mut Notify<'_>) -> Result<LocatedRuns, SessionError> {
        let (mut histories, mut missing) = (Vec::new(), Vec::new());
        for BaselineSuite { root, name, targets } in &self.suites {
            let folder = ResultsPaths::folder(root);
            let mut files = self.older(ResultsPaths::history_of(&folder, name));
            if files.is_empty() {
                missing.push(self.too_short(&folder, name, 0) + &files.skipped.reason());
            } else {
                histories.push(SuiteHistory { files, targets: targets.to_vec() });
            }
        }
        report_missing(missing, histories.is_empty(), notify)?;
        Ok(LocatedRuns::Newest { histories, most })
    }

    /// `latest~N` or `latest~A..B` of each suite of the run.
    fn latest(
        &self,
        range: RangeInclusive<usize>,
        skipped: &mut SkippedRuns,
        notify: &mut Notify<'_>,
    ) -> Result<Vec<BaseRunFiles>, SessionError> {
        let (mut runs, mut missing): (Vec<BaseRunFiles>, _) = (Vec::new(), Vec::new());
        for BaselineSuite { root, name, .. } in &self.suites {
            let folder = ResultsPaths::folder(root);
            let mut history = self.older(ResultsPaths::history_of(&folder, name));
            let found: Vec<_> = history.by_ref().take(range.end() + 1).collect();
            if found.len() <= *range.start() {
                let reason = self.too_short(&folder, name, found.len());
                missing.push(reason + &history.skipped.reason());
            } else {
                add_to_runs(&mut runs, found.into_iter().skip(*range.start()));
                skipped.absorb(history.skipped);
            }
        }
        report_missing(missing, runs.is_empty(), notify)?;
        Ok(runs)
    }

    fn too_short(&self, folder: &Utf8Path, name: &str, count: usize) -> String {
        let folder = self.loading.shown(folder);
        match count {
            0 => format!("`{folder}` has no earlier results of `{name}`"),
            1 => format!("`{folder}` has only one earlier run of `{name}`"),
            count => format!("`{folder}` has only {count} earlier runs of `{name}`"),
        }
    }

    /// The results from before the run. A history starts with the newest.
    fn older(&self, mut history: Vec<Utf8PathBuf>) -> AcceptedFiles {
        let own = history.iter().rposition(|file| self.is_own(file));
        AcceptedFiles::of(history.split_off(own.map_or(0, |at| at + 1)))
    }

    fn is_own(&self, file: &Utf8Path) -> bool {
        self.own.iter().any(|own| is_same(own, file))
    }
}

/// The first file of a suite belongs to the first run, and so on.
fn add_to_runs(runs: &mut Vec<BaseRunFiles>, files: impl Iterator<Item = Utf8PathBuf>) {
    for (at, file) in files.enumerate() {
        match runs.get_mut(at) {
            Some(run) => run.push(file),
            None => runs.push(vec![file]),
        }
    }
}

/// An error if nothing was found at all.
fn report_missing(
    mut missing: Vec<String>,
    is_empty: bool,
    notify: &mut Notify<'_>,
) -> Result<(), SessionError> {
    let error = is_empty.then(|| missing.pop().unwrap_or_else(|| "no rows to compare".to_owned()));
    for reason in missing {
        notify(Notice::Message(format!("{OPTION}: {reason}")));
    }
    match error {
        Some(reason) => Err(SessionError::argument(OPTION, reason)),
        None => Ok(()),
    }
}

/// The files of the first runs that were not rejected; the others before them are skipped.
pub(super) fn accepted(
    runs: impl Iterator<Item = StoredRun>,
    most: usize,
    skipped: &mut SkippedRuns,
) -> Vec<BaseRunFiles> {
    let mut found = Vec::new();
    for run in runs {
        if found.len() == most {
            break;
        }
        if run.is_rejected {
            skipped.add(run.files);
        } else {
            found.push(run.files);
        }
    }
    found
}

/// `latest` is 0 to 0, `latest~2` 2 to 2, `latest~1..4` 1 to 4.
pub(super) fn run_range(argument: &str) -> Option<RangeInclusive<usize>> {
    if let Some(steps) = steps_back(argument) {
        return Some(steps..=steps);
    }
    let (first, last) = argument.strip_prefix(LATEST)?.strip_prefix('~')?.split_once("..")?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(first..=last)
}

/// Files of one run have its id. Those of shards have the plan in common, and each shard once.
pub fn group_runs(files: Vec<Utf8PathBuf>) -> Vec<BaseRunFiles> {
    let mut runs: Vec<(BaseRunFiles, Vec<RunHeader>)> = Vec::new();
    for file in files {
        let header = header_of_file(&file);
        let is_joined = |others: &Vec<RunHeader>, header: &RunHeader| {
            !others.is_empty() && others.iter().all(|other| is_of_one_run(other, header))
        };
        let place = header
            .as_ref()
            .and_then(|header| runs.iter().position(|(_, others)| is_joined(others, header)));
        let at = place.unwrap_or_else(|| {
            runs.push((Vec::new(), Vec::new()));
            runs.len() - 1
        });
        runs[at].0.push(file);
        runs[at].1.extend(header);
    }
    runs.into_iter().map(|(files, _)| files).collect()
}

pub(super) fn is_of_one_run(one: &RunHeader, other: &RunHeader) -> bool {
    if one.run.is_some() && one.run == other.run {
        return true;
    }
    let shards = (shard_of(one), shard_of(other));
    let are_parts =
        matches!(shards, (Some((part, all)), Some((other, of))) if part != other && all == of);
    are_parts && one.plan == other.plan
}

/// `1/3` has the parts `1` and `3`.
fn shard_of(header: &RunHeader) -> Option<(&str, &str)> {
    header.options.shard.as_deref()?.split_once('/')
}

pub(super) fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
    let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{PlanOptions, PlannedSuite};

    #[test]
    fn ranges_are_written_with_two_dots() {
        assert_eq!(run_range("latest"), Some(0..=0));
        assert_eq!(run_range("latest~2"), Some(2..=2));
        assert_eq!(run_range("latest~1..4"), Some(1..=4));
        for text in ["latest~4..1", "latest~..4", "latest..4", "main.jsonl"] {
            assert_eq!(run_range(text), None, "{text}");
        }
    }

    #[test]
    fn shards_of_one_plan_are_one_run() {
        let header = |test: &str, run: &str, shard: Option<&str>| {
            let suite = PlannedSuite::new("s", "EVAL.yaml", "f".to_owned(), [(test, "claude", 1)]);
            let options = PlanOptions { shard: shard.map(str::to_owned), ..PlanOptions::default() };
            let mut header =
                RunHeader::new("2026-11-01T00:00:00Z".to_owned(), vec![suite], options);
            header.run = Some(run.to_owned());
            header
        };
        let [first, second] = ["1/2", "2/2"].map(|shard| header("a", shard, Some(shard)));
        assert!(is_of_one_run(&first, &second));
        assert!(!is_of_one_run(&first, &header("a", "again", Some("1/2"))));
        assert!(!is_of_one_run(&first, &header("b", "other", Some("2/2"))));
        assert!(!is_of_one_run(&first, &header("a", "thirds", Some("2/3"))));
        assert!(!is_of_one_run(&header("a", "x", None), &header("a", "y", None)));
        assert!(is_of_one_run(&header("a", "x", None), &header("b", "x", None)));
    }
}
