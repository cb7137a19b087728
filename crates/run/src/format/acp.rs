//! Agents that speak the Agent Client Protocol: what `session/update` notifications and the end of a
//! prompt report. Agents differ in what they tell of a call, so its name is taken from the first of
//! several places.

use evalrig_core::model::{
    Call, Map, Measurement, SessionFacts, SkillUse, SkillUseKind, Tokens, Transcript, Value,
};

use crate::agent::Unreported;

use super::conversation::{CallEnd, Conversation};
use super::events::{EventRole, EventSession, child, figure, joined_text, text};
use super::measure::{self, given};
use super::skill_rule::{SkillSign, any_agent, skill_in_path};
use super::{event_lines, json};

/// Agents report a cost or none; the protocol has no requests to the model.
pub(crate) const UNREPORTED: &[Unreported] = &[Unreported {
    what: Measurement::LlmCalls,
    cause: "the Agent Client Protocol",
    remedy: "limit `max_tool_calls` or `max_tokens` instead",
}];

/// The argument of a call of which only the file is known.
const LOCATION: &str = "location";

#[derive(Debug)]
pub(crate) struct AcpReader {
    conversation: Conversation,
    /// The assistant message that chunks go on.
    open_message: Option<usize>,
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    pub(crate) facts: SessionFacts,
    agent: Option<String>,
    unknown_events: u64,
    failure: Option<String>,
}

impl Default for AcpReader {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_agent(skills_of),
            open_message: None,
            tokens: None,
            cost_usd: None,
            facts: SessionFacts::default(),
            agent: None,
            unknown_events: 0,
            failure: None,
        }
    }
}

/// By the names of all agents, or by the only file that a call names.
fn skills_of(call: &Call) -> Vec<SkillSign> {
    let found = any_agent(call);
    let location = call.args.as_map().and_then(|args| text(args, LOCATION));
    match location.and_then(skill_in_path) {
        Some(name) if found.is_empty() => vec![SkillSign { name, how: SkillUseKind::Read }],
        _ => found,
    }
}

impl AcpReader {
    pub(crate) fn conversation(&self) -> (&[Call], &[SkillUse]) {
        (self.conversation.calls(), self.conversation.uses())
    }

    pub(crate) fn size(&self) -> usize {
        self.conversation.size()
    }

    /// The reply to `initialize`.
    pub(crate) fn read_agent(&mut self, result: &Map) {
        let info = child(result, "agentInfo");
        self.agent = info.and_then(|info| text(info, "name")).map(str::to_owned);
        self.facts.version = info.and_then(|info| text(info, "version")).map(str::to_owned);
    }

    /// The `update` of a `session/update` notification.
    pub(crate) fn read_update(&mut self, update: &Map) {
        let role = match text(update, "sessionUpdate") {
            Some("agent_message_chunk") => {
                self.read_chunk(update);
                EventRole::Step
            }
            Some("tool_call" | "tool_call_update") => {
                self.read_call(update);
                EventRole::Step
            }
            Some("usage_update") => {
                let cost = child(update, "cost");
                let is_usd = cost.and_then(|cost| text(cost, "currency")) == Some("USD");
                if let (Some(cost), true) = (cost, is_usd) {
                    let cost = figure(measure::amount(cost, "amount"), &mut self.failure);
                    self.cost_usd = cost.or(self.cost_usd);
                }
                EventRole::Note
            }
            Some(
                "user_message_chunk"
                | "agent_thought_chunk"
                | "plan"
                | "available_commands_update"
                | "current_mode_update"
                | "config_option_update"
                | "session_info_update",
            ) => EventRole::Note,
            _ => EventRole::Unknown,
        };
        self.unknown_events += u64::from(role == EventRole::Unknown);
    }

    fn read_chunk(&mut self, update: &Map) {
        let said = child(update, "content").and_then(|content| text(content, "text"));
        let Some(said) = said.filter(|said| !said.is_empty()) else {
            return;
        };
        match self.open_message {
            Some(at) => self.conversation.append_text(at, said),
            None => {
                let at = self.conversation.open();
                self.conversation.add_text(at, said);
                self.open_message = Some(at);
            }
        }
    }

