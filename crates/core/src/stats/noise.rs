//! Where the noise of a suite comes from, and what more measurements would do about it.

use super::mean;

/// Variances of what one value is made of: its test, the run, the trial. `None` is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseComponents {
    /// Between tests.
    pub test: Option<f64>,
    /// Between runs of the same test, beyond its trials.
    pub run: Option<f64>,
    /// Between trials of the same test in the same run, judges included.
    pub trial: Option<f64>,
}

/// By the analysis of variance for nested and unequal groups (Searle, Casella and McCulloch, 1992,
/// chapter 3): values by test and run. An estimate below 0 is 0.
pub fn noise_components(tests: &[Vec<Vec<f64>>]) -> NoiseComponents {
    let tests: Vec<Vec<&Vec<f64>>> = tests
        .iter()
        .map(|runs| runs.iter().filter(|trials| !trials.is_empty()).collect())
        .filter(|runs: &Vec<&Vec<f64>>| !runs.is_empty())
        .collect();
    let sums = NestedSums::of(&tests);
    let trial = (sums.free_trials > 0.0).then(|| sums.within_runs / sums.free_trials);
    let run = match (sums.free_runs > 0.0, trial) {
        (true, Some(trial)) => Some((sums.between_runs / sums.free_runs - trial) / sums.per_run),
        _ => None,
    };
    let run = run.map(|found| found.max(0.0));
    let test = (sums.free_tests > 0.0).then(|| {
        let seen = sums.between_tests / sums.free_tests;
        let noise = trial.unwrap_or(0.0) + sums.run_in_tests * run.unwrap_or(0.0);
        ((seen - noise) / sums.per_test).max(0.0)
    });
    // With one value per test, tests and trials cannot be separated.
    let test = test.filter(|_| trial.is_some() || run.is_some());
    NoiseComponents { test, run, trial }
}

/// Sums of squares, their degrees of freedom, and the coefficients of their expectations.
struct NestedSums {
    within_runs: f64,
    between_runs: f64,
    between_tests: f64,
    free_trials: f64,
    free_runs: f64,
    free_tests: f64,
    /// Of the run component, in the mean square between runs.
    per_run: f64,
    /// Of the run component, in the mean square between tests.
    run_in_tests: f64,
    /// Of the test component, in the mean square between tests.
    per_test: f64,
}

impl NestedSums {
    fn of(tests: &[Vec<&Vec<f64>>]) -> Self {
        let flat = |runs: &Vec<&Vec<f64>>| -> Vec<f64> {
            runs.iter().flat_map(|trials| trials.iter().copied()).collect()
        };
        let all: Vec<f64> = tests.iter().flat_map(flat).collect();
        let (count, centre) = (all.len() as f64, mean(&all));
        let runs: usize = tests.iter().map(Vec::len).sum();
        let (mut within_runs, mut between_runs, mut between_tests) = (0.0, 0.0, 0.0);
        // Σ n², over runs within their test and over all, and over tests.
        let (mut squares_in_tests, mut squares, mut test_squares) = (0.0, 0.0, 0.0);
        for test in tests {
            let own = flat(test);
            let (size, middle) = (own.len() as f64, mean(&own));
            between_tests += size * (middle - centre).powi(2);
            test_squares += size * size;
            for trials in test {
                let (trial_count, run_mean) = (trials.len() as f64, mean(trials));
                between_runs += trial_count * (run_mean - middle).powi(2);
                within_runs += trials.iter().map(|one| (one - run_mean).powi(2)).sum::<f64>();
                squares += trial_count * trial_count;
                squares_in_tests += trial_count * trial_count / size;
            }
        }
        let free_runs = runs as f64 - tests.len() as f64;
        let free_tests = tests.len() as f64 - 1.0;
        Self {
            within_runs,
            between_runs,
            between_tests,
            free_trials: count - runs as f64,
            free_runs,
            free_tests,
            per_run: (count - squares_in_tests) / free_runs,
            run_in_tests: (squares_in_tests - squares / count) / free_tests,
            per_test: (count - test_squares / count) / free_tests,
        }
    }
}

/// The variance between readings of the same answer. `None` unless an answer has two.
pub fn reading_variance(answers: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut free) = (0.0, 0.0);
    for readings in answers.iter().filter(|readings| readings.len() > 1) {
        let centre = mean(readings);
        squares += readings.iter().map(|one| (one - centre).powi(2)).sum::<f64>();
        free += readings.len() as f64 - 1.0;
    }
    (free > 0.0).then(|| squares / free)
}

