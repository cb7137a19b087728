//! `log show`: prints one record.

use evalrig_core::model::{Map, Value};
use evalrig_run::runlog::{HistoryEntry, Record, RunMeta, Turn};
use evalrig_run::text::numbers;
use evalrig_run::text::paint::Paint;
use evalrig_run::text::{self, OutputStyle};

use crate::error::CommandError;
use crate::exit::Exit;

use super::{LogContext, brief, counted_noun, runs};
use crate::args::RecordName;
use crate::output::{print_json, print_text};

/// Width of the labels.
const INDENT: usize = 11;

/// Longest line for the answer of an older run, in characters.
const BRIEF: usize = 72;

pub(super) fn run(log: &LogContext<'_>, args: &RecordName) -> Result<Exit, CommandError> {
    let record = log.store.read(&log.record_name(&args.name)?)?;
    if log.is_json() {
        print_json(&as_json(log, &record))?
    } else {
        print_text(&log.redacted(&as_text(log, &record)))?
    }
    Ok(Exit::Success)
}

/// The keys of the summary, after the schema version. A missing or too small count is corrected
/// (spec 13.5).
fn as_json(log: &LogContext<'_>, record: &Record) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion", 1_u64);
    if let Value::Map(summary) = record.parsed() {
        for (key, value) in summary {
            document.insert(key, value);
        }
    }
    document.insert("runs", runs(log, record));
    log.json(document)
}

fn as_text(log: &LogContext<'_>, record: &Record) -> String {
    let summary = &record.summary;
    let runs = runs(log, record);
    let mut text = format!(
        "{} ({}, {})\n",
        text::single_line(&record.name),
        counted_noun(usize::try_from(runs).unwrap_or(usize::MAX), "run"),
        text::single_line(&log.shown(&record.file)),
    );
    for (label, value) in
        [("model", summary.model()), ("created", summary.created()), ("updated", summary.updated())]
    {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text += &format!("  {label:8} {}\n", text::single_line(value));
        }
    }
    for (at, turn) in summary.turns.iter().enumerate() {
        text += &format!("\nturn {}\n", at + 1);
        let output = |entry: &HistoryEntry| log.store.output(record, at, entry);
        text += &shown_turn(turn, &output);
    }
    fitted(&text, log.context.look())
}

/// On a terminal, long lines continue in the column of the text.
fn fitted(text: &str, style: OutputStyle) -> String {
    let paint = Paint::new(style);
    let Some(width) = style.width else {
        return paint.text(text).into_owned();
    };
    let mut fitted = String::new();
    for line in text.lines() {
        let is_field =
            line.starts_with("  ") && line.len() > INDENT && line.is_char_boundary(INDENT);
        let (label, rest) = line.split_at(if is_field { INDENT } else { 0 });
        let pieces = paint.wrap(rest, width.saturating_sub(label.len()).max(20));
        for (at, piece) in pieces.iter().enumerate() {
            let label = if at == 0 { label } else { &" ".repeat(label.len()) };
            fitted += format!("{label}{piece}").trim_end();
            fitted.push('\n');
        }
        if pieces.is_empty() {
            fitted.push('\n');
        }
    }
    fitted
}

/// `output` looks up the answer of an older run, which the summary may not contain.
fn shown_turn(turn: &Turn, output: &dyn Fn(&HistoryEntry) -> Option<String>) -> String {
    let mut text = field("input", &turn.input);
    let now = &turn.now;
    text += &field("output", now.output().unwrap_or_default());
    for call in now.tools_called() {
        text += &field("tool", call);
    }
    text += &field("expected", now.expected());
    text += &field("judged", &now.evaluation());
    text += &field("took", &measured(&now.meta()));
    if let Some(run) = now.run() {
        text += &field("run", &run.to_string());
    }
    for entry in &turn.history {
        text += &older(entry, output(entry));
    }
    text
}

/// A label and the lines of a text in a column; nothing if the text is empty.
fn field(label: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut shown = String::new();
    for (at, line) in text::paragraph(text).lines().enumerate() {
        let label = if at == 0 { label } else { "" };
        shown += format!("  {label:8} {line}").trim_end();
        shown.push('\n');
    }
    shown
}

fn older(entry: &HistoryEntry, output: Option<String>) -> String {
    let run = entry.run().map_or("?".to_owned(), |run| run.to_string());
    let mut parts = vec![
        brief(output.as_deref().unwrap_or("(not saved)"), BRIEF),
        entry.evaluation(),
        measured(&entry.meta()),
    ];
    parts.retain(|part| !part.is_empty());
    field(&format!("run {run}"), &parts.join(" · "))
}

pub(super) fn measured(meta: &RunMeta) -> String {
    let mut parts = Vec::new();
    parts.extend(meta.tokens.map(|tokens| numbers::counted(tokens, "token", "tokens")));
    parts.extend(meta.cost.map(numbers::money));
    parts.extend(meta.duration_ms.map(numbers::duration));
    parts.extend(meta.ts.clone());
    parts.join(", ")
}