    /// A call is announced and then updated, some agents announce it twice.
    fn read_call(&mut self, update: &Map) {
        let id = text(update, "toolCallId").unwrap_or_default();
        let args = given(update, "rawInput").filter(|args| **args != Value::Map(Map::new()));
        if !self.conversation.has_call(id) {
            self.open_message = None;
            let tool = self.tool_of(id, update);
            let args = args.cloned().unwrap_or_else(|| known_arguments(&tool, update));
            let at = self.conversation.open();
            self.conversation.add_call(at, Call::new(id, tool, args));
        } else if let Some(args) = args {
            self.conversation.set_args(id, args.clone());
        }
        if let Some("completed" | "failed") = text(update, "status") {
            self.conversation.end_call(id, end_of(update));
        }
    }

    /// `name`, a name in `_meta`, the beginning of the id, a title that says so, a title that is a name,
    /// the kind of the call.
    fn tool_of(&self, id: &str, update: &Map) -> String {
        let meta = child(update, "_meta").into_iter().flat_map(Map::iter);
        let in_meta = meta.filter_map(|(_, inner)| text(inner.as_map()?, "toolName")).next();
        let in_id = id.split_once("__").map(|(tool, _)| tool).filter(|tool| !tool.is_empty());
        let title = text(update, "title").unwrap_or_default();
        let by_title = skill_of_title(title).map(|_| "skill");
        let is_name = self.agent.as_deref() == Some("OpenCode");
        let by_kind = match text(update, "kind") {
            Some("execute") => Some("run"),
            Some(kind @ ("read" | "edit" | "search" | "fetch")) => Some(kind),
            _ => None,
        };
        text(update, "name")
            .or(in_meta)
            .or(in_id)
            .or(by_title)
            .or(is_name.then_some(title))
            .or(by_kind)
            .unwrap_or(title)
            .to_owned()
    }

    /// The reply to `session/prompt`.
    pub(crate) fn read_end(&mut self, result: &Map) {
        self.facts.stop_reason = text(result, "stopReason").map(str::to_owned);
        if text(result, "stopReason") == Some("cancelled") {
            self.failure = Some("the agent cancelled the prompt".to_owned());
        }
        let tokens = tokens(result);
        self.tokens = figure(tokens, &mut self.failure);
    }

    pub(crate) fn finish(self) -> EventSession {
        // opencode counts its last step only.
        let is_partial = self.agent.as_deref() == Some("OpenCode");
        let mut facts = self.facts;
        facts.unknown_events = self.unknown_events;
        EventSession {
            conversation: self.conversation,
            failure: self.failure,
            tokens: self.tokens.filter(|_| !is_partial),
            cost_usd: self.cost_usd,
            facts,
            ..EventSession::default()
        }
    }
}

/// The messages of an agent, one per line; requests to the client are left out.
pub fn read_acp(output: &[u8]) -> Transcript {
    let mut reader = AcpReader::default();
    for line in event_lines(output) {
        let Ok(Value::Map(frame)) = json::parse(&line) else {
            continue;
        };
        let update = child(&frame, "params").and_then(|params| child(params, "update"));
        match (update, child(&frame, "result")) {
            (Some(update), _) => reader.read_update(update),
            (None, Some(result)) if result.get("stopReason").is_some() => reader.read_end(result),
            (None, Some(result)) if result.get("agentInfo").is_some() => reader.read_agent(result),
            _ => {}
        }
    }
    reader.finish().into_transcript()
}

/// `Using skill: NAME`, `Load skill: NAME`, `Loaded skill: NAME`.
fn skill_of_title(title: &str) -> Option<&str> {
    let (what, name) = title.split_once(" skill: ")?;
    matches!(what, "Using" | "Load" | "Loaded").then_some(name.trim())
}

/// What a call without input is known to be about: the skill in its title, or its only file.
fn known_arguments(tool: &str, update: &Map) -> Value {
    let title = text(update, "title").unwrap_or_default();
    let quoted = title.strip_prefix('"').and_then(|rest| Some(rest.split_once('"')?.0));
    if tool == "activate_skill"
        && let Some(name) = quoted
    {
        return Map::new().with("name", name).into();
    }
    let files = update.get("locations").and_then(Value::as_list).unwrap_or_default();
    match (text(update, "kind"), files) {
        (Some("read"), [file]) => {
            let path = file.as_map().and_then(|file| text(file, "path"));
            Map::new().with_some(LOCATION, path).into()
        }
        _ => Map::new().into(),
    }
}

