//! The comparison as Markdown, for a comment on a pull request.

use std::fmt::Write as _;

use evalrig_core::compare::SelfTest;
use evalrig_run::report::comparison as words;

use super::{Shown, phrase};

/// GitHub refuses comments of more than 65 536 characters.
const ROWS: usize = 200;

pub fn comparison(shown: &Shown) -> String {
    let comparison = shown.comparison;
    let mut out = match &comparison.suite {
        Some(suite) => {
            let notes =
                [words::left_out(comparison), words::drift(suite), words::unmeasured(suite)];
            let notes =
                notes.into_iter().flatten().map(|note| format!(" {}", words::sentence(&note)));
            format!(
                "### evalrig: {}\n\n{}: {}.{}\n\n{}\n\n",
                suite.judged.verdict.word(),
                words::size(suite),
                words::difference(comparison, suite),
                notes.collect::<String>(),
                words::sentence(&phrase::reason(shown, suite)),
            )
        }
        None => "### evalrig: nothing to compare\n\n".to_owned(),
    };
    for line in shown.rounds.iter().flat_map(|rounds| rounds.lines()) {
        let _ = writeln!(out, "- rounds: {}", words::cell(&line));
    }
    for gap in &shown.gaps {
        let _ = writeln!(out, "- incomplete: {}", words::cell(gap));
    }
    if !shown.gaps.is_empty() {
        out.push('\n');
    }
    out += &words::table(comparison, ROWS);
    let _ = writeln!(out, "{}\n", words::counts(comparison));
    let _ = writeln!(
        out,
        "base {}, candidate {}",
        words::cell(&shown.base),
        words::cell(&shown.candidate)
    );
    out
}

pub fn selftest(name: &str, found: &SelfTest) -> String {
    let lines = phrase::selftest(found).into_iter().map(|line| format!("- {line}\n"));
    format!(
        "### evalrig: the gate tried on {}\n\n{}.\n\n{}",
        words::cell(name),
        phrase::method(found),
        lines.collect::<String>()
    )
}
