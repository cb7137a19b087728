//! Agents that speak the Agent Client Protocol: what `session/update` notifications and the end of a
//! prompt report. Agents differ in what they tell of a call, so its name is taken from the first of
//! several places.

use std::collections::{HashMap, HashSet};

use evalrig_core::assertion::TOOL_FAMILIES;
use evalrig_core::model::{
    Call, Map, Measurement, SessionFacts, SkillUse, Tokens, Transcript, Value,
};

use crate::agent::Unreported;

use super::conversation::{CallEnd, Conversation};
use super::events::{EventRole, EventSession, child, figure, joined_text, text};
use super::measure::{self, given};
use super::skill_rule::{SkillSigns, any_agent, read_of_file};
use super::{event_lines, json};

/// Agents report a cost or none; the protocol has no requests to the model.
pub(crate) const UNREPORTED: &[Unreported] = &[Unreported {
    what: Measurement::LlmCalls,
    cause: "the Agent Client Protocol",
    remedy: "limit `max_tool_calls` or `max_tokens` instead",
}];

/// What Copilot CLI calls itself.
const COPILOT: &str = "Copilot";

/// How messages begin that Copilot CLI writes itself: which file it writes, that it tries again, and that it
/// gave up. The last one ends the turn as if it were an answer.
const NOTICES: [&str; 3] = ["Info: ", "Warning: ", ERROR];
const ERROR: &str = "Error: ";

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
    /// Calls that read or run something, by their kind.
    readers: HashSet<String>,
    /// Those of sub-agents that have not ended, by id.
    sub_agent_calls: HashMap<String, Call>,
    /// An error that the agent has told in a message, if nothing came after it.
    told_error: Option<String>,
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
            readers: HashSet::new(),
            sub_agent_calls: HashMap::new(),
            told_error: None,
            unknown_events: 0,
            failure: None,
        }
    }
}

/// Whether a call started a sub-agent, whose steps the protocol does not show.
fn started_agent(call: &Call) -> bool {
    let families = TOOL_FAMILIES.iter().filter(|family| family.name == "agent");
    let mut tools = families.flat_map(|family| family.tools).flat_map(|(_, tools)| tools.iter());
    call.is_error != Some(true) && tools.any(|tool| *tool == call.tool)
}

/// By the names of all agents, or by the only file that a call names. Of a call that names nothing at all
/// it is not known what it was about.
fn skills_of(call: &Call) -> SkillSigns {
    let location = call.args.as_map().and_then(|args| text(args, LOCATION));
    let is_silent = call.output.as_ref().and_then(Value::as_str) == Some("");
    let found = if is_silent {
        // Agents need not show what a call has put out.
        any_agent(&Call { output: None, ..call.clone() })
    } else {
        any_agent(call)
    };
    match location.map(read_of_file) {
        Some(read) if found == SkillSigns::default() => read,
        None if is_bare(call) && may_use_skills(&call.tool) => SkillSigns::unclear(),
        _ => found,
    }
}

/// Whether nothing is known of what a call is about.
fn is_bare(call: &Call) -> bool {
    call.args == Value::Map(Map::new())
}

