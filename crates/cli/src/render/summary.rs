//! The words of the last lines: how much was found, in how much.

use evalrig_run::text::numbers::counted_noun;

use super::Findings;

/// `in 2 files (14 tests)`
pub fn extent(findings: &Findings) -> String {
    format!(
        "in {} ({})",
        counted_noun(findings.files, "file"),
        counted_noun(findings.tests, "test")
    )
}

/// `1 error, 0 warnings in 2 files (14 tests)`
pub fn totals(findings: &Findings) -> String {
    format!(
        "{}, {} {}",
        counted_noun(findings.errors, "error"),
        counted_noun(findings.warnings, "warning"),
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
