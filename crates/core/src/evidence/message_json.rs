//! Messages as JSON, in the shapes of spec 10.1.

use crate::model::{Block, Expected, Map, Message, Role, ToolCall, Value};

/// A list of messages.
pub fn messages_to_value(messages: &[Message]) -> Value {
    Value::List(messages.iter().map(message_to_value).collect())
}

/// One message; `tool_calls` have the form of chat completions.
pub fn message_to_value(message: &Message) -> Value {
    let mut map = Map::new();
    map.insert("role", message.role.word());
    map.insert_some("tool_call_id", message.tool_call_id.as_deref());
    map.insert_some("name", message.name.as_deref());
    map.insert("content", content(&message.content));
    if !message.tool_calls.is_empty() {
        let calls: Vec<Value> = message.tool_calls.iter().map(tool_call).collect();
        map.insert("tool_calls", calls);
    }
    map.into()
}

/// The reference output as messages: a text or a structured value is an assistant message.
pub fn expected_to_value(expected: Option<&Expected>) -> Value {
    let assistant = |content: Value| {
        let map = Map::new().with("role", Role::Assistant.word());
        Value::List(vec![map.with("content", content).into()])
    };
    match expected {
        None => Value::List(Vec::new()),
        Some(Expected::Text(text)) => assistant(text.as_str().into()),
        Some(Expected::Structured(value)) => assistant(value.clone()),
        Some(Expected::Messages(messages)) => messages_to_value(messages),
    }
}

fn content(blocks: &[Block]) -> Value {
    match blocks {
        [] => Value::Null,
        [Block::Text(text)] => text.as_str().into(),
        blocks => Value::List(blocks.iter().map(Block::to_value).collect()),
    }
}

fn tool_call(call: &ToolCall) -> Value {
    let function =
        Map::new().with("name", call.name.as_str()).with("arguments", call.arguments.as_str());
    let map =
        Map::new().with("id", call.id.as_str()).with("type", "function").with("function", function);
    map.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;

    fn compact(value: &Value) -> String {
        value.to_json(JsonStyle::Compact)
    }

    #[test]
    fn content_is_null_a_text_or_blocks() {
        let json = |blocks| compact(&message_to_value(&Message::new(Role::User, blocks)));
        assert_eq!(json(Vec::new()), r#"{"role":"user","content":null}"#);
        let text = Block::Text(String::new());
        assert_eq!(json(vec![text.clone()]), r#"{"role":"user","content":""}"#);
        assert_eq!(
            json(vec![text, Block::Json(Value::Null)]),
            r#"{"role":"user","content":[{"type":"text","value":""},{"type":"json","value":null}]}"#
        );
    }

    #[test]
    fn every_form_of_expected_output_is_messages() {
        let json = |expected: &Expected| compact(&expected_to_value(Some(expected)));
        assert_eq!(
            json(&Expected::Text("4".to_owned())),
            r#"[{"role":"assistant","content":"4"}]"#
        );
        assert_eq!(
            json(&Expected::Structured(Map::new().into())),
            r#"[{"role":"assistant","content":{}}]"#
        );
        assert_eq!(
            json(&Expected::Messages(vec![Message::user("a")])),
            r#"[{"role":"user","content":"a"}]"#
        );
        assert_eq!(compact(&expected_to_value(None)), "[]");
    }
}
