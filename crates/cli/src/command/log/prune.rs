//! `log prune`: deletes old runs and records.

use evalrig_core::model::{Map, Value};
use evalrig_run::runlog::{PruneMode, Pruned, Retention};
use evalrig_run::text;

use crate::error::CommandError;
use crate::exit::Exit;

use super::{LogContext, counted_noun};
use crate::args::Prune;
use crate::output::{print_json, print_text};

pub(super) fn run(log: &LogContext<'_>, args: &Prune) -> Result<Exit, CommandError> {
    log.check()?;
    let retention =
        Retention { runs: args.keep_runs, history: args.keep_history, records: args.keep_records };
    let mode = if args.dry_run { PruneMode::List } else { PruneMode::Delete };
    let pruned = log.store.prune(retention, mode)?;
    if log.is_json() {
        print_json(&as_json(log, &pruned, mode))?
    } else {
        print_text(&log.redacted(&as_text(log, &pruned, mode)))?
    }
    Ok(Exit::Success)
}

fn as_json(log: &LogContext<'_>, pruned: &Pruned, mode: PruneMode) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion", 1_u64);
    document.insert("dryRun", mode == PruneMode::List);
    let records: Vec<Value> = pruned.records.iter().map(|one| one.as_str().into()).collect();
    document.insert("records", records);
    let files: Vec<Value> = pruned.files.iter().map(|path| log.shown(path).into()).collect();
    document.insert("files", files);
    let history = pruned.history.iter().map(|(name, entries)| {
        let mut map = Map::new();
        map.insert("name", name.as_str());
        map.insert("entries", *entries as u64);
        Value::Map(map)
    });
    document.insert("history", history.collect::<Vec<Value>>());
    log.json(document)
}

fn as_text(log: &LogContext<'_>, pruned: &Pruned, mode: PruneMode) -> String {
    if pruned.is_empty() {
        return "nothing to delete\n".to_owned();
    }
    let verb = match mode {
        PruneMode::List => "would delete",
        PruneMode::Delete => "deleted",
    };
    let mut text = String::new();
    for path in &pruned.files {
        text += &format!("{verb} {}\n", text::single_line(&log.shown(path)));
    }
    for (name, entries) in &pruned.history {
        let what = match entries {
            1 => "1 entry".to_owned(),
            _ => format!("{entries} entries"),
        };
        text += &format!("{verb} {what} of the history of {}\n", text::single_line(name));
    }
    text += &format!(
        "{verb} {} and {}\n",
        counted_noun(pruned.files.len(), "file"),
        counted_noun(pruned.records.len(), "record"),
    );
    text
}
