//! `log list`: lists the records; the text shows the newest first.

use evalrig_core::model::{Map, Outcome, Value};
use evalrig_run::runlog::{LoggedVerdict, Record, SummaryKind};
use evalrig_run::text;
use evalrig_run::text::numbers::bytes;
use evalrig_run::text::paint::{Paint, Tone};
use unicode_width::UnicodeWidthStr;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_message, print_painted};

use super::{LogContext, brief, counted_noun, runs};

pub(super) fn run(log: &LogContext<'_>) -> Result<Exit, CommandError> {
    log.check()?;
    let listing = log.store.list()?;
    for fault in &listing.unreadable {
        print_message(&log.redacted(&fault.to_string()));
    }
    if log.is_json() {
        print_json(&as_json(log, &listing.records)?)?
    } else {
        print_painted(&log.redacted(&as_text(log, &listing.records)?))?
    }
    if listing.unreadable.is_empty() { Ok(Exit::Success) } else { Ok(Exit::Incomplete) }
}

/// The evaluation of the last turn, which is the one that was answered.
fn evaluation(record: &Record) -> String {
    let last = record.summary.turns.last();
    last.map(|turn| turn.now.evaluation()).unwrap_or_default()
}

fn as_json(log: &LogContext<'_>, records: &[Record]) -> Result<String, CommandError> {
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
    document.insert("bytes", log.store.size()?);
    Ok(log.json(document))
}

fn as_text(log: &LogContext<'_>, records: &[Record]) -> Result<String, CommandError> {
    if records.is_empty() {
        return Ok("no records\n".to_owned());
    }
    let style = log.context.look();
    let paint = Paint::new(style);
    let mut newest: Vec<&Record> = records.iter().collect();
    newest.sort_by(|a, b| b.summary.updated().cmp(&a.summary.updated()));
    let rows: Vec<RecordLine> = newest.iter().map(|record| RecordLine::of(log, record)).collect();
    let names = rows.iter().map(|row| paint.text(&row.name).width()).max().unwrap_or(0);
    let facts = rows.iter().map(|row| paint.text(&row.facts).width()).max().unwrap_or(0);
    // Scripts that read the text need whole names; a terminal needs whole lines.
    let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(facts + 4).max(12));
    let width = names.min(room);
    let mut text = String::new();
    for row in rows {
        let name = paint.cut(&row.name, width);
        let padding = " ".repeat(width.saturating_sub(name.width()));
        let sign = paint.tone(Tone::of(row.outcome), paint.sign(row.outcome));
        text += &format!("{sign} {name}{padding}  {}\n", paint.text(row.facts.trim_end()));
    }
    let total = counted_noun(records.len(), "record");
    let place = text::single_line(&log.shown(log.store.directory()));
    text += &format!("{total} in {place}, {}\n", bytes(log.store.size()?));
    Ok(text)
}

/// What the list shows of a record.
struct RecordLine {
    outcome: Outcome,
    name: String,
    facts: String,
}

impl RecordLine {
    fn of(log: &LogContext<'_>, record: &Record) -> Self {
        let runs = runs(log, record);
        let model = match record.summary.kind() {
            SummaryKind::Authored => "authored",
            _ => record.summary.model().unwrap_or_default(),
        };
        Self {
            outcome: outcome(record),
            name: text::single_line(&record.name),
            facts: format!(
                "{runs:>4} {:4}  {:19}  {}",
                if runs == 1 { "run" } else { "runs" },
                text::single_line(&brief(record.summary.updated().unwrap_or("-"), 19)),
                text::single_line(&brief(model, 24)),
            ),
        }
    }
}

/// How the newest run was graded; what was not graded was skipped.
fn outcome(record: &Record) -> Outcome {
    match LoggedVerdict::of(&evaluation(record)) {
        LoggedVerdict::Pass => Outcome::Passed,
        LoggedVerdict::Borderline => Outcome::Borderline,
        LoggedVerdict::Fail => Outcome::Failed,
        LoggedVerdict::Error => Outcome::Errored,
        LoggedVerdict::Ungraded => Outcome::Skipped,
    }
}
