//! An interval for the mean gain of the tests between two runs.

use super::pair::clusters;
use super::rate::wilson_at;
use super::special::{normal_quantile, t_quantile};
use super::{Interval, Pair, mean};

/// What is measured per trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// 1 for a pass, else 0.
    Rate,
    /// Anything from 0 to 1.
    Score,
}

/// Weight of two pseudo-tests that lost and won everything. They keep an interval about scores
/// that hardly vary from claiming that no test can break.
const IMAGINED: f64 = 0.15;
/// Trials per test up to this are single trials, but for rounding.
const SINGLE: f64 = 1.0 + 1e-9;

/// The mean gain of the tests, all weighted equally, with its interval. `None` without tests.
///
/// The interval of a rate is the hull of two. The first combines Wilson's limits of lost and gained
/// trials (Newcombe's square-and-add, 1998, with the correlation that they have because a trial
/// cannot be both); it covers losses that were not observed. The second uses the variance between
/// clusters, with two pseudo-tests as in Bonett and Price (2012) that differ by one standard error
/// of a coin; it covers correlated trials. Single trials need only the first. The weight of the
/// pseudo-tests and the corrections for few tests were chosen by simulated coverage.
///
/// The interval of a score is Student's, with one gain per cluster and two pseudo-tests, shifted
/// towards the longer tail (Johnson, 1978): where a few tests break and the others stay, a sample with
/// few breaks also looks as if it hardly varied. Scores that do not vary at all have it too: their trials
/// say no more about other tests. One cluster alone says nothing about others: the
/// interval is Newcombe's for the rates of one of its members.
pub fn difference(pairs: &[Pair], measure: Measure, confidence: f64) -> Option<(f64, Interval)> {
    if pairs.is_empty() {
        return None;
    }
    let gains: Vec<f64> = pairs.iter().map(Pair::gain).collect();
    let clusters = ClusterGains::of(pairs, &gains);
    let z = normal_quantile(0.5 + 0.5 * confidence);
    let interval = match measure {
        _ if clusters.sums.len() == 1 => independent(pairs, z),
        Measure::Score => student(&clusters, confidence),
        Measure::Rate => {
            let by_counts = counted(&gains, typical_trials(pairs), z);
            if clusters.trials > SINGLE { hull(by_counts, spread(&clusters, z)) } else { by_counts }
        }
    };
    Some((mean(&gains), interval))
}

/// Trials per test and side, as the harmonic mean: few trials widen an interval more than many
/// narrow it.
fn typical_trials(pairs: &[Pair]) -> f64 {
    let inverse = |pair: &Pair| 1.0 / pair.base_trials() as f64 + 1.0 / pair.candidate.len() as f64;
    let sum: f64 = pairs.iter().map(inverse).sum();
    2.0 * pairs.len() as f64 / sum
}

/// Gains summed over clusters, scaled so that their mean is that of all tests.
struct ClusterGains {
    sums: Vec<f64>,
    /// Sizes, of which the mean is 1.
    sizes: Vec<f64>,
    /// Trials per cluster and side.
    trials: f64,
}

impl ClusterGains {
    fn of(pairs: &[Pair], gains: &[f64]) -> Self {
        let clusters = clusters(pairs);
        let scale = clusters.len() as f64 / pairs.len() as f64;
        let sum = |members: &Vec<usize>| members.iter().map(|at| gains[*at]).sum::<f64>() * scale;
        Self {
            sums: clusters.iter().map(sum).collect(),
            sizes: clusters.iter().map(|members| members.len() as f64 * scale).collect(),
            trials: typical_trials(pairs) / scale,
        }
    }

    fn deviations(&self, centre: f64) -> impl Iterator<Item = f64> {
        let sums = self.sums.iter().zip(&self.sizes);
        sums.map(move |(sum, size)| sum - size * centre)
    }

    /// Squared deviations from a mean.
    fn squares(&self, centre: f64) -> f64 {
        self.deviations(centre).map(|deviation| deviation.powi(2)).sum()
    }

    fn cubes(&self, centre: f64) -> f64 {
        self.deviations(centre).map(|deviation| deviation.powi(3)).sum()
    }
}

fn hull(one: Interval, other: Interval) -> Interval {
    Interval { low: one.low.min(other.low), high: one.high.max(other.high) }
}