/// How much was measured, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredEffort {
    pub tests: f64,
    pub runs: f64,
    /// In each run.
    pub trials: f64,
    /// Of each answer.
    pub readings: f64,
}

/// The standard error of the mean over a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandardError {
    /// If only these tests matter.
    pub these_tests: f64,
    /// If the tests stand for similar ones. `None` if it is not known how much tests differ.
    pub such_tests: Option<f64>,
}

impl NoiseComponents {
    /// `None` if the noise of trials is not known. `reading` is the variance between readings, which is
    /// part of that of trials.
    pub fn standard_error(
        &self,
        effort: MeasuredEffort,
        reading: Option<f64>,
    ) -> Option<StandardError> {
        self.error_with(effort, effort.readings, reading)
    }

    /// With another number of readings than the values were measured with.
    pub fn error_with(
        &self,
        effort: MeasuredEffort,
        readings: f64,
        reading: Option<f64>,
    ) -> Option<StandardError> {
        let reading = reading.unwrap_or(0.0);
        let own = (self.trial? - reading / effort.readings).max(0.0);
        let trial = own + reading / readings;
        let run = self.run.unwrap_or(0.0);
        let per_test = (run + trial / effort.trials) / effort.runs;
        Some(StandardError {
            these_tests: (per_test / effort.tests).sqrt(),
            such_tests: self.test.map(|test| ((test + per_test) / effort.tests).sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<f64>, wanted: f64) {
        let found = found.unwrap();
        assert!((found - wanted).abs() < 1e-9, "{found} instead of {wanted}");
    }

    /// Balanced: the mean squares by hand. Between tests 8, between runs 4, between trials 0.5.
    #[test]
    fn balanced_groups_have_the_mean_squares_of_the_textbook() {
        let tests =
            vec![vec![vec![1.0, 2.0], vec![3.0, 4.0]], vec![vec![3.0, 4.0], vec![5.0, 6.0]]];
        let found = noise_components(&tests);
        close(found.trial, 0.5);
        close(found.run, (4.0 - 0.5) / 2.0);
        close(found.test, (8.0 - 4.0) / 4.0);
    }

    /// Without runs it is the one-way analysis: n0 = (N − Σn²/N) / (a − 1).
    #[test]
    fn unequal_groups_are_weighted() {
        let tests = vec![vec![vec![1.0, 3.0]], vec![vec![4.0, 6.0, 8.0]]];
        let found = noise_components(&tests);
        // SSe = 2 + 8 with 3 degrees; SSa = 2·(2−4.4)² + 3·(6−4.4)² = 19.2; n0 = 5 − 13/5 = 2.4.
        close(found.trial, 10.0 / 3.0);
        close(found.test, (19.2 - 10.0 / 3.0) / 2.4);
        assert_eq!(found.run, None);
    }

    #[test]
    fn what_was_measured_once_is_not_known() {
        let found = noise_components(&[vec![vec![1.0]], vec![vec![0.0]]]);
        assert_eq!(found, NoiseComponents { test: None, run: None, trial: None });
        assert_eq!(noise_components(&[]).trial, None);
        assert_eq!(noise_components(&[vec![Vec::new()]]).trial, None);
        assert_eq!(reading_variance(&[vec![1.0], vec![]]), None);
        close(reading_variance(&[vec![1.0, 0.0], vec![1.0, 1.0, 1.0]]), 0.5 / 3.0);
    }

    #[test]
    fn errors_shrink_with_what_is_measured_more() {
        let noise = NoiseComponents { test: Some(0.09), run: Some(0.01), trial: Some(0.16) };
        let effort = MeasuredEffort { tests: 20.0, runs: 2.0, trials: 4.0, readings: 1.0 };
        let found = noise.standard_error(effort, None).unwrap();
        close(Some(found.these_tests), ((0.01 + 0.04) / 2.0 / 20.0_f64).sqrt());
        close(found.such_tests, ((0.09 + 0.025) / 20.0_f64).sqrt());
        let votes = noise.error_with(effort, 3.0, Some(0.06)).unwrap();
        // 0.10 of the trial is its own, and 0.06 becomes 0.02.
        close(Some(votes.these_tests), ((0.01 + 0.12 / 4.0) / 2.0 / 20.0_f64).sqrt());
    }
}
