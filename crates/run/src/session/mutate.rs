//! Damages the answers of a stored run that passed, and grades them again, to find checks that do not
//! notice. Nothing is written; only judges and scripts are called, and only on request.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use evalrig_core::model::{
    Evidence, EvidencePart, Judging, Outcome, SearchTime, Test, Transcript, WorkspaceFiles,
};
use evalrig_core::mutation::{
    CaseTrial, CheckBaseline, Original, OtherAnswer, Survey, mutants, try_case,
};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Span;

use crate::clock;
use crate::execute::SuiteJob;
use crate::prepare::GradingSpec;
use crate::provider::replay::stored_transcript;
use crate::results::{GradeOutcome, Row, Rows};
use crate::text;
use crate::workspace::KeptWorkspace;

use super::error::{Notice, Notify, SessionError};
use super::mutation_asks::{AskedMutants, MutationAsks, PassedAnswer};
use super::regrade::{RegradeSpec, StoredJobs, StoredRows};
use super::run_job::EventListener;
use super::spec::{LoadOptions, ReportSpec};

/// Answers of other tests that are kept per suite, and the length of each in bytes.
const OTHERS: usize = 200;
const LONGEST_OTHER: usize = 20_000;

/// Which stored run to damage, and with what.
#[derive(Debug, Clone)]
pub struct MutationSpec {
    pub loading: LoadOptions,
    /// The results files of one run, absolute; at least one.
    pub results: Vec<Utf8PathBuf>,
    /// Absolute; `None`: the suites that the rows name.
    pub suite: Option<Utf8PathBuf>,
    pub grading: GradingSpec,
    /// Mutants for each check that asks a judge or a script; `None`: such checks are not tried.
    pub judged_mutants: Option<usize>,
    pub budget_usd: Option<f64>,
    pub workers: Option<usize>,
    pub seed: u64,
    /// Whether SIGINT and SIGTERM stop the asking gracefully.
    pub handle_signals: bool,
}

/// What the checks did with the mutants.
#[derive(Debug)]
pub struct MutationReport {
    pub survey: Survey,
    /// File and line of checks and tests, by the number of their suite.
    places: BTreeMap<(usize, Span), (String, u32)>,
    /// Rows whose test did not pass, or has no answer.
    pub left_out: u64,
    /// What the results lack, a sentence each.
    pub gaps: Vec<String>,
    /// What was asked of judges and scripts.
    pub asked: Option<AskedMutants>,
    /// For making and grading the mutants, without what was asked.
    pub duration: Duration,
}

impl MutationReport {
    /// File and line, as the user would type the path.
    pub fn place(&self, suite: usize, span: Span) -> (&str, u32) {
        let found = self.places.get(&(suite, span));
        found.map_or(("", 0), |(file, line)| (file, *line))
    }
}

pub fn mutate(
    spec: &MutationSpec,
    notify: &mut Notify<'_>,
    listener: EventListener,
) -> Result<MutationReport, SessionError> {
    spec.loading.check()?;
    let stored = StoredRows::read(&spec.loading, &spec.results)?;
    let regrade = spec.regrade_spec(Judging::Skip);
    let mut run = regrade.run_spec();
    stored.take_plan(&mut run);
    let StoredJobs { jobs, secrets } = stored.jobs(&regrade, &run.loading, notify)?;
    let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
    let mut damage = DamagedRun::new(spec, &jobs, &secrets)?;
    let begun = Instant::now();
    for row in spec.rows(&secrets)? {
        damage.add(row?);
    }
    let duration = begun.elapsed();
    let DamagedRun { mut survey, left_out, asks, .. } = damage;
    if survey.answers == 0 {
        let text = "no test of the run passed, so there is no answer to damage";
        return Err(SessionError::NoRow(text.to_owned()));
    }
    let places = places(spec, &jobs);
    let gaps = stored.gaps().clone().sentences();
    let asked = match spec.judged_mutants {
        Some(most) if !asks.is_empty() => {
            let regrade = spec.regrade_spec(Judging::Ask);
            let asked =
                asks.ask(spec, most, &jobs, stored, &regrade, &run.loading, notify, listener)?;
            asked.add_to(&mut survey, &jobs);
            Some(asked)
        }
        _ => None,
    };
    // Values of checks come from the suite, not from redacted rows.
    survey.rewrite_texts(&|text| secrets.redact(text).to_string());
    Ok(MutationReport { survey, places, left_out, gaps, asked, duration })
}

impl MutationSpec {
    /// Grading the same rows again, which loads the suites.
    fn regrade_spec(&self, judging: Judging) -> RegradeSpec {
        let reports = ReportSpec {
            list: Vec::new(),
            style: text::OutputStyle::default(),
            detail: crate::report::Detail::Quiet,
        };
        RegradeSpec {
            loading: self.loading.clone(),
            results: self.results.clone(),
            suite: self.suite.clone(),
            grading: GradingSpec { judging, ..self.grading.clone() },
            workers: self.workers,
            budget_usd: self.budget_usd,
            output: None,
            force: false,
            messages: true,
            reports,
            command: None,
            handle_signals: self.handle_signals,
        }
    }

    fn rows(&self, secrets: &Arc<Secrets>) -> Result<Rows, SessionError> {
        Ok(Rows::open_all(&self.results)?.redacting(Arc::clone(secrets)))
    }
}

/// Everything that the rows of a run are damaged with.
struct DamagedRun<'a> {
    jobs: &'a [SuiteJob],
    by_name: HashMap<&'a str, usize>,
    tests: Vec<HashMap<&'a str, usize>>,
    others: Vec<Vec<OtherAnswer>>,
    seed: u64,
    survey: Survey,
    left_out: u64,
    asks: MutationAsks,
}

