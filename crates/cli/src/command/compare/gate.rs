//! How a comparison exits.

use evalrig_core::compare::{Change, Comparison, ComparisonVerdict};

use crate::exit::Exit;

/// Every regression counts (spec 13.7), and so does a whole that is worse. What could not be
/// measured leaves it open.
pub fn plain(comparison: &Comparison) -> Exit {
    let verdict = verdict(comparison);
    if verdict == Some(ComparisonVerdict::Worse) || comparison.count(Change::Regressed) > 0 {
        Exit::No
    } else if comparison.is_incomplete() {
        Exit::Incomplete
    } else if verdict.is_none() {
        Exit::NothingSelected
    } else {
        Exit::Well
    }
}

/// The gate asks only whether the whole is worse by more than chance. Tests that fail now as they
/// did before do not close it. Whatever is not settled, or could not be measured, does.
pub fn gated(comparison: &Comparison, is_incomplete: bool) -> Exit {
    match verdict(comparison) {
        Some(ComparisonVerdict::Worse) => Exit::No,
        Some(ComparisonVerdict::Inconclusive) => Exit::Incomplete,
        _ if is_incomplete || comparison.is_incomplete() => Exit::Incomplete,
        None => Exit::NothingSelected,
        Some(ComparisonVerdict::Better | ComparisonVerdict::Equivalent) => Exit::Well,
    }
}

fn verdict(comparison: &Comparison) -> Option<ComparisonVerdict> {
    comparison.suite.map(|suite| suite.judged.verdict)
}

#[cfg(test)]
mod tests {
    use evalrig_core::compare::{CompareOptions, ComparedCase, compare};
    use evalrig_core::model::Outcome;

    use super::*;

    fn case(test: &str, trial: u32, outcome: Outcome) -> ComparedCase {
        ComparedCase {
            suite: "s".to_owned(),
            test: test.to_owned(),
            target: "t".to_owned(),
            trial,
            outcome,
            score: None,
            hash: "h".to_owned(),
            cost: None,
        }
    }

    /// So many tests with five trials each, of which so many pass.
    fn run(tests: usize, passes: u32) -> Vec<ComparedCase> {
        let trial = |test: usize, trial: u32| {
            let outcome = if trial <= passes {
                Outcome::Passed
            } else {
                Outcome::Failed
            };
            case(&format!("t{test}"), trial, outcome)
        };
        (0..tests)
            .flat_map(|test| (1..=5).map(move |at| trial(test, at)))
            .collect()
    }

    fn found(base: &[ComparedCase], candidate: &[ComparedCase]) -> Comparison {
        compare(base, candidate, &CompareOptions::default())
    }

    #[test]
    fn what_always_failed_does_not_close_the_gate() {
        let never = run(20, 0);
        assert_eq!(gated(&found(&never, &never), false), Exit::Well);
        assert_eq!(gated(&found(&run(20, 3), &run(20, 5)), false), Exit::Well);
    }

    #[test]
    fn worse_goes_before_incomplete_and_incomplete_before_well() {
        let (all, some) = (run(20, 5), run(20, 3));
        assert_eq!(gated(&found(&all, &some), true), Exit::No);
        assert_eq!(gated(&found(&all, &all), false), Exit::Well);
        assert_eq!(gated(&found(&all, &all), true), Exit::Incomplete);
        let errored = [all.clone(), vec![case("new", 1, Outcome::Errored)]].concat();
        assert_eq!(gated(&found(&all, &errored), false), Exit::Incomplete);
        assert_eq!(plain(&found(&all, &errored)), Exit::Incomplete);
    }

    #[test]
    fn what_is_not_settled_and_what_has_nothing_in_common_do_not_pass() {
        let few = run(2, 5);
        assert_eq!(gated(&found(&few, &few), false), Exit::Incomplete);
        let other = [case("other", 1, Outcome::Passed)];
        assert_eq!(gated(&found(&few, &other), false), Exit::NothingSelected);
        assert_eq!(gated(&found(&few, &other), true), Exit::Incomplete);
    }
}
