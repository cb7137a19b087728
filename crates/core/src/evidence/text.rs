//! Messages as they are sent (spec 9.4): one text, or parts for chat providers.

use camino::Utf8PathBuf;

use crate::model::{Block, Fault, FileRef, Image, JsonStyle, Message, Role};
use crate::source::Files;
use crate::words;

use super::attachment::{EncodedImage, attribute, encode_image, inline_file, unchanged_path};
use super::placement::PlacedFile;

words! {
    /// How a prompt shows an attached file (spec 9.4).
    pub enum FilesMode {
        /// With its content.
        Inline = "inline",
        /// By absolute path.
        Paths = "paths",
        /// Not at all, because the command gets it another way.
        None = "none",
    }
}

/// Renders messages.
#[derive(Clone, Copy)]
pub struct Rendering<'a> {
    pub attachments: FilesMode,
    pub files: &'a dyn Files,
    /// Returns where written image data can be read, which the caller may have to put in a file.
    pub image_path: &'a dyn Fn(&str) -> Result<Utf8PathBuf, Fault>,
    /// Attached files that are in the workspace of the agent, which are named by their path there.
    pub placed: &'a [PlacedFile],
}

impl std::fmt::Debug for Rendering<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rendering").field("attachments", &self.attachments).finish_non_exhaustive()
    }
}

impl<'a> Rendering<'a> {
    /// For providers that accept image data, so that no file is written.
    pub fn for_chat(attachments: FilesMode, files: &'a dyn Files) -> Self {
        Self { attachments, files, image_path: &|_| Ok("(image data)".into()), placed: &[] }
    }

    /// All messages as one prompt.
    pub fn prompt(&self, messages: &[Message]) -> Result<String, Fault> {
        if let [only] = messages
            && only.role == Role::User
        {
            return self.message(only);
        }
        let mut sections = Vec::with_capacity(messages.len());
        for message in messages {
            let body = self.message(message)?;
            sections.push(if body.is_empty() {
                heading(message)
            } else {
                format!("{}\n{body}", heading(message))
            });
        }
        Ok(sections.join("\n\n"))
    }

    /// One message without its role.
    pub fn message(&self, message: &Message) -> Result<String, Fault> {
        let mut blocks = Vec::with_capacity(message.content.len());
        for block in &message.content {
            blocks.extend(self.block(block)?);
        }
        // Not specified by spec 9.4; without calls a conversation with tools would have gaps.
        for call in &message.tool_calls {
            let name = attribute(&call.name);
            let arguments = &call.arguments;
            blocks.push(format!("<tool_call name=\"{name}\">{arguments}</tool_call>"));
        }
        Ok(blocks.join("\n\n"))
    }

    /// The blocks of a message for a chat provider, which sends tool calls itself.
    pub fn parts(&self, message: &Message) -> Result<Vec<MessagePart>, Fault> {
        let mut parts = Vec::with_capacity(message.content.len());
        for block in &message.content {
            match block {
                Block::Image(image) => {
                    parts.push(MessagePart::Image(encode_image(image, self.files)?));
                }
                other => parts.extend(self.block(other)?.map(MessagePart::Text)),
            }
        }
        Ok(parts)
    }

    fn block(&self, block: &Block) -> Result<Option<String>, Fault> {
        Ok(match block {
            Block::Text(text) => Some(text.clone()),
            Block::Json(value) => Some(value.to_json(JsonStyle::Pretty)),
            Block::File(file) => self.file(file)?,
            Block::Image(image) => Some(self.image(image)?),
        })
    }

    fn file(&self, file: &FileRef) -> Result<Option<String>, Fault> {
        Ok(match self.attachments {
            FilesMode::Inline => {
                let path = self.place_of(file).unwrap_or(&file.value);
                Some(inline_file(file, path, self.files)?)
            }
            FilesMode::Paths => {
                let path = attribute(self.path_of(file)?);
                Some(format!("<file path=\"{path}\"/>"))
            }
            FilesMode::None => None,
        })
    }

    /// The place in the workspace, else the absolute path.
    fn path_of<'f>(&'f self, file: &'f FileRef) -> Result<&'f str, Fault> {
        match self.place_of(file) {
            Some(place) => Ok(place),
            None => unchanged_path(file, self.files),
        }
    }

    fn place_of(&self, file: &FileRef) -> Option<&str> {
        let is_source = |placed: &&PlacedFile| Some(&placed.source) == file.path.as_ref();
        self.placed.iter().find(is_source).map(|placed| placed.path.as_str())
    }

    /// The path is absolute in every mode, so that the image can be opened.
    fn image(&self, image: &Image) -> Result<String, Fault> {
        let path = match image {
            Image::Path(file) => attribute(self.path_of(file)?),
            Image::Data(data) => attribute((self.image_path)(data)?.as_str()),
        };
        Ok(format!("<image path=\"{path}\"/>"))
    }
}

/// `[user]`, `[tool NAME]`.
fn heading(message: &Message) -> String {
    let role = message.role.word();
    match &message.name {
        Some(name) if message.role == Role::Tool => {
            let name: Vec<&str> = name.split_whitespace().collect();
            format!("[{role} {}]", name.join(" "))
        }
        _ => format!("[{role}]"),
    }
}

/// One block of a message for a chat provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePart {
    Text(String),
    Image(EncodedImage),
}

