//! A run that is over, and what a summary and a run file say of it (spec 13.3, 13.4).

use camino::Utf8PathBuf;
use evalrig_core::model::{Map, Value};

use super::history_entry::{HistoryEntry, Meta};
use super::run_file::{RunFile, system_prompt, with_spaced_arguments};
use super::summary::Summary;

/// One user message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// The prompt, which names the record when it is the first.
    pub text: String,
    /// `[file: a.csv]`, `[image]`: told apart in the input, and not part of the name.
    pub attachments: Vec<String>,
    /// What the assistant is scripted to have said; of the last message nothing.
    pub reply: Option<String>,
}

impl Asked {
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// As it stands in the summary.
    pub fn input(&self) -> String {
        if self.attachments.is_empty() {
            return self.text.clone();
        }
        let lines = std::iter::once(&self.text).filter(|text| !text.is_empty());
        let lines: Vec<&str> = lines.chain(&self.attachments).map(String::as_str).collect();
        lines.join("\n")
    }
}

/// A run that is over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewRun {
    /// The user messages in order; the record stands for them. At least one.
    pub asked: Vec<Asked>,
    /// The answer to the last of them.
    pub output: String,
    /// One line each, as [`super::tools_called`] writes them.
    pub tools_called: Vec<String>,
    /// `None` keeps what somebody wrote before.
    pub expected: Option<String>,
    /// `pass`, `fail: NOTES`, …; empty when not graded.
    pub evaluation: String,
    pub model: String,
    /// Where the agent ran.
    pub cwd: String,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    pub duration_ms: Option<u64>,
    /// Local time, as [`super::local_time`] writes it.
    pub timestamp: String,
    /// Sent and received, in the shape of chat APIs.
    pub messages: Vec<Value>,
}

impl NewRun {
    /// What the record stands for.
    pub(super) fn inputs(&self) -> Vec<String> {
        self.asked.iter().map(Asked::input).collect()
    }

    pub(super) fn file(&self) -> RunFile {
        let messages = self.messages.iter().cloned().map(with_spaced_arguments);
        let messages: Vec<Value> = messages.collect();
        RunFile {
            system_prompt: system_prompt(&messages),
            model: self.model.clone(),
            cwd: self.cwd.clone(),
            tokens: self.tokens,
            cost: self.cost_usd,
            duration_ms: self.duration_ms,
            timestamp: self.timestamp.clone(),
            messages,
        }
    }
}

/// Where a run was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub name: String,
    pub file: Utf8PathBuf,
    pub run: u64,
    /// What somebody should know, such as a file that was set aside.
    pub warnings: Vec<String>,
}

/// The run becomes the newest of every turn.
pub(super) fn enter(summary: &mut Summary, run: u64, new: &NewRun) {
    let last = new.asked.len() - 1;
    for (at, (turn, asked)) in summary.turns.iter_mut().zip(&new.asked).enumerate() {
        let written = turn.now.expected().to_owned();
        let entry = if at == last {
            answered(run, new, written)
        } else {
            scripted(run, new, asked, written)
        };
        turn.advance(entry);
    }
    if !summary.has("created") {
        summary.set("created", new.timestamp.as_str());
    }
    summary.set("updated", new.timestamp.as_str());
    summary.set("runs", run);
    summary.set("model", new.model.as_str());
}

/// `written`: what a person expects of this turn.
fn answered(run: u64, new: &NewRun, written: String) -> HistoryEntry {
    let meta = Meta {
        tokens: new.tokens,
        cost: new.cost_usd,
        duration_ms: new.duration_ms,
        ts: Some(new.timestamp.clone()),
    };
    let mut map = Map::new();
    map.insert("run", run);
    map.insert("output", new.output.as_str());
    let tools = new
        .tools_called
        .iter()
        .map(|call| Value::from(call.as_str()));
    map.insert("tools_called", tools.collect::<Vec<Value>>());
    map.insert("expected", new.expected.clone().unwrap_or(written));
    map.insert("evaluation", new.evaluation.as_str());
    map.insert("meta", meta.to_text());
    HistoryEntry::new(map)
}

/// Nobody was asked: the test says what came next.
fn scripted(run: u64, new: &NewRun, asked: &Asked, written: String) -> HistoryEntry {
    let meta = Meta {
        tokens: Some(0),
        cost: Some(0.0),
        duration_ms: Some(0),
        ts: Some(new.timestamp.clone()),
    };
    let mut map = Map::new();
    map.insert("run", run);
    map.insert("output", asked.reply.as_deref().unwrap_or_default());
    map.insert("tools_called", Vec::<Value>::new());
    map.insert("expected", written);
    map.insert("evaluation", "");
    map.insert("meta", meta.to_text());
    HistoryEntry::new(map)
}