fn counted(gains: &[f64], trials: f64, z: f64) -> Interval {
    let count = gains.len() as f64;
    // Square-and-add is too conservative for a handful of tests.
    let z = match gains.len() {
        0..=5 => 0.97 * z,
        _ => z,
    };
    let lost = gains.iter().map(|gain| (-gain).max(0.0)).sum::<f64>() / count;
    let won = gains.iter().map(|gain| gain.max(0.0)).sum::<f64>() / count;
    let loss = wilson_at(lost, count * trials, z);
    let gain = wilson_at(won, count * trials, z);
    let centre = won - lost;
    let room = (1.0 - won) * (1.0 - lost);
    let correlation = if room > 0.0 { (won * lost / room).sqrt().min(1.0) } else { 0.0 };
    let half = |x: f64, y: f64| (x * x + y * y + 2.0 * correlation * x * y).sqrt();
    let down = half(won - gain.low, loss.high - lost);
    let up = half(gain.high - won, lost - loss.low);
    Interval::within(centre - down, centre + up, -1.0, 1.0)
}

fn spread(clusters: &ClusterGains, z: f64) -> Interval {
    let count = clusters.sums.len() as f64;
    let weight = 1.0 - 1.0 / clusters.trials;
    let size = count + 2.0 * weight;
    let centre = clusters.sums.iter().sum::<f64>() / size;
    let imagined = 2.0 * weight * (1.0 / clusters.trials + centre * centre);
    let variance = (clusters.squares(centre) + imagined) / size;
    let half = (z + 0.7 * weight / count) * (variance / size).sqrt();
    Interval::within(centre - half, centre + half, -1.0, 1.0)
}

fn student(clusters: &ClusterGains, confidence: f64) -> Interval {
    let count = clusters.sums.len() as f64;
    let size = count + 2.0 * IMAGINED;
    let centre = clusters.sums.iter().sum::<f64>() / size;
    let imagined = 2.0 * IMAGINED * (1.0 + centre * centre);
    let variance = (clusters.squares(centre) + imagined) / (size - 1.0);
    let quantile = t_quantile(count - 1.0, 0.5 + 0.5 * confidence);
    let half = quantile * (variance / size).sqrt();
    // Scores that are not numbers say nothing.
    if half.is_nan() {
        return Interval { low: -1.0, high: 1.0 };
    }
    let mean = clusters.sums.iter().sum::<f64>() / count;
    // The pseudo-tests have no part in it: they are far from a mean that is not near 0.
    let third = clusters.cubes(mean) / size;
    let shift = third / (6.0 * variance * size) * (1.0 + 2.0 * quantile * quantile);
    let middle = centre + shift.clamp(-half, half);
    // With few tests the pseudo-tests pull the centre; the mean itself stays inside.
    Interval::within((middle - half).min(mean), (middle + half).max(mean), -1.0, 1.0)
}

