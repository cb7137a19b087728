//! The report for people: what did not pass and why, then the numbers, then one line that says it
//! all.

use std::io::{self, Write};

use evalrig_core::model::{Outcome, Stage};

use super::case_finding::{CaseLabel, missed_checks};
use super::failure_frame::FailureFrame;
use super::failure_groups::{Group, Groups};
use super::held_trials::{HeldTrials, TestByShare};
use super::kept_tally::KeptTally;
use super::label_parts::LabelParts;
use super::pass_k::PassKTally;
use super::summary_block::SummaryBlock;
use super::tally::Tally;
use super::{
    Detail, Report, ReportKind, ReportOptions, ReportedRun, Stopped, SuiteText, comparison,
    gap_lines, rounds, total_lines,
};
use crate::results::Row;
use crate::text::{
    self, numbers,
    paint::{Paint, Tone, outcome_phrase},
    wrap,
};

pub static REPORT: ReportKind = ReportKind {
    name: "terminal",
    doc: "what did not pass and why, with the lines of the suite, and the totals",
    shows_gate: true,
    shows_history: false,
    make: |setting| Box::new(Terminal::new(setting)),
};

/// Causes of one outcome that are drawn; more would not be read.
const DRAWN: usize = 25;
/// Tests that are decided by a share of their trials and named.
const BY_SHARE: usize = 8;

#[derive(Debug)]
pub struct Terminal {
    paint: Paint,
    detail: Detail,
    text: SuiteText,
    tally: Tally,
    pass_k: PassKTally,
    groups: Groups,
    held: HeldTrials,
    by_share: Vec<TestByShare>,
    kept: KeptTally,
}

impl Terminal {
    pub fn new(setting: &ReportOptions) -> Self {
        Self {
            paint: Paint::new(setting.style),
            detail: setting.detail,
            text: setting.text.clone(),
            tally: Tally::new(setting.exit_rule),
            pass_k: PassKTally::default(),
            groups: Groups::default(),
            held: HeldTrials::default(),
            by_share: Vec::new(),
            kept: KeptTally::default(),
        }
    }

    /// One line, written at once: a list of all that passed would have to be kept.
    fn write_list_entry(&self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let label = CaseLabel::of(row);
        let paint = &self.paint;
        let mut facts = vec![label.target];
        if row.trial > 1 {
            facts.push(format!("trial {}", row.trial));
        }
        facts.extend(row.score.map(|score| format!("score {}", numbers::score(score))));
        facts.extend(row.duration_ms.map(numbers::duration));
        if let Some(error) = &row.error {
            facts.push(text::line(&error.message, 200));
        }
        let facts = facts.join(&format!(" {} ", paint.signs().dot));
        let sign = paint.tone(Tone::of(row.outcome), paint.sign(row.outcome));
        let test = paint.cut(&label.test, paint.columns() - 24);
        let room = paint.columns().saturating_sub(wrap::width(&test) + 4);
        let facts = paint.tone(Tone::Faint, &paint.cut(&facts, room.max(20)));
        writeln!(out, "{sign} {test}  {facts}")?;
        match row.outcome {
            Outcome::Passed => self.write_missed(row, out),
            _ => Ok(()),
        }
    }

    /// Checks that a test passed without, below its entry, each with its line.
    fn write_missed(&self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let paint = &self.paint;
        for check in missed_checks(row) {
            let place = check.place.clone().unwrap_or_else(|| CaseLabel::of(row).place);
            let place = format!("{}:{}", self.text.path(&place.file), place.line);
            writeln!(
                out,
                "    {}  {}",
                paint.tone(Tone::Place, &paint.text(&place)),
                paint.text(&check.text())
            )?;
            for miss in &check.misses.shown {
                let sign = paint.tone(Tone::Bad, paint.signs().miss);
                let miss = paint.cut(miss, paint.columns().saturating_sub(8));
                writeln!(out, "      {sign} {miss}")?;
            }
        }
        Ok(())
    }

