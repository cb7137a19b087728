//! Two runs side by side in words: what the reports of a run say of its baseline, and `compare` of
//! any two.

mod block;
mod gate;
mod json;
mod markdown;
mod phrase;
#[cfg(test)]
pub(super) mod testing;

use evalrig_core::compare::{Change, TestChange};

pub use gate::{Gate, gate};
pub use json::json;
pub use markdown::{cell, table};
pub use phrase::{counts, difference, passes, points, reason, sentence, size, verdict};

pub(super) use block::draw;

/// The tests that are worth a look, the most telling first, and how many more there are: what is
/// beyond chance, what regressed, what was fixed.
pub(super) fn telling(tests: &[TestChange], most: usize) -> (Vec<&TestChange>, usize) {
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
    (
        found.iter().take(most).map(|(_, test)| *test).collect(),
        more,
    )
}

/// `greets`, or `greets (claude)` where there are several targets.
pub(super) fn name(test: &TestChange, tests: &[TestChange]) -> String {
    let first = tests.first().map(|test| &test.target);
    match tests.iter().any(|test| Some(&test.target) != first) {
        true => format!("{} ({})", test.test, test.target),
        false => test.test.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{beside, trials};
    use super::*;

    #[test]
    fn what_is_beyond_chance_comes_first_and_what_is_as_it_was_not_at_all() {
        let run = |passes: [u32; 4]| -> Vec<_> {
            let names = ["same", "fixed", "lost", "odd"].iter().zip(passes);
            names
                .flat_map(|(name, count)| trials(name, count))
                .collect()
        };
        let mut found = beside(&run([5, 4, 5, 4]), &run([5, 5, 4, 3])).comparison;
        found.tests[3].is_certain = true;
        let ids = |most: usize| {
            let (shown, more) = telling(&found.tests, most);
            let ids = shown.iter().map(|test| test.test.clone());
            (ids.collect::<Vec<_>>().join(" "), more)
        };
        assert_eq!(ids(9), ("odd lost fixed".to_owned(), 0));
        assert_eq!(ids(1), ("odd".to_owned(), 2));
    }
}
