//! One case of a run, as far as a comparison needs it.

use crate::model::Outcome;

#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub suite: String,
    pub test: String,
    pub target: String,
    /// From 1.
    pub trial: u32,
    pub outcome: Outcome,
    pub score: Option<f64>,
    /// Of the test's meaning.
    pub hash: String,
    pub cost: Option<f64>,
}

impl Case {
    /// Whether the case got a verdict.
    pub fn is_measured(&self) -> bool {
        matches!(
            self.outcome,
            Outcome::Passed | Outcome::Borderline | Outcome::Failed
        )
    }
}

/// A seed that belongs to two runs: it depends on what they hold and not on where they lie
/// (FNV-1a over all cases, in order).
pub fn seed_of(base: &[Case], candidate: &[Case]) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for side in [base, candidate] {
        hash.add(&(side.len() as u64).to_le_bytes());
        for case in side {
            for text in [&case.suite, &case.test, &case.target, &case.hash] {
                hash.add(text.as_bytes());
                // No text holds this byte, so none can run into the next.
                hash.add(&[0xff]);
            }
            hash.add(&case.trial.to_le_bytes());
            hash.add(case.outcome.word().as_bytes());
            hash.add(&case.score.unwrap_or(-1.0).to_bits().to_le_bytes());
        }
    }
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A case of the suite `s` and the target `t`.
    pub fn case(test: &str, trial: u32, outcome: Outcome) -> Case {
        Case {
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
        }
    }

    /// So many trials of a test, the first of them passed.
    pub fn trials(test: &str, count: u32, passes: u32) -> Vec<Case> {
        let outcome = |trial| {
            if trial <= passes {
                Outcome::Passed
            } else {
                Outcome::Failed
            }
        };
        (1..=count)
            .map(|trial| case(test, trial, outcome(trial)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::trials;
    use super::*;

    #[test]
    fn the_seed_follows_the_cases() {
        let (a, b) = (trials("a", 3, 3), trials("a", 3, 2));
        assert_eq!(seed_of(&a, &b), seed_of(&a, &b));
        assert_ne!(seed_of(&a, &b), seed_of(&b, &a));
        assert_ne!(seed_of(&a, &b), seed_of(&a, &a));
    }
}
