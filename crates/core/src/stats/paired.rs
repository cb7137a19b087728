//! Permutation test of whether two runs differ. Labels are exchanged within tests only, so hard and
//! easy tests never mix; no distribution of scores is assumed.

use super::special::{ln_choose, normal_below};
use super::{Pair, SplitMix64, mean};

/// Up to this many arrangements are enumerated.
const ENUMERABLE: u64 = 20_000;
/// This many are drawn where there are more.
const DRAWS: u64 = 9_999;
/// The budget for drawing, in trials that are shuffled.
const WORK: u64 = 200_000_000;
/// Cells of the exact distribution, and steps to fill them.
const CELLS: u64 = 200_000;
const STEPS: u64 = 400_000_000;
/// Probabilities that no sum of them can show.
const NEGLIGIBLE: f64 = 1e-25;
/// Sums that differ by less are equal but for rounding.
const TIE: f64 = 1e-9;

/// One-sided p-values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Permuted {
    /// Share of the arrangements with a gain as low as this or lower.
    pub down: f64,
    /// Share of the arrangements with a gain as high as this or higher.
    pub up: f64,
    /// Whether all arrangements were counted; otherwise they were drawn.
    pub is_exact: bool,
}

impl Permuted {
    pub(crate) fn two_sided(&self) -> f64 {
        (2.0 * self.down.min(self.up)).min(1.0)
    }
}

/// Compares two runs by their mean gain. Sides are not empty.
pub(crate) fn permute(pairs: &[Pair], seed: u64) -> Permuted {
    let moving: Vec<&Pair> = pairs.iter().filter(|pair| can_move(pair)).collect();
    let is_binary = moving
        .iter()
        .flat_map(|pair| pair.base.iter().chain(&pair.candidate))
        .all(|value| *value == 0.0 || *value == 1.0);
    let counted = is_binary.then(|| Lattice::of(&moving)).flatten();
    match (counted, arrangements(&moving)) {
        (Some(lattice), _) => lattice.tails(),
        (None, Some(_)) => enumerate(&moving),
        (None, None) => draw(&moving, seed),
    }
}

/// As [`permute`], by the normal distribution with the variance that all arrangements have. Takes
/// time in proportion to the trials, and is close for some hundreds of them.
pub(crate) fn permute_approximately(pairs: &[Pair]) -> Permuted {
    let (mut gain, mut variance, mut step) = (0.0, 0.0, f64::INFINITY);
    for pair in pairs.iter().filter(|pair| can_move(pair)) {
        let (base, candidate) = (pair.base.len() as f64, pair.candidate.len() as f64);
        let all = || pair.base.iter().chain(&pair.candidate);
        let mean = all().sum::<f64>() / (base + candidate);
        let squares: f64 = all().map(|value| (value - mean).powi(2)).sum();
        let each = squares / (base + candidate - 1.0);
        gain += pair.gain();
        variance += each * (base + candidate) / (base * candidate);
        step = step.min(1.0 / base + 1.0 / candidate);
    }
    if variance == 0.0 {
        return Permuted { down: 1.0, up: 1.0, is_exact: false };
    }
    // Half a step is added, because sums of passes have steps and the observed one counts in full.
    let tail = |gain: f64| normal_below((gain + 0.5 * step) / variance.sqrt());
    Permuted { down: tail(gain), up: tail(-gain), is_exact: false }
}

/// A test whose trials all scored the same is the same in every arrangement.
fn can_move(pair: &Pair) -> bool {
    let first = pair.base[0];
    let all = pair.base.iter().chain(&pair.candidate);
    all.into_iter().any(|value| *value != first)
}

/// The number of arrangements, unless there are too many.
fn arrangements(pairs: &[&Pair]) -> Option<u64> {
    let mut product = 1.0;
    for pair in pairs {
        let (base, candidate) = (pair.base.len() as u64, pair.candidate.len() as u64);
        product *= ln_choose(base + candidate, base).exp().round();
        if product > ENUMERABLE as f64 {
            return None;
        }
    }
    Some(product as u64)
}

/// How many of one test's passes the candidate may get, and the probability of each number.
struct PassDistribution {
    /// What one pass of the candidate is worth.
    step: u64,
    least: u64,
    seen: u64,
    chances: Vec<f64>,
}

/// The sum of the tests' hypergeometric distributions, on whole numbers.
struct Lattice(Vec<PassDistribution>);

