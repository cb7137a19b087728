//! Rows as the cases of a comparison.

use camino::Utf8Path;
use evalrig_core::compare::ComparedCase;

use crate::results::{ReadError, Row, Rows, SourcePlace};

/// Cases of one run, added in any order.
#[derive(Debug, Default)]
pub(super) struct CaseCollector(Vec<(SourcePlace, ComparedCase)>);

impl CaseCollector {
    pub(super) fn add(&mut self, row: &Row) {
        self.0.push((row.source.clone(), ComparedCase::from(row)));
    }

    /// In the order of the suite; rows are in the order in which cases ended.
    pub(super) fn in_order(mut self) -> Vec<ComparedCase> {
        self.0.sort_by(|one, other| position(one).cmp(&position(other)));
        self.0.into_iter().map(|(_, case)| case).collect()
    }
}

fn position((place, case): &(SourcePlace, ComparedCase)) -> impl Ord {
    let test = (&case.test, &case.target, case.trial);
    (&case.suite, &place.file, place.line, test)
}

/// The cases of a results file, in the order of the suite.
pub fn read_cases(results: &Utf8Path) -> Result<Vec<ComparedCase>, ReadError> {
    let mut found = CaseCollector::default();
    for row in Rows::open(results)? {
        found.add(&row?);
    }
    Ok(found.in_order())
}
