//! A finished run, and how it is written to the summary and the run file (spec 13.3, 13.4).

use camino::Utf8PathBuf;
use evalrig_core::model::{Map, Value};

use super::history_entry::{HistoryEntry, RunMeta};
use super::run_file::{RunFile, system_prompt, with_spaced_arguments};
use super::summary::RecordSummary;

/// One user message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserMessage {
    /// The prompt; the first one gives the record its name.
    pub text: String,
    /// `[file: a.csv]`, `[image]`: part of the input, but not of the name.
    pub attachments: Vec<String>,
    /// The scripted answer of the assistant; `None` for the last message.
    pub reply: Option<String>,
}

impl UserMessage {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// As written in the summary.
    pub fn input(&self) -> String {
        if self.attachments.is_empty() {
            return self.text.clone();
        }
        let lines = std::iter::once(&self.text).filter(|text| !text.is_empty());
        let lines: Vec<&str> = lines.chain(&self.attachments).map(String::as_str).collect();
        lines.join("\n")
    }
}

/// A finished run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewRun {
    /// The user messages in order, at least one. They identify the record.
    pub asked: Vec<UserMessage>,
    /// The answer to the last user message.
    pub output: String,
    /// One line each, as [`super::tools_called`] writes them.
    pub tools_called: Vec<String>,
    /// `None` keeps the value already in the record.
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
    /// The messages that identify the record.
    pub(super) fn inputs(&self) -> Vec<String> {
        self.asked.iter().map(UserMessage::input).collect()
    }

    /// `kept` is the `expected` that stays in the summary, because a person wrote it.
    pub(super) fn to_run_file(&self, kept: Option<&str>) -> RunFile {
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
            expected: match kept {
                Some(_) => None,
                None => self.expected.clone().filter(|expected| !expected.is_empty()),
            },
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
    /// For the user, such as a corrupt file that was renamed.
    pub warnings: Vec<String>,
}

/// Makes the run the newest of every turn. `kept` is the `expected` of the last turn that stays.
pub(super) fn append_run(summary: &mut RecordSummary, run: u64, new: &NewRun, kept: Option<&str>) {
    let last = new.asked.len() - 1;
    for (at, (turn, asked)) in summary.turns.iter_mut().zip(&new.asked).enumerate() {
        let written = turn.now.expected().to_owned();
        let entry = if at == last {
            let expected = kept.or(new.expected.as_deref());
            let expected = expected.map_or(written, str::to_owned);
            answered_entry(run, new, expected)
        } else {
            scripted_entry(run, new, asked, written)
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

fn answered_entry(run: u64, new: &NewRun, expected: String) -> HistoryEntry {
    let meta = RunMeta {
        tokens: new.tokens,
        cost: new.cost_usd,
        duration_ms: new.duration_ms,
        ts: Some(new.timestamp.clone()),
    };
    let mut map = Map::new();
    map.insert("run", run);
    map.insert("output", new.output.as_str());
    let tools = new.tools_called.iter().map(|call| Value::from(call.as_str()));
    map.insert("tools_called", tools.collect::<Vec<Value>>());
    map.insert("expected", expected);
    map.insert("evaluation", new.evaluation.as_str());
    map.insert("meta", meta.to_text());
    HistoryEntry::new(map)
}

/// The test scripts the answer to this turn; no agent was called.
fn scripted_entry(run: u64, new: &NewRun, asked: &UserMessage, written: String) -> HistoryEntry {
    let meta = RunMeta {
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
