//! `log prune`: a smaller store.

use evalrig_core::model::{Map, Value};
use evalrig_run::runlog::{Doing, Keep, Pruned};

use crate::context::print;
use crate::exit::Exit;

use super::args::Prune;
use super::{Desk, counted_noun, json, refuse, tell};

pub(super) fn run(desk: &Desk<'_>, args: &Prune) -> Result<Exit, Exit> {
    desk.check()?;
    let keep = Keep {
        runs: args.keep_runs,
        history: args.keep_history,
        records: args.keep_records,
    };
    let doing = if args.dry_run {
        Doing::List
    } else {
        Doing::Delete
    };
    let pruned = desk.store.prune(keep, doing).map_err(refuse)?;
    if desk.is_json() {
        print(&as_json(desk, &pruned, doing))?
    } else {
        tell(&as_text(desk, &pruned, doing))?
    }
    Ok(Exit::Well)
}

fn as_json(desk: &Desk<'_>, pruned: &Pruned, doing: Doing) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion", 1_u64);
    document.insert("dryRun", doing == Doing::List);
    let records: Vec<Value> = pruned
        .records
        .iter()
        .map(|one| one.as_str().into())
        .collect();
    document.insert("records", records);
    let files: Vec<Value> = pruned
        .files
        .iter()
        .map(|path| desk.shown(path).into())
        .collect();
    document.insert("files", files);
    let history = pruned.history.iter().map(|(name, entries)| {
        let mut map = Map::new();
        map.insert("name", name.as_str());
        map.insert("entries", *entries as u64);
        Value::Map(map)
    });
    document.insert("history", history.collect::<Vec<Value>>());
    json(document)
}

fn as_text(desk: &Desk<'_>, pruned: &Pruned, doing: Doing) -> String {
    if pruned.is_empty() {
        return "nothing to delete\n".to_owned();
    }
    let verb = match doing {
        Doing::List => "would delete",
        Doing::Delete => "deleted",
    };
    let mut text = String::new();
    for path in &pruned.files {
        text += &format!("{verb} {}\n", desk.shown(path));
    }
    for (name, entries) in &pruned.history {
        let what = match entries {
            1 => "1 entry".to_owned(),
            _ => format!("{entries} entries"),
        };
        text += &format!("{verb} {what} of the history of {name}\n");
    }
    text += &format!(
        "{verb} {} and {}\n",
        counted_noun(pruned.files.len(), "file"),
        counted_noun(pruned.records.len(), "record"),
    );
    text
}
