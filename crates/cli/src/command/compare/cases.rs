//! Rows as the cases of a comparison.

use std::cmp::Ordering;

use evalrig_core::compare::ComparedCase;
use evalrig_run::record::Row;

/// Cases of one run, in whatever order they come.
#[derive(Debug, Default)]
pub struct Gathered(Vec<(Position, ComparedCase)>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    suite: String,
    file: String,
    line: u32,
}

impl Gathered {
    pub fn add(&mut self, row: &Row) {
        let position = Position {
            suite: row.dataset.clone(),
            file: row.source.file.clone(),
            line: row.source.line,
        };
        self.0.push((position, ComparedCase::from(row)));
    }

    /// In the order of the suite: rows stand in the order in which cases ended, which says nothing.
    pub fn in_order(mut self) -> Vec<ComparedCase> {
        let by_place = |one: &(Position, ComparedCase), other: &(Position, ComparedCase)| {
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
