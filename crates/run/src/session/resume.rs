//! Repeats failed cases of earlier runs (`--failed`) and continues interrupted runs (`--resume`).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::{FoundSuite, suite_root};

use crate::disk::Disk;
use crate::execute::{RowSink, SuiteJob, SuiteRun, UngradedAnswer};
use crate::prepare::{CaseProgress, TestOnTarget, remove_finished};
use crate::results::{
    CaseKey, Interrupted, PlannedSuite, ResultsPaths, Rows, RunHeader, StoredRun, header_of_file,
};

use super::earlier_options::{resume_options, suites_of};
use super::error::{Notice, Notify, SessionError};
use super::find_results::{LATEST, RunState, find_results, find_run, runs_in};
use super::load::LoadedSuite;
use super::observer::RunObserver;
use super::results_files::{ResultsFile, ResultsFiles, planned_suite};
use super::spec::{LoadOptions, RunSpec};

/// What did not pass in an earlier run.
#[derive(Debug, Default)]
pub(super) struct FailedCases {
    pub(super) only: HashSet<TestOnTarget>,
    /// What the results of that run lack, in words: a case without a row may have failed too.
    pub(super) gaps: Vec<String>,
}

/// The results that `--failed` takes failures from.
#[derive(Debug)]
pub(super) struct FailedSource {
    pub(super) files: Vec<Utf8PathBuf>,
    rows: Rows,
}

impl FailedSource {
    /// The run that is named. Without a name but with suites, the newest results of each of them.
    pub(super) fn find(
        spec: &RunSpec,
        argument: &str,
        suites: Option<&[FoundSuite]>,
    ) -> Result<Self, SessionError> {
        let files = match suites {
            Some(suites) if argument == LATEST => newest_of(spec, suites),
            _ => find_results(&latest_loading(spec), argument),
        };
        let files = files.map_err(|error| match error {
            SessionError::StoredRun(reason) => SessionError::argument("--failed", reason),
            error => error,
        })?;
        let rows = Rows::open_all(&files)?;
        Ok(Self { files, rows })
    }

    /// The header whose options the failures are run with.
    pub(super) fn header(&self) -> Option<&RunHeader> {
        self.rows.headers().next()
    }

    /// The suites of the run, as arguments.
    pub(super) fn suites(&self, spec: &RunSpec) -> Option<Vec<String>> {
        suites_of(spec, self.files.first()?, self.rows.headers())
    }

    /// The tests and targets that did not pass.
    pub(super) fn read(
        &self,
        spec: &RunSpec,
        suites: &[LoadedSuite],
        notify: &mut Notify<'_>,
    ) -> Result<FailedCases, SessionError> {
        let mut failed = FailedCases::default();
        let rows = &self.rows;
        let gaps = rows.gaps_shown(spec.plan.shard.as_deref(), |path| spec.loading.shown(path));
        for text in gaps.sentences() {
            let text = format!("--failed: {text}");
            notify(Notice::Message(text.clone()));
            failed.gaps.push(text);
        }
        let ran: HashSet<TestOnTarget> =
            rows.finished().map(|(key, _)| TestOnTarget::from(key)).collect();
        for (key, _) in rows.finished().filter(|(_, finished)| finished.did_not_pass()) {
            let case = TestOnTarget::from(key);
            // A target that has not run the test counts as failed.
            let others = spec.plan.targets.iter();
            let others =
                others.map(|target| TestOnTarget { target: target.clone(), ..case.clone() });
            failed.only.extend(others.filter(|other| !ran.contains(other)));
            failed.only.insert(case);
        }
        let planned = rows.headers().flat_map(|header| &header.suites);
        let planned = planned.map(|suite| suite.name.as_str());
        let known: HashSet<&str> = rows.suites().into_iter().chain(planned).collect();
        let unknown = suites.iter().map(|suite| suite.name()).filter(|name| !known.contains(name));
        let unknown: Vec<String> = unknown.map(|name| format!("`{name}`")).collect();
        if !unknown.is_empty() {
            let files: Vec<String> =
                self.files.iter().map(|file| format!("`{}`", spec.loading.shown(file))).collect();
            let reason = format!("{} has no results of {}", files.join(", "), unknown.join(", "));
            // Other suites may still have failed cases.
            if unknown.len() == suites.len() {
                return Err(SessionError::argument("--failed", reason));
            }
            notify(Notice::Message(format!("--failed: {reason}")));
        }
        Ok(failed)
    }
}

