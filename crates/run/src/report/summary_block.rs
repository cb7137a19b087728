//! The numbers of a run as a block of labelled lines, with a bar of the outcomes above it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use evalrig_core::model::Outcome;
use evalrig_core::stats::Interval;

use super::arms::{self, ArmFinding};
use super::label_parts::LabelParts;
use super::tally::Tally;
use super::test_sample::Sample;
use super::{Detail, ReportedRun, total_lines};
use crate::results::OutcomeCounts;
use crate::text::{
    self, numbers,
    paint::{Paint, Tone, outcome_phrase},
    wrap,
};

const BAR: usize = 50;
const LABEL: usize = 9;
/// Flaky tests that are named.
const FLAKY: usize = 5;
/// Disputed items that are named.
const DISPUTED: usize = 5;
/// Targets or suites in a table.
const LISTED: usize = 12;

#[derive(Debug)]
pub struct SummaryBlock<'a> {
    pub paint: &'a Paint,
    pub detail: Detail,
}

impl SummaryBlock<'_> {
    pub fn numbers(&self, tally: &Tally, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        if tally.deciding.counts.total() > 1
            && tally.deciding.counts.of(Outcome::Passed) < tally.deciding.counts.total()
        {
            self.bar(&tally.deciding.counts, out)?;
            writeln!(out)?;
        }
        self.tests(tally, out)?;
        self.fact("score", total_lines::average(tally), out)?;
        self.fact("tokens", total_lines::tokens(tally), out)?;
        let besides = if tally.totals.judges.calls > 0 && tally.totals.cost.reported > 0 {
            ", judges not included"
        } else {
            ""
        };
        let cost = total_lines::cost(tally).map(|text| format!("{text}{besides}"));
        self.fact("cost", cost, out)?;
        self.fact("cache", total_lines::reused(tally), out)?;
        self.fact("judges", total_lines::judges(tally), out)?;
        self.disputes(tally, out)?;
        self.fact("checks", self.passed_misses(tally), out)?;
        self.table("suites", &tally.suites, &tally.suite_samples, out)?;
        let arms = tally.arms.findings(end.rounds.as_ref(), &end.arm_options);
        if arms.is_empty() {
            self.table("targets", &tally.targets, &tally.target_samples, out)?;
        }
        self.arms(&arms, out)?;
        // What the gate decided is said below.
        self.fact("exit", total_lines::exit(tally, end).filter(|_| !end.is_gated), out)
    }

    fn passed_misses(&self, tally: &Tally) -> Option<String> {
        let sentence = tally.passed_misses.sentence()?;
        Some(match self.detail {
            Detail::Verbose => sentence,
            _ => format!("{sentence}; -v shows what was missed"),
        })
    }

    /// How many tests pass always, and the flaky ones by name.
    fn tests(&self, tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
        self.fact("tests", tally.tests.text(), out)?;
        let (flaky, more) = tally.tests.flaky(FLAKY);
        let label_parts = LabelParts { trials: false, ..LabelParts::of(tally) };
        let room = self.paint.columns() / 2;
        let names: Vec<String> =
            flaky.iter().map(|(label, _)| self.paint.cut(&label_parts.name(label), room)).collect();
        let widest = names.iter().map(|name| wrap::width(name)).max().unwrap_or(0);
        for (at, (name, (_, trials))) in names.iter().zip(&flaky).enumerate() {
            let label =
                self.paint.tone(Tone::Faint, &format!("{:LABEL$}", ["flaky", ""][at.min(1)]));
            let pad = widest - wrap::width(name);
            let trials = self.paint.text(&trials.text()).into_owned();
            let trials = self.paint.tone(Tone::Middling, &trials);
            writeln!(out, "  {label}{name}{:pad$}  {trials}", "")?;
        }
        let more = (more > 0).then(|| format!("and {} more", numbers::count(more)));
        self.fact("", more, out)
    }

    /// The items on which votes differ most.
    fn disputes(&self, tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
        let (lines, more) = tally.disputes.lines(LabelParts::of(tally), DISPUTED);
        for (at, line) in lines.into_iter().enumerate() {
            self.fact(["disputed", ""][at.min(1)], Some(line), out)?;
        }
        let more = (more > 0).then(|| format!("and {} more", numbers::count(more)));
        self.fact("", more, out)
    }

    /// A label and what it says, if there is something to say.
    pub fn fact(&self, label: &str, text: Option<String>, out: &mut dyn Write) -> io::Result<()> {
        let Some(text) = text else {
            return Ok(());
        };
        let room = self.paint.columns().saturating_sub(LABEL + 2);
        let lines = match label {
            "results" | "summary" | "baseline" | "report" | "kept" => {
                vec![self.paint.text(&text).into_owned()]
            }
            _ => self.paint.wrap(&text, room),
        };
        for (at, line) in lines.iter().enumerate() {
            let label = match at {
                0 => label,
                _ => "",
            };
            let label = self.paint.tone(Tone::Faint, &format!("{label:LABEL$}"));
            writeln!(out, "  {label}{line}")?;
        }
        Ok(())
    }

    /// A line that needs no label and is not broken.
    pub fn line(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "  {:LABEL$}{text}", "")
    }

    fn bar(&self, counts: &OutcomeCounts, out: &mut dyn Write) -> io::Result<()> {
        let columns = BAR.min(self.paint.columns().saturating_sub(4));
        let cells = self.paint.signs().cells;
        let mut bar = String::new();
        for (at, width) in bar_widths(counts, columns).into_iter().enumerate() {
            let tone = Tone::of(Outcome::ALL[at]);
            bar.push_str(&self.paint.tone(tone, &cells[at].repeat(width)));
        }
        writeln!(out, "  {bar}")?;
        let mut line = String::new();
        let mut used = 0;
        for (at, outcome) in Outcome::ALL.iter().copied().enumerate() {
            let n @ 1.. = counts.of(outcome) else {
                continue;
            };
            let text = format!("{} {}", numbers::count(n), outcome_phrase(outcome));
            let width = text.len() + 5;
            if used > 0 && used + width > self.paint.columns() {
                writeln!(out, "{}", line.trim_end())?;
                line.clear();
                used = 0;
            }
            used += width;
            let cell = self.paint.tone(Tone::of(outcome), cells[at]);
            line.push_str(&format!("  {cell} {text} "));
        }
        writeln!(out, "{}", line.trim_end())
    }

    /// Only where there is something to compare.
    fn table(
        &self,
        label: &str,
        rows: &BTreeMap<String, OutcomeCounts>,
        samples: &BTreeMap<String, Sample>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if rows.len() < 2 {
            return Ok(());
        }
        let names: Vec<_> =
            rows.keys().map(|name| self.paint.cut(&text::line(name, 80), 30)).collect();
        let shown = names.iter().take(LISTED);
        let widest = shown.map(|name| wrap::width(name)).max().unwrap_or(0);
        for (at, (name, (key, counts))) in names.iter().zip(rows).take(LISTED).enumerate() {
            let interval = samples.get(key).and_then(Sample::shown_rate);
            let label = if at == 0 { label } else { "" };
            self.table_row(label, (name, widest), &row_text(counts, interval), out)?;
        }
        let left_out = rows.len().saturating_sub(LISTED) as u64;
        match left_out {
            0 => Ok(()),
            n => self.fact("", Some(format!("and {} more", numbers::count(n))), out),
        }
    }

    /// A name in a column of its own, with its width, and what is said about it.
    fn table_row(
        &self,
        label: &str,
        (name, widest): (&str, usize),
        text: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let room = self.paint.columns().saturating_sub(LABEL + widest + 4);
        for (at, line) in self.paint.wrap(text, room).iter().enumerate() {
            let (label, name) = if at == 0 { (label, name) } else { ("", "") };
            let label = self.paint.tone(Tone::Faint, &format!("{label:LABEL$}"));
            let pad = widest - wrap::width(name);
            writeln!(out, "  {label}{name}{:pad$}  {line}", "")?;
        }
        Ok(())
    }

    /// The arms with their numbers, and what they say about the baseline arm.
    fn arms(&self, arms: &[ArmFinding], out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> =
            arms.iter().map(|arm| self.paint.cut(&text::line(&arm.name, 80), 24)).collect();
        let widest = names.iter().map(|name| wrap::width(name)).max().unwrap_or(0);
        for (at, (arm, name)) in arms.iter().zip(&names).enumerate() {
            let label = if at == 0 { "arms" } else { "" };
            self.table_row(label, (name, widest), &arms::counts(arm), out)?;
            let more = arms::usage(arm).into_iter().chain(arms::contracts(arm));
            for text in more.chain(arms::skill_lines(&arm.skills)) {
                self.table_row("", ("", widest), &text::line(&text, 500), out)?;
            }
            if let Some(text) = arms::contrast(arm) {
                let text = format!("against `{}`: {text}", arm.bases.join("`, `"));
                self.table_row("", ("", widest), &text::line(&text, 500), out)?;
            }
        }
        Ok(())
    }

    /// Commands to type now, and what for.
    pub fn next(&self, next: &[(String, &str)], out: &mut dyn Write) -> io::Result<()> {
        let columns = self.paint.columns();
        let width = |command: &str| wrap::width(&self.paint.text(command));
        // A command repeats arguments and names of files.
        let next: Vec<(String, &str)> =
            next.iter().map(|(command, why)| (text::single_line(command), *why)).collect();
        let widest = next.iter().map(|(command, _)| width(command)).max().unwrap_or(0);
        let longest = next.iter().map(|(_, why)| why.len()).max().unwrap_or(0);
        let fits = LABEL + 4 + widest + longest <= columns;
        for (at, (command, why)) in next.iter().enumerate() {
            let label = match at {
                0 => "next",
                _ => "",
            };
            let label = self.paint.tone(Tone::Faint, &format!("{label:LABEL$}"));
            let command = self.paint.text(command);
            let pad = widest - wrap::width(&command) + 2;
            let why = if fits {
                format!("{:pad$}{}", "", self.paint.tone(Tone::Faint, why))
            } else {
                String::new()
            };
            writeln!(out, "  {label}{command}{why}")?;
        }
        Ok(())
    }
}

