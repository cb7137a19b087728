//! The exit code of a comparison.

use evalrig_core::compare::{Change, Comparison, ComparisonVerdict};

use crate::results::{GateResult, RunVerdict};

/// Without a gate, every regression fails the comparison (spec 20.2), and so does a worse total. A test
/// that could not be measured makes it incomplete.
pub fn comparison_exit(comparison: &Comparison) -> RunVerdict {
    let verdict = verdict(comparison);
    if verdict == Some(ComparisonVerdict::Worse) || comparison.count(Change::Regressed) > 0 {
        RunVerdict::Failed
    } else if comparison.is_incomplete() {
        RunVerdict::Incomplete
    } else if verdict.is_none() {
        RunVerdict::Nothing
    } else {
        RunVerdict::Passed
    }
}

/// The gate fails only if the total is significantly worse; tests that failed before may still fail.
/// An inconclusive comparison, missing rows, and trials that could not be measured and might change
/// the verdict make it incomplete, and so does a limit that was reached before the first look.
pub fn gate_exit(comparison: &Comparison, is_incomplete: bool) -> RunVerdict {
    let Some(suite) = &comparison.suite else {
        let is_cut_off = comparison.rounds.as_ref().is_some_and(|rounds| rounds.stop().is_none());
        let is_incomplete = is_incomplete || is_cut_off || comparison.is_incomplete();
        return if is_incomplete { RunVerdict::Incomplete } else { RunVerdict::Nothing };
    };
    match suite.judged.verdict {
        _ if !suite.is_certain() => RunVerdict::Incomplete,
        ComparisonVerdict::Worse => RunVerdict::Failed,
        _ if is_incomplete => RunVerdict::Incomplete,
        verdict if verdict.passes_gate() => RunVerdict::Passed,
        _ => RunVerdict::Incomplete,
    }
}

/// What the results say of the gate.
pub(super) fn gate_result(exit: RunVerdict) -> GateResult {
    match exit {
        RunVerdict::Passed => GateResult::Passed,
        RunVerdict::Failed => GateResult::Worse,
        RunVerdict::Incomplete | RunVerdict::Nothing => GateResult::Inconclusive,
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
            arm: None,
            group: None,
            run: 0,
            trial,
            outcome,
            score: None,
            hash: "h".to_owned(),
            cost: None,
            tokens: None,
            duration_ms: None,
        }
    }

    /// Tests with five trials each; `passes` of them pass.
    fn run(tests: usize, passes: u32) -> Vec<ComparedCase> {
        let trial = |test: usize, trial: u32| {
            let outcome = if trial <= passes { Outcome::Passed } else { Outcome::Failed };
            case(&format!("t{test}"), trial, outcome)
        };
        (0..tests).flat_map(|test| (1..=5).map(move |at| trial(test, at))).collect()
    }

    fn found(base: &[ComparedCase], candidate: &[ComparedCase]) -> Comparison {
        compare(base, candidate, &CompareOptions::default())
    }

    #[test]
    fn tests_that_always_failed_do_not_fail_the_gate() {
        let never = run(20, 0);
        assert_eq!(gate_exit(&found(&never, &never), false), RunVerdict::Passed);
        assert_eq!(gate_exit(&found(&run(20, 3), &run(20, 5)), false), RunVerdict::Passed);
    }

    #[test]
    fn worse_outranks_incomplete_and_incomplete_outranks_passed() {
        let (all, some) = (run(20, 5), run(20, 3));
        assert_eq!(gate_exit(&found(&all, &some), true), RunVerdict::Failed);
        assert_eq!(gate_exit(&found(&all, &all), false), RunVerdict::Passed);
        assert_eq!(gate_exit(&found(&all, &all), true), RunVerdict::Incomplete);
        let errored = [all.clone(), vec![case("new", 1, Outcome::Errored)]].concat();
        assert_eq!(gate_exit(&found(&all, &errored), false), RunVerdict::Passed);
        assert_eq!(comparison_exit(&found(&all, &errored)), RunVerdict::Incomplete);
    }

    #[test]
    fn errors_leave_the_gate_open_only_if_they_could_change_the_verdict() {
        let all = run(40, 5);
        let with = |errors: usize| {
            let mut cases = all.clone();
            for case in cases.iter_mut().step_by(6).take(errors) {
                case.outcome = Outcome::Errored;
            }
            found(&all, &cases)
        };
        assert_eq!(gate_exit(&with(1), false), RunVerdict::Passed);
        assert_eq!(gate_exit(&with(30), false), RunVerdict::Incomplete);
    }

    #[test]
    fn inconclusive_and_unrelated_comparisons_do_not_pass() {
        let few = run(2, 5);
        assert_eq!(gate_exit(&found(&few, &few), false), RunVerdict::Incomplete);
        let other = [case("other", 1, Outcome::Passed)];
        assert_eq!(gate_exit(&found(&few, &other), false), RunVerdict::Nothing);
        assert_eq!(gate_exit(&found(&few, &other), true), RunVerdict::Incomplete);
    }
}
