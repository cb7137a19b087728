//! One run of skill-creator as a row. Its files are written by agents, so nothing about them is certain:
//! what is missing stays unknown, and a file that cannot be read makes the case errored.

use camino::Utf8Path;
use evalrig_core::digest::hex;
use evalrig_core::model::{Outcome, Score, Verdict, Verdicts};
use serde_json::{Map, Number, Value, json};
use sha2::{Digest, Sha256};

use crate::results::{
    AgentFacts, EvaluatorResult, GradeOutcome, Row, RowError, SCHEMA_VERSION, SourcePlace, Trace,
    WITH, WorkspaceChanges,
};

use super::configuration::{AGENT, arm_of};

/// What the files of a run say.
#[derive(Debug, Default)]
pub(super) struct RunDocuments {
    /// `grading.json`: absent, or why it cannot be read.
    pub(super) grading: Option<Result<Value, String>>,
    pub(super) timing: Value,
    pub(super) prompt: Option<String>,
    pub(super) answer: Option<String>,
    /// Names of the files in `outputs/`.
    pub(super) outputs: Vec<String>,
}

/// What is known of a run from elsewhere.
#[derive(Debug)]
pub(super) struct RunIdentity {
    pub(super) dataset: String,
    pub(super) eval_id: String,
    pub(super) eval_name: Option<String>,
    pub(super) configuration: String,
    pub(super) number: u32,
    pub(super) model: Option<String>,
    pub(super) timestamp: String,
    /// The file that says most about it.
    pub(super) file: String,
    pub(super) run: String,
}

/// An expectation and what the grader says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GradedText {
    text: String,
    passed: Option<bool>,
    evidence: Option<String>,
}

pub(super) fn row_of(identity: RunIdentity, documents: &RunDocuments) -> Row {
    let mut row = blank_row(identity);
    row.candidate_answer.clone_from(&documents.answer);
    if let Some(prompt) = &documents.prompt {
        row.input = Some(vec![json!({"role": "user", "content": prompt})]);
    }
    if !documents.outputs.is_empty() {
        let created = documents.outputs.clone();
        row.workspace = Some(WorkspaceChanges { created, ..WorkspaceChanges::default() });
    }
    let none = Value::Null;
    let grading = match &documents.grading {
        Some(Ok(grading)) => grading,
        Some(Err(reason)) => {
            row.outcome = Outcome::Errored;
            row.error = Some(error("judge", "reply", reason.clone()));
            &none
        }
        None => {
            let message = "the run was not graded: it has no grading.json".to_owned();
            row.error = Some(error("skip", "not-judged", message));
            &none
        }
    };
    measure(&mut row, grading, &documents.timing);
    let texts = graded_texts(grading);
    row.test_hash = test_hash(documents.prompt.as_deref(), &texts);
    if row.error.is_none() {
        grade(&mut row, grading, &texts);
    }
    row
}

fn blank_row(identity: RunIdentity) -> Row {
    let arm = arm_of(&identity.configuration).map(str::to_owned);
    // Who ran it is not written down.
    let target = if arm.is_some() { AGENT.to_owned() } else { identity.configuration };
    let baseline_arm = arm.as_deref().is_some_and(|arm| arm != WITH);
    Row {
        schema_version: SCHEMA_VERSION,
        timestamp: identity.timestamp,
        eval_id: identity.eval_id,
        dataset: identity.dataset,
        conversation_id: None,
        score: None,
        verdict: None,
        pass_threshold: None,
        outcome: Outcome::Skipped,
        hits: Vec::new(),
        misses: Vec::new(),
        candidate_answer: None,
        target,
        arm,
        baseline_arm,
        trial: identity.number,
        attempts: 1,
        duration_ms: None,
        cost_usd: None,
        tokens: None,
        trace_summary: Trace::default(),
        evaluator_results: Vec::new(),
        judge_usage: None,
        error: None,
        test_hash: String::new(),
        source: SourcePlace { file: identity.file, line: 1 },
        record: None,
        test_name: identity.eval_name,
        tags: Vec::new(),
        group: None,
        input: None,
        criteria: None,
        expected_output: None,
        agent: identity
            .model
            .map(|model| AgentFacts { model: Some(model), ..AgentFacts::default() }),
        cached: None,
        reused: false,
        setup: None,
        partial: false,
        pass_trials: None,
        skills: None,
        workspace: None,
        run: Some(identity.run),
        plan: None,
        worker: None,
        evalrig: None,
        git: None,
        command: None,
        output_messages: None,
    }
}

fn error(stage: &str, kind: &str, message: String) -> RowError {
    RowError { stage: stage.to_owned(), kind: kind.to_owned(), message }
}

