//! Which diagnostics a file has, over all suites that read it.

use camino::Utf8Path;
use lsp_types::Diagnostic;

use super::analysis::Analysis;

/// Editors become slow with more; `evalrig validate` lists all of them.
const MOST: usize = 1000;

/// The diagnostics of one file. Suites that share it find the same ones.
pub(crate) fn diagnostics_of<'a>(
    path: &Utf8Path,
    analyses: impl Iterator<Item = &'a Analysis>,
) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for (at, analysis) in analyses.enumerate() {
        for finding in analysis.findings.iter().filter(|finding| finding.path == path) {
            // Within one suite there are no repetitions.
            if found.len() < MOST && (at == 0 || !found.contains(&finding.diagnostic)) {
                found.push(finding.diagnostic.clone());
            }
        }
    }
    found.sort_by_key(|one| (one.range.start.line, one.range.start.character));
    found
}
