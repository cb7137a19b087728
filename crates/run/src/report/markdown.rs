//! A comment for a pull request. Nothing an agent wrote can close a block, mention a person or make
//! the comment longer than GitHub takes.

use std::fmt::Write as _;
use std::io::{self, Write};

use evalrig_core::model::Outcome;

use super::arms::SkillMatrix;
use super::case_finding::{CaseFinding, SentenceList};
use super::failure_groups::Groups;
use super::held_trials::{HeldTrials, TestByShare};
use super::label_parts::LabelParts;
use super::tally::Tally;
use super::{
    Report, ReportKind, ReportOptions, ReportedRun, arms, comparison, gap_lines, total_lines,
};
use crate::results::Row;
use crate::text::{self, Excerpt, numbers, paint::outcome_phrase};

pub static REPORT: ReportKind = ReportKind {
    name: "markdown",
    doc: "a comment on a pull request",
    shows_gate: true,
    shows_history: false,
    make: |setting| Box::new(Markdown::new(setting)),
};

/// In bytes. GitHub refuses comments of more than 65 536 characters.
const LONGEST: usize = 60_000;
/// What the table may take of it.
const TABLE: usize = 20_000;
/// Of a text in the table.
const CELL: usize = 120;
/// Flaky tests that are named.
const FLAKY: usize = 10;
/// Disputed items that are named.
const DISPUTED: usize = 10;
/// Columns and rows of a matrix of skills.
const WIDEST: usize = 10;
const LONGEST_MATRIX: usize = 30;
/// Tests that changed since the baseline.
const CHANGED: usize = 10;

#[derive(Debug, Default)]
pub struct Markdown {
    tally: Tally,
    groups: Groups,
    held: HeldTrials,
}

impl Report for Markdown {
    fn row(&mut self, row: &Row, _: &mut dyn Write) -> io::Result<()> {
        self.tally.add(row);
        let is_well = matches!(row.outcome, Outcome::Passed | Outcome::Skipped) || !row.decides();
        if !is_well && let Some(finding) = self.held.sort(row, &self.tally.verdicts) {
            self.groups.add(finding);
        }
        Ok(())
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let label_parts = LabelParts::of(&self.tally);
        let by_share = self.held.settle(&self.tally.verdicts).add_to(&mut self.groups);
        let (outcome, headline) = total_lines::headline(&self.tally, end);
        let headline = format!("{} evalrig: {headline}", sign(outcome));
        let mut text = match comparison::gate(end) {
            Some(gate) => format!(
                "### {} evalrig {}\n\n{}\n\n{headline}\n",
                sign(gate.outcome),
                gate.decision,
                escaped(&comparison::sentence(&gate.reason))
            ),
            None => format!("### {headline}\n"),
        };
        push_gaps(end, &mut text);
        push_baseline(end, &mut text);
        push_rounds(end, &mut text);
        push_arms(&self.tally, end, &mut text);
        self.push_tests(&mut text);
        push_tests_by_share(&by_share, label_parts, &mut text);
        self.push_disputes(&mut text);
        let groups = self.groups.in_order();
        let findings: Vec<_> = groups
            .iter()
            .flat_map(|group| {
                let last = group.shown.len() - 1;
                group.shown.iter().enumerate().map(move |(at, finding)| CaseEntry {
                    finding,
                    others: label_parts.others(group).filter(|_| at == last),
                    hidden: if at == last { group.others } else { 0 },
                })
            })
            .collect();
        let left_out = self.groups.left_out().total();
        push_table(&findings, left_out, label_parts, &mut text);
        push_passed_misses(&self.tally, label_parts, &mut text);
        let foot = self.foot(end);
        push_details(&findings, label_parts, LONGEST - foot.len(), &mut text);
        text.push_str(&foot);
        out.write_all(text.as_bytes())
    }
}

/// A case that is shown, and those of the same cause that are not.
struct CaseEntry<'a> {
    finding: &'a CaseFinding,
    others: Option<String>,
    hidden: u64,
}

impl Markdown {
    pub fn new(setting: &ReportOptions) -> Self {
        Self { tally: Tally::new(setting.exit_rule), ..Self::default() }
    }

