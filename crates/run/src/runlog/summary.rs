//! `<slug>.yaml`: the newest run of every turn with older runs below (spec 13.3, 13.5).
//!
//! Unknown keys survive a rewrite at every level. Text keys keep their spelling in the file, so
//! YAML 1.1 and 1.2 give the same result.

use std::collections::HashMap;

use evalrig_core::model::{Map, Value};
use evalrig_core::syntax::edit::raw_value;
use evalrig_core::syntax::{EmitStyle, LineBreaks, Node, decode, lone_tree, to_yaml};

use super::history_entry::{HistoryEntry, KEYS, OTHER_DIALECT_KEYS, read_count, read_history};

const STYLE: EmitStyle = EmitStyle { compact_lists: true, line_breaks: LineBreaks::Escaped };

/// Keys whose value is always read as text, in addition to those of entries.
const TEXT_KEYS: &[&str] = &["name", "created", "updated", "model", "input"];

/// Keys of the root in output order, without `turns`.
const ROOT_KEYS: &[&str] = &["name", "created", "updated", "runs", "model"];

/// Whether a log or a person owns the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryKind {
    /// A log that writers add to.
    Record,
    /// A `co eval` file, written by a person. Never rewritten.
    Authored,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecordSummary {
    /// All keys except `turns`; known keys may be missing.
    root: Map,
    pub turns: Vec<Turn>,
}

/// One user message and its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub input: String,
    /// The newest run.
    pub now: HistoryEntry,
    /// Older runs, newest first.
    pub history: Vec<HistoryEntry>,
    unknown: Map,
}

impl Turn {
    pub(super) fn new(input: String) -> Self {
        Self { input, now: HistoryEntry::default(), history: Vec::new(), unknown: Map::new() }
    }

    /// The newest run, then the older ones.
    pub fn entries(&self) -> impl Iterator<Item = &HistoryEntry> {
        std::iter::once(&self.now).chain(&self.history)
    }

    pub fn entry_of(&self, run: u64) -> Option<&HistoryEntry> {
        self.entries().find(|entry| entry.run() == Some(run))
    }

    /// Whether the history has a known shape or is missing.
    pub(super) fn has_known_history(&self) -> bool {
        self.unknown.get("history").is_none()
    }

    /// Whether the history has a known shape and this many entries.
    pub(super) fn has_history_of(&self, entries: usize) -> bool {
        self.history.len() == entries && self.has_known_history()
    }

    /// Makes the run the newest and moves the previous one to the front of the history.
    pub(super) fn advance(&mut self, new: HistoryEntry) {
        let old = std::mem::replace(&mut self.now, new);
        if !old.is_empty() {
            self.history.insert(0, old);
        }
    }
}

impl RecordSummary {
    pub(super) fn new(name: &str, inputs: &[String]) -> Self {
        let mut root = Map::new();
        root.insert("name", name);
        Self { root, turns: inputs.iter().cloned().map(Turn::new).collect() }
    }

    /// Fails with a reason for the user: not UTF-8, not YAML or not a mapping.
    pub fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let (text, _) = decode(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        Self::read_text(text)
    }

    pub(super) fn read_text(text: String) -> Result<Self, String> {
        let tree = lone_tree(text).map_err(|reason| format!("it is not YAML: {reason}"))?;
        if tree.root().is_mapping() {
            Ok(read_root(tree.root()))
        } else {
            Err("it is not a mapping".to_owned())
        }
    }

    pub fn kind(&self) -> SummaryKind {
        let has = |key| self.root.get(key).is_some();
        if has("agent") || has("expected") { SummaryKind::Authored } else { SummaryKind::Record }
    }

    pub fn name(&self) -> &str {
        self.text("name").unwrap_or_default()
    }

    pub fn created(&self) -> Option<&str> {
        self.text("created")
    }

    pub fn updated(&self) -> Option<&str> {
        self.text("updated")
    }

    pub fn model(&self) -> Option<&str> {
        self.text("model")
    }

    /// What a `co eval` file expects of the whole conversation.
    pub fn expected(&self) -> Option<&str> {
        self.text("expected")
    }

    /// The value of `runs`, which may be too small.
    pub fn runs(&self) -> Option<u64> {
        self.root.get("runs").and_then(read_count)
    }

    /// The highest run number in the file, or 0.
    pub fn highest_run(&self) -> u64 {
        let entries = self.turns.iter().flat_map(Turn::entries);
        let highest = entries.filter_map(HistoryEntry::run).max();
        highest.max(self.runs()).unwrap_or(0)
    }

    /// The run numbers of all turns, highest first.
    pub fn mentioned_runs(&self) -> Vec<u64> {
        let entries = self.turns.iter().flat_map(Turn::entries);
        let mut runs: Vec<u64> = entries.filter_map(HistoryEntry::run).collect();
        runs.sort_unstable_by(|a, b| b.cmp(a));
        runs.dedup();
        runs
    }

