//! The comparison as text.

use std::fmt::Write as _;

use evalrig_core::compare::{Change, Comparison, ComparisonVerdict, SelfTest, TestChange};
use evalrig_run::report::{Detail, comparison as words};

use super::{Shown, phrase};
use evalrig_run::text::paint::{Paint, Tone};
use evalrig_run::text::{self, OutputStyle};

pub fn comparison(shown: &Shown, detail: Detail, look: OutputStyle) -> String {
    let comparison = shown.comparison;
    let mut out = String::new();
    if detail != Detail::Quiet {
        let _ = writeln!(out, "base       {}", text::single_line(&shown.base));
        let _ = writeln!(out, "candidate  {}\n", text::single_line(&shown.candidate));
        out += &list(comparison, detail, look);
        let _ = writeln!(out, "{}", words::counts(comparison));
    }
    for gap in &shown.gaps {
        let _ = writeln!(out, "incomplete: {}", text::single_line(gap));
    }
    let Some(suite) = &comparison.suite else {
        return out;
    };
    if detail != Detail::Quiet {
        let _ = writeln!(out, "{}", words::size(suite));
        let _ = writeln!(out, "{}", words::difference(comparison, suite));
    }
    let verdict = suite.judged.verdict;
    let word = painted(verdict.word(), tone(verdict), look);
    let _ = writeln!(out, "{word}: {}", words::reason(comparison, suite));
    out
}

/// Changed tests; with `--verbose` all tests.
fn list(comparison: &Comparison, detail: Detail, look: OutputStyle) -> String {
    let is_shown = |test: &&TestChange| {
        test.change != Change::Unchanged || test.is_certain || detail == Detail::Verbose
    };
    let shown: Vec<&TestChange> = comparison.tests.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return String::new();
    }
    let names = words::Names::among(comparison);
    let name = |test: &TestChange| text::single_line(&names.case(test));
    let width = shown.iter().map(|test| name(test).chars().count()).max();
    let width = width.unwrap_or(0).min(60);
    let mut out = String::new();
    for change in Change::ALL {
        for test in shown.iter().filter(|test| test.change == *change) {
            let word = painted(&format!("{:<12}", change.word()), change_tone(*change), look);
            let certain = if test.is_certain { "  beyond chance" } else { "" };
            let _ = writeln!(
                out,
                "{word}  {:<width$}  {} -> {}{certain}",
                name(test),
                words::passes(test.base),
                words::passes(test.candidate),
            );
        }
    }
    out.push('\n');
    out
}

pub fn selftest(name: &str, found: &SelfTest) -> String {
    let [alarms, drop] = phrase::selftest(found);
    let half = (found.half * 10.0).round() / 10.0;
    let tests = if found.tests == 1 { "test" } else { "tests" };
    let trials = if half == 1.0 { "trial" } else { "trials" };
    format!(
        "{}: {} {tests}, split {} times into halves of {half} {trials} each\n{alarms}\n{drop}\n",
        text::single_line(name),
        found.tests,
        found.splits,
    )
}

fn tone(verdict: ComparisonVerdict) -> Option<Tone> {
    match verdict {
        ComparisonVerdict::Better | ComparisonVerdict::Equivalent => Some(Tone::Good),
        ComparisonVerdict::Worse => Some(Tone::Bad),
        ComparisonVerdict::Inconclusive => Some(Tone::Middling),
    }
}

fn change_tone(change: Change) -> Option<Tone> {
    match change {
        Change::Regressed => Some(Tone::Bad),
        Change::Errored => Some(Tone::Odd),
        Change::Fixed => Some(Tone::Good),
        _ => None,
    }
}

fn painted(text: &str, tone: Option<Tone>, look: OutputStyle) -> String {
    match tone {
        Some(tone) => Paint::new(look).tone(tone, text),
        None => text.to_owned(),
    }
}
