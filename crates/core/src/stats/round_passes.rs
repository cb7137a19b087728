//! Arrangements of passes with their history. Trials of one run are exchangeable, so what an earlier
//! look would have seen of an arrangement is a sample of its trials.

use std::collections::HashMap;

use super::exchange::{Exchange, RUN_SEED};
use super::look::LookStatistic;
use super::mixture::{self, MixtureEvidence};
use super::pass_split::{PassTotals, SplitModel};
use super::round_pair::RoundPair;
use super::run_exchange::ArrangedPasses;
use super::{Drift, Pair, SplitMix64};

/// How passes are given to the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathMechanism {
    /// By the model of a test's split.
    Model,
    /// By exchanging whole runs.
    Runs,
}

impl PathMechanism {
    pub(super) fn random(self, seed: u64) -> SplitMix64 {
        match self {
            Self::Model => SplitMix64::new(seed),
            Self::Runs => SplitMix64::new(seed ^ RUN_SEED),
        }
    }
}

pub(super) struct PassPaths {
    exchange: Exchange,
    model: SplitModel,
    tests: Vec<PathTest>,
    families: Vec<SplitFamily>,
    /// The passes of each test, of the arrangement that is drawn.
    passes: Vec<ArrangedPasses>,
    sums: Vec<MixtureEvidence>,
}

/// A test whose passes can be split in more than one way.
struct PathTest {
    base_trials: usize,
    trials: usize,
    /// Of both sides.
    passes: usize,
    /// What earlier looks saw of it.
    earlier: Vec<LookPart>,
    /// The same, of the trials that change places with a run.
    earlier_swapped: Vec<LookPart>,
}

#[derive(Clone, Copy)]
struct LookPart {
    family: usize,
    base_trials: usize,
    trials: usize,
}

/// Trials of tests at one look.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FamilyTrials {
    base_trials: usize,
    base_neighbours: usize,
    trials: usize,
}

/// Tests with the same trials, at one look.
struct SplitFamily {
    counts: FamilyTrials,
    /// By the passes of both sides; made when they are drawn.
    evidence: Vec<Option<Vec<MixtureEvidence>>>,
}

impl PassPaths {
    pub(super) fn of(pairs: &[RoundPair], looks: usize) -> Self {
        let plain: Vec<Pair> = pairs.iter().map(|one| one.pair.clone()).collect();
        let exchange = Exchange::of(&plain);
        let correlation = Drift::of(&plain).allowed_correlation.unwrap_or(0.0);
        let mut found = Self {
            model: SplitModel::new(&plain, correlation),
            passes: vec![ArrangedPasses::default(); exchange.tests.len()],
            exchange,
            tests: Vec::new(),
            families: Vec::new(),
            sums: vec![[0.0; 8]; looks],
        };
        let mut known = HashMap::new();
        for (at, one) in pairs.iter().filter(|one| one.pair.can_move()).enumerate() {
            let totals = PassTotals::of(&one.pair);
            let families = &mut found.families;
            let mut part = |[base_trials, trials]: [usize; 2]| {
                look_part(totals, base_trials, trials, |key| {
                    *known.entry(key).or_insert_with(|| {
                        families.push(SplitFamily::new(key));
                        families.len() - 1
                    })
                })
            };
            let seen = &one.seen[..looks - 1];
            let swapped = found.exchange.runs.as_ref().map(|runs| runs.tests[at].trials);
            let earlier_swapped = swapped.map_or_else(Vec::new, |most| {
                seen.iter().map(|[base, trials]| part([*base, (*trials).min(most)])).collect()
            });
            found.tests.push(PathTest {
                base_trials: totals.base_trials,
                trials: totals.trials,
                passes: totals.passes,
                earlier: seen.iter().copied().map(part).collect(),
                earlier_swapped,
            });
        }
        found
    }

