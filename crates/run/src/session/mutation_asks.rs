//! Shows a sample of mutants to judges and scripts: a run whose target gives the mutants as answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use evalrig_core::model::{Judging, Outcome, Transcript};
use evalrig_core::mutation::{
    CaseTrial, GradedMutant, Mutant, MutantGrade, Survey, sample_mutants,
};
use evalrig_core::source::Span;

use crate::descriptor::DescriptorBudget;
use crate::execute::{
    AnswerPayment, ConnectedTarget, Durable, ExecutionEnd, Job, RowSink, RunOptions, SuiteJob,
    SuiteRun, TreeDigests, UngradedAnswer, WrittenRow,
};
use crate::lock::locked;
use crate::prepare::Estimate;
use crate::provider::replay::GivenAnswers;
use crate::results::{CaseKey, GradeOutcome, JudgeReply, JudgeUsage, Row};
use crate::text::numbers;
use crate::workspace::Workspaces;

use super::error::{Notice, Notify, SessionError};
use super::mutate::{MutationSpec, asking_checks, is_shown_to_judges};
use super::regrade::{RegradeSpec, StoredJobs, StoredRows};
use super::run_job::{EventListener, execute_here, run_cases};
use super::scratch::RunScratch;
use super::spec::LoadOptions;

/// A stored answer whose test has checks that ask.
pub(super) struct PassedAnswer {
    pub(super) suite: usize,
    pub(super) test: usize,
    pub(super) target: String,
    pub(super) transcript: Transcript,
    pub(super) tried: CaseTrial,
    /// Which assertions passed on it; empty if that is not known.
    pub(super) passed: Vec<bool>,
}

/// One stored answer of each test that has checks which ask.
#[derive(Default)]
pub(super) struct MutationAsks {
    answers: Vec<PassedAnswer>,
}

/// What was asked, and what it cost.
#[derive(Debug, Default)]
pub struct AskedMutants {
    pub mutants: u64,
    pub judge_calls: u64,
    /// `None` if a judge does not report it.
    pub cost_usd: Option<f64>,
    /// Why not every mutant has its grades.
    pub unfinished: Option<String>,
    graded: Vec<AskedMutant>,
}

#[derive(Debug)]
struct AskedMutant {
    suite: usize,
    test: usize,
    original: Arc<Transcript>,
    graded: GradedMutant,
}

impl AskedMutants {
    pub(super) fn add_to(&self, survey: &mut Survey, jobs: &[SuiteJob]) {
        for one in &self.graded {
            let test = &jobs[one.suite].suite.tests[one.test];
            survey.add_asked(one.suite, test, &one.original, &one.graded);
        }
    }
}

/// A mutant that is about to be graded.
struct MutantCase {
    answer: usize,
    /// Its number among the mutants of the answer.
    number: usize,
    mutant: Mutant,
    key: CaseKey,
}