impl Lattice {
    /// `None` when the trial counts have no common unit of reasonable size.
    fn of(pairs: &[&Pair]) -> Option<Self> {
        let mut unit: u64 = 1;
        for pair in pairs {
            let product = pair.base.len() as u64 * pair.candidate.len() as u64;
            unit = (unit / common_divisor(unit, product)).checked_mul(product)?;
            if unit > 1_000_000 {
                return None;
            }
        }
        let mut distributions: Vec<PassDistribution> =
            pairs.iter().map(|pair| PassDistribution::of(pair, unit)).collect();
        let divisor = distributions.iter().fold(0, |d, s| common_divisor(d, s.step));
        for distribution in &mut distributions {
            distribution.step /= divisor;
        }
        let lattice = Self(distributions);
        let cells = lattice.cells();
        let widths: u64 = lattice.0.iter().map(|s| s.chances.len() as u64).sum();
        (cells <= CELLS && cells * widths <= STEPS).then_some(lattice)
    }

    fn cells(&self) -> u64 {
        let spans = self.0.iter().map(PassDistribution::span);
        spans.sum::<u64>() + 1
    }

    fn tails(&self) -> Permuted {
        let mut chances = vec![0.0; self.cells() as usize];
        chances[0] = 1.0;
        let mut filled = 1;
        let mut seen = 0;
        for distribution in &self.0 {
            let mut next = vec![0.0; chances.len()];
            for (at, chance) in chances[..filled].iter().enumerate() {
                if *chance < NEGLIGIBLE {
                    continue;
                }
                for (more, own) in distribution.chances.iter().enumerate() {
                    next[at + more * distribution.step as usize] += chance * own;
                }
            }
            filled += distribution.span() as usize;
            chances = next;
            seen += ((distribution.seen - distribution.least) * distribution.step) as usize;
        }
        Permuted {
            down: chances[..=seen].iter().sum::<f64>().min(1.0),
            up: chances[seen..].iter().sum::<f64>().min(1.0),
            is_exact: true,
        }
    }
}

impl PassDistribution {
    fn of(pair: &Pair, unit: u64) -> Self {
        let passes = |side: &[f64]| side.iter().filter(|value| **value == 1.0).count() as u64;
        let (base, candidate) = (pair.base.len() as u64, pair.candidate.len() as u64);
        let seen = passes(&pair.candidate);
        let all = seen + passes(&pair.base);
        let least = all.saturating_sub(base);
        let most = all.min(candidate);
        let whole = ln_choose(base + candidate, all);
        let chance =
            |count| (ln_choose(candidate, count) + ln_choose(base, all - count) - whole).exp();
        Self {
            step: unit / base + unit / candidate,
            least,
            seen,
            chances: (least..=most).map(chance).collect(),
        }
    }