/// The newest results of each suite, in the results folder of its repository.
fn newest_of(spec: &RunSpec, suites: &[FoundSuite]) -> Result<Vec<Utf8PathBuf>, SessionError> {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    let mut listed: HashMap<Utf8PathBuf, Vec<StoredRun>> = HashMap::new();
    for suite in suites {
        let root = spec.loading.root_of(&suite.path);
        let runs = match listed.entry(root.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(runs_in(&spec.loading, &ResultsPaths::folder(&root))?),
        };
        let is_of_suite = |file: &&Utf8PathBuf| {
            let header = header_of_file(file);
            let mut planned = header.iter().flat_map(|header| &header.suites);
            planned.any(|planned| root.join(&planned.file) == suite.path)
        };
        match runs.iter().flat_map(|run| &run.files).find(is_of_suite) {
            Some(file) if found.contains(file) => {}
            Some(file) => found.push(file.clone()),
            None => unknown.push(format!("`{}`", spec.loading.shown(&suite.path))),
        }
    }
    if found.is_empty() {
        return Err(SessionError::StoredRun(format!("no results yet of {}", unknown.join(", "))));
    }
    Ok(found)
}

/// `latest` is that of the repository of the first path.
fn latest_loading(spec: &RunSpec) -> LoadOptions {
    let mut loading = spec.loading.clone();
    let mut paths = spec.paths.iter().map(|path| loading.working_directory.join(path));
    if let Some(path) = paths.find(|path| path.exists())
        && loading.root.is_none()
    {
        loading.root = Some(suite_root(&Disk, &path));
    }
    loading
}

impl From<&CaseKey> for TestOnTarget {
    fn from(key: &CaseKey) -> Self {
        Self { suite: key.suite.clone(), test: key.test.clone(), target: key.target.clone() }
    }
}

/// A suite, and the interrupted run that it continues. Suites that shared a results file still do.
#[derive(Debug)]
pub(super) struct ResumableSuite {
    pub(super) job: SuiteJob,
    pub(super) interrupted: Option<Arc<Interrupted>>,
    /// Every case of the suite, finished ones included.
    pub(super) planned: PlannedSuite,
}

/// Reads what the run left that `--resume` names; nothing without the option.
pub(super) fn read_interrupted(
    spec: &RunSpec,
    notify: &mut Notify<'_>,
) -> Result<Vec<Arc<Interrupted>>, SessionError> {
    let Some(argument) = &spec.resume else {
        return Ok(Vec::new());
    };
    let files = find_run(&latest_loading(spec), argument, RunState::Unfinished);
    let files = files.map_err(|error| match error {
        SessionError::StoredRun(reason) => SessionError::argument("--resume", reason),
        error => error,
    })?;
    let mut found = Vec::with_capacity(files.len());
    for file in files {
        let read = Interrupted::read(&file)?;
        for notice in read.notices() {
            notify(Notice::Message(notice));
        }
        found.push(Arc::new(read));
    }
    Ok(found)
}

