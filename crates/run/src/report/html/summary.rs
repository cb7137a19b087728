//! What the page says of the whole run: numbers as tiles, each with how far it is to be trusted.

use evalrig_core::model::Outcome;
use serde_json::{Value, json};

use super::super::tally::{Counts, Sum, Tally};
use super::super::{RunEnd, phrase, totals, visible};
use super::cut;
use crate::record::Row;

const NAME: usize = 300;
/// From here on an interval is narrower than what anybody would act on.
const MANY: u64 = 200;

#[derive(Debug, Default)]
pub struct Summary {
    tally: Tally,
    /// Sum over cases; they run side by side, so it is no time on the wall.
    case_ms: u64,
    /// First and last end of a case, as written.
    span: Option<(String, String)>,
}

impl Summary {
    pub fn add(&mut self, row: &Row) {
        self.tally.add(row);
        self.case_ms += row.duration_ms.unwrap_or(0);
        let time = visible::line(&row.timestamp, 40);
        match &mut self.span {
            None => self.span = Some((time.clone(), time)),
            Some((first, _)) if time < *first => *first = time,
            Some((_, last)) if time > *last => *last = time,
            Some(_) => {}
        }
    }

    pub fn document(&self, end: &RunEnd, notes: &[String]) -> Value {
        let tally = &self.tally;
        let (verdict, headline) = totals::headline(tally, end);
        let mut suites: Vec<&String> = tally.suites.keys().collect();
        suites.extend(
            end.suites
                .iter()
                .filter(|name| !tally.suites.contains_key(*name)),
        );
        let suites: Vec<String> = suites.iter().map(|name| cut::text(name, NAME)).collect();
        // Targets are what people compare; with one of them, suites are.
        let (of, groups) = match tally.targets.len() {
            0 | 1 => ("suite", &tally.suites),
            _ => ("target", &tally.targets),
        };
        let group = |(name, counts): (&String, &Counts)| json!({"name": cut::text(name, NAME), "rate": rate(counts)});
        let count = |outcome: &Outcome| (outcome.word(), tally.counts.of(*outcome));
        let counts: Vec<(&str, u64)> = Outcome::ALL.iter().map(count).collect();
        let path = |path: &camino::Utf8PathBuf| cut::text(path.as_str(), NAME);
        json!({
            "generator": concat!("evalrig ", env!("CARGO_PKG_VERSION")),
            "suites": suites,
            "verdict": verdict.word(),
            "headline": headline,
            "counts": counts,
            "nouns": tally.nouns(),
            "trials": tally.trials,
            "rate": rate(&tally.counts),
            "tiles": self.tiles(end),
            "groups": {"of": of, "list": groups.iter().map(group).collect::<Vec<Value>>()},
            "span": self.span,
            "results": end.results.as_ref().map(path),
            "command": end.command.as_deref().map(|command| cut::text(command, 2_000)),
            "notes": stopped(tally, end).into_iter().chain(notes.iter().cloned()).collect::<Vec<_>>(),
        })
    }

    fn tiles(&self, end: &RunEnd) -> Vec<Value> {
        let tally = &self.tally;
        let mut tiles = vec![rate_tile(&tally.counts, tally.nouns())];
        tiles.push(match tally.average_score() {
            Some(score) => tile("Average score", &phrase::average(score), &scored(tally)),
            None => tile("Average score", "–", "nothing was scored"),
        });
        tiles.push(self.cost_tile(end));
        tiles.push(tokens_tile(tally));
        if let Some(text) = totals::judges(tally) {
            let (calls, rest) = text.split_once(", ").unwrap_or((&text, ""));
            tiles.push(tile("Judges", calls, rest));
        }
        tiles.push(self.time_tile(end));
        tiles
    }

    fn cost_tile(&self, end: &RunEnd) -> Value {
        let cost = &self.tally.cost;
        let note = match &end.price_note {
            Some(note) => cut::text(note, NAME),
            None => "of the targets, judges not included".to_owned(),
        };
        sum_tile(
            "Cost",
            cost,
            phrase::money(cost.known),
            note,
            self.tally.nouns().1,
        )
    }

    fn time_tile(&self, end: &RunEnd) -> Value {
        let cases = phrase::duration(self.case_ms);
        match end.duration_ms {
            Some(ms) => tile(
                "Duration",
                &phrase::duration(ms),
                &format!("{} took {cases} in all", self.tally.nouns().1),
            ),
            None => tile("Time", &cases, "sum over cases; they may run side by side"),
        }
    }
}

/// A run that did not reach its end must not look like one that did.
fn stopped(tally: &Tally, end: &RunEnd) -> Option<String> {
    let text = totals::stopped_text(end.stopped?, tally, end);
    Some(format!("This run was not completed: {text}."))
}

fn tile(name: &str, value: &str, note: &str) -> Value {
    json!({"name": name, "value": value, "note": note})
}

fn scored(tally: &Tally) -> String {
    let (one, many) = tally.nouns();
    let count = phrase::counted(tally.scores.reported, one, many);
    format!("over {count} with a score")
}

