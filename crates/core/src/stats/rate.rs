//! Confidence intervals of pass rates. None has a width of 0, even when all trials agree.

use super::Interval;
use super::special::normal_quantile;

/// From this many independent cases on, a rate is printed without its interval.
pub const SELF_EVIDENT: u64 = 200;

/// Wilson's score interval (1927). `trials` is not 0.
pub fn wilson(passes: u64, trials: u64, confidence: f64) -> Interval {
    let z = normal_quantile(0.5 + 0.5 * confidence);
    wilson_at(passes as f64 / trials as f64, trials as f64, z)
}

/// Wilson's interval for an effective sample of `size` independent cases.
pub(super) fn wilson_at(rate: f64, size: f64, z: f64) -> Interval {
    // A number that is not a rate says nothing.
    if !(0.0..=1.0).contains(&rate) || size.is_nan() || size <= 0.0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let weight = z * z / size;
    let centre = (rate + 0.5 * weight) / (1.0 + weight);
    let spread = rate * (1.0 - rate) / size + weight / (4.0 * size);
    let half = z * spread.sqrt() / (1.0 + weight);
    Interval {
        // Rounding must not leave the rate outside at the ends.
        low: (centre - half).clamp(0.0, rate),
        high: (centre + half).clamp(rate, 1.0),
    }
}

/// `19 of 20 passed, 95 %, 95 % CI 76–99 %`. Without the interval from 200 cases on.
pub fn rate_text(passes: u64, trials: u64, verb: &str) -> String {
    let counts = format!("{passes} of {trials} {verb}");
    if trials == 0 {
        return counts;
    }
    let text = format!("{counts}, {} %", percent(passes, trials));
    if trials < SELF_EVIDENT {
        format!("{text}, {}", between(wilson(passes, trials, 0.95)))
    } else {
        text
    }
}

/// `95 % CI 76–99 %`. An interval narrower than the printed precision is widened.
pub fn between(interval: Interval) -> String {
    let low = (interval.low * 100.0).round();
    let high = (interval.high * 100.0).round();
    if low < high {
        format!("95 % CI {low:.0}–{high:.0} %")
    } else {
        format!(
            "95 % CI {:.0}–{:.0} %",
            (interval.low * 100.0).floor(),
            (interval.high * 100.0).ceil()
        )
    }
}

/// 100 only when all passed and 0 only when none did. `trials` is not 0.
pub fn percent(passes: u64, trials: u64) -> u64 {
    share_percent(passes as f64 / trials as f64)
}

/// The only rounding of a share to whole percent: half up, 100 only for all and 0 only for none.
/// A share that was computed as a mean may lie a rounding error below the half, and must not be
/// shown differently for it.
pub fn share_percent(share: f64) -> u64 {
    if share < 1e-9 {
        0
    } else if share > 1.0 - 1e-9 {
        100
    } else {
        ((share * 100.0 + 1e-9).round() as u64).clamp(1, 99)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Interval, low: f64, high: f64) {
        assert!((found.low - low).abs() < 1e-9, "{found:?}");
        assert!((found.high - high).abs() < 1e-9, "{found:?}");
    }

    /// statsmodels 0.15.0, `proportion_confint`.
    #[test]
    fn rates_have_the_intervals_of_statsmodels() {
        close(wilson(0, 3, 0.95), 0.0, 0.5614970317550455);
        close(wilson(3, 3, 0.95), 0.43850296824495444, 1.0);
        close(wilson(19, 20, 0.95), 0.7638688065532577, 0.9911185511992044);
        close(wilson(150, 200, 0.95), 0.6856590168795417, 0.8049183199318249);
    }

    #[test]
    fn a_rate_says_how_sure_it_is() {
        assert_eq!(rate_text(19, 20, "passed"), "19 of 20 passed, 95 %, 95 % CI 76–99 %");
        assert_eq!(rate_text(3, 3, "passed"), "3 of 3 passed, 100 %, 95 % CI 44–100 %");
        assert_eq!(rate_text(0, 1, "passed"), "0 of 1 passed, 0 %, 95 % CI 0–79 %");
        assert_eq!(rate_text(150, 200, "passed"), "150 of 200 passed, 75 %");
        assert_eq!(rate_text(0, 0, "passed"), "0 of 0 passed");
    }

    #[test]
    fn no_number_is_a_panic() {
        let odd = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            -0.1,
            -0.0,
            0.0,
            1.0,
            1.0 + f64::EPSILON,
            1.5,
        ];
        for rate in odd {
            for size in odd {
                let found = wilson_at(rate, size, 1.96);
                assert!(found.low <= found.high, "{rate} {size} {found:?}");
            }
            let _ = super::super::clustered_mean(&[vec![rate], vec![0.5, rate]], 0.95);
            let pair = super::super::Pair::new;
            let pairs = [pair(vec![rate, 0.5], vec![0.25]), pair(vec![1.0], vec![rate, rate])];
            for measure in [super::super::Measure::Rate, super::super::Measure::Score] {
                let _ = super::super::difference(&pairs, measure, 0.95);
            }
            let _ = super::super::exchange_scores(&pairs, 1, super::super::Effort::Quick);
            let _ = share_percent(rate);
        }
    }

    #[test]
    fn no_interval_is_a_point() {
        for trials in 1..200 {
            for passes in 0..=trials {
                let interval = wilson(passes, trials, 0.95);
                let rate = passes as f64 / trials as f64;
                assert!(interval.low < interval.high);
                assert!(interval.low <= rate && rate <= interval.high);
                assert!(interval.low >= 0.0 && interval.high <= 1.0);
                let text = rate_text(passes, trials, "passed");
                assert!(text.contains("95 % CI"), "{text}");
            }
        }
    }
}
