//! Permutation test of whether scores differ, by the mean gain. Labels are exchanged within tests
//! only; no distribution of scores is assumed. With several base runs, whole runs are exchanged.

use super::exchange::{Effort, Permuted, TIE};
use super::pair::clusters;
use super::special::ln_choose;
use super::{Cluster, Drift, Pair, SplitMix64, mean, variance};

/// Up to this many arrangements are enumerated.
const ENUMERABLE: f64 = 20_000.0;
/// The budget for drawing, in trials that are shuffled.
const WORK: usize = 200_000_000;

/// Compares two runs by their mean gain.
pub(crate) fn exchange_scores(pairs: &[Pair], seed: u64, effort: Effort) -> Permuted {
    let moving: Vec<&Pair> = pairs.iter().filter(|pair| pair.can_move()).collect();
    if moving.is_empty() {
        return Permuted::CERTAIN;
    }
    let seen = moving.iter().map(|pair| pair.gain()).sum();
    if Drift::of(pairs).runs > 1 {
        return swap_runs(pairs, seen, seed, effort.draws(pairs.len()));
    }
    if arrangements(&moving) <= ENUMERABLE {
        return enumerate(&moving, seen);
    }
    draw(&moving, seen, seed, effort)
}

/// The number of arrangements, or more than can be enumerated.
fn arrangements(pairs: &[&Pair]) -> f64 {
    let mut product = 1.0;
    for pair in pairs {
        let (base, candidate) = (pair.base_trials() as u64, pair.candidate.len() as u64);
        product *= ln_choose(base + candidate, base).exp().round();
        if product > ENUMERABLE {
            break;
        }
    }
    product
}

/// Sum of the gains of all tests, in every arrangement.
fn enumerate(pairs: &[&Pair], seen: f64) -> Permuted {
    let mut sums = vec![0.0];
    for pair in pairs {
        let gains = every_gain(pair);
        sums = sums.iter().flat_map(|sum| gains.iter().map(move |gain| sum + gain)).collect();
    }
    let count = sums.len() as f64;
    let share =
        |fits: &dyn Fn(f64) -> bool| sums.iter().filter(|sum| fits(**sum)).count() as f64 / count;
    Permuted {
        down: share(&|sum| sum <= seen + TIE),
        up: share(&|sum| sum >= seen - TIE),
        is_exact: true,
    }
}

/// Draws gains; the observed one counts as one of them.
fn tails(draws: usize, seen: f64, mut gain: impl FnMut() -> f64) -> Permuted {
    let (mut down, mut up) = (1, 1);
    for _ in 0..draws {
        let found = gain();
        down += usize::from(found <= seen + TIE);
        up += usize::from(found >= seen - TIE);
    }
    let share = |hits: usize| hits as f64 / (draws + 1) as f64;
    Permuted { down: share(down), up: share(up), is_exact: false }
}

/// In each test the candidate is exchanged with one of the base runs, or with none. Groups are
/// exchanged as a whole.
fn swap_runs(pairs: &[Pair], seen: f64, seed: u64, draws: usize) -> Permuted {
    let mut units: Vec<Vec<UnitGain>> = Vec::new();
    for members in clusters(pairs) {
        let runs = members.iter().map(|at| swapped_runs(&pairs[*at]));
        if matches!(pairs[members[0]].cluster, Cluster::Group(_)) {
            units.push(joint_gains(&runs.collect::<Vec<_>>()));
        } else {
            units.extend(runs.map(|runs| joint_gains(&[runs])));
        }
    }
    let mut random = SplitMix64::new(seed);
    tails(draws, seen, || {
        let choose = |gains: &mut Vec<UnitGain>| {
            let run = random.below(gains.len() as u64) as usize;
            gains[run].draw(&mut random)
        };
        units.iter_mut().map(choose).sum()
    })
}

/// A run in the candidate's place, which shows no more trials than the candidate has.
#[derive(Clone)]
pub(super) struct SwappedRun {
    values: Vec<f64>,
    /// Trials that it shows.
    trials: usize,
    /// The mean of all other runs.
    rest: f64,
}

impl SwappedRun {
    /// The mean over all samples of its trials.
    pub fn gain(&self) -> f64 {
        mean(&self.values) - self.rest
    }

