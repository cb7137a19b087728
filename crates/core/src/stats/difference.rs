//! An interval for the mean gain of the tests between two runs.

use super::rate::wilson_at;
use super::special::{normal_quantile, t_quantile};
use super::{Interval, Pair, mean, variance};

/// What is measured per trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// 1 for a pass, else 0.
    Rate,
    /// Anything from 0 to 1.
    Score,
}

/// The mean gain of the tests, all weighted equally, with its interval. `None` without tests.
///
/// The interval of a rate is the hull of two. The first combines Wilson's limits of lost and gained
/// trials (Newcombe's square-and-add, 1998); it covers losses that were not observed. The second
/// uses the variance between tests, with two pseudo-tests as in Bonett and Price (2012) that differ
/// by one standard error of a coin; it covers correlated trials. Single trials need only the first.
/// The weight of the pseudo-tests and the corrections for few tests were chosen by simulated
/// coverage.
///
/// The interval of a score is Student's, with one gain per test.
pub fn difference(pairs: &[Pair], measure: Measure, confidence: f64) -> Option<(f64, Interval)> {
    if pairs.is_empty() {
        return None;
    }
    let gains: Vec<f64> = pairs.iter().map(Pair::gain).collect();
    let trials = typical_trials(pairs);
    let z = normal_quantile(0.5 + 0.5 * confidence);
    let by_counts = counted(&gains, trials, z);
    let interval = match measure {
        Measure::Score if variance(&gains) > 1e-12 => student(&gains, confidence),
        Measure::Rate if trials > 1.5 => hull(by_counts, spread(&gains, trials, z)),
        // Scores without any variance carry no more information than passes.
        _ => by_counts,
    };
    Some((mean(&gains), interval))
}

/// Trials per test and run, as the harmonic mean: few trials widen an interval more than many
/// narrow it.
pub(crate) fn typical_trials(pairs: &[Pair]) -> f64 {
    let inverse = |side: &Vec<f64>| 1.0 / side.len() as f64;
    let sum: f64 = pairs.iter().map(|pair| inverse(&pair.base) + inverse(&pair.candidate)).sum();
    2.0 * pairs.len() as f64 / sum
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
    let down = (won - gain.low).hypot(loss.high - lost);
    let up = (gain.high - won).hypot(lost - loss.low);
    Interval::within(centre - down, centre + up, -1.0, 1.0)
}

fn spread(gains: &[f64], trials: f64, z: f64) -> Interval {
    let count = gains.len() as f64;
    let weight = 1.0 - 1.0 / trials;
    let size = count + 2.0 * weight;
    let centre = gains.iter().sum::<f64>() / size;
    let squares: f64 = gains.iter().map(|gain| gain * gain).sum();
    let variance = ((squares + 2.0 * weight / trials) / size - centre * centre).max(0.0);
    let half = (z + 0.7 * weight / count) * (variance / size).sqrt();
    Interval::within(centre - half, centre + half, -1.0, 1.0)
}

fn student(gains: &[f64], confidence: f64) -> Interval {
    let count = gains.len() as f64;
    let t = t_quantile(count - 1.0, 0.5 + 0.5 * confidence);
    let half = t * (variance(gains) / count).sqrt();
    let centre = mean(gains);
    Interval::within(centre - half, centre + half, -1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(base: &[f64], candidate: &[f64]) -> Pair {
        Pair { base: base.to_vec(), candidate: candidate.to_vec() }
    }

    /// SciPy 1.17.1: `stats.t.interval(.95, 6, mean(d), sem(d))`.
    #[test]
    fn scores_have_the_interval_of_student() {
        let gains = [0.2, 0.5, 0.9, 0.4, 0.7, 0.6, 0.8];
        let pairs: Vec<Pair> = gains.iter().map(|gain| pair(&[0.0], &[*gain])).collect();
        let (delta, interval) = difference(&pairs, Measure::Score, 0.95).unwrap();
        assert!((delta - 0.5857142857142857).abs() < 1e-12);
        assert!((interval.low - 0.3627991424548366).abs() < 1e-9);
        assert!((interval.high - 0.8086294289737349).abs() < 1e-9);
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
        let (_, scores) = difference(&pairs, Measure::Score, 0.95).unwrap();
        assert_eq!(scores, interval);
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
                pairs.iter().map(|one| pair(&one.candidate, &one.base)).collect();
            let (other, mirrored) = difference(&turned, Measure::Rate, 0.95).unwrap();
            assert!((delta + other).abs() < 1e-12);
            assert!((interval.low + mirrored.high).abs() < 1e-12);
        }
    }
}
