//! Rows as the cases of a comparison.

use std::cmp::Ordering;

use camino::Utf8Path;
use evalrig_core::compare::ComparedCase;

use crate::record::{ReadError, Row, Rows};

/// Cases of one run, added in any order.
#[derive(Debug, Default)]
pub(super) struct CaseCollector(Vec<(SuitePosition, ComparedCase)>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SuitePosition {
    suite: String,
    file: String,
    line: u32,
}

impl CaseCollector {
    pub(super) fn add(&mut self, row: &Row) {
        let position = SuitePosition {
            suite: row.dataset.clone(),
            file: row.source.file.clone(),
            line: row.source.line,
        };
        self.0.push((position, ComparedCase::from(row)));
    }

    /// In the order of the suite; rows are in the order in which cases ended.
    pub(super) fn in_order(mut self) -> Vec<ComparedCase> {
        let by_place = |one: &(SuitePosition, ComparedCase),
                        other: &(SuitePosition, ComparedCase)| {
            one.0.cmp(&other.0).then_with(|| by_name(&one.1, &other.1))
        };
        self.0.sort_by(by_place);
        self.0.into_iter().map(|(_, case)| case).collect()
    }
}

fn by_name(one: &ComparedCase, other: &ComparedCase) -> Ordering {
    let key = |case: &'_ ComparedCase| (case.test.clone(), case.target.clone(), case.trial);
    key(one).cmp(&key(other))
}

/// The cases of a results file, in the order of the suite.
pub fn read_cases(results: &Utf8Path) -> Result<Vec<ComparedCase>, ReadError> {
    let mut found = CaseCollector::default();
    for row in Rows::open(results)? {
        found.add(&row?);
    }
    Ok(found.in_order())
}
