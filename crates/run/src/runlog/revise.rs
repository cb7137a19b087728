//! Changes that users make to a record: the expected answer and a verdict.

use evalrig_core::model::Value;

use super::lock::StoreLock;
use super::replace_files::replace_file;
use super::store::{Record, Store};
use super::store_error::StoreError;
use super::summary::{SummaryKind, Turn};

/// Notes are one line of at most this many characters (spec 13.3).
const LONGEST_NOTE: usize = 200;

/// Selects a turn of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnSelector {
    /// The turn that the agent answered.
    Last,
    /// Counted from 1.
    Number(usize),
}

/// The verdict of a user on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManualVerdict {
    Pass,
    Fail,
}

/// `pass`, `fail: too short`.
pub(super) fn evaluation(word: &str, note: &str) -> String {
    let note = one_line(note);
    if note.is_empty() { word.to_owned() } else { format!("{word}: {note}") }
}

fn one_line(note: &str) -> String {
    let words: Vec<&str> = note.split_whitespace().collect();
    words.join(" ").chars().take(LONGEST_NOTE).collect()
}

impl Store {
    /// Sets the expected answer of a turn. Later runs keep it, whatever their test expects.
    pub fn expect(
        &self,
        name: &str,
        selector: TurnSelector,
        text: &str,
    ) -> Result<Record, StoreError> {
        self.revise_turn(name, selector, |turn| turn.now.set("expected", text))
    }

    /// Sets the verdict on the newest answer of a turn.
    pub fn evaluate(
        &self,
        name: &str,
        selector: TurnSelector,
        verdict: ManualVerdict,
        note: Option<&str>,
    ) -> Result<Record, StoreError> {
        let word = match verdict {
            ManualVerdict::Pass => "pass",
            ManualVerdict::Fail => "fail",
        };
        let text = evaluation(word, note.unwrap_or_default());
        self.revise_turn(name, selector, |turn| {
            turn.now.set("evaluation", text.as_str());
        })
    }

    fn revise_turn(
        &self,
        name: &str,
        selector: TurnSelector,
        change: impl FnOnce(&mut Turn),
    ) -> Result<Record, StoreError> {
        // Locking creates the store, so a mistyped name must fail before that.
        self.read(name)?;
        let _lock = StoreLock::acquire(self)?;
        let mut record = self.read(name)?;
        if record.summary.kind() == SummaryKind::Authored {
            return Err(StoreError::Authored { path: record.file });
        }
        let turns = record.summary.turns.len();
        let at = match selector {
            TurnSelector::Last => turns,
            TurnSelector::Number(number) => number,
        };
        let turn = at.checked_sub(1).and_then(|at| record.summary.turns.get_mut(at));
        let Some(turn) = turn else {
            return Err(StoreError::NoTurn { name: record.name, turn: at, turns });
        };
        change(turn);
        replace_file(self.place(&record.file), &record.summary.to_yaml())?;
        Ok(record)
    }
}

impl Record {
    /// The summary as data, with `meta` parsed from its JSON string.
    pub fn parsed(&self) -> Value {
        let Value::Map(mut root) = self.summary.to_value() else {
            return Value::Null;
        };
        if let Some(Value::List(turns)) = root.get("turns") {
            let turns: Vec<Value> = turns.iter().cloned().map(parsed_turn).collect();
            root.insert("turns", turns);
        }
        root.into()
    }
}

fn parsed_turn(turn: Value) -> Value {
    let Value::Map(mut map) = parsed_meta(turn) else {
        return Value::Null;
    };
    if let Some(Value::List(history)) = map.get("history") {
        let history: Vec<Value> = history.iter().cloned().map(parsed_meta).collect();
        map.insert("history", history);
    }
    map.into()
}

fn parsed_meta(entry: Value) -> Value {
    let Value::Map(mut map) = entry else {
        return entry;
    };
    if let Some(Value::String(text)) = map.get("meta")
        && let Ok(meta) = evalrig_core::syntax::lenient_json_value(text)
    {
        map.insert("meta", meta);
    }
    map.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_one_short_line() {
        assert_eq!(evaluation("pass", " "), "pass");
        assert_eq!(evaluation("fail", "a\n  b"), "fail: a b");
        let long = evaluation("fail", &"é".repeat(300));
        assert_eq!(long.chars().count(), "fail: ".len() + 200);
    }
}
