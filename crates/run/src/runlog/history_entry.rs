//! The entry of one run of one turn, in every shape that writers have used (spec 13.5).
//!
//! An entry keeps the data it was read from, so rewriting a file does not change old entries.

use evalrig_core::model::{JsonStyle, Map, Number, Value};
use evalrig_core::syntax::lenient_json_value;

/// Keys of an entry as evalrig writes it, in order.
pub(super) const KEYS: &[&str] =
    &["run", "output", "tools_called", "expected", "evaluation", "meta"];

/// Keys that other clients use for the result of a run.
pub(super) const OTHER_DIALECT_KEYS: &[&str] =
    &["status", "pass", "analysis", "tokens", "cost", "ts"];

/// Keys whose value is always read as text.
const TEXTS: &[&str] = &["output", "expected", "evaluation", "meta", "status", "analysis", "ts"];

/// One run of one turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HistoryEntry(Map);

/// Usage and time of a run; unknown values are `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunMeta {
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
    pub duration_ms: Option<u64>,
    /// Local time, as written.
    pub ts: Option<String>,
}

/// The verdict in the first word of `evaluation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedVerdict {
    Pass,
    Borderline,
    Fail,
    Error,
    /// Empty, or a word that is not a verdict.
    Ungraded,
}

impl LoggedVerdict {
    /// Takes the word before the first `:` or blank, case-insensitively.
    pub fn of(evaluation: &str) -> Self {
        let word = evaluation.trim_start();
        let end = word.find(|c: char| c == ':' || c.is_whitespace());
        let word = &word[..end.unwrap_or(word.len())];
        match word.to_ascii_lowercase().as_str() {
            "pass" | "passed" => Self::Pass,
            "borderline" => Self::Borderline,
            "fail" | "failed" => Self::Fail,
            "error" | "errored" => Self::Error,
            _ => Self::Ungraded,
        }
    }
}

impl HistoryEntry {
    pub(super) fn new(map: Map) -> Self {
        Self(map)
    }

    /// Whether the value of this key is always read as text.
    pub(super) fn is_text(key: &str) -> bool {
        TEXTS.contains(&key)
    }

    pub(super) fn map(&self) -> &Map {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key, value);
    }

    pub fn run(&self) -> Option<u64> {
        read_count(self.0.get("run")?)
    }

    /// `None` when the entry has no output; the run file may have it.
    pub fn output(&self) -> Option<&str> {
        self.text("output")
    }

    pub fn tools_called(&self) -> Vec<&str> {
        let list = self.0.get("tools_called").and_then(Value::as_list);
        let items = list.unwrap_or_default().iter();
        items.filter_map(Value::as_str).collect()
    }

    /// Whether the entry lists the tools that were called, even if the list is empty.
    pub fn has_tools_called(&self) -> bool {
        matches!(self.0.get("tools_called"), Some(Value::List(_)))
    }

    pub fn expected(&self) -> &str {
        self.text("expected").unwrap_or_default()
    }

    /// `pass`, `fail: …`, or empty.
    pub fn evaluation(&self) -> String {
        let written = self.text("evaluation").or_else(|| self.text("status"));
        if let Some(written) = written {
            return written.to_owned();
        }
        let word = match self.0.get("pass") {
            Some(Value::Bool(true)) => "pass",
            Some(Value::Bool(false)) => "fail",
            _ => return String::new(),
        };
        match self.text("analysis") {
            Some(note) if !note.trim().is_empty() => format!("{word}: {note}"),
            _ => word.to_owned(),
        }
    }

    pub fn verdict(&self) -> LoggedVerdict {
        LoggedVerdict::of(&self.evaluation())
    }

    pub fn meta(&self) -> RunMeta {
        match self.0.get("meta") {
            Some(Value::String(text)) => match lenient_json_value(text) {
                Ok(Value::Map(map)) => RunMeta::read(&map),
                _ => RunMeta::default(),
            },
            Some(Value::Map(map)) => RunMeta::read(map),
            _ => RunMeta::read(&self.0),
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }
}

