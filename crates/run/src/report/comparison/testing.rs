//! Comparisons for tests of reports.

use evalrig_core::compare::{CompareOptions, ComparedCase, compare};
use evalrig_core::model::Outcome;

use super::super::other_runs::Compared;

pub fn case(test: &str, trial: u32, outcome: Outcome) -> ComparedCase {
    ComparedCase {
        suite: "support".to_owned(),
        test: test.to_owned(),
        target: "claude".to_owned(),
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

/// Five trials of a test, the first of them passed.
pub fn trials(test: &str, passes: u32) -> Vec<ComparedCase> {
    let outcome = |trial| {
        if trial <= passes { Outcome::Passed } else { Outcome::Failed }
    };
    (1..=5).map(|trial| case(test, trial, outcome(trial))).collect()
}

/// So many tests, and how many trials of each passed before and now.
pub fn compared(tests: usize, before: u32, now: u32) -> Compared {
    let run = |passes: u32| -> Vec<ComparedCase> {
        let test = |at| trials(&format!("t{at}"), passes);
        (0..tests).flat_map(test).collect()
    };
    beside(&run(before), &run(now))
}

pub fn beside(base: &[ComparedCase], candidate: &[ComparedCase]) -> Compared {
    Compared {
        base: "main.jsonl".to_owned(),
        base_runs: vec![vec!["main.jsonl".to_owned()]],
        comparison: compare(base, candidate, &CompareOptions::default()),
        earlier: Vec::new(),
    }
}