    /// How many tests pass always, and the flaky ones by name.
    fn push_tests(&self, text: &mut String) {
        let Some(counts) = self.tally.tests.text() else {
            return;
        };
        let _ = write!(text, "\ntests: {counts}");
        let (flaky, more) = self.tally.tests.flaky(FLAKY);
        let label_parts = LabelParts { trials: false, ..LabelParts::of(&self.tally) };
        let shown = flaky.iter().map(|(label, trials)| {
            format!("{} {}", code(&label_parts.name(label), CELL), trials.text())
        });
        let mut shown: Vec<String> = shown.collect();
        if more > 0 {
            shown.push(format!("and {} more", numbers::count(more)));
        }
        let _ = match shown.len() {
            0 => writeln!(text),
            _ => writeln!(text, ": {}", shown.join(", ")),
        };
    }

    /// The items on which votes differ most.
    fn push_disputes(&self, text: &mut String) {
        let (lines, more) = self.tally.disputes.lines(LabelParts::of(&self.tally), DISPUTED);
        if lines.is_empty() {
            return;
        }
        text.push_str("\nThe judge disagrees with itself most about:\n\n");
        for line in lines {
            let _ = writeln!(text, "- {}", escaped(&line));
        }
        if more > 0 {
            let _ = writeln!(text, "- and {} more", numbers::count(more));
        }
    }

    fn foot(&self, end: &ReportedRun) -> String {
        let mut facts = Vec::new();
        facts.extend(total_lines::average(&self.tally).map(|text| format!("score {text}")));
        facts.extend(total_lines::tokens(&self.tally).map(|text| format!("tokens: {text}")));
        facts.extend(total_lines::cost(&self.tally).map(|text| format!("cost: {text}")));
        facts.extend(total_lines::reused(&self.tally));
        facts.extend(total_lines::judges(&self.tally).map(|text| format!("judges: {text}")));
        if let Some(results) = &end.results {
            facts.push(format!("results: {}", code(results.as_str(), 300)));
        }
        format!("\n<sub>{}</sub>\n", facts.join(" · "))
    }
}

fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "✅",
        Outcome::Borderline => "🟡",
        Outcome::Failed => "❌",
        Outcome::Errored => "⚠️",
        Outcome::Skipped => "⚪",
    }
}

/// A table of the arms, and what they say about the baseline arm.
fn push_arms(tally: &Tally, end: &ReportedRun, text: &mut String) {
    let arms = tally.arms.findings(end.rounds.as_ref(), &end.arm_options);
    if arms.is_empty() {
        return;
    }
    text.push_str("\n| arm | tests | used | against the baseline arm |\n|---|---|---|---|\n");
    for arm in &arms {
        let contrast = match arms::contrast_in_table(arm, &arms) {
            Some(contrast) => contrast,
            None => "baseline".to_owned(),
        };
        let usage = arms::usage(arm).unwrap_or_default();
        let mut numbers = arms::counts(arm);
        if let Some(contracts) = arms::contracts(arm) {
            let _ = write!(numbers, "; {contracts}");
        }
        let cells = [&numbers, &usage, &contrast].map(|text| escaped(text).replace('|', "¦"));
        let _ = writeln!(text, "| {} | {} |", code(&arm.name, CELL), cells.join(" | "));
    }
    for arm in arms.iter().filter(|arm| arm.skills.is_shown()) {
        let lines = arms::skill_lines(&arm.skills);
        let _ = writeln!(text, "\nskills of {}:\n", code(&arm.name, CELL));
        for line in lines {
            let _ = writeln!(text, "- {}", escaped(&line));
        }
        push_matrix(&arm.skills, text);
    }
}

/// How often each skill was used, by the skill that should have been used. Omitted if it is too wide to read.
fn push_matrix(skills: &SkillMatrix, text: &mut String) {
    let (rows, columns) = (skills.rows(), skills.columns());
    if columns.len() > WIDEST || rows.len() > LONGEST_MATRIX {
        return;
    }
    let name = |name: &Option<&str>| name.map_or("no skill".to_owned(), |name| code(name, CELL));
    let heads = columns.iter().map(name).collect::<Vec<_>>().join(" | ");
    let _ = writeln!(
        text,
        "\n| wanted | cases | used: {heads} |\n|---|---|{}",
        "---|".repeat(columns.len())
    );
    for (wanted, cases) in rows {
        let cells = columns.iter().map(|used| skills.cell(wanted, *used).text());
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "| {} | {} | {cells} |", name(&wanted), numbers::count(cases));
    }
}

