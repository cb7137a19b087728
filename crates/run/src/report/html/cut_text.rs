//! Texts and values of agents and judges, cut to what a page can carry. What was cut says so.

use crate::text::numbers;
use serde_json::{Map, Value};

/// Of an answer, a message, an argument of a tool.
pub const TEXT: usize = 20_000;
/// Of all messages of a case together.
const CONVERSATION: usize = 200_000;
/// What a number, a key or a bracket counts for.
const NODE: usize = 8;

pub fn text(text: &str, limit: usize) -> String {
    // Most texts are short, and bytes are never fewer than characters.
    if text.len() <= limit {
        return text.to_owned();
    }
    let Some((at, _)) = text.char_indices().nth(limit) else {
        return text.to_owned();
    };
    let more = text[at..].chars().count() as u64;
    let noun = if more == 1 { "character is" } else { "characters are" };
    format!("{}… [{} more {noun} in the results file]", &text[..at], numbers::count(more))
}

pub fn texts(list: &[String], many: usize, limit: usize) -> Vec<String> {
    let mut out: Vec<String> = list.iter().take(many).map(|one| text(one, limit)).collect();
    if let Some(more @ 1..) = list.len().checked_sub(many) {
        out.push(format!("… [{more} more are in the results file]"));
    }
    out
}

/// What is left for a value and all that is in it.
#[derive(Debug)]
pub struct TextBudget(usize);

impl TextBudget {
    pub fn conversation() -> Self {
        Self(CONVERSATION)
    }

    pub fn of(limit: usize) -> Self {
        Self(limit)
    }

    pub fn cut(&mut self, value: &Value) -> Value {
        self.0 = self.0.saturating_sub(NODE);
        match value {
            Value::String(long) => {
                let kept = text(long, self.0.min(TEXT));
                self.0 = self.0.saturating_sub(kept.len());
                Value::String(kept)
            }
            Value::Array(list) => self.cut_list(list),
            Value::Object(map) => self.cut_map(map),
            plain => plain.clone(),
        }
    }

    fn cut_list(&mut self, list: &[Value]) -> Value {
        let mut out = Vec::new();
        for (at, value) in list.iter().enumerate() {
            if self.0 == 0 {
                out.push(Value::String(left_out(list.len() - at)));
                break;
            }
            out.push(self.cut(value));
        }
        Value::Array(out)
    }

    fn cut_map(&mut self, map: &Map<String, Value>) -> Value {
        let mut out = Map::new();
        for (at, (key, value)) in map.iter().enumerate() {
            if self.0 == 0 {
                out.insert("…".to_owned(), Value::String(left_out(map.len() - at)));
                break;
            }
            let key = text(key, self.0.min(TEXT));
            self.0 = self.0.saturating_sub(key.len());
            out.insert(key, self.cut(value));
        }
        Value::Object(out)
    }
}

fn left_out(count: usize) -> String {
    format!("… [{} more in the results file]", numbers::count(count as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cut_text_says_how_much_is_missing() {
        assert_eq!(text("äöü", 3), "äöü");
        assert_eq!(text("äöüß", 3), "äöü… [1 more character is in the results file]");
        let list = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(texts(&list, 3, 9), ["a", "b", "c"]);
        assert_eq!(texts(&list, 1, 9), ["a", "… [2 more are in the results file]"]);
    }

    #[test]
    fn a_small_value_is_left_alone_and_a_big_one_bounded() {
        let small = json!({"a": [1, null, "x"], "b": {"c": true}});
        assert_eq!(TextBudget::of(1_000).cut(&small), small);
        let big = json!({"list": vec![1; 100_000], "text": "x".repeat(100_000)});
        let cut = TextBudget::of(1_000).cut(&big);
        assert!(cut.to_string().len() < 2_000);
        assert!(cut.to_string().contains("more in the results file"));
    }
}
