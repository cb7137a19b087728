//! A record of the run log: its turns, their history, and the messages of its runs.

use evalrig_core::model::{JsonStyle, Value};

use super::ServedRepository;
use super::answer::{Answer, failed, not_found, scriptless};
use super::markup::{Markup, document, encoded};
use super::overview_page::{STYLE, add_history, verdict_words};
use crate::report::html::page_style;
use crate::runlog::{HistoryEntry, Record, RunFile, Store, StoreError, Turn};
use crate::text::numbers;

/// Older entries of a turn are counted.
const MOST_ENTRIES: usize = 50;
const MOST_MESSAGES: usize = 500;

/// `run` is the number of a run whose messages are shown too.
pub(super) fn record_page(served: &ServedRepository, name: &str, run: Option<u64>) -> Answer {
    let stored = match StoredRecord::read(&Store::of_root(&served.root), name, run) {
        Ok(Some(stored)) => stored,
        Ok(None) => return not_found("There is no such record."),
        Err(error) => return failed(&served.secrets, &error),
    };
    let page = RecordPage { served, record: &stored.record, runs: &stored.runs };
    let body = page.body(stored.shown.as_ref());
    let style = page_style();
    let styles = [style.as_str(), STYLE];
    scriptless(document(&format!("{name} – evalrig"), &styles, &body), &styles)
}

/// What the page shows, as it is on disk.
struct StoredRecord {
    record: Record,
    /// Runs with a file.
    runs: Vec<u64>,
    shown: Option<(u64, RunFile)>,
}

impl StoredRecord {
    /// `None` if there is no such record.
    fn read(store: &Store, name: &str, run: Option<u64>) -> Result<Option<Self>, StoreError> {
        // Looked up, so that an address cannot name a file.
        if !store.names()?.iter().any(|known| known == name) {
            return Ok(None);
        }
        let record = store.read(name)?;
        let runs = store.run_numbers(name)?;
        let shown = match run.filter(|run| runs.contains(run)) {
            Some(run) => Some((run, store.run_file(name, run)?)),
            None => None,
        };
        Ok(Some(Self { record, runs, shown }))
    }
}

struct RecordPage<'a> {
    served: &'a ServedRepository,
    record: &'a Record,
    /// Runs with a file.
    runs: &'a [u64],
}

impl RecordPage<'_> {
    fn body(&self, shown: Option<&(u64, RunFile)>) -> Markup {
        let summary = &self.record.summary;
        let mut body = Markup::default();
        body.raw("<nav><a href=\"/\">All runs</a></nav>\n<header class=\"top\"><div>");
        body.element("h1", "", &self.redacted(&self.record.name)).raw("<p class=\"muted\">");
        let facts = [
            ("created", summary.created()),
            ("updated", summary.updated()),
            ("model", summary.model()),
        ];
        for (word, value) in facts {
            if let Some(value) = value {
                body.text(&format!("{word} {} ", self.redacted(value)));
            }
        }
        add_history(&mut body, self.record);
        body.raw("</p></div></header>\n<main>\n");
        if let Some((number, run)) = shown {
            self.add_run(&mut body, *number, run);
        }
        for (turn, number) in summary.turns.iter().zip(1_u64..) {
            self.add_turn(&mut body, turn, number);
        }
        body.raw("</main>\n");
        body
    }

    fn add_turn(&self, body: &mut Markup, turn: &Turn, number: u64) {
        body.raw("<section class=\"card turn\">").element("h2", "", &format!("Turn {number}"));
        body.element("pre", "", &self.redacted(&turn.input)).raw("<ol class=\"entries\">");
        for entry in turn.entries().take(MOST_ENTRIES) {
            self.add_entry(body, entry);
        }
        body.raw("</ol>");
        if let more @ 1.. = turn.entries().count().saturating_sub(MOST_ENTRIES) {
            let text = numbers::counted(more as u64, "older run is", "older runs are");
            body.element("p", "muted", &format!("{text} in the file."));
        }
        body.raw("</section>\n");
    }

    fn add_entry(&self, body: &mut Markup, entry: &HistoryEntry) {
        let (word, tone) = verdict_words(entry.verdict());
        let meta = entry.meta();
        body.raw("<li><p><span class=\"word ").raw(tone).raw("\">").text(word).raw("</span> ");
        if let Some(run) = entry.run() {
            let name = format!("run {run}");
            if self.runs.contains(&run) {
                let address = format!("/records/{}?run={run}", encoded(&self.record.name));
                body.link(&address, &name).raw(" ");
            } else {
                body.text(&name).raw(" ");
            }
        }
        let mut facts: Vec<String> = meta.ts.into_iter().collect();
        facts.extend(meta.tokens.map(|tokens| format!("{} tokens", numbers::count(tokens))));
        facts.extend(meta.cost.map(numbers::money));
        facts.extend(meta.duration_ms.map(numbers::duration));
        body.element("span", "muted", &facts.join(" · ")).raw("</p>");
        let tools = entry.tools_called();
        if !tools.is_empty() {
            body.element("p", "mono", &self.redacted(&tools.join(" → ")));
        }
        if let Some(output) = entry.output() {
            body.element("pre", "", &self.redacted(output));
        }
        let evaluation = entry.evaluation();
        if !evaluation.is_empty() {
            body.element("p", "", &self.redacted(&evaluation));
        }
        if !entry.expected().is_empty() {
            body.element("p", "muted", &format!("Expected: {}", self.redacted(entry.expected())));
        }
        body.raw("</li>");
    }

    fn add_run(&self, body: &mut Markup, number: u64, run: &RunFile) {
        body.raw("<section class=\"card turn\">");
        body.element("h2", "", &format!("Messages of run {number}"));
        let facts = [run.timestamp.as_str(), run.model.as_str()];
        body.element("p", "muted", &self.redacted(&facts.join(" ")));
        if !run.system_prompt.is_empty() {
            body.element("pre", "", &self.redacted(&run.system_prompt));
        }
        for message in run.messages.iter().take(MOST_MESSAGES) {
            body.element("pre", "", &self.redacted(&shown_message(message)));
        }
        body.raw("</section>\n");
    }

    fn redacted(&self, text: &str) -> String {
        self.served.secrets.redact(text)
    }
}

/// `role: content`, or the whole message as JSON if it has more than a text.
fn shown_message(message: &Value) -> String {
    let text = |key: &str| match message {
        Value::Map(map) => map.get(key).and_then(Value::as_str),
        _ => None,
    };
    match (text("role"), text("content")) {
        (Some(role), Some(content)) => format!("{role}: {content}"),
        _ => message.to_json(JsonStyle::Pretty),
    }
}
