//! What an answer depends on, as one digest.

use evalrig_core::evidence::FilesMode;
use evalrig_core::model::{JsonStyle, Map, Message, Value};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Files;
use sha2::{Digest, Sha256};

use crate::text::hex;

/// Changes whenever equal questions must not find earlier answers.
const VERSION: u64 = 1;

/// Names an answer: 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerKey(String);

/// A case as its target sees it.
#[derive(Clone, Copy)]
pub(crate) struct AskedCase<'a> {
    /// Of the target: its settings and its program.
    pub(crate) identity: &'a str,
    /// How attached files are shown to it.
    pub(crate) attachments: FilesMode,
    pub(crate) messages: &'a [Message],
    pub(crate) files: &'a dyn Files,
    /// The id of the test, if the target is told.
    pub(crate) test_id: Option<&'a str>,
    pub(crate) trial: u32,
    /// Digest of the skill that the suite belongs to.
    pub(crate) skill: Option<&'a str>,
}

impl AnswerKey {
    /// The one place that says what an answer depends on. A case with a workspace has to add the hash
    /// of its template here, and whatever else prepares its directory.
    ///
    /// `None` if the content of an attached file is not known. Secrets count as `***`, so that the key
    /// says nothing about them.
    pub(crate) fn of(asked: &AskedCase<'_>, secrets: &Secrets) -> Option<Self> {
        let mut messages = Vec::with_capacity(asked.messages.len());
        let mut attached = Vec::new();
        for message in asked.messages {
            let mut shown = message.to_value();
            secrets.redact_data(&mut shown);
            messages.push(shown);
            for file in message.content.iter().filter_map(|block| block.file()) {
                attached.push(attached_value(asked, file.path.as_deref()?)?);
            }
        }
        let mut map = Map::new();
        map.insert("version", Value::from(VERSION));
        map.insert("target", asked.identity);
        map.insert("files", asked.attachments.word());
        map.insert("messages", messages);
        map.insert("attached", attached);
        map.insert_some("test", asked.test_id);
        map.insert("trial", asked.trial);
        map.insert_some("skill", asked.skill);
        let text = Value::Map(map).to_json(JsonStyle::Sorted);
        Some(Self(hex(&Sha256::digest(text))))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn testing(name: &str) -> Self {
        Self(name.to_owned())
    }
}

/// The content of an attached file, and where the target is told where it is, its path.
fn attached_value(asked: &AskedCase<'_>, path: &camino::Utf8Path) -> Option<Value> {
    let digest = asked.files.digest(path)?;
    let digest = hex(&digest);
    let mut map = Map::new();
    map.insert("digest", digest);
    if asked.attachments != FilesMode::Inline {
        map.insert("path", path.as_str());
    }
    Some(map.into())
}

#[cfg(test)]
mod tests {
    use std::io;

    use camino::{Utf8Path, Utf8PathBuf};
    use evalrig_core::model::{Block, FileRef, Role};
    use evalrig_core::source::{DirectoryListing, FileFacts, Reach};

    use super::*;

    /// Files of which only digests are known.
    #[derive(Debug)]
    struct Digests(Vec<(&'static str, u8)>);

    impl Files for Digests {
        fn look(&self, _: &Utf8Path, _: Reach<'_>) -> io::Result<FileFacts> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn read(&self, _: &Utf8Path, _: Reach<'_>, _: u64) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn open(&self, _: &Utf8Path, _: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
            Ok(path.to_owned())
        }

        fn list(&self, _: &Utf8Path, _: Reach<'_>) -> io::Result<DirectoryListing> {
            Ok(DirectoryListing::default())
        }

        fn digest(&self, path: &Utf8Path) -> Option<[u8; 32]> {
            let known = self.0.iter().find(|(name, _)| path == *name);
            known.map(|(_, content)| [*content; 32])
        }
    }

    fn attached(path: &str) -> Message {
        let file = FileRef { value: "notes.md".to_owned(), path: Some(path.into()) };
        Message::new(Role::User, vec![Block::File(file)])
    }

    fn key(change: impl FnOnce(&mut AskedCase<'_>)) -> Option<AnswerKey> {
        let messages = [Message::user("Hi, topsecret1"), attached("/p/notes.md")];
        let files = Digests(vec![("/p/notes.md", 1), ("/q/notes.md", 1), ("/p/other", 2)]);
        let mut asked = AskedCase {
            identity: "mock",
            attachments: FilesMode::Inline,
            messages: &messages,
            files: &files,
            test_id: None,
            trial: 1,
            skill: None,
        };
        change(&mut asked);
        let mut secrets = Secrets::default();
        secrets.add("topsecret1");
        secrets.add("topsecret2");
        AnswerKey::of(&asked, &secrets)
    }

    #[test]
    fn whatever_a_target_sees_is_part_of_the_key() {
        let plain = key(|_| {}).unwrap();
        assert_eq!(plain.as_str().len(), 64);
        assert_eq!(key(|_| {}), Some(plain.clone()));
        let other = [Message::user("Hello"), attached("/p/notes.md")];
        let file = [Message::user("Hi, topsecret1"), attached("/p/other")];
        for (what, changed) in [
            ("target", key(|asked| asked.identity = "mock2")),
            ("mode", key(|asked| asked.attachments = FilesMode::Paths)),
            ("question", key(|asked| asked.messages = leaked(&other))),
            ("file", key(|asked| asked.messages = leaked(&file))),
            ("test", key(|asked| asked.test_id = Some("a"))),
            ("trial", key(|asked| asked.trial = 2)),
            ("skill", key(|asked| asked.skill = Some("x"))),
        ] {
            assert_ne!(changed.unwrap(), plain, "{what}");
        }
    }

    #[test]
    fn a_path_counts_only_where_it_is_shown_and_a_secret_never() {
        let moved = [Message::user("Hi, topsecret1"), attached("/q/notes.md")];
        let moved: &'static [Message] = leaked(&moved);
        assert_eq!(key(|asked| asked.messages = moved), key(|_| {}));
        let with_paths = |messages: Option<&'static [Message]>| {
            key(|asked| {
                asked.attachments = FilesMode::Paths;
                if let Some(messages) = messages {
                    asked.messages = messages;
                }
            })
        };
        assert_ne!(with_paths(Some(moved)), with_paths(None));
        let other_secret = [Message::user("Hi, topsecret2"), attached("/p/notes.md")];
        let other_secret = leaked(&other_secret);
        assert_eq!(key(|asked| asked.messages = other_secret), key(|_| {}));
        let unknown = [attached("/p/unknown")];
        let unknown = leaked(&unknown);
        assert_eq!(key(|asked| asked.messages = unknown), None);
    }

    /// Messages that outlive the closure that uses them.
    fn leaked(messages: &[Message]) -> &'static [Message] {
        Box::leak(messages.to_vec().into_boxed_slice())
    }
}