    /// The variance between samples.
    pub fn sampling_variance(&self) -> f64 {
        let (all, shown) = (self.values.len() as f64, self.trials as f64);
        variance(&self.values) * (1.0 / shown - 1.0 / all)
    }

    fn is_whole(&self) -> bool {
        self.trials == self.values.len()
    }

    fn draw(&mut self, random: &mut SplitMix64) -> f64 {
        let mut sum = 0.0;
        for at in 0..self.trials {
            let other = at + random.below((self.values.len() - at) as u64) as usize;
            self.values.swap(at, other);
            sum += self.values[at];
        }
        sum / self.trials as f64 - self.rest
    }
}

/// The test as it is, and with each base run in the candidate's place; `None` for runs without the
/// test.
pub(super) fn swapped_runs(pair: &Pair) -> Vec<Option<SwappedRun>> {
    let all: f64 = pair.base_values().chain(pair.candidate.iter().copied()).sum();
    let size = pair.base_trials() + pair.candidate.len();
    let swapped = |run: &Vec<f64>| {
        let rest = (all - run.iter().sum::<f64>()) / (size - run.len()) as f64;
        let trials = run.len().min(pair.candidate.len());
        (!run.is_empty()).then(|| SwappedRun { values: run.clone(), trials, rest })
    };
    [&pair.candidate].into_iter().chain(&pair.base).map(swapped).collect()
}

/// The gain of tests that are exchanged together.
struct UnitGain {
    /// Of runs that show all of their trials.
    fixed: f64,
    sampled: Vec<SwappedRun>,
}

impl UnitGain {
    fn draw(&mut self, random: &mut SplitMix64) -> f64 {
        self.fixed + self.sampled.iter_mut().map(|run| run.draw(random)).sum::<f64>()
    }
}

/// Of the runs that have every test of a group.
fn joint_gains(members: &[Vec<Option<SwappedRun>>]) -> Vec<UnitGain> {
    let most = members.iter().map(Vec::len).max().unwrap_or(0);
    let of_run = |run: usize| -> Option<UnitGain> {
        let runs: Option<Vec<&SwappedRun>> =
            members.iter().map(|runs| runs.get(run).and_then(Option::as_ref)).collect();
        let (whole, sampled): (Vec<_>, Vec<_>) = runs?.into_iter().partition(|run| run.is_whole());
        Some(UnitGain {
            fixed: whole.into_iter().map(SwappedRun::gain).sum(),
            sampled: sampled.into_iter().cloned().collect(),
        })
    };
    (0..most).filter_map(of_run).collect()
}

