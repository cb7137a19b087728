//! The state of a conversation: the user's last message and the tool results that wait for an
//! answer. The same for every wire format, which only lists its entries.

use serde_json::Value;

/// One entry of a conversation, in order.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry {
    User(String),
    ToolResult(String),
    /// Text or tool calls of the model: everything before them was answered.
    Model,
}

/// What a rule looks at.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Turn {
    pub(crate) user_text: String,
    /// The tool results since the model spoke last, if there are any.
    pub(crate) tool_result: Option<String>,
    /// Whether the model may call tools. Agents also make requests without, such as for a title.
    pub(crate) has_tools: bool,
}

impl Turn {
    /// Entries between two turns of the model belong together: agents send a prompt in several
    /// parts, and put notes of their own beside a tool result. Where there is a tool result, the
    /// text beside it (a loaded skill, a reminder) is not what the user said.
    pub(crate) fn of(entries: impl IntoIterator<Item = Entry>, body: &Value) -> Self {
        let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        let mut turn = Self { has_tools, ..Self::default() };
        let mut words: Vec<String> = Vec::new();
        let mut results: Vec<String> = Vec::new();
        for entry in entries {
            match entry {
                Entry::User(text) => words.push(text),
                Entry::ToolResult(text) => results.push(text),
                Entry::Model => {
                    turn.settle(&mut words, &results);
                    results.clear();
                }
            }
        }
        turn.settle(&mut words, &results);
        turn.tool_result = (!results.is_empty()).then(|| results.join("\n"));
        turn
    }

    fn settle(&mut self, words: &mut Vec<String>, results: &[String]) {
        let said = std::mem::take(words);
        if results.is_empty() && !said.is_empty() {
            self.user_text = said.join("\n");
        }
    }
}

/// Blocks that agents add in the user's name; a rule must not fire on them.
const NOTES: [&str; 2] = ["<system-reminder>", "<environment_context>"];

/// The text of a `content`: a string, or a list of blocks with `text`.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The words of a user in a `content`, one entry for each block.
pub(crate) fn words_of(content: &Value) -> Vec<Entry> {
    let texts: Vec<&str> = match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => Vec::new(),
    };
    let own = |text: &&str| !NOTES.iter().any(|note| text.trim_start().starts_with(note));
    texts.into_iter().filter(own).map(|text| Entry::User(text.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn user(text: &str) -> Entry {
        Entry::User(text.into())
    }

    fn result(text: &str) -> Entry {
        Entry::ToolResult(text.into())
    }

    #[test]
    fn the_last_prompt_stays_while_tools_run() {
        let first = [user("old"), Entry::Model, user("new"), Entry::Model];
        let turn = Turn::of(first.into_iter().chain([result("r"), user("skill body")]), &json!({}));
        assert_eq!(turn.user_text, "new");
        assert_eq!(turn.tool_result.as_deref(), Some("r"));
    }

    #[test]
    fn answered_tool_results_wait_no_more() {
        let entries = [user("a"), Entry::Model, result("r"), Entry::Model, user("b")];
        let turn = Turn::of(entries, &json!({"tools": [{"name": "t"}]}));
        assert_eq!(turn, Turn { user_text: "b".into(), tool_result: None, has_tools: true });
    }

    #[test]
    fn notes_of_the_agent_are_no_words_of_the_user() {
        let content = json!([
            {"type": "text", "text": "<system-reminder>csv</system-reminder>"},
            {"type": "text", "text": "hello"}
        ]);
        assert_eq!(words_of(&content), [user("hello")]);
        assert_eq!(words_of(&json!("hi")), [user("hi")]);
    }
}
