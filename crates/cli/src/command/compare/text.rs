//! The comparison as text.

use std::fmt::Write as _;

use evalrig_core::compare::{Change, Comparison, ComparisonVerdict, SelfTest};
use evalrig_run::report::{Detail, comparison as words};

use super::{Shown, answers, phrase};
use evalrig_run::text::paint::{Paint, Tone};
use evalrig_run::text::{self, wrap};

pub fn comparison(shown: &Shown, detail: Detail, paint: &Paint) -> String {
    let comparison = shown.comparison;
    let mut out = String::new();
    if detail != Detail::Quiet {
        let _ = writeln!(out, "base       {}", text::single_line(&shown.base));
        let _ = writeln!(out, "candidate  {}\n", text::single_line(&shown.candidate));
        out += &list(comparison, detail, paint);
        out += &answers::draw(comparison, &shown.answers, paint);
        let _ = writeln!(out, "{}", words::counts(comparison));
        if let Some(note) = words::single_trials(comparison) {
            let _ = writeln!(out, "{note}");
        }
    }
    for gap in &shown.gaps {
        let _ = writeln!(out, "incomplete: {}", text::single_line(gap));
    }
    let Some(suite) = &comparison.suite else {
        return out;
    };
    if detail != Detail::Quiet {
        let _ = writeln!(out, "{}", words::size(suite));
        let _ = writeln!(out, "{}", paint.text(&words::difference(comparison, suite)));
        let notes = [words::left_out(comparison), words::drift(suite), words::unmeasured(suite)];
        for note in notes.into_iter().flatten() {
            let _ = writeln!(out, "{}", paint.text(&note));
        }
        for line in words::usage(comparison) {
            let _ = writeln!(out, "{}", paint.text(&line));
        }
    }
    for line in shown.rounds.iter().flat_map(|rounds| rounds.lines()) {
        let _ = writeln!(out, "rounds: {}", paint.text(&line));
    }
    let verdict = suite.judged.verdict;
    let word = paint.tone(tone(verdict), verdict.word());
    let _ = writeln!(out, "{word}: {}", phrase::reason(shown, suite));
    out
}

/// Changed tests; with `--verbose` all tests.
fn list(comparison: &Comparison, detail: Detail, paint: &Paint) -> String {
    let mut shown = words::by_importance(comparison);
    shown.retain(|test| test.change != Change::Unchanged || detail == Detail::Verbose);
    if shown.is_empty() {
        return String::new();
    }
    let called = words::Names::among(comparison);
    let names: Vec<String> =
        shown.iter().map(|test| paint.cut(&text::single_line(&called.case(test)), 60)).collect();
    let widest = names.iter().map(|name| wrap::width(name)).max().unwrap_or(0);
    let mut out = String::new();
    for (test, name) in shown.iter().zip(names) {
        let word = format!("{:<12}", test.change.word());
        let word = change_tone(test.change).map_or(word.clone(), |tone| paint.tone(tone, &word));
        let pad = widest - wrap::width(&name);
        let sides = words::sides(test);
        let _ = writeln!(out, "{word}  {name}{:pad$}  {}", "", paint.text(&sides));
    }
    out.push('\n');
    out
}

pub fn selftest(name: &str, found: &SelfTest) -> String {
    let lines = phrase::selftest(found).join("\n");
    format!("{}: {}\n{lines}\n", text::single_line(name), phrase::method(found))
}

fn tone(verdict: ComparisonVerdict) -> Tone {
    match verdict {
        ComparisonVerdict::Worse => Tone::Bad,
        ComparisonVerdict::Inconclusive => Tone::Middling,
        _ => Tone::Good,
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