#[cfg(test)]
mod tests {
    use super::super::testing::{csv_sample, file, text};
    use super::*;
    use crate::model::{FaultKind, Map, Stage, ToolCall, Value};
    use crate::source::MemoryFiles;

    fn show(messages: &[Message], attachments: FilesMode) -> Result<String, Fault> {
        let files = MemoryFiles::new().with("/p/a.txt", "one\ntwo");
        let rendering = Rendering {
            attachments,
            files: &files,
            image_path: &|data| Ok(format!("/tmp/{}.png", data.len()).into()),
            placed: &[],
        };
        rendering.prompt(messages)
    }

    #[test]
    fn files_in_the_workspace_are_named_by_their_place_there() {
        let placed = [PlacedFile { source: "/p/a.txt".into(), path: "files/a.txt".to_owned() }];
        let files = MemoryFiles::new().with("/p/a.txt", "one");
        for (mode, shown) in [
            (FilesMode::Paths, "<file path=\"files/a.txt\"/>"),
            (FilesMode::Inline, "<file path=\"files/a.txt\">\none\n</file>"),
        ] {
            let rendering = Rendering { placed: &placed, ..Rendering::for_chat(mode, &files) };
            let block = Block::File(file("../p/a.txt", "/p/a.txt"));
            let message = Message::new(Role::User, vec![block]);
            assert_eq!(rendering.message(&message).unwrap(), shown);
        }
    }

    fn blocks() -> Vec<Block> {
        let mut map = Map::new();
        map.insert("a", true);
        vec![
            text("Look:"),
            Block::File(file("files/a.txt", "/p/a.txt")),
            Block::Json(map.into()),
            Block::Image(Image::Path(file("b.png", "/p/b.png"))),
            Block::Image(Image::Data("data:x".to_owned())),
        ]
    }

    #[test]
    fn a_single_user_message_is_its_blocks() {
        let message = [Message::new(Role::User, blocks())];
        let images = "<image path=\"/p/b.png\"/>\n\n<image path=\"/tmp/6.png\"/>";
        for (attachments, shown) in [
            (FilesMode::Inline, "<file path=\"files/a.txt\">\none\ntwo\n</file>\n\n"),
            (FilesMode::Paths, "<file path=\"/p/a.txt\"/>\n\n"),
            (FilesMode::None, ""),
        ] {
            assert_eq!(
                show(&message, attachments).unwrap(),
                format!("Look:\n\n{shown}{{\n  \"a\": true\n}}\n\n{images}")
            );
        }
    }

    #[test]
    fn several_messages_have_headings() {
        let say = |role, said: &str| Message::new(role, vec![text(said)]);
        let messages = [
            say(Role::System, "Be brief"),
            say(Role::User, "Hi"),
            Message {
                tool_calls: vec![ToolCall {
                    id: "call_1".to_owned(),
                    name: "ls".to_owned(),
                    arguments: "{}".to_owned(),
                }],
                ..Message::new(Role::Assistant, Vec::new())
            },
            Message { name: Some("ls".to_owned()), ..say(Role::Tool, "a.txt") },
            say(Role::Tool, ""),
            say(Role::User, "Thanks"),
        ];
        assert_eq!(
            show(&messages, FilesMode::Inline).unwrap(),
            "[system]\nBe brief\n\n[user]\nHi\n\n\
             [assistant]\n<tool_call name=\"ls\">{}</tool_call>\n\n\
             [tool ls]\na.txt\n\n[tool]\n\n[user]\nThanks"
        );
        let alone = [say(Role::System, "Be brief")];
        assert_eq!(show(&alone, FilesMode::Inline).unwrap(), "[system]\nBe brief");
        assert_eq!(show(&[], FilesMode::Inline).unwrap(), "");
    }

    #[test]
    fn a_fault_in_one_block_is_a_fault_of_the_prompt() {
        let block = Block::File(file("gone.txt", "/p/gone.txt"));
        let message = [Message::new(Role::User, vec![block])];
        let fault = show(&message, FilesMode::Inline).unwrap_err();
        assert_eq!((fault.stage, fault.kind), (Stage::Target, FaultKind::Io));
        assert!(fault.message.starts_with("cannot attach `gone.txt`"));
        // The agent opens it by path.
        assert!(show(&message, FilesMode::Paths).is_ok());
    }

    #[test]
    fn chat_providers_get_parts() {
        let sample = csv_sample();
        let chat = Rendering::for_chat(FilesMode::Inline, &sample.files);
        let parts = chat.parts(&sample.test.input[0]).unwrap();
        assert_eq!(
            parts,
            [
                MessagePart::Text("<file path=\"files/sales.csv\">\nmonth,usd\n</file>".to_owned()),
                MessagePart::Text("Find the top 3 months by revenue.".to_owned()),
            ]
        );
        let message = Message::new(
            Role::User,
            vec![Block::Json(Value::Null), Block::Image(Image::Data("/9j/AAAA".to_owned()))],
        );
        let parts = chat.parts(&message).unwrap();
        assert_eq!(parts[0], MessagePart::Text("null".to_owned()));
        let none = Rendering::for_chat(FilesMode::None, &sample.files);
        assert_eq!(none.parts(&sample.test.input[0]).unwrap().len(), 1);
        assert!(matches!(&parts[1], MessagePart::Image(image) if image.media_type == "image/jpeg"));
    }
}
