//! What can be folded: every mapping and list of more than one line, and comments of several lines.

use lsp_types::{FoldingRange, FoldingRangeKind};

use super::spot::Spot;

pub(crate) fn folding_ranges(spot: &Spot<'_>) -> Vec<FoldingRange> {
    let survey = spot.survey();
    let mut lines: Vec<(usize, usize)> = Vec::new();
    for block in survey.blocks.iter().chain(&survey.scalars) {
        let content = spot.text[block.clone()].trim_end().len();
        let start = spot.lines.line_of(block.start);
        let end = spot.lines.line_of(block.start + content);
        if start < end {
            lines.push((start, end));
        }
    }
    lines.sort_unstable();
    lines.dedup_by_key(|(start, _)| *start);
    let folded = lines.into_iter().map(|(start, end)| range(start, end, None));
    folded.chain(comments(&spot.text)).collect()
}

fn range(start: usize, end: usize, kind: Option<FoldingRangeKind>) -> FoldingRange {
    FoldingRange { start_line: start as u32, end_line: end as u32, kind, ..FoldingRange::default() }
}

fn comments(text: &str) -> Vec<FoldingRange> {
    let mut found = Vec::new();
    let mut start: Option<usize> = None;
    let count = text.lines().count();
    for (at, line) in text.lines().chain([""]).enumerate() {
        let is_comment = at < count && line.trim_start().starts_with('#');
        match (is_comment, start) {
            (true, None) => start = Some(at),
            (false, Some(first)) => {
                if at - first > 1 {
                    found.push(range(first, at - 1, Some(FoldingRangeKind::Comment)));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}