    fn write_failures(&self, out: &mut dyn Write) -> io::Result<()> {
        let frame = FailureFrame {
            paint: &self.paint,
            text: &self.text,
            label_parts: LabelParts::of(&self.tally),
        };
        let groups = self.groups.in_order();
        for outcome in [Outcome::Failed, Outcome::Borderline, Outcome::Errored] {
            let all: Vec<_> = groups.iter().filter(|group| group.outcome == outcome).collect();
            for group in all.iter().take(DRAWN) {
                self.group(&frame, group, out)?;
            }
            let rest: u64 = all.iter().skip(DRAWN).map(|group| group.size()).sum();
            if let n @ 1.. = rest + self.groups.left_out().of(outcome) {
                let more = numbers::count(n);
                let phrase = outcome_phrase(outcome);
                let text = format!("and {more} more {phrase}; the results file has them all");
                let text = self.paint.tone(Tone::Faint, &text);
                let sign = self.paint.tone(Tone::of(outcome), self.paint.sign(outcome));
                writeln!(out, "{sign} {text}\n")?;
            }
        }
        Ok(())
    }

    fn group(&self, frame: &FailureFrame, group: &Group, out: &mut dyn Write) -> io::Result<()> {
        let others = frame.label_parts.others(group);
        for (at, finding) in group.shown.iter().enumerate() {
            let is_last = at + 1 == group.shown.len();
            let last = others.as_deref().filter(|_| is_last);
            frame.draw(finding, last, out)?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// What to type now.
    fn next(&self, end: &ReportedRun) -> Vec<(String, &'static str)> {
        let mut next = Vec::new();
        if matches!(end.stopped, Some(Stopped::Signal | Stopped::Failures))
            && let Some(command) = &end.resume_command
        {
            next.push((total_lines::path_text(command), "continue where it stopped"));
        }
        if let Some(command) = &end.compare_command {
            next.push((total_lines::path_text(command), "see all that changed"));
        }
        let groups = self.groups.in_order();
        let Some(group) = groups.first() else {
            return next;
        };
        match (&end.failed_command, grade_command(&groups, end)) {
            (_, Some(command)) => next.push((command, "ask the judge again about these answers")),
            (Some(command), None) => {
                next.push((total_lines::path_text(command), "run what did not pass again"));
            }
            (None, None) => {}
        }
        let label = &group.shown[0].label;
        let test = format!("{}#{}", self.text.path(&label.place.file), label.test);
        let show = format!("evalrig show {}", text::shell_word(&test));
        next.push((show, "see the test as it was loaded"));
        next
    }

    /// Nothing when all is well; what went wrong is never left out.
    fn finish_quietly(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let counts = self.tally.deciding.counts;
        let allowed = self.tally.verdicts.allowed().total();
        let fine = counts.of(Outcome::Passed) + counts.of(Outcome::Skipped) + allowed;
        let has_failed = !end.is_gated && end.exit_code.is_some_and(|code| code != 0);
        if fine < counts.total() || end.stopped.is_some() || !end.gaps.is_empty() || has_failed {
            self.write_failures(out)?;
            self.missing(end, out)?;
            self.last_line(end, out)?;
        } else if !end.is_gated || end.exit_code == Some(0) {
            return Ok(());
        }
        self.gate_line(end, out)
    }

    /// Tests that passed or failed by the share of their trials.
    fn tests_by_share(&self, block: &SummaryBlock, out: &mut dyn Write) -> io::Result<()> {
        for (at, test) in self.by_share.iter().take(BY_SHARE).enumerate() {
            let (name, text) = test.parts(LabelParts::of(&self.tally));
            let text = format!("`{}` {text}", self.paint.cut(&name, self.paint.columns() / 2));
            block.fact(["trials", ""][at.min(1)], Some(text), out)?;
        }
        let more = self.by_share.len().saturating_sub(BY_SHARE);
        let more = (more > 0).then(|| format!("and {} more", numbers::count(more as u64)));
        block.fact("", more, out)
    }

    /// What the results lack.
    fn missing(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let block = SummaryBlock { paint: &self.paint, detail: self.detail };
        for (at, sentence) in gap_lines::sentences(end).into_iter().enumerate() {
            block.fact(if at == 0 { "missing" } else { "" }, Some(sentence), out)?;
        }
        Ok(())
    }

    fn last_line(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let (outcome, text) = total_lines::headline(&self.tally, end);
        self.line(outcome, &text, out)
    }

    /// Behind the last line, because it is what decides.
    fn gate_line(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        match comparison::gate(end) {
            Some(gate) => self.line(gate.outcome, &gate.line(), out),
            None => Ok(()),
        }
    }

    fn line(&self, outcome: Outcome, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let sign = self.paint.sign(outcome);
        for (at, line) in self.paint.wrap(text, self.paint.columns() - 2).iter().enumerate() {
            let line = match at {
                0 => format!("{sign} {line}"),
                _ => format!("  {line}"),
            };
            let line = self.paint.tone(Tone::of(outcome), &line);
            writeln!(out, "{}", self.paint.tone(Tone::Strong, &line))?;
        }
        Ok(())
    }

    /// `60 runs in .co/evals`.
    fn run_log(&self) -> Option<String> {
        let record = self.text.path(self.tally.record.as_deref()?);
        let (store, _) = record.rsplit_once(['/', '\\'])?;
        let runs = numbers::counted(self.tally.logged, "run", "runs");
        Some(format!("{runs} in {}", total_lines::path_text(store)))
    }
}

/// Where only judges are to blame, the answers are there, and agents need not be paid again.
fn grade_command(groups: &[&Group], end: &ReportedRun) -> Option<String> {
    let is_of_judge = |group: &&Group| {
        let trouble = group.shown[0].trouble.as_ref();
        group.outcome == Outcome::Errored
            && trouble.is_some_and(|trouble| trouble.stage == Stage::Judge.word())
    };
    let results = end.results.as_ref().filter(|path| path.extension() == Some("jsonl"))?;
    let path = total_lines::path_text(&text::shell_word(results.as_str()));
    groups.iter().all(is_of_judge).then(|| format!("evalrig grade {path}"))
}

impl Report for Terminal {
    fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        self.tally.add(row);
        self.kept.add(row);
        if self.detail == Detail::Verbose {
            self.pass_k.add(row);
        }
        match row.outcome {
            Outcome::Failed | Outcome::Borderline if !row.decides() => Ok(()),
            Outcome::Passed | Outcome::Skipped if self.detail == Detail::Verbose => {
                self.write_list_entry(row, out)
            }
            Outcome::Passed | Outcome::Skipped => Ok(()),
            _ => {
                if let Some(finding) = self.held.sort(row, &self.tally.verdicts) {
                    self.groups.add(finding);
                }
                Ok(())
            }
        }
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        self.by_share = self.held.settle(&self.tally.verdicts).add_to(&mut self.groups);
        if self.detail == Detail::Quiet {
            return self.finish_quietly(end, out);
        }
        let counts = self.tally.deciding.counts;
        let listed = counts.of(Outcome::Passed) + counts.of(Outcome::Skipped);
        if self.detail == Detail::Verbose && listed > 0 {
            writeln!(out)?;
        }
        self.write_failures(out)?;
        if listed < counts.total() {
            let rule = self.paint.signs().rule.repeat(self.paint.columns());
            writeln!(out, "{}", self.paint.tone(Tone::Faint, &rule))?;
        }
        let paths = match self.detail {
            Detail::Verbose => [("results", &end.results), ("summary", &end.summary)],
            _ => [("results", &end.results), ("summary", &None)],
        };
        let block = SummaryBlock { paint: &self.paint, detail: self.detail };
        block.numbers(&self.tally, end, out)?;
        self.tests_by_share(&block, out)?;
        for (label, text) in self.pass_k.lines() {
            block.fact(&label, Some(text), out)?;
        }
        for (label, path) in paths {
            let path = path.as_ref().map(|path| total_lines::path_text(path.as_str()));
            block.fact(label, path, out)?;
        }
        for (at, path) in end.reports.iter().enumerate() {
            let path = total_lines::path_text(path.as_str());
            block.fact(if at == 0 { "report" } else { "" }, Some(path), out)?;
        }
        for (at, line) in self.kept.lines().into_iter().enumerate() {
            block.fact(if at == 0 { "kept" } else { "" }, Some(line), out)?;
        }
        let logged = self.run_log();
        let label = if logged.is_some() { "" } else { "run log" };
        block.fact("run log", logged, out)?;
        block.fact(label, end.run_log.sentence().map(str::to_owned), out)?;
        self.missing(end, out)?;
        comparison::draw(&block, end, out)?;
        rounds::draw(&block, end.rounds.as_ref(), out)?;
        block.next(&self.next(end), out)?;
        writeln!(out)?;
        self.last_line(end, out)?;
        self.gate_line(end, out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::testing;
    use super::super::fixture::{self, Shown};
    use super::*;
    use crate::text::OutputStyle;

    /// Twenty tests that got worse, or stayed as they were.
    fn gated(now: u32, exit_code: u8) -> ReportedRun {
        ReportedRun {
            exit_code: Some(exit_code),
            is_gated: true,
            compared: Some(testing::compared(20, 5, now)),
            compare_command: Some("evalrig compare main.jsonl now.jsonl".to_owned()),
            ..ReportedRun::default()
        }
    }

    fn passed() -> [Row; 1] {
        [fixture::row("a", Outcome::Passed, Some(1.0))]
    }

    #[test]
    fn a_run_beside_its_baseline() {
        let end = ReportedRun { is_gated: false, ..gated(3, 0) };
        insta::assert_snapshot!("baseline", shown(OutputStyle::default()).end(end).rows(&passed()));
    }

    #[test]
    fn the_gate_has_the_last_word() {
        insta::assert_snapshot!(
            "gate",
            shown(OutputStyle::default()).end(gated(3, 1)).rows(&passed())
        );
        let failed = [fixture::missing("a", "m")];
        let text = shown(OutputStyle::default()).end(gated(5, 0)).rows(&failed);
        let (_, last) = text.split_once("\n✗ 0 of 1 passed").unwrap();
        assert!(last.contains("\n✓ gate: equivalent to the baseline;"), "{text}");
        assert!(!text.contains("exit     "), "{text}");
    }

    #[test]
    fn quiet_is_silent_only_when_the_gate_is_well_too() {
        let quiet = |end: ReportedRun| {
            let shown = shown(OutputStyle::default()).detail(Detail::Quiet);
            shown.end(end).rows(&passed())
        };
        assert_eq!(quiet(gated(5, 0)), "");
        assert!(quiet(gated(3, 1)).starts_with("✗ gate: worse than the baseline"));
    }

    #[test]
    fn a_test_that_passes_by_its_share_is_not_reported_as_failed() {
        let end = || ReportedRun { exit_code: Some(0), ..ReportedRun::default() };
        let rows = fixture::by_share("pos", "pfpf");
        let text = shown(OutputStyle::default()).end(end()).rows(&rows);
        assert!(!text.contains('╭') && !text.contains("exit  "), "{text}");
        let line = "trials   `pos` passes: 2 of 4 trials passed, needs 50 %; missed: csv was not";
        assert!(text.contains(line), "{text}");
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("✓ 2 of 4 passed (50 %, "), "{text}");
        assert!(last.contains(", 2 failed trials allowed"), "{text}");
        let quiet = shown(OutputStyle::default()).detail(Detail::Quiet).end(end());
        assert_eq!(quiet.rows(&rows), "");
    }

    #[test]
    fn a_test_that_fails_by_its_share_says_what_it_needs() {
        let rows = fixture::by_share("pos", "pfff");
        let text = shown(OutputStyle::default()).rows(&rows);
        assert!(text.contains('╭'), "{text}");
        assert!(text.contains("`pos` fails: 1 of 4 trials passed, needs 50 %"), "{text}");
        assert!(text.lines().last().unwrap().contains(", 3 failed"), "{text}");
    }

    fn shown(look: OutputStyle) -> Shown {
        Shown::of(&REPORT, look)
    }

    #[test]
    fn a_run_with_everything_in_it() {
        insta::assert_snapshot!(shown(OutputStyle::default()).rows(&fixture::rows()));
    }

    #[test]
    fn a_narrow_place_in_ascii() {
        let look = OutputStyle { color: false, width: Some(60), unicode: false };
        let text = shown(look).rows(&fixture::rows());
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn changed_files_are_shown_with_their_diff() {
        let text = shown(OutputStyle::default()).rows(&[fixture::changed_files()]);
        insta::assert_snapshot!("changed_files", text);
    }

    #[test]
    fn every_kept_workspace_is_counted_and_one_can_be_entered() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_str().unwrap();
        let rows: Vec<Row> = (0..6)
            .map(|number| {
                let mut row = fixture::changed_files();
                row.eval_id = format!("t{number}");
                let path = format!("{place}/t{number}-1");
                std::fs::create_dir(&path).unwrap();
                row.workspace.as_mut().unwrap().path = Some(path);
                row
            })
            .collect();
        let text = shown(OutputStyle::default()).rows(&rows);
        let line = format!("  kept     6 workspaces in {place}; enter one with: cd {place}/t0-1\n");
        assert!(text.contains(&line), "{text}");
        assert!(text.contains("the same in 4 more"), "{text}");
    }

    #[test]
    fn a_run_in_which_all_is_well() {
        let rows = [
            fixture::row("a", Outcome::Passed, Some(1.0)),
            fixture::row("b", Outcome::Passed, Some(0.9)),
        ];
        insta::assert_snapshot!(shown(OutputStyle::default()).passing().rows(&rows));
    }

    #[test]
    fn quiet_leaves_out_totals_and_verbose_lists_what_passed() {
        let rows = fixture::rows();
        let normal = shown(OutputStyle::default()).rows(&rows);
        let quiet = shown(OutputStyle::default()).detail(Detail::Quiet).rows(&rows);
        assert!(quiet.contains("╭─ evals/support/EVAL.yaml:24") && !quiet.contains("results  "));
        assert_eq!(normal.lines().last(), quiet.lines().last());
        let passed: Vec<Row> =
            rows.iter().filter(|row| row.outcome == Outcome::Passed).cloned().collect();
        let silent = shown(OutputStyle::default()).detail(Detail::Quiet).passing().rows(&passed);
        assert_eq!(silent, "");
        let verbose = shown(OutputStyle::default()).detail(Detail::Verbose).rows(&rows);
        assert!(verbose.contains("╭─ evals/support/EVAL.yaml:24"));
        assert!(verbose.contains(".summary.json") && !normal.contains(".summary.json"));
        assert!(verbose.starts_with("✓ greets-politely"), "{verbose}");
        assert!(!normal.contains("greets-politely"));
    }

    #[test]
    fn colours_change_nothing_else() {
        let plain = shown(OutputStyle::default()).rows(&fixture::rows());
        let coloured = OutputStyle { color: true, ..OutputStyle::default() };
        let mut text = shown(coloured).rows(&fixture::rows());
        assert!(text.contains('\u{1b}'));
        while let Some(start) = text.find("\u{1b}[") {
            let end = start + text[start..].find('m').unwrap();
            text.replace_range(start..=end, "");
        }
        let trimmed = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.trim_end().to_owned()).collect()
        };
        assert_eq!(trimmed(&text), trimmed(&plain));
    }