/// Newcombe's interval for two independent rates. Several pairs that resemble each other are no more
/// evidence than one of them, so their distances are averaged.
fn independent(pairs: &[Pair], z: f64) -> Interval {
    let count = pairs.len() as f64;
    let (mut down, mut up, mut centre) = (0.0, 0.0, 0.0);
    for pair in pairs {
        let (before, now) = (pair.base_mean(), mean(&pair.candidate));
        let base = wilson_at(before, pair.base_trials() as f64, z);
        let candidate = wilson_at(now, pair.candidate.len() as f64, z);
        down += (now - candidate.low).hypot(base.high - before) / count;
        up += (candidate.high - now).hypot(before - base.low) / count;
        centre += (now - before) / count;
    }
    Interval::within(centre - down, centre + up, -1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::Cluster;
    use super::*;

    fn pair(base: &[f64], candidate: &[f64]) -> Pair {
        Pair::new(base.to_vec(), candidate.to_vec())
    }

    /// SciPy 1.17.1: `stats.t.interval(.95, 6, c, sqrt(v / 7.3))` with the pseudo-tests in c and v, and
    /// Johnson's shift `m3 / (6 * v * 7.3) * (1 + 2 * t**2)` of both ends.
    #[test]
    fn scores_have_the_interval_of_student() {
        let gains = [0.2, 0.5, 0.9, 0.4, 0.7, 0.6, 0.8];
        let pairs: Vec<Pair> = gains.iter().map(|gain| pair(&[0.0], &[*gain])).collect();
        let (delta, interval) = difference(&pairs, Measure::Score, 0.95).unwrap();
        assert!((delta - 0.5857142857142857).abs() < 1e-12);
        assert!((interval.low - STUDENT.0).abs() < 1e-9, "{interval:?}");
        assert!((interval.high - STUDENT.1).abs() < 1e-9, "{interval:?}");
    }

    const STUDENT: (f64, f64) = (0.24219819826423333, 0.8660085289362083);

    /// Two tests that both score 0.9 say nothing about a third that may break.
    #[test]
    fn scores_that_hardly_vary_do_not_exclude_a_broken_test() {
        let pairs = |count: usize| -> Vec<Pair> {
            (0..count).map(|at| pair(&[0.9], &[0.9 + 0.001 * (at % 3) as f64])).collect()
        };
        for (count, most) in [(2, 0.5), (5, 0.2), (10, 0.1), (20, 0.05)] {
            let (_, interval) = difference(&pairs(count), Measure::Score, 0.95).unwrap();
            assert!(interval.low < -most, "{count}: {interval:?}");
        }
    }

    /// The 97.5 % quantile of Student's t with n − 1 degrees of freedom, by numerical integration, times
    /// √(0.3 / (n − 0.7) / (n + 0.3)), whatever the number of trials.
    #[test]
    fn equal_scores_have_the_interval_of_student() {
        for (tests, half) in EQUAL_SCORES {
            for trials in [1, 5, 50] {
                let equal = vec![pair(&vec![0.9; trials], &vec![0.9; trials]); tests];
                let (delta, found) = difference(&equal, Measure::Score, 0.95).unwrap();
                assert_eq!(delta, 0.0);
                assert!((found.high - half).abs() < 1e-9, "{tests} × {trials}: {found:?}");
                assert!((found.low + half).abs() < 1e-9, "{tests} × {trials}: {found:?}");
            }
        }
    }

    const EQUAL_SCORES: [(usize, f64); 5] = [
        (2, 1.0),
        (5, 0.318_549_960_79),
        (10, 0.126_596_971_04),
        (20, 0.057_917_282_11),
        (50, 0.022_103_316_67),
    ];

    /// 3 of 50 tests broke: as with passes, more may well have broken than 6 %.
    #[test]
    fn a_few_broken_tests_stretch_the_interval_of_scores_towards_more() {
        let pairs: Vec<Pair> =
            (0..50).map(|at| pair(&[0.9], &[if at < 3 { 0.0 } else { 0.9 }])).collect();
        let (delta, interval) = difference(&pairs, Measure::Score, 0.95).unwrap();
        assert!(delta - interval.low > 1.8 * (interval.high - delta), "{interval:?}");
        assert!(interval.low < -0.125 && interval.high < 0.0, "{interval:?}");
    }

    /// Newcombe (1998), table II, method 10: 56/70 − 48/80, 9/10 − 3/10 and 10/10 − 0/10.
    #[test]
    fn one_test_has_the_interval_of_two_independent_rates() {
        let side = |passes: usize, trials: usize| -> Vec<f64> {
            (0..trials).map(|at| f64::from(u8::from(at < passes))).collect()
        };
        for (candidate, base, low, high) in [
            ((56, 70), (48, 80), 0.0524, 0.3339),
            ((9, 10), (3, 10), 0.1705, 0.8090),
            ((10, 10), (0, 10), 0.6075, 1.0),
        ] {
            let one = Pair::new(side(base.0, base.1), side(candidate.0, candidate.1));
            let (_, found) = difference(&[one], Measure::Rate, 0.95).unwrap();
            assert!(
                (found.low - low).abs() < 6e-5 && (found.high - high).abs() < 6e-5,
                "{found:?}"
            );
        }
    }

    /// A trial cannot be both lost and won.
    #[test]
    fn lost_and_won_trials_are_correlated() {
        let mut pairs = vec![pair(&[1.0], &[0.0]); 10];
        pairs.extend(vec![pair(&[0.0], &[1.0]); 10]);
        pairs.extend(vec![pair(&[1.0], &[1.0]); 20]);
        let (_, interval) = difference(&pairs, Measure::Rate, 0.95).unwrap();
        // Without the correlation it would be ±0.190.
        assert!((0.21..0.23).contains(&interval.high), "{interval:?}");
    }

    #[test]
    fn targets_of_one_test_are_not_independent() {
        let lost = |cluster: fn(usize) -> Cluster| -> Vec<Pair> {
            let pairs = (0..60).map(|at| {
                let now = f64::from(u8::from(at % 20 != 0 && at % 20 != 7));
                Pair { cluster: cluster(at), ..pair(&[1.0; 5], &[now; 5]) }
            });
            pairs.collect()
        };
        let width = |pairs: &[Pair]| {
            let (_, interval) = difference(pairs, Measure::Rate, 0.95).unwrap();
            interval.high - interval.low
        };
        let alone = width(&lost(|_| Cluster::Alone));
        let targets = width(&lost(|at| Cluster::Test(at % 20)));
        assert!(targets > 1.5 * alone, "{targets} {alone}");
    }

    /// Ten tests with one fixture fail together, and so does one test on ten targets.
    #[test]
    fn one_cluster_is_no_more_evidence_than_one_of_its_members() {
        let trials = |passes: usize| -> Vec<f64> {
            (0..5).map(|at| f64::from(u8::from(at < passes))).collect()
        };
        for measure in [Measure::Rate, Measure::Score] {
            let interval = |count: usize, cluster: Cluster| {
                let pair = Pair { cluster, ..Pair::new(trials(4), trials(1)) };
                difference(&vec![pair; count], measure, 0.95).unwrap().1
            };
            let one = interval(1, Cluster::Alone);
            for cluster in [Cluster::Group(0), Cluster::Test(0)] {
                let all = interval(10, cluster);
                let is_close = |one: f64, other: f64| (one - other).abs() < 1e-9;
                assert!(is_close(one.low, all.low), "{one:?} {all:?}");
                assert!(is_close(one.high, all.high), "{one:?} {all:?}");
            }
            assert!(one.low < -0.7 && one.high > -0.2, "{one:?}");
        }
    }

    #[test]
    fn one_trial_more_on_one_side_changes_little() {
        let few: Vec<Pair> =
            (0..5).map(|at| pair(&[1.0; 3], &[f64::from(u8::from(at > 0))])).collect();
        let more: Vec<Pair> =
            (0..5).map(|at| pair(&[1.0; 4], &[f64::from(u8::from(at > 0))])).collect();
        let [few, more] =
            [few, more].map(|pairs| difference(&pairs, Measure::Rate, 0.95).unwrap().1);
        assert!((few.low - more.low).abs() < 0.03 && (few.high - more.high).abs() < 0.03);
    }

    /// Wilson's upper limit for 0 of 20 is 0.16113 (statsmodels 0.15.0); with nothing gained and
    /// nothing lost square-and-add leaves just that.
    #[test]
    fn nothing_seen_is_not_nothing() {
        let pairs = vec![pair(&[1.0], &[1.0]); 20];
        let (delta, interval) = difference(&pairs, Measure::Rate, 0.95).unwrap();
        assert_eq!(delta, 0.0);
        assert!((interval.high - 0.1611251580528194).abs() < 1e-9, "{interval:?}");
        assert!((interval.low + interval.high).abs() < 1e-12);
        let more = vec![pair(&[1.0; 5], &[1.0; 5]); 20];
        let (_, narrow) = difference(&more, Measure::Rate, 0.95).unwrap();
        assert!(narrow.high < 0.06 && narrow.high > 0.03, "{narrow:?}");
        assert_eq!(difference(&[], Measure::Rate, 0.95), None);
    }

    #[test]
    fn the_gain_lies_in_its_interval() {
        for lost in 0..=10 {
            let mut pairs = vec![pair(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]); 10 - lost];
            pairs.extend(vec![pair(&[1.0, 1.0, 1.0], &[0.0, 0.0, 1.0]); lost]);
            let (delta, interval) = difference(&pairs, Measure::Rate, 0.95).unwrap();
            assert!(interval.holds(delta) && interval.low < interval.high);
            let turned: Vec<Pair> =
                pairs.iter().map(|one| pair(&one.candidate, &one.base[0])).collect();
            let (other, mirrored) = difference(&turned, Measure::Rate, 0.95).unwrap();
            assert!((delta + other).abs() < 1e-12);
            assert!((interval.low + mirrored.high).abs() < 1e-12);
        }
    }
}
