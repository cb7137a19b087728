//! Points in time, on the one calendar of this crate.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// For measuring: only differences have a meaning.
pub(crate) fn since_first_use() -> Duration {
    static FIRST_USE: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST_USE.elapsed()
}

/// Milliseconds since 1970 of an RFC 3339 time.
pub(crate) fn unix_milliseconds(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}

/// `2026-01-02T03:04:05Z`.
pub fn rfc3339(time: SystemTime) -> String {
    spelled(time, TimeZone::UTC, "%Y-%m-%dT%H:%M:%SZ")
}

/// Another program's RFC 3339 time as we write it.
pub(crate) fn in_utc(text: &str) -> Option<String> {
    let time: Timestamp = text.parse().ok()?;
    Some(rfc3339(SystemTime::from(time)))
}

/// `2026-01-02T03-04-05`, for names of files.
pub fn file_stamp(time: SystemTime) -> String {
    spelled(time, TimeZone::UTC, "%Y-%m-%dT%H-%M-%S")
}

/// `2025-12-25 11:56:26`, in the time zone of the machine.
pub fn local_time(time: SystemTime) -> String {
    spelled(time, TimeZone::system(), "%Y-%m-%d %H:%M:%S")
}

/// To the second, rounded down.
fn spelled(time: SystemTime, zone: TimeZone, form: &str) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.to_zoned(zone).strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use jiff::tz::offset;

    use super::*;

    #[test]
    fn times_are_written_to_the_second() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_767_323_045, "2026-01-02T03:04:05Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        let before = UNIX_EPOCH - Duration::from_millis(1);
        assert_eq!(rfc3339(before), "1969-12-31T23:59:59Z");
        let time = UNIX_EPOCH + Duration::from_secs(1_767_323_045);
        assert_eq!(file_stamp(time), "2026-01-02T03-04-05");
    }

    #[test]
    fn a_time_is_shown_in_its_zone() {
        let time = UNIX_EPOCH + Duration::from_secs(1_766_663_786);
        for (hours, text) in [(0, "25 11:56:26"), (13, "26 00:56:26"), (-5, "25 06:56:26")] {
            let zone = TimeZone::fixed(offset(hours));
            assert_eq!(spelled(time, zone, "%d %H:%M:%S"), text);
        }
        assert_eq!(local_time(time).len(), "2025-12-25 11:56:26".len());
    }

    #[test]
    fn times_are_read_with_their_offset() {
        let between = |a, b| unix_milliseconds(b).unwrap() - unix_milliseconds(a).unwrap();
        let (a, b) = ("2025-12-31T23:59:59.9Z", "2026-01-01T00:00:00.123456Z");
        assert_eq!(between(a, b), 223);
        let (a, b) = ("2024-02-28T12:00:00Z", "2024-03-01T12:00:00Z");
        assert_eq!(between(a, b), 2 * 86_400_000);
        let (a, b) = ("2026-11-15T07:00:00+02:00", "2026-11-15T05:00:01Z");
        assert_eq!(between(a, b), 1000);
    }

    #[test]
    fn a_time_without_an_offset_is_none() {
        for text in [
            "",
            "2026-11-15",
            "2026-11-15T07:05:55",
            "2026-13-01T00:00:00Z",
            "2026-11-15T07:05:55.1x3Z",
            "2026-11-15T07:05:55é+01:00",
            "99999999999999999999-01-01T00:00:00Z",
        ] {
            assert_eq!(unix_milliseconds(text), None, "{text}");
        }
    }
}
