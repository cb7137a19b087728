//! The words of the last lines: how much was found, in how much.

use super::Findings;

pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// `in 2 files (14 tests)`
pub fn extent(findings: &Findings) -> String {
    format!(
        "in {} ({})",
        count(findings.files, "file"),
        count(findings.tests, "test")
    )
}

/// `1 error, 0 warnings in 2 files (14 tests)`
pub fn totals(findings: &Findings) -> String {
    format!(
        "{}, {} {}",
        count(findings.errors, "error"),
        count(findings.warnings, "warning"),
        extent(findings)
    )
}

/// Said when more was counted than is listed.
pub fn dropped(findings: &Findings) -> Option<String> {
    match findings.dropped {
        0 => None,
        1 => Some("1 more diagnostic is not shown".to_owned()),
        n => Some(format!("{n} more diagnostics are not shown")),
    }
}

pub fn fixable(findings: &Findings) -> Option<String> {
    let fixes = findings.diagnostics.iter().filter(|d| d.fix.is_some());
    match fixes.count() {
        0 => None,
        n => Some(format!("{n} fixable with `evalrig validate --fix`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_none_is_plural() {
        assert_eq!(count(0, "error"), "0 errors");
        assert_eq!(count(1, "error"), "1 error");
        assert_eq!(count(2, "error"), "2 errors");
    }
}