fn row_text(counts: &OutcomeCounts, interval: Option<Interval>) -> String {
    let mut parts = Vec::new();
    if counts.judged() > 0 {
        let passed = counts.of(Outcome::Passed);
        parts.push(numbers::share(passed, counts.judged(), interval));
    }
    for outcome in [Outcome::Errored, Outcome::Skipped] {
        if let n @ 1.. = counts.of(outcome) {
            parts.push(format!("{} {}", numbers::count(n), outcome_phrase(outcome)));
        }
    }
    parts.join(", ")
}

/// Shares of the bar; whatever happened at all has a cell.
fn bar_widths(counts: &OutcomeCounts, columns: usize) -> [usize; 5] {
    let total = counts.total().max(1);
    let mut widths = [0; 5];
    for (width, outcome) in widths.iter_mut().zip(Outcome::ALL) {
        let n = counts.of(*outcome);
        *width = (n as f64 / total as f64 * columns as f64).round() as usize;
        *width = (*width).max(usize::from(n > 0));
    }
    while widths.iter().sum::<usize>() != columns {
        let too_wide = widths.iter().sum::<usize>() > columns;
        let Some(widest) = widths.iter_mut().max() else {
            break;
        };
        if too_wide { *widest -= 1 } else { *widest += 1 }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_once_in_a_hundred_thousand_has_a_cell() {
        let mut counts = OutcomeCounts::default();
        (0..100_000).for_each(|_| counts.add(Outcome::Passed));
        counts.add(Outcome::Failed);
        assert_eq!(bar_widths(&counts, 50), [49, 0, 1, 0, 0]);
        assert_eq!(bar_widths(&OutcomeCounts::default(), 50).iter().sum::<usize>(), 50);
    }
}
