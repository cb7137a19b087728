//! How many trials would settle what is open.

use super::Interval;
use super::special::normal_quantile;

/// What has been seen so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settling {
    /// The gain, and its interval at 95 %.
    pub delta: f64,
    pub interval: Interval,
    /// Differences below it do not matter.
    pub margin: f64,
    /// Per test and run.
    pub trials: f64,
}

/// With how many trials per test and run a comparison would come to a verdict in four of five
/// cases, if the true gain were the one that was seen. Either the gain is told from 0, or it is
/// shown to be within the margin, whichever takes less.
pub fn trials_to_settle(seen: &Settling) -> u64 {
    let z = normal_quantile(0.975);
    let power = normal_quantile(0.8);
    let error = 0.5 * (seen.interval.high - seen.interval.low) / z;
    let room = seen.delta.abs().max(seen.margin - seen.delta.abs());
    // The error shrinks with the root of the number of trials.
    let factor = ((z + power) * error / room).powi(2);
    let needed = (seen.trials * factor).ceil();
    let more = seen.trials.floor() + 1.0;
    needed.max(more) as u64
}

/// Trials of one test per run that tell two pass rates apart, by the usual formula for two
/// proportions (Fleiss, Levin and Paik, 2003, equation 4.14 without the correction).
pub fn trials_for_rates(base: f64, candidate: f64, level: f64, power: f64) -> u64 {
    let z_level = normal_quantile(1.0 - 0.5 * level);
    let z_power = normal_quantile(power);
    let middle = 0.5 * (base + candidate);
    let equal = (2.0 * middle * (1.0 - middle)).sqrt();
    let apart = (base * (1.0 - base) + candidate * (1.0 - candidate)).sqrt();
    let size = (z_level * equal + z_power * apart).powi(2) / (base - candidate).powi(2);
    size.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.65 against 0.5 at 5 % with power 0.8: 170 each (169.3 before rounding up), as the
    /// formula gives it by hand.
    #[test]
    fn two_proportions() {
        assert_eq!(trials_for_rates(0.5, 0.65, 0.05, 0.8), 170);
        assert_eq!(trials_for_rates(0.9, 0.7, 0.05, 0.9), 82);
    }

    fn seen(delta: f64, half: f64, trials: f64) -> Settling {
        Settling {
            delta,
            interval: Interval {
                low: delta - half,
                high: delta + half,
            },
            margin: 0.1,
            trials,
        }
    }

    /// (1.959964 + 0.841621)² = 7.848879 (SciPy 1.17.1): an error of half the room, once over.
    #[test]
    fn the_error_has_to_fit_the_room() {
        let error = 0.05;
        let open = seen(0.0, error * 1.959963984540054, 4.0);
        assert_eq!(
            trials_to_settle(&open),
            (4.0_f64 * 7.848879 / 4.0).ceil() as u64
        );
    }

    #[test]
    fn more_are_needed_than_there_were() {
        assert_eq!(trials_to_settle(&seen(-0.3, 0.01, 3.0)), 4);
        let few = trials_to_settle(&seen(-0.02, 0.1, 5.0));
        let many = trials_to_settle(&seen(-0.05, 0.1, 5.0));
        assert!(few > 5 && many > few, "{few} {many}");
    }
}
