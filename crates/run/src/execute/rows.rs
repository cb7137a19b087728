//! Builds the row of a case from its transcript, grades or fault.

use std::collections::HashSet;
use std::time::SystemTime;

use evalrig_core::model::{
    AssertionGrade, Fault, Grade, Outcome, Score, SkillEvents, Test, Transcript, Verdict,
};
use evalrig_core::score::score_case;
use evalrig_core::source::Span;

use crate::json::{map_to_json, number_to_json, to_json};
use crate::results::transcript_json::{expected_output, input_messages, output_messages};
use crate::results::{
    AgentFacts, EvaluatorResult, GradeOutcome, JudgeUsage, Row, RowError, RowSkills,
    SCHEMA_VERSION, SourcePlace, TokenCounts, Trace, WorkspaceChanges, rfc3339,
};

use super::job::SuiteJob;
use super::target_variant::TargetVariant;

/// The case that a row is built for.
#[derive(Clone, Copy)]
pub(super) struct RowMaker<'a> {
    pub(super) job: &'a SuiteJob,
    pub(super) test: &'a Test,
    /// Index in the suite.
    pub(super) test_index: usize,
    /// The target, with its arm.
    pub(super) target: &'a str,
    pub(super) trial: u32,
    pub(super) messages: bool,
}

impl RowMaker<'_> {
    /// The test has `skip`.
    pub(super) fn skipped(&self, reason: Option<&str>) -> Row {
        Row {
            error: Some(ungraded("skip", reason.unwrap_or("skipped by its author"))),
            ..self.row(Outcome::Skipped)
        }
    }

    /// The target did not answer. `so_far` is what it did before it was stopped.
    pub(super) fn failed(&self, fault: &Fault, attempts: u32, so_far: Option<&Transcript>) -> Row {
        let row = match so_far {
            Some(transcript) => self.reported(transcript, Outcome::Errored),
            // Without an attempt there was no agent.
            None if attempts == 0 => self.row(Outcome::Errored),
            None => Row { agent: self.agent(None), ..self.row(Outcome::Errored) },
        };
        // What was said before the end is not an answer.
        Row { attempts, candidate_answer: None, error: Some(row_error(fault)), ..row }
    }

    /// As [`Self::failed`], for a test that fails if its time is up.
    pub(super) fn timed_out(
        &self,
        fault: &Fault,
        attempts: u32,
        so_far: Option<&Transcript>,
    ) -> Row {
        Row {
            outcome: Outcome::Failed,
            verdict: Some(Verdict::Fail),
            score: Some(0.0),
            pass_threshold: Some(self.job.thresholds.pass),
            misses: vec![format!("Timed out: {}", fault.message)],
            ..self.failed(fault, attempts, so_far)
        }
    }

    /// What is known of a transcript before it is graded.
    fn reported(&self, transcript: &Transcript, outcome: Outcome) -> Row {
        Row {
            candidate_answer: Some(transcript.answer.clone()),
            duration_ms: transcript.duration_ms,
            cost_usd: transcript.cost_usd,
            tokens: TokenCounts::of(transcript),
            trace_summary: trace(transcript),
            skills: self.skills(Some(&transcript.skills)),
            partial: transcript.partial,
            output_messages: self.kept_messages(transcript),
            agent: self.agent(Some(transcript)),
            workspace: transcript.files.as_ref().map(WorkspaceChanges::from),
            ..self.row(outcome)
        }
    }

    /// The target answered. `grades` is empty when there is nothing to grade.
    pub(super) fn graded(
        &self,
        transcript: &Transcript,
        attempts: u32,
        grades: &[AssertionGrade],
        judge_usage: Option<JudgeUsage>,
    ) -> Row {
        let mut row = Row {
            attempts,
            judge_usage,
            evaluator_results: grades.iter().map(|grade| self.result(grade)).collect(),
            ..self.reported(transcript, Outcome::Skipped)
        };
        if grades.is_empty() {
            row.error = Some(ungraded("nothing-to-grade", "nothing to grade"));
            return row;
        }
        let scored = score_case(grades, self.job.thresholds);
        row.outcome = scored.outcome;
        row.score = scored.score.map(Score::rounded);
        row.verdict = scored.verdict;
        row.pass_threshold = Some(self.job.thresholds.pass);
        row.error = match (&scored.fault, scored.outcome) {
            (Some(fault), _) => Some(row_error(fault)),
            (None, Outcome::Skipped) => Some(ungraded("not-judged", "not judged")),
            _ => None,
        };
        (row.hits, row.misses) = hits_and_misses(grades);
        row
    }

    fn row(&self, outcome: Outcome) -> Row {
        let variant = self.job.variant(self.target);
        Row {
            schema_version: SCHEMA_VERSION,
            timestamp: rfc3339(SystemTime::now()),
            eval_id: self.test.id.to_string(),
            dataset: self.job.suite.name.clone(),
            conversation_id: self.test.conversation_id.clone(),
            score: None,
            verdict: None,
            pass_threshold: None,
            outcome,
            hits: Vec::new(),
            misses: Vec::new(),
            candidate_answer: None,
            target: variant.map_or(self.target, |variant| &variant.target).to_owned(),
            arm: variant.and_then(|variant| variant.arm.clone()),
            baseline_arm: variant.is_some_and(|variant| variant.is_baseline),
            trial: self.trial,
            attempts: 0,
            duration_ms: None,
            cost_usd: None,
            tokens: None,
            trace_summary: Trace::default(),
            skills: self.skills(None),
            partial: false,
            pass_trials: self.test.pass_share().map(Into::into),
            evaluator_results: Vec::new(),
            judge_usage: None,
            error: None,
            test_hash: self.job.hash(self.test_index).to_owned(),
            source: self.place(self.test.span),
            record: None,
            test_name: self.test.name.clone(),
            tags: self.test.tags().map(str::to_owned).collect(),
            group: self.test.group().map(str::to_owned),
            input: Some(input_messages(&self.test.input)),
            criteria: self.test.criteria.clone(),
            expected_output: self.test.expected_output.as_ref().map(expected_output),
            cached: None,
            reused: false,
            setup: None,
            agent: None,
            workspace: None,
            run: None,
            plan: None,
            worker: None,
            evalrig: None,
            git: None,
            command: None,
            output_messages: None,
        }
    }

    fn skills(&self, events: Option<&SkillEvents>) -> Option<RowSkills> {
        // Agents that are no programs are given none, whatever the suite says.
        let is_program = self.job.target(self.target).is_some_and(|target| target.is_process());
        let variant = self.job.variant(self.target).filter(|_| is_program);
        let given = variant.and_then(TargetVariant::skill_names);
        RowSkills::of_case(events, given, &self.test.skill_wishes())
    }

    /// Without calls, the answer often is everything.
    fn kept_messages(&self, transcript: &Transcript) -> Option<Vec<serde_json::Value>> {
        let is_kept = self.messages && !transcript.is_answer_only();
        is_kept.then(|| output_messages(transcript))
    }

    /// Without a transcript, what is known of the target.
    fn agent(&self, transcript: Option<&Transcript>) -> Option<AgentFacts> {
        let target = self.job.target(self.target)?;
        let session = transcript.map(|transcript| transcript.session.clone()).unwrap_or_default();
        let facts = AgentFacts {
            provider: target.provider.map(str::to_owned),
            model: transcript.and_then(|transcript| transcript.model.clone()),
            version: session.version,
            session_id: session.id,
            stop_reason: session.stop_reason,
            sandbox: target.sandbox_name().map(str::to_owned).or(session.sandbox),
            permission_denials: session.permission_denials,
            unknown_events: session.unknown_events,
        };
        (facts != AgentFacts::default()).then_some(facts)
    }

    fn place(&self, span: Span) -> SourcePlace {
        let sources = &self.job.sources;
        let path = sources.get(span.source).path();
        let shown = path.strip_prefix(&self.job.root).unwrap_or(path);
        SourcePlace { file: shown.as_str().replace('\\', "/"), line: sources.line(span) }
    }

    fn result(&self, grade: &AssertionGrade) -> EvaluatorResult {
        let mut result = EvaluatorResult {
            name: grade.name.clone(),
            type_name: grade.type_name.clone(),
            score: None,
            weight: number_to_json(&grade.weight),
            required: to_json(&grade.required.to_value()),
            outcome: GradeOutcome::Graded,
            sentence: (!grade.sentence.is_empty()).then(|| grade.sentence.clone()),
            gate: grade.gate.map(|gate| gate.word().to_owned()),
            hits: Vec::new(),
            misses: Vec::new(),
            reasoning: None,
            details: None,
            error: None,
            duration_ms: None,
            evaluator_results: None,
            aggregator: grade.aggregator.map(str::to_owned),
            source: Some(self.place(grade.span)),
        };
        if !grade.members.is_empty() {
            let members = grade.members.iter().map(|member| self.result(member));
            result.evaluator_results = Some(members.collect());
        }
        match &grade.grade {
            Grade::Graded(marks) => {
                result.score = Some(marks.score.rounded());
                result.hits.clone_from(&marks.hits);
                result.misses.clone_from(&marks.misses);
                result.reasoning.clone_from(&marks.reasoning);
                result.details = marks.details.as_ref().map(map_to_json);
            }
            Grade::Skipped(reason) => {
                result.outcome = GradeOutcome::Skipped;
                result.reasoning = Some(reason.clone());
            }
            Grade::Errored(fault) => {
                result.outcome = GradeOutcome::Errored;
                result.error = Some(row_error(fault));
            }
        }
        result
    }
}

