//! The part of a case that comparisons use.

use crate::model::Outcome;
use crate::stats::Fnv1a;

#[derive(Debug, Clone, PartialEq)]
pub struct ComparedCase {
    pub suite: String,
    pub test: String,
    pub target: String,
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
            hash.add(&case.trial.to_le_bytes());
            hash.add(case.outcome.word().as_bytes());
            hash.add(&case.score.unwrap_or(-1.0).to_bits().to_le_bytes());
        }
    }
    hash.finish()
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
}

#[cfg(test)]
mod tests {
    use super::testing::trials;
    use super::*;

    #[test]
    fn the_seed_follows_the_cases() {
        let (a, b) = (trials("a", 3, 3), trials("a", 3, 2));
        assert_eq!(seed_from_cases(&a, &b), seed_from_cases(&a, &b));
        assert_ne!(seed_from_cases(&a, &b), seed_from_cases(&b, &a));
        assert_ne!(seed_from_cases(&a, &b), seed_from_cases(&a, &a));
    }
}
