//! Repeats failed cases of earlier runs (`--failed`) and continues interrupted runs (`--resume`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::suite_root;

use crate::disk::Disk;
use crate::execute::{RowSink, SuiteJob, SuiteRun, UngradedAnswer};
use crate::prepare::{TestOnTarget, remove_finished};
use crate::results::{CaseKey, Interrupted, PlannedSuite, ResultsPaths, Rows};

use super::error::{Notice, Notify, SessionError};
use super::load::LoadedSuite;
use super::observer::RunObserver;
use super::results_files::{ResultsFile, ResultsFiles, planned_suite};
use super::spec::{EarlierRun, LoadOptions, RunSpec};

/// What did not pass in an earlier run.
#[derive(Debug, Default)]
pub(super) struct FailedCases {
    pub(super) only: HashSet<TestOnTarget>,
    /// What the results of that run lack, in words: a case without a row may have failed too.
    pub(super) gaps: Vec<String>,
}

/// `--failed`: the tests and targets that did not pass.
pub(super) fn read_failed(
    spec: &RunSpec,
    earlier: &EarlierRun,
    suites: &[LoadedSuite],
    notify: &mut Notify<'_>,
) -> Result<FailedCases, SessionError> {
    let targets = &spec.plan.targets;
    let (mut failed, mut unknown) = (FailedCases::default(), Vec::new());
    let mut checked: HashSet<Utf8PathBuf> = HashSet::new();
    let only = &mut failed.only;
    for suite in suites {
        let file = match earlier {
            EarlierRun::Latest => ResultsPaths::latest_of(suite.root(), suite.name()),
            EarlierRun::File(path) => Some(path.clone()),
        };
        let Some(file) = file else {
            unknown.push(format!("`{}`", suite.name()));
            continue;
        };
        let rows = Rows::open(&file)?;
        if checked.insert(file) {
            let gaps = rows.gaps_shown(spec.plan.shard.as_deref(), |path| spec.loading.shown(path));
            for text in gaps.sentences() {
                let text = format!("--failed: {text}");
                notify(Notice::Message(text.clone()));
                failed.gaps.push(text);
            }
        }
        let ran: HashSet<TestOnTarget> =
            rows.finished().map(|(key, _)| TestOnTarget::from(key)).collect();
        let own = rows.finished().filter(|(key, _)| key.suite == suite.name());
        for (key, _) in own.filter(|(_, finished)| finished.did_not_pass()) {
            let case = TestOnTarget::from(key);
            // A target that has not run the test counts as failed.
            let others = targets
                .iter()
                .map(|target| TestOnTarget { target: target.clone(), ..case.clone() });
            only.extend(others.filter(|other| !ran.contains(other)));
            only.insert(case);
        }
    }
    if !unknown.is_empty() {
        let reason = format!("no results yet of {}", unknown.join(", "));
        // Other suites may still have failed cases.
        if unknown.len() == suites.len() {
            return Err(SessionError::argument("--failed", reason));
        }
        notify(Notice::Message(format!("--failed: {reason}")));
    }
    Ok(failed)
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

/// Finds the interrupted runs that `--resume` asks for.
pub(super) fn find_interrupted(
    spec: &RunSpec,
    jobs: Vec<SuiteJob>,
    notify: &mut Notify<'_>,
) -> Result<Vec<ResumableSuite>, SessionError> {
    let mut known: HashMap<Utf8PathBuf, Arc<Interrupted>> = HashMap::new();
    let mut suites = Vec::with_capacity(jobs.len());
    for job in jobs {
        let file = match &spec.resume {
            None => None,
            Some(EarlierRun::Latest) => ResultsPaths::interrupted(&job.root, &job.suite.name),
            Some(EarlierRun::File(path)) => Some(path.clone()),
        };
        let interrupted = match file {
            None => None,
            Some(file) => Some(match known.get(&file) {
                Some(found) => Arc::clone(found),
                None => {
                    let read = Arc::new(Interrupted::read(&file)?);
                    for notice in read.notices() {
                        notify(Notice::Message(notice));
                    }
                    known.insert(file, Arc::clone(&read));
                    read
                }
            }),
        };
        let planned = planned_suite(&job);
        suites.push(ResumableSuite { job, interrupted, planned });
    }
    if spec.resume.is_some() {
        check(spec, &suites)?;
    }
    Ok(suites)
}

fn check(spec: &RunSpec, suites: &[ResumableSuite]) -> Result<(), SessionError> {
    let resumed = || suites.iter().filter_map(|suite| suite.interrupted.as_ref());
    if resumed().next().is_none() {
        return Err(SessionError::argument("--resume", "no interrupted run found"));
    }
    for interrupted in resumed() {
        check_plan(spec, interrupted)?;
    }
    // A single suite may have been renamed.
    for suite in suites.iter().filter(|_| suites.len() > 1) {
        let name = &suite.job.suite.name;
        if let Some(interrupted) = &suite.interrupted
            && !has_suite(interrupted, name)
        {
            let file = spec.loading.shown(interrupted.place.results());
            let reason = format!("`{file}` has no rows of suite `{name}`; name only its suites");
            return Err(SessionError::argument("--resume", reason));
        }
    }
    Ok(())
}

/// Other options select other cases, so an incomplete run could look complete.
fn check_plan(spec: &RunSpec, interrupted: &Interrupted) -> Result<(), SessionError> {
    match &interrupted.header {
        Some(header) if header.options != spec.plan => Err(SessionError::OtherPlan {
            results: spec.loading.shown(interrupted.place.results()),
            options: Box::new(header.options.clone()),
        }),
        _ => Ok(()),
    }
}

/// Whether the suite was planned there or has rows.
fn has_suite(interrupted: &Interrupted, name: &str) -> bool {
    let header = interrupted.header.as_ref();
    let mut planned = header.into_iter().flat_map(|header| &header.suites);
    planned.any(|suite| suite.name == name) || interrupted.rows().any(|(key, _)| key.suite == name)
}

impl ResumableSuite {
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
        remove_finished(&mut self.job, |key, hash| interrupted.finished(key, hash).is_some());
        for (key, hash) in self.job.keys() {
            if let Some(found) = interrupted.answered(&key, hash) {
                let answer = UngradedAnswer {
                    transcript: found.transcript.clone(),
                    attempts: found.attempts,
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
            Some(files.create_at(path, planned.collect())?)
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
