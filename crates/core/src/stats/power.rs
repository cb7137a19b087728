//! How many trials an inconclusive comparison would need.

use super::Interval;
use super::special::{ln_choose, normal_quantile};

/// An inconclusive comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settling {
    /// The gain, and its interval at 95 %.
    pub delta: f64,
    pub interval: Interval,
    /// Differences below it do not matter.
    pub margin: f64,
    /// Tests that were compared.
    pub tests: usize,
    /// Per test, in all base runs together.
    pub base_trials: f64,
    /// Per test.
    pub candidate_trials: f64,
    /// Whether the base has several runs, which are kept as they are.
    pub is_pooled: bool,
}

/// The trials per test that would probably give a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialsNeeded {
    /// In the base and in the candidate.
    EachRun(u64),
    /// In the candidate, compared with the same base.
    Candidate(u64),
    /// The base is too small for any candidate.
    LargerBase,
}

impl TrialsNeeded {
    pub fn trials(self) -> Option<u64> {
        match self {
            Self::EachRun(trials) | Self::Candidate(trials) => Some(trials),
            Self::LargerBase => None,
        }
    }
}

/// Chance of a verdict with that many trials, if the true gain is the observed one.
const POWER: f64 = 0.8;

/// Either the gain differs from 0, or it is not below the margin, whichever takes fewer trials.
pub(crate) fn trials_to_settle(seen: &Settling) -> TrialsNeeded {
    let z = normal_quantile(0.975);
    let power = normal_quantile(POWER);
    let error = (seen.delta - seen.interval.low).max(1e-9) / z;
    let factor = |level: f64, room: f64| match room {
        room if room > 0.0 => ((normal_quantile(1.0 - level) + power) * error / room).powi(2),
        _ => f64::INFINITY,
    };
    let not_worse = factor(0.025, seen.delta + seen.margin);
    let differs =
        if seen.delta < 0.0 { factor(0.05, -seen.delta) } else { factor(0.01, seen.delta) };
    // The variance shrinks with the number of trials.
    let least = if not_worse <= differs { least_to_exclude(seen) } else { least_to_differ(seen) };
    let wanted = not_worse.min(differs);
    let Settling { base_trials, candidate_trials, .. } = *seen;
    let enough =
        |trials: f64| (trials.ceil().max(candidate_trials.floor() + 1.0) as u64).max(least);
    if !seen.is_pooled {
        return TrialsNeeded::EachRun(enough(candidate_trials * wanted));
    }
    let inverse = (1.0 / base_trials + 1.0 / candidate_trials) / wanted - 1.0 / base_trials;
    if inverse <= 1e-4 / candidate_trials {
        return TrialsNeeded::LargerBase;
    }
    TrialsNeeded::Candidate(enough(1.0 / inverse))
}

/// The fewest trials with which a drop can be significant at all.
fn least_to_differ(seen: &Settling) -> u64 {
    let arrangements = |trials: u64| {
        let base = if seen.is_pooled { seen.base_trials.round() as u64 } else { trials };
        seen.tests as f64 * ln_choose(base + trials, trials)
    };
    (1..100).find(|trials| arrangements(*trials) >= 20_f64.ln()).unwrap_or(1)
}

/// The fewest trials with which a drop as large as the margin can be excluded when nothing fails.
fn least_to_exclude(seen: &Settling) -> u64 {
    let z = normal_quantile(0.975);
    let trials = z * z * (1.0 / seen.margin.max(1e-3) - 1.0) / seen.tests.max(1) as f64;
    trials.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(delta: f64, half: f64, trials: f64) -> Settling {
        Settling {
            delta,
            interval: Interval { low: delta - half, high: delta + half },
            margin: 0.1,
            tests: 20,
            base_trials: trials,
            candidate_trials: trials,
            is_pooled: false,
        }
    }

    fn each(seen: &Settling) -> u64 {
        match trials_to_settle(seen) {
            TrialsNeeded::EachRun(trials) => trials,
            other => panic!("{other:?}"),
        }
    }

    /// (1.959964 + 0.841621)² = 7.848879 (SciPy 1.17.1): an error of half the room, once over.
    #[test]
    fn the_error_has_to_fit_the_room() {
        let open = seen(0.0, 0.05 * 1.959963984540054, 4.0);
        assert_eq!(each(&open), (4.0_f64 * 7.848879 / 4.0).ceil() as u64);
    }

    #[test]
    fn more_are_needed_than_there_were() {
        assert_eq!(each(&seen(-0.3, 0.01, 3.0)), 4);
        let (few, many) = (each(&seen(-0.01, 0.1, 5.0)), each(&seen(-0.05, 0.1, 5.0)));
        assert!(few > 5 && many > few, "{few} {many}");
    }

    #[test]
    fn one_test_needs_three_trials_to_be_worse_and_many_to_be_the_same() {
        let lost = Settling { tests: 1, ..seen(-1.0, 0.1, 1.0) };
        assert_eq!(each(&lost), 3);
        let same = Settling { tests: 1, ..seen(0.0, 0.02, 3.0) };
        assert_eq!(each(&same), 35);
    }

    #[test]
    fn a_stored_base_leaves_only_the_candidate_to_repeat() {
        let pooled = |half: f64| Settling {
            base_trials: 20.0,
            candidate_trials: 5.0,
            is_pooled: true,
            ..seen(-0.02, half, 5.0)
        };
        let TrialsNeeded::Candidate(few) = trials_to_settle(&pooled(0.08)) else {
            panic!("the base suffices");
        };
        assert!((6..20).contains(&few), "{few}");
        assert_eq!(trials_to_settle(&pooled(0.4)), TrialsNeeded::LargerBase);
    }
}
