//! A conversation as it is read, with calls matched to their results.

use std::collections::{HashMap, HashSet};

use evalrig_core::model::{
    Block, Call, JsonStyle, Message, Role, SkillUse, SkillUseKind, ToolCall, Transcript, Value,
};

use super::blocks::{arguments, blocks, output_of, plain_text};
use super::measure::{self, given, kind};
use super::skill_rule::{SkillRule, SkillSign, any_agent};

/// How a call ended.
#[derive(Debug, Default)]
pub(super) struct CallEnd {
    pub(super) output: Option<Value>,
    pub(super) is_error: Option<bool>,
    pub(super) exit_code: Option<i64>,
    pub(super) duration_ms: Option<u64>,
}

/// Messages, calls and uses of skills so far. A format that uses this reports calls, even if there
/// are none.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    calls: Vec<Call>,
    /// The message of each call.
    places: Vec<usize>,
    /// The newest call with an id.
    by_id: HashMap<String, usize>,
    /// The rule of the agent; without one, the names of all agents count.
    rule: Option<SkillRule>,
    /// Of calls that ended, in the order in which they did.
    uses: Vec<SkillUse>,
    ended: HashSet<usize>,
    /// Something happened out of sight, so that uses are unknown.
    is_hidden: bool,
    /// A call may have used a skill, and nothing decides.
    is_unclear: bool,
    /// Bytes of texts, arguments and outputs.
    size: usize,
}

