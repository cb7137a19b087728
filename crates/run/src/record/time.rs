//! Points in time as records spell them: UTC, whole seconds, no calendar but the Gregorian one.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: i64 = 86_400;

/// A second of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

/// `2026-01-02T03:04:05Z`, as timestamps of rows and summaries are written.
pub fn rfc3339(time: SystemTime) -> String {
    let at = civil(unix_seconds(time));
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

/// `2026-01-02T03-04-05`, as names of files have it: colons are not allowed everywhere.
pub fn file_stamp(time: SystemTime) -> String {
    rfc3339(time).trim_end_matches('Z').replace(':', "-")
}

/// Rounded down, also before 1970.
fn unix_seconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            -whole - i64::from(before.subsec_nanos() > 0)
        }
    }
}

fn civil(seconds: i64) -> Civil {
    let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
    let rest = seconds.rem_euclid(SECONDS_PER_DAY);
    Civil {
        year,
        month,
        day,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
    }
}

/// Days since 1970-01-01 → year, month, day. The year is taken to begin in March, so that the leap
/// day is its last and month lengths follow one formula; 400 years are 146 097 days.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // From 0000-03-01, which lies 719 468 days before the epoch.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let leaps = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leaps) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn known_points_are_spelt_right() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_767_323_045, "2026-01-02T03:04:05Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(at(seconds)), text);
        }
        let before = UNIX_EPOCH - Duration::from_millis(1);
        assert_eq!(rfc3339(before), "1969-12-31T23:59:59Z");
        assert_eq!(file_stamp(at(1_767_323_045)), "2026-01-02T03-04-05");
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let is_leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let length = |year: i64, month: i64| match month {
            2 => 28 + i64::from(is_leap(year)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let mut expected = (1900, 1, 1);
        for days in -25_567..200_000 {
            assert_eq!(civil_from_days(days), expected, "{days}");
            let (year, month, day) = expected;
            expected = match (day < length(year, month), month < 12) {
                (true, _) => (year, month, day + 1),
                (false, true) => (year, month + 1, 1),
                (false, false) => (year + 1, 1, 1),
            };
        }
    }
}
