//! Recorded streams, shortened, and views of what was read, for the tests of the readers.

use evalrig_core::model::{Call, JsonStyle, SkillUse, Transcript};

use crate::agent::AttemptFault;

use super::events::EventFormat;

/// Streams of the real agents, without what no reader looks at.
pub(super) mod recorded {
    macro_rules! recorded {
        ($($name:ident = $file:literal;)+) => {
            $(pub(in crate::format) const $name: &str = include_str!(concat!("recorded/", $file));)+
        };
    }

    recorded! {
        CLAUDE_SKILL = "claude-skill.jsonl";
        CLAUDE_SUB_AGENT = "claude-sub-agent.jsonl";
        CLAUDE_BACKGROUND_AGENT = "claude-background-agent.jsonl";
        CLAUDE_DENIED = "claude-denied.jsonl";
        CLAUDE_TOOL_ERROR = "claude-tool-error.jsonl";
        CLAUDE_STOPPED = "claude-stopped.jsonl";
        CODEX_SKILL_MISSING = "codex-skill-missing.jsonl";
        CODEX_PATCH = "codex-patch.jsonl";
        CODEX_SUB_AGENT = "codex-sub-agent.jsonl";
        CODEX_401 = "codex-401.jsonl";
        GEMINI_SKILL = "gemini-skill.jsonl";
        GEMINI_THOUGHTS = "gemini-thoughts.jsonl";
        GEMINI_SUB_AGENT = "gemini-sub-agent.jsonl";
        GEMINI_401 = "gemini-401.jsonl";
        COPILOT_SKILL = "copilot-skill.jsonl";
        COPILOT_SUB_AGENT = "copilot-sub-agent.jsonl";
        COPILOT_401 = "copilot-401.jsonl";
        COPILOT_USAGE = "copilot-usage.json";
        OPENCODE_COMMAND = "opencode-command.jsonl";
        OPENCODE_SKILL_ERROR = "opencode-skill-error.jsonl";
        OPENCODE_SUB_AGENT = "opencode-sub-agent.jsonl";
        OPENCODE_401 = "opencode-401.jsonl";
        PI_SKILL = "pi-skill.jsonl";
        PI_401 = "pi-401.jsonl";
        ACP_CLAUDE = "acp-claude.jsonl";
        ACP_CLAUDE_OLD = "acp-claude-old.jsonl";
        ACP_CODEX = "acp-codex.jsonl";
        ACP_COPILOT = "acp-copilot.jsonl";
        ACP_GEMINI = "acp-gemini.jsonl";
        ACP_OPENCODE = "acp-opencode.jsonl";
    }
}

pub(super) fn read(format: &'static EventFormat, stream: &str) -> Transcript {
    format.read_transcript(stream.as_bytes()).unwrap()
}

/// Why a stream gives no transcript.
pub(super) fn fault(format: &'static EventFormat, stream: &str) -> String {
    let fault = format.read_transcript(stream.as_bytes()).unwrap_err();
    AttemptFault::from(fault).fault.message
}

/// Tool, arguments, `ok` or `error`, exit code.
pub(super) fn calls(transcript: &Transcript) -> Vec<String> {
    let show = |call: &Call| {
        let args = call.args.to_json(JsonStyle::Compact);
        let end = call.is_error.map(|is_error| if is_error { " error" } else { " ok" });
        let code = call.exit_code.map(|code| format!(" {code}"));
        let (end, code) = (end.unwrap_or_default(), code.unwrap_or_default());
        format!("{} {args}{end}{code}", call.tool)
    };
    transcript.calls.as_deref().unwrap().iter().map(show).collect()
}

/// Name, how, `ok` or `failed`, the number of the call.
pub(super) fn uses(transcript: &Transcript) -> Vec<String> {
    let show = |one: &SkillUse| {
        let ok = if one.ok { "ok" } else { "failed" };
        let call = one.call.map(|at| format!(" #{at}")).unwrap_or_default();
        let by = if one.subagent { " sub-agent" } else { "" };
        format!("{} {} {ok}{call}{by}", one.name, one.how.word())
    };
    transcript.skills.used.as_deref().unwrap().iter().map(show).collect()
}
