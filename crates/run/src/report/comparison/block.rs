//! The baseline among the numbers of a run.

use std::io::{self, Write};

use evalrig_core::compare::{Change, TestChange};

use super::super::other_runs::Compared;
use super::super::summary_block::SummaryBlock;
use super::super::{ReportedRun, total_lines};
use super::{Names, notable_changes, phrase, usage};
use crate::text::{
    self,
    paint::{Paint, Tone},
    wrap,
};

/// Tests that are named; `compare` has them all.
const NAMED: usize = 5;
/// Of a test's name.
const NAME: usize = 40;

pub fn draw(block: &SummaryBlock, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
    let Some(Compared { base, comparison, .. }) = &end.compared else {
        return Ok(());
    };
    block.fact("baseline", Some(total_lines::path_text(base)), out)?;
    if let Some(suite) = &comparison.suite {
        // The gate says it in the last line.
        let verdict =
            format!("{}: {}", phrase::verdict(comparison), phrase::reason(comparison, suite));
        block.fact("", Some(verdict).filter(|_| !end.is_gated), out)?;
        block.fact("", Some(phrase::size(suite)), out)?;
        block.fact("", phrase::left_out(comparison), out)?;
        block.fact("", Some(phrase::difference(comparison, suite)), out)?;
        block.fact("", phrase::drift(suite), out)?;
        block.fact("", phrase::unmeasured(suite), out)?;
    } else if !end.is_gated {
        block.fact("", Some(phrase::verdict(comparison).to_owned()), out)?;
    }
    for line in usage(comparison) {
        block.fact("", Some(line), out)?;
    }
    block.fact("", Some(phrase::counts(comparison)), out)?;
    block.fact("", phrase::single_trials(comparison).map(str::to_owned), out)?;
    let (shown, more) = notable_changes(comparison, NAMED);
    let called = Names::among(comparison);
    let names: Vec<String> = shown
        .iter()
        .map(|test| text::line(&called.case(test), 200))
        .map(|name| block.paint.cut(&name, NAME.min(block.paint.columns() / 3)))
        .collect();
    let widest = names.iter().map(|name| wrap::width(name)).max();
    for (test, name) in shown.iter().zip(&names) {
        let pad = widest.unwrap_or(0) - wrap::width(name);
        let line = format!("{name}{:pad$}  {}", "", block.paint.text(&phrase::sides(test)));
        block.line(&format!("{}  {line}", word(test, block.paint)), out)?;
    }
    match more {
        0 => Ok(()),
        more => block.fact("", Some(format!("and {more} more")), out),
    }
}

fn word(test: &TestChange, paint: &Paint) -> String {
    let tone = match test.change {
        Change::Regressed => Tone::Bad,
        Change::Fixed => Tone::Good,
        _ => Tone::Faint,
    };
    paint.tone(tone, &format!("{:<9}", test.change.word()))
}