/// Tests that passed or failed by the share of their trials.
fn push_tests_by_share(tests: &[TestByShare], label_parts: LabelParts, text: &mut String) {
    if tests.is_empty() {
        return;
    }
    text.push('\n');
    for test in tests.iter().take(FLAKY) {
        let (name, said) = test.parts(label_parts);
        let _ = writeln!(text, "- {} {}", code(&name, CELL), escaped(&said));
    }
    if let n @ 1.. = tests.len().saturating_sub(FLAKY) {
        let _ = writeln!(text, "- and {} more", numbers::count(n as u64));
    }
}

fn push_gaps(end: &ReportedRun, text: &mut String) {
    let sentences = gap_lines::sentences(end);
    if sentences.is_empty() {
        return;
    }
    text.push_str("\nThe results are incomplete:\n\n");
    for sentence in sentences {
        let _ = writeln!(text, "- {}", escaped(&sentence));
    }
}

fn push_rounds(end: &ReportedRun, text: &mut String) {
    let Some(rounds) = &end.rounds else {
        return;
    };
    text.push_str("\nRounds:\n\n");
    for line in rounds.lines() {
        let _ = writeln!(text, "- {}", escaped(&line));
    }
}

fn push_baseline(end: &ReportedRun, text: &mut String) {
    let Some(compared) = &end.compared else {
        return;
    };
    let found = &compared.comparison;
    let said = match &found.suite {
        // The gate has said it above.
        Some(suite) if end.is_gated => {
            format!("{}: {}", comparison::size(suite), comparison::difference(found, suite))
        }
        Some(suite) => format!(
            "{}: {}. {}: {}",
            comparison::verdict(found),
            comparison::reason(found, suite),
            comparison::sentence(&comparison::size(suite)).trim_end_matches('.'),
            comparison::difference(found, suite)
        ),
        None => comparison::verdict(found).to_owned(),
    };
    let _ = write!(text, "\n{}\n\n", escaped(&comparison::sentence(&said)));
    text.push_str(&comparison::table(found, CHANGED));
    if let Some(left_out) = comparison::left_out(found) {
        let _ = write!(text, "{}; ", escaped(&left_out));
    }
    let _ = write!(text, "{}; baseline {}", comparison::counts(found), code(&compared.base, 300));
    let _ = match &end.compare_command {
        Some(command) => writeln!(text, "; all of it: {}", code(command, 600)),
        None => writeln!(text),
    };
}

fn push_table(entries: &[CaseEntry], left_out: u64, label_parts: LabelParts, text: &mut String) {
    if entries.is_empty() {
        return;
    }
    text.push_str("\n| | case | score | why | where |\n|---|---|---|---|---|\n");
    let start = text.len();
    let mut hidden = left_out;
    for entry in entries {
        let finding = entry.finding;
        if text.len() - start > TABLE {
            hidden += 1 + entry.hidden;
            continue;
        }
        let score = finding.score.map_or("–".to_owned(), numbers::score);
        let more = match entry.hidden {
            0 => String::new(),
            n => format!(" and {} more", numbers::count(n)),
        };
        let _ = writeln!(
            text,
            "| {} {} | {}{more} | {score} | {} | {} |",
            sign(finding.outcome),
            outcome_phrase(finding.outcome),
            code(&label_parts.name(&finding.label), CELL),
            code(&finding.first_miss(), CELL),
            code(&finding.label.place.text(), CELL),
        );
    }
    if hidden > 0 {
        let _ = writeln!(text, "\n{} more did not pass.", numbers::count(hidden));
    }
}

/// Tests that passed without one of their checks.
fn push_passed_misses(tally: &Tally, label_parts: LabelParts, text: &mut String) {
    let Some(sentence) = tally.passed_misses.sentence() else {
        return;
    };
    let _ = writeln!(text, "\n{sentence}:\n\n| case | score | missed | where |\n|---|---|---|---|");
    for (label, miss) in tally.passed_misses.tests() {
        let more = match miss.checks {
            0 | 1 => String::new(),
            n => format!(" and {} more", numbers::count(n - 1)),
        };
        let place = miss.first.place.as_ref().unwrap_or(&label.place);
        let _ = writeln!(
            text,
            "| {} | {} | {}{more} | {} |",
            code(&label_parts.name(label), CELL),
            miss.score.map_or("–".to_owned(), numbers::score),
            code(&miss.first.why(), CELL),
            code(&place.text(), CELL),
        );
    }
    if let n @ 1.. = tally.passed_misses.left_out() {
        let _ = writeln!(text, "\nand {} more.", numbers::counted(n, "case", "cases"));
    }
}

