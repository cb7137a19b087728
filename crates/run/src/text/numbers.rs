//! Numbers as people read them. None claims more than was measured.

use evalrig_core::stats::{Interval, between, percent};

/// Milliseconds; agents that answer faster are stand-ins, whose times say nothing.
pub const SHORT: f64 = 100.0;

/// Two decimals, and more where two would seem to reach a threshold that was missed.
pub fn score(score: f64) -> String {
    for decimals in [2, 4] {
        let text = format!("{score:.decimals$}");
        let shown: f64 = text.parse().unwrap_or(score);
        let is_round = (shown * 20.0 - (shown * 20.0).round()).abs() < 1e-9;
        if !is_round || shown < score + 1e-9 {
            return text;
        }
    }
    format!("{score:.6}")
}

/// Two decimals; 1 and 0 only when every score was that.
pub fn average(score: f64) -> String {
    let is_mixed = (1e-9..=1.0 - 1e-9).contains(&score);
    if is_mixed {
        // As in `share_percent`: a sum may end a rounding error below the half.
        format!("{:.2}", (score + 1e-11).clamp(0.01, 0.99))
    } else {
        format!("{score:.2}")
    }
}

pub fn money(dollars: f64) -> String {
    match dollars {
        0.0 => "$0".to_owned(),
        d if d < 0.0001 => "<$0.0001".to_owned(),
        d if d < 1.0 => format!("${d:.4}"),
        d => format!("${d:.2}"),
    }
}

pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{seconds}.{} s", ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// `340 B`, `12 kB`, `3.4 MB`.
pub fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{} kB", number / 1_000),
        1_000_000..1_000_000_000 => {
            format!("{}.{} MB", number / 1_000_000, number / 100_000 % 10)
        }
        _ => format!("{}.{} GB", number / 1_000_000_000, number / 100_000_000 % 10),
    }
}

/// With a comma between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub fn counted(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        n => format!("{} {many}", count(n)),
    }
}

/// `19 of 20 passed (95 %, 95 % CI 76–99 %)`.
pub fn share(part: u64, whole: u64, interval: Option<Interval>) -> String {
    let counts = format!("{} of {} passed", count(part), count(whole));
    match (whole, interval) {
        (0, _) => counts,
        (_, None) => format!("{counts} ({} %)", percent(part, whole)),
        (_, Some(interval)) => format!("{counts} {}", interval_text(part, whole, interval)),
    }
}

/// `(95 %, 95 % CI 76–99 %)`. `whole` is not 0.
pub fn interval_text(part: u64, whole: u64, interval: Interval) -> String {
    format!("({} %, {})", percent(part, whole), between(interval))
}

/// `1 file`, `2 files`.
pub fn counted_noun(number: usize, noun: &str) -> String {
    counted(number as u64, noun, &format!("{noun}s"))
}

/// To 6 decimals, as scores are written (spec 8), without a negative zero.
pub fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6 + 0.0
}

#[cfg(test)]
mod tests {
    use evalrig_core::stats::wilson;

    use super::*;

    #[test]
    fn a_score_below_a_threshold_does_not_look_like_it() {
        assert_eq!(score(0.8), "0.80");
        assert_eq!(score(0.666667), "0.67");
        assert_eq!(score(0.7996), "0.7996");
        assert_eq!(score(0.799999), "0.799999");
        assert_eq!(score(1.0), "1.00");
        assert_eq!(score(0.996), "0.9960");
        assert_eq!(score(0.0), "0.00");
        assert_eq!(score(0.8012), "0.80");
        assert_eq!([0.3467, 0.9999, 1.0, 0.0001].map(average), ["0.35", "0.99", "1.00", "0.01"]);
    }

    #[test]
    fn a_rate_is_certain_only_when_all_agree() {
        assert_eq!(
            share(19, 20, Some(wilson(19, 20, 0.95))),
            "19 of 20 passed (95 %, 95 % CI 76–99 %)"
        );
        assert_eq!(
            share(1, 1, Some(wilson(1, 1, 0.95))),
            "1 of 1 passed (100 %, 95 % CI 21–100 %)"
        );
        assert_eq!(share(99_999, 100_000, None), "99,999 of 100,000 passed (99 %)");
        assert_eq!(share(1, 100_000, None), "1 of 100,000 passed (1 %)");
    }

    #[test]
    fn money_time_and_counts() {
        assert_eq!(
            [0.0, 0.00001, 0.0031, 12.345].map(money),
            ["$0", "<$0.0001", "$0.0031", "$12.35"]
        );
        assert_eq!(
            [900, 2_450, 192_000, 3_840_000].map(duration),
            ["900 ms", "2.4 s", "3 min 12 s", "1 h 04 min"]
        );
        assert_eq!([7, 1_000, 1_234_567].map(count), ["7", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "case", "cases"), "1 case");
        assert_eq!(
            [0, 1, 1_000].map(|count| counted_noun(count, "error")),
            ["0 errors", "1 error", "1,000 errors"]
        );
        assert!(rounded(-1e-9).is_sign_positive());
    }
}
