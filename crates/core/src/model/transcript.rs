//! What a target returned.

use super::message::{Block, Message, Role};
use super::value::Value;
use super::workspace::FileChanges;

/// Everything that is known about one attempt. What the target does not report is `None`, which is
/// never the same as zero.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// The returned messages in order, without the input.
    pub messages: Vec<Message>,
    /// Text of the last assistant message that has text, else empty.
    pub answer: String,
    /// In call order. `None` if the target does not report calls.
    pub calls: Option<Vec<Call>>,
    pub tokens: Option<Tokens>,
    /// Only the total of tokens is known; it is stored as input.
    pub is_token_sum: bool,
    pub cost_usd: Option<f64>,
    pub duration_ms: Option<u64>,
    /// As reported by the target, else as configured.
    pub model: Option<String>,
    pub session: SessionFacts,
    /// What the agent did to its workspace; `None` without one.
    pub files: Option<FileChanges>,
    pub skills: SkillEvents,
    /// The agent was stopped before it was done: everything here is what was known by then.
    pub partial: bool,
}

/// What an agent says about itself and its session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionFacts {
    /// The provider that runs the agent.
    pub agent: Option<String>,
    /// Version of the agent.
    pub version: Option<String>,
    pub id: Option<String>,
    pub stop_reason: Option<String>,
    /// Requests to the model, sub-agents included.
    pub llm_calls: Option<u64>,
    /// The tools that the agent was not allowed to use, one entry per refused call.
    pub permission_denials: Option<Vec<String>>,
    /// Events of types that the reader does not know.
    pub unknown_events: u64,
    /// Of a stored answer: the sandbox that the agent ran in.
    pub sandbox: Option<String>,
}

/// Which skills an agent knew and which it used, by the rule of each agent (spec 18.3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillEvents {
    /// Names in the catalogue that the agent was given. `None` if it does not report one.
    pub offered: Option<Vec<String>>,
    /// In the order of use. `None` if the use of skills cannot be seen.
    pub used: Option<Vec<SkillUse>>,
}

impl SkillEvents {
    /// Whether a catalogue has the skill.
    pub fn is_offered(&self, name: &str) -> bool {
        self.offered.as_ref().is_some_and(|names| names.iter().any(|one| one == name))
    }

    /// The prompt asked for a skill by its name. It is a use only if the agent has such a skill.
    pub fn add_explicit(&mut self, name: &str) {
        let is_offered = self.is_offered(name);
        if let (true, Some(used)) = (is_offered, &mut self.used) {
            let (name, how) = (name.to_owned(), SkillUseKind::Explicit);
            used.insert(0, SkillUse { name, how, ok: true, call: None, subagent: false });
        }
    }
}

/// One use of a skill, or the attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillUse {
    /// Without the prefix of a plugin.
    pub name: String,
    pub how: SkillUseKind,
    /// Whether the agent got the skill: a call that was refused or failed is not a use.
    pub ok: bool,
    /// Index of the call in [`Transcript::calls`]; for a sub-agent, that of the call which started it.
    pub call: Option<usize>,
    /// Whether a sub-agent used it.
    pub subagent: bool,
}

crate::words! {
    /// How a skill was used.
    pub enum SkillUseKind {
        /// By the agent's tool for skills.
        Tool = "tool",
        /// By reading its `SKILL.md`.
        Read = "read",
        /// By running one of its scripts.
        Script = "script",
        /// The user named it in the prompt, and the agent loaded it before anything else.
        Explicit = "explicit",
    }
}

/// One use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Empty when the target gives none.
    pub id: String,
    pub tool: String,
    pub args: Value,
    pub output: Option<Value>,
    pub duration_ms: Option<u64>,
    /// Whether the call failed or was refused. `None` if the target does not report it.
    pub is_error: Option<bool>,
    /// Exit status of a command.
    pub exit_code: Option<i64>,
}

impl Call {
    /// A call of which nothing else is known yet.
    pub fn new(id: impl Into<String>, tool: impl Into<String>, args: Value) -> Self {
        Self {
            id: id.into(),
            tool: tool.into(),
            args,
            output: None,
            duration_ms: None,
            is_error: None,
            exit_code: None,
        }
    }
}

/// Cached tokens are part of the input, reasoning tokens part of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cached: u64,
}

impl Tokens {
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }

    /// `None` if the other is not a part of these.
    pub fn minus(self, other: Self) -> Option<Self> {
        Some(Self {
            input: self.input.checked_sub(other.input)?,
            output: self.output.checked_sub(other.output)?,
            cached: self.cached.checked_sub(other.cached)?,
        })
    }
}

impl Transcript {
    /// Messages, with the answer found by the rule of spec 1. Everything else is unknown.
    pub fn of_messages(messages: Vec<Message>) -> Self {
        Self { answer: answer_of(&messages), messages, ..Self::default() }
    }

    /// Whether the answer is everything that was returned, and no call was reported.
    pub fn is_answer_only(&self) -> bool {
        let is_answer = |message: &Message| {
            let is_text =
                matches!(&message.content[..], [Block::Text(text)] if *text == self.answer);
            message.role == Role::Assistant && is_text && message.tool_calls.is_empty()
        };
        let has_calls = self.calls.as_ref().is_some_and(|calls| !calls.is_empty());
        !has_calls && matches!(&self.messages[..], [only] if is_answer(only))
    }

    /// A single assistant message.
    pub fn of_text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            messages: vec![Message::new(Role::Assistant, vec![Block::Text(text.clone())])],
            answer: text,
            ..Self::default()
        }
    }
}

/// Text of the last assistant message that has text, else empty.
pub fn answer_of(messages: &[Message]) -> String {
    let messages = messages.iter().rev();
    messages
        .filter(|message| message.role == Role::Assistant)
        .map(|message| message.texts().collect::<Vec<_>>().join("\n"))
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_uses_only_a_skill_that_the_agent_has() {
        let mut skills =
            SkillEvents { offered: Some(vec!["csv".to_owned()]), used: Some(Vec::new()) };
        skills.add_explicit("pdf");
        assert_eq!(skills.used, Some(Vec::new()));
        skills.add_explicit("csv");
        assert_eq!(skills.used.unwrap()[0].how, SkillUseKind::Explicit);
        let mut unseen = SkillEvents::default();
        unseen.add_explicit("csv");
        assert_eq!(unseen, SkillEvents::default());
    }

    #[test]
    fn the_answer_is_the_last_assistant_text() {
        let said = |text: &str| Message::new(Role::Assistant, vec![Block::Text(text.to_owned())]);
        let silent = Message::new(Role::Assistant, Vec::new());
        let tool = Message::new(Role::Tool, vec![Block::Text("out".to_owned())]);
        let transcript = Transcript::of_messages(vec![said("a"), said("b"), silent, tool]);
        assert_eq!(transcript.answer, "b");
        assert_eq!(Transcript::of_messages(Vec::new()).answer, "");
    }
}