    #[test]
    fn no_line_is_wider_than_the_place() {
        let mut rows = fixture::rows();
        rows.extend(fixture::hostile_rows());
        for width in [60, 80, 100, 140] {
            for unicode in [true, false] {
                let look = OutputStyle { color: false, width: Some(width), unicode };
                let text = shown(look).suite(|_, _| Some(fixture::HOSTILE.to_owned())).rows(&rows);
                assert!(unicode || text.is_ascii(), "{text}");
                // Paths and commands are there to be copied.
                let drawn = text
                    .lines()
                    .filter(|line| !line.contains(".jsonl") && !line.contains("evalrig show"));
                for line in drawn {
                    assert!(wrap::width(line) <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn the_order_of_rows_makes_no_difference() {
        let mut rows = fixture::rows();
        let text = shown(OutputStyle::default()).rows(&rows);
        rows.reverse();
        assert_eq!(shown(OutputStyle::default()).rows(&rows), text);
        rows.rotate_left(5);
        assert_eq!(shown(OutputStyle::default()).rows(&rows), text);
    }

    #[test]
    fn many_errors_with_one_cause_are_told_once() {
        let rows: Vec<_> = (0..500)
            .map(|n| {
                let mut row = fixture::row(&format!("t{n:03}"), Outcome::Errored, None);
                row.error = Some(fixture::fault("target", "network", "connection refused"));
                row
            })
            .collect();
        let text = shown(OutputStyle::default()).rows(&rows);
        assert_eq!(text.matches("connection refused").count(), 1);
        assert!(text.contains("the same in 499 more: t001, t002, t003, t004, …"), "{text}");
        assert!(text.lines().count() < 20, "{text}");
    }

    #[test]
    fn the_suite_may_be_gone() {
        let text = shown(OutputStyle::default()).without_suite().rows(&fixture::rows());
        assert!(text.contains("evals/support/EVAL.yaml:31"), "{text}");
        assert!(text.contains("✗ Output contains '14 days'"));
    }
}
