//! Grades a stored run again with the suite's current assertions, without calling the target.

use std::collections::HashSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::{FoundSuite, Origin};

use crate::prepare::GradingSpec;
use crate::results::{CaseKey, Gaps, PlanOptions, PlannedSuite, Rows, RunHeader};

use super::error::{Notice, Notify, SessionError};
use super::finish::FinishedRun;
use super::load::{TargetsFile, load_suites};
use super::results_files::planned_suite;
use super::resume::{ResumableSuite, root_of_results};
use super::run_job::EventListener;
use super::spec::{LoadOptions, ReportSpec, RunSpec};
use super::{RunStart, run_suites};

/// Which stored run to grade again, and how.
#[derive(Debug, Clone)]
pub struct RegradeSpec {
    pub loading: LoadOptions,
    /// A results file, absolute.
    pub results: Utf8PathBuf,
    /// Absolute; `None`: the suite that the rows name.
    pub suite: Option<Utf8PathBuf>,
    pub grading: GradingSpec,
    pub workers: Option<usize>,
    /// Absolute; `None`: `.evalrig/results` of the suite's repository.
    pub output: Option<Utf8PathBuf>,
    pub messages: bool,
    pub reports: ReportSpec,
    /// The command line, for the record.
    pub command: Option<String>,
    /// Whether SIGINT and SIGTERM stop the run gracefully.
    pub handle_signals: bool,
}

pub fn regrade(
    spec: &RegradeSpec,
    notify: &mut Notify<'_>,
    listener: EventListener,
) -> Result<FinishedRun, SessionError> {
    spec.loading.check()?;
    check_output(spec)?;
    let stored = StoredRows::read(&spec.loading, &spec.results)?;
    let path = match &spec.suite {
        Some(file) => file.clone(),
        None => stored.suite_file(spec)?,
    };
    let origin = Origin::Named;
    let found = [FoundSuite { path, origin }];
    let loaded = load_suites(&spec.loading, &found, TargetsFile::Optional, notify)?;
    let Some(mut loaded) = loaded.into_iter().next() else {
        return Err(SessionError::NoSuite);
    };
    stored.check_suites(loaded.name(), spec, notify)?;
    if spec.grading.judge_criteria {
        loaded.judge_criteria();
    }
    let secrets = Arc::new(loaded.secrets.clone());
    let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
    let prepared = loaded.into_regrade_job(&spec.grading, &spec.results, &stored.keys, notify);
    let (job, gone) = prepared.map_err(|refusal| SessionError::Refused(vec![*refusal]))?;
    for id in gone {
        let text = format!("the suite no longer has test `{id}`; its row is ignored");
        notify(Notice::Message(text));
    }
    if job.case_count() == 0 {
        let text = "no row of the file belongs to a test of the suite";
        return Err(SessionError::NoRow(text.to_owned()));
    }
    if let Some(note) = stored.gaps.unknown_note() {
        notify(Notice::Warning(note));
    }
    let mut run = spec.run_spec();
    let mut planned = planned_suite(&job);
    let ids: HashSet<&str> = job.suite.tests.iter().map(|test| test.id.as_str()).collect();
    stored.add_plan(&mut planned, &mut run.plan, |id| ids.contains(id));
    let suites = vec![ResumableSuite { job, interrupted: None, planned }];
    let gaps = stored.gaps.without_missing();
    let start =
        RunStart { suites, secrets: Arc::clone(&secrets), baseline: None, gaps, is_regrade: true };
    run_suites(&run, start, notify, listener)
}

impl RegradeSpec {
    /// A run without plan options and run log.
    fn run_spec(&self) -> RunSpec {
        let spec = self.clone();
        RunSpec {
            plan: PlanOptions::default(),
            grading: spec.grading,
            workers: spec.workers,
            output: spec.output,
            messages: spec.messages,
            reports: spec.reports,
            command: spec.command,
            handle_signals: spec.handle_signals,
            loading: spec.loading,
            ..RunSpec::new("")
        }
    }
}

/// The input is read while the output is written, so they cannot be the same file.
fn check_output(spec: &RegradeSpec) -> Result<(), SessionError> {
    let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
    let output = spec.output.as_deref().and_then(real);
    if output.is_some() && output == real(&spec.results) {
        let reason = "cannot overwrite the results being graded; name another file";
        return Err(SessionError::argument("--output", reason));
    }
    Ok(())
}

/// The cases of a results file.
struct StoredRows {
    keys: Vec<CaseKey>,
    /// The suite file that the first row names, relative to the repository root.
    file: Option<String>,
    headers: Vec<RunHeader>,
    gaps: Gaps,
}

impl StoredRows {
    fn read(loading: &LoadOptions, results: &Utf8Path) -> Result<Self, SessionError> {
        let (mut keys, mut file) = (Vec::new(), None);
        let mut rows = Rows::open(results)?;
        for row in rows.by_ref() {
            let row = row?;
            file.get_or_insert_with(|| row.source.file.clone());
            keys.push(row.key());
        }
        let shard = rows.headers().next().and_then(|header| header.options.shard.clone());
        let gaps = rows.gaps_shown(shard.as_deref(), |path| loading.shown(path));
        Ok(Self { keys, file, headers: rows.headers().cloned().collect(), gaps })
    }

    /// Plans what the stored run did, so that a case without a row is missing from the graded run too.
    /// The graded run of a shard is that shard.
    fn add_plan(
        &self,
        planned: &mut PlannedSuite,
        options: &mut PlanOptions,
        has_test: impl Fn(&str) -> bool,
    ) {
        if let [header] = &self.headers[..] {
            options.clone_from(&header.options);
        }
        let name = planned.name.clone();
        let stored = self.headers.iter().flat_map(|header| &header.suites);
        for suite in stored.filter(|suite| suite.name == name) {
            planned.plan.clone_from(&suite.plan);
            planned.other_shards.clone_from(&suite.other_shards);
            planned.add_cases(suite.cases.iter(), &has_test);
        }
    }

    /// Rows of other suites are ignored only if the suite was named.
    fn check_suites(
        &self,
        suite: &str,
        spec: &RegradeSpec,
        notify: &mut Notify<'_>,
    ) -> Result<(), SessionError> {
        let mut others: Vec<&str> = self.keys.iter().map(|key| key.suite.as_str()).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|name| *name != suite);
        if others.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        let names = names.join(", ");
        if spec.suite.is_none() {
            let results = spec.loading.shown(&spec.results);
            return Err(SessionError::StoredRun(format!(
                "`{results}` also has rows of other suites: {names}; select one with --suite"
            )));
        }
        notify(Notice::Message(format!("rows of {names} are ignored")));
        Ok(())
    }

    /// The suite that the rows come from, if it still exists.
    fn suite_file(&self, spec: &RegradeSpec) -> Result<Utf8PathBuf, SessionError> {
        let root = root_of_results(&spec.loading, &spec.results);
        match self.file.as_ref().map(|file| root.join(file)) {
            Some(file) if file.is_file() => Ok(file),
            Some(file) => Err(SessionError::StoredRun(format!(
                "`{file}` does not exist; name the suite with --suite"
            ))),
            None => Err(SessionError::NoRow(format!(
                "`{}` has no rows",
                spec.loading.shown(&spec.results)
            ))),
        }
    }
}
