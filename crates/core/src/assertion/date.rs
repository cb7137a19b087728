//! Dates as `field-accuracy` reads them (spec 7.18).

use jiff::civil::Date;

/// English, for `MMM` (the first three letters) and `MMMM`.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Years have at most four digits.
fn calendar_date(year: u32, month: u32, day: u32) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// A time of day. Unlike `jiff::civil::Time`, it allows a leap second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct TimeOfDay {
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
}

impl TimeOfDay {
    fn new(hour: u32, minute: u32, second: u32, nanosecond: u32) -> Option<Self> {
        (hour < 24 && minute < 60 && second <= 60).then_some(Self {
            hour,
            minute,
            second,
            nanosecond,
        })
    }
}

/// A calendar date as written, and the instant if it has a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    date: Date,
    /// Seconds and nanoseconds in UTC.
    instant: Option<(i64, u32)>,
}

impl Moment {
    /// By one of `formats`, else by ISO 8601, else as `15-JAN-2025`. The author's formats come first,
    /// so that they can override the others.
    pub(super) fn read(text: &str, formats: &[DateFormat]) -> Option<Self> {
        let text = text.trim();
        formats
            .iter()
            .find_map(|format| read_parts(&format.parts, text))
            .or_else(|| read_iso(text))
            .or_else(|| read_parts(&DAY_MONTH_YEAR, text))
    }

    fn on(date: Date) -> Self {
        Self { date, instant: None }
    }

    /// `offset` is in minutes ahead of UTC.
    fn at(date: Date, time: TimeOfDay, offset: i64) -> Self {
        let midnight = date.duration_since(Date::ZERO).as_secs();
        let seconds = i64::from(time.hour * 3600 + time.minute * 60 + time.second);
        Self { date, instant: Some((midnight + seconds - offset * 60, time.nanosecond)) }
    }

    /// Compares instants if both sides have a time, else calendar dates.
    pub(super) fn agrees(self, other: Self) -> bool {
        match (self.instant, other.instant) {
            (Some(a), Some(b)) => a == b,
            _ => self.date == other.date,
        }
    }
}

/// A part of a date format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatePart {
    Year,
    /// From 1969 to 2068, as in POSIX.
    ShortYear,
    /// The number is the minimum of digits; the maximum is two.
    Month(usize),
    MonthAbbreviation,
    MonthName,
    Day(usize),
    Hour,
    Minute,
    Second,
    Literal(char),
}

/// `15-JAN-2025`
const DAY_MONTH_YEAR: [DatePart; 5] = [
    DatePart::Day(1),
    DatePart::Literal('-'),
    DatePart::MonthAbbreviation,
    DatePart::Literal('-'),
    DatePart::Year,
];

/// Longer words first, so that `MMM` is not read as `MM` and `M`.
const WORDS: [(&str, DatePart); 11] = [
    ("YYYY", DatePart::Year),
    ("YY", DatePart::ShortYear),
    ("MMMM", DatePart::MonthName),
    ("MMM", DatePart::MonthAbbreviation),
    ("MM", DatePart::Month(2)),
    ("M", DatePart::Month(1)),
    ("DD", DatePart::Day(2)),
    ("D", DatePart::Day(1)),
    ("HH", DatePart::Hour),
    ("mm", DatePart::Minute),
    ("ss", DatePart::Second),
];

/// A pattern such as `DD/MM/YYYY`: one year, one month, one day, and optionally a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DateFormat {
    text: String,
    parts: Vec<DatePart>,
}

impl DateFormat {
    /// `Err` is the reason.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let found =
                WORDS.iter().find_map(|(word, part)| Some((rest.strip_prefix(word)?, *part)));
            let (behind, part) =
                found.unwrap_or((&rest[first.len_utf8()..], DatePart::Literal(first)));
            parts.push(part);
            rest = behind;
        }
        check_parts(&parts)?;
        Ok(Self { text: text.to_owned(), parts })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

fn check_parts(parts: &[DatePart]) -> Result<(), &'static str> {
    let count = |is: fn(&DatePart) -> bool| parts.iter().filter(|part| is(part)).count();
    let years = count(|part| matches!(part, DatePart::Year | DatePart::ShortYear));
    let months = count(|part| {
        matches!(part, DatePart::Month(_) | DatePart::MonthAbbreviation | DatePart::MonthName)
    });
    let days = count(|part| matches!(part, DatePart::Day(_)));
    let hours = count(|part| *part == DatePart::Hour);
    let minutes = count(|part| *part == DatePart::Minute);
    let seconds = count(|part| *part == DatePart::Second);
    match (years, months, days) {
        (0, _, _) => Err("it has no year"),
        (_, 0, _) => Err("it has no month"),
        (_, _, 0) => Err("it has no day"),
        (1, 1, 1) if hours.max(minutes).max(seconds) <= 1 => {
            if hours >= minutes && minutes >= seconds {
                Ok(())
            } else {
                Err("minutes need hours, and seconds need minutes")
            }
        }
        _ => Err("it has the same part twice"),
    }
}