/// Times, tokens and calls. Only the sum of tokens is known, so it is in the summary of the trace alone.
fn measure(row: &mut Row, grading: &Value, timing: &Value) {
    let own = &grading["timing"];
    let seconds = |value: &Value, key: &str| {
        let seconds = value[key].as_f64().filter(|seconds| *seconds > 0.0 && *seconds < 1e9)?;
        Some((seconds * 1000.0).round() as u64)
    };
    row.duration_ms = positive(&timing["duration_ms"])
        .or_else(|| seconds(timing, "executor_duration_seconds"))
        .or_else(|| seconds(timing, "total_duration_seconds"))
        .or_else(|| seconds(own, "executor_duration_seconds"))
        .or_else(|| seconds(own, "total_duration_seconds"));
    let metrics = &grading["execution_metrics"];
    let counted = metrics["tool_calls"].as_object().map(sum_of_counts);
    row.trace_summary = Trace {
        tool_call_count: metrics["total_tool_calls"].as_u64().or(counted.flatten()),
        total_tokens: positive(&timing["total_tokens"]),
        duration_ms: row.duration_ms,
        ..Trace::default()
    };
}

/// `None` if one of them is not a number.
fn sum_of_counts(counts: &Map<String, Value>) -> Option<u64> {
    counts.values().map(Value::as_u64).sum()
}

/// Its scripts write 0 for what they do not know.
fn positive(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| *number >= 0.0 && *number < 1e15)?;
        Some(number.round() as u64)
    });
    number.filter(|number| *number > 0)
}

/// `expectations` of skill-creator, `assertion_results` of agentskills, with the spellings of keys that
/// graders use.
fn graded_texts(grading: &Value) -> Vec<GradedText> {
    let lists = ["expectations", "assertion_results", "assertions"];
    let list = lists.iter().find_map(|key| grading[*key].as_array());
    list.into_iter()
        .flatten()
        .filter_map(|item| {
            let text = |keys: &[&str]| {
                let found = keys.iter().find_map(|key| item[*key].as_str())?;
                Some(found.to_owned())
            };
            let passed = ["passed", "met", "pass"].iter().find_map(|key| item[*key].as_bool());
            Some(GradedText {
                text: text(&["text", "assertion", "expectation", "name"])?,
                passed,
                evidence: text(&["evidence", "details", "reason"]),
            })
        })
        .collect()
}

fn grade(row: &mut Row, grading: &Value, texts: &[GradedText]) {
    row.evaluator_results = texts.iter().enumerate().map(|(at, text)| result(at, text)).collect();
    let said = |passed: bool| {
        let texts = texts.iter().filter(move |one| one.passed == Some(passed));
        texts.map(|one| one.text.clone()).collect::<Vec<String>>()
    };
    (row.hits, row.misses) = (said(true), said(false));
    let graded = row.hits.len() + row.misses.len();
    let share = match graded {
        0 => grading["summary"]["pass_rate"].as_f64(),
        _ => Some(row.hits.len() as f64 / graded as f64),
    };
    let Some(score) = share.and_then(Score::new) else {
        let message = "the run was not graded: grading.json has no results".to_owned();
        row.error = Some(error("skip", "not-judged", message));
        return;
    };
    let thresholds = Verdicts::default();
    let (verdict, outcome) = if score.reaches(thresholds.pass()) {
        (Verdict::Pass, Outcome::Passed)
    } else if score.reaches(thresholds.borderline()) {
        (Verdict::Borderline, Outcome::Borderline)
    } else {
        (Verdict::Fail, Outcome::Failed)
    };
    row.score = Some(score.rounded());
    row.pass_threshold = Some(thresholds.pass());
    (row.verdict, row.outcome) = (Some(verdict), outcome);
}

fn result(at: usize, text: &GradedText) -> EvaluatorResult {
    let said = |wanted: bool| {
        if text.passed == Some(wanted) { vec![text.text.clone()] } else { Vec::new() }
    };
    EvaluatorResult {
        name: format!("expectation-{}", at + 1),
        type_name: "rubrics".to_owned(),
        score: text.passed.map(|passed| f64::from(u8::from(passed))),
        weight: Number::from(1),
        required: Value::Bool(false),
        outcome: match text.passed {
            Some(_) => GradeOutcome::Graded,
            None => GradeOutcome::Skipped,
        },
        // After a `NOT:` of ours, reports expect hits and misses without it.
        sentence: Some(text.text.clone()).filter(|text| !text.starts_with("NOT: ")),
        gate: None,
        hits: said(true),
        misses: said(false),
        reasoning: text.evidence.clone(),
        details: None,
        error: None,
        duration_ms: None,
        evaluator_results: None,
        aggregator: None,
        source: None,
    }
}

/// Changes with the prompt and the expectations, so that `compare` notices.
fn test_hash(prompt: Option<&str>, texts: &[GradedText]) -> String {
    let mut hash = Sha256::new();
    let mut texts: Vec<&str> = texts.iter().map(|one| one.text.as_str()).collect();
    texts.sort_unstable();
    for text in std::iter::once(prompt.unwrap_or_default()).chain(texts) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hex(&hash.finalize()[..8])
}

