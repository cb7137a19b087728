//! The prompt of an entry and its files (spec 12.4).

use std::borrow::Cow;

use camino::Utf8Path;

use crate::diagnostic::Diagnostic;
use crate::evidence::question;
use crate::model::{Block, FileRef, Test};
use crate::source::{Sources, without_dots};
use crate::transpile_rules::{NO_PROMPT, no_prompt};

use super::entry::distinct;
use super::first_line;

/// The last user message. Reported if it is blank or missing.
pub(super) fn prompt_of(test: &Test, out: &mut Vec<Diagnostic>) -> String {
    match question(&test.input) {
        Some(text) if !text.trim().is_empty() => text,
        other => {
            let message = match other {
                Some(_) => format!("the last user message of test `{}` has no text", test.id),
                None => format!("no message of test `{}` comes from the user", test.id),
            };
            out.push(no_prompt(test.span, message).of_test(test.position));
            String::new()
        }
    }
}

/// Moves the diagnostic to the test's first line, which is known only once its source is read.
pub(super) fn narrowed(mut one: Diagnostic, sources: &Sources) -> Diagnostic {
    if one.code == &NO_PROMPT {
        one.span = first_line(sources, one.span);
    }
    one
}

/// The attached files of all messages.
pub(super) fn files_of<'t>(test: &'t Test, skill_root: Option<&Utf8Path>) -> Vec<Cow<'t, str>> {
    let blocks = test.input.iter().flat_map(|message| &message.content);
    let files = blocks.filter_map(Block::file);
    distinct(files.map(|file| written_path(file, skill_root)).collect())
}

/// As written, unless a reader of evals.json, who starts at the root of the skill, would find another
/// file: then from that root.
pub(super) fn written_path<'f>(file: &'f FileRef, skill_root: Option<&Utf8Path>) -> Cow<'f, str> {
    let moved = skill_root.zip(file.path.as_deref()).and_then(|(root, path)| {
        let is_found = without_dots(&root.join(&file.value)) == path;
        path.strip_prefix(root).ok().filter(|_| !is_found && is_relative(&file.value))
    });
    moved.map_or(Cow::Borrowed(&file.value), |path| Cow::Borrowed(path.as_str()))
}

pub(super) fn is_relative(path: &str) -> bool {
    !path.starts_with('/') && !path.contains("://")
}
