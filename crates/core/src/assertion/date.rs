//! Dates as `field-accuracy` reads them (spec 7.18). Every `Date` is in the calendar.

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Date {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let is_leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days)
            .contains(&day)
            .then_some(Self { year, month, day })
    }

    /// Days since the first of March of the year 0. Years that begin in March end with the leap
    /// day, so that the months before it have fixed places.
    fn number(self) -> i64 {
        let (year, month) = match self.month {
            1 | 2 => (i64::from(self.year) - 1, self.month + 9),
            month => (i64::from(self.year), month - 3),
        };
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let in_year = (153 * i64::from(month) + 2) / 5 + i64::from(self.day) - 1;
        365 * year + leap_days + in_year
    }
}

/// A time of day; a leap second is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Time {
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
}

impl Time {
    fn new(hour: u32, minute: u32, second: u32, nanosecond: u32) -> Option<Self> {
        (hour < 24 && minute < 60 && second <= 60).then_some(Self {
            hour,
            minute,
            second,
            nanosecond,
        })
    }
}

/// A point on the time line, on an axis of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Instant {
    second: i64,
    nanosecond: u32,
}

/// A calendar date as it was written, and the instant if a time stood with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    date: Date,
    instant: Option<Instant>,
}

impl Moment {
    /// By one of `formats`, else by ISO 8601, else as `15-JAN-2025`. The author's own formats come
    /// first, so that they can give a meaning to any text.
    pub(super) fn read(text: &str, formats: &[DateFormat]) -> Option<Self> {
        let text = text.trim();
        formats
            .iter()
            .find_map(|format| read_parts(&format.parts, text))
            .or_else(|| read_iso(text))
            .or_else(|| read_parts(&DAY_MONTH_YEAR, text))
    }

    fn on(date: Date) -> Self {
        Self {
            date,
            instant: None,
        }
    }

    /// `ahead` is how many minutes the clock is ahead of UTC.
    fn at(date: Date, time: Time, ahead: i64) -> Self {
        let seconds = time.hour * 3600 + time.minute * 60 + time.second;
        Self {
            date,
            instant: Some(Instant {
                second: date.number() * 86_400 + i64::from(seconds) - ahead * 60,
                nanosecond: time.nanosecond,
            }),
        }
    }

    /// Calendar dates are compared, unless both sides have a time.
    pub(super) fn agrees(self, other: Self) -> bool {
        match (self.instant, other.instant) {
            (Some(a), Some(b)) => a == b,
            _ => self.date == other.date,
        }
    }
}

/// A piece of a date format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Year,
    /// Of 1969 to 2068, as POSIX has it.
    ShortYear,
    /// The number says how many digits there are at least; there are never more than two.
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
const DAY_MONTH_YEAR: [Part; 5] = [
    Part::Day(1),
    Part::Literal('-'),
    Part::MonthAbbreviation,
    Part::Literal('-'),
    Part::Year,
];

/// Longer words first, so that `MMM` is not read as `MM` and `M`.
const WORDS: [(&str, Part); 11] = [
    ("YYYY", Part::Year),
    ("YY", Part::ShortYear),
    ("MMMM", Part::MonthName),
    ("MMM", Part::MonthAbbreviation),
    ("MM", Part::Month(2)),
    ("M", Part::Month(1)),
    ("DD", Part::Day(2)),
    ("D", Part::Day(1)),
    ("HH", Part::Hour),
    ("mm", Part::Minute),
    ("ss", Part::Second),
];

/// A pattern such as `DD/MM/YYYY`: one year, one month, one day, and perhaps a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DateFormat {
    text: String,
    parts: Vec<Part>,
}

impl DateFormat {
    /// `Err` says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let found = WORDS
                .iter()
                .find_map(|(word, part)| Some((rest.strip_prefix(word)?, *part)));
            let (behind, part) = found.unwrap_or((&rest[first.len_utf8()..], Part::Literal(first)));
            parts.push(part);
            rest = behind;
        }
        check_parts(&parts)?;
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

fn check_parts(parts: &[Part]) -> Result<(), &'static str> {
    let count = |is: fn(&Part) -> bool| parts.iter().filter(|part| is(part)).count();
    let years = count(|part| matches!(part, Part::Year | Part::ShortYear));
    let months = count(|part| {
        matches!(
            part,
            Part::Month(_) | Part::MonthAbbreviation | Part::MonthName
        )
    });
    let days = count(|part| matches!(part, Part::Day(_)));
    let hours = count(|part| *part == Part::Hour);
    let minutes = count(|part| *part == Part::Minute);
    let seconds = count(|part| *part == Part::Second);
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

fn read_parts(parts: &[Part], text: &str) -> Option<Moment> {
    let mut scan = Scan { rest: text };
    let (mut year, mut month, mut day) = (0, 0, 0);
    let mut time = Time::default();
    let mut has_time = false;
    for part in parts {
        match *part {
            Part::Year => year = scan.digits(4, 4)?,
            Part::ShortYear => {
                let short = scan.digits(2, 2)?;
                year = if short < 69 {
                    2000 + short
                } else {
                    1900 + short
                };
            }
            Part::Month(least) => month = scan.digits(least, 2)?,
            Part::MonthAbbreviation => month = scan.month(|name| &name[..3])?,
            Part::MonthName => month = scan.month(|name| name)?,
            Part::Day(least) => day = scan.digits(least, 2)?,
            Part::Hour => {
                time.hour = scan.digits(2, 2)?;
                has_time = true;
            }
            Part::Minute => time.minute = scan.digits(2, 2)?,
            Part::Second => time.second = scan.digits(2, 2)?,
            Part::Literal(literal) => scan.skip(literal)?,
        }
    }
    let date = Date::new(year, month, day)?;
    let time = Time::new(time.hour, time.minute, time.second, 0)?;
    scan.rest.is_empty().then_some(if has_time {
        Moment::at(date, time, 0)
    } else {
        Moment::on(date)
    })
}