/// Takes suites and options from the resumed run. Returns the cases it is restricted to, if it
/// repeats failures of another run.
pub(super) fn resume_spec(
    spec: &mut RunSpec,
    interrupted: &[Arc<Interrupted>],
) -> Result<Option<HashSet<TestOnTarget>>, SessionError> {
    let headers: Vec<(&Utf8Path, &RunHeader)> = interrupted
        .iter()
        .filter_map(|one| Some((one.place.results(), one.header.as_ref()?)))
        .collect();
    let Some((results, header)) = headers.first() else {
        return Ok(None);
    };
    for (_, other) in &headers {
        if other.run != header.run {
            let reason = "the files are of different runs; name those of one";
            return Err(SessionError::argument("--resume", reason));
        }
    }
    if spec.paths.is_empty() {
        let paths = suites_of(spec, results, headers.iter().map(|(_, header)| *header));
        spec.paths = paths.unwrap_or_default();
    }
    resume_options(spec, results, header)?;
    let repeats = header.settings.as_ref().is_some_and(|settings| settings.failed);
    // A journal does not name the cases.
    let planned = interrupted.iter().filter_map(|one| one.results_header());
    Ok(repeats
        .then(|| planned.flat_map(RunHeader::keys).map(|key| TestOnTarget::from(&key)).collect()))
}

/// Gives each suite the file that it continues.
pub(super) fn assign_interrupted(
    spec: &RunSpec,
    jobs: Vec<SuiteJob>,
    interrupted: &[Arc<Interrupted>],
) -> Result<Vec<ResumableSuite>, SessionError> {
    let is_one = jobs.len() == 1;
    let mut suites = Vec::with_capacity(jobs.len());
    for job in jobs {
        let name = &job.suite.name;
        let own = interrupted.iter().find(|one| has_suite(one, name));
        let own = match (own, interrupted) {
            (None, [_, ..]) if !is_one => {
                let files = interrupted.iter().map(|one| spec.loading.shown(one.place.results()));
                let files: Vec<String> = files.map(|file| format!("`{file}`")).collect();
                let files = files.join(", ");
                let reason = format!("{files} has no rows of suite `{name}`; name only its suites");
                return Err(SessionError::argument("--resume", reason));
            }
            // A single suite may have been renamed.
            (None, [only]) => Some(only),
            (own, _) => own,
        };
        let interrupted = own.map(Arc::clone);
        let planned = planned_suite(&job);
        suites.push(ResumableSuite { job, interrupted, planned });
    }
    Ok(suites)
}

/// Whether the suite was planned there or has rows.
fn has_suite(interrupted: &Interrupted, name: &str) -> bool {
    let header = interrupted.header.as_ref();
    let mut planned = header.into_iter().flat_map(|header| &header.suites);
    planned.any(|suite| suite.name == name) || interrupted.rows().any(|(key, _)| key.suite == name)
}

impl ResumableSuite {
    /// The id of the run that the suite continues.
    #[cfg(feature = "queue")]
    pub(super) fn earlier_run(&self) -> Option<String> {
        self.interrupted.as_ref()?.results_header()?.run.clone()
    }

    /// The results file that the suite continues.
    pub(super) fn results(&self) -> Option<Utf8PathBuf> {
        let interrupted = self.interrupted.as_ref()?;
        Some(interrupted.place.results().to_owned())
    }

    /// Removes finished cases from the plan; adds answers that only need grading to `answers`.
    pub(super) fn remove_finished(&mut self, answers: &mut HashMap<CaseKey, UngradedAnswer>) {
        let Some(interrupted) = &self.interrupted else {
            return;
        };
        let look = |key: &CaseKey, hash: &str| match interrupted.finished(key, hash) {
            Some(_) => CaseProgress::Finished,
            None if interrupted.answered(key, hash).is_some() => CaseProgress::Answered,
            None => CaseProgress::Unknown,
        };
        let answered = remove_finished(&mut self.job, look);
        let answered: HashSet<CaseKey> = answered.into_iter().collect();
        for (key, hash) in self.job.keys().filter(|(key, _)| answered.contains(key)) {
            if let Some(found) = interrupted.answered(&key, hash) {
                let answer = UngradedAnswer {
                    transcript: found.transcript.clone(),
                    attempts: found.attempts,
                    replies: found.replies.clone(),
                };
                answers.insert(key, answer);
            }
        }
    }
}

