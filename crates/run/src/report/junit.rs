//! JUnit XML as CI systems read it: a `testsuite` per suite, a `testcase` per case. The counts come
//! before the cases, so the short text of each case is kept until the end; the rows are not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use evalrig_core::model::Outcome;

use super::case_finding::{CaseFinding, CheckFinding, DEPTH, missed_checks};
use super::file_finding::FileFinding;
use super::{
    Report, ReportKind, ReportOptions, ReportedRun, check_output, gap_lines, held_trials, xml,
};
use crate::results::{EvaluatorResult, OutcomeCounts, Row, TestKey, TestVerdicts};
use crate::text::{self, numbers};

pub static REPORT: ReportKind = ReportKind {
    name: "junit",
    doc: "JUnit XML for CI systems",
    shows_gate: false,
    shows_history: false,
    make: |setting| Box::new(Junit::new(setting)),
};

/// Cases whose reasons and answer are written out; of the others only the first reason.
const TOLD: u64 = 2_000;
/// Cases without a row that have an entry.
const MISSING: usize = 1_000;
const ANSWER_LINES: usize = 40;
const ANSWER: usize = 4_000;
const NAME: usize = 120;
const CASE_END: &str = "    </testcase>\n";

#[derive(Debug)]
pub struct Junit {
    suites: BTreeMap<String, JunitSuite>,
    told: u64,
    verdicts: TestVerdicts,
    /// Cases that did not pass, of tests that need not pass in every trial.
    held: BTreeMap<TestKey, Vec<HeldCase>>,
}

#[derive(Debug)]
struct HeldCase {
    trial: u32,
    opening: String,
    reasons: String,
    first_miss: String,
}

impl Junit {
    pub fn new(setting: &ReportOptions) -> Self {
        Self {
            suites: BTreeMap::new(),
            told: 0,
            verdicts: TestVerdicts::new(setting.exit_rule),
            held: BTreeMap::new(),
        }
    }

    /// A case without a row is an error of its suite; whatever else is missing, one of the run.
    fn push_gaps(&mut self, end: &ReportedRun) {
        for case in end.gaps.missing.iter().take(MISSING) {
            let name = text::line(&case.name(), 400);
            self.push_missing(&case.suite, &name, "no row: the results are incomplete");
        }
        let sentences = gap_lines::sentences(end);
        // The first one counts the cases, which are all there.
        let is_listed = end.gaps.missing_count == end.gaps.missing.len().min(MISSING) as u64;
        let told = usize::from(is_listed && end.gaps.missing_count > 0);
        for sentence in sentences.iter().skip(told) {
            self.push_missing("evalrig", "incomplete results", sentence);
        }
    }

    fn push_missing(&mut self, suite: &str, name: &str, why: &str) {
        let (class, suite) = (suite, self.suites.entry(suite.to_owned()).or_default());
        suite.counts.add(Outcome::Errored);
        let _ = writeln!(
            suite.cases,
            "    <testcase classname=\"{}\" name=\"{}\" {}>\n      <error type=\"missing\" message=\"{}\"/>\n    </testcase>",
            xml::attribute(class),
            xml::attribute(name),
            time(0),
            xml::attribute(why),
        );
    }

    /// Writes what was held: trials of a test that passes are no failures.
    fn push_held(&mut self) {
        for (test, mut cases) in std::mem::take(&mut self.held) {
            let Some(verdict) = self.verdicts.of(&test) else {
                continue;
            };
            let suite = self.suites.entry(test.suite.clone()).or_default();
            cases.sort_by_key(|case| case.trial);
            for case in cases {
                suite.cases.push_str(&case.opening);
                if verdict.is_pass() {
                    suite.counts.add(Outcome::Passed);
                    let name = text::line(&test.test, 400);
                    let note = held_trials::sentence(&verdict);
                    let note = format!("`{name}` {note}; missed: {}", case.first_miss);
                    let note = xml::escape(&note);
                    let _ = writeln!(suite.cases, "      <system-out>{note}</system-out>");
                } else {
                    suite.counts.add(Outcome::Failed);
                    suite.cases.push_str(&case.reasons);
                }
                suite.cases.push_str(CASE_END);
            }
        }
    }
}

