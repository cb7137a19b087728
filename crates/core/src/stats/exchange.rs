//! Permutation test of whether passes dropped. Labels are exchanged within tests only, so hard and
//! easy tests never mix.
//!
//! With one base run, trials are exchanged. With several, trials of one run may resemble each
//! other, and two answers are combined: whole runs are exchanged within each test, which is right
//! whatever the runs do but cannot be surprised by one broken test; and splits are drawn from a
//! model with the correlation that the base runs show, which can. The harmonic mean of the two
//! p-values loses little of either.

use std::collections::HashMap;

use super::mixture::{self, MixtureEvidence};
use super::pair::clusters;
use super::pass_split::{PassTotals, SplitModel, candidate_passes, count_passes};
use super::{Cluster, Drift, Pair, SplitMix64};

/// Up to this many arrangements are enumerated.
const ENUMERABLE: usize = 20_000;
/// This many are drawn where there are more.
const DRAWS: usize = 9_999;
/// Enough where the result is far from significant.
const FIRST_DRAWS: usize = 999;
/// The budget for drawing, in tests.
const WORK: usize = 20_000_000;
/// Gives the exchange of runs other random numbers than the model.
const RUN_SEED: u64 = 0x9d5c_03a1_7be4_6f28;
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
    if exchange.runs < 2 {
        return by_model();
    }
    let mut random = SplitMix64::new(seed ^ RUN_SEED);
    let by_runs = draw(draws, effort, &exchange.seen, || exchange.swap_runs(&mut random));
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

/// The possible splits of tests with the same totals.
struct SplitTable {
    cumulative: Vec<f64>,
    evidence: Vec<MixtureEvidence>,
}

impl SplitTable {
    fn draw(&self, random: &mut SplitMix64) -> &MixtureEvidence {
        let place = random.fraction();
        let last = self.cumulative.len() - 1;
        let at = self.cumulative[..last].iter().position(|sum| place < *sum).unwrap_or(last);
        &self.evidence[at]
    }
}

/// A test whose passes can be split in more than one way.
struct MovingTest {
    table: usize,
    /// Trials of the candidate.
    trials: usize,
    /// The fewest passes that the candidate can have.
    least: usize,
    seen: usize,
    /// Passes and trials of each base run that has at least as many trials as the candidate.
    runs: Vec<Option<(usize, usize)>>,
}

/// Tests that are exchanged together, and what each exchange gives.
struct ExchangeUnit {
    tests: Vec<usize>,
    /// The first is the observed arrangement; the others each exchange the candidate with a run.
    choices: Vec<RunChoice>,
}

enum RunChoice {
    Known(MixtureEvidence),
    /// The run has more trials than the candidate; as many are drawn.
    Sampled(usize),
}

struct Exchange {
    tests: Vec<MovingTest>,
    tables: Vec<SplitTable>,
    units: Vec<ExchangeUnit>,
    seen: MixtureEvidence,
    /// Base runs.
    runs: usize,
    /// Whether the model holds. Tests of a group fail together, which it does not know.
    is_modelled: bool,
}

impl Exchange {
    fn of(pairs: &[Pair]) -> Self {
        let drift = Drift::of(pairs);
        let mut model = SplitModel::new(pairs, drift.allowed_correlation.unwrap_or(0.0));
        let mut places = HashMap::new();
        let mut found = Self {
            tests: Vec::new(),
            tables: Vec::new(),
            units: Vec::new(),
            seen: [0.0; 8],
            runs: drift.runs,
            is_modelled: drift.allowed_correlation.is_some(),
        };
        let mut numbers = vec![None; pairs.len()];
        for (at, pair) in pairs.iter().enumerate().filter(|(_, pair)| pair.can_move()) {
            let totals = PassTotals::of(pair);
            let table = *places.entry(totals).or_insert_with(|| {
                found.tables.push(table(totals, model.chances(totals)));
                found.tables.len() - 1
            });
            let seen = candidate_passes(pair);
            mixture::add(&mut found.seen, &found.tables[table].evidence[seen - totals.least()]);
            numbers[at] = Some(found.tests.len());
            found.is_modelled &= !matches!(pair.cluster, Cluster::Group(_));
            found.tests.push(MovingTest {
                table,
                trials: totals.trials,
                least: totals.least(),
                seen,
                runs: pair.base.iter().map(|run| eligible(run, totals.trials)).collect(),
            });
        }
        if found.runs > 1 {
            found.units = found.exchange_units(pairs, &numbers);
        }
        found
    }

    /// Groups are exchanged as a whole, other tests alone.
    fn exchange_units(&self, pairs: &[Pair], numbers: &[Option<usize>]) -> Vec<ExchangeUnit> {
        let mut units = Vec::new();
        for members in clusters(pairs) {
            let is_group = matches!(pairs[members[0]].cluster, Cluster::Group(_));
            let tests: Vec<usize> = members.iter().filter_map(|at| numbers[*at]).collect();
            if is_group && !tests.is_empty() {
                units.push(self.unit(tests));
            } else {
                units.extend(tests.into_iter().map(|test| self.unit(vec![test])));
            }
        }
        units
    }