    /// One kind for one base run; with several, both, unless the model does not hold.
    pub(super) fn mechanisms(&self) -> Vec<PathMechanism> {
        match (self.exchange.runs.is_some(), self.exchange.is_modelled) {
            (false, _) => vec![PathMechanism::Model],
            (true, true) => vec![PathMechanism::Model, PathMechanism::Runs],
            (true, false) => vec![PathMechanism::Runs],
        }
    }

    /// The observed arrangement; the exchange of runs has a statistic of its own where the candidate
    /// has more trials than they.
    pub(super) fn seen(&self, mechanism: PathMechanism) -> LookStatistic {
        match (mechanism, &self.exchange.runs) {
            (PathMechanism::Runs, Some(runs)) => statistic(&runs.seen),
            _ => statistic(&self.exchange.seen),
        }
    }

    /// Draws an arrangement, and what each look would have seen of it.
    pub(super) fn draw(
        &mut self,
        mechanism: PathMechanism,
        path: &mut [LookStatistic],
        random: &mut SplitMix64,
    ) {
        self.sums.fill([0.0; 8]);
        let last = self.sums.len() - 1;
        match (mechanism, &self.exchange.runs) {
            (PathMechanism::Runs, Some(runs)) => {
                runs.draw_passes(&self.exchange.tables, random, &mut self.passes);
                for (test, passes) in runs.tests.iter().zip(&self.passes) {
                    mixture::add(
                        &mut self.sums[last],
                        test.evidence(*passes, &self.exchange.tables),
                    );
                }
            }
            _ => self.split_all(random),
        }
        for at in 0..self.tests.len() {
            self.add_earlier(at, mechanism, random);
        }
        for (found, sum) in path.iter_mut().zip(&self.sums) {
            *found = statistic(sum);
        }
    }

    fn split_all(&mut self, random: &mut SplitMix64) {
        let last = self.sums.len() - 1;
        for (at, test) in self.exchange.tests.iter().enumerate() {
            let table = self.exchange.tables.at(test.table);
            let place = table.draw_place(random);
            mixture::add(&mut self.sums[last], &table.evidence[place]);
            self.passes[at] =
                ArrangedPasses { candidate: test.least + place, all: self.tests[at].passes };
        }
    }

    /// What the looks before the last one saw of a test.
    fn add_earlier(&mut self, at: usize, mechanism: PathMechanism, random: &mut SplitMix64) {
        let (test, arranged) = (&self.tests[at], self.passes[at]);
        let (mut trials, parts) = match (mechanism, &self.exchange.runs) {
            (PathMechanism::Runs, Some(runs)) => (runs.tests[at].trials, &test.earlier_swapped),
            _ => (test.trials, &test.earlier),
        };
        let mut passes = arranged.candidate;
        let (mut base_passes, mut base_trials) = (arranged.all - passes, test.base_trials);
        for (look, part) in parts.iter().enumerate().rev() {
            passes = thinned(passes, trials, part.trials, random);
            trials = part.trials;
            base_passes = thinned(base_passes, base_trials, part.base_trials, random);
            base_trials = part.base_trials;
            if trials == 0 || base_trials == 0 {
                break;
            }
            let family = &mut self.families[part.family];
            let evidence = family.evidence(base_passes + passes, passes, &mut self.model);
            mixture::add(&mut self.sums[look], evidence);
        }
    }
}

fn statistic(sum: &MixtureEvidence) -> LookStatistic {
    LookStatistic { drop: mixture::statistic(sum), gain: mixture::gain(sum) }
}

fn look_part(
    totals: PassTotals,
    base_trials: usize,
    trials: usize,
    family: impl FnOnce(FamilyTrials) -> usize,
) -> LookPart {
    let base_neighbours = if base_trials == totals.base_trials {
        totals.base_neighbours
    } else {
        // Only a single run grows.
        base_trials * base_trials.saturating_sub(1)
    };
    let family = family(FamilyTrials { base_trials, base_neighbours, trials });
    LookPart { family, base_trials, trials }
}

