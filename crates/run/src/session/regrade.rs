//! Grades a stored run again with the suite's current assertions, without calling the target.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::{FoundSuite, Origin};
use evalrig_core::secrets::Secrets;

use crate::execute::SuiteJob;
use crate::prepare::{Estimate, GradingSpec};
use crate::results::{
    CaseKey, Gaps, GateResult, PlanOptions, PlannedSuite, Rows, RunHeader, gate_of_file,
};

use super::earlier_options::{is_suite_path, path_inside, take_targets_file};
use super::error::{Notice, Notify, SessionError};
use super::finish::FinishedRun;
use super::load::{TargetsFile, load_suites};
use super::report_set::check_report_paths;
use super::results_files::planned_suite;
use super::resume::{ResumableSuite, root_of_results};
use super::run_job::EventListener;
use super::run_suites::{RunStart, run_suites};
use super::spec::{LoadOptions, ReportSpec, RunSpec};

/// Which stored run to grade again, and how.
#[derive(Debug, Clone)]
pub struct RegradeSpec {
    pub loading: LoadOptions,
    /// The results files of one run, absolute; at least one.
    pub results: Vec<Utf8PathBuf>,
    /// Absolute; `None`: the suites that the rows name.
    pub suite: Option<Utf8PathBuf>,
    pub grading: GradingSpec,
    pub workers: Option<usize>,
    /// Of judges; answers are stored.
    pub budget_usd: Option<f64>,
    /// Absolute; `None`: `.evalrig/results` of the suite's repository.
    pub output: Option<Utf8PathBuf>,
    /// Whether `output` may have the results of another run, which are overwritten.
    pub force: bool,
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
    let PreparedRegrade { run, suites, secrets, gaps } = prepare(spec, notify)?;
    let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
    let start = RunStart {
        suites,
        secrets: Arc::clone(&secrets),
        baseline: None,
        rounds: None,
        gaps,
        is_regrade: true,
        earlier_gate: earlier_gate(&spec.results),
        is_part: false,
        #[cfg(feature = "queue")]
        queued: None,
    };
    run_suites(&run, start, notify, listener)
}

/// How many judges grading again would call, and what they may cost.
pub fn estimate_regrade(
    spec: &RegradeSpec,
    notify: &mut Notify<'_>,
) -> Result<Estimate, SessionError> {
    let PreparedRegrade { suites, .. } = prepare(spec, notify)?;
    let mut answers: HashMap<CaseKey, String> = HashMap::new();
    for row in Rows::open_all(&spec.results)? {
        let row = row?;
        let key = row.key();
        answers.extend(row.candidate_answer.map(|answer| (key, answer)));
    }
    let mut estimate = Estimate::default();
    for suite in &suites {
        let answer = |key: &CaseKey| answers.get(key).cloned().unwrap_or_default();
        estimate.add_judges(&suite.job, spec.grading.judging, None, &answer);
    }
    Ok(estimate)
}

/// A stored run that is ready to be graded.
struct PreparedRegrade {
    run: RunSpec,
    suites: Vec<ResumableSuite>,
    secrets: Arc<Secrets>,
    gaps: Gaps,
}

fn prepare(spec: &RegradeSpec, notify: &mut Notify<'_>) -> Result<PreparedRegrade, SessionError> {
    spec.loading.check()?;
    check_output(spec)?;
    check_report_paths(&spec.loading, &spec.reports, &spec.results)?;
    let stored = StoredRows::read(&spec.loading, &spec.results)?;
    let mut run = spec.run_spec();
    stored.take_plan(&mut run);
    let StoredJobs { jobs, secrets } = stored.jobs(spec, &run.loading, notify)?;
    let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
    let resumable = |job| {
        let planned = stored.planned(&job);
        ResumableSuite { job, interrupted: None, planned }
    };
    let suites = jobs.into_iter().map(resumable).collect();
    if let Some(note) = stored.gaps.unknown_note() {
        notify(Notice::Warning(note));
    }
    let gaps = stored.gaps.without_missing();
    Ok(PreparedRegrade { run, suites, secrets, gaps })
}

