//! `log list`: lists the records; the text shows the newest first.

use evalrig_core::model::{Map, Value};
use evalrig_run::runlog::{LoggedVerdict, Record, SummaryKind};
use evalrig_run::text;
use unicode_width::UnicodeWidthStr;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_message, print_text};

use super::{LogContext, brief, counted_noun, runs};

pub(super) fn run(log: &LogContext<'_>) -> Result<Exit, CommandError> {
    log.check()?;
    let listing = log.store.list()?;
    for fault in &listing.unreadable {
        print_message(&log.redacted(&fault.to_string()));
    }
    if log.is_json() {
        print_json(&as_json(log, &listing.records))?
    } else {
        print_text(&log.redacted(&as_text(log, &listing.records)?))?
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
    log.json(document)
}

fn as_text(log: &LogContext<'_>, records: &[Record]) -> Result<String, CommandError> {
    if records.is_empty() {
        return Ok("no records\n".to_owned());
    }
    let mut newest: Vec<&Record> = records.iter().collect();
    newest.sort_by(|a, b| b.summary.updated().cmp(&a.summary.updated()));
    let name = |record: &Record| text::single_line(&record.name);
    let width = records.iter().map(|one| name(one).width()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for record in newest {
        let name = name(record);
        let padding = " ".repeat(width - name.width());
        let runs = runs(log, record);
        let line = format!(
            "{name}{padding}  {runs:>4} {:4}  {:19}  {:8}  {}",
            if runs == 1 { "run" } else { "runs" },
            brief(record.summary.updated().unwrap_or("-"), 40),
            word(record),
            brief(record.summary.model().unwrap_or_default(), 40),
        );
        text += line.trim_end();
        text.push('\n');
    }
    let total = counted_noun(records.len(), "record");
    text += &format!("{total} in {}\n", text::single_line(&log.shown(log.store.directory())));
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
