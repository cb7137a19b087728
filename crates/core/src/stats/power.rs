//! How many trials an inconclusive comparison would need.

use super::Interval;
use super::special::normal_quantile;

/// An inconclusive comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settling {
    /// The gain, and its interval at 95 %.
    pub delta: f64,
    pub interval: Interval,
    /// Differences below it do not matter.
    pub margin: f64,
    /// Per test and run.
    pub trials: f64,
}

/// The number of trials per test and run that gives a verdict with 80 % power if the true gain is
/// the observed one: either the gain differs from 0, or it is within the margin, whichever takes
/// fewer trials.
pub(crate) fn trials_to_settle(seen: &Settling) -> u64 {
    let z = normal_quantile(0.975);
    let power = normal_quantile(0.8);
    let error = 0.5 * (seen.interval.high - seen.interval.low) / z;
    let room = seen.delta.abs().max(seen.margin - seen.delta.abs());
    // The standard error shrinks with the square root of the number of trials.
    let factor = ((z + power) * error / room).powi(2);
    let needed = (seen.trials * factor).ceil();
    let more = seen.trials.floor() + 1.0;
    needed.max(more) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(delta: f64, half: f64, trials: f64) -> Settling {
        Settling {
            delta,
            interval: Interval { low: delta - half, high: delta + half },
            margin: 0.1,
            trials,
        }
    }

    /// (1.959964 + 0.841621)² = 7.848879 (SciPy 1.17.1): an error of half the room, once over.
    #[test]
    fn the_error_has_to_fit_the_room() {
        let error = 0.05;
        let open = seen(0.0, error * 1.959963984540054, 4.0);
        assert_eq!(trials_to_settle(&open), (4.0_f64 * 7.848879 / 4.0).ceil() as u64);
    }

    #[test]
    fn more_are_needed_than_there_were() {
        assert_eq!(trials_to_settle(&seen(-0.3, 0.01, 3.0)), 4);
        let few = trials_to_settle(&seen(-0.02, 0.1, 5.0));
        let many = trials_to_settle(&seen(-0.05, 0.1, 5.0));
        assert!(few > 5 && many > few, "{few} {many}");
    }
}
