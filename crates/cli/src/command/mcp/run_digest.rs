//! The rows of a run as a small answer: counts, and the tests that did not pass, with reasons.

use std::collections::HashMap;

use evalrig_core::model::Outcome;
use evalrig_run::agent::OwnCommandEnd;
use evalrig_run::results::{EvaluatorResult, GradeOutcome, OutcomeCounts, Row};
use evalrig_run::text;

use super::answer::{BoundedText, counted};
use super::call::refusal;

/// Details are kept of so many tests, however many fail.
const MOST_KEPT: usize = 500;

/// Characters of question and answer, and of the answer of a test that was asked for.
const EXCERPT: usize = 300;
const LONG_EXCERPT: usize = 4_000;

/// Reasons of one test.
const MOST_REASONS: usize = 6;

/// Lines of warnings.
const MOST_WARNINGS: usize = 5;

/// Collects rows.
#[derive(Debug)]
pub struct RunDigest {
    counts: OutcomeCounts,
    /// By suite, test and variant.
    tests: HashMap<(String, String, String), TestDigest>,
    kept: usize,
    unreadable: u64,
    /// Only this test is shown.
    test: Option<String>,
    limit: usize,
}

/// The trials of one test.
#[derive(Debug, Default)]
struct TestDigest {
    trials: u64,
    passed: u64,
    /// Of the first trial that did not pass, or of the only test that is shown.
    case: Option<CaseDigest>,
}

#[derive(Debug)]
struct CaseDigest {
    place: (String, u32),
    trial: u32,
    lines: Vec<String>,
}

impl RunDigest {
    /// With a test, passed trials of it are shown too.
    pub fn new(test: Option<String>, limit: usize) -> Self {
        let counts = OutcomeCounts::default();
        Self { counts, tests: HashMap::new(), kept: 0, unreadable: 0, test, limit }
    }

    /// Adds a line of the report `jsonl`.
    pub fn add(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Row>(line) {
            Ok(row) => self.add_row(&row),
            // The last line of results that lack rows is not a row.
            Err(_) => self.unreadable += 1,
        }
    }

    fn add_row(&mut self, row: &Row) {
        if self.test.as_ref().is_some_and(|wanted| *wanted != row.eval_id) {
            return;
        }
        self.counts.add(row.outcome);
        let key = (row.dataset.clone(), row.eval_id.clone(), row.variant().into_owned());
        let test = self.tests.entry(key).or_default();
        let is_fine = matches!(row.outcome, Outcome::Passed | Outcome::Skipped);
        test.trials += 1;
        test.passed += u64::from(is_fine);
        let is_wanted = !is_fine || self.test.is_some();
        // Trials finish in any order; the first one is shown.
        let is_first = test.case.as_ref().is_none_or(|case| row.trial < case.trial);
        if is_wanted && is_first && (test.case.is_some() || self.kept < MOST_KEPT) {
            self.kept += usize::from(test.case.is_none());
            test.case = Some(CaseDigest::of(row, self.test.is_some()));
        }
    }

    /// The answer, unless the command could not start.
    pub fn into_answer(self, end: &OwnCommandEnd) -> Result<String, String> {
        if self.counts.total() == 0 {
            return Err(match (&self.test, end.errors.trim()) {
                (Some(test), "") => format!("the run has no test `{test}`"),
                _ => refusal(end),
            });
        }
        let mut answer = BoundedText::default();
        answer.push("", &self.headline(end));
        let mut shown: Vec<_> = self
            .tests
            .into_iter()
            .filter_map(|((_, id, variant), test)| {
                Some((test.case?, id, variant, test.trials, test.passed))
            })
            .collect();
        shown.sort_by(|a, b| (&a.0.place, &a.1, &a.2).cmp(&(&b.0.place, &b.1, &b.2)));
        let failed = shown.len();
        let mut count = 0;
        for (case, id, variant, trials, passed) in shown.into_iter().take(self.limit) {
            let trials = if trials > 1 {
                format!(" ({passed} of {trials} trials passed; this is trial {})", case.trial)
            } else {
                String::new()
            };
            let place = format!("{}:{}", case.place.0, case.place.1);
            let head = text::line(&format!("{place} {id} on `{variant}`{trials}"), EXCERPT);
            let mut lines = vec![String::new(), head];
            lines.extend(case.lines);
            if !answer.push_whole(&lines) {
                break;
            }
            count += 1;
        }
        if count < failed {
            let more = counted((failed - count) as u64, "more test");
            answer.close(&format!("… {more}; `failures` with `test` shows one"));
        }
        for warning in end.errors.lines().filter(|line| !line.is_empty()).take(MOST_WARNINGS) {
            answer.close(warning);
        }
        Ok(answer.into_text())
    }