#[derive(Debug, Default)]
struct JunitSuite {
    counts: OutcomeCounts,
    ms: u64,
    cases: String,
}

impl Report for Junit {
    fn row(&mut self, row: &Row, _: &mut dyn Write) -> io::Result<()> {
        self.verdicts.add(row);
        let is_well = self.verdicts.is_pass(row) == Some(true) || row.outcome == Outcome::Passed;
        // Other systems would call the run failed.
        let outcome = match row.outcome {
            _ if is_well => Outcome::Passed,
            _ if !row.decides() => Outcome::Skipped,
            Outcome::Borderline => Outcome::Failed,
            outcome => outcome,
        };
        self.told += u64::from(!is_well && outcome != Outcome::Skipped);
        let suite = self.suites.entry(row.dataset.clone()).or_default();
        suite.ms = suite.ms.saturating_add(row.duration_ms.unwrap_or(0));
        let notable_changes = match (is_well, self.told <= TOLD) {
            (true, _) => ReasonDetail::Nothing,
            (false, true) => ReasonDetail::Everything,
            (false, false) => ReasonDetail::FirstReason,
        };
        if let Some(test) = self.verdicts.test_of_miss(row) {
            let (mut opening, mut reasons) = (String::new(), String::new());
            push_opening(row, &mut opening);
            push_reasons(row, notable_changes, &mut reasons);
            let first_miss = CaseFinding::of(row).first_miss();
            let case = HeldCase { trial: row.trial, opening, reasons, first_miss };
            self.held.entry(test).or_default().push(case);
            return Ok(());
        }
        suite.counts.add(outcome);
        push_case(row, outcome, notable_changes, &mut suite.cases);
        Ok(())
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        for suite in &end.suites {
            self.suites.entry(suite.clone()).or_default();
        }
        self.push_held();
        self.push_gaps(end);
        let mut all = JunitSuite::default();
        let mut totals = Numbers::default();
        for suite in self.suites.values() {
            totals.add(&suite.counts);
            all.ms = all.ms.saturating_add(suite.ms);
        }
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        let ms = end.duration_ms.unwrap_or(all.ms);
        writeln!(out, r#"<testsuites name="evalrig" {} {}>"#, totals.text(), time(ms))?;
        for (name, suite) in &self.suites {
            let mut numbers = Numbers::default();
            numbers.add(&suite.counts);
            writeln!(
                out,
                r#"  <testsuite name="{}" {} skipped="{}" {}>"#,
                xml::attribute(name),
                numbers.text(),
                numbers.skipped,
                time(suite.ms)
            )?;
            out.write_all(suite.cases.as_bytes())?;
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }
}

#[derive(Default)]
struct Numbers {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl Numbers {
    fn add(&mut self, counts: &OutcomeCounts) {
        self.tests += counts.total();
        self.failures += counts.of(Outcome::Failed);
        self.errors += counts.of(Outcome::Errored);
        self.skipped += counts.of(Outcome::Skipped);
    }

    fn text(&self) -> String {
        let Self { tests, failures, errors, .. } = self;
        format!(r#"tests="{tests}" failures="{failures}" errors="{errors}""#)
    }
}

fn time(ms: u64) -> String {
    format!(r#"time="{}.{:03}""#, ms / 1000, ms % 1000)
}

/// How much is said of why a case did not pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReasonDetail {
    Nothing,
    FirstReason,
    Everything,
}

/// `outcome` is what others are to take it for.
fn push_case(row: &Row, outcome: Outcome, notable_changes: ReasonDetail, out: &mut String) {
    push_opening(row, out);
    match outcome {
        Outcome::Passed => push_passed_misses(row, out),
        _ if notable_changes == ReasonDetail::Nothing => {}
        Outcome::Skipped => {
            let of_arm = "the baseline arm does not have to pass";
            let why = row.error.as_ref().map_or(of_arm, |error| &error.message);
            let why = text::line(why, 400);
            let _ = writeln!(out, r#"      <skipped message="{}"/>"#, xml::attribute(&why));
        }
        _ => push_reasons(row, notable_changes, out),
    }
    out.push_str(CASE_END);
}

/// Checks that the test passed without.
fn push_passed_misses(row: &Row, out: &mut String) {
    let missed = if row.outcome == Outcome::Passed { missed_checks(row) } else { Vec::new() };
    if missed.is_empty() {
        return;
    }
    let mut text = "the test passed, but not every check did:".to_owned();
    for check in &missed {
        text.push('\n');
        push_check(check, &mut text);
    }
    let _ = writeln!(out, "      <system-out>{}</system-out>", xml::escape(&text));
}

/// Everything that comes before what happened to the case.
fn push_opening(row: &Row, out: &mut String) {
    let _ = writeln!(
        out,
        r#"    <testcase classname="{}" name="{}" file="{}" line="{}" {}>"#,
        xml::attribute(&row.dataset),
        xml::attribute(&name(row)),
        xml::attribute(&row.source.file),
        row.source.line,
        time(row.duration_ms.unwrap_or(0))
    );
    push_properties(row, out);
}

/// CI systems take two cases with one name for one case. The target is always told, because a
/// second one may follow.
fn name(row: &Row) -> String {
    let mut name = format!("{} [{}", row.eval_id, row.variant());
    if row.trial > 1 {
        let _ = write!(name, ", trial {}", row.trial);
    }
    name.push(']');
    name
}

fn push_properties(row: &Row, out: &mut String) {
    let tokens = row.tokens.map(|tokens| tokens.total.to_string());
    let properties = [
        ("outcome", Some(row.outcome.word().to_owned())),
        ("score", row.score.map(|score| score.to_string())),
        ("costUsd", row.cost_usd.map(|cost| cost.to_string())),
        ("tokens", tokens),
        ("cached", row.is_cached().then(|| "true".to_owned())),
    ];
    out.push_str("      <properties>\n");
    for (name, value) in properties {
        if let Some(value) = value {
            let _ = writeln!(out, r#"        <property name="{name}" value="{value}"/>"#);
        }
    }
    out.push_str("      </properties>\n");
}

fn push_reasons(row: &Row, notable_changes: ReasonDetail, out: &mut String) {
    let finding = CaseFinding::of(row);
    let (tag, kind) = match (row.outcome, &row.error) {
        (Outcome::Errored, Some(error)) => ("error", format!("{}/{}", error.stage, error.kind)),
        (Outcome::Errored, None) => ("error", "errored".to_owned()),
        (outcome, _) => ("failure", outcome.word().to_owned()),
    };
    let _ = write!(
        out,
        r#"      <{tag} type="{}" message="{}""#,
        xml::attribute(&kind),
        xml::attribute(&finding.first_miss())
    );
    if notable_changes != ReasonDetail::Everything {
        out.push_str("/>\n");
        return;
    }
    let _ = writeln!(out, ">{}</{tag}>", xml::escape(&reasons(&finding)));
    if let Some(said) = said(row) {
        let _ = writeln!(out, "      <system-out>{}</system-out>", xml::escape(&said));
    }
}

/// Every assertion that lost something, as text.
fn reasons(finding: &CaseFinding) -> String {
    let mut text = String::new();
    if let Some(score) = finding.score {
        let _ = writeln!(text, "score {}", numbers::score(score));
    }
    if let Some(trouble) = finding.unexplained_fault() {
        let _ = writeln!(text, "could not be measured: {}", trouble.text());
    }
    for check in &finding.checks {
        push_check(check, &mut text);
        text.push('\n');
    }
    if finding.checks_left_out > 0 {
        let _ = writeln!(text, "{} more assertions", finding.checks_left_out);
    }
    let _ = write!(text, "at {}", finding.label.place.text());
    text
}

/// What happened to one assertion, in lines without a break at the end.
fn push_check(check: &CheckFinding, text: &mut String) {
    let place = check.place.as_ref().map(|place| format!(" ({})", place.text()));
    let _ = write!(text, "{}{}", check.text(), place.unwrap_or_default());
    for miss in &check.misses.shown {
        let _ = write!(text, "\n  ✗ {miss}");
    }
    for hit in &check.hits.shown {
        let _ = write!(text, "\n  ✓ {hit}");
    }
    let left_out = check.misses.left_out() + check.hits.left_out();
    if left_out > 0 {
        let _ = write!(text, "\n  {left_out} more");
    }
    if let Some(reasoning) = &check.reasoning {
        let _ = write!(text, "\n  {reasoning}");
    }
}

/// The question, where it is known, the answer, what commands printed, and what became of files.
fn said(row: &Row) -> Option<String> {
    let mut parts: Vec<String> = question_and_answer(row).into_iter().collect();
    push_outputs(&row.evaluator_results, DEPTH, &mut parts);
    let summary = FileFinding::of(row).and_then(|files| files.summary);
    parts.extend(summary.map(|summary| format!("files: {summary}")));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// All that is stored of what failed commands printed.
fn push_outputs(results: &[EvaluatorResult], depth: usize, parts: &mut Vec<String>) {
    for result in results {
        let name = text::line(&result.name, NAME);
        let stored = check_output::stored(result);
        parts.extend(stored.map(|(stream, said)| format!("{stream} of {name}:\n{said}")));
        if depth > 0 {
            let members = result.evaluator_results.as_deref().unwrap_or_default();
            push_outputs(members, depth - 1, parts);
        }
    }
}

fn question_and_answer(row: &Row) -> Option<String> {
    let answer = row.candidate_answer.as_deref().filter(|answer| !answer.is_empty());
    match (row.question(), answer) {
        (None, answer) => answer.map(beginning),
        (Some(question), None) => Some(format!("question:\n{}", beginning(&question))),
        (Some(question), Some(answer)) => {
            Some(format!("question:\n{}\n\nanswer:\n{}", beginning(&question), beginning(answer)))
        }
    }
}

/// As it was, since XML can carry nearly everything.
fn beginning(answer: &str) -> String {
    let lines = answer.split_inclusive('\n').take(ANSWER_LINES);
    let mut shown: String = lines.flat_map(str::chars).take(ANSWER).collect();
    if shown.len() < answer.len() {
        let _ = write!(shown, "\n{} of {} bytes", shown.len(), answer.len());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, Shown};
    use super::*;
    use crate::results::Borderline;
    use crate::text::OutputStyle;

    fn shown() -> Shown {
        Shown::of(&REPORT, OutputStyle::default())
    }

    #[test]
    fn trials_that_failed_are_no_failures_of_a_test_that_passes() {
        let rows = [fixture::by_share("pos", "pfpf"), fixture::by_share("neg", "pfff")].concat();
        let text = shown().rows(&rows);
        elements(&text).unwrap();
        assert!(text.contains(r#"tests="8" failures="3" errors="0""#), "{text}");
        assert_eq!(text.matches("<failure ").count(), 3);
        let note = "`pos` passes: 2 of 4 trials passed, needs 50 %; missed: csv was not used";
        assert_eq!(text.matches(note).count(), 2, "{text}");
    }

    /// Names of the elements in the order in which they open, if the text is well-formed.
    fn elements(text: &str) -> Result<Vec<String>, String> {
        let mut open: Vec<String> = Vec::new();
        let mut found = Vec::new();
        let body = text.split_once("?>").ok_or("no declaration")?.1;
        for (at, piece) in body.split('<').enumerate().skip(1) {
            let (tag, content) = piece.split_once('>').ok_or(format!("piece {at}: {piece}"))?;
            if content.contains('>') || tag.matches('"').count() % 2 == 1 {
                return Err(format!("piece {at}: {piece}"));
            }
            for entity in piece.split('&').skip(1) {
                let name = entity.split(';').next().unwrap();
                let known = ["amp", "lt", "gt", "quot"].contains(&name);
                if !known && name.strip_prefix('#').is_none_or(|n| n.parse::<u32>().is_err()) {
                    return Err(format!("entity {name}"));
                }
            }
            match tag.strip_prefix('/') {
                Some(name) if open.pop().as_deref() == Some(name) => {}
                Some(name) => return Err(format!("{name} is closed, but not open")),
                None => {
                    let name = tag.split([' ', '/']).next().unwrap().to_owned();
                    if !tag.ends_with('/') {
                        open.push(name.clone());
                    }
                    found.push(name);
                }
            }
        }
        let illegal = |c: char| c < ' ' && !matches!(c, '\n' | '\t' | '\r');
        if open.is_empty() && !text.contains(illegal) {
            Ok(found)
        } else {
            Err(format!("{open:?} is still open"))
        }
    }

    #[test]
    fn borderline_is_what_the_exit_code_makes_of_it() {
        let rows = [
            fixture::row("a", Outcome::Borderline, Some(0.7)),
            fixture::row("b", Outcome::Failed, Some(0.1)),
        ];
        let shown = |borderline| {
            Shown::of(&REPORT, OutputStyle::default()).borderline(borderline).rows(&rows)
        };
        let [strict, lenient] = [Borderline::Fails, Borderline::Passes].map(shown);
        assert!(strict.contains(r#"failures="2""#) && lenient.contains(r#"failures="1""#));
        assert_eq!(strict.matches("<failure ").count(), 2);
        assert_eq!(lenient.matches("<failure ").count(), 1);
        assert!(lenient.contains(r#"<property name="outcome" value="borderline"/>"#));
    }

    #[test]
    fn snapshot() {
        let text = shown().rows(&fixture::rows());
        elements(&text).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn answers_cannot_leave_their_element() {
        let rows = fixture::hostile_rows();
        let found = elements(&shown().rows(&rows)).unwrap();
        let cases = found.iter().filter(|name| *name == "testcase").count();
        assert_eq!(cases, rows.len());
    }

    #[test]
    fn the_check_for_well_formed_text_finds_faults() {
        for text in ["<?xml?><a><b></a></b>", "<?xml?><a>&x;</a>", "<?xml?><a>", "<?xml?><a>></a>"]
        {
            assert!(elements(text).is_err(), "{text}");
        }
    }

    #[test]
    fn suites_are_together_however_rows_come() {
        let rows: Vec<_> = (0..6)
            .map(|n| {
                let mut row = fixture::row(&format!("t{n}"), Outcome::Passed, Some(1.0));
                row.dataset = ["one", "two"][n % 2].to_owned();
                row
            })
            .collect();
        let text = shown().rows(&rows);
        assert_eq!(text.matches(r#"<testsuite name="one""#).count(), 1);
        assert!(text.contains(r#"<testsuite name="two" tests="3" failures="0""#), "{text}");
    }

    #[test]
    fn after_many_failures_only_first_reasons_are_told() {
        let rows: Vec<_> = (0..TOLD + 5)
            .map(|n| fixture::missing(&format!("t{n}"), "Output contains 'x'"))
            .collect();
        let text = shown().rows(&rows);
        assert_eq!(text.matches("</failure>").count() as u64, TOLD);
        assert_eq!(text.matches("<failure ").count() as u64, TOLD + 5);
    }
}