impl MutationAsks {
    pub(super) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Keeps the first answer of each test.
    pub(super) fn offer(&mut self, answer: PassedAnswer) {
        let is_known = |one: &PassedAnswer| (one.suite, one.test) == (answer.suite, answer.test);
        let can_fail = asking_checks(&answer.tried).any(|at| answer.passed.get(at) == Some(&true));
        if can_fail && !self.answers.iter().any(is_known) {
            self.answers.push(answer);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a session, used once")]
    pub(super) fn ask(
        self,
        spec: &MutationSpec,
        most: usize,
        jobs: &[SuiteJob],
        stored: StoredRows,
        regrade: &RegradeSpec,
        loading: &LoadOptions,
        notify: &mut Notify<'_>,
        listener: EventListener,
    ) -> Result<AskedMutants, SessionError> {
        let cases = self.cases(most, jobs, spec.seed);
        if cases.is_empty() {
            return Ok(AskedMutants::default());
        }
        let keys: Vec<CaseKey> = cases.iter().map(|case| case.key.clone()).collect();
        let StoredJobs { jobs: mut asking, secrets } =
            stored.with_cases(&keys).jobs(regrade, loading, notify)?;
        for job in &mut asking {
            give_answers(job, &cases);
        }
        announce(&asking, cases.len(), notify);
        let scratch = RunScratch::of_jobs(asking.iter())?;
        let sink = Arc::new(RowCollector::default());
        let suites = asking
            .into_iter()
            .map(|job| SuiteRun { job, sink: Arc::clone(&sink) as Arc<dyn RowSink> });
        let options = RunOptions {
            workers: spec.workers,
            descriptors: DescriptorBudget::now(),
            timeout: None,
            retries: None,
            budget_usd: spec.budget_usd,
            payment: AnswerPayment::Earlier,
            max_errors: None,
            fail_fast: None,
            judging: regrade.grading.judging,
            messages: false,
            scratch: scratch.path().to_owned(),
            workspaces: Arc::new(Workspaces::new(scratch.path())),
            hidden: Vec::new(),
            keep_workspaces: None,
            recording: None,
            secrets,
            cache: None,
            trees: TreeDigests::default(),
            rounds: None,
        };
        let job = Job {
            suites: suites.collect(),
            options,
            answered: HashMap::new(),
            reusable: HashMap::new(),
        };
        let end = run_cases(job, |_| {}, listener, spec.handle_signals, cases.len(), execute_here);
        if let Some(warning) = scratch.remove() {
            notify(Notice::Message(warning));
        }
        Ok(self.collect(cases, sink.take(), &end.ended))
    }

    /// Samples for each test, so that every check which asks gets about `most` mutants, from as many
    /// tests as possible.
    fn cases(&self, most: usize, jobs: &[SuiteJob], seed: u64) -> Vec<MutantCase> {
        let span_of = |answer: &PassedAnswer, at: usize| -> (usize, Span) {
            let test = &jobs[answer.suite].suite.tests[answer.test];
            (answer.suite, test.assertions[at].assertion.common.span.at_start())
        };
        // Of each check: tests still to come, and mutants chosen so far.
        let mut checks: HashMap<(usize, Span), (usize, usize)> = HashMap::new();
        for answer in &self.answers {
            for at in asking_checks(&answer.tried) {
                checks.entry(span_of(answer, at)).or_default().0 += 1;
            }
        }
        let mut cases = Vec::new();
        for (number, answer) in self.answers.iter().enumerate() {
            let spans: Vec<_> =
                asking_checks(&answer.tried).map(|at| span_of(answer, at)).collect();
            let wanted = spans.iter().map(|span| {
                let (tests, chosen) = checks[span];
                most.saturating_sub(chosen).div_ceil(tests.max(1))
            });
            let wanted = wanted.max().unwrap_or(0);
            let test = &jobs[answer.suite].suite.tests[answer.test];
            let looks = |part| {
                asking_checks(&answer.tried)
                    .any(|at| test.assertions[at].assertion.parts().contains(&part))
            };
            let all = answer.tried.mutants.iter().map(|one| &one.mutant).enumerate();
            let (numbers, shown): (Vec<usize>, Vec<&Mutant>) =
                all.filter(|(_, one)| is_shown_to_judges(one.part()) && looks(one.part())).unzip();
            let chosen = sample_mutants(&shown, wanted, seed ^ number as u64);
            for span in &spans {
                if let Some((tests, so_far)) = checks.get_mut(span) {
                    *tests -= 1;
                    *so_far += chosen.len();
                }
            }
            for (trial, at) in chosen.into_iter().enumerate() {
                let key = CaseKey {
                    suite: jobs[answer.suite].suite.name.clone(),
                    test: test.id.to_string(),
                    target: answer.target.clone(),
                    trial: trial as u32 + 1,
                };
                let mutant = shown[at].clone();
                cases.push(MutantCase { answer: number, number: numbers[at], mutant, key });
            }
        }
        cases
    }

    fn collect(
        self,
        cases: Vec<MutantCase>,
        rows: HashMap<CaseKey, Row>,
        ended: &ExecutionEnd,
    ) -> AskedMutants {
        let mut usage = JudgeUsage { cost_usd: Some(0.0), ..JudgeUsage::default() };
        for used in rows.values().filter_map(|row| row.judge_usage) {
            usage.calls += used.calls;
            usage.cost_usd = usage.cost_usd.zip(used.cost_usd).map(|(a, b)| a + b);
        }
        let mut errors = 0_u64;
        let originals: Vec<Arc<Transcript>> =
            self.answers.iter().map(|one| Arc::new(one.transcript.clone())).collect();
        let mut graded = Vec::with_capacity(cases.len());
        let mutants = cases.len() as u64;
        for case in cases {
            let answer = &self.answers[case.answer];
            let row = rows.get(&case.key);
            errors += u64::from(row.is_none_or(|row| row.outcome == Outcome::Errored));
            let grades: Vec<MutantGrade> = (0..answer.tried.baselines.len())
                .map(|at| grade_in(row, answer, at, &case.mutant))
                .collect();
            let row = row.filter(|row| row.outcome != Outcome::Errored);
            let survives = row.map(|row| row.outcome == Outcome::Passed);
            let earlier = &answer.tried.mutants[case.number].grades;
            let is_noticed = earlier.iter().chain(&grades).any(|one| *one == MutantGrade::Failed);
            let unnoticed = survives.map(|_| !is_noticed);
            graded.push(AskedMutant {
                suite: answer.suite,
                test: answer.test,
                original: Arc::clone(&originals[case.answer]),
                graded: GradedMutant { mutant: case.mutant, grades, survives, unnoticed },
            });
        }
        let stopped = match ended {
            ExecutionEnd::Complete | ExecutionEnd::Settled => None,
            ExecutionEnd::Limited(_) => Some("the budget is used up".to_owned()),
            ExecutionEnd::FailedFast | ExecutionEnd::Cancelled => Some("stopped early".to_owned()),
            ExecutionEnd::Broken(reason) | ExecutionEnd::EndedElsewhere(reason) => {
                Some(reason.clone())
            }
        };
        let failed = (errors > 0).then(|| {
            let count = numbers::counted(errors, "mutant", "mutants");
            format!("{count} could not be graded by judges and scripts")
        });
        AskedMutants {
            mutants,
            judge_calls: usage.calls,
            cost_usd: usage.cost_usd,
            unfinished: stopped.or(failed),
            graded,
        }
    }
}

/// The grade of a check that asks; other checks have been graded before.
fn grade_in(row: Option<&Row>, answer: &PassedAnswer, at: usize, mutant: &Mutant) -> MutantGrade {
    let asks = asking_checks(&answer.tried).any(|one| one == at);
    if !asks || answer.passed.get(at) != Some(&true) || !is_shown_to_judges(mutant.part()) {
        return MutantGrade::NotTried;
    }
    let Some((row, result)) = row.and_then(|row| Some((row, row.evaluator_results.get(at)?)))
    else {
        return MutantGrade::Unknown;
    };
    match (result.outcome, result.score) {
        _ if result.gate.as_deref() == Some("missed") => MutantGrade::Failed,
        (GradeOutcome::Graded, Some(score)) => {
            let passes = score + 1e-9 >= row.pass_threshold.unwrap_or(0.8);
            if passes { MutantGrade::Passed } else { MutantGrade::Failed }
        }
        _ => MutantGrade::Unknown,
    }
}

/// Replaces the stored answers of the job by mutants.
fn give_answers(job: &mut SuiteJob, cases: &[MutantCase]) {
    for target in job.targets.clone() {
        let mut answers = GivenAnswers::default();
        let own = cases
            .iter()
            .filter(|case| case.key.suite == job.suite.name && case.key.target == target);
        for case in own {
            let answer = case.mutant.transcript.clone();
            answers.insert(case.key.test.clone(), case.key.trial, answer);
        }
        let connected = ConnectedTarget::stored(&target, Box::new(answers));
        job.replays.insert(target, Arc::new(connected));
    }
}

/// What will be asked and what it may cost, before anything is asked.
fn announce(jobs: &[SuiteJob], mutants: usize, notify: &mut Notify<'_>) {
    let mut estimate = Estimate::default();
    for job in jobs {
        estimate.add(job, Judging::Ask, None);
    }
    let (calls, cost) = (estimate.judge_calls, estimate.cost_usd);
    let range = |low: String, high: String| {
        if low == high { low } else { format!("{low} to {high}") }
    };
    let mut text = format!(
        "showing {} to judges and scripts: {} judge calls",
        numbers::counted(mutants as u64, "mutant", "mutants"),
        range(numbers::count(calls.low as u64), numbers::count(calls.high as u64)),
    );
    if calls.high > 0.0 {
        text += &format!(", {}", range(numbers::money(cost.low), numbers::money(cost.high)));
    }
    if !estimate.unpriced.is_empty() {
        let names: Vec<String> = estimate.unpriced.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("; the price of {} is unknown and not included", names.join(", "));
    }
    notify(Notice::Message(text));
}

/// Keeps rows in memory: nothing about mutants is stored.
#[derive(Debug, Default)]
struct RowCollector {
    rows: Mutex<HashMap<CaseKey, Row>>,
}

impl RowCollector {
    fn take(&self) -> HashMap<CaseKey, Row> {
        std::mem::take(&mut *locked(&self.rows))
    }
}

impl RowSink for RowCollector {
    fn write(&self, row: Row) -> WrittenRow {
        locked(&self.rows).insert(row.key(), row.clone());
        WrittenRow { row: Arc::new(row), durable: Box::pin(std::future::ready(Ok(()))) }
    }

    fn write_answer(&self, _: &CaseKey, _: &str, _: &UngradedAnswer) -> Durable {
        Box::pin(std::future::ready(Ok(())))
    }

    fn write_reply(&self, _: &CaseKey, _: &str, _: &JudgeReply) -> Durable {
        Box::pin(std::future::ready(Ok(())))
    }

    fn settled(&self, _: &Row) {}
}
