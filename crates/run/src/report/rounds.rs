//! A run in rounds as it happened: what each look found, and the limits that it had.

use std::io::{self, Write};

use evalrig_core::compare::{ComparisonVerdict, RoundStop};
use serde_json::{Value, json};

use super::comparison::{chance, points};
use super::summary_block::SummaryBlock;
use crate::results::{ComparedRounds, LookRecord, RoundRecord, RoundSettings};
use crate::text::{self, numbers};

/// At most so long.
const NAME: usize = 100;

/// The plan of the rounds, and how they went.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedRounds {
    pub settings: RoundSettings,
    pub record: RoundRecord,
}

impl ReportedRounds {
    /// What the run came to, and each look, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for compared in &self.record.comparisons {
            lines.push(self.headline(compared));
            lines.extend(compared.looks.iter().map(look_line));
        }
        lines.extend(self.beyond());
        lines
    }

    /// `stopped after round 2 of 4: not worse`.
    pub fn headline(&self, compared: &ComparedRounds) -> String {
        let (done, most) = (compared.looks.len(), self.settings.rounds);
        let stop = compared.stop.as_deref();
        let is = |other: RoundStop| stop == Some(other.word());
        let verdict = verdict_words(&compared.verdict);
        let said = if is(RoundStop::Futile) {
            format!("stopped after round {done} of {most}: a verdict had become unlikely")
        } else if is(RoundStop::Settled) && done < most as usize {
            format!("stopped after round {done} of {most}: {verdict}")
        } else if stop.is_some() {
            format!("all {most} rounds: {verdict}")
        } else {
            format!("{done} of {most} rounds are over, without a verdict so far")
        };
        match &compared.arm {
            Some(arm) => format!("{}: {said}", text::line(arm, NAME)),
            None => said,
        }
    }

    /// Trials that finished after the stop, or in a round that was cut off.
    pub fn beyond(&self) -> Option<String> {
        let count = self.record.beyond;
        let trials = numbers::counted(count, "trial is", "trials are");
        let place = if self.record.stopped {
            "beyond the last look and not counted"
        } else {
            "in a round that is not over"
        };
        (count > 0).then(|| format!("{trials} {place}"))
    }

    /// Its shape is a contract (spec 16.4).
    pub fn json(&self) -> Value {
        let mut shown = json!({
            "most": self.settings.rounds,
            "run": self.record.rounds,
            "stopped": self.record.stopped,
            "beyond": self.record.beyond,
            "margin": self.settings.margin,
            "measure": self.settings.measure,
            "spending": self.settings.spending,
            "shares": self.settings.looks,
            "futility": self.settings.futility,
        });
        shown["comparisons"] = json!(self.record.comparisons);
        shown
    }

    /// What the page draws: numbers for the plot, and words.
    pub fn page(&self) -> Value {
        let of = |compared: &ComparedRounds| {
            json!({
                "title": match &compared.arm {
                    Some(arm) => format!("Rounds of {}", text::line(arm, NAME)),
                    None => "Rounds".to_owned(),
                },
                "headline": text::line(&self.headline(compared), 300),
                "stopped": compared.stop.is_some(),
                "looks": compared.looks.iter().map(page_look).collect::<Vec<_>>(),
            })
        };
        json!({
            "most": self.settings.rounds,
            "margin": self.settings.margin,
            "beyond": self.beyond(),
            "comparisons": self.record.comparisons.iter().map(of).collect::<Vec<_>>(),
        })
    }
}

fn page_look(look: &LookRecord) -> Value {
    json!({
        "round": look.round,
        "delta": look.delta,
        "low": look.low,
        "high": look.high,
        "words": text::line(&look_line(look).replace('-', "−"), 300),
    })
}

/// `round 2: +0.8 points (95 % CI -8.9 to +10.4), p = 0.550, worse only if p ≤ 0.017`. Early looks may have no
/// p-value that is small enough.
pub fn look_line(look: &LookRecord) -> String {
    let (Some(delta), Some(low), Some(high)) = (look.delta, look.low, look.high) else {
        return format!("round {}: no test was measured on both sides", look.round);
    };
    let p = look.p.map_or(String::new(), |p| format!(", {}", chance(p)));
    let limit = match look.drop_level {
        level if level <= 0.0 => "no drop could be called worse yet".to_owned(),
        level if level < 0.001 => "worse only if p < 0.001".to_owned(),
        level => format!("worse only if p ≤ {level:.3}"),
    };
    format!(
        "round {}: {} points (95 % CI {} to {}){p}, {limit}",
        look.round,
        points(delta),
        points(low),
        points(high),
    )
}

/// A word of the results, which may be from elsewhere.
fn verdict_words(verdict: &str) -> String {
    let known = ComparisonVerdict::parse(verdict);
    known.map_or("unknown", ComparisonVerdict::word).replace('-', " ")
}

