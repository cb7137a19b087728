//! Permutation test of whether passes dropped. Labels are exchanged within tests only, so hard and
//! easy tests never mix.
//!
//! With one base run, trials are exchanged. With several, trials of one run may resemble each
//! other, and two answers are combined: whole runs are exchanged within each test, which is right
//! whatever the runs do but cannot be surprised by one broken test; and splits are drawn from a
//! model with the correlation that the base runs show, which can. The harmonic mean of the two
//! p-values loses little of either. Where the candidate has more trials than the runs, the model has to
//! extrapolate; the exchange of runs need not, because only as many trials change places as both have.

use super::mixture::{self, MixtureEvidence};
use super::pass_split::{PassTotals, SplitModel, candidate_passes};
use super::run_exchange::RunExchange;
use super::split_table::SplitTables;
use super::{Cluster, Drift, Pair, SplitMix64};

/// Up to this many arrangements are enumerated.
const ENUMERABLE: usize = 20_000;
/// This many are drawn where there are more.
const DRAWS: usize = 9_999;
/// Enough where the result is far from significant.
pub(super) const FIRST_DRAWS: usize = 999;
/// The budget for drawing, in tests.
const WORK: usize = 20_000_000;
/// Gives the exchange of runs other random numbers than the model.
pub(super) const RUN_SEED: u64 = 0x9d5c_03a1_7be4_6f28;
/// Statistics that differ by less are equal but for rounding.
pub(super) const TIE: f64 = 1e-9;

/// One-sided p-values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Permuted {
    /// Share of the arrangements that look as bad as this or worse.
    pub down: f64,
    /// Share of the arrangements with a gain as high as this or higher.
    pub up: f64,
    /// Whether all arrangements were counted; otherwise they were drawn.
    pub is_exact: bool,
}

impl Permuted {
    /// Nothing could have come out differently.
    pub(super) const CERTAIN: Self = Self { down: 1.0, up: 1.0, is_exact: true };
}

/// How many arrangements are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As many as the p-value needs.
    Full,
    /// Few, for simulations that try the gate many times.
    Quick,
}

impl Effort {
    pub(super) fn draws(self, tests: usize) -> usize {
        match self {
            Self::Full => (WORK / tests.max(1)).clamp(FIRST_DRAWS, DRAWS),
            Self::Quick => 199,
        }
    }

    /// Whether more draws cannot make the result significant, or nearly so.
    fn is_enough(self, done: usize, down: usize, up: usize) -> bool {
        match self {
            Self::Full => done == FIRST_DRAWS && down > FIRST_DRAWS / 5 && up > FIRST_DRAWS / 10,
            Self::Quick => down > 20 && up > 4,
        }
    }
}

/// Compares passes. Values are 0 or 1.
pub(crate) fn exchange_passes(pairs: &[Pair], seed: u64, effort: Effort) -> Permuted {
    let exchange = Exchange::of(pairs);
    if exchange.tests.is_empty() {
        return Permuted::CERTAIN;
    }
    if let Some(found) = exchange.enumerate() {
        return found;
    }
    let draws = effort.draws(exchange.tests.len());
    let by_model = || {
        let mut random = SplitMix64::new(seed);
        draw(draws, effort, &exchange.seen, || exchange.split_all(&mut random))
    };
    let Some(runs) = &exchange.runs else {
        return by_model();
    };
    let mut random = SplitMix64::new(seed ^ RUN_SEED);
    let by_runs = draw(draws, effort, &runs.seen, || runs.draw(&exchange.tables, &mut random));
    if !exchange.is_modelled {
        return by_runs;
    }
    let by_model = by_model();
    Permuted {
        down: harmonic_mean(by_model.down, by_runs.down),
        up: harmonic_mean(by_model.up, by_runs.up),
        is_exact: false,
    }
}

/// Of two p-values: close to the smaller one where they differ much, and no smaller than either
/// where they agree.
pub(super) fn harmonic_mean(one: f64, other: f64) -> f64 {
    2.0 / (1.0 / one + 1.0 / other)
}

/// The observed arrangement counts as one of those drawn.
fn draw(
    draws: usize,
    effort: Effort,
    seen: &MixtureEvidence,
    mut arrange: impl FnMut() -> MixtureEvidence,
) -> Permuted {
    let (statistic, gain) = (mixture::statistic(seen), mixture::gain(seen));
    let (mut down, mut up, mut done) = (1, 1, 0);
    while done < draws {
        let found = arrange();
        down += usize::from(mixture::statistic(&found) >= statistic - TIE);
        up += usize::from(mixture::gain(&found) >= gain - TIE);
        done += 1;
        if effort.is_enough(done, down, up) {
            break;
        }
    }
    let share = |hits: usize| hits as f64 / (done + 1) as f64;
    Permuted { down: share(down), up: share(up), is_exact: false }
}