    /// The user messages in order, which identify the record.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.turns.iter().map(|turn| turn.input.as_str())
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.root.insert(key, value);
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.root.get(key).is_some()
    }

    /// Whether the root has no keys besides those that evalrig writes.
    pub(super) fn has_only_known_keys(&self) -> bool {
        self.root.iter().all(|(key, _)| ROOT_KEYS.contains(&key))
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.root.get(key).and_then(Value::as_str)
    }

    /// Known keys in output order, then all others.
    pub fn to_value(&self) -> Value {
        let mut map = ordered_by(&self.root, ROOT_KEYS);
        if self.root.get("turns").is_none() {
            let turns: Vec<Value> = self.turns.iter().map(Turn::to_value).collect();
            map.insert("turns", turns);
        }
        add_missing(&mut map, &self.root);
        Value::Map(map)
    }

    pub fn to_yaml(&self) -> String {
        to_yaml(&self.to_value(), &STYLE)
    }
}

impl Turn {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        if self.unknown.get("input").is_none() {
            map.insert("input", self.input.as_str());
        }
        for (key, value) in ordered_by(self.now.map(), KEYS) {
            map.insert(key, value);
        }
        if self.unknown.get("history").is_none() {
            let history = self.history.iter();
            let history = history.map(|entry| Value::Map(entry.map().clone()));
            map.insert("history", history.collect::<Vec<Value>>());
        }
        add_missing(&mut map, self.now.map());
        add_missing(&mut map, &self.unknown);
        Value::Map(map)
    }
}

fn ordered_by(map: &Map, keys: &[&str]) -> Map {
    let mut ordered = Map::new();
    for key in keys {
        ordered.insert_some(*key, map.get(key).cloned());
    }
    ordered
}

fn add_missing(map: &mut Map, from: &Map) {
    for (key, value) in from.iter() {
        if map.get(key).is_none() {
            map.insert(key, value.clone());
        }
    }
}

fn read_root(node: Node<'_>) -> RecordSummary {
    let mut summary = RecordSummary { root: Map::new(), turns: Vec::new() };
    for (key, value) in named_entries(node) {
        let is_turns = key == "turns" && value.items().all(Node::is_mapping);
        if is_turns && (value.is_sequence() || value.is_null()) {
            summary.turns = value.items().map(read_turn).collect()
        } else {
            summary.root.insert(key, field_value(key, value))
        }
    }
    summary
}

fn read_turn(node: Node<'_>) -> Turn {
    let mut turn = Turn::new(String::new());
    let mut now = Map::new();
    for (key, value) in named_entries(node) {
        let read = field_value(key, value);
        match (key, read) {
            ("input", Value::String(text)) => turn.input = text,
            ("history", history) => match read_turn_history(value, history) {
                Ok(entries) => turn.history = entries,
                Err(unknown) => turn.unknown.insert(key, unknown),
            },
            (key, read) if KEYS.contains(&key) || OTHER_DIALECT_KEYS.contains(&key) => {
                now.insert(key, read);
            }
            (key, read) => turn.unknown.insert(key, read),
        }
    }
    turn.now = HistoryEntry::new(now);
    turn
}

fn read_turn_history(node: Node<'_>, read: Value) -> Result<Vec<HistoryEntry>, Value> {
    if node.is_sequence() && node.items().all(Node::is_mapping) {
        return Ok(node.items().map(read_entry).collect());
    }
    read_history(read)
}

fn read_entry(node: Node<'_>) -> HistoryEntry {
    let entries = named_entries(node);
    let map: Map = entries.map(|(key, value)| (key.to_owned(), field_value(key, value))).collect();
    HistoryEntry::new(map)
}

