//! How sure a mean score is, when trials of one test resemble each other.

use super::rate::wilson_at;
use super::special::{normal_below, normal_quantile, t_quantile};
use super::{Interval, SplitMix64, mean};

/// Mean of all values from 0 to 1, with its interval; one group per test. `None` without values.
///
/// The error is the cluster-robust one (CR1), with Student's t for so many tests less one. It is
/// put into Wilson's form, as if so many independent cases had been measured as would have the same
/// error: then the interval leans away from 0 and 1, and stays between them. Values that do not
/// differ at all count as one case per test.
pub fn clustered_mean(groups: &[Vec<f64>], confidence: f64) -> Option<(f64, Interval)> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let count = groups.len() as f64;
    let size: usize = groups.iter().map(|group| group.len()).sum();
    if size == 0 {
        return None;
    }
    let centre = groups.iter().map(|g| g.iter().sum::<f64>()).sum::<f64>() / size as f64;
    let tail = 0.5 + 0.5 * confidence;
    let room = centre * (1.0 - centre);
    let variance = clustered_variance(&groups, centre);
    let interval = if variance > 1e-12 && room > 0.0 {
        wilson_at(centre, room / variance, t_quantile(count - 1.0, tail))
    } else {
        wilson_at(centre, count, normal_quantile(tail))
    };
    Some((centre, interval))
}

/// `between 0.76 and 0.99`. An interval that is narrower than what is printed is opened.
pub fn mean_between(interval: Interval) -> String {
    let low = (interval.low * 100.0).round();
    let high = (interval.high * 100.0).round();
    let (low, high) = if low < high {
        (low, high)
    } else {
        (
            (interval.low * 100.0).floor(),
            (interval.high * 100.0).ceil(),
        )
    };
    format!("between {:.2} and {:.2}", low / 100.0, high / 100.0)
}

/// CR1: the squared sums of the tests' deviations, times G / (G − 1).
fn clustered_variance(groups: &[&Vec<f64>], centre: f64) -> f64 {
    let count = groups.len() as f64;
    let size: usize = groups.iter().map(|group| group.len()).sum();
    if count < 2.0 {
        return 0.0;
    }
    let deviation = |group: &&Vec<f64>| group.iter().map(|value| value - centre).sum::<f64>();
    let squares: f64 = groups.iter().map(|group| deviation(group).powi(2)).sum();
    squares * count / (count - 1.0) / (size as f64).powi(2)
}

/// Efron's percentile interval of the mean of one value per test.
pub fn bootstrap_percentile(
    values: &[f64],
    confidence: f64,
    draws: usize,
    seed: u64,
) -> Option<Interval> {
    let means = resampled_means(values, draws, seed)?;
    let tail = 0.5 - 0.5 * confidence;
    Some(Interval {
        low: quantile(&means, tail),
        high: quantile(&means, 1.0 - tail),
    })
}

/// Efron's bias-corrected and accelerated interval (1987) of the mean of one value per test.
pub fn bootstrap_bca(values: &[f64], confidence: f64, draws: usize, seed: u64) -> Option<Interval> {
    let means = resampled_means(values, draws, seed)?;
    let centre = mean(values);
    let below = means.iter().filter(|m| **m < centre).count() as f64;
    let equal = means.iter().filter(|m| **m == centre).count() as f64;
    let share = (below + 0.5 * equal) / means.len() as f64;
    let least = 0.5 / means.len() as f64;
    let bias = normal_quantile(share.clamp(least, 1.0 - least));
    let acceleration = acceleration(values);
    let tail = 0.5 - 0.5 * confidence;
    let moved = |p: f64| {
        let z = bias + normal_quantile(p);
        normal_below(bias + z / (1.0 - acceleration * z))
    };
    Some(Interval {
        low: quantile(&means, moved(tail)),
        high: quantile(&means, moved(1.0 - tail)),
    })
}

/// From the means without one value each.
fn acceleration(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let total: f64 = values.iter().sum();
    let without: Vec<f64> = values.iter().map(|v| (total - v) / (count - 1.0)).collect();
    let centre = mean(&without);
    let sum = |power: i32| -> f64 { without.iter().map(|m| (centre - m).powi(power)).sum() };
    let squares = sum(2);
    if squares > 0.0 {
        sum(3) / (6.0 * squares.powf(1.5))
    } else {
        0.0
    }
}

