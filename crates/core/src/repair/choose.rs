//! Which fixes can be made at once.

use std::collections::{BTreeMap, HashSet};

use crate::diagnostic::{Diagnostics, Fix};
use crate::source::Span;

/// How many of the latest ranges are compared: fixes come sorted by place, so that only those can
/// be near.
const NEAR: usize = 64;

/// No two of them touch the same bytes or the same isolated place.
pub(super) fn choose<'d>(diagnostics: &'d Diagnostics, refused: &HashSet<Fix>) -> Vec<&'d Fix> {
    let mut fixable: Vec<(Span, &Fix)> = diagnostics.fixes().collect();
    fixable.sort_by_key(|(span, _)| *span);
    let mut chosen: Vec<&Fix> = Vec::new();
    let mut isolated = HashSet::new();
    let mut taken: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
    for (_, fix) in fixable {
        let is_free = fix.edits.iter().all(|edit| {
            taken.get(&edit.span.source).is_none_or(|ranges| {
                let mut near = ranges.iter().rev().take(NEAR);
                near.all(|(start, end)| edit.span.end < *start || edit.span.start > *end)
            })
        });
        let is_alone = fix.isolation.is_none_or(|place| !isolated.contains(&place));
        if !is_free || !is_alone || refused.contains(fix) {
            continue;
        }
        isolated.extend(fix.isolation);
        for edit in &fix.edits {
            let ranges = taken.entry(edit.span.source).or_default();
            ranges.push((edit.span.start, edit.span.end));
        }
        chosen.push(fix);
    }
    chosen
}
