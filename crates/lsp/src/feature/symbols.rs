//! The outline of a document: its tests, or its targets.

use lsp_types::{DocumentSymbol, SymbolKind};

use crate::outline::MarkKind;

use super::spot::Spot;

/// Longer criteria are cut.
const LONGEST: usize = 100;

pub(crate) fn document_symbols(spot: &Spot<'_>) -> Vec<DocumentSymbol> {
    let survey = spot.survey();
    let tests = survey.tests.iter().enumerate().map(|(at, test)| {
        let name = test.id.clone().unwrap_or_else(|| format!("test {}", at + 1));
        let detail = test.criteria.as_deref().and_then(|text| text.trim().lines().next());
        let detail = detail.map(|line| line.chars().take(LONGEST).collect());
        symbol(spot, name, detail, SymbolKind::Method, &test.whole, &test.name)
    });
    let targets = survey.marks.iter().filter(|mark| mark.kind == MarkKind::TargetName);
    let targets = targets.map(|mark| {
        let whole = survey
            .blocks
            .iter()
            .filter(|block| block.start <= mark.place.start && mark.place.end <= block.end);
        let whole = whole.min_by_key(|block| block.len()).unwrap_or(&mark.place);
        symbol(spot, mark.name.clone(), None, SymbolKind::Interface, whole, &mark.place)
    });
    tests.chain(targets).collect()
}

fn symbol(
    spot: &Spot<'_>,
    name: String,
    detail: Option<String>,
    kind: SymbolKind,
    whole: &std::ops::Range<usize>,
    place: &std::ops::Range<usize>,
) -> DocumentSymbol {
    let trimmed = spot.text[whole.clone()].trim_end().len().max(place.end - whole.start);
    let whole = whole.start..whole.start + trimmed;
    #[expect(deprecated, reason = "the protocol still has the field")]
    DocumentSymbol {
        name,
        detail,
        kind,
        tags: None,
        deprecated: None,
        range: spot.range(&whole),
        selection_range: spot.range(place),
        children: None,
    }
}