/// Passes among the first trials, of which there are fewer.
fn thinned(passes: usize, trials: usize, wanted: usize, random: &mut SplitMix64) -> usize {
    let mut left = passes;
    for trials in (wanted + 1..=trials).rev() {
        left -= usize::from((random.below(trials as u64) as usize) < left);
    }
    left
}

impl SplitFamily {
    fn new(counts: FamilyTrials) -> Self {
        Self { counts, evidence: vec![None; counts.base_trials + counts.trials + 1] }
    }

    fn evidence(
        &mut self,
        all: usize,
        candidate: usize,
        model: &mut SplitModel,
    ) -> &MixtureEvidence {
        let FamilyTrials { base_trials, base_neighbours, trials } = self.counts;
        let totals = PassTotals { base_trials, base_neighbours, trials, passes: all };
        let made = self.evidence[all].get_or_insert_with(|| {
            let gain = |at: usize| totals.gain(totals.least() + at);
            mixture::evidence(model.chances(totals), gain)
        });
        &made[candidate - totals.least()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(passes: usize, trials: usize) -> Vec<f64> {
        (0..trials).map(|at| f64::from(u8::from(at < passes))).collect()
    }

    #[test]
    fn what_earlier_looks_saw_is_a_sample() {
        let mut random = SplitMix64::new(1);
        let mut counts = [0_i32; 4];
        for _ in 0..6_000 {
            counts[thinned(3, 6, 3, &mut random)] += 1;
        }
        // Hypergeometric: 1, 9, 9 and 1 of 20.
        for (count, of_twenty) in counts.iter().zip([1, 9, 9, 1]) {
            let expected = 300 * of_twenty;
            assert!((count - expected).abs() < 150, "{counts:?}");
        }
        assert_eq!(thinned(4, 4, 2, &mut random), 2);
    }

    /// Two arms that both grow: each look has as many trials of each.
    #[test]
    fn a_base_that_grows_is_thinned_too() {
        let pair = |at: usize| RoundPair {
            pair: Pair::new(side(2 + at % 2, 3), side(1 + at % 3, 3)),
            seen: (1..=3).map(|count| [count, count]).collect(),
        };
        let pairs: Vec<RoundPair> = (0..6).map(pair).collect();
        let mut paths = PassPaths::of(&pairs, 3);
        assert_eq!(paths.mechanisms(), [PathMechanism::Model]);
        let mut random = SplitMix64::new(2);
        let mut path = vec![LookStatistic::default(); 3];
        let (mut sums, repeats) = ([0.0; 3], 4_000);
        for _ in 0..repeats {
            paths.draw(PathMechanism::Model, &mut path, &mut random);
            for (sum, found) in sums.iter_mut().zip(&path) {
                *sum += found.gain / f64::from(repeats);
                assert!(found.drop.is_finite() && found.gain.abs() <= 6.0);
            }
        }
        assert!(sums.iter().all(|mean| mean.abs() < 0.1), "{sums:?}");
    }

    #[test]
    fn runs_and_the_model_are_both_tried_with_several_runs() {
        let pair = |at: usize| RoundPair {
            pair: Pair::pooled(vec![side(3, 4), side(2 + at % 3, 4)], side(2, 2)),
            seen: vec![[8, 1], [8, 2]],
        };
        let pairs: Vec<RoundPair> = (0..8).map(pair).collect();
        let mut paths = PassPaths::of(&pairs, 2);
        assert_eq!(paths.mechanisms(), [PathMechanism::Model, PathMechanism::Runs]);
        let mut random = PathMechanism::Runs.random(1);
        let mut path = vec![LookStatistic::default(); 2];
        paths.draw(PathMechanism::Runs, &mut path, &mut random);
        assert!(path.iter().all(|found| found.drop.is_finite()));
    }
}