impl RunMeta {
    fn read(map: &Map) -> Self {
        let number = |key: &str| match map.get(key) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        Self {
            tokens: number("tokens").and_then(Number::as_u64),
            cost: number("cost").map(Number::value),
            duration_ms: number("duration_ms").and_then(Number::as_u64),
            ts: map.get("ts").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// The value of `meta` in the summary.
    pub(super) fn to_text(&self) -> String {
        let mut map = Map::new();
        map.insert("tokens", number_or_null(self.tokens));
        map.insert("cost", cost_value(self.cost));
        map.insert("duration_ms", number_or_null(self.duration_ms));
        map.insert("ts", self.ts.as_deref().map_or(Value::Null, Value::from));
        Value::Map(map).to_json(JsonStyle::Spaced)
    }
}

pub(super) fn number_or_null(number: Option<u64>) -> Value {
    number.map_or(Value::Null, Value::from)
}

/// Rounded to four decimals and written as in Python: `0.0`, `0.0015`.
pub(super) fn cost_value(cost: Option<f64>) -> Value {
    let Some(cost) = cost.filter(|cost| cost.is_finite()) else {
        return Value::Null;
    };
    let rounded = format!("{cost:.4}");
    let shortest = rounded.trim_end_matches('0');
    let text = if shortest.ends_with('.') { format!("{shortest}0") } else { shortest.to_owned() };
    Number::parse(&text).map_or(Value::Null, Value::Number)
}

/// A non-negative integer, quoted or not.
pub(super) fn read_count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Reads the older runs of a turn: a list, or a string with a JSON array. Other values are
/// returned as the error.
pub(super) fn read_history(value: Value) -> Result<Vec<HistoryEntry>, Value> {
    let items = match value {
        Value::Null => return Ok(Vec::new()),
        Value::List(items) => items,
        Value::String(text) if text.trim().is_empty() => return Ok(Vec::new()),
        Value::String(text) => match lenient_json_value(&text) {
            Ok(Value::List(items)) => items,
            _ => return Err(Value::String(text)),
        },
        other => return Err(other),
    };
    if !items.iter().all(|item| matches!(item, Value::Map(_))) {
        return Err(Value::List(items));
    }
    let maps = items.into_iter().filter_map(|item| match item {
        Value::Map(map) => Some(HistoryEntry(map.into_iter().map(stringify_text_field).collect())),
        _ => None,
    });
    Ok(maps.collect())
}

/// A text key is text in embedded JSON too; otherwise its value would change on the next read.
fn stringify_text_field((key, value): (String, Value)) -> (String, Value) {
    let value = match value {
        Value::Bool(_) | Value::Number(_) if HistoryEntry::is_text(&key) => {
            Value::String(value.to_json(JsonStyle::Compact))
        }
        other => other,
    };
    (key, value)
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;

    fn entry(json: &str) -> HistoryEntry {
        match json_value(json).unwrap() {
            Value::Map(map) => HistoryEntry(map),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reads_entries_written_by_evalrig() {
        let one = entry(
            r#"{"run":2,"output":"Hi","tools_called":["a()"],"expected":"Hi","evaluation":"fail: no",
                "meta":"{\"tokens\": 155, \"cost\": 0.5, \"duration_ms\": 3595, \"ts\": \"2025-12-25 11:56:56\"}"}"#,
        );
        assert_eq!((one.run(), one.output()), (Some(2), Some("Hi")));
        assert_eq!(one.tools_called(), ["a()"]);
        assert_eq!(one.verdict(), LoggedVerdict::Fail);
        let meta = one.meta();
        assert_eq!((meta.tokens, meta.cost), (Some(155), Some(0.5)));
        assert_eq!(meta.duration_ms, Some(3595));
        assert_eq!(meta.ts.as_deref(), Some("2025-12-25 11:56:56"));
    }

    #[test]
    fn reads_entries_with_a_status() {
        let one = entry(r#"{"run":1,"status":"pass","meta":"{\"tokens\": 5}"}"#);
        assert_eq!(one.evaluation(), "pass");
        assert_eq!((one.output(), one.has_tools_called()), (None, false));
        assert_eq!(one.meta().tokens, Some(5));
    }

    #[test]
    fn reads_entries_of_co_eval() {
        let one = entry(
            r#"{"ts":"2025-01-01 00:00:00","pass":false,"analysis":"too short","tokens":7,"cost":0.1}"#,
        );
        assert_eq!(one.evaluation(), "fail: too short");
        assert_eq!((one.meta().tokens, one.meta().cost), (Some(7), Some(0.1)));
        assert_eq!(one.run(), None);
        assert_eq!(entry(r#"{"pass":true}"#).evaluation(), "pass");
        assert_eq!(entry(r#"{"pass":null}"#).evaluation(), "");
    }

    #[test]
    fn meta_that_is_not_json_is_ignored() {
        for json in [r#"{"meta":"oops"}"#, r#"{"meta":"[1]"}"#, "{}"] {
            assert_eq!(entry(json).meta(), RunMeta::default(), "{json}");
        }
    }

    #[test]
    fn the_first_word_of_an_evaluation_is_the_verdict() {
        for (text, verdict) in [
            ("pass", LoggedVerdict::Pass),
            ("PASS: fine", LoggedVerdict::Pass),
            ("Fail too short", LoggedVerdict::Fail),
            ("borderline:x", LoggedVerdict::Borderline),
            ("error: timeout", LoggedVerdict::Error),
            ("", LoggedVerdict::Ungraded),
            ("password", LoggedVerdict::Ungraded),
        ] {
            assert_eq!(LoggedVerdict::of(text), verdict, "{text}");
        }
    }

    #[test]
    fn history_is_a_list_or_a_json_string() {
        let list = read_history(Value::from("[\n{\"ts\": \"x\", \"pass\": true}]")).unwrap();
        assert_eq!(list[0].evaluation(), "pass");
        let odd = read_history(Value::from("[{\"ts\": false, \"tokens\": 3}]")).unwrap();
        assert_eq!(odd[0].map().get("ts"), Some(&Value::from("false")));
        assert_eq!(odd[0].meta().tokens, Some(3));
        assert_eq!(read_history(Value::from("[]")).unwrap(), []);
        assert!(read_history(Value::from("oops")).is_err());
        assert!(read_history(json_value("[1]").unwrap()).is_err());
    }

    #[test]
    fn costs_have_four_decimals_and_at_least_one() {
        for (cost, text) in
            [(0.0, "0.0"), (0.00151, "0.0015"), (12.0, "12.0"), (0.5, "0.5"), (0.000_01, "0.0")]
        {
            assert_eq!(cost_value(Some(cost)).to_json(JsonStyle::Spaced), text);
        }
        assert_eq!(cost_value(None), Value::Null);
    }
}