    fn span(&self) -> u64 {
        (self.chances.len() as u64 - 1) * self.step
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Sum of the gains of all tests, in every arrangement.
fn enumerate(pairs: &[&Pair]) -> Permuted {
    let mut sums = vec![0.0];
    for pair in pairs {
        let gains = every_gain(pair);
        sums = sums.iter().flat_map(|sum| gains.iter().map(move |gain| sum + gain)).collect();
    }
    let seen = observed(pairs);
    let count = sums.len() as f64;
    let share =
        |fits: &dyn Fn(f64) -> bool| sums.iter().filter(|sum| fits(**sum)).count() as f64 / count;
    Permuted {
        down: share(&|sum| sum <= seen + TIE),
        up: share(&|sum| sum >= seen - TIE),
        is_exact: true,
    }
}

fn observed(pairs: &[&Pair]) -> f64 {
    pairs.iter().map(|pair| pair.gain()).sum()
}

/// One for each way to choose which trials are the base.
fn every_gain(pair: &Pair) -> Vec<f64> {
    let values = pooled(pair);
    let size = pair.base.len();
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
    pair.base.iter().chain(&pair.candidate).copied().collect()
}

fn gain_of(base: f64, total: f64, size: usize, whole: usize) -> f64 {
    (total - base) / (whole - size) as f64 - base / size as f64
}

/// The observed arrangement counts as a draw, so that no p-value is 0 (Phipson and Smyth, 2010).
fn draw(pairs: &[&Pair], seed: u64) -> Permuted {
    let mut random = SplitMix64::new(seed);
    let mut pools: Vec<(Vec<f64>, usize, f64)> = pairs
        .iter()
        .map(|pair| {
            let values = pooled(pair);
            let total = mean(&values) * values.len() as f64;
            (values, pair.base.len(), total)
        })
        .collect();
    let cases: usize = pools.iter().map(|(values, ..)| values.len()).sum();
    let draws = (WORK / cases.max(1) as u64).clamp(999, DRAWS);
    let seen = observed(pairs);
    let (mut down, mut up) = (1_u64, 1_u64);
    for _ in 0..draws {
        let sum: f64 = pools.iter_mut().map(|pool| drawn(pool, &mut random)).sum();
        down += u64::from(sum <= seen + TIE);
        up += u64::from(sum >= seen - TIE);
    }
    let share = |hits: u64| hits as f64 / (draws + 1) as f64;
    Permuted { down: share(down), up: share(up), is_exact: false }
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
    use super::*;

    fn pair(base: &[f64], candidate: &[f64]) -> Pair {
        Pair { base: base.to_vec(), candidate: candidate.to_vec() }
    }

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
    }

    /// McNemar's exact test, two-sided, for tests that passed only before and only after.
    fn mcnemar(only_before: u64, only_after: u64) -> f64 {
        let count = only_before + only_after;
        let least = only_before.min(only_after);
        let half = count as f64 * std::f64::consts::LN_2;
        let tail: f64 = (0..=least).map(|k| (ln_choose(count, k) - half).exp()).sum();
        (2.0 * tail).min(1.0)
    }

    /// statsmodels 0.15.0, `mcnemar(exact=True)`.
    #[test]
    fn mcnemar_agrees_with_statsmodels() {
        close(mcnemar(5, 1), 0.21875);
        close(mcnemar(6, 16), 0.052478790283203125);
        close(mcnemar(0, 6), 0.03125);
        close(mcnemar(10, 2), 0.03857421875);
        close(mcnemar(0, 0), 1.0);
    }

    /// SciPy 1.17.1, `permutation_test(permutation_type='samples', n_resamples=inf)`.
    #[test]
    fn scores_of_single_trials_agree_with_scipy() {
        let base = [0.2, 0.5, 0.9, 0.4, 0.7, 0.6, 0.8];
        let candidate = [0.1, 0.6, 0.7, 0.3, 0.4, 0.6, 0.3];
        let pairs: Vec<Pair> = base
            .iter()
            .zip(candidate)
            .map(|(base, candidate)| pair(&[*base], &[candidate]))
            .collect();
        let found = permute(&pairs, 1);
        assert!(found.is_exact);
        close(found.down, 0.0625);
        close(found.two_sided(), 0.125);
    }

    #[test]
    fn single_passes_are_mcnemar() {
        for (lost, won) in [(5, 1), (6, 16), (0, 6), (10, 2)] {
            let mut pairs = vec![pair(&[1.0], &[1.0]); 7];
            pairs.extend(vec![pair(&[1.0], &[0.0]); lost]);
            pairs.extend(vec![pair(&[0.0], &[1.0]); won]);
            let found = permute(&pairs, 1);
            assert!(found.is_exact);
            close(found.two_sided(), mcnemar(lost as u64, won as u64));
        }
    }

    /// One test with several trials is Fisher's exact test: SciPy 1.17.1,
    /// `fisher_exact([[8, 2], [3, 7]], alternative='greater')`.
    #[test]
    fn one_test_is_fisher() {
        let side = |passes: usize| -> Vec<f64> {
            (0..10).map(|at| f64::from(u8::from(at < passes))).collect()
        };
        let found = permute(&[pair(&side(8), &side(3))], 1);
        close(found.down, FISHER);
    }

    const FISHER: f64 = 0.03488925934746368;

    #[test]
    fn counting_enumerating_and_drawing_agree() {
        let pairs = [
            pair(&[1.0, 1.0, 0.0], &[0.0, 0.0]),
            pair(&[1.0, 1.0], &[0.0, 1.0]),
            pair(&[1.0, 0.0], &[0.0, 0.0, 0.0, 1.0]),
        ];
        let pairs: Vec<&Pair> = pairs.iter().collect();
        let counted = Lattice::of(&pairs).unwrap().tails();
        let listed = enumerate(&pairs);
        let drawn = draw(&pairs, 7);
        close(counted.down, listed.down);
        close(counted.up, listed.up);
        assert!((drawn.down - listed.down).abs() < 0.02, "{drawn:?} {listed:?}");
        assert!((drawn.up - listed.up).abs() < 0.02);
        assert_eq!(drawn, draw(&pairs, 7));
    }

    #[test]
    fn the_approximation_is_close_to_counting() {
        let side = |passes: usize| -> Vec<f64> {
            (0..5).map(|at| f64::from(u8::from(at < passes))).collect()
        };
        for lost in [0, 5, 10, 20, 30] {
            let pairs: Vec<Pair> =
                (0..60).map(|at| pair(&side(4), &side(4 - usize::from(at < lost)))).collect();
            let (exact, close) = (permute(&pairs, 1), permute_approximately(&pairs));
            assert!(exact.is_exact && !close.is_exact);
            assert!((exact.down - close.down).abs() < 0.005, "{lost}: {exact:?} {close:?}");
            assert!((exact.up - close.up).abs() < 0.005, "{lost}: {exact:?} {close:?}");
        }
        let still = permute_approximately(&vec![pair(&[1.0; 3], &[1.0; 3]); 5]);
        assert_eq!((still.down, still.up), (1.0, 1.0));
    }

    #[test]
    fn equal_runs_say_nothing() {
        let found = permute(&vec![pair(&[1.0; 3], &[1.0; 3]); 5], 1);
        assert_eq!((found.down, found.up), (1.0, 1.0));
        assert_eq!(permute(&[], 1).two_sided(), 1.0);
    }
}
