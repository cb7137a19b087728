//! The question of a row: what the user said last.

use serde_json::Value;

use super::row::Row;

impl Row {
    /// The text of the last user message; `None` in older rows.
    pub fn question(&self) -> Option<String> {
        let messages = self.input.as_deref()?;
        let is_user = |message: &&Value| message["role"] == "user";
        let asked = messages.iter().rfind(is_user).or(messages.last())?;
        let text = content_text(&asked["content"]);
        (!text.trim().is_empty()).then_some(text)
    }
}

/// A text, or a list of parts of which some are texts.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(part_text).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        data => data.to_string(),
    }
}

fn part_text(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        part => {
            let keys = ["text", "value", "path"];
            let found = keys.iter().find_map(|key| part[*key].as_str());
            found.unwrap_or_default().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing;
    use super::*;

    fn question(input: Value) -> Option<String> {
        let mut row = testing::row("a", 1);
        row.input = Some(input.as_array().unwrap().clone());
        row.question()
    }

    #[test]
    fn the_last_user_message_is_the_question() {
        let found = question(json!([
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": [{"type": "text", "value": "And"}, {"type": "file", "value": "a.txt"}]},
        ]));
        assert_eq!(found.as_deref(), Some("And\na.txt"));
    }

    #[test]
    fn without_a_user_the_last_message_counts_and_nothing_is_nothing() {
        assert_eq!(question(json!([{"role": "system", "content": "x"}])).as_deref(), Some("x"));
        assert_eq!(question(json!([{"role": "user", "content": ""}])), None);
        assert_eq!(question(json!([])), None);
    }
}
