//! Splits a conversation into questions, answers and tool calls. Lenient, because the messages may
//! come from any client.

use evalrig_core::model::{Map, Value};
use evalrig_core::syntax::lenient_json_value;

use super::new_run::UserMessage;
use super::run_file::role_of;
use super::tools_called::shown_call;

/// A conversation, split at its user messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dialogue {
    /// The user messages. All but the last have their answers.
    pub asked: Vec<UserMessage>,
    /// The last text of the assistant after the last user message, if any.
    pub output: Option<String>,
    /// Calls after the last user message.
    pub tools_called: Vec<String>,
}

impl Dialogue {
    pub fn of(messages: &[Value]) -> Self {
        let mut dialogue = Self::default();
        for message in messages {
            let Some(map) = message.as_map() else {
                continue;
            };
            match role_of(message) {
                Some("user") => dialogue.add_question(map),
                Some("assistant") => dialogue.add_answer(map),
                _ => {}
            }
        }
        dialogue
    }

    fn add_question(&mut self, message: &Map) {
        // The output so far answers the previous user message.
        let reply = self.output.take();
        self.tools_called.clear();
        if let Some(before) = self.asked.last_mut() {
            before.reply = reply;
        }
        let (text, attachments) = split_content(message.get("content"));
        self.asked.push(UserMessage { text: text.unwrap_or_default(), attachments, reply: None });
    }

    fn add_answer(&mut self, message: &Map) {
        if let (Some(text), _) = split_content(message.get("content")) {
            self.output = Some(text);
        }
        let calls = message.get("tool_calls").or_else(|| message.get("toolCalls"));
        let calls = calls.and_then(Value::as_list).unwrap_or_default();
        let shown = calls.iter().filter_map(tool_call_line);
        self.tools_called.extend(shown);
    }
}

/// Texts joined with line breaks, and a line for each attachment.
fn split_content(content: Option<&Value>) -> (Option<String>, Vec<String>) {
    let items = match content {
        Some(Value::String(text)) => return (Some(text.clone()), Vec::new()),
        Some(Value::List(items)) => items,
        _ => return (None, Vec::new()),
    };
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Value::String(text) => texts.push(text.as_str()),
            Value::Map(block) => match block_text(block) {
                Some(text) => texts.push(text),
                None => attachments.extend(attachment_line(block)),
            },
            _ => {}
        }
    }
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    (text, attachments)
}

fn block_text(block: &Map) -> Option<&str> {
    let kind = block.get("type").and_then(Value::as_str)?;
    let is_text = matches!(kind, "text" | "input_text" | "output_text");
    let text = block.get("text").or_else(|| block.get("value"));
    text.filter(|_| is_text)?.as_str()
}

fn attachment_line(block: &Map) -> Option<String> {
    let kind = block.get("type").and_then(Value::as_str)?;
    let value = block.get("value").and_then(Value::as_str);
    match kind {
        "file" | "input_file" | "document" => Some(match value {
            Some(path) => format!("[file: {path}]"),
            None => "[file]".to_owned(),
        }),
        "image" | "image_url" | "input_image" => Some(match value {
            Some(path) if !path.starts_with("data:") => format!("[image: {path}]"),
            _ => "[image]".to_owned(),
        }),
        _ => None,
    }
}

/// `{function: {name, arguments}}`, `{name, arguments}` or `{tool, args}`.
fn tool_call_line(call: &Value) -> Option<String> {
    let map = call.as_map()?;
    let function = map.get("function").and_then(Value::as_map).unwrap_or(map);
    let name = function.get("name").or_else(|| map.get("tool"))?.as_str()?;
    let keys = ["arguments", "args", "input"];
    let arguments = keys.iter().find_map(|key| function.get(key));
    let arguments = match arguments {
        Some(Value::String(text)) => lenient_json_value(text).unwrap_or(Value::Null),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    Some(shown_call(name, &arguments))
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;

    fn dialogue(json: &str) -> Dialogue {
        Dialogue::of(json_value(json).unwrap().as_list().unwrap())
    }

    #[test]
    fn a_conversation_is_split_at_its_user_messages() {
        let read = dialogue(
            r#"[{"role":"system","content":"S"},{"role":"user","content":"one"},
                {"role":"assistant","content":"first","tool_calls":[{"tool":"x","args":{}}]},
                {"role":"user","content":[{"type":"text","text":"two"},{"type":"file","value":"a.csv"},{"type":"image","value":"data:x"}]},
                {"role":"assistant","content":null,"tool_calls":[
                  {"id":"1","type":"function","function":{"name":"greet","arguments":"{\"name\": \"Alice\"}"}},
                  {"name":"b","arguments":"oops"}]},
                {"role":"tool","content":"r"},{"role":"assistant","content":"second"}]"#,
        );
        let inputs: Vec<String> = read.asked.iter().map(UserMessage::input).collect();
        assert_eq!(inputs, ["one", "two\n[file: a.csv]\n[image]"]);
        assert_eq!(read.asked[0].reply.as_deref(), Some("first"));
        assert_eq!(read.output.as_deref(), Some("second"));
        assert_eq!(read.tools_called, ["greet(name='Alice')", "b()"]);
    }

    #[test]
    fn other_values_are_skipped() {
        assert_eq!(dialogue(r#"[1, {"role":"bot"}, {}]"#), Dialogue::default());
    }
}