/// Calendar dates of ISO 8601, `2025-01-15` or `20250115`, with a time and a zone or without.
fn read_iso(text: &str) -> Option<Moment> {
    let mut scan = Scan { rest: text };
    let year = scan.digits(4, 4)?;
    let has_dashes = scan.skip('-').is_some();
    let month = scan.digits(2, 2)?;
    if has_dashes {
        scan.skip('-')?;
    }
    let date = Date::new(year, month, scan.digits(2, 2)?)?;
    if scan.rest.is_empty() {
        return Some(Moment::on(date));
    }
    scan.skip_any(&['T', 't', ' '])?;
    let time = read_iso_time(&mut scan)?;
    let ahead = read_zone(&mut scan)?;
    scan.rest
        .is_empty()
        .then_some(Moment::at(date, time, ahead))
}

/// `10:30`, `10:30:05.25`, and the same without colons.
fn read_iso_time(scan: &mut Scan<'_>) -> Option<Time> {
    let hour = scan.digits(2, 2)?;
    let has_colons = scan.skip(':').is_some();
    let minute = scan.digits(2, 2)?;
    let has_seconds = if has_colons {
        scan.skip(':').is_some()
    } else {
        scan.rest.starts_with(|c: char| c.is_ascii_digit())
    };
    if !has_seconds {
        return Time::new(hour, minute, 0, 0);
    }
    let second = scan.digits(2, 2)?;
    let nanosecond = match scan.skip_any(&['.', ',']) {
        Some(()) => scan.fraction()?,
        None => 0,
    };
    Time::new(hour, minute, second, nanosecond)
}

/// Minutes ahead of UTC; no zone is UTC.
fn read_zone(scan: &mut Scan<'_>) -> Option<i64> {
    if scan.rest.is_empty() || scan.skip_any(&['Z', 'z']).is_some() {
        return Some(0);
    }
    let sign = match scan.skip('+') {
        Some(()) => 1,
        None => {
            scan.skip_any(&['-', '\u{2212}'])?;
            -1
        }
    };
    let hours = scan.digits(2, 2)?;
    let has_colon = scan.skip(':').is_some();
    let minutes = if scan.rest.is_empty() && !has_colon {
        0
    } else {
        scan.digits(2, 2)?
    };
    (hours < 24 && minutes < 60).then(|| sign * i64::from(hours * 60 + minutes))
}

/// What is still to be read.
struct Scan<'a> {
    rest: &'a str,
}

impl Scan<'_> {
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

    /// Decimal places of a second, as nanoseconds; what is finer is cut off.
    fn fraction(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at(self.digit_count());
        self.rest = rest;
        if digits.is_empty() {
            return None;
        }
        let nine: String = digits.chars().chain("00000000".chars()).take(9).collect();
        nine.parse().ok()
    }

    fn skip(&mut self, expected: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    fn skip_any(&mut self, expected: &[char]) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    /// The number of a month whose name stands here, in whatever case.
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
    fn the_calendar_is_kept() {
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
    fn days_are_numbered_without_gaps() {
        let mut last = Date::new(1999, 12, 31).unwrap().number();
        for year in 2000..2005 {
            for month in 1..=12 {
                for date in (1..=31).filter_map(|day| Date::new(year, month, day)) {
                    assert_eq!(date.number(), last + 1, "{date:?}");
                    last = date.number();
                }
            }
        }
        let gap = Date::new(2000, 3, 1).unwrap().number() - Date::new(1970, 1, 1).unwrap().number();
        assert_eq!(gap, 11_017);
    }

    #[test]
    fn times_and_zones_make_instants() {
        assert!(agree("2025-01-15T10:30:00Z", "2025-01-15T11:30:00+01:00"));
        assert!(agree("2025-01-15T23:30-02:00", "2025-01-16 01:30"));
        assert!(agree("20250115T103000Z", "2025-01-15T10:30Z"));
        assert!(agree(
            "2025-01-15T10:30:00.5z",
            "2025-01-15t10:30:00,500+0000"
        ));
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
        assert_eq!(
            by("YYYY.MM.DD HH:mm", "2024.03.05 14:07"),
            read("2024-03-05T14:07")
        );
        assert_eq!(by("DD/MM/YYYY", "5/3/2024"), None);
        // The other ways stay open.
        assert_eq!(by("DD/MM/YYYY", "2024-03-05"), read("2024-03-05"));
    }

    #[test]
    fn a_format_names_each_part_once() {
        for (format, reason) in [
            ("dd.mm.yyyy", "it has no year"),
            ("YYYY-mm-DD", "it has no month"),
            ("YYYY-MM", "it has no day"),
            ("DD/DD/MM/YYYY", "it has the same part twice"),
            (
                "YYYY-MM-DD mm",
                "minutes need hours, and seconds need minutes",
            ),
            ("", "it has no year"),
        ] {
            assert_eq!(DateFormat::parse(format), Err(reason), "{format}");
        }
    }
}