impl Conversation {
    /// Of an agent whose use of skills shows by this rule.
    pub(super) fn of_agent(rule: SkillRule) -> Self {
        Self { rule: Some(rule), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Uses of skills by calls that ended.
    pub(super) fn uses(&self) -> &[SkillUse] {
        &self.uses
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn has_assistant_message(&self) -> bool {
        let mut roles = self.messages.iter().map(|message| message.role);
        roles.any(|role| role == Role::Assistant)
    }

    /// Invalidates the indices that [`Self::open`] gave.
    pub(super) fn remove_messages_of(&mut self, role: Role) {
        self.messages.retain(|message| message.role != role);
    }

    pub(super) fn transcript(mut self) -> Transcript {
        let used = self.all_uses();
        let mut transcript = Transcript::of_messages(self.messages);
        transcript.session.llm_calls = Some(assistant_messages(&transcript.messages));
        transcript.calls = Some(self.calls);
        transcript.skills.used = used;
        transcript
    }

    /// In the order of the calls. A call of an agent that never ended is not a use; formats of
    /// messages need not say how a call ended.
    fn all_uses(&mut self) -> Option<Vec<SkillUse>> {
        if self.is_hidden {
            return None;
        }
        for at in 0..self.calls.len() {
            if !self.ended.contains(&at) {
                self.add_uses_of(at, self.rule.is_none());
            }
        }
        if self.is_unclear {
            return None;
        }
        self.uses.sort_by_key(|one| one.call);
        Some(std::mem::take(&mut self.uses))
    }

    fn add_uses_of(&mut self, at: usize, is_ended: bool) {
        let call = &self.calls[at];
        let found = self.rule.unwrap_or(any_agent)(call);
        let is_success = is_ended && is_success(call);
        self.is_unclear |= found.is_unclear && is_success;
        self.uses.extend(found.signs.into_iter().map(|sign| skill_use(sign, is_success, Some(at))));
    }

    /// A call of a sub-agent ended. `parent` is the call that started the sub-agent.
    pub(super) fn end_call_of_sub_agent(&mut self, call: &Call, parent: Option<usize>) {
        let Some(rule) = self.rule else { return };
        let found = rule(call);
        self.is_unclear |= found.is_unclear && is_success(call);
        for sign in found.signs {
            let used = skill_use(sign, is_success(call), parent);
            self.uses.push(SkillUse { subagent: true, ..used });
        }
    }

    /// The prompt or the agent itself loaded a skill, without a call.
    pub(super) fn add_explicit_use(&mut self, name: &str) {
        let sign = SkillSign { name: name.to_owned(), how: SkillUseKind::Explicit };
        self.uses.push(skill_use(sign, true, None));
    }

    /// From here on, the stream does not show everything that the agent does.
    pub(super) fn hide_skills(&mut self) {
        self.is_hidden = true;
    }

    /// Whether steps were made that the stream does not show.
    pub(super) fn hides_steps(&self) -> bool {
        self.is_hidden
    }

    /// Starts an assistant message and gives its index.
    pub(super) fn open(&mut self) -> usize {
        self.messages.push(Message::new(Role::Assistant, Vec::new()));
        self.messages.len() - 1
    }

    pub(super) fn add_text(&mut self, message: usize, text: &str) {
        self.size += text.len();
        let content = &mut self.messages[message].content;
        content.push(Block::Text(text.to_owned()));
    }

    /// Continues the last text of a message.
    pub(super) fn append_text(&mut self, message: usize, text: &str) {
        match self.messages[message].content.last_mut() {
            Some(Block::Text(before)) => {
                self.size += text.len();
                before.push_str(text);
            }
            _ => self.add_text(message, text),
        }
    }

    pub(super) fn add_call(&mut self, message: usize, call: Call) {
        let arguments = call.args.to_json(JsonStyle::Compact);
        self.size += arguments.len() + call.tool.len();
        let (id, name) = (call.id.clone(), call.tool.clone());
        self.messages[message].tool_calls.push(ToolCall { id, name, arguments });
        self.by_id.insert(call.id.clone(), self.calls.len());
        self.places.push(message);
        self.calls.push(call);
    }

    pub(super) fn say(&mut self, text: &str) {
        let message = self.open();
        self.add_text(message, text);
    }

    /// Adds what the user said.
    pub(super) fn ask(&mut self, text: &str) {
        self.size += text.len();
        self.messages.push(Message::user(text));
    }

    pub(super) fn say_unless_said(&mut self, text: &str) {
        if self.is_empty() || self.answer() != text {
            self.say(text);
        }
    }

    /// What the assistant said last.
    pub(super) fn answer(&self) -> String {
        evalrig_core::model::answer_of(&self.messages)
    }

    fn call_mut(&mut self, id: &str) -> Option<&mut Call> {
        let at = *self.by_id.get(id)?;
        self.calls.get_mut(at)
    }

    /// Whether there is a call with this id.
    pub(super) fn has_call(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn call_index(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Replaces the arguments of a call that were not known before.
    pub(super) fn set_args(&mut self, id: &str, args: Value) {
        let arguments = args.to_json(JsonStyle::Compact);
        self.size += arguments.len();
        let Some(at) = self.call_index(id) else {
            return;
        };
        let asked = &mut self.messages[self.places[at]].tool_calls;
        if let Some(asked) = asked.iter_mut().rev().find(|asked| asked.id == id) {
            asked.arguments = arguments;
        }
        self.calls[at].args = args;
    }

    /// Ends a call; its output is also a message.
    pub(super) fn end_call(&mut self, id: &str, end: CallEnd) {
        if let Some(output) = end.output {
            self.add_result(id, output);
        }
        let Some(at) = self.call_index(id) else {
            return;
        };
        let call = &mut self.calls[at];
        call.is_error = end.is_error;
        call.exit_code = end.exit_code;
        call.duration_ms = end.duration_ms;
        if self.rule.is_some() && self.ended.insert(at) {
            self.add_uses_of(at, true);
        }
    }

    /// Adds the result of a call, also as a message.
    fn add_result(&mut self, id: &str, output: Value) {
        let text = plain_text(&output);
        self.size += text.len();
        let mut message = Message::new(Role::Tool, vec![Block::Text(text)]);
        message.tool_call_id = Some(id.to_owned());
        if let Some(call) = self.call_mut(id) {
            message.name = Some(call.tool.clone());
            call.output = Some(output);
        }
        self.messages.push(message);
    }

    /// A message in the form of spec 3.3, or with calls `{tool, args, output, …}`.
    pub(super) fn add_message(&mut self, value: &Value) -> Result<(), String> {
        let Value::Map(map) = value else {
            return Err(format!("a message is an object, found {}", kind(value)));
        };
        let word = measure::text(map, "role")?.ok_or("a message has no `role`")?;
        let role = Role::parse(word).ok_or_else(|| format!("a message has the role `{word}`"))?;
        let content = match given(map, "content") {
            Some(content) => blocks(content),
            None => Vec::new(),
        };
        let mut message = Message::new(role, content);
        message.name = measure::text(map, "name")?.map(str::to_owned);
        message.tool_call_id = measure::text(map, "tool_call_id")?.map(str::to_owned);
        if role == Role::Tool {
            let is_error = measure::boolean(map, "is_error")?;
            let exit_code = measure::whole(map, "exit_code")?;
            if let Some(call) = self.take_result(&mut message) {
                call.is_error = is_error.or(call.is_error);
                call.exit_code = exit_code.or(call.exit_code);
            }
        }
        self.messages.push(message);
        match given(map, "tool_calls") {
            Some(calls) if role == Role::Assistant => self.add_calls(calls),
            _ => Ok(()),
        }
    }

    /// The call that a message is the result of: matched by id, else by the name of the tool.
    fn take_result(&mut self, message: &mut Message) -> Option<&mut Call> {
        let (id, name) = (message.tool_call_id.clone(), message.name.clone());
        let call = match (id, name) {
            (Some(id), _) => self.call_mut(&id),
            (None, Some(name)) => {
                let mut open = self.calls.iter_mut();
                open.find(|call| call.tool == name && call.output.is_none())
            }
            (None, None) => None,
        }?;
        call.output = Some(output_of(message));
        message.tool_call_id.get_or_insert(call.id.clone());
        message.name.get_or_insert(call.tool.clone());
        Some(call)
    }

    /// The calls of the newest message.
    fn add_calls(&mut self, calls: &Value) -> Result<(), String> {
        let Value::List(calls) = calls else {
            return Err(format!("`tool_calls` takes a list, found {}", kind(calls)));
        };
        let message = self.messages.len() - 1;
        for written in calls {
            let call = read_call(written, self.calls.len() + 1)?;
            self.add_call(message, call);
        }
        for at in self.calls.len() - calls.len()..self.calls.len() {
            let call = &self.calls[at];
            if let Some(output) = call.output.clone() {
                let id = call.id.clone();
                self.add_result(&id, output);
            }
        }
        Ok(())
    }
}

fn skill_use(sign: SkillSign, ok: bool, call: Option<usize>) -> SkillUse {
    SkillUse { name: sign.name, how: sign.how, ok, call, subagent: false }
}

/// Neither refused nor failed, as far as is known.
fn is_success(call: &Call) -> bool {
    call.is_error != Some(true) && call.exit_code.is_none_or(|code| code == 0)
}

/// The skills that calls of an unknown agent use; `None` if that is unclear.
pub(crate) fn uses_in(calls: &[Call]) -> Option<Vec<SkillUse>> {
    let mut uses = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let (found, ok) = (any_agent(call), is_success(call));
        if found.is_unclear && ok {
            return None;
        }
        uses.extend(found.signs.into_iter().map(|sign| skill_use(sign, ok, Some(at))));
    }
    Some(uses)
}

/// In formats of messages, each of them is one request to the model (spec 10.1).
pub(crate) fn assistant_messages(messages: &[Message]) -> u64 {
    messages.iter().filter(|message| message.role == Role::Assistant).count() as u64
}

fn read_call(value: &Value, number: usize) -> Result<Call, String> {
    let Value::Map(map) = value else {
        return Err(format!("a tool call is an object, found {}", kind(value)));
    };
    let function = match given(map, "function") {
        Some(Value::Map(function)) => function,
        _ => map,
    };
    let tool = match measure::text(map, "tool")? {
        Some(tool) => tool,
        None => measure::text(function, "name")?.ok_or("a tool call has no tool name")?,
    };
    let args = given(map, "args").or_else(|| given(map, "input"));
    let args = args.or_else(|| given(function, "arguments"));
    let id = measure::text(map, "id")?.map_or_else(|| format!("call_{number}"), str::to_owned);
    Ok(Call {
        output: given(map, "output").cloned(),
        duration_ms: measure::milliseconds(map, "duration_ms")?,
        is_error: measure::boolean(map, "is_error")?,
        exit_code: measure::whole(map, "exit_code")?,
        ..Call::new(id, tool, arguments(args))
    })
}
