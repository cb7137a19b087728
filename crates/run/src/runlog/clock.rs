//! Times as the store writes them: local, to the second, as a person reads them.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `2025-12-25 11:56:26`, in the time zone of the machine.
pub fn local_time(time: SystemTime) -> String {
    in_zone(time, TimeZone::system())
}

fn in_zone(time: SystemTime, zone: TimeZone) -> String {
    let stamp = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    let shown = stamp.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S");
    shown.to_string()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use jiff::tz::offset;

    use super::*;

    #[test]
    fn a_time_is_shown_in_its_zone() {
        let time = UNIX_EPOCH + Duration::from_secs(1_766_663_786);
        let zone = |hours| TimeZone::fixed(offset(hours));
        assert_eq!(in_zone(time, zone(0)), "2025-12-25 11:56:26");
        assert_eq!(in_zone(time, zone(13)), "2025-12-26 00:56:26");
        assert_eq!(in_zone(time, zone(-5)), "2025-12-25 06:56:26");
    }

    #[test]
    fn local_times_have_the_written_form() {
        let shown = local_time(SystemTime::now());
        let shape: String = shown
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect();
        assert_eq!(shape, "0000-00-00 00:00:00");
    }
}
