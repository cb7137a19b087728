//! Durations as people write and read them: `250ms`, `30s`, `10m`, `4h`.

use std::time::Duration;

const UNITS: [(&str, f64); 5] =
    [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// A number and its unit. Fails with the reason.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("`{text}` is not a duration; write one as `250ms`, `30s`, `10m` or `4h`");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = UNITS.iter().find(|(name, _)| *name == &text[digits.len()..]).ok_or_else(wrong)?;
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * unit.1).map_err(|_| wrong())
}

/// With as many digits as a reader compares: `480 ms`, `42 s`, `33 min`, `4.2 h`.
pub fn rounded(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (number, unit) = match seconds {
        0.0 => return "0 s".to_owned(),
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds if seconds < 180.0 => (seconds, "s"),
        seconds if seconds < 3.0 * 3600.0 => (seconds / 60.0, "min"),
        _ => (seconds / 3600.0, "h"),
    };
    if number < 10.0 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        let read =
            ["250ms", "30s", "1.5m", "4h", "1d"].map(|text| parse(text).unwrap().as_millis());
        assert_eq!(read, [250, 30_000, 90_000, 14_400_000, 86_400_000]);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "30", "s", "-1s", "1 s", "1w", "nans", "infs", "1e400s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn long_durations_have_long_units() {
        let shown = [0.0, 0.48, 42.4, 179.0, 2_000.0, 15_120.0]
            .map(|seconds| rounded(Duration::from_secs_f64(seconds)));
        assert_eq!(shown, ["0 s", "480 ms", "42 s", "179 s", "33 min", "4.2 h"]);
    }
}
