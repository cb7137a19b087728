//! One run for the tests of all reports.

use camino::Utf8PathBuf;
use evalrig_core::compare::{CompareOptions, ComparedCase, compare};
use evalrig_core::model::{Outcome, Verdict};
use serde_json::{Number, Value, json};

use super::{Compared, Detail, ReportKind, ReportOptions, ReportedRun, SuiteText};
use crate::results::testing;
use crate::results::{
    Borderline, EvaluatorResult, ExitRule, GradeOutcome, JudgeUsage, PassTrials, Row, RowError,
    SourcePlace, TokenCounts, Trace, WorkspaceChanges,
};
use crate::text::OutputStyle;

const FILE: &str = "evals/support/EVAL.yaml";

/// The lines that rows point to, by number.
const SUITE: &[(u32, &str)] = &[
    (4, "  - id: greets-politely"),
    (24, "  - id: refund-policy"),
    (28, "      - name: facts"),
    (
        31,
        "          - { name: period, type: contains-all, value: [refund, 14 days], required: 0.8, weight: 2 }",
    ),
    (36, "      - name: tone"),
    (40, "  - id: short-answer"),
    (44, "      - type: llm-judge"),
    (48, "  - id: weather-today"),
    (55, "  - id: summarise"),
    (58, "    rubrics:"),
    (62, "  - id: later"),
    (66, "  - id: no-secrets"),
    (69, "      - type: contains"),
    (72, "  - id: translate"),
    (75, "      - type: equals"),
];

pub fn suite_line(file: &str, line: u32) -> Option<String> {
    let found = SUITE.iter().find(|(number, _)| *number == line);
    let (_, text) = found.filter(|_| file == FILE)?;
    Some((*text).to_owned())
}

/// A report being shown.
pub struct Shown {
    report: &'static ReportKind,
    setting: ReportOptions,
    end: ReportedRun,
}

impl Shown {
    pub fn of(report: &'static ReportKind, look: OutputStyle) -> Self {
        Self {
            report,
            setting: ReportOptions {
                style: look,
                detail: Detail::Normal,
                text: SuiteText::new(suite_line),
                exit_rule: ExitRule::default(),
            },
            end: end(),
        }
    }

    pub fn borderline(mut self, borderline: Borderline) -> Self {
        self.setting.exit_rule.borderline = borderline;
        self
    }

    pub fn detail(mut self, detail: Detail) -> Self {
        self.setting.detail = detail;
        self
    }

    pub fn suite(mut self, line_of: fn(&str, u32) -> Option<String>) -> Self {
        self.setting.text = SuiteText::new(line_of);
        self
    }

    pub fn without_suite(mut self) -> Self {
        self.setting.text = SuiteText::unknown();
        self
    }

    pub fn end(mut self, end: ReportedRun) -> Self {
        self.end = end;
        self
    }

    /// Of a run that exits with 0.
    pub fn passing(mut self) -> Self {
        self.end.exit_code = Some(0);
        self
    }