fn push_details(entries: &[CaseEntry], label_parts: LabelParts, longest: usize, text: &mut String) {
    let mut left_out = 0;
    for entry in entries {
        let block = details(entry, label_parts);
        // The note below takes less than this.
        if text.len() + block.len() + 200 < longest { text.push_str(&block) } else { left_out += 1 }
    }
    if left_out > 0 {
        let cases = numbers::counted(left_out, "case is", "cases are");
        let _ = writeln!(text, "\nDetails of {cases} left out, a comment has no room for more.");
    }
}

fn details(entry: &CaseEntry, label_parts: LabelParts) -> String {
    let finding = entry.finding;
    let mut text = format!(
        "\n<details><summary>{} {} {}</summary>\n\n",
        sign(finding.outcome),
        code(&label_parts.name(&finding.label), CELL),
        outcome_phrase(finding.outcome),
    );
    if let Some(trouble) = finding.unexplained_fault() {
        let _ = writeln!(text, "{}\n", code(&trouble.text(), usize::MAX));
    }
    for check in &finding.checks {
        let place = check.place.as_ref().unwrap_or(&finding.label.place);
        let _ = writeln!(
            text,
            "- {} {} at {}",
            code(&check.title(), usize::MAX),
            escaped(&check.sentence()),
            code(&place.text(), usize::MAX)
        );
        push_sentences(&check.misses, "✗", &mut text);
        push_sentences(&check.hits, "✓", &mut text);
        if let Some(reasoning) = &check.reasoning {
            let _ = writeln!(text, "  - {}", code(reasoning, usize::MAX));
        }
        for tail in &check.output {
            push_block(
                &format!("{} of {}", tail.title(), code(&check.name, CELL)),
                &tail.text,
                &mut text,
            );
        }
    }
    if finding.checks_left_out > 0 {
        let _ = writeln!(text, "- {} more assertions", finding.checks_left_out);
    }
    if let Some(question) = &finding.question {
        push_said("question", question, &mut text);
    }
    if let Some(answer) = &finding.answer {
        push_said("answer", answer, &mut text);
    }
    if let Some(files) = &finding.files {
        if let Some(summary) = &files.summary {
            let _ = writeln!(text, "\nFiles: {}", code(summary, usize::MAX));
        }
        if let Some(diff) = &files.diff {
            push_said("diff", diff, &mut text);
        }
    }
    if let Some(others) = &entry.others {
        let _ = writeln!(text, "\n{}", code(others, usize::MAX));
    }
    text.push_str("\n</details>\n");
    text
}

fn push_sentences(sentences: &SentenceList, sign: &str, text: &mut String) {
    for sentence in &sentences.shown {
        let _ = writeln!(text, "  - {sign} {}", code(sentence, usize::MAX));
    }
    if sentences.left_out() > 0 {
        let _ = writeln!(text, "  - {sign} {} more", sentences.left_out());
    }
}

/// The question or the answer.
fn push_said(what: &str, said: &Excerpt, text: &mut String) {
    if said.total == 0 {
        let _ = writeln!(text, "\nThe {what} is empty.");
        return;
    }
    let title = comparison::sentence(what);
    let title = title.trim_end_matches('.');
    let cut = if said.lines.len() == said.total {
        String::new()
    } else {
        format!(", {} of {} lines", said.lines.len(), said.total)
    };
    push_block(&format!("{title}{cut}"), said, text);
}

fn push_block(title: &str, said: &Excerpt, text: &mut String) {
    let fence = fence(&said.lines);
    let lines = said.lines.join("\n");
    let _ = writeln!(text, "\n{title}:\n\n{fence}text\n{lines}\n{fence}");
}

