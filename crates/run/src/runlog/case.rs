//! A case of a suite → a run of a record.

use std::time::SystemTime;

use camino::Utf8Path;
use evalrig_core::evidence::{FilesMode, Rendering, message_to_value, question};
use evalrig_core::model::{
    Block, Image, JsonStyle, Message, Outcome, Role, Test, Transcript, Value, answer_of,
};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Files;

use crate::results::Row;

use super::new_run::{NewRun, UserMessage};
use super::revise::evaluation;
use super::tools_called::{shown_call, tools_called};
use crate::clock::local_time;

/// A case that has a transcript. Others are not recorded.
#[derive(Clone, Copy)]
pub struct CaseRun<'a> {
    pub test: &'a Test,
    pub transcript: &'a Transcript,
    /// How it was graded.
    pub row: &'a Row,
    /// Where the target ran.
    pub cwd: &'a Utf8Path,
    pub secrets: &'a Secrets,
    /// For the attachments.
    pub files: &'a dyn Files,
    pub time: SystemTime,
}

impl std::fmt::Debug for CaseRun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaseRun").field("test", &self.test.id).finish_non_exhaustive()
    }
}

impl From<CaseRun<'_>> for NewRun {
    fn from(case: CaseRun<'_>) -> Self {
        let CaseRun { test, transcript, row, .. } = case;
        let sent = test.input.iter().map(|message| sent_message(message, case.files));
        let received = transcript.messages.iter().map(received_message);
        let mut new = Self {
            asked: input_sequence(&test.input, case.files),
            output: transcript.answer.clone(),
            tools_called: shown_calls(transcript, case.secrets),
            expected: expected(test),
            evaluation: evaluation_of(row, case.secrets),
            model: match &transcript.model {
                Some(model) => model.clone(),
                None => row.target.clone(),
            },
            cwd: case.cwd.to_string(),
            tokens: transcript.tokens.map(|tokens| tokens.total()),
            cost_usd: transcript.cost_usd,
            duration_ms: transcript.duration_ms,
            timestamp: local_time(case.time),
            messages: sent.chain(received).collect(),
        };
        new.redact(case.secrets);
        new
    }
}

/// What identifies a record (spec 13.1): the user messages in order. A test without one
/// counts as one message, its rendered input.
pub fn input_sequence(input: &[Message], files: &dyn Files) -> Vec<UserMessage> {
    let users: Vec<usize> = (0..input.len()).filter(|&at| input[at].role == Role::User).collect();
    if users.is_empty() {
        return vec![UserMessage::new(rendered(input, files))];
    }
    let ends = users.iter().skip(1).copied().chain([input.len()]);
    let asked = users.iter().zip(ends).map(|(&at, end)| {
        let reply = answer_of(&input[at + 1..end]);
        UserMessage {
            text: question(std::slice::from_ref(&input[at])).unwrap_or_default(),
            attachments: input[at].content.iter().filter_map(attachment).collect(),
            reply: (end < input.len()).then_some(reply),
        }
    });
    asked.collect()
}

fn attachment(block: &Block) -> Option<String> {
    match block {
        Block::File(file) => Some(format!("[file: {}]", file.value)),
        Block::Image(Image::Path(file)) => Some(format!("[image: {}]", file.value)),
        Block::Image(Image::Data(_)) => Some("[image]".to_owned()),
        Block::Text(_) | Block::Json(_) => None,
    }
}

fn expected(test: &Test) -> Option<String> {
    let written = test.expected_output.as_ref().and_then(|one| one.text());
    written.or_else(|| Some(test.criteria.as_deref()?.trim().to_owned()))
}

/// Notes are cut, so that a secret in them must go before.
fn evaluation_of(row: &Row, secrets: &Secrets) -> String {
    let notes = || secrets.redact(&row.misses.join("; "));
    match row.outcome {
        Outcome::Passed => evaluation("pass", ""),
        Outcome::Borderline => evaluation("borderline", &notes()),
        Outcome::Failed => evaluation("fail", &notes()),
        Outcome::Errored => {
            let message = row.error.as_ref().map(|error| error.message.as_str());
            evaluation("error", &secrets.redact(message.unwrap_or_default()))
        }
        Outcome::Skipped => String::new(),
    }
}

/// Arguments are cut, so that a secret in them must go before.
fn shown_calls(transcript: &Transcript, secrets: &Secrets) -> Vec<String> {
    let calls = transcript.calls.as_deref().unwrap_or_default();
    if secrets.is_empty() {
        return tools_called(calls);
    }
    let shown = calls.iter().map(|call| {
        let mut args = call.args.clone();
        secrets.redact_data(&mut args);
        shown_call(&call.tool, &args)
    });
    shown.collect()
}

/// All messages as one text; files that cannot be shown are named.
fn rendered(input: &[Message], files: &dyn Files) -> String {
    let shown = |attachments| Rendering::for_chat(attachments, files).prompt(input);
    shown(FilesMode::Inline).or_else(|_| shown(FilesMode::None)).unwrap_or_default()
}

