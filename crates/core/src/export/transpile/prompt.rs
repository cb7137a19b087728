//! The prompt of an entry and its files (spec 12.4).

use crate::diagnostic::Diagnostic;
use crate::evidence::question;
use crate::model::{Block, Test};
use crate::source::Sources;
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

/// The attached files of all messages, as written.
pub(super) fn files_of(test: &Test) -> Vec<&str> {
    let blocks = test.input.iter().flat_map(|message| &message.content);
    let files = blocks.filter_map(Block::file);
    distinct(files.map(|file| file.value.as_str()).collect())
}
