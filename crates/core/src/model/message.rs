//! Messages and their content blocks.

use camino::Utf8PathBuf;

use super::json_text::JsonStyle;
use super::value::{Map, Value};

crate::words! {
    pub enum Role {
        System = "system",
        User = "user",
        Assistant = "assistant",
        Tool = "tool",
    }
}

/// A file named by a test. `path` is absolute, and `None` if the text is not a valid path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    /// As written, after interpolation.
    pub value: String,
    pub path: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    Path(FileRef),
    /// A `data:` URI or base64, as written.
    Data(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Text(String),
    File(FileRef),
    Image(Image),
    Json(Value),
}

impl Block {
    pub const TYPES: &'static [&'static str] = &["text", "file", "image", "json"];

    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::File(_) => "file",
            Self::Image(_) => "image",
            Self::Json(_) => "json",
        }
    }

    /// The canonical shape of `show --format json`, which scripts read too.
    pub(crate) fn to_value(&self) -> Value {
        let value = match self {
            Self::Text(text) | Self::Image(Image::Data(text)) => text.as_str().into(),
            Self::File(file) | Self::Image(Image::Path(file)) => file.value.as_str().into(),
            Self::Json(value) => value.clone(),
        };
        let map = Map::new().with("type", self.type_name());
        map.with("value", value).into()
    }

    /// The attached file, if this block names one.
    pub fn file(&self) -> Option<&FileRef> {
        match self {
            Self::File(file) | Self::Image(Image::Path(file)) => Some(file),
            _ => None,
        }
    }
}

/// `arguments` is the text of a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    pub content: Vec<Block>,
    pub tool_calls: Vec<ToolCall>,
    pub tool_call_id: Option<String>,
    pub name: Option<String>,
}

impl Message {
    pub fn new(role: Role, content: Vec<Block>) -> Self {
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None, name: None }
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Block::Text(text.into())])
    }

    /// The canonical shape of `show --format json`.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new().with("role", self.role.word());
        let blocks: Vec<Value> = self.content.iter().map(Block::to_value).collect();
        map.insert("content", blocks);
        if !self.tool_calls.is_empty() {
            let calls: Vec<Value> = self.tool_calls.iter().map(ToolCall::to_value).collect();
            map.insert("toolCalls", calls);
        }
        map.insert_some("toolCallId", self.tool_call_id.as_deref());
        map.insert_some("name", self.name.as_deref());
        map.into()
    }

    /// Its text blocks.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Text blocks joined with line breaks; `json` blocks as compact JSON if none of them is text.
    pub fn text(&self) -> Option<String> {
        let texts: Vec<&str> = self.texts().collect();
        if !texts.is_empty() {
            return Some(texts.join("\n"));
        }
        let values: Vec<String> = self
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Json(value) => Some(value.to_json(JsonStyle::Compact)),
                _ => None,
            })
            .collect();
        (!values.is_empty()).then(|| values.join("\n"))
    }
}

impl ToolCall {
    fn to_value(&self) -> Value {
        let map = Map::new()
            .with("id", self.id.as_str())
            .with("name", self.name.as_str())
            .with("arguments", self.arguments.as_str());
        map.into()
    }
}
