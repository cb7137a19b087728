//! Points in time, on the one calendar of this crate.

use jiff::Timestamp;

/// Milliseconds since 1970 of an RFC 3339 time.
pub(crate) fn unix_milliseconds(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

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
