//! What the page says of the whole run: numbers as tiles, each with how far it is to be trusted.

use evalrig_core::model::Outcome;
use evalrig_core::stats::mean_between;
use serde_json::{Value, json};

use super::super::label_parts::LabelParts;
use super::super::tally::Tally;
use super::super::{ReportedRun, gap_lines, total_lines};
use super::case::FOUND_SENTENCE;
use super::origin::PageOrigin;
use super::rate::Rate;
use super::{arm, cut_text, history};
use crate::results::{ExitRule, OutcomeCounts, PartialSum, Row, SummaryBuilder};
use crate::text::{self, numbers};

const NAME: usize = 300;
/// Disputed items that are named.
const DISPUTED: usize = 3;
/// Names of assertions may be many, since a script can make them.
const ASSERTIONS: usize = 500;

#[derive(Debug, Default)]
pub struct SummaryPanel {
    tally: Tally,
    /// Sum over cases. They run concurrently, so this is not wall-clock time.
    case_ms: u64,
    /// First and last end of a case, as written.
    span: Option<(String, String)>,
    /// Misses and grades by assertion.
    found: SummaryBuilder,
    origin: PageOrigin,
}

impl SummaryPanel {
    pub fn new(rule: ExitRule) -> Self {
        Self { tally: Tally::new(rule), ..Self::default() }
    }

    pub fn add(&mut self, row: &Row) {
        self.tally.add(row);
        self.found.add(row);
        self.origin.add(row);
        self.case_ms = self.case_ms.saturating_add(row.duration_ms.unwrap_or(0));
        let time = text::line(&row.timestamp, 40);
        match &mut self.span {
            None => self.span = Some((time.clone(), time)),
            Some((first, _)) if time < *first => *first = time,
            Some((_, last)) if time > *last => *last = time,
            Some(_) => {}
        }
    }

    pub fn document(&self, end: &ReportedRun, notes: &[String]) -> Value {
        let tally = &self.tally;
        let (verdict, headline) = total_lines::headline(tally, end);
        let mut suites: Vec<&String> = tally.suites.keys().collect();
        suites.extend(end.suites.iter().filter(|name| !tally.suites.contains_key(*name)));
        let suites: Vec<String> = suites.iter().map(|name| cut_text::text(name, NAME)).collect();
        // Targets are what people compare; with one of them, suites are.
        let (of, groups, samples) = match tally.targets.len() {
            0 | 1 => ("suite", &tally.suites, &tally.suite_samples),
            _ => ("target", &tally.targets, &tally.target_samples),
        };
        let group = |(name, counts): (&String, &OutcomeCounts)| {
            let rate = Rate::of(counts, samples.get(name));
            json!({"name": cut_text::text(name, NAME), "rate": rate.document()})
        };
        let count = |outcome: &Outcome| (outcome.word(), tally.deciding.counts.of(*outcome));
        let counts: Vec<(&str, u64)> = Outcome::ALL.iter().map(count).collect();
        let path = |path: &camino::Utf8PathBuf| cut_text::text(path.as_str(), NAME);
        json!({
            "generator": concat!("evalrig ", env!("CARGO_PKG_VERSION")),
            "suites": suites,
            "verdict": verdict.word(),
            "headline": headline,
            "counts": counts,
            "nouns": tally.nouns(),
            "trials": tally.trials,
            "rate": rate(tally).document(),
            "tiles": self.tiles(end),
            "groups": {"of": of, "list": groups.iter().map(group).collect::<Vec<Value>>()},
            "arms": arm::document(&tally.arms.findings(end.rounds.as_ref(), &end.arm_options)),
            "baselineTargets": tally.arms.baseline_variants(),
            "misses": self.misses(),
            "assertions": self.assertions(),
            "origin": self.origin.document(),
            "planned": end.planned,
            "history": history::document(&end.history),
            "span": self.span,
            "results": end.results.as_ref().map(path),
            "command": end.command.as_deref().map(|command| cut_text::text(command, 2_000)),
            "isCut": !notes.is_empty(),
            "notes": stopped(tally, end)
                .into_iter()
                .chain(gap_lines::sentences(end).iter().map(|text| cut_text::text(text, 2_000)))
                .chain(notes.iter().cloned())
                .collect::<Vec<_>>(),
        })
    }

    /// As they are in the table, so that they can be found there.
    fn misses(&self) -> Vec<Value> {
        let top = self.found.top_misses();
        let told = top.iter().map(|one| (text::line(&one.miss, FOUND_SENTENCE), one.count));
        told.map(|(miss, count)| json!([miss, count])).collect()
    }

    fn assertions(&self) -> Vec<Value> {
        let found = self.found.by_evaluator();
        let told = found.iter().take(ASSERTIONS).map(|(name, grades)| {
            json!({
                "name": cut_text::text(name, NAME),
                "score": grades.average_score,
                "count": grades.count,
                "errored": grades.errored,
            })
        });
        told.collect()
    }

    fn tiles(&self, end: &ReportedRun) -> Vec<Value> {
        let tally = &self.tally;
        let mut tiles = vec![rate_tile(tally)];
        tiles.push(match tally.deciding.average_score() {
            Some(score) => tile("Average score", &numbers::average(score), &scored(tally)),
            None => tile("Average score", "–", "nothing was scored"),
        });
        tiles.push(self.cost_tile());
        tiles.push(tokens_tile(tally));
        if let Some(text) = total_lines::reused(tally) {
            let (reused, rest) = text.split_once(' ').unwrap_or((&text, ""));
            tiles.push(tile("Cache", reused, rest));
        }
        if let Some(text) = total_lines::judges(tally) {
            let (calls, rest) = text.split_once(", ").unwrap_or((&text, ""));
            tiles.push(tile("Judges", calls, rest));
        }
        if let count @ 1.. = tally.disputes.count() {
            let (lines, _) = tally.disputes.lines(LabelParts::of(tally), DISPUTED);
            let note = cut_text::text(&format!("votes differ: {}", lines.join("; ")), NAME);
            tiles.push(tile("Disputed", &numbers::count(count), &note));
        }
        tiles.push(self.time_tile(end));
        tiles
    }