/// One for each way to choose which trials are the base.
fn every_gain(pair: &Pair) -> Vec<f64> {
    let values = pooled(pair);
    let size = pair.base_trials();
    let total: f64 = values.iter().sum();
    let mut gains = Vec::new();
    let mut chosen: Vec<usize> = (0..size).collect();
    loop {
        let base: f64 = chosen.iter().map(|at| values[*at]).sum();
        gains.push(gain_of(base, total, size, values.len()));
        // The next combination in lexicographic order.
        let Some(at) = (0..size).rev().find(|at| chosen[*at] < values.len() - size + at) else {
            return gains;
        };
        chosen[at] += 1;
        for later in at + 1..size {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
}

fn pooled(pair: &Pair) -> Vec<f64> {
    pair.base_values().chain(pair.candidate.iter().copied()).collect()
}

fn gain_of(base: f64, total: f64, size: usize, whole: usize) -> f64 {
    (total - base) / (whole - size) as f64 - base / size as f64
}

/// The observed arrangement counts as a draw, so that no p-value is 0 (Phipson and Smyth, 2010).
fn draw(pairs: &[&Pair], seen: f64, seed: u64, effort: Effort) -> Permuted {
    let mut random = SplitMix64::new(seed);
    let mut pools: Vec<(Vec<f64>, usize, f64)> = pairs
        .iter()
        .map(|pair| {
            let values = pooled(pair);
            let total = mean(&values) * values.len() as f64;
            (values, pair.base_trials(), total)
        })
        .collect();
    let cases: usize = pools.iter().map(|(values, ..)| values.len()).sum();
    let draws = effort.draws(pairs.len()).min((WORK / cases.max(1)).max(999));
    tails(draws, seen, || pools.iter_mut().map(|pool| drawn(pool, &mut random)).sum())
}

/// Shuffles a base to the front and returns the gain of the rest over it.
fn drawn((values, size, total): &mut (Vec<f64>, usize, f64), random: &mut SplitMix64) -> f64 {
    let mut base = 0.0;
    for at in 0..*size {
        let other = at + random.below((values.len() - at) as u64) as usize;
        values.swap(at, other);
        base += values[at];
    }
    gain_of(base, *total, *size, values.len())
}

#[cfg(test)]
mod tests {
    use super::super::approximate_exchange;
    use super::*;

    fn pair(base: &[f64], candidate: &[f64]) -> Pair {
        Pair::new(base.to_vec(), candidate.to_vec())
    }

    /// SciPy 1.17.1, `permutation_test(permutation_type='samples', n_resamples=inf)`.
    #[test]
    fn scores_of_single_trials_agree_with_scipy() {
        let base = [0.2, 0.5, 0.9, 0.4, 0.7, 0.6, 0.8];
        let candidate = [0.1, 0.6, 0.7, 0.3, 0.4, 0.6, 0.3];
        let pairs: Vec<Pair> =
            base.iter().zip(candidate).map(|(base, now)| pair(&[*base], &[now])).collect();
        let found = exchange_scores(&pairs, 1, Effort::Full);
        assert!(found.is_exact);
        assert!((found.down - 0.0625).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn enumerating_and_drawing_agree() {
        let pairs = [
            pair(&[0.9, 0.8, 0.1], &[0.2, 0.3]),
            pair(&[0.5, 0.7], &[0.2, 0.6]),
            pair(&[0.4, 0.3], &[0.1, 0.2, 0.3, 0.9]),
        ];
        let pairs: Vec<&Pair> = pairs.iter().collect();
        let seen = pairs.iter().map(|pair| pair.gain()).sum();
        let listed = enumerate(&pairs, seen);
        let drawn = draw(&pairs, seen, 7, Effort::Full);
        assert!((drawn.down - listed.down).abs() < 0.02, "{drawn:?} {listed:?}");
        assert!((drawn.up - listed.up).abs() < 0.02, "{drawn:?} {listed:?}");
        assert_eq!(drawn, draw(&pairs, seen, 7, Effort::Full));
    }

    #[test]
    fn whole_runs_are_exchanged_where_there_are_several() {
        let runs = vec![vec![0.8, 0.9], vec![0.85, 0.8], Vec::new(), vec![0.9, 0.9]];
        let mut pairs = vec![Pair::pooled(runs, vec![0.1, 0.2]); 3];
        let found = exchange_scores(&pairs, 1, Effort::Full);
        // Each of three tests has four runs that could be the lowest.
        assert!((found.down - 1.0 / 64.0).abs() < 0.005, "{found:?}");
        pairs.iter_mut().for_each(|pair| pair.cluster = Cluster::Group(1));
        let found = exchange_scores(&pairs, 1, Effort::Full);
        assert!((found.down - 0.25).abs() < 0.02, "{found:?}");
    }

    /// A mean of eight trials says little about how much two trials vary.
    #[test]
    fn longer_runs_show_as_many_trials_as_the_candidate() {
        let base = || vec![vec![0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6]; 4];
        let pairs = vec![Pair::pooled(base(), vec![0.2, 0.3]); 3];
        let found = exchange_scores(&pairs, 1, Effort::Full);
        // 4 of the 28 samples of a run are as low; the whole runs are never.
        assert!((0.01..0.1).contains(&found.down), "{found:?}");
        assert_eq!(found, exchange_scores(&pairs, 1, Effort::Full));
        let close = approximate_exchange(&vec![pairs[0].clone(); 20]);
        let many = exchange_scores(&vec![pairs[0].clone(); 20], 1, Effort::Full);
        assert!((close.down - many.down).abs() < 0.02, "{close:?} {many:?}");
    }

    #[test]
    fn equal_scores_say_nothing() {
        let found = exchange_scores(&vec![pair(&[0.5; 3], &[0.5; 3]); 5], 1, Effort::Full);
        assert_eq!(found, Permuted::CERTAIN);
    }
}
