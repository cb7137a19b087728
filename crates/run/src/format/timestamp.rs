//! Times of events, for the differences between them.

/// Milliseconds of an RFC 3339 time, counted from some fixed point.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.splitn(3, '-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (clock, offset) = split_offset(time)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.splitn(3, ':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || hour > 24 || minute > 59 || second > 60 || day > 31 {
        return None;
    }
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset;
    Some((minutes * 60 + second) * 1000 + thousandths(fraction)?)
}

/// Up to four digits and nothing else.
fn number(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// The clock, and how many minutes it is ahead of UTC.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let at = time.rfind(['+', '-'])?;
    let (hours, minutes) = time[at + 1..].split_once(':')?;
    let ahead = number(hours)? * 60 + number(minutes)?;
    let sign = if time[at..].starts_with('-') { -1 } else { 1 };
    Some((&time[..at], sign * ahead))
}

fn thousandths(fraction: &str) -> Option<i64> {
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<3.3}").parse().ok()
}

/// Days since some day, by the Gregorian calendar; years begin in March, so that leap days come last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month < 3 { year - 1 } else { year };
    let month = (month + 9) % 12;
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(a: &str, b: &str) -> i64 {
        milliseconds(b).unwrap() - milliseconds(a).unwrap()
    }

    #[test]
    fn differences_are_exact() {
        assert_eq!(
            between("2026-11-15T07:05:55.030Z", "2026-11-15T07:05:55.193Z"),
            163
        );
        assert_eq!(
            between("2025-12-31T23:59:59.9Z", "2026-01-01T00:00:00.123456Z"),
            223
        );
        assert_eq!(
            between("2024-02-28T12:00:00Z", "2024-03-01T12:00:00Z"),
            2 * 86_400_000
        );
        assert_eq!(
            between("2026-02-28T12:00:00Z", "2026-03-01T12:00:00Z"),
            86_400_000
        );
        assert_eq!(
            between("2026-11-15T07:00:00+02:00", "2026-11-15T05:00:01Z"),
            1000
        );
        assert_eq!(
            between("2026-11-15T07:00:00-01:30", "2026-11-15T08:30:00Z"),
            0
        );
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026",
            "2026-11-15",
            "2026-11-15T07:05:55",
            "2026-13-01T00:00:00Z",
            "x-1-1T1:1:1Z",
            "2026-11-15T07:05Z",
            "2026-11-15T07:05:55.1x3Z",
            "2026-11-15T07:05:55é+01:00",
            "99999999999999999999-01-01T00:00:00Z",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }
}