/// Longer than every run of backticks inside.
fn fence(lines: &[String]) -> String {
    let runs = lines.iter().flat_map(|line| line.split(|c| c != '`'));
    let longest = runs.map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Names and sentences of others. GitHub looks for mentions, issues and emoji outside of `code` only.
fn code(text: &str, limit: usize) -> String {
    format!("<code>{}</code>", escaped(&text::line(text, limit)))
}

/// Everything that Markdown or HTML could take for more than text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '`' | '*' | '_' | '~' | '[' | ']' | '|' | '\\' | '#' | '@' | '$' | '!' | '"' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            // Links that GitHub would make by itself.
            ':' if text.contains("://") => out.push_str("&#58;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::arms::testing::{arm_row, skill_row};
    use super::super::comparison::testing;
    use super::super::fixture::{self, Shown};
    use super::*;
    use crate::text::OutputStyle;

    fn shown() -> Shown {
        Shown::of(&REPORT, OutputStyle::default())
    }

    #[test]
    fn a_test_that_passes_by_its_share_is_a_note() {
        let text = shown().passing().rows(&fixture::by_share("pos", "pfpf"));
        assert!(text.starts_with("### ✅ evalrig: 2 of 4 passed"), "{text}");
        assert!(
            text.contains("- <code>pos</code> passes: 2 of 4 trials passed, needs 50 %"),
            "{text}"
        );
        assert!(!text.contains("| case |") && !text.contains("❌"), "{text}");
    }

    #[test]
    fn a_run_beside_its_baseline() {
        let mut end = ReportedRun {
            exit_code: Some(1),
            compared: Some(testing::compared(20, 5, 3)),
            compare_command: Some("evalrig compare main.jsonl now.jsonl".to_owned()),
            ..ReportedRun::default()
        };
        let rows = [fixture::row("a", Outcome::Passed, Some(1.0))];
        insta::assert_snapshot!("baseline", shown().end(end.clone()).rows(&rows));
        end.is_gated = true;
        let text = shown().end(end).rows(&rows);
        let first = "### ❌ evalrig gate: worse than the baseline\n\nA drop this large";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("\n✅ evalrig: 1 test passed (100 %, 95 % CI 21–100 %)\n"));
    }

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(shown().rows(&fixture::rows()));
    }

    #[test]
    fn skills_that_take_each_others_place_are_in_a_table() {
        let rows = [
            skill_row("a", &["csv"], &["csv-pro"]),
            skill_row("b", &["csv"], &["csv"]),
            skill_row("c", &[], &["git"]),
            arm_row("without", "a", 1, Outcome::Failed),
        ];
        let text = shown().rows(&rows);
        let table = "\
| wanted | cases | used: <code>csv</code> | <code>csv-pro</code> | <code>git</code> | no skill |
|---|---|---|---|---|---|
| <code>csv</code> | 2 | 1 (50 %) | 1 (50 %) |  |  |
| no skill | 1 |  |  | 1 (100 %) |  |
";
        assert!(text.contains(table), "{text}");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let fence_of = |line: &str| fence(&[line.to_owned()]);
        assert_eq!(fence_of("plain"), "```");
        assert_eq!(fence_of("a ``` b"), "````");
        assert_eq!(fence_of("`````"), "``````");
    }

    #[test]
    fn names_mean_nothing_but_themselves() {
        assert_eq!(
            code("a|b `x` @me <img> https://x.y", 90),
            "<code>a&#124;b &#96;x&#96; &#64;me &lt;img&gt; https&#58;//x.y</code>"
        );
    }

    #[test]
    fn answers_stay_in_their_fence() {
        let mut row = fixture::missing("a", "m");
        row.candidate_answer = Some("```\n</details>\n````\n@everyone".to_owned());
        let text = shown().rows(&[row]);
        assert!(text.contains("\n`````text\n```\n</details>\n````\n@everyone\n`````\n"), "{text}");
    }

    #[test]
    fn a_comment_has_an_end_and_says_what_it_leaves_out() {
        let long = "long ".repeat(100);
        let rows: Vec<_> = (0..3_000)
            .map(|n| {
                let mut row = fixture::missing(&format!("t{n:04}"), &format!("{n} {long}"));
                row.candidate_answer = Some(long.clone());
                row
            })
            .collect();
        let text = shown().rows(&rows);
        assert!(text.len() <= LONGEST, "{}", text.len());
        assert!(text.contains("more did not pass."));
        assert!(text.contains("left out, a comment has no room"));
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}
