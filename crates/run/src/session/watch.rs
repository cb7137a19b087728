//! `run --watch`: runs suites, waits until a file that they depend on changes, and runs the tests
//! again whose inputs have changed. Each rerun is a run of its own.
//!
//! Files are polled. The paths are those that loading looked at, including those where nothing was,
//! so a new `.env`, a suite that matches a pattern or a file that an editor replaces are noticed, and
//! on every file system.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::{LoadFiles, SeenPaths};
use crate::execute::SuiteJob;
use crate::prepare::{CaseProgress, TestOnTarget, remove_finished};

use super::RunSession;
use super::error::{Notice, Notify, SessionError};
use super::finish::FinishedRun;
use super::run_job::EventListener;
use super::signals::SignalWaiter;
use super::spec::RunSpec;
use super::watch_inputs::{CaseInputs, case_inputs};

/// Between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(200);
/// Files must stay the same for this long: editors write several times.
const SETTLED: Duration = Duration::from_millis(100);
/// Looking takes at most one part of the time in this many.
const LEAST_IDLE: u32 = 20;
/// Runs in a row during which files may change that the next run depends on. An agent that edits its
/// attachments would be run forever.
const MOST_RESTLESS: u32 = 3;
/// Paths that a message names.
const MOST_NAMED: usize = 3;

/// Runs suites again and again.
#[derive(Debug)]
pub struct WatchSession {
    spec: RunSpec,
    /// What the last run of each case depended on.
    inputs: CaseInputs,
    seen: SeenPaths,
    signals: SignalWaiter,
    /// What has changed, in words; `None` before the first run.
    changed: Option<String>,
    /// Runs in a row during which something changed.
    restless: u32,
}

/// The effect of a change.
#[derive(Debug)]
pub enum WatchStep {
    Ran(Box<FinishedRun>),
    /// No case depends on what has changed.
    Unaffected,
}

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Changed,
    /// A signal asked the process to end.
    Stopped,
}

impl WatchSession {
    /// From now on the process handles signals itself.
    pub fn new(spec: RunSpec) -> Self {
        let signals = SignalWaiter::new();
        let (inputs, seen) = (CaseInputs::new(), SeenPaths::new());
        Self { spec, inputs, seen, signals, changed: None, restless: 0 }
    }

    /// Loads the suites again, and runs the cases whose inputs are not those of their last run. After
    /// an error, such as a suite that is half written, the next change is waited for as usual.
    pub fn run_affected(
        &mut self,
        notify: &mut Notify<'_>,
        listener: EventListener,
    ) -> Result<WatchStep, SessionError> {
        let files = LoadFiles::recording();
        let mut spec = self.spec.clone();
        spec.loading.files = files.clone();
        let prepared = RunSession::prepare(spec, notify);
        let inputs = prepared
            .as_ref()
            .map(|session| case_inputs(session.suites(), &session.spec.loading))
            .unwrap_or_default();
        self.seen = files.take_seen();
        let mut session = prepared?;
        let is_first = self.inputs.is_empty();
        let all = count_tests(session.suites());
        session.retain(|key| self.inputs.get(key) != inputs.get(key));
        let affected = count_tests(session.suites());
        if affected == 0 && !is_first {
            self.inputs = inputs;
            self.tell(notify, "no test is affected");
            return Ok(WatchStep::Unaffected);
        }
        if self.restless >= MOST_RESTLESS {
            let text = "it changed during several runs in a row, so the tests that depend on it are \
                        not run again until it changes while nothing runs";
            self.tell(notify, text);
            self.restless = 0;
            return Ok(WatchStep::Unaffected);
        }
        if !is_first {
            let noun = if all == 1 { "test" } else { "tests" };
            self.tell(notify, &format!("running {affected} of {all} {noun}"));
        }
        let finished = session.run(notify, listener)?;
        self.inputs = inputs;
        Ok(WatchStep::Ran(Box::new(finished)))
    }

    fn tell(&mut self, notify: &mut Notify<'_>, text: &str) {
        if let Some(changed) = self.changed.take() {
            notify(Notice::Warning(format!("{changed} changed: {text}")));
        }
    }

    /// Returns once a watched file has changed and stayed the same for a moment.
    pub fn wait(&mut self, notify: &mut Notify<'_>) -> Waited {
        self.signals = SignalWaiter::new();
        let files = self.seen.values().filter(|state| state.is_file()).count();
        let noun = if files == 1 { "file" } else { "files" };
        notify(Notice::Warning(format!("watching {files} {noun}; press Ctrl-C to stop")));
        let mut is_idle = false;
        let mut pause = Duration::ZERO;
        loop {
            if self.signals.is_asked_within(pause) {
                return Waited::Stopped;
            }
            let begun = Instant::now();
            let changed = self.changed_paths();
            if !changed.is_empty() {
                match self.settle(changed) {
                    None => return Waited::Stopped,
                    Some(changed) if changed.is_empty() => {}
                    Some(changed) => {
                        self.restless = if is_idle { 0 } else { self.restless + 1 };
                        self.changed = self.name(&changed);
                        return Waited::Changed;
                    }
                }
            }
            is_idle = true;
            pause = INTERVAL.max(begun.elapsed() * LEAST_IDLE);
        }
    }

    /// The paths that have changed once none changes any more; `None` if the process is to end.
    fn settle(&self, mut changed: SeenPaths) -> Option<SeenPaths> {
        loop {
            if self.signals.is_asked_within(SETTLED) {
                return None;
            }
            let now = self.changed_paths();
            if now == changed {
                return Some(changed);
            }
            changed = now;
        }
    }

    /// With what is there now.
    fn changed_paths(&self) -> SeenPaths {
        let now = self.seen.iter().map(|(path, state)| (path, state, state.now(path)));
        let changed = now.filter(|(_, state, now)| *state != now);
        changed.map(|(path, _, now)| (path.clone(), now)).collect()
    }

    /// The files among these paths. A directory alone is not worth a message: a run may have written
    /// beside its suites.
    fn name(&self, changed: &SeenPaths) -> Option<String> {
        let is_file =
            |path: &Utf8PathBuf| !changed[path].is_directory() || !self.seen[path].is_directory();
        let paths: Vec<&Utf8PathBuf> = changed.keys().filter(|path| is_file(path)).collect();
        let shown = |path: &Utf8Path| format!("`{}`", self.spec.loading.shown(path));
        let names = paths.iter().take(MOST_NAMED).map(|path| shown(path));
        let mut names: Vec<String> = names.collect();
        match paths.len().saturating_sub(MOST_NAMED) {
            0 => {}
            more => names.push(format!("{more} more")),
        }
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Tests that have a case.
fn count_tests(suites: &[SuiteJob]) -> usize {
    let tests = suites.iter().map(|suite| {
        let cases = suite.chains.iter().flatten();
        cases.map(|case| case.test).collect::<BTreeSet<usize>>().len()
    });
    tests.sum()
}

impl RunSession {
    /// Leaves out the other cases.
    fn retain(&mut self, is_kept: impl Fn(&TestOnTarget) -> bool) {
        let count = |suites: &[SuiteJob]| suites.iter().map(SuiteJob::case_count).sum::<usize>();
        let before = count(&self.suites);
        for suite in &mut self.suites {
            remove_finished(suite, |key, _| {
                if is_kept(&TestOnTarget::from(key)) {
                    CaseProgress::Unknown
                } else {
                    CaseProgress::Finished
                }
            });
        }
        self.suites.retain(|suite| suite.case_count() > 0);
        self.is_part = count(&self.suites) < before;
    }
}
