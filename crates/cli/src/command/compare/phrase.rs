//! The result of `--selftest`, for text and Markdown.

use evalrig_core::compare::SelfTest;
use evalrig_core::stats::{between, rate_text};
use evalrig_run::report::comparison::points;

/// Two lines: the false alarms, and the smallest drop.
pub fn selftest(found: &SelfTest) -> [String; 2] {
    let alarms = rate_text(found.alarms, found.splits, "splits called worse");
    let alarms = if alarms.contains("95 % CI") {
        alarms
    } else {
        format!("{alarms}, {}", between(found.interval))
    };
    let drop = match found.smallest_drop {
        Some(drop) => format!("{} points", points(drop).trim_start_matches('+')),
        None => "none: even a drop to 0 would be missed".to_owned(),
    };
    [
        format!("false alarms: {alarms}"),
        format!("smallest drop caught in 9 of 10 comparisons of two such runs: {drop}"),
    ]
}
