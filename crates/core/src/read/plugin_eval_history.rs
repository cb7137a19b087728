//! `history_file` of a case of `claude plugin eval`: a transcript of Claude Code as earlier messages
//! (spec 15.5).

use crate::diagnostic::{Diagnostic, Level};
use crate::model::{Map, Value};
use crate::reader::{Reported, Resolved};
use crate::source::{EntryKind, Spanned};
use crate::syntax::json_value;

use super::loader::Loader;
use super::plugin_eval::{INVALID_PLUGIN_EVAL, PLUGIN_EVAL_LOSS, said};

impl Loader<'_, '_> {
    /// What was said before; calls of tools are left out.
    pub(super) fn history(&mut self, written: &Spanned<String>) -> Result<Vec<Value>, Reported> {
        let Spanned { value, span } = written;
        let Some(Resolved(path)) = self.reader.resolve(value, *span, Level::Blocking) else {
            return Err(Reported);
        };
        if self.reader.kind_of(&path) != Some(EntryKind::File) {
            let message = format!("no file at `{}`", self.reader.shown(&path));
            let help = "paths start at the directory of the case";
            self.reader.report(Diagnostic::new(&INVALID_PLUGIN_EVAL, *span, message).help(help));
            return Err(Reported);
        }
        let source = self.read_file(&path).ok_or(Reported)?;
        let text = self.reader.sources.get(source).shared_text();
        self.imported.insert(path);
        let mut messages = Vec::new();
        let mut is_complete = true;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = json_value(line);
            let Some(message) = line.as_ref().and_then(Value::as_map).and_then(message_of) else {
                continue;
            };
            let (role, text, is_whole) = message;
            is_complete &= is_whole;
            if !text.trim().is_empty() {
                messages.push(said(role, &text));
            }
        }
        if !is_complete {
            let message = "the tool calls in this file are left out";
            self.reader.report(Diagnostic::new(&PLUGIN_EVAL_LOSS, *span, message));
        }
        if messages.is_empty() {
            let message = "this file has no messages";
            let help = "a transcript of Claude Code has one JSON object per line";
            self.reader.report(Diagnostic::new(&INVALID_PLUGIN_EVAL, *span, message).help(help));
            return Err(Reported);
        }
        Ok(messages)
    }
}

/// Role, text, and whether that is all of the message. `None` for other lines of a transcript.
fn message_of(line: &Map) -> Option<(&'static str, String, bool)> {
    let message = line.get("message").and_then(Value::as_map).unwrap_or(line);
    let role = match message.get("role")?.as_str()? {
        "user" => "user",
        "assistant" => "assistant",
        _ => return None,
    };
    match message.get("content")? {
        Value::String(text) => Some((role, text.clone(), true)),
        Value::List(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(text_of).collect();
            let is_whole = blocks.iter().all(|block| text_of(block).is_some());
            Some((role, texts.join("\n"), is_whole))
        }
        _ => None,
    }
}

fn text_of(block: &Value) -> Option<&str> {
    let block = block.as_map()?;
    let is_text = block.get("type")?.as_str()? == "text";
    block.get("text").filter(|_| is_text)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_transcript_is_a_message_or_something_else() {
        let read = |text: &str| json_value(text).and_then(|line| message_of(line.as_map()?));
        let plain = r#"{"type":"user","message":{"role":"user","content":"Hi"}}"#;
        assert_eq!(read(plain), Some(("user", "Hi".to_owned(), true)));
        let blocks = r#"{"role":"assistant","content":[{"type":"text","text":"a"},
            {"type":"tool_use","name":"Read"},{"type":"text","text":"b"}]}"#;
        assert_eq!(read(blocks), Some(("assistant", "a\nb".to_owned(), false)));
        assert_eq!(read(r#"{"type":"summary","summary":"x"}"#), None);
        assert_eq!(read(r#"{"role":"system","content":"x"}"#), None);
    }
}