/// A test whose passes can be split in more than one way.
pub(super) struct MovingTest {
    pub(super) table: usize,
    /// The fewest passes that the candidate can have.
    pub(super) least: usize,
}

pub(super) struct Exchange {
    pub(super) tests: Vec<MovingTest>,
    pub(super) tables: SplitTables,
    pub(super) seen: MixtureEvidence,
    /// With several base runs.
    pub(super) runs: Option<RunExchange>,
    /// Whether the model holds. Tests of a group fail together, which it does not know.
    pub(super) is_modelled: bool,
}

impl Exchange {
    pub(super) fn of(pairs: &[Pair]) -> Self {
        let drift = Drift::of(pairs);
        let model = SplitModel::new(pairs, drift.allowed_correlation.unwrap_or(0.0));
        let mut found = Self {
            tests: Vec::new(),
            tables: SplitTables::new(model),
            seen: [0.0; 8],
            runs: None,
            is_modelled: drift.allowed_correlation.is_some(),
        };
        for pair in pairs.iter().filter(|pair| pair.can_move()) {
            let totals = PassTotals::of(pair);
            let table = found.tables.place(totals);
            let seen = candidate_passes(pair) - totals.least();
            mixture::add(&mut found.seen, &found.tables.at(table).evidence[seen]);
            found.is_modelled &= !matches!(pair.cluster, Cluster::Group(_));
            found.tests.push(MovingTest { table, least: totals.least() });
        }
        if drift.runs > 1 {
            found.runs = Some(RunExchange::of(pairs, &mut found.tables));
        }
        found
    }

    /// Splits of all tests, drawn from the model.
    fn split_all(&self, random: &mut SplitMix64) -> MixtureEvidence {
        let mut sum = [0.0; 8];
        for test in &self.tests {
            mixture::add(&mut sum, self.tables.at(test.table).draw(random));
        }
        sum
    }