impl<'a> DamagedRun<'a> {
    fn new(
        spec: &MutationSpec,
        jobs: &'a [SuiteJob],
        secrets: &Arc<Secrets>,
    ) -> Result<Self, SessionError> {
        let names = jobs.iter().enumerate();
        let by_name: HashMap<&str, usize> =
            names.map(|(at, job)| (job.suite.name.as_str(), at)).collect();
        let tests = jobs.iter().map(|job| {
            let tests = job.suite.tests.iter().enumerate();
            tests.map(|(at, test)| (test.id.as_str(), at)).collect()
        });
        let mut others: Vec<Vec<OtherAnswer>> = vec![Vec::new(); jobs.len()];
        for row in spec.rows(secrets)? {
            let row = row?;
            let Some(list) = by_name.get(row.dataset.as_str()).map(|at| &mut others[*at]) else {
                continue;
            };
            // One answer of each test is enough.
            let is_new = list.last().is_none_or(|last| last.test != row.eval_id);
            let answer = row.candidate_answer.filter(|text| text.len() <= LONGEST_OTHER);
            let Some(answer) = answer.filter(|_| is_new && list.len() < OTHERS) else { continue };
            if list.iter().all(|known| known.answer != answer) {
                list.push(OtherAnswer { test: row.eval_id, answer });
            }
        }
        // Rows are in the order in which cases ended, which differs from run to run.
        others.iter_mut().for_each(|list| list.sort_by(|a, b| a.test.cmp(&b.test)));
        Ok(Self {
            jobs,
            tests: tests.collect(),
            by_name,
            others,
            seed: spec.seed,
            survey: Survey::default(),
            left_out: 0,
            asks: MutationAsks::default(),
        })
    }

    fn add(&mut self, row: Row) {
        let suite = self.by_name.get(row.dataset.as_str()).copied();
        let found = suite.and_then(|suite| Some((suite, *self.tests[suite].get(&*row.eval_id)?)));
        let Some((suite, at)) = found else { return };
        let test = &self.jobs[suite].suite.tests[at];
        if row.outcome != Outcome::Passed || row.partial || test.assertions.is_empty() {
            self.left_out += 1;
            return;
        }
        let passed = passed_checks(test, &row);
        let (target, trial) = (row.variant().into_owned(), row.trial);
        let Ok(transcript) = stored_transcript(row) else {
            self.left_out += 1;
            return;
        };
        let tried = self.try_answer(suite, test, &target, trial, &transcript);
        self.survey.add(suite, test, &transcript, &tried);
        if tried.asks() {
            self.asks.offer(PassedAnswer { suite, test: at, target, transcript, tried, passed });
        }
    }

    fn try_answer(
        &self,
        suite: usize,
        test: &Test,
        target: &str,
        trial: u32,
        transcript: &Transcript,
    ) -> CaseTrial {
        let job = &self.jobs[suite];
        let variant = job.variant(target);
        let given_skills = variant.and_then(|variant| variant.skill_names());
        let kept = transcript.files.as_ref().and_then(|files| {
            test.workspace.as_ref()?;
            KeptWorkspace::open(files.path.as_deref()?)
        });
        let evidence = Evidence {
            suite: &job.suite.name,
            test,
            trial,
            transcript,
            files: &job.files,
            workspace: kept.as_ref().map(|kept| kept as &dyn WorkspaceFiles),
            given_skills: given_skills.as_deref(),
            arm: variant.and_then(|variant| variant.arm.as_deref()),
        };
        let original = Original { test, transcript, others: &self.others[suite], seed: self.seed };
        let search_time = SearchTime::new(clock::since_first_use);
        try_case(&evidence, job.thresholds, &search_time, mutants(&original))
    }
}

/// Which assertions passed on the stored answer, as the row says. Empty if the test has changed.
fn passed_checks(test: &Test, row: &Row) -> Vec<bool> {
    let results = &row.evaluator_results;
    let is_same = results.len() == test.assertions.len()
        && results.iter().zip(&test.assertions).all(|(result, named)| *result.name == *named.name);
    if !is_same {
        return Vec::new();
    }
    let passes = results.iter().map(|one| {
        one.outcome == GradeOutcome::Graded
            && one.gate.as_deref() != Some("missed")
            && one.score.is_some_and(|score| score + 1e-9 >= row.pass_threshold.unwrap_or(0.8))
    });
    passes.collect()
}

fn places(spec: &MutationSpec, jobs: &[SuiteJob]) -> BTreeMap<(usize, Span), (String, u32)> {
    let mut places = BTreeMap::new();
    for (suite, job) in jobs.iter().enumerate() {
        let mut add = |span: Span| {
            places.entry((suite, span)).or_insert_with(|| {
                let path = job.sources.get(span.source).path();
                let shown = text::shown_path(path, &spec.loading.working_directory);
                (shown, job.sources.line(span))
            });
        };
        for test in &job.suite.tests {
            add(test.span);
            test.assertions.iter().for_each(|one| add(one.assertion.common.span.at_start()));
        }
    }
    places
}

/// Whether a judge or a script would see the damage of this part: workspaces are not handed on.
pub(super) fn is_shown_to_judges(part: EvidencePart) -> bool {
    part != EvidencePart::Files
}

/// The checks that ask, by their index in the test.
pub(super) fn asking_checks(tried: &CaseTrial) -> impl Iterator<Item = usize> {
    let all = tried.baselines.iter().enumerate();
    all.filter(|(_, one)| matches!(one, CheckBaseline::Asks)).map(|(at, _)| at)
}
