//! Tests that changed, as a table. Names cannot leave their cell.

use std::fmt::Write as _;

use evalrig_core::compare::{Change, Comparison};

use super::{Names, by_importance, phrase};
use crate::text;

/// Of a name.
const CELL: usize = 120;

/// At most so many tests that are not as they were; nothing when all are.
pub fn table(comparison: &Comparison, most: usize) -> String {
    let mut changed = by_importance(comparison);
    changed.retain(|test| test.change != Change::Unchanged);
    if changed.is_empty() {
        return String::new();
    }
    let mut out = "| | test | target | base | candidate |\n|---|---|---|---|---|\n".to_owned();
    // Targets have a column.
    let names = Names::among(comparison);
    for test in changed.iter().take(most) {
        let word = if test.is_certain {
            format!("**{}**", test.change.word())
        } else {
            test.change.word().to_owned()
        };
        let _ = writeln!(
            out,
            "| {word} | {} | {} | {} | {} |",
            cell(&names.test(test)),
            cell(&test.target),
            phrase::passes(test.base),
            phrase::passes(test.candidate),
        );
    }
    if changed.len() > most {
        let _ = writeln!(out, "\nand {} more", changed.len() - most);
    }
    out.push('\n');
    out
}

/// As code, in which nothing but backticks and bars means anything.
pub fn cell(text: &str) -> String {
    let text = text::line(text, CELL).replace('`', "'").replace('|', "¦");
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_cell() {
        assert_eq!(cell("a|b `x`\n| c"), "`a¦b 'x' ¦ c`");
        assert!(cell(&"x".repeat(500)).chars().count() < 130);
    }
}