    fn headline(&self, end: &OwnCommandEnd) -> String {
        let of = |outcome| self.counts.of(outcome);
        let total = counted(self.counts.total(), "case");
        let mut parts = vec![format!("{} of {total} passed", of(Outcome::Passed))];
        let others = [
            (of(Outcome::Failed), "failed"),
            (of(Outcome::Borderline), "borderline"),
            (of(Outcome::Errored), "could not be measured"),
            (of(Outcome::Skipped), "skipped"),
        ];
        parts.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
        if self.unreadable > 0 {
            parts.push("the results are incomplete".to_owned());
        }
        let code =
            end.code.map_or("ended by a signal".to_owned(), |code| format!("exit code {code}"));
        format!("{} ({code})", parts.join(", "))
    }
}

impl CaseDigest {
    fn of(row: &Row, is_long: bool) -> Self {
        let score = row.score.map_or(String::new(), |score| format!(", score {score:.2}"));
        let mut lines = vec![format!("  {}{score}", row.outcome.word())];
        if let Some(error) = &row.error {
            let reason = format!("{}/{}: {}", error.stage, error.kind, error.message);
            lines.push(format!("  not measured: {}", text::line(&reason, EXCERPT)));
        }
        let mut reasons = Vec::new();
        row.evaluator_results.iter().for_each(|one| add_reasons(one, &mut reasons));
        let more = reasons.len().saturating_sub(MOST_REASONS);
        reasons.truncate(MOST_REASONS);
        lines.extend(reasons.iter().map(|reason| format!("  ✗ {}", text::line(reason, EXCERPT))));
        if more > 0 {
            lines.push(format!("  … {}", counted(more as u64, "more reason")));
        }
        if let Some(asked) = row.input.as_ref().and_then(|messages| last_text(messages)) {
            lines.push(format!("  asked: {}", text::line(&asked, EXCERPT)));
        }
        if let Some(answer) = &row.candidate_answer {
            let limit = if is_long { LONG_EXCERPT } else { EXCERPT };
            lines.push(format!("  answer: {}", text::line(answer, limit)));
        }
        let place = (text::single_line(&row.source.file), row.source.line);
        Self { place, trial: row.trial, lines }
    }
}

/// What an assertion missed, with its line. Members of composites give their own reasons.
fn add_reasons(result: &EvaluatorResult, reasons: &mut Vec<String>) {
    let place = match &result.source {
        Some(place) => format!("{} (line {})", result.name, place.line),
        None => result.name.clone(),
    };
    if let Some(error) = &result.error {
        reasons.push(format!(
            "{place}: not measured: {}/{}: {}",
            error.stage, error.kind, error.message
        ));
    }
    let members = result.evaluator_results.as_deref().unwrap_or_default();
    if members.is_empty() {
        // The misses of a negated assertion say what it found.
        let is_negated = result.sentence.as_ref().is_some_and(|text| text.starts_with("NOT: "));
        let mark = if is_negated { "must not be so: " } else { "" };
        reasons.extend(result.misses.iter().map(|miss| format!("{place}: {mark}{miss}")));
    }
    members.iter().for_each(|member| add_reasons(member, reasons));
    let is_low =
        result.outcome == GradeOutcome::Graded && result.score.is_some_and(|score| score < 1.0);
    if let Some(reasoning) = result.reasoning.as_ref().filter(|_| is_low) {
        reasons.push(format!("{place}: {reasoning}"));
    }
}

/// The text of the last message.
fn last_text(messages: &[serde_json::Value]) -> Option<String> {
    let content = &messages.last()?["content"];
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let blocks = content.as_array()?.iter();
    let texts: Vec<&str> = blocks.filter_map(|block| block["value"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}
