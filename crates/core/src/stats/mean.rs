//! Confidence intervals of mean scores when trials of one test are correlated.

use super::Interval;
use super::rate::wilson_at;
use super::special::{normal_quantile, t_quantile};

/// Weight of two pseudo-tests, one with the value 0 and one with 1. Chosen by simulated coverage.
const IMAGINED: f64 = 0.05;

/// The mean of values from 0 to 1 with its interval; one group per test. `None` without values.
///
/// The standard error is cluster-robust (CR1), with Student's t and one degree of freedom less than
/// there are tests. Two pseudo-tests with the values 0 and 1 keep it from vanishing where values
/// hardly vary. It is put into Wilson's form through the effective sample size, so that the interval
/// stays within 0 and 1. Values without any variance count as one case per test.
pub fn clustered_mean(groups: &[Vec<f64>], confidence: f64) -> Option<(f64, Interval)> {
    let sums: Vec<GroupSum> = groups.iter().map(|group| group.iter().copied().collect()).collect();
    clustered_mean_of_sums(&sums, confidence)
}

/// The values of a group, as far as [`clustered_mean`] needs them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GroupSum {
    pub values: u64,
    pub sum: f64,
}

impl FromIterator<f64> for GroupSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut found = Self::default();
        values.into_iter().for_each(|value| found.add(value));
        found
    }
}

impl GroupSum {
    pub fn add(&mut self, value: f64) {
        self.values += 1;
        self.sum += value;
    }
}

/// As [`clustered_mean`].
pub fn clustered_mean_of_sums(groups: &[GroupSum], confidence: f64) -> Option<(f64, Interval)> {
    let groups: Vec<&GroupSum> = groups.iter().filter(|group| group.values > 0).collect();
    let count = groups.len() as f64;
    let size: u64 = groups.iter().map(|group| group.values).sum();
    if size == 0 {
        return None;
    }
    let centre = groups.iter().map(|group| group.sum).sum::<f64>() / size as f64;
    let tail = 0.5 + 0.5 * confidence;
    let room = centre * (1.0 - centre);
    let variance = clustered_variance(&groups, centre);
    let interval = if variance > 1e-12 && room > 0.0 {
        let imagined = IMAGINED * (centre * centre + (1.0 - centre).powi(2)) / (count * count);
        wilson_at(centre, room / (variance + imagined), t_quantile(count - 1.0, tail))
    } else {
        wilson_at(centre, count, normal_quantile(tail))
    };
    Some((centre, interval))
}

/// `95 % CI 0.76–0.99`. An interval narrower than the printed precision is widened.
pub fn mean_between(interval: Interval) -> String {
    let low = (interval.low * 100.0).round();
    let high = (interval.high * 100.0).round();
    let (low, high) = if low < high {
        (low, high)
    } else {
        ((interval.low * 100.0).floor(), (interval.high * 100.0).ceil())
    };
    format!("95 % CI {:.2}–{:.2}", low / 100.0, high / 100.0)
}

/// CR1: the sum of squared deviations per test, times G / (G − 1).
fn clustered_variance(groups: &[&GroupSum], centre: f64) -> f64 {
    let count = groups.len() as f64;
    let size: u64 = groups.iter().map(|group| group.values).sum();
    if count < 2.0 {
        return 0.0;
    }
    let deviation = |group: &&GroupSum| group.sum - group.values as f64 * centre;
    let squares: f64 = groups.iter().map(|group| deviation(group).powi(2)).sum();
    squares * count / (count - 1.0) / (size as f64).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statsmodels 0.15.0: `OLS(y, ones).fit(cov_type='cluster', use_t=True)` has this error.
    #[test]
    fn the_error_is_that_of_statsmodels() {
        let groups = [vec![0.9, 0.8, 1.0], vec![0.4, 0.5], vec![0.7, 0.7, 0.6, 0.9], vec![0.2]];
        let sums: Vec<GroupSum> =
            groups.into_iter().map(Vec::into_iter).map(Iterator::collect).collect();
        let borrowed: Vec<&GroupSum> = sums.iter().collect();
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
        assert!((interval.low - 0.8388748419471804).abs() < 1e-9, "{interval:?}");
        let (_, interval) = clustered_mean(&[vec![0.3]], 0.95).unwrap();
        assert!(interval.low > 0.0 && interval.high < 1.0);
        assert_eq!(clustered_mean(&[], 0.95), None);
        assert_eq!(clustered_mean(&[Vec::new()], 0.95), None);
    }

    #[test]
    fn an_interval_of_a_mean_is_never_a_point() {
        let text = |low: f64, high: f64| mean_between(Interval { low, high });
        assert_eq!(text(0.761, 0.9899), "95 % CI 0.76–0.99");
        assert_eq!(text(0.8701, 0.8702), "95 % CI 0.87–0.88");
        assert_eq!(text(0.0, 0.004), "95 % CI 0.00–0.01");
    }
}
