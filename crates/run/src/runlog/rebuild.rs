//! Rebuilds summaries from run files after a crash or the loss of a summary.

use evalrig_core::model::{Map, Value};

use super::dialogue::Dialogue;
use super::history_entry::{HistoryEntry, RunMeta};
use super::new_run::UserMessage;
use super::run_file::RunFile;
use super::summary::{RecordSummary, Turn};

/// Inserts a run by its number.
pub(super) fn adopt_run(summary: &mut RecordSummary, run: u64, file: &RunFile) {
    let spoken = Dialogue::of(&file.messages);
    let count = summary.turns.len();
    for (at, turn) in summary.turns.iter_mut().enumerate() {
        let entry = if at + 1 == count {
            last_entry(run, file, &spoken)
        } else {
            earlier_entry(run, file, spoken.asked.get(at))
        };
        insert_entry(turn, run, entry);
    }
}

fn insert_entry(turn: &mut Turn, run: u64, mut entry: HistoryEntry) {
    if turn.now.run().is_none_or(|now| now < run) {
        // As `append_run` does.
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

/// `None` if no run file has a user message.
pub(super) fn rebuild_summary(name: &str, runs: &[(u64, RunFile)]) -> Option<RecordSummary> {
    let spoken = runs.iter().rev().map(|(_, file)| Dialogue::of(&file.messages));
    let asked = spoken.map(|one| one.asked).find(|asked| !asked.is_empty())?;
    let inputs: Vec<String> = asked.iter().map(UserMessage::input).collect();
    let mut summary = RecordSummary::new(name, &inputs);
    for (run, file) in runs {
        adopt_run(&mut summary, *run, file);
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
    let meta = RunMeta {
        tokens: file.tokens,
        cost: file.cost,
        duration_ms: file.duration_ms,
        ts: (!file.timestamp.is_empty()).then(|| file.timestamp.clone()),
    };
    let tools = spoken.tools_called.iter();
    let tools = tools.map(|call| Value::from(call.as_str())).collect();
    new_entry(run, spoken.output.as_deref(), tools, &meta)
}

fn earlier_entry(run: u64, file: &RunFile, asked: Option<&UserMessage>) -> HistoryEntry {
    let meta = RunMeta {
        tokens: Some(0),
        cost: Some(0.0),
        duration_ms: Some(0),
        ts: (!file.timestamp.is_empty()).then(|| file.timestamp.clone()),
    };
    let reply = asked.and_then(|asked| asked.reply.as_deref());
    new_entry(run, reply, Vec::new(), &meta)
}

fn new_entry(run: u64, output: Option<&str>, tools: Vec<Value>, meta: &RunMeta) -> HistoryEntry {
    let mut map = Map::new();
    map.insert("run", run);
    map.insert("output", output.unwrap_or_default());
    map.insert("tools_called", tools);
    map.insert("expected", "");
    map.insert("evaluation", "");
    map.insert("meta", meta.to_text());
    HistoryEntry::new(map)
}
