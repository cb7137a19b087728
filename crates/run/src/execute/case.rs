//! Runs one case: asks the target, then grades the answer with the help of scripts and judges.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use evalrig_core::assertion::{NOT_IN_THIS_ARM, grade};
use evalrig_core::model::{
    Answers, AssertionGrade, Evidence, Fault, FaultKind, GradingOptions, OnTimeout, SearchTime,
    Stage, Step, Test, Transcript, WorkspaceFiles,
};
use evalrig_core::plan::PlannedCase;
use futures_util::future::join_all;

use crate::agent::{AttemptFault, ConversationTurn, Purpose, Request, StopRule};
use crate::cache::{AnswerCache, AnswerKey, AskedCase, CachedAnswer};
use crate::clock;
use crate::event::Event;
use crate::results::{CaseKey, JudgeReply, JudgeUsage, Row, WorkspaceChanges, redact_transcript};
use crate::runlog::{FinishedCase, PendingRecord};
use crate::setting::FilesMode;
use crate::workspace::CaseWorkspace;

use super::answer_memory::MemoryShare;
use super::ask_guard::AskGuard;
use super::case_answers::JudgeCalls;
use super::case_judges::CaseJudges;
use super::case_scratch::CaseScratch;
use super::case_workspace::{AttemptWorkspaces, ChainState, StoredWorkspace};
use super::connected_target::{AskLimits, ConnectedTarget};
use super::job::{Job, SuiteJob, SuiteRun, UngradedAnswer};
use super::retry::Retrying;
use super::row_sink::Durable;
use super::rows::RowMaker;
use super::run::RunShared;
use super::target_variant::TargetVariant;
use super::unchanged::LoadedPrograms;

/// A case with the job, suite and run it belongs to.
#[derive(Clone, Copy)]
pub(super) struct CaseWork<'a> {
    pub(super) job: &'a Job,
    pub(super) suite: &'a SuiteRun,
    pub(super) case: &'a PlannedCase,
    /// Number of the case in the plan.
    pub(super) number: usize,
    /// Answers that only have to be graded.
    pub(super) answered: &'a HashMap<CaseKey, UngradedAnswer>,
    pub(super) shared: &'a RunShared,
    /// `None` if requests are always sent.
    pub(super) guard: Option<&'a AskGuard<'a>>,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerOrigin {
    /// An interrupted run that goes on.
    Journal,
    /// Another run.
    Cache,
    Target,
}

/// A case that is over.
pub(super) struct CaseDone {
    pub(super) row: Row,
    /// The row names its record, so it is written after the record.
    pub(super) logging: Option<PendingRunLog>,
    /// Held until the row is on disk.
    pub(super) memory: MemoryShare,
}

/// A case that is being added to the run log.
pub(super) struct PendingRunLog {
    pub(super) record: PendingRecord,
    /// The answer may have cost money, so it is stored before the row in case of a crash.
    pub(super) answer: Durable,
}

impl From<Row> for CaseDone {
    fn from(row: Row) -> Self {
        Self { row, logging: None, memory: MemoryShare::default() }
    }
}

