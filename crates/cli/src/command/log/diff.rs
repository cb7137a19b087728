//! `log diff`: prints what changed between two runs of a record.

use evalrig_core::model::{Map, Number, Value};
use evalrig_run::runlog::{Comparison, TurnChange};
use similar::{ChangeTag, TextDiff};

use crate::error::CommandError;
use crate::exit::Exit;
use evalrig_run::text::paint::{Paint, Tone};
use evalrig_run::text::{self, OutputStyle, numbers};

use super::{LogContext, brief};
use crate::args::Diff;
use crate::output::{print_json, print_painted};

const ARROW: &str = "→";

pub(super) fn run(log: &LogContext<'_>, args: &Diff) -> Result<Exit, CommandError> {
    let found = log.store.compare(&log.record_name(&args.name)?, args.runs)?;
    if log.is_json() {
        print_json(&as_json(log, &found))?
    } else {
        print_painted(&log.redacted(&as_text(&found, log.context.look())))?
    }
    Ok(match (found.has_regressed(), found.has_errored()) {
        (true, _) => Exit::Failure,
        (false, true) => Exit::Incomplete,
        (false, false) => Exit::Success,
    })
}

fn as_json(log: &LogContext<'_>, found: &Comparison) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion", 1_u64);
    document.insert("name", found.name.as_str());
    document.insert("runs", found.runs.to_vec());
    let turns: Vec<Value> = found.turns.iter().map(turn_value).collect();
    document.insert("turns", turns);
    log.json(document)
}

fn turn_value(turn: &TurnChange) -> Value {
    let whole = |number: Option<u64>| number.map_or(Value::Null, Value::from);
    let mut map = Map::new();
    map.insert("input", turn.input.as_str());
    let output = turn.is_output_same().map(|same| if same { "same" } else { "changed" });
    map.insert("output", output.map_or(Value::Null, Value::from));
    map.insert("toolsAdded", texts(&turn.tools_added));
    map.insert("toolsRemoved", texts(&turn.tools_removed));
    map.insert("evaluation", texts(&turn.evaluations));
    map.insert("tokens", turn.metas.iter().map(|one| whole(one.tokens)).collect::<Vec<_>>());
    map.insert("cost", turn.metas.iter().map(|one| float(one.cost)).collect::<Vec<_>>());
    let durations = turn.metas.iter().map(|one| whole(one.duration_ms));
    map.insert("durationMs", durations.collect::<Vec<_>>());
    map.insert("regressed", turn.has_regressed());
    map.into()
}

fn texts(items: &[String]) -> Vec<Value> {
    items.iter().map(|item| item.as_str().into()).collect()
}

fn float(number: Option<f64>) -> Value {
    let number = number.and_then(|number| Number::parse(&format!("{number:?}")));
    number.map_or(Value::Null, Value::Number)
}

fn as_text(found: &Comparison, style: OutputStyle) -> String {
    let paint = &Paint::new(style);
    let [before, now] = found.runs;
    let name = text::single_line(&found.name);
    let arrow = paint.text(ARROW);
    let mut text = format!("{name}: run {before} {arrow} run {now}\n");
    for (at, turn) in found.turns.iter().enumerate() {
        let input = text::single_line(&brief(&turn.input, 72));
        text += &format!("\nturn {}: {input}\n", at + 1);
        text += &shown_output(turn, paint);
        for call in &turn.tools_removed {
            text += &format!("  tools       {}\n", gone(paint, &format!("- {call}")));
        }
        for call in &turn.tools_added {
            text += &format!("  tools       {}\n", added(paint, &format!("+ {call}")));
        }
        text += &shown_evaluation(turn, paint);
        text += &shown_numbers(turn, paint);
    }
    text
}

fn shown_output(turn: &TurnChange, paint: &Paint) -> String {
    let [Some(before), Some(now)] = &turn.outputs else {
        return "  output      not saved for both runs\n".to_owned();
    };
    if before == now {
        return "  output      same\n".to_owned();
    }
    let mut text = "  output      changed\n".to_owned();
    let diff = TextDiff::from_lines(before.as_str(), now.as_str());
    for change in diff.iter_all_changes() {
        let line = change.value().trim_end_matches(['\n', '\r']);
        text += &match change.tag() {
            ChangeTag::Delete => format!("    {}\n", gone(paint, &format!("- {line}"))),
            ChangeTag::Insert => format!("    {}\n", added(paint, &format!("+ {line}"))),
            ChangeTag::Equal => format!("      {}\n", text::single_line(line)),
        };
    }
    text
}

fn shown_evaluation(turn: &TurnChange, paint: &Paint) -> String {
    let named = |text: &String| {
        if text.is_empty() { "not graded".to_owned() } else { text::single_line(text) }
    };
    let [before, now] = &turn.evaluations;
    let arrow = paint.text(ARROW);
    let change = if before == now {
        named(before)
    } else {
        format!("{} {arrow} {}", named(before), named(now))
    };
    let mark = match (turn.has_regressed(), turn.has_errored()) {
        (true, _) => gone(paint, "  (regressed)"),
        (false, true) => gone(paint, "  (could not be measured)"),
        (false, false) => String::new(),
    };
    format!("  evaluation  {change}{mark}\n")
}

fn shown_numbers(turn: &TurnChange, paint: &Paint) -> String {
    let arrow = paint.text(ARROW);
    let [before, now] = &turn.metas;
    let rows = [
        ("tokens", as_float(before.tokens), as_float(now.tokens), Unit::Count),
        ("cost", before.cost, now.cost, Unit::Usd),
        ("duration", as_float(before.duration_ms), as_float(now.duration_ms), Unit::Milliseconds),
    ];
    let lines = rows.into_iter().filter_map(|(label, before, now, unit)| {
        let shown = |number: Option<f64>| number.map_or("?".to_owned(), |one| unit.show(one));
        if before.is_none() && now.is_none() {
            return None;
        }
        let change = match (before, now) {
            (Some(before), Some(now)) if before == now => {
                return Some(format!("  {label:11} {}\n", unit.show(now)));
            }
            (Some(before), Some(now)) => format!(" ({})", unit.difference(now - before)),
            _ => String::new(),
        };
        Some(format!("  {label:11} {} {arrow} {}{change}\n", shown(before), shown(now)))
    });
    lines.collect()
}

fn as_float(number: Option<u64>) -> Option<f64> {
    number.map(|number| number as f64)
}

#[derive(Clone, Copy)]
enum Unit {
    Count,
    Usd,
    Milliseconds,
}

impl Unit {
    fn show(self, number: f64) -> String {
        match self {
            Self::Count => numbers::count(number as u64),
            Self::Usd => numbers::money(number),
            Self::Milliseconds => numbers::duration(number as u64),
        }
    }

    fn difference(self, number: f64) -> String {
        let sign = if number < 0.0 { "-" } else { "+" };
        format!("{sign}{}", self.show(number.abs()))
    }
}

fn gone(paint: &Paint, line: &str) -> String {
    paint.tone(Tone::Bad, &text::single_line(line))
}

fn added(paint: &Paint, line: &str) -> String {
    paint.tone(Tone::Good, &text::single_line(line))
}
