//! What a report shows of a case that did not pass. Made from a row: bounded, and harmless,
//! because every text passes through `text::line` here.

use evalrig_core::model::{FaultKind, Outcome};
use serde_json::Value;

use super::check_output::{self, OutputTail};
use super::file_finding::FileFinding;
use super::passed_misses;
use crate::results::{EvaluatorResult, GradeOutcome, Row, RowError, SourcePlace};
use crate::text::{self, Excerpt, numbers};

const NAME: usize = 120;
const SENTENCE: usize = 400;
const REASONING: usize = 800;
const CHECKS: usize = 12;
const SENTENCES: usize = 8;
const QUESTION_LINES: usize = 4;
const ANSWER_LINES: usize = 8;
const ANSWER_LINE: usize = 300;
/// Deeper composites are not entered.
pub const DEPTH: usize = 16;

/// Where something is written. The order is that of reading.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    pub file: String,
    pub line: u32,
}

impl SourceLine {
    fn of(source: &SourcePlace) -> Self {
        Self { file: text::line(&source.file, SENTENCE), line: source.line }
    }

    pub fn text(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// Which case it is. The order is that in which people expect cases.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseLabel {
    pub place: SourceLine,
    pub suite: String,
    pub test: String,
    pub target: String,
    pub trial: u32,
    /// Of a test that has one beside its id.
    pub name: Option<String>,
}

impl CaseLabel {
    pub fn of(row: &Row) -> Self {
        Self {
            place: SourceLine::of(&row.source),
            suite: text::line(&row.dataset, NAME),
            test: text::line(&row.eval_id, NAME),
            target: text::line(&row.variant(), NAME),
            trial: row.trial,
            name: row.test_name.as_deref().map(|name| text::line(name, NAME)),
        }
    }

    /// `4 (low-space-audit)`: the id, and the name beside it.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} ({name})", self.test),
            None => self.test.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFault {
    pub stage: String,
    pub kind: String,
    pub message: String,
}

impl CaseFault {
    pub fn of(error: &RowError) -> Self {
        Self {
            stage: text::line(&error.stage, NAME),
            kind: text::line(&error.kind, NAME),
            message: text::line_ends(&joined(&error.message), SENTENCE),
        }
    }

    pub fn text(&self) -> String {
        if self.kind == FaultKind::NotMeasured.word() {
            // A sentence about the target or the answer; stage and kind say the same again.
            return self.message.clone();
        }
        format!("{}/{}: {}", self.stage, self.kind, self.message)
    }
}

/// Some of a list of sentences, and how many there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentenceList {
    pub shown: Vec<String>,
    pub total: usize,
}

impl SentenceList {
    fn of<'a>(all: impl Iterator<Item = &'a String>) -> Self {
        let mut found = Self::default();
        for sentence in all {
            found.total += 1;
            if found.shown.len() < SENTENCES {
                found.shown.push(text::line(sentence, SENTENCE));
            }
        }
        found
    }

    pub fn left_out(&self) -> usize {
        self.total - self.shown.len()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum CheckState {
    Scored(f64),
    Skipped,
    Errored(Option<CaseFault>),
}

/// An assertion to show: it lost points, missed a gate, or has no score.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckFinding {
    /// `outer › inner` for members of composites.
    pub name: String,
    /// Where it says more than the name.
    pub type_name: Option<String>,
    pub aggregator: Option<String>,
    pub state: CheckState,
    /// Where it is not 1.
    pub weight: Option<String>,
    pub gate: Option<GateState>,
    pub hits: SentenceList,
    pub misses: SentenceList,
    pub reasoning: Option<String>,
    /// What a `command` printed.
    pub output: Vec<OutputTail>,
    pub place: Option<SourceLine>,
}

/// A gate that was not met.
#[derive(Debug, Clone, PartialEq)]
pub enum GateState {
    /// With the number it asks for; none: the pass threshold.
    Missed(Option<f64>),
    Unchecked,
}

impl CheckFinding {
    /// What happened, without the name: `scored 0.50, weight 2, gate missed (needs 0.80)`.
    pub fn sentence(&self) -> String {
        let mut text = match &self.state {
            CheckState::Scored(score) => format!("scored {}", numbers::score(*score)),
            CheckState::Skipped => "skipped".to_owned(),
            CheckState::Errored(Some(trouble)) => {
                format!("could not be measured: {}", trouble.text())
            }
            CheckState::Errored(None) => "could not be measured".to_owned(),
        };
        match self.weight.as_deref() {
            Some("0") => text.push_str(", not counted (weight 0)"),
            Some(weight) => text.push_str(&format!(", weight {weight}")),
            None => {}
        }
        match &self.gate {
            Some(GateState::Missed(Some(needs))) => {
                text.push_str(&format!(", gate missed (needs {})", numbers::score(*needs)));
            }
            Some(GateState::Missed(None)) => text.push_str(", gate missed (must pass)"),
            Some(GateState::Unchecked) => text.push_str(", gate not checked"),
            None => {}
        }
        text
    }

