//! How likely k trials pass at least once (pass@k) or always (pass^k).

use super::Interval;
use super::mean::clustered_mean;
use super::rate::wilson;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassK {
    pub value: f64,
    pub interval: Interval,
}

/// Whether one of k trials is enough, or all must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KRule {
    /// pass@k
    Any,
    /// pass^k
    All,
}

impl KRule {
    /// From the pass rate of a single trial. Both grow with it, so that the ends of its interval
    /// become the ends of theirs.
    fn of_rate(self, rate: f64, k: u64) -> f64 {
        match self {
            Self::Any => 1.0 - (1.0 - rate).powf(k as f64),
            Self::All => rate.powf(k as f64),
        }
    }

    /// Without bias (Chen et al., 2021): the share of all choices of k trials. `k <= trials`.
    fn estimate(self, passes: u64, trials: u64, k: u64) -> f64 {
        match self {
            Self::Any => 1.0 - share_of_choices(trials - passes, trials, k),
            Self::All => share_of_choices(passes, trials, k),
        }
    }

    /// Of one test. `None` with fewer than k trials, or k = 0. The interval is Wilson's for the rate of
    /// a single trial.
    pub fn of_test(self, passes: u64, trials: u64, k: u64, confidence: f64) -> Option<PassK> {
        if k == 0 || k > trials || passes > trials {
            return None;
        }
        let value = self.estimate(passes, trials, k);
        let rate = wilson(passes, trials, confidence);
        let low = self.of_rate(rate.low, k).min(value);
        Some(PassK {
            value,
            interval: Interval { low, high: self.of_rate(rate.high, k).max(value) },
        })
    }

    /// The mean over tests, each with (passes, trials) on one target or several. The tests are a sample
    /// of similar tests. `None` without tests, or if one has fewer than k trials. With a single test,
    /// its own interval.
    pub fn of_suite(self, tests: &[Vec<(u64, u64)>], k: u64, confidence: f64) -> Option<PassK> {
        let tests: Vec<&Vec<(u64, u64)>> = tests.iter().filter(|test| !test.is_empty()).collect();
        if let [only] = &tests[..]
            && let [(passes, trials)] = only[..]
        {
            return self.of_test(passes, trials, k, confidence);
        }
        let values: Option<Vec<Vec<f64>>> = tests
            .iter()
            .map(|test| {
                let values = test.iter().map(|(passes, trials)| {
                    let fits = k > 0 && k <= *trials && passes <= trials;
                    fits.then(|| self.estimate(*passes, *trials, k))
                });
                values.collect()
            })
            .collect();
        let (value, interval) = clustered_mean(&values?, confidence)?;
        Some(PassK { value, interval })
    }
}

/// C(n, k) / C(m, k), without large numbers. `k <= m`.
fn share_of_choices(n: u64, m: u64, k: u64) -> f64 {
    if n < k {
        return 0.0;
    }
    (0..k).map(|at| (n - at) as f64 / (m - at) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::super::random::SplitMix64;
    use super::*;

    /// By `1 - comb(n-c, k) / comb(n, k)` and `comb(c, k) / comb(n, k)` of Python's `math`.
    #[test]
    fn estimates_are_shares_of_choices() {
        for (passes, trials, k, any, all) in [
            (3, 5, 1, 0.6, 0.6),
            (3, 5, 2, 0.9, 0.3),
            (3, 5, 3, 1.0, 0.1),
            (3, 5, 5, 1.0, 0.0),
            (0, 4, 2, 0.0, 0.0),
            (4, 4, 2, 1.0, 1.0),
            (7, 10, 3, 0.991_666_666_666_666_7, 0.291_666_666_666_666_7),
        ] {
            let of = |rule: KRule| rule.of_test(passes, trials, k, 0.95).unwrap().value;
            assert!((of(KRule::Any) - any).abs() < 1e-12, "{passes}/{trials} @{k}");
            assert!((of(KRule::All) - all).abs() < 1e-12, "{passes}/{trials} ^{k}");
        }
        assert_eq!(KRule::Any.of_test(1, 2, 3, 0.95), None);
        assert_eq!(KRule::Any.of_test(1, 2, 0, 0.95), None);
        assert_eq!(KRule::All.of_suite(&[vec![(1, 2)], vec![(1, 1)]], 2, 0.95), None);
        assert_eq!(KRule::All.of_suite(&[], 2, 0.95), None);
    }

    #[test]
    fn no_interval_is_a_point_or_leaves_its_value_out() {
        for trials in 1..12 {
            for passes in 0..=trials {
                for k in 1..=trials {
                    for rule in [KRule::Any, KRule::All] {
                        let found = rule.of_test(passes, trials, k, 0.95).unwrap();
                        assert!(found.interval.holds(found.value));
                        assert!(found.interval.low < found.interval.high, "{passes}/{trials} {k}");
                        assert!(found.interval.low >= 0.0 && found.interval.high <= 1.0);
                    }
                }
            }
        }
    }

    fn passes(random: &mut SplitMix64, rate: f64, trials: u64) -> u64 {
        (0..trials).filter(|_| random.fraction() < rate).count() as u64
    }

    /// Exact for one test: Wilson covers 92 to 98 % on average over rates; ends near 0 and 1 vary.
    #[test]
    fn the_interval_of_a_test_covers_its_true_value() {
        let mut random = SplitMix64::new(11);
        for (trials, k) in [(5, 2), (10, 3), (20, 5)] {
            for rule in [KRule::Any, KRule::All] {
                let (mut held, mut all) = (0, 0);
                for _ in 0..4000 {
                    let rate = random.fraction();
                    let seen = passes(&mut random, rate, trials);
                    let found = rule.of_test(seen, trials, k, 0.95).unwrap();
                    held += u32::from(found.interval.holds(rule.of_rate(rate, k)));
                    all += 1;
                }
                let share = f64::from(held) / f64::from(all);
                assert!((0.93..=0.98).contains(&share), "{rule:?} {trials} {k}: {share}");
            }
        }
    }

    /// Tests are drawn anew each time, so the truth is the mean over all such tests.
    #[test]
    fn the_interval_of_a_suite_covers_the_mean_of_such_tests() {
        let mut random = SplitMix64::new(12);
        // The rates: even from 0 to 1, the better one of two, and the root, which is mostly high.
        let shapes: [fn(&mut SplitMix64) -> f64; 3] = [
            |random| random.fraction(),
            |random| random.fraction().max(random.fraction()),
            |random| random.fraction().powf(0.25),
        ];
        for shape in shapes {
            for rule in [KRule::Any, KRule::All] {
                let truth: f64 =
                    (0..40_000).map(|_| rule.of_rate(shape(&mut random), 3)).sum::<f64>()
                        / 40_000.0;
                let mut held = 0;
                for _ in 0..1500 {
                    let tests: Vec<Vec<(u64, u64)>> = (0..20)
                        .map(|_| {
                            let rate = shape(&mut random);
                            vec![(passes(&mut random, rate, 5), 5)]
                        })
                        .collect();
                    let found = rule.of_suite(&tests, 3, 0.95).unwrap();
                    held += u32::from(found.interval.holds(truth));
                }
                let share = f64::from(held) / 1500.0;
                assert!((0.92..=0.99).contains(&share), "{rule:?}: {share}");
            }
        }
    }
}