/// The rounds among the numbers of a run.
pub(super) fn draw(
    block: &SummaryBlock,
    rounds: Option<&ReportedRounds>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = rounds.map(ReportedRounds::lines).unwrap_or_default();
    for (at, line) in lines.into_iter().enumerate() {
        block.fact(["rounds", ""][at.min(1)], Some(line), out)?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod testing {
    use evalrig_core::compare::{Measure, RoundBase, RoundPlan};

    use super::*;

    pub fn rounds(stop: Option<RoundStop>, verdict: ComparisonVerdict) -> ReportedRounds {
        let plan = RoundPlan {
            rounds: 4,
            margin: 0.1,
            measure: Measure::Rate,
            base: RoundBase::Stored { trials: 16.0 },
            seed: 1,
            stops_futile: false,
        };
        let look = |round: u32, delta: f64, half: f64| LookRecord {
            round,
            delta: Some(delta),
            low: Some(delta - half),
            high: Some(delta + half),
            p: Some(0.41),
            drop_level: 0.009 * f64::from(round),
            gain_level: 0.009 * f64::from(round),
            verdict: verdict.word().to_owned(),
        };
        ReportedRounds {
            settings: RoundSettings::of(&plan, Some("00".to_owned())),
            record: RoundRecord {
                rounds: 2,
                stopped: stop.is_some(),
                beyond: 0,
                comparisons: vec![ComparedRounds {
                    arm: None,
                    stop: stop.map(|stop| stop.word().to_owned()),
                    verdict: verdict.word().to_owned(),
                    looks: vec![look(1, -0.017, 0.125), look(2, 0.008, 0.096)],
                }],
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::rounds;
    use super::*;

    #[test]
    fn the_looks_are_told_as_they_happened() {
        let mut found = rounds(Some(RoundStop::Settled), ComparisonVerdict::NotWorse);
        assert_eq!(
            found.lines(),
            [
                "stopped after round 2 of 4: not worse",
                "round 1: -1.7 points (95 % CI -14.2 to +10.8), p = 0.410, worse only if p ≤ 0.009",
                "round 2: +0.8 points (95 % CI -8.8 to +10.4), p = 0.410, worse only if p ≤ 0.018",
            ]
        );
        found.record.beyond = 3;
        assert_eq!(
            found.lines().last().unwrap(),
            "3 trials are beyond the last look and not counted"
        );
        found.record.comparisons[0].arm = Some("with".to_owned());
        assert!(found.lines()[0].starts_with("with: stopped after round 2 of 4"));
        found.record.stopped = false;
        assert_eq!(found.lines().last().unwrap(), "3 trials are in a round that is not over");
    }

    #[test]
    fn a_limit_is_never_shown_as_zero() {
        let said = |level: f64| {
            let mut found = rounds(None, ComparisonVerdict::Inconclusive);
            found.record.comparisons[0].looks[0].drop_level = level;
            found.lines()[1].rsplit(", ").next().unwrap().to_owned()
        };
        assert_eq!(said(0.0), "no drop could be called worse yet");
        assert_eq!(said(0.0004), "worse only if p < 0.001");
        assert_eq!(said(0.001), "worse only if p ≤ 0.001");
    }

    #[test]
    fn a_page_knows_rounds_that_were_not_needed_from_those_that_were_not_run() {
        let page = |stop| rounds(stop, ComparisonVerdict::Worse).page();
        assert_eq!(page(Some(RoundStop::Settled))["comparisons"][0]["stopped"], true);
        assert_eq!(page(None)["comparisons"][0]["stopped"], false);
    }

    #[test]
    fn every_end_has_its_words() {
        let said = |stop, verdict| rounds(stop, verdict).lines().remove(0);
        use ComparisonVerdict::{Inconclusive, Worse};
        assert_eq!(
            said(Some(RoundStop::Futile), Inconclusive),
            "stopped after round 2 of 4: a verdict had become unlikely"
        );
        assert_eq!(said(Some(RoundStop::Exhausted), Inconclusive), "all 4 rounds: inconclusive");
        assert_eq!(said(None, Worse), "2 of 4 rounds are over, without a verdict so far");
    }

    #[test]
    fn programs_get_every_look() {
        let found = rounds(Some(RoundStop::Settled), ComparisonVerdict::Worse).json();
        assert_eq!((&found["most"], &found["run"]), (&json!(4), &json!(2)));
        assert_eq!(found["comparisons"][0]["verdict"], "worse");
        assert_eq!(found["comparisons"][0]["looks"][1]["dropLevel"], 0.018);
        assert_eq!(found["shares"].as_array().unwrap().len(), 4);
    }

    /// A results file may come from anywhere.
    #[test]
    fn words_of_a_file_cannot_break_a_line() {
        let mut found = rounds(Some(RoundStop::Settled), ComparisonVerdict::Worse);
        found.record.comparisons[0].verdict = "\u{1b}[31mbetter".to_owned();
        found.record.comparisons[0].arm = Some("a\nb\u{1b}[0m".to_owned());
        let said = found.lines().remove(0);
        assert!(said.ends_with("of 4: unknown") && !said.contains(['\n', '\u{1b}']), "{said}");
    }
}