/// In ascending order. `None` for fewer than two values or no draws.
fn resampled_means(values: &[f64], draws: usize, seed: u64) -> Option<Vec<f64>> {
    if values.len() < 2 || draws == 0 {
        return None;
    }
    let mut random = SplitMix64::new(seed);
    let count = values.len();
    let mut means: Vec<f64> = (0..draws)
        .map(|_| {
            let sum: f64 = (0..count)
                .map(|_| values[random.below(count as u64) as usize])
                .sum();
            sum / count as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some(means)
}

/// Linear between neighbours, as NumPy does it.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let at = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (floor, part) = (at.floor() as usize, at.fract());
    let next = sorted[(floor + 1).min(sorted.len() - 1)];
    sorted[floor] + part * (next - sorted[floor])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statsmodels 0.15.0: `OLS(y, ones).fit(cov_type='cluster', use_t=True)` has this error.
    #[test]
    fn the_error_is_that_of_statsmodels() {
        let groups = [
            vec![0.9, 0.8, 1.0],
            vec![0.4, 0.5],
            vec![0.7, 0.7, 0.6, 0.9],
            vec![0.2],
        ];
        let borrowed: Vec<&Vec<f64>> = groups.iter().collect();
        let centre = 0.67;
        let error = clustered_variance(&borrowed, centre).sqrt();
        assert!((error - CLUSTERED).abs() < 1e-9, "{error}");
    }

    const CLUSTERED: f64 = 0.11189280584559488;

    #[test]
    fn means_stay_between_nothing_and_all() {
        let (centre, interval) = clustered_mean(&vec![vec![1.0; 5]; 20], 0.95).unwrap();
        assert_eq!((centre, interval.high), (1.0, 1.0));
        // 20 of 20 by Wilson: the tests count, not the trials.
        assert!(
            (interval.low - 0.8388748419471804).abs() < 1e-9,
            "{interval:?}"
        );
        let (_, interval) = clustered_mean(&[vec![0.3]], 0.95).unwrap();
        assert!(interval.low > 0.0 && interval.high < 1.0);
        assert_eq!(clustered_mean(&[], 0.95), None);
        assert_eq!(clustered_mean(&[Vec::new()], 0.95), None);
    }

    #[test]
    fn an_interval_of_a_mean_is_never_a_point() {
        let text = |low: f64, high: f64| mean_between(Interval { low, high });
        assert_eq!(text(0.761, 0.9899), "between 0.76 and 0.99");
        assert_eq!(text(0.8701, 0.8702), "between 0.87 and 0.88");
        assert_eq!(text(0.0, 0.004), "between 0.00 and 0.01");
    }

    /// SciPy 1.17.1: `bootstrap(..., n_resamples=400000)`, which itself moves in the third digit.
    #[test]
    fn resampling_agrees_with_scipy() {
        let values = [
            0.213, 0.507, 0.911, 0.389, 0.702, 0.633, 0.818, 0.127, 0.954, 0.296, 0.99, 0.97,
        ];
        let near = |found: Interval, low: f64, high: f64| {
            assert!((found.low - low).abs() < 0.006, "{found:?}");
            assert!((found.high - high).abs() < 0.006, "{found:?}");
        };
        near(
            bootstrap_percentile(&values, 0.95, 20_000, 3).unwrap(),
            PERCENTILE[0],
            PERCENTILE[1],
        );
        near(
            bootstrap_bca(&values, 0.95, 20_000, 3).unwrap(),
            BCA[0],
            BCA[1],
        );
        assert_eq!(
            bootstrap_bca(&values, 0.95, 500, 3),
            bootstrap_bca(&values, 0.95, 500, 3)
        );
        assert_eq!(bootstrap_bca(&[0.5], 0.95, 500, 3), None);
    }

    const PERCENTILE: [f64; 2] = [0.453, 0.792];
    const BCA: [f64; 2] = [0.4459, 0.7851];
}
