//! The runs that the arguments of `compare` name.

use std::ops::RangeInclusive;

use camino::{Utf8Path, Utf8PathBuf};

use crate::results::{StoredRun, header_of_file};

use super::base_runs::{BaseRunFiles, accepted, group_runs, is_of_one_run, is_same, run_range};
use super::error::SessionError;
use super::find_results::{LATEST, find_results, own_folder, runs_in, too_few};
use super::rejected_runs::SkippedRuns;
use super::spec::LoadOptions;

/// What the arguments of `compare` may stand for.
#[derive(Debug, Clone, Copy)]
pub struct RunSearch<'a> {
    /// How many runs `latest` stands for.
    pub most: usize,
    /// The files of the run that is compared.
    pub candidate: &'a [Utf8PathBuf],
    /// Whether the candidate may be among the runs that are found.
    pub takes_candidate: bool,
    /// Whether `latest` and `latest~N` skip runs that their gate did not pass.
    pub skips_rejected: bool,
}

#[derive(Debug)]
pub struct FoundRuns {
    pub runs: Vec<BaseRunFiles>,
    pub skipped: SkippedRuns,
}

/// The runs that arguments name. Files that are named belong together as [`group_runs`] says, whether a
/// pattern or several arguments name them.
pub fn find_runs(
    options: &LoadOptions,
    arguments: &[String],
    search: &RunSearch<'_>,
) -> Result<FoundRuns, SessionError> {
    let (mut files, mut newest): (Vec<Utf8PathBuf>, Vec<BaseRunFiles>) = (Vec::new(), Vec::new());
    let mut named: Vec<Utf8PathBuf> = Vec::new();
    let mut skipped = SkippedRuns::default();
    for argument in arguments {
        let is_file = options.working_directory.join(argument).exists();
        match run_range(argument).filter(|_| !is_file) {
            Some(range) => {
                newest.extend(search.newest(options, argument, range, &mut skipped)?);
            }
            None if is_file => {
                let found = find_results(options, argument)?;
                named.extend(found.iter().cloned());
                files.extend(found);
            }
            None => files.extend(find_results(options, argument)?),
        }
    }
    let mut runs: Vec<BaseRunFiles> = Vec::new();
    for run in group_runs(files).into_iter().chain(newest) {
        if search.takes(&run) && !runs.contains(&run) {
            runs.push(run);
        }
    }
    // A pattern or a range that matches the candidate too means the others.
    if runs.len() > 1 {
        runs.retain(|run| {
            let is_named = run.iter().any(|file| named.contains(file));
            is_named || !run.iter().any(|file| search.is_of_candidate(file))
        });
    }
    Ok(FoundRuns { runs, skipped })
}

impl RunSearch<'_> {
    /// Any run, however its gate decided.
    pub fn any(most: usize) -> Self {
        Self { most, candidate: &[], takes_candidate: true, skips_rejected: false }
    }

    fn takes(&self, run: &[Utf8PathBuf]) -> bool {
        self.takes_candidate || !run.iter().any(|file| self.is_of_candidate(file))
    }

    fn is_of_candidate(&self, file: &Utf8Path) -> bool {
        self.candidate.iter().any(|own| is_same(own, file))
    }

    /// Those that there are; at least the first.
    fn newest(
        &self,
        options: &LoadOptions,
        argument: &str,
        range: RangeInclusive<usize>,
        skipped: &mut SkippedRuns,
    ) -> Result<Vec<BaseRunFiles>, SessionError> {
        // One of them may be the candidate.
        let last = if argument == LATEST { self.most } else { *range.end() };
        let folder = own_folder(options);
        let is_candidate =
            |run: &StoredRun| run.files.iter().any(|file| self.is_of_candidate(file));
        let runs = runs_in(options, &folder)?.into_iter().map(|run| {
            let is_rejected = self.skips_rejected && run.is_rejected && !is_candidate(&run);
            StoredRun { is_rejected, ..run }
        });
        let mut found = accepted(runs, last + 1, skipped);
        if found.len() <= *range.start() {
            let reason = too_few(options, &folder, found.len()) + &skipped.reason();
            return Err(SessionError::StoredRun(reason));
        }
        found.drain(..range.start());
        found.retain(|run| self.takes(run));
        if argument == LATEST {
            found.truncate(self.most);
        }
        Ok(found)
    }
}

/// The arguments for the base, and those for the candidate: the last one, with the other shards of its
/// run.
pub fn split_sides(options: &LoadOptions, arguments: &[String]) -> (Vec<String>, Vec<String>) {
    let file = |argument: &String| options.working_directory.join(argument);
    let shard_of_last = arguments.last().and_then(|last| {
        header_of_file(&file(last)).filter(|header| header.options.shard.is_some())
    });
    let is_of_candidate =
        |argument: &String| match (&shard_of_last, header_of_file(&file(argument))) {
            (Some(last), Some(header)) => is_of_one_run(last, &header),
            _ => false,
        };
    let mut base = arguments.to_vec();
    let mut candidate: Vec<String> = base.pop().into_iter().collect();
    let (shards, others): (Vec<String>, Vec<String>) =
        base.iter().cloned().partition(is_of_candidate);
    if !others.is_empty() {
        candidate.splice(0..0, shards);
        base = others;
    }
    (base, candidate)
}