fn read_parts(parts: &[DatePart], text: &str) -> Option<Moment> {
    let mut scan = DateScanner { rest: text };
    let (mut year, mut month, mut day) = (0, 0, 0);
    let mut time = TimeOfDay::default();
    let mut has_time = false;
    for part in parts {
        match *part {
            DatePart::Year => year = scan.digits(4, 4)?,
            DatePart::ShortYear => {
                let short = scan.digits(2, 2)?;
                year = if short < 69 { 2000 + short } else { 1900 + short };
            }
            DatePart::Month(least) => month = scan.digits(least, 2)?,
            DatePart::MonthAbbreviation => month = scan.month(|name| &name[..3])?,
            DatePart::MonthName => month = scan.month(|name| name)?,
            DatePart::Day(least) => day = scan.digits(least, 2)?,
            DatePart::Hour => {
                time.hour = scan.digits(2, 2)?;
                has_time = true;
            }
            DatePart::Minute => time.minute = scan.digits(2, 2)?,
            DatePart::Second => time.second = scan.digits(2, 2)?,
            DatePart::Literal(literal) => scan.skip(&[literal])?,
        }
    }
    let date = calendar_date(year, month, day)?;
    let time = TimeOfDay::new(time.hour, time.minute, time.second, 0)?;
    scan.rest.is_empty().then_some(if has_time {
        Moment::at(date, time, 0)
    } else {
        Moment::on(date)
    })
}

/// ISO 8601: `2025-01-15` or `20250115`, optionally with a time and an offset.
fn read_iso(text: &str) -> Option<Moment> {
    let mut scan = DateScanner { rest: text };
    let year = scan.digits(4, 4)?;
    let has_dashes = scan.skip(&['-']).is_some();
    let month = scan.digits(2, 2)?;
    if has_dashes {
        scan.skip(&['-'])?;
    }
    let date = calendar_date(year, month, scan.digits(2, 2)?)?;
    if scan.rest.is_empty() {
        return Some(Moment::on(date));
    }
    scan.skip(&['T', 't', ' '])?;
    let time = read_iso_time(&mut scan)?;
    let offset = read_zone(&mut scan)?;
    scan.rest.is_empty().then_some(Moment::at(date, time, offset))
}

/// `10:30`, `10:30:05.25`, and the same without colons.
fn read_iso_time(scan: &mut DateScanner<'_>) -> Option<TimeOfDay> {
    let hour = scan.digits(2, 2)?;
    let has_colons = scan.skip(&[':']).is_some();
    let minute = scan.digits(2, 2)?;
    let has_seconds = if has_colons {
        scan.skip(&[':']).is_some()
    } else {
        scan.rest.starts_with(|c: char| c.is_ascii_digit())
    };
    if !has_seconds {
        return TimeOfDay::new(hour, minute, 0, 0);
    }
    let second = scan.digits(2, 2)?;
    let nanosecond = match scan.skip(&['.', ',']) {
        Some(()) => scan.fraction()?,
        None => 0,
    };
    TimeOfDay::new(hour, minute, second, nanosecond)
}

/// Minutes ahead of UTC; without an offset, 0.
fn read_zone(scan: &mut DateScanner<'_>) -> Option<i64> {
    if scan.rest.is_empty() || scan.skip(&['Z', 'z']).is_some() {
        return Some(0);
    }
    let sign = match scan.skip(&['+']) {
        Some(()) => 1,
        None => {
            scan.skip(&['-', '\u{2212}'])?;
            -1
        }
    };
    let hours = scan.digits(2, 2)?;
    let has_colon = scan.skip(&[':']).is_some();
    let minutes = if scan.rest.is_empty() && !has_colon { 0 } else { scan.digits(2, 2)? };
    (hours < 24 && minutes < 60).then(|| sign * i64::from(hours * 60 + minutes))
}

/// The rest of a text that is being read.
struct DateScanner<'a> {
    rest: &'a str,
}

