//! The input as agents take it: one text, or messages with parts (spec 9.4).

use std::hash::{DefaultHasher, Hash, Hasher};

use camino::Utf8PathBuf;
use evalrig_core::evidence::{EncodedImage, MessagePart, Rendering, unchanged_path};
use evalrig_core::model::{Block, Fault, FaultKind, Image, Message, Role, Stage};

use crate::disk::{Access, Durability, replace};
use crate::setting::FilesMode;

use super::request::{AttemptFault, Purpose, Request};

/// The whole input as one text.
pub(crate) fn prompt(request: &Request<'_>, files: FilesMode) -> Result<String, AttemptFault> {
    let image_path = |data: &str| image_file(request, data);
    let rendering = Rendering {
        attachments: files,
        files: request.files,
        image_path: &image_path,
        placed: request.placed(),
    };
    Ok(rendering.prompt(request.messages)?)
}

/// The input of an agent that takes system messages apart.
#[derive(Debug)]
pub(crate) struct PromptParts {
    pub(crate) system: Option<String>,
    pub(crate) prompt: String,
}

/// System messages that together are longer than `longest` bytes stay in the prompt.
pub(crate) fn prompt_parts(
    request: &Request<'_>,
    files: FilesMode,
    longest: usize,
) -> Result<PromptParts, AttemptFault> {
    let is_system = |message: &&Message| message.role == Role::System;
    let (system, others): (Vec<&Message>, Vec<&Message>) =
        request.messages.iter().partition(is_system);
    let rendering = Rendering::for_chat(files, request.files);
    let texts: Result<Vec<_>, _> =
        system.into_iter().map(|message| rendering.message(message)).collect();
    let system = texts?.join("\n\n");
    if system.is_empty() || system.len() > longest || others.is_empty() {
        return Ok(PromptParts { system: None, prompt: prompt(request, files)? });
    }
    let others: Vec<Message> = others.into_iter().cloned().collect();
    let prompt = prompt(&Request { messages: &others, ..*request }, files)?;
    Ok(PromptParts { system: Some(system), prompt })
}

/// One message of a chat.
pub(crate) fn parts(
    request: &Request<'_>,
    message: &Message,
) -> Result<Vec<MessagePart>, AttemptFault> {
    let rendering = Rendering::for_chat(request.attachments, request.files);
    Ok(rendering.parts(message)?)
}

/// Absolute paths of attached files and images, in order; image data is written to the scratch
/// directory.
pub(crate) fn attached(request: &Request<'_>) -> Result<Vec<Utf8PathBuf>, AttemptFault> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let mut paths = Vec::new();
    for block in blocks {
        match block {
            Block::Image(Image::Data(data)) => paths.push(image_file(request, data)?),
            other => {
                if let Some(file) = other.file().filter(|file| file.path.is_some()) {
                    paths.push(match request.place_of(file) {
                        Some(path) => path,
                        None => unchanged_path(file, request.files)?.into(),
                    });
                }
            }
        }
    }
    Ok(paths)
}

/// The rendered question: the last user message. For a judge it is the first one, because later
/// ones ask it to repair its reply.
pub(crate) fn asked_text(request: &Request<'_>) -> Result<String, AttemptFault> {
    let is_user = |message: &&Message| message.role == Role::User;
    let asked = match request.purpose {
        Purpose::Case => request.messages.iter().rev().find(is_user),
        Purpose::Judge => request.messages.iter().find(is_user),
    };
    let Some(asked) = asked else {
        return Ok(String::new());
    };
    let rendering = Rendering::for_chat(request.attachments, request.files);
    Ok(rendering.message(asked)?)
}

/// Writes image data to a file. The name is a hash, so that attempts and calls share the file.
fn image_file(request: &Request<'_>, data: &str) -> Result<Utf8PathBuf, Fault> {
    let image = EncodedImage::of_data(data)?;
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    let name = format!("image-{:016x}.{}", hasher.finish(), image.extension());
    let path = request.scratch()?.join(name);
    replace(&path, &image.bytes(), Access::Private, Durability::Unsynced).map_err(|error| {
        let message = format!("cannot write a temporary file: {error}");
        Fault::new(Stage::Target, FaultKind::Io, message)
    })?;
    Ok(path)
}
