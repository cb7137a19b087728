//! Confidence intervals of pass rates when trials of one test are correlated.

use super::Interval;
use super::rate::{wilson, wilson_at};
use super::special::normal_quantile;

/// Weight of two pseudo-tests, one that always passes and one that never does. Chosen by simulated
/// coverage.
const IMAGINED: f64 = 0.1;

/// Passed and measured cases of one test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passes {
    pub passes: u64,
    pub trials: u64,
}

/// The interval of the pass rate over all cases; the tests are a sample of similar tests. `None`
/// without cases.
///
/// Wilson's interval for the effective sample size (Dean and Pagano, 2015): between the number of
/// tests, if trials of one test always agree, and the number of cases, if they are independent.
/// Where nearly all cases agree, the data cannot tell these apart; the pseudo-tests keep such an
/// interval wide. Single trials give Wilson's interval.
///
/// A single test says nothing about others: the interval is for its own rate, and trials count.
pub fn clustered_rate(tests: &[Passes], confidence: f64) -> Option<Interval> {
    let tests: Vec<Passes> = tests.iter().copied().filter(|t| t.trials > 0).collect();
    let passes: u64 = tests.iter().map(|test| test.passes).sum();
    let trials: u64 = tests.iter().map(|test| test.trials).sum();
    match tests.len() {
        0 => None,
        1 => Some(wilson(passes, trials, confidence)),
        _ => {
            let rate = passes as f64 / trials as f64;
            let z = normal_quantile(0.5 + 0.5 * confidence);
            Some(wilson_at(rate, worth(&tests), z))
        }
    }
}

/// The effective sample size.
fn worth(tests: &[Passes]) -> f64 {
    let count = tests.len() as f64;
    let sum = |of: &dyn Fn(&Passes) -> f64| tests.iter().map(of).sum::<f64>();
    let trials = sum(&|test| test.trials as f64);
    let size = trials / count;
    let imagined = IMAGINED * size;
    let rate = (sum(&|test| test.passes as f64) + imagined) / (trials + 2.0 * imagined);
    let seen = sum(&|test| (test.passes as f64 - test.trials as f64 * rate).powi(2));
    let added = imagined * size * ((1.0 - rate).powi(2) + rate.powi(2));
    let variance = (seen + added) / (count + 2.0 * IMAGINED - 1.0) / (size * size);
    // Kish's effective sample size: unequal weights reduce it.
    let least = trials * trials / sum(&|test| (test.trials as f64).powi(2));
    (count * rate * (1.0 - rate) / variance).max(least).min(trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(passes: &[u64], trials: &[u64]) -> Vec<Passes> {
        let pairs = passes.iter().zip(trials);
        pairs.map(|(passes, trials)| Passes { passes: *passes, trials: *trials }).collect()
    }

    fn close(found: Interval, low: f64, high: f64) {
        assert!((found.low - low).abs() < 1e-9, "{found:?}");
        assert!((found.high - high).abs() < 1e-9, "{found:?}");
    }

    /// The number of cases by the formula in NumPy 2.4.6 (9.98964 and 9.62190), its interval by
    /// statsmodels 0.15.0, `proportion_confint(method='wilson')`.
    #[test]
    fn trials_that_resemble_each_other_are_worth_less() {
        let even = tests(&[5, 4, 5, 3, 5, 5, 0, 5], &[5; 8]);
        close(clustered_rate(&even, 0.95).unwrap(), 0.4900038213007852, 0.9433517840059111);
        let uneven = tests(&[3, 2, 1, 0, 4], &[3, 3, 1, 2, 5]);
        close(clustered_rate(&uneven, 0.95).unwrap(), 0.40420997135038195, 0.9020784899281149);
    }

    #[test]
    fn tests_that_are_certain_count_once_each() {
        let certain = tests(&[5, 5, 5, 5, 5, 5, 5, 0, 0, 0], &[5; 10]);
        assert_eq!(clustered_rate(&certain, 0.95), Some(wilson(7, 10, 0.95)));
        let all = tests(&[5; 20], &[5; 20]);
        assert_eq!(clustered_rate(&all, 0.95), Some(wilson(20, 20, 0.95)));
    }

    #[test]
    fn single_trials_and_single_tests_are_counted() {
        let single = tests(&[1, 1, 0, 1], &[1; 4]);
        assert_eq!(clustered_rate(&single, 0.95), Some(wilson(3, 4, 0.95)));
        let one = tests(&[3, 0], &[5, 0]);
        assert_eq!(clustered_rate(&one, 0.95), Some(wilson(3, 5, 0.95)));
        assert_eq!(clustered_rate(&tests(&[0], &[0]), 0.95), None);
    }

    #[test]
    fn no_interval_is_a_point_or_leaves_its_rate_out() {
        for passes in [[0, 0, 0], [1, 0, 0], [4, 2, 1], [3, 4, 4], [4, 4, 4]] {
            let found = clustered_rate(&tests(&passes, &[4; 3]), 0.95).unwrap();
            let rate = passes.iter().sum::<u64>() as f64 / 12.0;
            assert!(found.low < found.high && found.holds(rate), "{found:?}");
            assert!(found.low >= 0.0 && found.high <= 1.0, "{found:?}");
        }
    }
}
