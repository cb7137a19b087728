//! Two runs side by side in words: what the reports of a run say of its baseline, and `compare` of
//! any two.

mod block;
mod gate;
mod json;
mod markdown;
mod phrase;
#[cfg(test)]
pub(super) mod testing;

use evalrig_core::compare::{Change, Comparison, TestChange};

pub use gate::{GateDecision, gate};
pub use json::json;
pub use markdown::{cell, table};
pub use phrase::{
    chance, counts, difference, how_often, passes, points, reason, sentence, size, verdict,
};

pub(super) use block::draw;

/// The tests that are worth a look, most notable first, and how many more there are: what is
/// beyond chance, what regressed, what was fixed.
pub(super) fn notable_changes(tests: &[TestChange], most: usize) -> (Vec<&TestChange>, usize) {
    let rank = |test: &TestChange| match (test.is_certain, test.change) {
        (true, change) if change.is_compared() => Some(0),
        (_, Change::Regressed) => Some(1),
        (_, Change::Fixed) => Some(2),
        _ => None,
    };
    let ranked = tests.iter().filter_map(|test| Some((rank(test)?, test)));
    let mut found: Vec<(i32, &TestChange)> = ranked.collect();
    found.sort_by_key(|(rank, _)| *rank);
    let more = found.len().saturating_sub(most);
    (found.iter().take(most).map(|(_, test)| *test).collect(), more)
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
    fn what_is_beyond_chance_comes_first_and_what_is_as_it_was_not_at_all() {
        let run = |passes: [u32; 4]| -> Vec<_> {
            let names = ["same", "fixed", "lost", "odd"].iter().zip(passes);
            names.flat_map(|(name, count)| trials(name, count)).collect()
        };
        let mut found = beside(&run([5, 4, 5, 4]), &run([5, 5, 4, 3])).comparison;
        found.tests[3].is_certain = true;
        let ids = |most: usize| {
            let (shown, more) = notable_changes(&found.tests, most);
            let ids = shown.iter().map(|test| test.test.clone());
            (ids.collect::<Vec<_>>().join(" "), more)
        };
        assert_eq!(ids(9), ("odd lost fixed".to_owned(), 0));
        assert_eq!(ids(1), ("odd".to_owned(), 2));
    }
}