/// Whether skills are used by this tool.
fn may_use_skills(tool: &str) -> bool {
    let families =
        TOOL_FAMILIES.iter().filter(|family| matches!(family.name, "read" | "run" | "skill"));
    let mut names = families.flat_map(|family| {
        let tools = family.tools.iter().flat_map(|(_, tools)| tools.iter().copied());
        tools.chain([family.name])
    });
    names.any(|name| name == tool)
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

    /// Whether the agent repeats the earlier turns of a session after it has said that it is loaded. Others
    /// do so before, as the protocol demands.
    pub(crate) fn repeats_late(&self) -> bool {
        self.agent.as_deref() == Some("gemini-cli")
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
        let is_notice = self.is_copilot() && NOTICES.iter().any(|start| said.starts_with(start));
        self.told_error = (is_notice && said.starts_with(ERROR)).then(|| said.to_owned());
        if is_notice {
            self.open_message = None;
        }
        match self.open_message {
            Some(at) => self.conversation.append_text(at, said),
            None => {
                let at = self.conversation.open();
                self.conversation.add_text(at, said);
                self.open_message = (!is_notice).then_some(at);
            }
        }
    }

    /// A call is announced and then updated, some agents announce it twice.
    fn read_call(&mut self, update: &Map) {
        let id = text(update, "toolCallId").unwrap_or_default();
        self.told_error = None;
        if is_of_sub_agent(update) {
            return self.read_call_of_sub_agent(id, update);
        }
        let args = given(update, "rawInput").filter(|args| **args != Value::Map(Map::new()));
        if !self.conversation.has_call(id) {
            self.open_message = None;
            let tool = self.tool_of(id, update);
            let args = args.cloned().unwrap_or_else(|| known_arguments(&tool, update));
            let at = self.conversation.open();
            self.conversation.add_call(at, Call::new(id, tool, args));
            if let Some("read" | "execute") = text(update, "kind") {
                self.readers.insert(id.to_owned());
            }
        } else if let Some(args) = args {
            self.conversation.set_args(id, args.clone());
        } else {
            self.complete_arguments(id, update);
        }
        if let Some("completed" | "failed") = text(update, "status") {
            self.conversation.end_call(id, end_of(update));
            if self.is_copilot() {
                // What a sub-agent has said came as a message.
                self.open_message = None;
            }
        }
    }

    fn is_copilot(&self) -> bool {
        self.agent.as_deref() == Some(COPILOT)
    }

    /// It counts for the use of skills only.
    fn read_call_of_sub_agent(&mut self, id: &str, update: &Map) {
        let given = given(update, "rawInput").cloned();
        let call = self.sub_agent_calls.remove(id);
        let mut call = call.unwrap_or_else(|| {
            let tool = self.tool_of(id, update);
            let args = known_arguments(&tool, update);
            Call::new(id, tool, args)
        });
        call.args = given.unwrap_or(call.args);
        if let Some("completed" | "failed") = text(update, "status") {
            let CallEnd { output, is_error, exit_code, .. } = end_of(update);
            call = Call { output, is_error, exit_code, ..call };
            let open = |call: &Call| call.is_error.is_none();
            let parent = self.conversation.calls().iter().rposition(open);
            self.conversation.end_call_of_sub_agent(&call, parent);
        } else {
            self.sub_agent_calls.insert(id.to_owned(), call);
        }
    }

    /// What a call is about may be said only after it was announced.
    fn complete_arguments(&mut self, id: &str, update: &Map) {
        let call = self.conversation.call_index(id).map(|at| &self.conversation.calls()[at]);
        let bare = call.filter(|call| is_bare(call));
        let known = bare.map(|call| known_arguments(&call.tool, update));
        if let Some(known) = known.filter(|known| *known != Value::Map(Map::new())) {
            self.conversation.set_args(id, known);
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
            Some("edit") if makes_file(update) => Some("write"),
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

    pub(crate) fn finish(mut self) -> EventSession {
        let has_sub_agents = self.conversation.calls().iter().any(started_agent);
        let may_have_read = |call: &Call| {
            call.is_error != Some(true) && is_bare(call) && self.readers.contains(&call.id)
        };
        let is_unclear = self.conversation.calls().iter().any(may_have_read);
        if has_sub_agents || is_unclear {
            self.conversation.hide_skills();
        }
        // opencode counts its last step only.
        let is_partial = has_sub_agents || self.agent.as_deref() == Some("OpenCode");
        let mut facts = self.facts;
        facts.unknown_events = self.unknown_events;
        let told = self.told_error.map(|said| format!("the agent ended with an error: {said}"));
        EventSession {
            conversation: self.conversation,
            failure: self.failure.or(told),
            tokens: self.tokens.filter(|_| !is_partial),
            cost_usd: self.cost_usd,
            facts,
            ..EventSession::default()
        }
    }
}

/// The messages of an agent, one per line; requests to the client are left out.
pub fn read_acp(output: &[u8]) -> Transcript {
    read_frames(output).finish().into_transcript()
}

fn read_frames(output: &[u8]) -> AcpReader {
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
    reader
}

/// Copilot CLI says which of its agents makes a call, unless it is the main one.
fn is_of_sub_agent(update: &Map) -> bool {
    let meta = child(update, "_meta").and_then(|meta| child(meta, "github.com/copilot"));
    meta.is_some_and(|meta| text(meta, "agentId").is_some())
}

/// Whether a change has no earlier text.
fn makes_file(update: &Map) -> bool {
    let content = update.get("content").and_then(Value::as_list).unwrap_or_default();
    let mut changes = content.iter().filter_map(Value::as_map);
    changes.any(|change| {
        text(change, "type") == Some("diff")
            && text(change, "oldText").unwrap_or_default().is_empty()
    })
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
    if let ("skill" | "Skill", Some(name)) = (tool, skill_of_title(title)) {
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
    // The quota of Gemini CLI has neither cached tokens nor those of thoughts.
    let Some(usage) = child(result, "usage") else { return Ok(None) };
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
            (recorded::ACP_GEMINI, r#"activate_skill {"name":"csv-analyzer"} ok"#, None),
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
    fn what_a_sub_agent_does_is_unknown_unless_it_was_refused() {
        for (tool, status, is_known) in [
            ("invoke_agent", "completed", false),
            ("Task", "completed", false),
            ("invoke_agent", "failed", true),
            ("grep", "completed", true),
        ] {
            let update = format!(
                r#"{{"sessionUpdate":"tool_call","toolCallId":"{tool}__1","title":"It","status":"{status}"}}"#
            );
            let frames = format!(
                "{{\"params\":{{\"update\":{update}}}}}\n{}",
                r#"{"id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}}"#
            );
            let read = read(&frames);
            assert_eq!(read.skills.used.is_some(), is_known, "{tool} {status}");
            assert_eq!(read.tokens.is_some(), is_known, "{tool} {status}");
        }
    }

    /// Of one call, with the fields of its two updates.
    fn one_call(announced: &str, ended: &str) -> Transcript {
        let update = |kind: &str, more: &str| {
            format!(
                r#"{{"params":{{"update":{{"sessionUpdate":"{kind}","toolCallId":"1"{more}}}}}}}"#
            )
        };
        let frames = [
            update("tool_call", announced),
            update("tool_call_update", ended),
            r#"{"id":3,"result":{"stopReason":"end_turn"}}"#.to_owned(),
        ];
        read(&frames.join("\n"))
    }

    const ENDED: &str = r#","status":"completed""#;

    #[test]
    fn a_title_names_the_skill() {
        let title = r#","title":"Load skill: csv","kind":"other""#;
        let read = one_call(title, ENDED);
        assert_eq!(calls(&read), [r#"skill {"name":"csv"} ok"#]);
        assert_eq!(uses(&read), ["csv tool ok #0"]);
        let late = format!(r#","title":"Loaded skill: csv"{ENDED}"#);
        let read = one_call(r#","name":"skill","title":"skill""#, &late);
        assert_eq!(uses(&read), ["csv tool ok #0"]);
    }

    #[test]
    fn a_call_that_says_nothing_may_have_read_a_skill() {
        for (announced, ended, is_known) in [
            (r#","title":"Read","kind":"read""#, ENDED, false),
            (r#","title":"Run","kind":"execute","rawInput":{}"#, ENDED, false),
            (r#","name":"read_file","title":"It""#, ENDED, false),
            (r#","title":"Read","kind":"read""#, r#","status":"failed""#, true),
            (r#","title":"Search","kind":"search""#, ENDED, true),
            (r#","title":"Run","kind":"execute","rawInput":{"command":"ls"}"#, ENDED, true),
            (r#","title":"Read","kind":"read","locations":[{"path":"/ws/a"}]"#, ENDED, true),
        ] {
            let read = one_call(announced, ended);
            assert_eq!(read.skills.used.is_some(), is_known, "{announced}");
        }
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

    /// The frames of a prompt to Copilot CLI.
    fn copilot(updates: &[String]) -> EventSession {
        let mut frames = r#"{"id":1,"result":{"agentInfo":{"name":"Copilot"}}}"#.to_owned() + "\n";
        for update in updates {
            frames += &format!("{{\"params\":{{\"update\":{{{update}}}}}}}\n");
        }
        frames += r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
        read_frames(frames.as_bytes()).finish()
    }

    fn said(text: &str) -> String {
        let content = format!(r#""content":{{"type":"text","text":"{text}"}}"#);
        format!(r#""sessionUpdate":"agent_message_chunk",{content}"#)
    }

    fn call(kind: &str, id: &str, more: &str) -> String {
        format!(r#""sessionUpdate":"{kind}","toolCallId":"{id}"{more}"#)
    }

    #[test]
    fn what_copilot_tells_by_the_way_is_not_the_answer() {
        let content = r#","content":[{"type":"diff","path":"a","oldText":"","newText":"x"}]"#;
        let input = r#","title":"Creating a","kind":"edit","rawInput":{"path":"a"}"#;
        let read = copilot(&[
            call("tool_call", "1", &format!("{input}{content}")),
            said("Info: /ws/a"),
            call("tool_call_update", "1", ENDED),
            said("It is "),
            said("there."),
        ]);
        assert_eq!(read.failure, None);
        let read = read.into_transcript();
        assert_eq!(read.answer, "It is there.");
        assert_eq!(calls(&read), [r#"write {"path":"a"} ok"#]);
        let retried = [said("Info: Request failed. Retrying..."), said("Paris.")];
        assert_eq!(copilot(&retried).into_transcript().answer, "Paris.");
    }

    #[test]
    fn an_error_with_which_copilot_ends_is_not_an_answer() {
        let error = said("Error: Authentication failed (HTTP 401).");
        let read = copilot(&[said("Info: Retrying..."), error.clone()]);
        let failure = read.failure.expect("a failure");
        assert_eq!(
            failure,
            "the agent ended with an error: Error: Authentication failed (HTTP 401)."
        );
        assert_eq!(copilot(&[error, said("Paris.")]).failure, None);
        assert_eq!(copilot(&[said("The word is Error: no.")]).failure, None);
    }

    #[test]
    fn a_sub_agent_of_copilot_that_uses_a_skill_is_seen() {
        let of_sub_agent = r#","_meta":{"github.com/copilot":{"agentId":"2"}}"#;
        let skill = r#","title":"Using skill: csv","kind":"other","rawInput":{"skill":"csv"}"#;
        let read = copilot(&[
            call("tool_call", "1", r#","title":"Add up","kind":"other","rawInput":{"prompt":"x"}"#),
            call("tool_call", "2", &format!("{skill}{of_sub_agent}")),
            call("tool_call_update", "2", &format!("{ENDED}{of_sub_agent}")),
            said("The total is 42."),
            call("tool_call_update", "1", ENDED),
            said("It is 42."),
        ]);
        let read = read.into_transcript();
        assert_eq!(read.answer, "It is 42.");
        let used = read.skills.used.expect("uses of skills");
        let used: Vec<_> =
            used.iter().map(|one| (one.name.as_str(), one.ok, one.call, one.subagent)).collect();
        assert_eq!(used, [("csv", true, Some(0), true)]);
    }

    #[test]
    fn a_command_of_a_tool_without_a_name_may_use_a_skill() {
        let run = |command: &str| {
            let input = format!(r#","rawInput":{{"command":"{command}"}}"#);
            one_call(&format!(r#","title":"Run it","kind":"execute"{input}"#), ENDED)
        };
        let script = run("sh .agents/skills/csv/scripts/sum.sh sales.csv");
        assert_eq!(uses(&script), ["csv script ok #0"]);
        assert_eq!(uses(&run("cat .agents/skills/csv/SKILL.md")), ["csv read ok #0"]);
        assert_eq!(uses(&run("cat notes.txt")), [""; 0]);
    }

    #[test]
    fn a_failed_call_is_an_error() {
        let failed =
            recorded::ACP_OPENCODE.replace("\"status\":\"completed\"", "\"status\":\"failed\"");
        assert_eq!(uses(&read(&failed)), ["csv-analyzer tool failed #0"]);
    }
}