fn end_of(update: &Map) -> CallEnd {
    let raw = given(update, "rawOutput");
    let content = update.get("content").and_then(Value::as_list).unwrap_or_default();
    let texts = content.iter().filter_map(|block| {
        let inner = child(block.as_map()?, "content")?;
        Some(joined_text(Some(&Value::List(vec![Value::Map(inner.clone())]))))
    });
    let shown = texts.collect::<Vec<_>>().join("\n");
    let output = match raw {
        Some(Value::String(text)) => Value::String(text.clone()),
        _ if !shown.is_empty() => Value::String(shown),
        Some(other) => other.clone(),
        None => "".into(),
    };
    let exit_code = raw.and_then(Value::as_map);
    let exit_code = exit_code.and_then(|raw| measure::whole(raw, "exit_code").ok().flatten());
    CallEnd {
        output: Some(output),
        is_error: Some(text(update, "status") == Some("failed")),
        exit_code,
        duration_ms: None,
    }
}

/// Whether input includes the cache shows by the total. Without one it is unknown.
fn tokens(result: &Map) -> Result<Option<Tokens>, String> {
    let Some(usage) = child(result, "usage") else {
        let meta = child(result, "_meta").and_then(|meta| child(meta, "quota"));
        let counts = meta.and_then(|quota| child(quota, "token_count"));
        let keys = ["input_tokens", "output_tokens", "cached_tokens"];
        return counts.map_or(Ok(None), |counts| measure::tokens(counts, keys));
    };
    let count = |key: &str| measure::count(usage, key);
    let Some(((input, output), total)) =
        count("inputTokens")?.zip(count("outputTokens")?).zip(count("totalTokens")?)
    else {
        return Ok(None);
    };
    let cached = count("cachedReadTokens")?.unwrap_or(0);
    let written = count("cachedWriteTokens")?.unwrap_or(0);
    let thought = count("thoughtTokens")?.unwrap_or(0);
    let all_input = input.saturating_add(cached).saturating_add(written);
    let candidates =
        [(input, output), (all_input, output), (all_input, output.saturating_add(thought))];
    let fitting = candidates.into_iter().find(|(i, o)| i.saturating_add(*o) == total);
    Ok(fitting.map(|(input, output)| Tokens { input, output, cached }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{calls, recorded, uses};
    use super::*;

    fn read(frames: &str) -> Transcript {
        read_acp(frames.as_bytes())
    }

    #[test]
    fn every_agent_tells_of_skills_in_its_own_way() {
        for (frames, tool, tokens) in [
            (recorded::ACP_CLAUDE, r#"Skill {"skill":"csv-analyzer"} ok"#, Some((300, 34, 60))),
            (recorded::ACP_CLAUDE_OLD, r#"Skill {"skill":"csv-analyzer"} ok"#, None),
            (recorded::ACP_COPILOT, r#"skill {"skill":"csv-analyzer"} ok"#, Some((300, 34, 60))),
            (
                recorded::ACP_GEMINI,
                r#"activate_skill {"name":"csv-analyzer"} ok"#,
                Some((300, 34, 0)),
            ),
            (recorded::ACP_OPENCODE, r#"skill {"name":"csv-analyzer"} ok"#, None),
        ] {
            let read = read(frames);
            assert_eq!(read.answer, "The total is 42.");
            assert_eq!(calls(&read), [tool]);
            assert_eq!(uses(&read), ["csv-analyzer tool ok #0"]);
            let found = read.tokens.map(|tokens| (tokens.input, tokens.output, tokens.cached));
            assert_eq!(found, tokens, "{tool}");
            assert_eq!(read.session.unknown_events, 0);
            assert_eq!(read.session.stop_reason.as_deref(), Some("end_turn"));
        }
        assert_eq!(read(recorded::ACP_CLAUDE).cost_usd, Some(0.002478));
    }

    #[test]
    fn codex_names_only_the_file_that_it_reads() {
        let read = read(recorded::ACP_CODEX);
        let answer = read.answer.as_str();
        assert!(answer.ends_with("The magic word is xyzzy."), "{answer}");
        assert_eq!(calls(&read), [r#"exec_command {"location":"/ws/notes.txt"} ok 0"#]);
        assert_eq!(uses(&read), [""; 0]);
        let skill = recorded::ACP_CODEX.replace("/ws/notes.txt", "/ws/.agents/skills/csv/SKILL.md");
        assert_eq!(uses(&self::read(&skill)), ["csv read ok #0"]);
        let failed = skill.replace("\"exit_code\":0", "\"exit_code\":1");
        assert_eq!(uses(&self::read(&failed)), ["csv read failed #0"]);
    }

    #[test]
    fn a_failed_call_is_an_error() {
        let failed =
            recorded::ACP_OPENCODE.replace("\"status\":\"completed\"", "\"status\":\"failed\"");
        assert_eq!(uses(&read(&failed)), ["csv-analyzer tool failed #0"]);
    }
}
