//! A conversation as it is read, with calls matched to their results.

use std::collections::HashMap;

use evalrig_core::model::{
    Block, Call, FileRef, Image, JsonStyle, Map, Message, Role, ToolCall, Transcript, Value,
};

use super::json;
use super::measure::{self, given, kind};

/// Messages and calls so far. A format that uses this reports calls, even if there are none.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    calls: Vec<Call>,
    /// The newest call with an id.
    by_id: HashMap<String, usize>,
}

impl Conversation {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn has_assistant_message(&self) -> bool {
        let mut roles = self.messages.iter().map(|message| message.role);
        roles.any(|role| role == Role::Assistant)
    }

    /// Invalidates the indices that [`Self::open`] gave.
    pub(super) fn remove_messages_of(&mut self, role: Role) {
        self.messages.retain(|message| message.role != role);
    }

    pub(super) fn transcript(self) -> Transcript {
        let mut transcript = Transcript::of_messages(self.messages);
        transcript.session.llm_calls = Some(assistant_messages(&transcript.messages));
        transcript.calls = Some(self.calls);
        transcript
    }

    /// Starts an assistant message and gives its index.
    pub(super) fn open(&mut self) -> usize {
        self.messages.push(Message::new(Role::Assistant, Vec::new()));
        self.messages.len() - 1
    }

    pub(super) fn add_text(&mut self, message: usize, text: &str) {
        let content = &mut self.messages[message].content;
        content.push(Block::Text(text.to_owned()));
    }

    pub(super) fn add_call(&mut self, message: usize, call: Call) {
        self.messages[message].tool_calls.push(ToolCall {
            id: call.id.clone(),
            name: call.tool.clone(),
            arguments: call.args.to_json(JsonStyle::Compact),
        });
        self.by_id.insert(call.id.clone(), self.calls.len());
        self.calls.push(call);
    }

    pub(super) fn say(&mut self, text: &str) {
        let message = self.open();
        self.add_text(message, text);
    }

    /// Adds what the user said.
    pub(super) fn ask(&mut self, text: &str) {
        self.messages.push(Message::user(text));
    }

    pub(super) fn say_unless_said(&mut self, text: &str) {
        if self.is_empty() || self.answer() != text {
            self.say(text);
        }
    }

    /// What the assistant said last.
    pub(super) fn answer(&self) -> String {
        evalrig_core::model::answer_of(&self.messages)
    }

    pub(super) fn call_mut(&mut self, id: &str) -> Option<&mut Call> {
        let at = *self.by_id.get(id)?;
        self.calls.get_mut(at)
    }

    /// Adds the result of a call, also as a message.
    pub(super) fn add_result(&mut self, id: &str, output: Value) {
        let mut message = Message::new(Role::Tool, vec![Block::Text(plain_text(&output))]);
        message.tool_call_id = Some(id.to_owned());
        if let Some(call) = self.call_mut(id) {
            message.name = Some(call.tool.clone());
            call.output = Some(output);
        }
        self.messages.push(message);
    }

    /// A message in the form of spec 3.3, or with calls `{tool, args, output, …}`.
    pub(super) fn add_message(&mut self, value: &Value) -> Result<(), String> {
        let Value::Map(map) = value else {
            return Err(format!("a message is an object, found {}", kind(value)));
        };
        let word = measure::text(map, "role")?.ok_or("a message has no `role`")?;
        let role = Role::parse(word).ok_or_else(|| format!("a message has the role `{word}`"))?;
        let content = match given(map, "content") {
            Some(content) => blocks(content),
            None => Vec::new(),
        };
        let mut message = Message::new(role, content);
        message.name = measure::text(map, "name")?.map(str::to_owned);
        message.tool_call_id = measure::text(map, "tool_call_id")?.map(str::to_owned);
        if role == Role::Tool {
            self.take_result(&mut message);
        }
        self.messages.push(message);
        match given(map, "tool_calls") {
            Some(calls) if role == Role::Assistant => self.add_calls(calls),
            _ => Ok(()),
        }
    }

    /// Matched by id, else by the name of the tool.
    fn take_result(&mut self, message: &mut Message) {
        let (id, name) = (message.tool_call_id.clone(), message.name.clone());
        let call = match (id, name) {
            (Some(id), _) => self.call_mut(&id),
            (None, Some(name)) => {
                let mut open = self.calls.iter_mut();
                open.find(|call| call.tool == name && call.output.is_none())
            }
            (None, None) => None,
        };
        if let Some(call) = call {
            call.output = Some(output_of(message));
            message.tool_call_id.get_or_insert(call.id.clone());
            message.name.get_or_insert(call.tool.clone());
        }
    }

