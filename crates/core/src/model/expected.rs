//! The reference output of a test (spec 3.5).

use camino::Utf8PathBuf;

use super::json_text::JsonStyle;
use super::message::{Block, Message, Role};
use super::value::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    Text(String),
    Messages(Vec<Message>),
    Structured(Value),
}

impl Expected {
    /// The flattened text; `None` for messages without assistant text.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Structured(value) => Some(value.to_json(JsonStyle::Compact)),
            Self::Messages(messages) => messages
                .iter()
                .rev()
                .filter(|message| message.role == Role::Assistant)
                .find_map(Message::text),
        }
    }

    /// The files that it consists of.
    pub fn files(&self) -> Vec<Utf8PathBuf> {
        let Self::Messages(messages) = self else {
            return Vec::new();
        };
        let blocks = messages.iter().flat_map(|message| &message.content);
        blocks.filter_map(|block| Block::file(block)?.path.clone()).collect()
    }

    /// The canonical shape of `show --format json`.
    pub fn to_value(&self) -> Value {
        let (kind, value) = match self {
            Self::Text(text) => ("text", text.as_str().into()),
            Self::Structured(value) => ("structured", value.clone()),
            Self::Messages(messages) => {
                ("messages", Value::List(messages.iter().map(Message::to_value).collect()))
            }
        };
        let map = Map::new().with("kind", kind).with("value", value);
        map.with_some("text", self.text()).into()
    }
}