    fn cost_tile(&self) -> Value {
        let cost = &self.tally.totals.cost;
        sum_tile(
            "Cost",
            cost,
            numbers::money(cost.known),
            "of the targets, judges not included".to_owned(),
            self.tally.nouns().1,
        )
    }

    fn time_tile(&self, end: &ReportedRun) -> Value {
        let cases = numbers::duration(self.case_ms);
        match end.duration_ms {
            Some(ms) => tile(
                "Duration",
                &numbers::duration(ms),
                &format!("{} took {cases} in all", self.tally.nouns().1),
            ),
            None => tile("Time", &cases, "sum over cases; they may run side by side"),
        }
    }
}

/// A run that did not reach its end must not look like one that did.
fn stopped(tally: &Tally, end: &ReportedRun) -> Option<String> {
    let text = total_lines::stopped_text(end.stopped?, tally, end);
    Some(format!("This run was not completed: {text}."))
}

fn tile(name: &str, value: &str, note: &str) -> Value {
    json!({"name": name, "value": value, "note": note})
}

fn scored(tally: &Tally) -> String {
    let (one, many) = tally.nouns();
    let count = numbers::counted(tally.deciding.scores.reported, one, many);
    match tally.sample.shown_average() {
        Some(interval) => {
            let between = mean_between(interval);
            format!("over {count} with a score; {between}")
        }
        None => format!("over {count} with a score"),
    }
}

fn tokens_tile(tally: &Tally) -> Value {
    let known = |sum: &PartialSum| numbers::count(sum.known as u64);
    let sum = &tally.totals.all_tokens;
    if sum.unreported < tally.totals.input.unreported {
        let note = "input and output together".to_owned();
        return sum_tile("Tokens", sum, known(sum), note, tally.nouns().1);
    }
    let mut note =
        format!("{} in, {} out", known(&tally.totals.input), known(&tally.totals.output));
    if tally.totals.cached.known > 0.0 {
        note.push_str(&format!("; {} from cache", known(&tally.totals.cached)));
    }
    let all = numbers::count((tally.totals.input.known + tally.totals.output.known) as u64);
    sum_tile("Tokens", &tally.totals.input, all, note, tally.nouns().1)
}

/// A sum with gaps is unknown; what is known of it is a lower bound.
fn sum_tile(name: &str, sum: &PartialSum, value: String, note: String, many: &str) -> Value {
    match (sum.reported, sum.unreported) {
        (0, _) => tile(name, "unknown", "no target reported it"),
        (_, 0) => tile(name, &value, &note),
        (reported, gaps) => tile(
            name,
            "unknown",
            &format!(
                "at least {value}; {} of {} {many} did not report it",
                numbers::count(gaps),
                numbers::count(reported + gaps)
            ),
        ),
    }
}

fn rate(tally: &Tally) -> Rate {
    Rate::of(&tally.deciding.counts, Some(&tally.sample))
}

fn rate_tile(tally: &Tally) -> Value {
    let (rate, many) = (rate(tally), tally.nouns().1);
    let Some(percent) = rate.percent() else {
        return tile("Pass rate", "–", "no test could be graded");
    };
    let [passes, trials] = [rate.passes, rate.trials].map(numbers::count);
    let mut note = format!("{passes} of {trials} {many} with a verdict");
    if let Some(between) = rate.doubt() {
        note.push_str(&format!("; {between}"));
    }
    tile("Pass rate", &percent, &note)
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::*;

    fn tiles(rows: &[Row], end: &ReportedRun) -> Vec<String> {
        let mut summary = SummaryPanel::default();
        for row in rows {
            summary.add(row);
        }
        let text = |tile: &Value, key: &str| tile[key].as_str().unwrap().to_owned();
        let tiles = summary.tiles(end);
        tiles
            .iter()
            .map(|tile| ["name", "value", "note"].map(|key| text(tile, key)).join(" | "))
            .collect()
    }

    #[test]
    fn every_tile_says_how_far_it_goes() {
        let mut gap = fixture::row("b", Outcome::Failed, Some(0.5));
        (gap.cost_usd, gap.tokens) = (None, None);
        let rows = [fixture::row("a", Outcome::Passed, Some(1.0)), gap];
        let end = ReportedRun::default();
        assert_eq!(
            tiles(&rows, &end),
            [
                "Pass rate | 50 % | 1 of 2 tests with a verdict; 95 % CI 9–91 %",
                "Average score | 0.75 | over 2 tests with a score; 95 % CI 0.01–1.00",
                "Cost | unknown | at least $0.0020; 1 of 2 tests did not report it",
                "Tokens | unknown | at least 1,550; 1 of 2 tests did not report it",
                "Time | 1.8 s | sum over cases; they may run side by side",
            ]
        );
    }

    #[test]
    fn nothing_is_not_zero() {
        assert_eq!(
            tiles(&[], &ReportedRun::default())[..3],
            [
                "Pass rate | – | no test could be graded",
                "Average score | – | nothing was scored",
                "Cost | unknown | no target reported it",
            ]
        );
    }
}