    /// The calls of the newest message.
    fn add_calls(&mut self, calls: &Value) -> Result<(), String> {
        let Value::List(calls) = calls else {
            return Err(format!("`tool_calls` takes a list, found {}", kind(calls)));
        };
        let message = self.messages.len() - 1;
        for written in calls {
            let call = read_call(written, self.calls.len() + 1)?;
            self.add_call(message, call);
        }
        for at in self.calls.len() - calls.len()..self.calls.len() {
            let call = &self.calls[at];
            if let Some(output) = call.output.clone() {
                let id = call.id.clone();
                self.add_result(&id, output);
            }
        }
        Ok(())
    }
}

/// In formats of messages, each of them is one request to the model (spec 10.1).
pub(crate) fn assistant_messages(messages: &[Message]) -> u64 {
    messages.iter().filter(|message| message.role == Role::Assistant).count() as u64
}

fn read_call(value: &Value, number: usize) -> Result<Call, String> {
    let Value::Map(map) = value else {
        return Err(format!("a tool call is an object, found {}", kind(value)));
    };
    let function = match given(map, "function") {
        Some(Value::Map(function)) => function,
        _ => map,
    };
    let tool = match measure::text(map, "tool")? {
        Some(tool) => tool,
        None => measure::text(function, "name")?.ok_or("a tool call has no tool name")?,
    };
    let args = given(map, "args").or_else(|| given(map, "input"));
    let args = args.or_else(|| given(function, "arguments"));
    let id = measure::text(map, "id")?.map_or_else(|| format!("call_{number}"), str::to_owned);
    Ok(Call {
        output: given(map, "output").cloned(),
        duration_ms: measure::milliseconds(map, "duration_ms")?,
        is_error: measure::boolean(map, "is_error")?,
        exit_code: measure::whole(map, "exit_code")?,
        ..Call::new(id, tool, arguments(args))
    })
}

/// An object, or the JSON text of one. Any other text is kept: the tool was called with it.
pub(super) fn arguments(written: Option<&Value>) -> Value {
    match written {
        None => Value::Map(Map::new()),
        Some(Value::String(text)) if text.trim().is_empty() => Value::Map(Map::new()),
        Some(Value::String(text)) => match json::parse(text) {
            Ok(object @ Value::Map(_)) => object,
            _ => Value::String(text.clone()),
        },
        Some(other) => other.clone(),
    }
}

/// A text, one value, or a list of blocks. A block of an unknown kind is kept as data.
fn blocks(content: &Value) -> Vec<Block> {
    match content {
        Value::String(text) => vec![Block::Text(text.clone())],
        Value::List(items) => items.iter().map(block).collect(),
        other => vec![Block::Json(other.clone())],
    }
}

fn block(value: &Value) -> Block {
    if let Value::String(text) = value {
        return Block::Text(text.clone());
    }
    let text = |key| value.as_map().and_then(|map| map.get(key)?.as_str());
    let known = match (text("type"), text("value").or_else(|| text("text"))) {
        (Some("text"), Some(text)) => Some(Block::Text(text.to_owned())),
        (Some("file"), Some(path)) => Some(Block::File(file(path))),
        (Some("image"), Some(data)) if data.starts_with("data:") => {
            Some(Block::Image(Image::Data(data.to_owned())))
        }
        (Some("image"), Some(path)) => Some(Block::Image(Image::Path(file(path)))),
        _ => None,
    };
    let of_json = || match (text("type"), value.as_map()) {
        (Some("json"), Some(map)) => map.get("value").cloned(),
        _ => None,
    };
    known.unwrap_or_else(|| Block::Json(of_json().unwrap_or_else(|| value.clone())))
}

/// A file that an answer mentions is not an attachment, so it has no path.
fn file(value: &str) -> FileRef {
    FileRef { value: value.to_owned(), path: None }
}

/// The output in a tool message: a lone JSON block, else text.
fn output_of(message: &Message) -> Value {
    match message.content.as_slice() {
        [Block::Json(value)] => value.clone(),
        _ => Value::String(message.text().unwrap_or_default()),
    }
}

/// Images are left out: their data is not text.
fn plain_text(output: &Value) -> String {
    let is_image = |block: &Value| {
        let kind = block.as_map().and_then(|block| block.get("type")?.as_str());
        kind == Some("image")
    };
    match output {
        Value::List(blocks) if blocks.iter().any(is_image) => {
            let rest = blocks.iter().filter(|block| !is_image(block));
            let texts =
                rest.map(|block| match block.as_map().and_then(|block| block.get("text")) {
                    Some(Value::String(text)) => text.clone(),
                    _ => block.to_json(JsonStyle::Compact),
                });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_json(JsonStyle::Compact),
    }
}