fn tokens_tile(tally: &Tally) -> Value {
    let known = |sum: &Sum| phrase::count(sum.known as u64);
    let mut note = format!("{} in, {} out", known(&tally.input), known(&tally.output));
    if tally.cached.known > 0.0 {
        note.push_str(&format!("; {} from cache", known(&tally.cached)));
    }
    let all = phrase::count((tally.input.known + tally.output.known) as u64);
    sum_tile("Tokens", &tally.input, all, note, tally.nouns().1)
}

/// A sum with gaps is unknown; what is known of it is a lower bound.
fn sum_tile(name: &str, sum: &Sum, value: String, note: String, many: &str) -> Value {
    match (sum.reported, sum.unreported) {
        (0, _) => tile(name, "unknown", "no target reported it"),
        (_, 0) => tile(name, &value, &note),
        (reported, gaps) => tile(
            name,
            "unknown",
            &format!(
                "at least {value}; {} of {} {many} did not report it",
                phrase::count(gaps),
                phrase::count(reported + gaps)
            ),
        ),
    }
}

fn rate_tile(counts: &Counts, (_, many): (&str, &str)) -> Value {
    let (passed, judged) = (counts.of(Outcome::Passed), counts.judged());
    if judged == 0 {
        return tile("Pass rate", "–", "nothing got a verdict");
    }
    let of = format!("{} of {}", phrase::count(passed), phrase::count(judged));
    let mut note = format!("{of} {many} with a verdict");
    if judged < MANY {
        let (low, high) = interval(passed, judged);
        let percent = |share: f64| (share * 100.0).round();
        note.push_str(&format!(
            "; 95 % interval {}–{} %",
            percent(low),
            percent(high)
        ));
    }
    tile("Pass rate", &percent(passed, judged), &note)
}

/// 100 only when all did and 0 only when none did.
fn percent(part: u64, whole: u64) -> String {
    let share = (part as f64 / whole as f64 * 100.0).round() as u64;
    let share = match part {
        0 => 0,
        part if part == whole => 100,
        _ => share.clamp(1, 99),
    };
    format!("{share} %")
}

fn rate(counts: &Counts) -> Value {
    let (passed, judged) = (counts.of(Outcome::Passed), counts.judged());
    let known = (judged > 0 && judged < MANY).then(|| interval(passed, judged));
    let rounded = |share: f64| (share * 1e4).round() / 1e4;
    json!({
        "passed": passed,
        "n": judged,
        "interval": known.map(|(low, high)| [rounded(low), rounded(high)]),
    })
}

/// Wilson's 95 % interval for a share. It is never of width 0, also when all or none passed.
fn interval(passed: u64, judged: u64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, share) = (judged as f64, passed as f64 / judged as f64);
    let (square, scale) = (Z * Z, 1.0 + Z * Z / n);
    let middle = (share + square / (2.0 * n)) / scale;
    let half = Z / scale * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::*;

    fn near(found: (f64, f64), expected: (f64, f64)) -> bool {
        (found.0 - expected.0).abs() < 1e-3 && (found.1 - expected.1).abs() < 1e-3
    }

    /// Values of Newcombe 1998, table I, method 3.
    #[test]
    fn intervals_of_the_literature() {
        assert!(near(interval(81, 263), (0.2553, 0.3662)));
        assert!(near(interval(15, 148), (0.0624, 0.1605)));
        assert!(near(interval(0, 20), (0.0, 0.1611)));
        assert!(near(interval(1, 29), (0.0061, 0.1718)));
    }

    #[test]
    fn a_certain_rate_still_has_a_width() {
        let (low, high) = interval(3, 3);
        assert!(low < 0.5 && (high - 1.0).abs() < 1e-12);
    }

    fn tiles(rows: &[Row], end: &RunEnd) -> Vec<String> {
        let mut summary = Summary::default();
        for row in rows {
            summary.add(row);
        }
        let text = |tile: &Value, key: &str| tile[key].as_str().unwrap().to_owned();
        let tiles = summary.tiles(end);
        tiles
            .iter()
            .map(|tile| {
                ["name", "value", "note"]
                    .map(|key| text(tile, key))
                    .join(" | ")
            })
            .collect()
    }

    #[test]
    fn every_tile_says_how_far_it_goes() {
        let mut gap = fixture::row("b", Outcome::Failed, Some(0.5));
        (gap.cost_usd, gap.tokens) = (None, None);
        let rows = [fixture::row("a", Outcome::Passed, Some(1.0)), gap];
        let end = RunEnd::default();
        assert_eq!(
            tiles(&rows, &end),
            [
                "Pass rate | 50 % | 1 of 2 tests with a verdict; 95 % interval 9–91 %",
                "Average score | 0.75 | over 2 tests with a score",
                "Cost | unknown | at least $0.0020; 1 of 2 tests did not report it",
                "Tokens | unknown | at least 1,550; 1 of 2 tests did not report it",
                "Time | 1.8 s | sum over cases; they may run side by side",
            ]
        );
    }

    #[test]
    fn nothing_is_not_zero() {
        assert_eq!(
            tiles(&[], &RunEnd::default())[..3],
            [
                "Pass rate | – | nothing got a verdict",
                "Average score | – | nothing was scored",
                "Cost | unknown | no target reported it",
            ]
        );
    }
}