/// Answers of a run that its gate did not pass stay rejected, however they are graded again.
fn earlier_gate(files: &[Utf8PathBuf]) -> Option<GateResult> {
    let found = files.iter().filter_map(|file| gate_of_file(file));
    found.max_by_key(|gate| gate.is_rejected())
}

impl RegradeSpec {
    /// A run without plan options and run log.
    pub(super) fn run_spec(&self) -> RunSpec {
        let spec = self.clone();
        RunSpec {
            plan: PlanOptions::default(),
            grading: spec.grading,
            workers: spec.workers,
            budget_usd: spec.budget_usd,
            output: spec.output,
            force: spec.force,
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
    if output.is_some() && spec.results.iter().any(|results| real(results) == output) {
        let reason = "cannot overwrite the results being graded; name another file";
        return Err(SessionError::argument("--output", reason));
    }
    Ok(())
}

/// The suites of stored rows, with the cases that have rows; at least one.
pub(super) struct StoredJobs {
    pub(super) jobs: Vec<SuiteJob>,
    pub(super) secrets: Arc<Secrets>,
}

/// The rows of one suite in a results file.
struct StoredSuite {
    results: Utf8PathBuf,
    name: String,
    /// The suite file that its first row names, relative to the repository root.
    file: String,
    keys: Vec<CaseKey>,
}

/// The cases of a stored run.
pub(super) struct StoredRows {
    results: Vec<Utf8PathBuf>,
    suites: Vec<StoredSuite>,
    headers: Vec<RunHeader>,
    gaps: Gaps,
}

impl StoredRows {
    pub(super) fn read(loading: &LoadOptions, files: &[Utf8PathBuf]) -> Result<Self, SessionError> {
        let mut suites: Vec<StoredSuite> = Vec::new();
        for results in files {
            for row in Rows::open(results)? {
                let row = row?;
                let known = suites
                    .iter_mut()
                    .find(|suite| suite.results == *results && suite.name == row.dataset);
                match known {
                    Some(suite) => suite.keys.push(row.key()),
                    None => suites.push(StoredSuite {
                        results: results.clone(),
                        name: row.dataset.clone(),
                        file: row.source.file.clone(),
                        keys: vec![row.key()],
                    }),
                }
            }
        }
        let mut rows = Rows::open_all(files)?;
        // Damaged rows are found by reading them.
        rows.by_ref().for_each(drop);
        let shard = rows.headers().next().and_then(|header| header.options.shard.clone());
        let gaps = rows.gaps_shown(shard.as_deref(), |path| loading.shown(path));
        let headers = rows.headers().cloned().collect();
        Ok(Self { results: files.to_vec(), suites, headers, gaps })
    }

    /// Loads the suites and plans the stored cases.
    pub(super) fn jobs(
        &self,
        spec: &RegradeSpec,
        loading: &LoadOptions,
        notify: &mut Notify<'_>,
    ) -> Result<StoredJobs, SessionError> {
        let files = self.suite_files(spec)?.into_iter();
        let found: Vec<FoundSuite> =
            files.map(|path| FoundSuite { path, origin: Origin::Named }).collect();
        let loaded = load_suites(loading, &found, TargetsFile::Optional, notify)?;
        let mut secrets = Secrets::default();
        loaded.iter().for_each(|suite| secrets.absorb(suite.secrets.clone()));
        let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
        let names: Vec<String> = loaded.iter().map(|suite| suite.name().to_owned()).collect();
        self.check_suites(&names, spec, notify)?;
        let mut jobs = Vec::new();
        for mut loaded in loaded {
            if spec.grading.judge_criteria {
                loaded.judge_criteria();
            }
            let Some(stored) = self.suite(loaded.name()) else { continue };
            let (results, keys) = (&stored.results, &stored.keys);
            let prepared = loaded.into_regrade_job(&spec.grading, results, keys, notify);
            let (job, gone) = prepared.map_err(|refusal| SessionError::Refused(vec![*refusal]))?;
            for id in gone {
                let text = format!("the suite no longer has test `{id}`; its row is ignored");
                notify(Notice::Message(text));
            }
            if job.case_count() > 0 {
                jobs.push(job);
            }
        }
        if jobs.is_empty() {
            let text = "no row of the file belongs to a test of the suite";
            return Err(SessionError::NoRow(text.to_owned()));
        }
        jobs.iter().for_each(|job| job.add_login_secrets(&mut secrets));
        Ok(StoredJobs { jobs, secrets: Arc::new(secrets) })
    }

    /// The same suites with other cases; suites without any are left out.
    pub(super) fn with_cases(mut self, cases: &[CaseKey]) -> Self {
        for suite in &mut self.suites {
            let own = cases.iter().filter(|key| key.suite == suite.name);
            suite.keys = own.cloned().collect();
        }
        self.suites.retain(|suite| !suite.keys.is_empty());
        self
    }

    /// What the rows lack.
    pub(super) fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    fn suite(&self, name: &str) -> Option<&StoredSuite> {
        self.suites.iter().find(|suite| suite.name == name)
    }

    /// The graded run of a shard is that shard, and judges are those of the same targets file.
    pub(super) fn take_plan(&self, run: &mut RunSpec) {
        let Some(first) = self.headers.first() else { return };
        if self.headers.iter().all(|header| header.options == first.options) {
            run.plan.clone_from(&first.options);
        }
        if let (Some(settings), Some(results)) = (&first.settings, self.results.first()) {
            take_targets_file(run, results, settings);
        }
    }

    /// Plans what the stored run did, so that a case without a row is missing from the graded run
    /// too.
    fn planned(&self, job: &SuiteJob) -> PlannedSuite {
        let mut planned = planned_suite(job);
        let ids: HashSet<&str> = job.suite.tests.iter().map(|test| test.id.as_str()).collect();
        let name = planned.name.clone();
        let stored = self.headers.iter().flat_map(|header| &header.suites);
        for suite in stored.filter(|suite| suite.name == name) {
            planned.plan.clone_from(&suite.plan);
            planned.other_shards.clone_from(&suite.other_shards);
            planned.add_cases(suite.cases.iter(), |id| ids.contains(id));
        }
        planned
    }

    /// Rows of other suites are ignored only if the suite was named.
    fn check_suites(
        &self,
        graded: &[String],
        spec: &RegradeSpec,
        notify: &mut Notify<'_>,
    ) -> Result<(), SessionError> {
        let others = self.suites.iter().map(|suite| &suite.name);
        let mut others: Vec<String> =
            others.filter(|name| !graded.contains(name)).map(|name| format!("`{name}`")).collect();
        others.sort_unstable();
        others.dedup();
        if others.is_empty() {
            return Ok(());
        }
        let names = others.join(", ");
        if spec.suite.is_none() {
            return Err(SessionError::StoredRun(format!(
                "the results have rows of {names}, but the suites they name are now called {}; \
                 select one with --suite",
                graded.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )));
        }
        notify(Notice::Message(format!("rows of {names} are ignored")));
        Ok(())
    }

    /// The suite that was named, or those that the rows come from, if they still exist.
    fn suite_files(&self, spec: &RegradeSpec) -> Result<Vec<Utf8PathBuf>, SessionError> {
        if let Some(file) = &spec.suite {
            return Ok(vec![file.clone()]);
        }
        let mut files: Vec<Utf8PathBuf> = Vec::new();
        for suite in &self.suites {
            let root = root_of_results(&spec.loading, &suite.results);
            let planned = self.headers.iter().flat_map(|header| &header.suites);
            let mut planned = planned.filter(|planned| planned.name == suite.name);
            let main = planned.find_map(|planned| path_inside(&root, &planned.file));
            let file = main.unwrap_or_else(|| root.join(&suite.file));
            if !is_suite_path(&file) {
                return Err(SessionError::StoredRun(format!(
                    "`{file}` does not exist; name the suite with --suite"
                )));
            }
            if !files.contains(&file) {
                files.push(file);
            }
        }
        if files.is_empty() {
            let results: Vec<String> =
                self.results.iter().map(|file| format!("`{}`", spec.loading.shown(file))).collect();
            return Err(SessionError::NoRow(format!("{} has no rows", results.join(", "))));
        }
        Ok(files)
    }
}