impl DateScanner<'_> {
    /// As many digits as there are, up to `most`.
    fn digits(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self.digit_count().min(most);
        if count < least {
            return None;
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        digits.parse().ok()
    }

    fn digit_count(&self) -> usize {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit);
        digits.count()
    }

    /// Decimal places of a second, truncated to nanoseconds.
    fn fraction(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at(self.digit_count());
        self.rest = rest;
        if digits.is_empty() {
            return None;
        }
        let nine: String = digits.chars().chain("00000000".chars()).take(9).collect();
        nine.parse().ok()
    }

    /// Skips one of these characters.
    fn skip(&mut self, expected: &[char]) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    /// The number of the month whose name follows, ignoring case.
    fn month(&mut self, form: fn(&'static str) -> &'static str) -> Option<u32> {
        let found = MONTHS.iter().zip(1..).find_map(|(name, number)| {
            let form = form(name);
            let (written, rest) = self.rest.split_at_checked(form.len())?;
            written.eq_ignore_ascii_case(form).then_some((number, rest))
        });
        let (number, rest) = found?;
        self.rest = rest;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Moment> {
        Moment::read(text, &[])
    }

    fn by(format: &str, text: &str) -> Option<Moment> {
        Moment::read(text, &[DateFormat::parse(format).unwrap()])
    }

    fn agree(a: &str, b: &str) -> bool {
        read(a).unwrap().agrees(read(b).unwrap())
    }

    #[test]
    fn dates_must_be_in_the_calendar() {
        for text in ["2024-02-29", "2000-02-29", "2025-12-31", "20250131"] {
            assert!(read(text).is_some(), "{text}");
        }
        for text in [
            "2025-02-29",
            "1900-02-29",
            "2025-13-01",
            "2025-00-10",
            "2025-04-31",
            "2025-01-00",
            "2025-1-5",
            "2025-0115",
            "2025-01-15x",
            "05/03/2024",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn times_and_zones_make_instants() {
        assert!(agree("2025-01-15T10:30:00Z", "2025-01-15T11:30:00+01:00"));
        assert!(agree("2025-01-15T23:30-02:00", "2025-01-16 01:30"));
        assert!(agree("20250115T103000Z", "2025-01-15T10:30Z"));
        assert!(agree("2025-01-15T10:30:00.5z", "2025-01-15t10:30:00,500+0000"));
        assert!(!agree("2025-01-15T10:30:00.5", "2025-01-15T10:30:00.25"));
        for text in [
            "2025-01-15T24:00",
            "2025-01-15T10:60",
            "2025-01-15T10",
            "2025-01-15T10:30+1",
            "2025-01-15T10:30:",
            "2025-01-15T10:30:05.",
            "2025-01-15T",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn without_a_time_on_both_sides_the_written_dates_are_compared() {
        assert!(agree("2025-01-15", "2025-01-15T23:30:00-05:00"));
        assert!(!agree("2025-01-16", "2025-01-15T23:30:00-05:00"));
    }

    #[test]
    fn month_names_are_english_and_in_any_case() {
        assert!(agree("15-JAN-2025", "2025-01-15"));
        assert!(agree("5-may-2025", "2025-05-05"));
        assert_eq!(read("15-JANUARY-2025"), None);
        assert_eq!(read("15-JÄN-2025"), None);
        assert_eq!(by("D MMMM YYYY", "3 september 2024"), read("2024-09-03"));
    }

    #[test]
    fn formats_say_how_a_text_is_read() {
        assert_eq!(by("DD/MM/YYYY", "05/03/2024"), read("2024-03-05"));
        assert_eq!(by("M/D/YY", "3/5/24"), read("2024-03-05"));
        assert_eq!(by("M/D/YY", "12/25/99"), read("1999-12-25"));
        assert_eq!(by("YYYY.MM.DD HH:mm", "2024.03.05 14:07"), read("2024-03-05T14:07"));
        assert_eq!(by("DD/MM/YYYY", "5/3/2024"), None);
        // Other formats are still accepted.
        assert_eq!(by("DD/MM/YYYY", "2024-03-05"), read("2024-03-05"));
    }

    #[test]
    fn a_format_names_each_part_once() {
        for (format, reason) in [
            ("dd.mm.yyyy", "it has no year"),
            ("YYYY-mm-DD", "it has no month"),
            ("YYYY-MM", "it has no day"),
            ("DD/DD/MM/YYYY", "it has the same part twice"),
            ("YYYY-MM-DD mm", "minutes need hours, and seconds need minutes"),
            ("", "it has no year"),
        ] {
            assert_eq!(DateFormat::parse(format), Err(reason), "{format}");
        }
    }
}