    /// `None` if there are too many arrangements, or runs to take into account.
    fn enumerate(&self) -> Option<Permuted> {
        if self.runs.is_some() {
            return None;
        }
        let mut count: usize = 1;
        for test in &self.tests {
            count = count.saturating_mul(self.tables.at(test.table).cumulative.len());
            if count > ENUMERABLE {
                return None;
            }
        }
        let mut sums: Vec<(f64, MixtureEvidence)> = vec![(1.0, [0.0; 8])];
        for test in &self.tests {
            let table = self.tables.at(test.table);
            let mut next = Vec::with_capacity(sums.len() * table.cumulative.len());
            for (chance, sum) in &sums {
                let mut below = 0.0;
                for (cumulative, evidence) in table.cumulative.iter().zip(&table.evidence) {
                    let mut sum = *sum;
                    mixture::add(&mut sum, evidence);
                    next.push((chance * (cumulative - below), sum));
                    below = *cumulative;
                }
            }
            sums = next;
        }
        let (statistic, gain) = (mixture::statistic(&self.seen), mixture::gain(&self.seen));
        let share = |fits: &dyn Fn(&MixtureEvidence) -> bool| -> f64 {
            sums.iter().filter(|(_, sum)| fits(sum)).map(|(chance, _)| chance).sum()
        };
        Some(Permuted {
            down: share(&|sum| mixture::statistic(sum) >= statistic - TIE).min(1.0),
            up: share(&|sum| mixture::gain(sum) >= gain - TIE).min(1.0),
            is_exact: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(passes: usize, trials: usize) -> Vec<f64> {
        (0..trials).map(|at| f64::from(u8::from(at < passes))).collect()
    }

    fn pair(base: usize, candidate: usize, trials: usize) -> Pair {
        Pair::new(side(base, trials), side(candidate, trials))
    }

    fn pooled(base: &[usize], candidate: usize, trials: usize) -> Pair {
        let runs = base.iter().map(|passes| side(*passes, trials)).collect();
        Pair::pooled(runs, side(candidate, trials))
    }

    fn full(pairs: &[Pair]) -> Permuted {
        exchange_passes(pairs, 7, Effort::Full)
    }

    /// One test is Fisher's exact test: SciPy 1.17.1,
    /// `fisher_exact([[8, 2], [3, 7]], alternative='greater')`.
    #[test]
    fn one_test_is_fisher() {
        let found = full(&[pair(8, 3, 10)]);
        assert!(found.is_exact);
        assert!((found.down - 0.03488925934746368).abs() < 1e-9, "{found:?}");
    }

    /// The gains of single trials are McNemar's exact test: statsmodels 0.15.0,
    /// `mcnemar(exact=True)`, of which half is one-sided.
    #[test]
    fn gains_of_single_passes_are_mcnemar() {
        for (lost, won, two_sided) in [(5, 1, 0.21875), (0, 6, 0.03125), (10, 2, 0.03857421875)] {
            let mut pairs = vec![pair(1, 1, 1); 7];
            pairs.extend(vec![pair(1, 0, 1); lost]);
            pairs.extend(vec![pair(0, 1, 1); won]);
            let found = full(&pairs);
            let turned: Vec<Pair> = pairs
                .iter()
                .map(|pair| Pair::new(pair.candidate.clone(), pair.base[0].clone()))
                .collect();
            let smaller = found.up.min(full(&turned).up);
            assert!(found.is_exact);
            assert!((2.0 * smaller - two_sided).abs() < 1e-9, "{lost} {won}: {found:?}");
        }
    }

    #[test]
    fn enumerating_and_drawing_agree() {
        let pairs = [
            Pair::new(side(2, 3), side(0, 2)),
            Pair::new(side(2, 2), side(1, 2)),
            Pair::new(side(1, 2), side(1, 4)),
        ];
        let exchange = Exchange::of(&pairs);
        let listed = exchange.enumerate().unwrap();
        let mut random = SplitMix64::new(3);
        let drawn = draw(9_999, Effort::Full, &exchange.seen, || exchange.split_all(&mut random));
        assert!((drawn.down - listed.down).abs() < 0.02, "{drawn:?} {listed:?}");
        assert!((drawn.up - listed.up).abs() < 0.02, "{drawn:?} {listed:?}");
    }

    #[test]
    fn a_broken_test_is_seen_among_many() {
        let mut pairs = vec![pair(5, 5, 5); 15];
        pairs.extend([pair(4, 5, 5), pair(5, 4, 5), pair(3, 3, 5), pair(4, 4, 5)]);
        assert!(full(&pairs).down > 0.3);
        pairs.push(pair(5, 0, 5));
        assert!(full(&pairs).down < 0.02, "{:?}", full(&pairs));
    }

    /// The runs of this base differ among themselves as much as the candidate does from them.
    #[test]
    fn runs_that_drift_excuse_a_drop() {
        let drop = |base: &[[usize; 4]; 3]| -> f64 {
            let pairs: Vec<Pair> = (0..21).map(|at| pooled(&base[at % 3], 3, 5)).collect();
            full(&pairs).down
        };
        let steady = drop(&[[4, 4, 4, 4], [5, 4, 4, 4], [4, 4, 5, 4]]);
        assert!(steady < 0.01, "{steady}");
        let torn: Vec<Pair> = (0..12)
            .map(|at| pooled(&[[5, 0, 5, 5], [5, 5, 0, 5], [0, 5, 5, 5]][at % 3], at % 2 * 5, 5))
            .collect();
        let trials: Vec<Pair> = torn
            .iter()
            .map(|pair| Pair::new(pair.base_values().collect(), pair.candidate.clone()))
            .collect();
        assert!(full(&trials).down < 0.01, "{:?}", full(&trials));
        assert!(full(&torn).down > 0.05, "{:?}", full(&torn));
    }

    #[test]
    fn groups_are_exchanged_as_a_whole() {
        let mut pairs = vec![pooled(&[5, 5, 5, 5], 0, 5); 5];
        assert!(full(&pairs).down < 0.01);
        pairs.iter_mut().for_each(|pair| pair.cluster = Cluster::Group(1));
        // One unit and five runs: nothing is rarer than one in five.
        assert!((0.15..0.25).contains(&full(&pairs).down), "{:?}", full(&pairs));
    }

    #[test]
    fn runs_with_more_trials_than_the_candidate_are_sampled() {
        let pairs: Vec<Pair> = (0..12)
            .map(|_| Pair::pooled(vec![side(8, 8), side(7, 8), side(8, 9)], side(1, 3)))
            .collect();
        let found = full(&pairs);
        assert!(found.down < 0.001 && found.up > 0.9, "{found:?}");
        assert_eq!(found, full(&pairs));
    }

    /// Runs of two trials that differ as much as this excuse five trials that failed.
    #[test]
    fn runs_with_fewer_trials_than_the_candidate_are_exchanged_too() {
        let torn = |at: usize| {
            let base =
                (0..4).map(|run| side(2 * usize::from(!(at + run).is_multiple_of(3)), 2)).collect();
            Pair::pooled(base, side(5 * usize::from(!at.is_multiple_of(2)), 5))
        };
        let pairs: Vec<Pair> = (0..12).map(torn).collect();
        let exchange = Exchange::of(&pairs);
        let runs = exchange.runs.as_ref().unwrap();
        assert!(runs.tests.iter().all(|test| test.trials == 2));
        assert!(full(&pairs).down > 0.05, "{:?}", full(&pairs));
        let steady: Vec<Pair> =
            (0..12).map(|_| Pair::pooled(vec![side(2, 2); 4], side(2, 5))).collect();
        assert!(full(&steady).down < 0.001, "{:?}", full(&steady));
    }

    #[test]
    fn equal_runs_say_nothing() {
        assert_eq!(full(&vec![pair(3, 3, 3); 5]), Permuted::CERTAIN);
        assert_eq!(full(&[]), Permuted::CERTAIN);
    }
}
