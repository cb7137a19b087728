//! How the same tests fared before, as a line of points.

use evalrig_core::stats::rate_text;
use serde_json::{Value, json};

use super::super::PastRuns;
use super::rate::Rate;
use crate::text;

/// As many points as a plot can show.
const POINTS: usize = 60;
/// A time has 19 characters, but logs may have been edited by hand.
const TIME: usize = 30;

/// Null when there are fewer than two points: one of them shows no course.
pub fn document(history: &[PastRuns]) -> Value {
    let measured: Vec<&PastRuns> = history.iter().filter(|runs| runs.trials > 0).collect();
    let left_out = measured.len().saturating_sub(POINTS);
    let shown = &measured[left_out..];
    let ([first, .., last], true) = (shown, shown.len() >= 2) else {
        return Value::Null;
    };
    let count = shown.len();
    json!({
        "points": shown.iter().map(|runs| point(runs)).collect::<Vec<_>>(),
        "leftOut": left_out,
        "sentence": format!("Pass rate over {count} points in time: {}, then {}.", told(first), told(last)),
    })
}

fn point(runs: &PastRuns) -> Value {
    let time = |time: &str| text::line(time, TIME);
    json!({
        "first": time(&runs.first),
        "last": time(&runs.last),
        "rate": rate(runs).document(),
        "text": text(runs),
    })
}

/// The first and the last run; those between are in the table below the plot.
fn told(runs: &PastRuns) -> String {
    format!("on {} {}", text::line(&runs.first, TIME), text(runs))
}

fn text(runs: &PastRuns) -> String {
    let Rate { passes, trials, .. } = rate(runs);
    rate_text(passes, trials, "passed")
}

fn rate(runs: &PastRuns) -> Rate {
    // What was read from a log may say anything.
    Rate::plain(runs.passes.min(runs.trials), runs.trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(day: u64, passes: u64, trials: u64) -> PastRuns {
        let time = format!("2026-01-{day:02} 09:30:00");
        PastRuns { first: time.clone(), last: time, passes, trials }
    }

    #[test]
    fn two_measured_points_make_a_course() {
        assert_eq!(document(&[]), Value::Null);
        assert_eq!(document(&[runs(1, 3, 4)]), Value::Null);
        assert_eq!(document(&[runs(1, 3, 4), runs(2, 0, 0)]), Value::Null);
        let found = document(&[runs(1, 3, 4), runs(2, 0, 0), runs(3, 4, 4)]);
        let points = found["points"].as_array().unwrap();
        assert_eq!(points.len(), 2);
        assert_eq!(points[1]["rate"]["n"], 4);
        assert_eq!(points[1]["text"], "4 of 4 passed, 100 %, 95 % CI 51–100 %");
        assert_eq!(
            found["sentence"],
            "Pass rate over 2 points in time: on 2026-01-01 09:30:00 3 of 4 passed, 75 %, 95 % CI \
             30–95 %, then on 2026-01-03 09:30:00 4 of 4 passed, 100 %, 95 % CI 51–100 %."
        );
    }

    #[test]
    fn the_newest_are_kept_and_the_rest_is_counted() {
        let many: Vec<PastRuns> = (0..70).map(|day| runs(day, day, 100)).collect();
        let found = document(&many);
        assert_eq!(found["leftOut"], 10);
        assert_eq!(found["points"][0]["rate"]["passed"], 10);
        assert_eq!(found["points"][59]["rate"]["passed"], 69);
    }

    #[test]
    fn a_log_that_was_edited_draws_nothing_impossible() {
        let mut odd = runs(1, 9, 3);
        odd.first = "x".repeat(1_000);
        let found = document(&[odd, runs(2, 1, 3)]);
        assert_eq!(found["points"][0]["rate"]["passed"], 3);
        assert!(found.to_string().len() < 1_000);
    }
}
