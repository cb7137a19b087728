//! Inlay hints: the results of the last run at the end of the lines of tests and assertions.

use std::collections::HashMap;

use evalrig_run::text::single_line;
use lsp_types::{InlayHint, Label, Position, Range};

use crate::last_run::{AssertionResult, LastRun, TestResult};

use super::spot::Spot;

/// A longer miss is cut.
const LONGEST: usize = 80;

pub(crate) fn inlay_hints(spot: &Spot<'_>, range: Range, run: Option<&LastRun>) -> Vec<InlayHint> {
    let (Some(suite), Some(run)) = (spot.suite(), run) else {
        return Vec::new();
    };
    let mut by_line: HashMap<u32, String> = HashMap::new();
    // Assertions that several tests share have the results of all of them.
    let mut assertions: HashMap<Position, AssertionResult> = HashMap::new();
    for test in &suite.tests {
        let Some(result) = run.tests.get(&test.id) else { continue };
        if test.path == spot.path {
            by_line.entry(test.range.start.line).or_insert_with(|| of_test(result));
        }
        for assertion in test.assertions.iter().filter(|one| one.path == spot.path) {
            if let Some(found) = result.assertions.get(&assertion.name) {
                let sum = assertions.entry(assertion.start).or_default();
                sum.met += found.met;
                sum.all += found.all;
                sum.miss = found.miss.clone().or(sum.miss.take());
            }
        }
    }
    for (place, result) in assertions {
        by_line.entry(place.line).or_insert_with(|| of_assertion(&result));
    }
    let mut lines: Vec<(u32, String)> = by_line.into_iter().collect();
    lines.retain(|(line, text)| {
        (range.start.line..=range.end.line).contains(line) && !text.is_empty()
    });
    lines.sort();
    lines.into_iter().map(|(line, text)| hint(spot, line, text)).collect()
}

fn of_test(result: &TestResult) -> String {
    let mark = match (result.passed, result.all) {
        (_, 0) => "?",
        (passed, all) if passed == all && result.errored == 0 => "✓",
        _ => "✗",
    };
    format!("{mark} {}", result.text())
}

fn of_assertion(result: &AssertionResult) -> String {
    let counts =
        if result.all > 1 { format!(" {}/{}", result.met, result.all) } else { String::new() };
    match &result.miss {
        None => format!("✓{counts}"),
        Some(miss) => {
            let line = miss.lines().next().unwrap_or_default();
            let short: String = line.chars().take(LONGEST).collect();
            let end = if short.len() < miss.len() { "…" } else { "" };
            format!("✗{counts} {short}{end}")
        }
    }
}

fn hint(spot: &Spot<'_>, line: u32, text: String) -> InlayHint {
    let end = spot.lines.line_range(&spot.text, line as usize).end;
    InlayHint {
        position: spot.range(&(end..end)).start,
        label: Label::String(single_line(&text)),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}