impl<'a> CaseWork<'a> {
    pub(super) fn suite_job(&self) -> &'a SuiteJob {
        &self.suite.job
    }

    pub(super) fn loaded_programs(&self) -> LoadedPrograms<'a> {
        let suite = self.suite_job();
        LoadedPrograms { root: &suite.root, files: &suite.files }
    }

    pub(super) fn test(&self) -> &'a Test {
        &self.suite_job().suite.tests[self.case.test]
    }

    pub(super) fn key(&self) -> CaseKey {
        self.suite_job().key(self.case)
    }

    /// Shown to users: the test, plus whatever distinguishes it from cases of the same test.
    pub(super) fn label(&self) -> Arc<str> {
        let suite = self.suite_job();
        let mut label = match self.job.suites.len() {
            1 => self.test().id.to_string(),
            _ => format!("{}/{}", suite.suite.name, self.test().id),
        };
        if suite.targets.len() > 1 {
            label += &format!(" @{}", self.case.target);
        }
        if self.case.trial > 1 {
            label += &format!(" #{}", self.case.trial);
        }
        label.into()
    }

    fn rows(&self) -> RowMaker<'a> {
        RowMaker {
            job: self.suite_job(),
            test: self.test(),
            test_index: self.case.test,
            target: &self.case.target,
            trial: self.case.trial,
            messages: self.job.options.messages,
        }
    }

    /// The row of a case that was never started.
    pub(super) fn row_without_run(&self, reason: &str) -> Row {
        if let Some(skip) = &self.test().skip {
            return self.rows().skipped(skip.reason.as_deref());
        }
        let fault = Fault::new(Stage::Target, FaultKind::Limit, format!("not run: {reason}"));
        self.rows().failed(&fault, 0, None)
    }

    /// The row of a case that could not be measured.
    #[cfg(feature = "queue")]
    pub(super) fn row_of_fault(&self, fault: &Fault) -> Row {
        self.rows().failed(fault, 0, None)
    }

    /// Never fails: faults are recorded in the row.
    pub(super) async fn run(&self, chain: &mut ChainState) -> CaseDone {
        let test = self.test();
        if let Some(skip) = &test.skip {
            return self.rows().skipped(skip.reason.as_deref()).into();
        }
        if self.measures_nothing() {
            return self.rows().skipped(Some(NOT_IN_THIS_ARM)).into();
        }
        if let Some(row) = self.reused_row() {
            return row.into();
        }
        // Before the agent runs, which might change its own skills.
        let setup = self.setup();
        let scratch = CaseScratch::new(&self.job.options.scratch, self.number, chain.home.clone());
        let connected = self.suite_job().target(&self.case.target);
        let workspaces =
            connected.and_then(|connected| AttemptWorkspaces::of(self, connected, chain));
        let is_turn = connected.is_some_and(|connected| self.is_turn(connected));
        let (answered, origin) = match self.earlier(workspaces.is_some() || is_turn) {
            Some(answered) => {
                let mut answered = answered.clone();
                redact_transcript(&mut answered.transcript, &self.job.options.secrets);
                (answered, AnswerOrigin::Journal)
            }
            None => match self.find_or_ask(&scratch, workspaces.as_ref(), chain).await {
                Ok(answered) => answered,
                Err(failed) => {
                    chain.conversation.remember(self, failed.failure.so_far.as_deref());
                    let mut row = self.failed_row(&failed);
                    self.end_unanswered(workspaces.as_ref(), &mut row, chain).await;
                    return row.into();
                }
            },
        };
        chain.conversation.remember(self, Some(&answered.transcript));
        let memory = self.shared.reserve_memory(&answered.transcript).await;
        let mut is_kept = origin != AnswerOrigin::Target;
        let workspace = workspaces.as_ref().and_then(AttemptWorkspaces::take);
        let kept = self.kept_workspace(&answered.transcript);
        let surroundings = CaseSurroundings {
            scratch: &scratch,
            workspace: workspace.as_ref(),
            kept: kept.as_ref(),
            replies: &answered.replies,
        };
        let (mut grades, usage) = self.grade(&answered, &mut is_kept, surroundings).await;
        self.explain_unreported(&mut grades);
        let transcript = &answered.transcript;
        let mut row = self.rows().graded(transcript, answered.attempts, &grades, usage);
        row.cached = (origin == AnswerOrigin::Cache).then_some(true);
        row.setup = setup;
        self.end_workspace(workspace, workspaces.as_ref(), &mut row, chain).await;
        // The run log has runs of agents; of a cached answer it has the first one.
        let recording = self.job.options.recording.as_ref();
        let recording = recording.filter(|_| origin != AnswerOrigin::Cache);
        let logging = recording.map(|recording| PendingRunLog {
            answer: self.keep_answer(&answered, &mut is_kept),
            record: recording.add(self.finished(transcript, &row)),
        });
        CaseDone { row, logging, memory }
    }

    pub(super) fn judges(&self) -> CaseJudges<'_> {
        CaseJudges { suite: self.suite_job(), target: &self.case.target }
    }

    /// Names of the skills that the agent was given; `None` if the suite is not about skills.
    fn given_skills(&self) -> Option<Vec<String>> {
        self.suite_job().variant(&self.case.target)?.skill_names()
    }

    async fn end_unanswered(
        &self,
        attempts: Option<&AttemptWorkspaces<'_>>,
        row: &mut Row,
        chain: &mut ChainState,
    ) {
        let workspace = attempts.and_then(AttemptWorkspaces::take);
        if let Some(workspace) = &workspace {
            row.workspace = workspace.changes().await.ok().as_ref().map(WorkspaceChanges::from);
        }
        self.end_workspace(workspace, attempts, row, chain).await;
    }

    pub(super) fn finished<'r>(&self, transcript: &'r Transcript, row: &'r Row) -> FinishedCase<'r>
    where
        'a: 'r,
    {
        let suite = self.suite_job();
        let connected = suite.target(&self.case.target);
        FinishedCase {
            root: &suite.root,
            cwd: connected.and_then(|connected| connected.working_dir()),
            test: self.test(),
            transcript,
            row,
            files: &suite.files,
        }
    }

    /// Stores the answer unless it is stored already.
    fn keep_answer(&self, answered: &UngradedAnswer, is_kept: &mut bool) -> Durable {
        if std::mem::replace(is_kept, true) {
            return Box::pin(std::future::ready(Ok(())));
        }
        let hash = self.suite_job().hash(self.case.test);
        self.suite.sink.write_answer(&self.key(), hash, answered)
    }

    /// The answer of an interrupted run. Most runs have none, so the key is built only if needed. The
    /// files of a workspace and the session of a conversation went with that run, so such a case runs
    /// again.
    fn earlier(&self, needs_more: bool) -> Option<&'a UngradedAnswer> {
        if self.answered.is_empty() || needs_more { None } else { self.answered.get(&self.key()) }
    }

    /// The answer from the cache; otherwise the target's, which the cache then keeps.
    async fn find_or_ask(
        &self,
        scratch: &CaseScratch<'_>,
        workspaces: Option<&AttemptWorkspaces<'_>>,
        chain: &mut ChainState,
    ) -> Result<(UngradedAnswer, AnswerOrigin), FailedAsk> {
        let turn = match self.suite_job().target(&self.case.target) {
            Some(connected) => chain.conversation.turn(self, connected),
            None => Ok(None),
        };
        let turn = turn.map_err(|fault| FailedAsk { failure: fault.into(), attempts: 0 })?;
        // Checks on files need the workspace and later turns the session, which the cache lacks.
        let is_alone = workspaces.is_none() && turn.is_none();
        let cache = self.job.options.cache.as_ref().filter(|_| is_alone);
        let Some((cache, key)) = cache.and_then(|cache| Some((cache, self.answer_key(cache)?)))
        else {
            let asked = self.ask_target(scratch, workspaces, turn.as_ref()).await?;
            return Ok((asked, AnswerOrigin::Target));
        };
        let root = &self.suite_job().root;
        if let Some(CachedAnswer { transcript, attempts }) = cache.find(root, &key) {
            return Ok((UngradedAnswer::new(transcript, attempts), AnswerOrigin::Cache));
        }
        let answered = self.ask_target(scratch, workspaces, turn.as_ref()).await?;
        let UngradedAnswer { transcript, attempts, .. } = answered;
        let answer = CachedAnswer { transcript, attempts };
        cache.store(root, &key, &self.key(), &answer);
        let CachedAnswer { transcript, attempts } = answer;
        Ok((UngradedAnswer::new(transcript, attempts), AnswerOrigin::Target))
    }

    /// `None` if it is not known what the answer depends on.
    fn answer_key(&self, cache: &AnswerCache) -> Option<AnswerKey> {
        let suite = self.suite_job();
        let connected = suite.target(&self.case.target)?;
        if suite.variant(&self.case.target).is_some_and(TargetVariant::changes_target) {
            return None;
        }
        let asked = AskedCase {
            identity: connected.identity()?,
            attachments: connected.attachments(),
            messages: &self.test().input,
            files: &suite.files,
            // Programs find the id in a variable.
            test_id: connected.is_process().then(|| self.test().id.as_str()),
            trial: self.case.trial,
            skill: suite.skill.as_deref(),
        };
        cache.key_of(&asked)
    }

    async fn ask_target(
        &self,
        scratch: &CaseScratch<'_>,
        workspaces: Option<&AttemptWorkspaces<'_>>,
        turn: Option<&ConversationTurn>,
    ) -> Result<UngradedAnswer, FailedAsk> {
        let suite = self.suite_job();
        let test = self.test();
        let Some(connected) = suite.target(&self.case.target) else {
            let message = format!("target `{}` does not exist", self.case.target);
            let fault = Fault::new(Stage::Target, FaultKind::Start, message);
            return Err(FailedAsk { failure: fault.into(), attempts: 0 });
        };
        let settings = connected.settings_for(&test.execution);
        let stops = settings.stop_on_trigger == Some(true) && !test.assertions.is_empty();
        let variant = suite.variant(&self.case.target);
        let request = Request {
            purpose: Purpose::Case,
            suite: &suite.suite.name,
            test_id: test.id.as_str(),
            trial: self.case.trial,
            attempt: 1,
            call: 0,
            messages: &test.input,
            config: None,
            timeout: self.timeout(connected),
            attachments: FilesMode::Inline,
            files: &suite.files,
            scratch: scratch.of(connected),
            home: scratch.home.as_deref(),
            env: variant.map_or(&[], |variant| &variant.env),
            place: None,
            confinement: None,
            hidden: &self.job.options.hidden,
            stop: stops.then_some(StopRule(&test.assertions)),
            conversation: turn,
        };
        let (asked, attempts) = self.ask(connected, &request, workspaces).await;
        let may_be_empty = settings.allow_empty == Some(true) || connected.may_be_silent();
        match asked {
            Ok(transcript) if !may_be_empty && is_silent(&transcript) => {
                let failure = AttemptFault::new(FaultKind::EmptyReply, EMPTY_REPLY);
                let so_far = Some(Box::new(transcript));
                Err(FailedAsk { failure: AttemptFault { so_far, ..failure }, attempts })
            }
            Ok(mut transcript) => {
                if connected.is_stored() {
                    redact_transcript(&mut transcript, &self.job.options.secrets);
                }
                Ok(UngradedAnswer::new(transcript, attempts))
            }
            Err(failure) => Err(FailedAsk { failure, attempts }),
        }
    }

    fn failed_row(&self, failed: &FailedAsk) -> Row {
        let FailedAsk { failure, attempts } = failed;
        let (fault, so_far) = (&failure.fault, failure.so_far.as_deref());
        let connected = self.suite_job().target(&self.case.target);
        let settings = connected.map(|connected| connected.settings_for(&self.test().execution));
        let on_timeout = settings.and_then(|settings| settings.on_timeout).unwrap_or_default();
        match (fault.kind, on_timeout) {
            (FaultKind::Timeout, OnTimeout::Fail) => {
                self.rows().timed_out(fault, *attempts, so_far)
            }
            _ => self.rows().failed(fault, *attempts, so_far),
        }
    }

    /// The first that is set: `--timeout`, the test, the suite, the target.
    fn timeout(&self, connected: &ConnectedTarget) -> Duration {
        let written = self.test().execution.timeout_seconds;
        let written = written.or(self.suite_job().suite.execution.timeout_seconds);
        let written = written.map(|seconds| Duration::from_secs(seconds.into()));
        let given = self.job.options.timeout.or(written);
        given.unwrap_or_else(|| connected.timeout())
    }

    pub(super) async fn ask(
        &self,
        connected: &ConnectedTarget,
        request: &Request<'_>,
        workspaces: Option<&AttemptWorkspaces<'_>>,
    ) -> (Result<Transcript, AttemptFault>, u32) {
        let again = |again: Retrying<'_>| {
            self.shared.tell(Event::Retrying {
                case: self.number,
                reason: again.fault.message.clone(),
                seconds: again.wait.as_secs_f64(),
            });
        };
        if let Err(fault) = self.loaded_programs().check_target(connected) {
            return (Err(fault.into()), 0);
        }
        let limits = AskLimits { retries: self.job.options.retries, guard: self.guard };
        connected.ask(request, limits, workspaces, &again).await
    }

    /// Grades in rounds; each round answers the questions of the previous one.
    async fn grade(
        &self,
        answered: &UngradedAnswer,
        is_kept: &mut bool,
        around: CaseSurroundings<'_>,
    ) -> (Vec<AssertionGrade>, Option<JudgeUsage>) {
        let suite = self.suite_job();
        let given_skills = self.given_skills();
        let evidence = Evidence {
            suite: &suite.suite.name,
            test: self.test(),
            trial: self.case.trial,
            transcript: &answered.transcript,
            files: &suite.files,
            workspace: around.files(),
            given_skills: given_skills.as_deref(),
            arm: suite.variant(&self.case.target).and_then(|variant| variant.arm.as_deref()),
        };
        let judges = self.judges();
        let search_time = SearchTime::new(clock::since_first_use);
        let options = GradingOptions {
            pass: suite.thresholds.pass,
            judging: self.job.options.judging,
            readings: Some(&judges),
            search_time: &search_time,
        };
        let mut answers = Answers::default();
        let mut judged = JudgeCalls::default();
        loop {
            let asks = match grade(&evidence, options, &answers) {
                Step::Done(grades) => return (grades, judged.usage),
                Step::Ask(asks) => asks,
            };
            // The answer may have cost money, so it is stored before judges are called.
            self.shared.wait(self.keep_answer(answered, is_kept)).await;
            let calls: Vec<usize> = asks.iter().map(|ask| judged.call_of(ask)).collect();
            let given = asks.iter().zip(calls).map(|(ask, call)| self.answer(ask, call, around));
            for (ask, (answer, used)) in asks.iter().zip(join_all(given).await) {
                judged.add(used);
                answers.insert(ask.key.clone(), answer);
            }
        }
    }
}