    fn unit(&self, tests: Vec<usize>) -> ExchangeUnit {
        let most = tests.iter().map(|at| self.tests[*at].runs.len()).max().unwrap_or(0);
        let observed = tests.iter().map(|at| (*at, self.tests[*at].seen));
        let mut choices = vec![RunChoice::Known(self.evidence(observed))];
        for run in 0..most {
            let of_run = |at: &usize| self.tests[*at].runs.get(run).copied().flatten();
            let counts: Option<Vec<(usize, usize)>> = tests.iter().map(of_run).collect();
            let Some(counts) = counts else {
                continue;
            };
            let is_even = tests
                .iter()
                .zip(&counts)
                .all(|(at, (_, trials))| self.tests[*at].trials == *trials);
            choices.push(if is_even {
                let swapped = tests.iter().copied().zip(counts.iter().map(|(passes, _)| *passes));
                RunChoice::Known(self.evidence(swapped))
            } else {
                RunChoice::Sampled(run)
            });
        }
        ExchangeUnit { tests, choices }
    }

    /// Of tests and the candidate's passes in them.
    fn evidence(&self, passes: impl Iterator<Item = (usize, usize)>) -> MixtureEvidence {
        let mut sum = [0.0; 8];
        for (at, passes) in passes {
            mixture::add(&mut sum, self.of_test(at, passes));
        }
        sum
    }

    fn of_test(&self, at: usize, passes: usize) -> &MixtureEvidence {
        let test = &self.tests[at];
        &self.tables[test.table].evidence[passes - test.least]
    }

    /// Splits of all tests, drawn from the model.
    fn split_all(&self, random: &mut SplitMix64) -> MixtureEvidence {
        let mut sum = [0.0; 8];
        for test in &self.tests {
            mixture::add(&mut sum, self.tables[test.table].draw(random));
        }
        sum
    }

    /// In each test the candidate is exchanged with one of the base runs, or with none.
    fn swap_runs(&self, random: &mut SplitMix64) -> MixtureEvidence {
        let mut sum = [0.0; 8];
        for unit in &self.units {
            if unit.choices.len() < 2 {
                // No run has as many trials as the candidate.
                for at in &unit.tests {
                    mixture::add(&mut sum, self.tables[self.tests[*at].table].draw(random));
                }
                continue;
            }
            match &unit.choices[random.below(unit.choices.len() as u64) as usize] {
                RunChoice::Known(evidence) => mixture::add(&mut sum, evidence),
                RunChoice::Sampled(run) => {
                    for at in &unit.tests {
                        let test = &self.tests[*at];
                        let (passes, trials) = test.runs[*run].unwrap_or((test.seen, test.trials));
                        let drawn = draw_passes(passes, trials, test.trials, random);
                        mixture::add(&mut sum, self.of_test(*at, drawn));
                    }
                }
            }
        }
        sum
    }

    /// `None` if there are too many arrangements, or runs to take into account.
    fn enumerate(&self) -> Option<Permuted> {
        if self.runs > 1 {
            return None;
        }
        let mut count: usize = 1;
        for test in &self.tests {
            count = count.saturating_mul(self.tables[test.table].cumulative.len());
            if count > ENUMERABLE {
                return None;
            }
        }
        let mut sums: Vec<(f64, MixtureEvidence)> = vec![(1.0, [0.0; 8])];
        for test in &self.tests {
            let table = &self.tables[test.table];
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

fn table(totals: PassTotals, chances: &[f64]) -> SplitTable {
    let mut sum = 0.0;
    let cumulative = chances.iter().map(|chance| {
        sum += chance;
        sum
    });
    let cumulative = cumulative.collect();
    let gain = |at: usize| totals.gain(totals.least() + at);
    SplitTable { cumulative, evidence: mixture::evidence(chances, gain) }
}

/// A run with too few trials cannot take the candidate's place.
fn eligible(run: &[f64], trials: usize) -> Option<(usize, usize)> {
    (run.len() >= trials).then(|| (count_passes(run.iter().copied()), run.len()))
}

/// Passes among some trials of a run.
pub(super) fn draw_passes(
    passes: usize,
    trials: usize,
    wanted: usize,
    random: &mut SplitMix64,
) -> usize {
    let mut left = passes;
    for at in 0..wanted {
        left -= usize::from((random.below((trials - at) as u64) as usize) < left);
    }
    passes - left
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

    #[test]
    fn equal_runs_say_nothing() {
        assert_eq!(full(&vec![pair(3, 3, 3); 5]), Permuted::CERTAIN);
        assert_eq!(full(&[]), Permuted::CERTAIN);
    }
}