    pub fn rows(self, rows: &[Row]) -> String {
        let mut report = (self.report.make)(&self.setting);
        let mut out = Vec::new();
        for row in rows {
            report.row(row, &mut out).unwrap();
        }
        report.finish(&self.end, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}

pub fn looks() -> Vec<OutputStyle> {
    let mut looks = Vec::new();
    for color in [false, true] {
        for unicode in [false, true] {
            looks.push(OutputStyle { color, width: Some(80), unicode });
        }
    }
    looks
}

fn end() -> ReportedRun {
    let results = Utf8PathBuf::from(".evalrig/results/support-2026-01-02T03-04-05.jsonl");
    ReportedRun {
        suites: vec!["support".to_owned()],
        summary: Some(results.with_extension("summary.json")),
        results: Some(results),
        duration_ms: Some(41_200),
        exit_code: Some(1),
        failed_command: Some("evalrig run --failed".to_owned()),
        ..ReportedRun::default()
    }
}

/// Trials of a test that must pass in half of them: p passed, anything else failed.
pub fn by_share(test: &str, outcomes: &str) -> Vec<Row> {
    let row = |(at, letter): (usize, char)| {
        let mut row = match letter {
            'p' => row(test, Outcome::Passed, Some(1.0)),
            _ => missing(test, "csv was not used"),
        };
        row.trial = at as u32 + 1;
        row.pass_trials = Some(PassTrials { share: 0.5, above: false });
        row
    };
    outcomes.chars().enumerate().map(row).collect()
}

/// Rows of tests, each with its passes and its trials.
pub fn trials(tests: &[(&str, u32, u32)]) -> Vec<Row> {
    let rows = tests.iter().flat_map(|&(test, passes, all)| {
        (1..=all).map(move |trial| {
            let outcome = if trial <= passes { Outcome::Passed } else { Outcome::Failed };
            Row { trial, ..row(test, outcome, None) }
        })
    });
    rows.collect()
}

pub fn row(test: &str, outcome: Outcome, score: Option<f64>) -> Row {
    Row {
        timestamp: "2026-01-02T03:04:05Z".to_owned(),
        eval_id: test.to_owned(),
        dataset: "support".to_owned(),
        conversation_id: None,
        score,
        verdict: match outcome {
            Outcome::Passed => Some(Verdict::Pass),
            Outcome::Borderline => Some(Verdict::Borderline),
            Outcome::Failed => Some(Verdict::Fail),
            Outcome::Errored | Outcome::Skipped => None,
        },
        pass_threshold: Some(0.8),
        outcome,
        hits: Vec::new(),
        misses: Vec::new(),
        candidate_answer: None,
        target: "claude".to_owned(),
        trial: 1,
        attempts: 1,
        duration_ms: Some(900),
        cost_usd: Some(0.002),
        tokens: Some(TokenCounts {
            input: Some(1_200),
            output: Some(350),
            total: 1_550,
            cached: Some(0),
        }),
        trace_summary: Trace::default(),
        evaluator_results: Vec::new(),
        judge_usage: None,
        error: None,
        test_hash: "5f2b8c0d9e1a7744".to_owned(),
        source: place(4),
        record: None,
        output_messages: None,
        ..testing::row(test, 1)
    }
}

fn place(line: u32) -> SourcePlace {
    SourcePlace { file: FILE.to_owned(), line }
}

pub fn fault(stage: &str, kind: &str, message: &str) -> RowError {
    RowError { stage: stage.to_owned(), kind: kind.to_owned(), message: message.to_owned() }
}

pub fn graded(name: &str, type_name: &str, score: f64) -> EvaluatorResult {
    EvaluatorResult {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        score: Some(score),
        weight: Number::from(1),
        required: Value::Bool(false),
        outcome: GradeOutcome::Graded,
        sentence: None,
        gate: None,
        hits: Vec::new(),
        misses: Vec::new(),
        reasoning: None,
        details: None,
        error: None,
        duration_ms: None,
        evaluator_results: None,
        aggregator: None,
        source: None,
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A failed test with one miss.
pub fn missing(test: &str, miss: &str) -> Row {
    let mut row = row(test, Outcome::Failed, Some(0.0));
    let mut result = graded("contains", "contains", 0.0);
    result.misses = texts(&[miss]);
    result.source = Some(place(69));
    row.evaluator_results = vec![result];
    row
}

/// A failed test whose agent changed files of its workspace.
pub fn changed_files() -> Row {
    let mut files = graded("files", "files", 0.5);
    files.hits = texts(&["'src/cart.js' was modified"]);
    files.misses = texts(&["Files outside 'src/**' were changed: created notes.md"]);
    files.source = Some(place(69));
    let mut row = row("rounds-the-total", Outcome::Failed, Some(0.5));
    row.candidate_answer = Some("The total is rounded now.".to_owned());
    row.evaluator_results = vec![files];
    let diff = "--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+Rounded.\n\
         --- a/src/cart.js\n+++ b/src/cart.js\n@@ -1,2 +1,2 @@\n-let total = sum\n\
         +let total = Math.round(sum * 100) / 100\n export default total\n";
    row.workspace = Some(WorkspaceChanges {
        created: texts(&["notes.md"]),
        modified: texts(&["src/cart.js"]),
        deleted: Vec::new(),
        diff: diff.to_owned(),
        diff_truncated: false,
        path: None,
    });
    row
}

pub fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("greets-politely", Outcome::Passed, Some(1.0)),
        refund_policy(),
        short_answer(),
        weather_today(),
        summarise(),
        later(),
        no_secrets(),
        hostile(),
    ];
    rows.extend(translate());
    rows
}

fn refund_policy() -> Row {
    let mut period = graded("period", "contains-all", 0.5);
    period.weight = Number::from(2);
    period.required = json!(0.8);
    period.gate = Some("missed".to_owned());
    period.hits = texts(&["Output contains 'refund'"]);
    period.misses = texts(&["Output contains '14 days'"]);
    period.source = Some(place(31));
    let mut facts = graded("facts", "composite", 0.5);
    facts.misses.clone_from(&period.misses);
    facts.hits.clone_from(&period.hits);
    facts.aggregator = Some("minimum".to_owned());
    facts.gate = Some("missed".to_owned());
    facts.evaluator_results = Some(vec![graded("polite", "contains", 1.0), period]);
    facts.source = Some(place(28));
    let mut tone = graded("tone", "rubrics", 0.33);
    tone.hits = texts(&["Thanks the customer"]);
    tone.misses = texts(&["Offers help with the return itself, without being asked for it"]);
    tone.reasoning = Some(
        "The answer thanks the customer and promises a refund, but it never says within which \
         period the customer has to ask for one, nor does it offer a label for the parcel."
            .to_owned(),
    );
    tone.source = Some(place(36));
    let mut row = row("refund-policy", Outcome::Failed, Some(0.42));
    row.test_name = Some("asks for a refund".to_owned());
    row.input = Some(vec![
        json!({"role": "system", "content": "You answer for a shop."}),
        json!({"role": "user", "content": "The shoes do not fit.\nCan I have my money back?"}),
    ]);
    row.source = place(24);
    row.duration_ms = Some(2_430);
    row.cost_usd = Some(0.0031);
    row.candidate_answer = Some(
        "Dear customer,\n\nthank you for your message. We are happy to refund you in full, \
         please send the parcel back to us.\n\nKind regards\nYour support"
            .to_owned(),
    );
    row.judge_usage =
        Some(JudgeUsage { calls: 1, input: Some(310), output: Some(42), cost_usd: None });
    row.evaluator_results = vec![facts, tone];
    row
}

fn short_answer() -> Row {
    let mut judge = graded("brevity", "llm-judge", 0.7);
    judge.reasoning = Some("Right, but twice as long as asked for.".to_owned());
    judge.source = Some(place(44));
    let mut row = row("short-answer", Outcome::Borderline, Some(0.7));
    row.source = place(40);
    row.candidate_answer = Some("Forty-two. That is to say, the number forty-two.".to_owned());
    row.judge_usage =
        Some(JudgeUsage { calls: 1, input: Some(280), output: Some(30), cost_usd: None });
    row.evaluator_results = vec![judge];
    row
}

fn weather_today() -> Row {
    let mut row = row("weather-today", Outcome::Errored, None);
    row.source = place(48);
    row.attempts = 3;
    row.duration_ms = Some(30_000);
    row.error = Some(fault("target", "network", "connection refused by 127.0.0.1:8080"));
    (row.cost_usd, row.tokens) = (None, None);
    row
}

fn summarise() -> Row {
    let trouble = fault("judge", "reply", "the judge's reply is not JSON: `I think it is fine`");
    let mut rubrics = graded("rubrics", "rubrics", 0.0);
    rubrics.score = None;
    rubrics.outcome = GradeOutcome::Errored;
    rubrics.error = Some(trouble.clone());
    rubrics.source = Some(place(58));
    let mut row = row("summarise", Outcome::Errored, None);
    row.source = place(55);
    row.candidate_answer = Some("A summary.".to_owned());
    row.error = Some(trouble);
    row.evaluator_results = vec![rubrics, graded("is-json", "is-json", 0.0)];
    row
}

fn later() -> Row {
    let mut row = row("later", Outcome::Skipped, None);
    row.source = place(62);
    (row.cost_usd, row.tokens, row.duration_ms) = (None, None, None);
    row.error = Some(fault("skip", "skip", "waits for the new price list"));
    row
}

fn no_secrets() -> Row {
    let mut row = missing("no-secrets", "Output does not contain 'internal'");
    row.source = place(66);
    row.candidate_answer = Some(String::new());
    row
}

/// Three trials that fail alike, and another target that passes.
fn translate() -> Vec<Row> {
    let mut rows: Vec<_> = (1..=3)
        .map(|trial| {
            let mut row = missing("translate", "Output equals 'Guten Morgen'");
            row.trial = trial;
            row.source = place(72);
            row.evaluator_results[0].name = "equals".to_owned();
            row.evaluator_results[0].type_name = "equals".to_owned();
            row.evaluator_results[0].source = Some(place(75));
            row.candidate_answer = Some("Guten Tag".to_owned());
            row
        })
        .collect();
    let mut passed = row("translate", Outcome::Passed, Some(1.0));
    passed.target = "gpt".to_owned();
    passed.source = place(72);
    rows.push(passed);
    rows
}

/// An answer that tries everything.
pub const HOSTILE: &str = "::error file=x::owned\n  ::stop-commands::x\n\u{1b}[2J\u{1b}]0;owned\u{7}\
     \u{9b}31m red\n]]></system-out></testcase>&amp;<!--\n````\n</details>\n\u{202e}txt.exe\u{0}\n\
     a ##[error]owned ##vso[task.complete]\r::warning::owned\n@everyone | `code` {{x}}";

fn hostile() -> Row {
    let mut row = missing("hostile", HOSTILE);
    row.candidate_answer = Some(HOSTILE.to_owned());
    row.source.line = 90;
    row.evaluator_results[0].source = None;
    row
}

/// [`HOSTILE`] in every text of a row.
pub fn hostile_rows() -> Vec<Row> {
    let rows =
        [Outcome::Failed, Outcome::Borderline, Outcome::Errored, Outcome::Skipped, Outcome::Passed];
    let rows = rows.map(|outcome| {
        let mut result = graded(HOSTILE, HOSTILE, 0.1);
        result.hits = texts(&[HOSTILE]);
        result.misses = texts(&[HOSTILE]);
        result.reasoning = Some(HOSTILE.to_owned());
        result.gate = Some("missed".to_owned());
        result.aggregator = Some(HOSTILE.to_owned());
        result.error = Some(fault(HOSTILE, HOSTILE, HOSTILE));
        result.source = Some(SourcePlace { file: HOSTILE.to_owned(), line: 7 });
        if outcome == Outcome::Errored {
            result.outcome = GradeOutcome::Errored;
        }
        let mut row = row(HOSTILE, outcome, Some(0.1));
        row.dataset = HOSTILE.to_owned();
        row.target = HOSTILE.to_owned();
        row.candidate_answer = Some(HOSTILE.to_owned());
        row.error = Some(fault(HOSTILE, HOSTILE, HOSTILE));
        row.source.file = HOSTILE.to_owned();
        let mut command = graded(HOSTILE, "command", 0.1);
        command.details = Some(serde_json::json!({"stdout": HOSTILE, "stderr": HOSTILE}));
        row.evaluator_results = vec![result, command];
        row
    });
    let mut rows = rows.to_vec();
    rows.push(row("fine", Outcome::Passed, Some(1.0)));
    rows
}

pub fn huge_row() -> Row {
    let huge = "x\u{1b}`<&".repeat(2_000_000);
    let mut row = missing("huge", &huge);
    row.evaluator_results[0].reasoning = Some(huge.clone());
    row.candidate_answer = Some(huge);
    row
}

/// Two runs of one trial each, by test and outcome.
pub fn compared(name: &str, base: &[(&str, Outcome)], now: &[(&str, Outcome)]) -> Compared {
    let case = |(test, outcome): &(&str, Outcome)| ComparedCase {
        suite: "support".to_owned(),
        test: (*test).to_owned(),
        target: "claude".to_owned(),
        arm: None,
        group: None,
        run: 0,
        trial: 1,
        outcome: *outcome,
        score: match outcome {
            Outcome::Passed => Some(1.0),
            Outcome::Borderline => Some(0.7),
            Outcome::Failed => Some(0.0),
            Outcome::Errored | Outcome::Skipped => None,
        },
        hash: "5f2b8c0d9e1a7744".to_owned(),
        cost: Some(0.002),
        tokens: None,
        duration_ms: None,
    };
    let cases = |side: &[(&str, Outcome)]| -> Vec<ComparedCase> { side.iter().map(case).collect() };
    Compared {
        base: name.to_owned(),
        base_runs: vec![vec![name.to_owned()]],
        comparison: compare(&cases(base), &cases(now), &CompareOptions::default()),
        earlier: Vec::new(),
    }
}