/// Opens the results files of all suites, and passes the rows of finished cases to the observer.
pub(super) fn start_suites(
    spec: &RunSpec,
    suites: Vec<ResumableSuite>,
    files: &mut ResultsFiles,
    observer: &mut RunObserver,
) -> Result<Vec<SuiteRun>, SessionError> {
    // A changed test runs again; its old row is not replayed.
    let left: HashSet<CaseKey> =
        suites.iter().flat_map(|suite| suite.job.keys()).map(|(key, _)| key).collect();
    let shared = match &spec.output {
        Some(path) => {
            let planned = suites.iter().map(|suite| suite.planned.clone());
            Some(files.create_at(path, spec, planned.collect())?)
        }
        None => None,
    };
    let mut resumed: Vec<(Arc<Interrupted>, Arc<ResultsFile>)> = Vec::new();
    let mut started = Vec::with_capacity(suites.len());
    // Suites that share a file share its header.
    let mut sharing: Vec<(Arc<Interrupted>, Vec<PlannedSuite>)> = Vec::new();
    for suite in &suites {
        let Some(interrupted) = &suite.interrupted else { continue };
        match sharing.iter_mut().find(|(one, _)| Arc::ptr_eq(one, interrupted)) {
            Some((_, planned)) => planned.push(suite.planned.clone()),
            None => sharing.push((Arc::clone(interrupted), vec![suite.planned.clone()])),
        }
    }
    for ResumableSuite { job, interrupted, planned } in suites {
        let known = interrupted.as_ref().and_then(|interrupted| {
            let known = resumed.iter().find(|(one, _)| Arc::ptr_eq(one, interrupted));
            known.map(|(_, file)| Arc::clone(file))
        });
        let is_first = known.is_none();
        let file = match (&shared, known, &interrupted) {
            (Some(file), ..) => Arc::clone(file),
            (None, Some(file), _) => file,
            (None, None, Some(interrupted)) => {
                let shared = sharing.iter().find(|(one, _)| Arc::ptr_eq(one, interrupted));
                let planned = shared.map_or_else(|| vec![planned], |(_, planned)| planned.clone());
                files.resume(interrupted, planned)?
            }
            (None, None, None) => files.claim(&job, planned)?,
        };
        let sink = files.sink(&file, &job);
        if let Some(interrupted) = interrupted.filter(|_| is_first) {
            replay_finished_rows(&interrupted, &left, &*sink, observer)?;
            resumed.push((interrupted, file));
        }
        started.push(SuiteRun { job, sink });
    }
    Ok(started)
}

/// Counts and reports the cases that are not run again.
fn replay_finished_rows(
    interrupted: &Interrupted,
    left: &HashSet<CaseKey>,
    sink: &dyn RowSink,
    observer: &mut RunObserver,
) -> Result<(), SessionError> {
    for row in Rows::open(interrupted.place.results())? {
        let row = row?;
        let key = row.key();
        let is_finished = interrupted.finished(&key, &row.test_hash).is_some();
        if is_finished && !left.contains(&key) {
            sink.settled(&row);
            observer.add(&row);
        }
    }
    Ok(())
}

/// The repository root that paths in rows are relative to.
pub(super) fn root_of_results(loading: &LoadOptions, results: &Utf8Path) -> Utf8PathBuf {
    if let Some(root) = &loading.root {
        return root.clone();
    }
    let real = results.canonicalize_utf8();
    let real = real.unwrap_or_else(|_| results.to_owned());
    let folder = real.parent().filter(|folder| folder.ends_with(".evalrig/results"));
    match folder.and_then(|folder| folder.parent()?.parent()) {
        Some(root) => root.to_owned(),
        None => suite_root(&Disk, &real),
    }
}
