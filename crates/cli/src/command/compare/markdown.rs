//! The comparison as a comment for a pull request. Names cannot leave their cell.

use std::fmt::Write as _;

use evalrig_core::compare::{Change, SelfTest, TestChange};

use super::{Shown, phrase};
use crate::render::visible;

/// GitHub refuses comments of more than 65 536 characters.
const ROWS: usize = 200;
/// Of a name.
const CELL: usize = 120;

pub fn comparison(shown: &Shown) -> String {
    let comparison = shown.comparison;
    let mut out = match &comparison.suite {
        Some(suite) => format!(
            "### evalrig: {}\n\n{}: {}.\n\n{}\n\n",
            suite.judged.verdict.word(),
            phrase::size(suite),
            phrase::difference(comparison, suite),
            sentence(&phrase::reason(comparison, suite)),
        ),
        None => "### evalrig: nothing to compare\n\n".to_owned(),
    };
    out += &table(&comparison.tests);
    let _ = writeln!(out, "{}\n", phrase::counts(comparison));
    let _ = writeln!(
        out,
        "base {}, candidate {}",
        cell(&shown.base),
        cell(&shown.candidate)
    );
    out
}

fn table(tests: &[TestChange]) -> String {
    let changed: Vec<&TestChange> = Change::ALL
        .iter()
        .filter(|change| **change != Change::Unchanged)
        .flat_map(|change| tests.iter().filter(move |test| test.change == *change))
        .collect();
    if changed.is_empty() {
        return String::new();
    }
    let mut out = "| | test | target | base | candidate |\n|---|---|---|---|---|\n".to_owned();
    for test in changed.iter().take(ROWS) {
        let word = match test.is_certain {
            true => format!("**{}**", test.change.word()),
            false => test.change.word().to_owned(),
        };
        let _ = writeln!(
            out,
            "| {word} | {} | {} | {} | {} |",
            cell(&test.test),
            cell(&test.target),
            phrase::passes(test.base),
            phrase::passes(test.candidate),
        );
    }
    if changed.len() > ROWS {
        let _ = writeln!(out, "\nand {} more", changed.len() - ROWS);
    }
    out.push('\n');
    out
}

/// As code, in which nothing but backticks and bars means anything.
fn cell(text: &str) -> String {
    let text = visible::line(text).replace('`', "'").replace('|', "¦");
    let short: String = text.chars().take(CELL).collect();
    format!("`{short}`")
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}

pub fn selftest(name: &str, found: &SelfTest) -> String {
    let [alarms, drop] = phrase::selftest(found);
    format!(
        "### evalrig: the gate tried on {}\n\n- {alarms}\n- {drop}\n",
        cell(name)
    )
}