/// Its content as text (spec 9.4).
fn sent_message(message: &Message, files: &dyn Files) -> Value {
    let words = Message { tool_calls: Vec::new(), ..message.clone() };
    let shown = |attachments| Rendering::for_chat(attachments, files).message(&words);
    let text = shown(FilesMode::Inline).or_else(|_| shown(FilesMode::Paths));
    let text = text.or_else(|_| shown(FilesMode::None)).unwrap_or_default();
    with_text(message, text)
}

/// Texts joined as in the answer, so that replaying gives the same answer.
pub(super) fn received_message(message: &Message) -> Value {
    let parts = message.content.iter().map(|block| match block {
        Block::Text(text) => text.clone(),
        Block::Json(value) => value.to_json(JsonStyle::Compact),
        other => attachment(other).unwrap_or_default(),
    });
    let parts: Vec<String> = parts.collect();
    with_text(message, parts.join("\n"))
}

fn with_text(message: &Message, text: String) -> Value {
    let content = if message.content.is_empty() { Vec::new() } else { vec![Block::Text(text)] };
    message_to_value(&Message { content, ..message.clone() })
}

impl NewRun {
    /// Redacts the run before it is stored (spec 9.5).
    pub fn redact(&mut self, secrets: &Secrets) {
        if !secrets.is_empty() {
            redact(self, secrets);
        }
    }
}

fn redact(new: &mut NewRun, secrets: &Secrets) {
    for asked in &mut new.asked {
        secrets.redact_in_place(&mut asked.text);
        for line in &mut asked.attachments {
            secrets.redact_in_place(line);
        }
        if let Some(reply) = &mut asked.reply {
            secrets.redact_in_place(reply);
        }
    }
    for text in [&mut new.output, &mut new.evaluation, &mut new.model, &mut new.cwd] {
        secrets.redact_in_place(text);
    }
    if let Some(expected) = &mut new.expected {
        secrets.redact_in_place(expected);
    }
    for call in &mut new.tools_called {
        secrets.redact_in_place(call);
    }
    for message in &mut new.messages {
        secrets.redact_data(message);
    }
    new.tokens = new.tokens.filter(|tokens| !secrets.is_measure_secret(tokens));
    new.cost_usd = new.cost_usd.filter(|cost| !secrets.is_measure_secret(cost));
    new.duration_ms = new.duration_ms.filter(|took| !secrets.is_measure_secret(took));
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::FileRef;
    use evalrig_core::source::MemoryFiles;

    use super::*;
    use crate::results::testing::row;

    fn said(role: Role, text: &str) -> Message {
        Message::new(role, vec![Block::Text(text.to_owned())])
    }

    #[test]
    fn a_sequence_is_the_user_messages_with_what_is_scripted_between() {
        let file = FileRef { value: "a.csv".to_owned(), path: None };
        let mut second = said(Role::User, "two");
        second.content.push(Block::File(file.clone()));
        second.content.push(Block::Image(Image::Path(file)));
        second.content.push(Block::Image(Image::Data("x".to_owned())));
        let input = [
            said(Role::System, "S"),
            said(Role::User, "one"),
            said(Role::Assistant, "first"),
            second,
        ];
        let asked = input_sequence(&input, &MemoryFiles::new());
        assert_eq!(asked[0].input(), "one");
        assert_eq!(asked[0].reply.as_deref(), Some("first"));
        let lines = "two\n[file: a.csv]\n[image: a.csv]\n[image]";
        assert_eq!(asked[1].input(), lines);
        assert_eq!(asked[1].reply, None);
    }

    #[test]
    fn a_secret_is_gone_before_notes_are_cut() {
        let mut secrets = Secrets::default();
        secrets.add("sk-very-secret");
        let row = Row {
            outcome: Outcome::Failed,
            misses: vec![format!("{} sk-very-secret", "a".repeat(190))],
            ..row("a", 1)
        };
        let shown = evaluation_of(&row, &secrets);
        assert_eq!(shown, format!("fail: {} ***", "a".repeat(190)));
    }

    #[test]
    fn without_a_user_message_the_rendered_input_counts() {
        let asked = input_sequence(&[said(Role::System, "S")], &MemoryFiles::new());
        assert_eq!(asked, [UserMessage::new("[system]\nS")]);
    }

    #[test]
    fn blocks_of_an_answer_are_joined_as_in_the_answer() {
        let mut message = said(Role::Assistant, "a");
        message.content.push(Block::Text("b".to_owned()));
        let value = received_message(&message);
        let content = value.as_map().unwrap().get("content").cloned();
        assert_eq!(content, Some(Value::from("a\nb")));
        let silent = received_message(&Message::new(Role::Assistant, Vec::new()));
        let content = silent.as_map().unwrap().get("content").cloned();
        assert_eq!(content, Some(Value::Null));
    }
}
