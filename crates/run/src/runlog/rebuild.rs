//! Summaries made from run files: what a crash or a lost summary leaves.

use evalrig_core::model::{Map, Value};

use super::dialogue::Dialogue;
use super::history_entry::{HistoryEntry, Meta};
use super::new_run::Asked;
use super::run_file::RunFile;
use super::summary::{Summary, Turn};

/// Enters a run in its place. It becomes the newest when it is.
pub(super) fn adopt(summary: &mut Summary, run: u64, file: &RunFile) {
    let spoken = Dialogue::of(&file.messages);
    let count = summary.turns.len();
    for (at, turn) in summary.turns.iter_mut().enumerate() {
        let entry = if at + 1 == count {
            last_entry(run, file, &spoken)
        } else {
            earlier_entry(run, file, spoken.asked.get(at))
        };
        enter(turn, run, entry);
    }
}

fn enter(turn: &mut Turn, run: u64, mut entry: HistoryEntry) {
    if turn.now.run().is_none_or(|now| now < run) {
        // As the writer would have done.
        let expected = turn.now.expected().to_owned();
        entry.set("expected", expected);
        turn.advance(entry);
        return;
    }
    let older = turn.history.iter();
    let at = older.take_while(|other| other.run().is_some_and(|other| other > run));
    let at = at.count();
    turn.history.insert(at, entry);
}

/// A whole summary; `None` when no run says what was asked.
pub(super) fn rebuilt(name: &str, runs: &[(u64, RunFile)]) -> Option<Summary> {
    let spoken = runs
        .iter()
        .rev()
        .map(|(_, file)| Dialogue::of(&file.messages));
    let asked = spoken
        .map(|one| one.asked)
        .find(|asked| !asked.is_empty())?;
    let inputs: Vec<String> = asked.iter().map(Asked::input).collect();
    let mut summary = Summary::new(name, &inputs);
    for (run, file) in runs {
        adopt(&mut summary, *run, file);
        if !summary.has("created") {
            summary.set("created", file.timestamp.as_str());
        }
        summary.set("updated", file.timestamp.as_str());
        summary.set("runs", *run);
        summary.set("model", file.model.as_str());
    }
    Some(summary)
}

fn last_entry(run: u64, file: &RunFile, spoken: &Dialogue) -> HistoryEntry {
    let meta = Meta {
        tokens: file.tokens,
        cost: file.cost,
        duration_ms: file.duration_ms,
        ts: (!file.timestamp.is_empty()).then(|| file.timestamp.clone()),
    };
    let tools = spoken.tools_called.iter();
    let tools = tools.map(|call| Value::from(call.as_str())).collect();
    entry(run, spoken.output.as_deref(), tools, &meta)
}

fn earlier_entry(run: u64, file: &RunFile, asked: Option<&Asked>) -> HistoryEntry {
    let meta = Meta {
        tokens: Some(0),
        cost: Some(0.0),
        duration_ms: Some(0),
        ts: (!file.timestamp.is_empty()).then(|| file.timestamp.clone()),
    };
    let reply = asked.and_then(|asked| asked.reply.as_deref());
    entry(run, reply, Vec::new(), &meta)
}

fn entry(run: u64, output: Option<&str>, tools: Vec<Value>, meta: &Meta) -> HistoryEntry {
    let mut map = Map::new();
    map.insert("run", run);
    map.insert("output", output.unwrap_or_default());
    map.insert("tools_called", tools);
    map.insert("expected", "");
    map.insert("evaluation", "");
    map.insert("meta", meta.to_text());
    HistoryEntry::new(map)
}
