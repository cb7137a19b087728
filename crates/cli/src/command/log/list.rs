//! `log list`: lists the records; the text shows the newest first.

use evalrig_core::model::{Map, Value};
use evalrig_run::runlog::{LoggedVerdict, Record, SummaryKind};
use unicode_width::UnicodeWidthStr;

use crate::context::{print_message, print_text};
use crate::error::CommandError;
use crate::exit::Exit;

use super::{LogContext, brief, counted_noun, json, print_paragraph, runs};

pub(super) fn run(log: &LogContext<'_>) -> Result<Exit, CommandError> {
    log.check()?;
    let listing = log.store.list()?;
    for fault in &listing.unreadable {
        print_message(&fault.to_string());
    }
    if log.is_json() {
        print_text(&as_json(log, &listing.records))?
    } else {
        print_paragraph(&as_text(log, &listing.records)?)?
    }
    if listing.unreadable.is_empty() { Ok(Exit::Success) } else { Ok(Exit::Incomplete) }
}

/// The evaluation of the last turn, which is the one that was answered.
fn evaluation(record: &Record) -> String {
    let last = record.summary.turns.last();
    last.map(|turn| turn.now.evaluation()).unwrap_or_default()
}

fn as_json(log: &LogContext<'_>, records: &[Record]) -> String {
    let rows = records.iter().map(|record| {
        let summary = &record.summary;
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
        let mut map = Map::new();
        map.insert("name", record.name.as_str());
        map.insert("file", log.shown(&record.file));
        map.insert("runs", runs(log, record));
        map.insert("updated", text(summary.updated()));
        map.insert("model", text(summary.model()));
        map.insert("turns", summary.turns.len() as u64);
        map.insert("evaluation", evaluation(record));
        Value::Map(map)
    });
    let mut document = Map::new();
    document.insert("schemaVersion", 1_u64);
    document.insert("records", rows.collect::<Vec<Value>>());
    json(document)
}

fn as_text(log: &LogContext<'_>, records: &[Record]) -> Result<String, CommandError> {
    if records.is_empty() {
        return Ok("no records\n".to_owned());
    }
    let mut newest: Vec<&Record> = records.iter().collect();
    newest.sort_by(|a, b| b.summary.updated().cmp(&a.summary.updated()));
    let width = records.iter().map(|one| one.name.width()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for record in newest {
        let padding = " ".repeat(width - record.name.width());
        let runs = runs(log, record);
        let line = format!(
            "{}{padding}  {runs:>4} {:4}  {:19}  {:8}  {}",
            record.name,
            if runs == 1 { "run" } else { "runs" },
            record.summary.updated().unwrap_or("-"),
            word(record),
            brief(record.summary.model().unwrap_or_default(), 40),
        );
        text += line.trim_end();
        text.push('\n');
    }
    let total = counted_noun(records.len(), "record");
    text += &format!("{total} in {}\n", log.shown(log.store.directory()));
    Ok(text)
}

fn word(record: &Record) -> &'static str {
    if record.summary.kind() == SummaryKind::Authored {
        return "authored";
    }
    match LoggedVerdict::of(&evaluation(record)) {
        LoggedVerdict::Pass => "pass",
        LoggedVerdict::Borderline => "border",
        LoggedVerdict::Fail => "fail",
        LoggedVerdict::Error => "error",
        LoggedVerdict::Ungraded => "-",
    }
}