/// Why a case without a fault has no verdict.
fn ungraded(kind: &str, message: &str) -> RowError {
    RowError { stage: "skip".to_owned(), kind: kind.to_owned(), message: message.to_owned() }
}

fn row_error(fault: &Fault) -> RowError {
    RowError {
        stage: fault.stage.word().to_owned(),
        kind: fault.kind.word().to_owned(),
        message: fault.message.clone(),
    }
}

/// Of all grades in order, without exact duplicates: a composite repeats those of its members.
fn hits_and_misses(grades: &[AssertionGrade]) -> (Vec<String>, Vec<String>) {
    let graded = grades.iter().filter_map(|grade| match &grade.grade {
        Grade::Graded(marks) => Some(marks),
        Grade::Skipped(_) | Grade::Errored(_) => None,
    });
    let hits = graded.clone().flat_map(|marks| &marks.hits);
    let misses = graded.flat_map(|marks| &marks.misses);
    (distinct(hits), distinct(misses))
}

fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(*text)).cloned().collect()
}

fn trace(transcript: &Transcript) -> Trace {
    let calls = transcript.calls.as_deref();
    let tokens = transcript.tokens;
    let parts = tokens.filter(|_| !transcript.is_token_sum);
    let answered = u64::from(!transcript.answer.is_empty());
    Trace {
        event_count: calls.map(|calls| calls.len() as u64 + answered),
        tool_names: calls.map(|calls| calls.iter().map(|call| call.tool.clone()).collect()),
        tool_call_count: calls.map(|calls| calls.len() as u64),
        llm_call_count: transcript.session.llm_calls,
        input_tokens: parts.map(|tokens| tokens.input),
        output_tokens: parts.map(|tokens| tokens.output),
        total_tokens: tokens.map(|tokens| tokens.total()),
        cost_usd: transcript.cost_usd,
        duration_ms: transcript.duration_ms,
    }
}
