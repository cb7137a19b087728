//! The part of a case that comparisons use.

use std::collections::HashMap;

use crate::model::Outcome;
use crate::stats::Fnv1a;

#[derive(Debug, Clone, PartialEq)]
pub struct ComparedCase {
    pub suite: String,
    pub test: String,
    pub target: String,
    /// `None` without arms, and where arms are what is compared.
    pub arm: Option<CaseArm>,
    /// Tests of one group share a fixture, and are not independent evidence.
    pub group: Option<String>,
    /// Number of the base run, from 0; a trial is one of its run. Ignored in candidates.
    pub run: u32,
    /// From 1.
    pub trial: u32,
    pub outcome: Outcome,
    pub score: Option<f64>,
    /// The `testHash`.
    pub hash: String,
    pub cost: Option<f64>,
    pub tokens: Option<u64>,
    pub duration_ms: Option<u64>,
}

/// The arm of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseArm {
    pub name: String,
    /// Whether the other arms of its run are compared with it.
    pub is_baseline: bool,
}

impl ComparedCase {
    /// Whether the case got a verdict.
    pub fn is_measured(&self) -> bool {
        matches!(self.outcome, Outcome::Passed | Outcome::Borderline | Outcome::Failed)
    }
}

/// A seed for comparing two runs. It depends on their cases, not on where they are stored.
pub fn seed_from_cases(base: &[ComparedCase], candidate: &[ComparedCase]) -> u64 {
    let mut hash = Fnv1a::default();
    for side in [base, candidate] {
        hash.add(&(side.len() as u64).to_le_bytes());
        for case in side {
            for text in [&case.suite, &case.test, &case.target, &case.hash] {
                hash.add_text(text);
            }
            hash.add(&case.run.to_le_bytes());
            hash.add(&case.trial.to_le_bytes());
            hash.add(case.outcome.word().as_bytes());
            hash.add(&case.score.unwrap_or(-1.0).to_bits().to_le_bytes());
        }
    }
    hash.finish()
}

/// Numbers the runs of a base anew, so that runs without a test in common have one number. Such files
/// are shards of a run or runs of different suites, and say nothing about how runs differ.
pub fn join_disjoint_runs(cases: &mut [ComparedCase]) {
    let runs = cases.iter().map(|case| case.run as usize + 1).max().unwrap_or(0);
    if runs < 2 {
        return;
    }
    let mut meets = vec![vec![false; runs]; runs];
    for found in runs_by_test(cases) {
        for (at, one) in found.iter().enumerate() {
            for other in &found[..at] {
                meets[*one][*other] = true;
                meets[*other][*one] = true;
            }
        }
    }
    let mut numbers: Vec<u32> = Vec::with_capacity(runs);
    for met in &meets {
        let is_free =
            |number: &u32| !numbers.iter().zip(met).any(|(taken, meets)| taken == number && *meets);
        let number = (0..).find(is_free).unwrap_or_default();
        numbers.push(number);
    }
    cases.iter_mut().for_each(|case| case.run = numbers[case.run as usize]);
}

/// The runs that have each test.
fn runs_by_test(cases: &[ComparedCase]) -> Vec<Vec<usize>> {
    let mut places: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut last: Option<(&ComparedCase, usize)> = None;
    for case in cases {
        let is_next = |before: &ComparedCase| {
            (&before.test, &before.target, &before.suite) == (&case.test, &case.target, &case.suite)
        };
        // Trials of one test usually follow each other.
        let at = match last {
            Some((before, at)) if is_next(before) => at,
            _ => *places.entry((&case.suite, &case.test, &case.target)).or_insert_with(|| {
                found.push(Vec::new());
                found.len() - 1
            }),
        };
        last = Some((case, at));
        let run = case.run as usize;
        if found[at].last() != Some(&run) && !found[at].contains(&run) {
            found[at].push(run);
        }
    }
    found
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A case of the suite `s` and the target `t`.
    pub fn case(test: &str, trial: u32, outcome: Outcome) -> ComparedCase {
        ComparedCase {
            suite: "s".to_owned(),
            test: test.to_owned(),
            target: "t".to_owned(),
            arm: None,
            group: None,
            run: 0,
            trial,
            outcome,
            score: match outcome {
                Outcome::Passed => Some(1.0),
                Outcome::Borderline => Some(0.7),
                Outcome::Failed => Some(0.0),
                Outcome::Errored | Outcome::Skipped => None,
            },
            hash: "h".to_owned(),
            cost: Some(0.01),
            tokens: Some(20),
            duration_ms: Some(1_000),
        }
    }

    /// Trials of a test, of which the first ones passed.
    pub fn trials(test: &str, count: u32, passes: u32) -> Vec<ComparedCase> {
        let outcome = |trial| {
            if trial <= passes { Outcome::Passed } else { Outcome::Failed }
        };
        (1..=count).map(|trial| case(test, trial, outcome(trial))).collect()
    }

    /// The same cases as those of another base run.
    pub fn of_run(run: u32, mut cases: Vec<ComparedCase>) -> Vec<ComparedCase> {
        cases.iter_mut().for_each(|case| case.run = run);
        cases
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{of_run, trials};
    use super::*;

    #[test]
    fn runs_without_a_test_in_common_are_one() {
        let runs = |tests: &[(u32, &str)]| -> Vec<u32> {
            let mut cases: Vec<ComparedCase> =
                tests.iter().flat_map(|(run, test)| of_run(*run, trials(test, 1, 1))).collect();
            join_disjoint_runs(&mut cases);
            cases.iter().map(|case| case.run).collect()
        };
        assert_eq!(runs(&[(0, "a"), (1, "b")]), [0, 0]);
        assert_eq!(runs(&[(0, "a"), (1, "a")]), [0, 1]);
        // Two runs of two shards each.
        assert_eq!(runs(&[(0, "a"), (1, "b"), (2, "a"), (3, "b")]), [0, 0, 1, 1]);
        assert_eq!(runs(&[(3, "a"), (3, "b")]), [0, 0]);
        assert_eq!(runs(&[]), [0; 0]);
    }

    #[test]
    fn the_seed_follows_the_cases() {
        let (a, b) = (trials("a", 3, 3), trials("a", 3, 2));
        assert_eq!(seed_from_cases(&a, &b), seed_from_cases(&a, &b));
        assert_ne!(seed_from_cases(&a, &b), seed_from_cases(&b, &a));
        assert_ne!(seed_from_cases(&a, &b), seed_from_cases(&a, &a));
    }
}