    /// The first miss, or else the score.
    pub fn why(&self) -> String {
        self.first_miss().unwrap_or_else(|| self.text())
    }

    fn first_miss(&self) -> Option<String> {
        self.misses.shown.first().cloned()
    }

    /// Its name and what happened.
    pub fn text(&self) -> String {
        format!("{} {}", self.title(), self.sentence())
    }

    /// `facts › period (contains-all)`.
    pub fn title(&self) -> String {
        let kind = match (&self.type_name, &self.aggregator) {
            (Some(kind), Some(aggregator)) => format!(" ({kind}, {aggregator})"),
            (Some(kind), None) => format!(" ({kind})"),
            (None, Some(aggregator)) => format!(" ({aggregator})"),
            (None, None) => String::new(),
        };
        format!("{}{kind}", self.name)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CaseFinding {
    pub label: CaseLabel,
    pub outcome: Outcome,
    pub score: Option<f64>,
    pub pass_threshold: Option<f64>,
    pub cost_usd: Option<f64>,
    pub duration_ms: Option<u64>,
    pub attempts: u32,
    /// Whether the answer is that of an earlier run.
    pub is_cached: bool,
    pub checks: Vec<CheckFinding>,
    pub checks_left_out: usize,
    pub trouble: Option<CaseFault>,
    /// What was asked.
    pub question: Option<Excerpt>,
    pub answer: Option<Excerpt>,
    /// Of a case with a workspace.
    pub files: Option<FileFinding>,
}

impl CaseFinding {
    pub fn of(row: &Row) -> Self {
        let mut checks = CheckList::default();
        checks.gather(&row.evaluator_results, &is_worth_a_look, "", 0);
        let trouble = row.error.as_ref().map(CaseFault::of);
        let errored = || {
            checks.list.iter().find_map(|check| match &check.state {
                CheckState::Errored(trouble) => trouble.clone(),
                _ => None,
            })
        };
        let answer = row.candidate_answer.as_deref();
        Self {
            label: CaseLabel::of(row),
            outcome: row.outcome,
            score: row.score,
            pass_threshold: row.pass_threshold,
            cost_usd: row.cost_usd,
            duration_ms: row.duration_ms,
            attempts: row.attempts,
            is_cached: row.is_cached(),
            trouble: match row.outcome {
                Outcome::Errored => trouble.or_else(errored),
                _ => trouble,
            },
            checks: checks.list,
            checks_left_out: checks.left_out,
            question: row.question().map(|text| text::excerpt(&text, QUESTION_LINES, ANSWER_LINE)),
            answer: answer.map(|text| text::excerpt(text, ANSWER_LINES, ANSWER_LINE)),
            files: FileFinding::of(row),
        }
    }

    /// What stopped the case, unless one of the assertions says it.
    pub fn unexplained_fault(&self) -> Option<&CaseFault> {
        let trouble = self.trouble.as_ref()?;
        let tells = |check: &CheckFinding| matches!(&check.state, CheckState::Errored(Some(t)) if t == trouble);
        (!self.checks.iter().any(tells)).then_some(trouble)
    }

    /// The first thing that went wrong, in one line.
    pub fn first_miss(&self) -> String {
        if let (Outcome::Errored, Some(trouble)) = (self.outcome, &self.trouble) {
            return trouble.text();
        }
        let gate = self.missed_gate().map(|gate| self.why_missed(gate));
        let missed = || self.checks.iter().find_map(CheckFinding::first_miss);
        let lost = || self.checks.first().map(CheckFinding::text);
        gate.or_else(missed).or_else(lost).unwrap_or_default()
    }

    /// What failed the case whatever its score is.
    fn missed_gate(&self) -> Option<&CheckFinding> {
        self.checks.iter().find(|check| matches!(check.gate, Some(GateState::Missed(_))))
    }

    /// What the check missed, or one of its members; else its score.
    fn why_missed(&self, check: &CheckFinding) -> String {
        let inner = format!("{} › ", check.name);
        let members = self.checks.iter().filter(|member| member.name.starts_with(&inner));
        let mut told = std::iter::once(check).chain(members);
        told.find_map(CheckFinding::first_miss).unwrap_or_else(|| check.text())
    }

    /// Findings with one cause have one key. Numbers in messages (times, ports) are
    /// ignored.
    pub fn cause(&self) -> String {
        let mut key = self.outcome.word().to_owned();
        match (self.outcome, &self.trouble) {
            (Outcome::Errored, Some(trouble)) => {
                key.push_str(&without_digits(&trouble.text()));
                return key;
            }
            _ => key.push('\n'),
        }
        let mut is_told = false;
        for check in &self.checks {
            is_told |= !check.misses.shown.is_empty();
            key.push_str(&check.name);
            for miss in &check.misses.shown {
                key.push('\n');
                key.push_str(miss);
            }
        }
        if !is_told {
            key.push_str(&self.label.suite);
            key.push('\n');
            key.push_str(&self.label.test);
        }
        key
    }
}

#[derive(Default)]
struct CheckList {
    list: Vec<CheckFinding>,
    left_out: usize,
}

impl CheckList {
    fn gather(
        &mut self,
        results: &[EvaluatorResult],
        is_wanted: &dyn Fn(&EvaluatorResult) -> bool,
        outer: &str,
        depth: usize,
    ) {
        for result in results {
            let members = result.evaluator_results.as_deref().unwrap_or_default();
            let own = text::line(&result.name, NAME);
            let name = match outer {
                "" => own,
                outer => format!("{outer} › {own}"),
            };
            if is_wanted(result) {
                if self.list.len() < CHECKS {
                    self.list.push(check(result, members, name.clone()))
                } else {
                    self.left_out += 1
                }
            }
            if depth < DEPTH {
                self.gather(members, is_wanted, &name, depth + 1);
            }
        }
    }
}

/// The first checks that were missed, also of a case that passed.
pub fn missed_checks(row: &Row) -> Vec<CheckFinding> {
    let threshold = passed_misses::threshold(row);
    let is_missed = |result: &EvaluatorResult| passed_misses::is_missed(result, threshold);
    let mut checks = CheckList::default();
    checks.gather(&row.evaluator_results, &is_missed, "", 0);
    checks.list
}

fn is_worth_a_look(result: &EvaluatorResult) -> bool {
    let lost = result.score.is_some_and(|score| score < 1.0 - 1e-9);
    let gate = matches!(result.gate.as_deref(), Some("missed" | "unchecked"));
    lost || gate || result.outcome != GradeOutcome::Graded || !result.misses.is_empty()
}

fn check(result: &EvaluatorResult, members: &[EvaluatorResult], name: String) -> CheckFinding {
    let of_a_member = |sentence: &&String| {
        let has = |member: &EvaluatorResult| {
            member.hits.contains(sentence) || member.misses.contains(sentence)
        };
        !members.iter().any(has)
    };
    let reasoning = result.reasoning.as_deref().map(str::trim);
    CheckFinding {
        type_name: (result.type_name != result.name).then(|| text::line(&result.type_name, NAME)),
        aggregator: result.aggregator.as_deref().map(|text| text::line(text, NAME)),
        state: match (result.outcome, result.score) {
            (GradeOutcome::Graded, Some(score)) => CheckState::Scored(score),
            (GradeOutcome::Errored, _) => {
                CheckState::Errored(result.error.as_ref().map(CaseFault::of))
            }
            _ => CheckState::Skipped,
        },
        weight: (result.weight.as_f64() != Some(1.0)).then(|| weight_text(result)),
        gate: gate(result, members),
        hits: SentenceList::of(result.hits.iter().filter(of_a_member)),
        misses: misses(result, &of_a_member),
        reasoning: reasoning
            .filter(|text| !text.is_empty())
            .map(|text| text::line(&joined(text), REASONING)),
        output: check_output::tails(result),
        place: result.source.as_ref().map(SourceLine::of),
        name,
    }
}

/// Of a negated check, what is true and must not be.
fn misses(result: &EvaluatorResult, is_own: &impl Fn(&&String) -> bool) -> SentenceList {
    let own = result.misses.iter().filter(is_own);
    if result.sentence.as_deref().is_some_and(|sentence| sentence.starts_with("NOT: ")) {
        let negated: Vec<String> = own.map(|miss| format!("must not be true: {miss}")).collect();
        return SentenceList::of(negated.iter());
    }
    SentenceList::of(own)
}

/// A composite inherits the gates of its members, which speak for themselves.
fn gate(result: &EvaluatorResult, members: &[EvaluatorResult]) -> Option<GateState> {
    let gate = result.gate.as_deref()?;
    let is_own = result.required != Value::Bool(false);
    let has = |member: &EvaluatorResult| member.gate.as_deref() == Some(gate);
    if !is_own && members.iter().any(has) {
        return None;
    }
    match gate {
        "missed" => Some(GateState::Missed(match &result.required {
            Value::Number(needs) => needs.as_f64(),
            _ => None,
        })),
        "unchecked" => Some(GateState::Unchecked),
        _ => None,
    }
}

fn weight_text(result: &EvaluatorResult) -> String {
    match result.weight.as_f64() {
        Some(0.0) => "0".to_owned(),
        _ => result.weight.to_string(),
    }
}

fn without_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

/// Joins lines with a visible separator: judges and scripts often write several.
fn joined(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn finding(test: &str) -> CaseFinding {
        let rows = fixture::rows();
        CaseFinding::of(rows.iter().find(|row| row.eval_id == test).unwrap())
    }

    #[test]
    fn members_are_named_after_their_composite_and_say_their_own_misses() {
        let found = finding("refund-policy");
        let told: Vec<_> = found.checks.iter().map(|c| (c.title(), c.misses.total)).collect();
        assert_eq!(
            told,
            [
                ("facts (composite, minimum)".to_owned(), 0),
                ("facts › period (contains-all)".to_owned(), 1),
                ("tone (rubrics)".to_owned(), 1),
            ]
        );
        assert_eq!(found.checks[1].sentence(), "scored 0.50, weight 2, gate missed (needs 0.80)");
    }

    #[test]
    fn misses_of_negated_checks_say_what_must_not_be() {
        let mut row = fixture::missing("a", "Output contains 'DENIED'");
        let sentence = |text: &str| Some(text.to_owned());
        row.evaluator_results[0].sentence = sentence("NOT: Output contains 'DENIED'");
        assert_eq!(
            CaseFinding::of(&row).first_miss(),
            "must not be true: Output contains 'DENIED'"
        );
        row.evaluator_results[0].sentence = sentence("Output contains 'DENIED'");
        assert_eq!(CaseFinding::of(&row).first_miss(), "Output contains 'DENIED'");
    }

    #[test]
    fn numbers_in_messages_make_no_new_cause() {
        let cause = |message: &str| {
            let mut row = fixture::row("a", Outcome::Errored, None);
            row.error = Some(fixture::fault("target", "timeout", message));
            CaseFinding::of(&row).cause()
        };
        assert_eq!(cause("no answer after 1003 ms"), cause("no answer after 87 ms"));
        assert_ne!(cause("no answer after 1 ms"), cause("no reply after 1 ms"));
    }

    #[test]
    fn a_missed_gate_goes_before_other_misses() {
        let mut row = fixture::missing("a", "Output contains 'x'");
        let mut gate = fixture::graded("hidden", "command", 0.0);
        gate.gate = Some("missed".to_owned());
        gate.required = Value::Bool(true);
        row.evaluator_results.push(gate);
        let why = |row: &Row| CaseFinding::of(row).first_miss();
        assert_eq!(why(&row), "hidden (command) scored 0.00, gate missed (must pass)");
        row.evaluator_results[1].misses = vec!["Command ended with exit status 1: t".to_owned()];
        assert_eq!(why(&row), "Command ended with exit status 1: t");
    }

    #[test]
    fn the_end_of_a_long_message_is_kept() {
        let mut row = fixture::row("a", Outcome::Errored, None);
        let trace = "  File \"a.py\", line 1\n".repeat(100);
        let message = format!("exit status 1: Traceback\n{trace}ValueError: no such column");
        row.error = Some(fixture::fault("target", "exit", &message));
        let why = CaseFinding::of(&row).first_miss();
        assert!(why.starts_with("target/exit: exit status 1: Traceback"), "{why}");
        assert!(why.ends_with(" · ValueError: no such column"), "{why}");
    }

    #[test]
    fn a_failure_without_misses_is_its_own_cause() {
        let cause =
            |test: &str| CaseFinding::of(&fixture::row(test, Outcome::Failed, Some(0.1))).cause();
        assert_ne!(cause("a"), cause("b"));
        assert_eq!(cause("a"), cause("a"));
    }

    #[test]
    fn composites_of_any_depth_are_bounded() {
        let mut result = fixture::graded("leaf", "contains", 0.0);
        for _ in 0..40 {
            let mut outer = fixture::graded("c", "composite", 0.0);
            outer.evaluator_results = Some(vec![result]);
            result = outer;
        }
        let mut row = fixture::row("deep", Outcome::Failed, Some(0.0));
        row.evaluator_results = vec![result];
        let found = CaseFinding::of(&row);
        assert_eq!(found.checks.len(), CHECKS);
        assert_eq!(found.checks_left_out, DEPTH + 1 - CHECKS);
    }
}
