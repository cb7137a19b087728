//! Finds the earlier runs that a run may be compared with. Each run has one file per suite, or one
//! per shard.

use std::ops::RangeInclusive;

use camino::{Utf8Path, Utf8PathBuf};

use crate::results::{ResultsPaths, RunHeader, header_of_file};

use super::error::{Notice, Notify, SessionError};
use super::find_results::{
    LATEST, find_results, matching_results, results_folder, runs_in, steps_back, too_few,
};
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
    pub(super) files: Vec<Utf8PathBuf>,
    pub(super) targets: Vec<String>,
}

impl BaselineSearch<'_> {
    pub(super) fn locate(
        &self,
        argument: &str,
        most: Option<usize>,
        notify: &mut Notify<'_>,
    ) -> Result<LocatedRuns, SessionError> {
        let path = self.loading.working_directory.join(argument);
        if path.is_dir() {
            let most = most.unwrap_or(1);
            return self.in_folder(&results_folder(path), most).map(LocatedRuns::These);
        }
        if let Some(found) = matching_results(self.loading, argument)? {
            let older = found.into_iter().filter(|file| !self.is_own(file));
            return Ok(LocatedRuns::These(group_runs(older.collect())));
        }
        match run_range(argument).filter(|_| !path.exists()) {
            Some(_) if argument == LATEST => {
                self.newest(most.unwrap_or(DEFAULT_BASELINE_RUNS), notify)
            }
            Some(range) => self.latest(range, notify).map(LocatedRuns::These),
            None => self.named_file(argument, &path).map(LocatedRuns::These),
        }
    }

    fn named_file(
        &self,
        argument: &str,
        path: &Utf8Path,
    ) -> Result<Vec<BaseRunFiles>, SessionError> {
        // Resolved now, because the run will point `latest.jsonl` to its own results.
        let path = ResultsPaths::existing(path).results().to_owned();
        if self.is_own(&path) {
            let reason =
                format!("`{argument}` contains the results of this run; name an earlier one");
            return Err(SessionError::argument(OPTION, reason));
        }
        Ok(vec![vec![path]])
    }

    /// The newest results of each suite; if no file is named after a suite, the newest runs.
    fn in_folder(&self, folder: &Utf8Path, most: usize) -> Result<Vec<BaseRunFiles>, SessionError> {
        let mut found: Vec<BaseRunFiles> = Vec::new();
        for suite in &self.suites {
            let history = self.older(ResultsPaths::history_of(folder, suite.name));
            add_to_runs(&mut found, history.take(most));
        }
        if found.is_empty() {
            let runs = runs_in(self.loading, folder)?;
            let others = runs.into_iter().map(|run| run.files);
            let others = others.filter(|files| !files.iter().any(|file| self.is_own(file)));
            found.extend(others.take(most));
        }
        if found.is_empty() {
            let reason = too_few(self.loading, folder, 0);
            return Err(SessionError::argument(OPTION, reason));
        }
        Ok(found)
    }

    /// The history of each suite of the run. New suites without results are skipped.
    fn newest(&self, most: usize, notify: &mut Notify<'_>) -> Result<LocatedRuns, SessionError> {
        let (mut histories, mut missing) = (Vec::new(), Vec::new());
        for BaselineSuite { root, name, targets } in &self.suites {
            let folder = ResultsPaths::folder(root);
            let files: Vec<_> = self.older(ResultsPaths::history_of(&folder, name)).collect();
            if files.is_empty() {
                missing.push(self.too_short(&folder, name, 0));
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
        notify: &mut Notify<'_>,
    ) -> Result<Vec<BaseRunFiles>, SessionError> {
        let (mut runs, mut missing): (Vec<BaseRunFiles>, _) = (Vec::new(), Vec::new());
        for BaselineSuite { root, name, .. } in &self.suites {
            let folder = ResultsPaths::folder(root);
            let history: Vec<_> = self.older(ResultsPaths::history_of(&folder, name)).collect();
            if history.len() <= *range.start() {
                missing.push(self.too_short(&folder, name, history.len()));
                continue;
            }
            let wanted = range.end() + 1 - range.start();
            add_to_runs(&mut runs, history.into_iter().skip(*range.start()).take(wanted));
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
    fn older(&self, history: Vec<Utf8PathBuf>) -> impl Iterator<Item = Utf8PathBuf> + use<> {
        let own = history.iter().rposition(|file| self.is_own(file));
        history.into_iter().skip(own.map_or(0, |at| at + 1))
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

/// The runs that arguments name, without those of the files in `except`. `most` is how many runs
/// `latest` stands for.
pub fn find_runs(
    options: &LoadOptions,
    arguments: &[String],
    most: usize,
    except: &[Utf8PathBuf],
) -> Result<Vec<BaseRunFiles>, SessionError> {
    let mut runs: Vec<BaseRunFiles> = Vec::new();
    for argument in arguments {
        let is_file = options.working_directory.join(argument).exists();
        let found = match run_range(argument).filter(|_| !is_file) {
            // One of them may be an exception.
            Some(_) if argument == LATEST => latest_runs(options, 0..=most)?,
            Some(range) => latest_runs(options, range)?,
            None => group_runs(find_results(options, argument)?),
        };
        let is_other = |file: &Utf8PathBuf| !except.iter().any(|other| is_same(other, file));
        let mut others: Vec<BaseRunFiles> =
            found.into_iter().filter(|run| run.iter().all(is_other)).collect();
        if argument == LATEST {
            others.truncate(most);
        }
        others.retain(|run| !runs.contains(run));
        runs.extend(others);
    }
    Ok(runs)
}

/// Those that there are; at least the first.
fn latest_runs(
    options: &LoadOptions,
    range: RangeInclusive<usize>,
) -> Result<Vec<BaseRunFiles>, SessionError> {
    let mut runs = vec![find_results(options, &format!("{LATEST}~{}", range.start()))?];
    for steps in range.skip(1) {
        match find_results(options, &format!("{LATEST}~{steps}")) {
            Ok(files) => runs.push(files),
            Err(_) => break,
        }
    }
    Ok(runs)
}

/// `latest` is 0 to 0, `latest~2` 2 to 2, `latest~1..4` 1 to 4.
fn run_range(argument: &str) -> Option<RangeInclusive<usize>> {
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

fn is_of_one_run(one: &RunHeader, other: &RunHeader) -> bool {
    if one.run.is_some() && one.run == other.run {
        return true;
    }
    let shards = (&one.options.shard, &other.options.shard);
    one.plan == other.plan && matches!(shards, (Some(one), Some(other)) if one != other)
}

fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
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
        assert!(!is_of_one_run(&header("a", "x", None), &header("a", "y", None)));
        assert!(is_of_one_run(&header("a", "x", None), &header("b", "x", None)));
    }
}