/// One run of a `benchmark.json`.
pub(super) fn benchmark_documents(run: &Value) -> RunDocuments {
    let result = &run["result"];
    let grading = json!({
        "expectations": run["expectations"],
        "summary": {"pass_rate": result["pass_rate"]},
        "execution_metrics": {"total_tool_calls": result["tool_calls"]},
    });
    let timing = json!({
        "total_tokens": result["tokens"],
        "total_duration_seconds": result["time_seconds"],
    });
    RunDocuments { grading: Some(Ok(grading)), timing, ..RunDocuments::default() }
}

/// The path of a file as rows show it.
pub(super) fn shown_path(path: &Utf8Path, root: &Utf8Path) -> String {
    path.strip_prefix(root).unwrap_or(path).as_str().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> RunIdentity {
        RunIdentity {
            dataset: "csv".to_owned(),
            eval_id: "1".to_owned(),
            eval_name: Some("top-months".to_owned()),
            configuration: "with_skill".to_owned(),
            number: 2,
            model: None,
            timestamp: "2026-01-02T03:04:05Z".to_owned(),
            file: "iteration-1/eval-1/with_skill/run-2/grading.json".to_owned(),
            run: "r".to_owned(),
        }
    }

    fn read(grading: Value, timing: Value) -> Row {
        let grading = Some(Ok(grading));
        row_of(identity(), &RunDocuments { grading, timing, ..RunDocuments::default() })
    }

    #[test]
    fn expectations_become_checks_with_their_evidence() {
        let row = read(
            json!({"expectations": [
                {"text": "Has axes", "passed": true, "evidence": "Both"},
                {"text": "Has a title", "passed": false, "evidence": "None"},
                {"text": "Is pretty", "passed": "maybe"},
            ], "execution_metrics": {"tool_calls": {"Read": 2, "Bash": 3}}}),
            json!({"total_tokens": 84852, "duration_ms": 23332}),
        );
        assert_eq!((row.score, row.outcome), (Some(0.5), Outcome::Failed));
        assert_eq!((row.hits, row.misses), (vec!["Has axes".into()], vec!["Has a title".into()]));
        assert_eq!(row.duration_ms, Some(23332));
        assert_eq!(row.trace_summary.total_tokens, Some(84852));
        assert_eq!((row.tokens, row.trace_summary.tool_call_count), (None, Some(5)));
        let outcomes: Vec<GradeOutcome> =
            row.evaluator_results.iter().map(|one| one.outcome).collect();
        use GradeOutcome::{Graded, Skipped};
        assert_eq!(outcomes, [Graded, Graded, Skipped]);
        assert_eq!(row.evaluator_results[1].reasoning.as_deref(), Some("None"));
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        let row = read(
            json!({"assertion_results": [{"text": "a", "passed": true}],
                   "timing": {"total_duration_seconds": 1.5}}),
            json!({"total_tokens": 0, "duration_ms": 0}),
        );
        assert_eq!((row.score, row.outcome), (Some(1.0), Outcome::Passed));
        assert_eq!((row.duration_ms, row.trace_summary.total_tokens), (Some(1500), None));
        assert_eq!(row.candidate_answer, None);
        let row = read(json!({"summary": {"pass_rate": 0.67}}), Value::Null);
        assert_eq!((row.score, row.outcome), (Some(0.67), Outcome::Borderline));
        assert_eq!(row.duration_ms, None);
    }

    #[test]
    fn a_run_without_grades_has_no_verdict() {
        let row = row_of(identity(), &RunDocuments::default());
        assert_eq!((row.outcome, row.verdict), (Outcome::Skipped, None));
        assert_eq!(row.error.unwrap().kind, "not-judged");
        let broken =
            RunDocuments { grading: Some(Err("bad JSON".to_owned())), ..RunDocuments::default() };
        let row = row_of(identity(), &broken);
        assert_eq!(row.outcome, Outcome::Errored);
        assert_eq!(row.error.unwrap().message, "bad JSON");
        let row = read(json!({"summary": {"pass_rate": "67 %"}}), Value::Null);
        assert_eq!((row.score, row.outcome), (None, Outcome::Skipped));
        let row = read(json!([1, 2]), json!("text"));
        assert_eq!(row.outcome, Outcome::Skipped);
    }

    #[test]
    fn the_hash_follows_the_expectations_and_not_the_grades() {
        let hash = |list: Value| read(json!({"expectations": list}), Value::Null).test_hash;
        let one = hash(json!([{"text": "a", "passed": true}, {"text": "b", "passed": true}]));
        let other = hash(json!([{"text": "b", "passed": false}, {"text": "a", "passed": true}]));
        assert_eq!(one, other);
        assert_ne!(one, hash(json!([{"text": "a", "passed": true}])));
        assert_eq!(one.len(), 16);
    }
}
