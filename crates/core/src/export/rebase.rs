//! Paths written down in another directory than before, so that they still lead to the same file
//! (spec 4).

use camino::{Utf8Path, Utf8PathBuf};

use crate::model::{Assertion, FileRef, Map, Value, looks_like_path};
use crate::reader::is_prompt_path;
use crate::source::{EntryKind, relative_path, without_dots};

use super::Context;

pub(super) struct Rebase<'a> {
    context: &'a Context<'a>,
    /// Where the paths will start, absolute.
    directory: &'a Utf8Path,
}

impl<'a> Rebase<'a> {
    pub(super) fn new(context: &'a Context<'a>, directory: &'a Utf8Path) -> Self {
        Self { context, directory }
    }

    /// A file that was not found keeps its written path: where it was searched is unknown.
    pub(super) fn file(&self, file: &FileRef) -> String {
        match &file.path {
            Some(path) if self.resolve(&file.value, self.directory) != *path => self.name(path),
            _ => file.value.clone(),
        }
    }

    /// A directory that the suite names.
    pub(super) fn directory(&self, path: &Utf8Path) -> String {
        match relative_path(self.directory, path) {
            here if here.is_empty() => ".".to_owned(),
            there if there.starts_with("..") => self.name(path),
            below => below,
        }
    }

    /// The options of an assertion. Its relative paths start at the file it is written in, which
    /// is not always the file of the test.
    pub(super) fn options(&self, assertion: &Assertion, options: &mut Map) {
        let source = self.context.sources.get(assertion.common.span.source);
        let from = source.path().parent().unwrap_or(source.path());
        if from == self.directory {
            return;
        }
        if let Some(Value::String(prompt)) = options.get("prompt")
            && (is_prompt_path(prompt) || (is_one_word(prompt) && self.is_file(prompt, from)))
        {
            let moved = self.written(prompt, from);
            options.insert("prompt", moved);
        }
        for key in ["overlay", "schema"] {
            if let Some(Value::String(path)) = options.get(key) {
                let moved = self.written(path, from);
                options.insert(key, moved);
            }
        }
        let Some(script) = options.get("script") else {
            return;
        };
        if let Value::List(parts) = script {
            let moved: Vec<Value> = parts.iter().map(|part| self.part(part, from)).collect();
            options.insert("script", moved);
        }
        // A script runs where it is written unless its author says otherwise.
        let cwd = match options.get("cwd").and_then(Value::as_str) {
            Some(cwd) => self.written(cwd, from),
            None => self.name(from),
        };
        options.insert("cwd", cwd);
    }

    /// The words of a command that was written in a file of the directory `from`.
    pub(super) fn command(&self, words: &[String], from: &Utf8Path) -> Vec<Value> {
        let words = words.iter().map(|word| Value::from(word.as_str()));
        if from == self.directory {
            return words.collect();
        }
        words.map(|word| self.part(&word, from)).collect()
    }

    /// One part of a command line; only one that names a file is a path.
    fn part(&self, part: &Value, from: &Utf8Path) -> Value {
        let Value::String(text) = part else {
            return part.clone();
        };
        if looks_like_path(text) && self.is_file(text, from) {
            self.written(text, from).into()
        } else {
            part.clone()
        }
    }

    /// A path that stood in a file of the directory `from`.
    fn written(&self, text: &str, from: &Utf8Path) -> String {
        if is_from_root(text) { text.to_owned() } else { self.name(&self.resolve(text, from)) }
    }

    fn is_file(&self, text: &str, from: &Utf8Path) -> bool {
        let path = self.resolve(text, from);
        self.context.files.kind(&path) == Some(EntryKind::File)
    }

    fn resolve(&self, written: &str, from: &Utf8Path) -> Utf8PathBuf {
        let text = written.strip_prefix("file://").unwrap_or(written);
        let joined = match text.strip_prefix('/') {
            Some(rest) => self.context.root.join(rest.trim_start_matches('/')),
            None => from.join(text),
        };
        without_dots(&joined)
    }

    /// From the repository root, which holds wherever the file is moved next; a place outside it
    /// can only be named from here.
    pub(super) fn name(&self, path: &Utf8Path) -> String {
        match path.strip_prefix(self.context.root) {
            Ok(rest) => format!("/{rest}"),
            Err(_) => relative_path(self.directory, path),
        }
    }
}

fn is_from_root(text: &str) -> bool {
    text.strip_prefix("file://").unwrap_or(text).starts_with('/')
}

fn is_one_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}
