//! Two runs side by side in words: what the reports of a run say of its baseline, and `compare` of
//! any two.

mod answer_pair;
mod block;
mod gate;
mod json;
mod markdown;
mod phrase;
#[cfg(test)]
pub(super) mod testing;
mod usage;

use evalrig_core::compare::{Change, Comparison, TestChange};

pub use answer_pair::{AnswerPair, AnswerPairs, StoredAnswer};
pub use gate::{GateDecision, gate};
pub use json::json;
pub use markdown::{cell, table};
pub use phrase::{
    basis, chance, counts, difference, drift, how_often, left_out, passes, points, reason,
    sentence, settling, settling_cost, sides, single_trials, size, unmeasured, verdict,
};
pub use usage::usage;

pub(super) use block::draw;

/// Tests, the most important first: by their kind of change, and in it by how much less often they
/// pass now.
pub fn by_importance(comparison: &Comparison) -> Vec<&TestChange> {
    let rank = |test: &TestChange| Change::ALL.iter().position(|change| *change == test.change);
    let drop = |test: &TestChange| test.drop().unwrap_or(0.0);
    let mut tests: Vec<&TestChange> = comparison.tests.iter().collect();
    tests.sort_by(|one, other| {
        rank(one)
            .cmp(&rank(other))
            .then(other.is_certain.cmp(&one.is_certain))
            .then(drop(other).total_cmp(&drop(one)))
    });
    tests
}

/// The tests that are worth a look, and how many more there are: what regressed, what was fixed,
/// what passes more or less often.
pub(super) fn notable_changes(comparison: &Comparison, most: usize) -> (Vec<&TestChange>, usize) {
    let is_notable = |test: &&TestChange| {
        matches!(test.change, Change::Regressed | Change::Fixed | Change::Changed)
    };
    let mut found: Vec<&TestChange> =
        by_importance(comparison).into_iter().filter(is_notable).collect();
    let more = found.len().saturating_sub(most);
    found.truncate(most);
    (found, more)
}

/// The name of a test, with as much as makes it unique.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    has_suites: bool,
    has_targets: bool,
}

impl Names {
    pub fn among(comparison: &Comparison) -> Self {
        Self { has_suites: comparison.has_suites(), has_targets: comparison.has_targets() }
    }

    /// `greets`; with several suites `shop/greets`.
    pub fn test(self, test: &TestChange) -> String {
        if self.has_suites { format!("{}/{}", test.suite, test.test) } else { test.test.clone() }
    }

    /// With several targets also `greets (claude)`.
    pub fn case(self, test: &TestChange) -> String {
        if self.has_targets {
            format!("{} ({})", self.test(test), test.target)
        } else {
            self.test(test)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{beside, trials};
    use super::*;

    #[test]
    fn names_say_what_tells_tests_apart() {
        let mut found = beside(&trials("a", 1), &trials("a", 1)).comparison;
        let shown = |found: &Comparison| Names::among(found).case(&found.tests[0]);
        assert_eq!(shown(&found), "a");
        let mut other = found.tests[0].clone();
        other.suite = "other".to_owned();
        found.tests.push(other);
        let suite = found.tests[0].suite.clone();
        assert_eq!(shown(&found), format!("{suite}/a"));
        found.tests[1].target = "t2".to_owned();
        let target = &found.tests[0].target;
        assert_eq!(shown(&found), format!("{suite}/a ({target})"));
    }

    #[test]
    fn the_largest_drop_comes_first_and_what_is_as_it_was_not_at_all() {
        let run = |passes: [u32; 5]| -> Vec<_> {
            let names = ["same", "fixed", "slipped", "lost", "luck"].iter().zip(passes);
            names.flat_map(|(name, count)| trials(name, count)).collect()
        };
        let found = beside(&run([5, 0, 5, 5, 4]), &run([5, 5, 2, 0, 5])).comparison;
        let ids = |most: usize| {
            let (shown, more) = notable_changes(&found, most);
            let ids = shown.iter().map(|test| test.test.clone());
            (ids.collect::<Vec<_>>().join(" "), more)
        };
        assert_eq!(ids(9), ("lost fixed slipped luck".to_owned(), 0));
        assert_eq!(ids(1), ("lost".to_owned(), 3));
    }
}