/// What a case has besides its answer while it is graded.
#[derive(Clone, Copy)]
pub(super) struct CaseSurroundings<'a> {
    pub(super) scratch: &'a CaseScratch<'a>,
    pub(super) workspace: Option<&'a CaseWorkspace>,
    /// Of an earlier run.
    pub(super) kept: Option<&'a StoredWorkspace>,
    /// What judges said of the answer before the run was interrupted.
    pub(super) replies: &'a [JudgeReply],
}

impl<'a> CaseSurroundings<'a> {
    fn files(&self) -> Option<&'a dyn WorkspaceFiles> {
        let kept = self.kept.map(|kept| &kept.files as &dyn WorkspaceFiles);
        self.workspace.map(|workspace| workspace as &dyn WorkspaceFiles).or(kept)
    }
}

/// A target that gave nothing to grade.
struct FailedAsk {
    failure: AttemptFault,
    attempts: u32,
}

const EMPTY_REPLY: &str =
    "the target answered nothing and called no tool; if that is right, set `allow_empty: true`";

/// No text, no call and no changed file. An agent that was stopped on purpose may have said nothing yet.
fn is_silent(transcript: &Transcript) -> bool {
    let has_calls = transcript.calls.as_ref().is_some_and(|calls| !calls.is_empty());
    let has_changes = transcript.files.as_ref().is_some_and(|files| !files.is_empty());
    transcript.answer.trim().is_empty() && !has_calls && !has_changes && !transcript.partial
}
