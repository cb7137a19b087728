//! Adding a run to its record, so that no writer and no crash loses one (`FORMAT.md` 13.6).
//!
//! Order: the run file first, then the summary. A crash in between leaves a run file that no
//! summary mentions; the next writer takes a higher number.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Map, Value};

use super::fault::StoreError;
use super::history::{Entry, Meta};
use super::lock::Lock;
use super::place::place;
use super::run_file::{RunFile, system_prompt, with_spaced_arguments};
use super::slug::{names, slug};
use super::store::{Found, Store};
use super::summary::{Kind, Summary};

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

/// Where a run was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub name: String,
    pub file: Utf8PathBuf,
    pub run: u64,
    /// What somebody should know, such as a file that was set aside.
    pub warnings: Vec<String>,
}

impl Store {
    /// Adds the run to the record of its input sequence, which is made when there is none.
    pub fn record(&self, new: &NewRun) -> Result<Recorded, StoreError> {
        let first = new.asked.first().ok_or(StoreError::NoInput)?;
        let inputs: Vec<String> = new.asked.iter().map(Asked::input).collect();
        let _lock = Lock::take(self.directory())?;
        let mut warnings = Vec::new();
        let (name, summary) = self.home(&slug(&first.text), &inputs, &mut warnings)?;
        let run = self.next_run(&name, &summary)?;
        self.write_run(&name, run, new)?;
        let file = self.summary_path(&name);
        place(&file, &with_run(summary, run, new).to_yaml())?;
        Ok(Recorded {
            name,
            file,
            run,
            warnings,
        })
    }

    /// The first name that is free or belongs to exactly this input.
    fn home(
        &self,
        slug: &str,
        inputs: &[String],
        warnings: &mut Vec<String>,
    ) -> Result<(String, Summary), StoreError> {
        for name in names(slug) {
            match self.found(&name)? {
                Found::Nothing => {
                    let summary = Summary::new(&name, inputs);
                    return Ok((name, summary));
                }
                Found::Corrupt(reason) => {
                    warnings.push(self.set_aside(&name, &reason)?);
                    let summary = Summary::new(&name, inputs);
                    return Ok((name, summary));
                }
                Found::Summary(summary) => {
                    if summary.kind() == Kind::Record && summary.inputs().eq(inputs) {
                        return Ok((name, summary));
                    }
                }
            }
        }
        unreachable!("there is always another number")
    }

    /// Renames a summary that cannot be read; what to tell people.
    pub(super) fn set_aside(&self, name: &str, reason: &str) -> Result<String, StoreError> {
        let path = self.summary_path(name);
        let aside = (1_u64..)
            .map(|number| Utf8PathBuf::from(format!("{path}.corrupt.{number}")))
            .find(|aside| aside.symlink_metadata().is_err())
            .unwrap_or_else(|| path.clone());
        fs::rename(&path, &aside).map_err(|error| StoreError::io("set aside", &path, error))?;
        let shown = aside.file_name().unwrap_or_default();
        Ok(format!(
            "`{path}` cannot be understood: {reason}; it was set aside as `{shown}` and a new record begun"
        ))
    }

    /// One more than anybody has used, on disk or in the summary.
    fn next_run(&self, name: &str, summary: &Summary) -> Result<u64, StoreError> {
        let on_disk = self.run_numbers(name)?;
        let highest = on_disk.last().copied().unwrap_or(0);
        Ok(highest.max(summary.highest_run()).saturating_add(1))
    }

    fn write_run(&self, name: &str, run: u64, new: &NewRun) -> Result<(), StoreError> {
        let directory = self.run_directory(name);
        make_directory(&directory)?;
        let messages = new.messages.iter().cloned().map(with_spaced_arguments);
        let messages: Vec<Value> = messages.collect();
        let file = RunFile {
            system_prompt: system_prompt(&messages),
            model: new.model.clone(),
            cwd: new.cwd.clone(),
            tokens: new.tokens,
            cost: new.cost_usd,
            duration_ms: new.duration_ms,
            timestamp: new.timestamp.clone(),
            messages,
        };
        place(&self.run_path(name, run), &file.to_text())
    }
}

fn make_directory(path: &Utf8Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(|error| StoreError::io("made", path, error))
}

fn with_run(mut summary: Summary, run: u64, new: &NewRun) -> Summary {
    let last = new.asked.len() - 1;
    for (at, (turn, asked)) in summary.turns.iter_mut().zip(&new.asked).enumerate() {
        let written = turn.now.expected().to_owned();
        let entry = match at == last {
            true => answered(run, new, written),
            false => scripted(run, new, asked, written),
        };
        turn.advance(entry);
    }
    if !summary.has("created") {
        summary.set("created", new.timestamp.as_str());
    }
    summary.set("updated", new.timestamp.as_str());
    summary.set("runs", run);
    summary.set("model", new.model.as_str());
    summary
}

/// `written`: what a person expects of this turn.
fn answered(run: u64, new: &NewRun, written: String) -> Entry {
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
    Entry::new(map)
}

/// Nobody was asked: the test says what came next.
fn scripted(run: u64, new: &NewRun, asked: &Asked, written: String) -> Entry {
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
    Entry::new(map)
}