/// If a key is repeated, the last one wins.
fn named_entries<'t>(node: Node<'t>) -> impl Iterator<Item = (&'t str, Node<'t>)> {
    let entries = node.entries().into_iter();
    let entries = entries.filter_map(|(key, value)| Some((key.scalar_text()?, value)));
    let entries: Vec<(&str, Node<'_>)> = entries.collect();
    let places = entries.iter().enumerate();
    let last: HashMap<&str, usize> = places.map(|(at, (key, _))| (*key, at)).collect();
    let counting = entries.into_iter().enumerate();
    let counting = counting.filter(move |(at, (key, _))| last.get(key) == Some(at));
    counting.map(|(_, entry)| entry)
}

fn field_value(key: &str, node: Node<'_>) -> Value {
    if key == "tools_called" && node.is_sequence() {
        return Value::List(node.items().map(text_value).collect());
    }
    if TEXT_KEYS.contains(&key) || HistoryEntry::is_text(key) {
        text_value(node)
    } else {
        raw_value(node)
    }
}

/// YAML 1.1 and 1.2 disagree on `0o7`, `1e3` and `yes`; here they are text.
fn text_value(node: Node<'_>) -> Value {
    match node.scalar_text() {
        Some(text) if !node.is_null() => text.into(),
        Some(_) => "".into(),
        None => raw_value(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RecordSummary {
        RecordSummary::read(text.as_bytes().to_vec()).unwrap()
    }

    /// The worked file of spec 13.3.
    pub(super) const WORKED: &str = include_str!("worked_summary.yaml");

    #[test]
    fn the_worked_file_comes_back_byte_for_byte() {
        assert_eq!(read(WORKED).to_yaml(), WORKED);
    }

    #[test]
    fn the_worked_file_is_parsed() {
        let summary = read(WORKED);
        assert_eq!(summary.name(), "say_hello_to_alice");
        assert_eq!((summary.runs(), summary.highest_run()), (Some(2), 2));
        assert_eq!(summary.mentioned_runs(), [2, 1]);
        assert_eq!(summary.kind(), SummaryKind::Record);
        let turn = &summary.turns[0];
        assert_eq!(turn.entry_of(1).unwrap().meta().duration_ms, Some(4438));
        assert!(turn.entry_of(3).is_none());
    }

    #[test]
    fn unknown_keys_follow_the_known_ones() {
        let text = "zoo: {a: 1.50}\nturns:\n- note: mine\n  history:\n  - {run: 1, x: [1]}\n  input: Hi\n  run: 2\nname: hi\n";
        let written = "\
name: hi
turns:
- input: Hi
  run: 2
  history:
  - run: 1
    x:
    - 1
  note: mine
zoo:
  a: 1.50
";
        assert_eq!(read(text).to_yaml(), written);
        assert_eq!(read(written).to_yaml(), written);
    }

    #[test]
    fn old_entries_stay_as_they_are() {
        let text = "\
name: hi
turns:
- input: Hi
  run: 2
  history:
  - meta: '{}'
    status: pass
    run: 1
";
        assert_eq!(read(text).to_yaml(), text);
    }

    #[test]
    fn text_keys_keep_their_spelling() {
        let text = "name: 0o17\nturns:\n- input: yes\n  output: 1e3\n  expected:\n  tools_called: [1e3]\n  history: '[]'\n";
        let summary = read(text);
        let turn = &summary.turns[0];
        assert_eq!((summary.name(), turn.input.as_str()), ("0o17", "yes"));
        assert_eq!(turn.now.output(), Some("1e3"));
        assert_eq!(turn.now.tools_called(), ["1e3"]);
        let written = summary.to_yaml();
        assert!(written.contains("input: 'yes'\n  output: '1e3'"), "{written}");
        assert!(written.contains("expected: ''\n  history: []\n"), "{written}");
    }

    #[test]
    fn a_history_in_a_json_string_becomes_a_list() {
        let text =
            "turns:\n- input: a\n  pass: true\n  history: '[{\"ts\": \"t\", \"pass\": false}]'\n";
        let summary = read(text);
        assert_eq!(summary.turns[0].now.evaluation(), "pass");
        assert_eq!(summary.turns[0].history[0].evaluation(), "fail");
        let written = "turns:\n- input: a\n  history:\n  - ts: t\n    pass: false\n  pass: true\n";
        assert_eq!(summary.to_yaml(), written);
    }

    #[test]
    fn unknown_shapes_are_kept() {
        for text in [
            "name: a\nturns: nothing\n",
            "name: a\nturns:\n- 1\n",
            "name: a\nturns:\n- input: a\n  history: oops\n",
            "name: a\nturns:\n- history: []\n  input:\n  - 1\n",
        ] {
            assert_eq!(read(text).to_yaml(), text);
        }
        let twice = "turns:\n- input: a\nturns:\n- 1\n";
        assert_eq!(read(twice).to_yaml(), "turns:\n- 1\n");
        assert_eq!(read(twice).inputs().count(), 0);
        let twice = "turns:\n- 1\nturns:\n- input: a\n";
        assert_eq!(read(twice).inputs().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn files_of_co_eval_are_recognized() {
        assert_eq!(read("agent: a.py\nturns: []\n").kind(), SummaryKind::Authored);
        assert_eq!(read("expected: x\n").kind(), SummaryKind::Authored);
        assert_eq!(read("name: x\n").kind(), SummaryKind::Record);
    }

    #[test]
    fn other_files_are_refused() {
        for (bytes, reason) in [
            (&b"\xff\xfe"[..], "it is not UTF-8"),
            (b"a: [", "it is not YAML"),
            (b"- a\n", "it is not a mapping"),
            (b"", "it is not YAML"),
        ] {
            let error = RecordSummary::read(bytes.to_vec()).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
