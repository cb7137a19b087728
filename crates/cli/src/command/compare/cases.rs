//! Rows as the cases of a comparison.

use std::cmp::Ordering;

use evalrig_core::compare::Case;
use evalrig_run::record::Row;

/// Cases of one run, in whatever order they come.
#[derive(Debug, Default)]
pub struct Gathered(Vec<(Position, Case)>);

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
        self.0.push((position, Case::from(row)));
    }

    /// In the order of the suite: rows stand in the order in which cases ended, which says nothing.
    pub fn in_order(mut self) -> Vec<Case> {
        let by_place = |one: &(Position, Case), other: &(Position, Case)| {
            one.0.cmp(&other.0).then_with(|| by_name(&one.1, &other.1))
        };
        self.0.sort_by(by_place);
        self.0.into_iter().map(|(_, case)| case).collect()
    }
}

fn by_name(one: &Case, other: &Case) -> Ordering {
    let key = |case: &'_ Case| (case.test.clone(), case.target.clone(), case.trial);
    key(one).cmp(&key(other))
}
