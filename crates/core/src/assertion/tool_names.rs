//! Canonical names of tools, so that one suite fits every agent (spec 18.4). This table is all that
//! knows them; the reference and `explain tools` are made from it.

use crate::model::{Call, Fault, Measurement, SkillUse, Transcript};

use super::excerpt::excerpt;

/// Tools of different agents that do the same.
#[derive(Debug)]
pub struct ToolFamily {
    /// The canonical name.
    pub name: &'static str,
    pub doc: &'static str,
    /// By agent, in the order of the table.
    pub tools: &'static [(&'static str, &'static [&'static str])],
}

const CLAUDE: &str = "Claude Code";
const CODEX: &str = "Codex";
const GEMINI: &str = "Gemini CLI";
const COPILOT: &str = "Copilot CLI";
const OPENCODE: &str = "opencode";
const PI: &str = "Pi";

/// The agents, with the providers that run them.
const AGENTS: [(&str, &str); 6] = [
    (CLAUDE, "claude-cli"),
    (CODEX, "codex-cli"),
    (GEMINI, "gemini-cli"),
    (COPILOT, "copilot-cli"),
    (OPENCODE, "opencode"),
    (PI, "pi"),
];

/// The family of tools that run commands, which can do what an agent has no tool for.
const COMMANDS: &str = "run";
const SKILLS: &str = "skill";

/// Agents that do not tell writing from editing count for both.
pub static TOOL_FAMILIES: &[ToolFamily] = &[
    ToolFamily {
        name: "read",
        doc: "reads a file",
        tools: &[
            (CLAUDE, &["Read", "NotebookRead"]),
            (GEMINI, &["read_file", "read_many_files"]),
            (COPILOT, &["view"]),
            (OPENCODE, &["read"]),
            (PI, &["read"]),
        ],
    },
    ToolFamily {
        name: "write",
        doc: "creates or replaces a whole file",
        tools: &[
            (CLAUDE, &["Write"]),
            (CODEX, &["file_change", "apply_patch"]),
            (GEMINI, &["write_file"]),
            (COPILOT, &["create", "apply_patch"]),
            (OPENCODE, &["write", "apply_patch"]),
            (PI, &["write"]),
        ],
    },
    ToolFamily {
        name: "edit",
        doc: "changes part of a file",
        tools: &[
            (CLAUDE, &["Edit", "MultiEdit", "NotebookEdit"]),
            (CODEX, &["file_change", "apply_patch"]),
            (GEMINI, &["replace"]),
            (COPILOT, &["edit", "str_replace", "apply_patch"]),
            (OPENCODE, &["edit", "multiedit", "patch", "apply_patch"]),
            (PI, &["edit"]),
        ],
    },
    ToolFamily {
        name: "run",
        doc: "runs a command",
        tools: &[
            (CLAUDE, &["Bash", "PowerShell"]),
            (
                CODEX,
                &["command_execution", "exec_command", "shell", "shell_command", "local_shell"],
            ),
            (GEMINI, &["run_shell_command"]),
            (COPILOT, &["bash", "powershell"]),
            (OPENCODE, &["bash"]),
            (PI, &["bash"]),
        ],
    },
    ToolFamily {
        name: "search",
        doc: "looks for files, or for text in files",
        tools: &[
            (CLAUDE, &["Grep", "Glob", "LS"]),
            (GEMINI, &["search_file_content", "grep_search", "glob", "list_directory"]),
            (COPILOT, &["grep", "rg", "glob"]),
            (OPENCODE, &["grep", "glob", "list"]),
            (PI, &["grep", "find", "ls"]),
        ],
    },
    ToolFamily {
        name: "fetch",
        doc: "reads from the web, searching included",
        tools: &[
            (CLAUDE, &["WebFetch", "WebSearch"]),
            (CODEX, &["web_search"]),
            (GEMINI, &["web_fetch", "google_web_search"]),
            (COPILOT, &["web_fetch", "web_search"]),
            (OPENCODE, &["webfetch", "websearch"]),
        ],
    },
    ToolFamily {
        name: "skill",
        doc: "loads a skill",
        tools: &[
            (CLAUDE, &["Skill"]),
            (GEMINI, &["activate_skill"]),
            (COPILOT, &["skill"]),
            (OPENCODE, &["skill"]),
        ],
    },
    ToolFamily {
        name: "agent",
        doc: "starts a sub-agent",
        tools: &[
            (CLAUDE, &["Agent", "Task"]),
            (CODEX, &["collab_tool_call", "spawn_agent"]),
            (GEMINI, &["delegate_to_agent", "invoke_agent"]),
            (COPILOT, &["task"]),
            (OPENCODE, &["task"]),
        ],
    },
];

impl ToolFamily {
    fn named(name: &str) -> Option<&'static Self> {
        TOOL_FAMILIES.iter().find(|family| family.name == name)
    }

    fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|(_, tools)| tools.contains(&tool))
    }

    fn is_of(&self, agent: &str) -> bool {
        self.tools.iter().any(|(one, _)| *one == agent)
    }
}

/// The calls of an agent and what is known of their tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalledTools<'a> {
    pub(super) calls: &'a [Call],
    /// One of [`AGENTS`], if it is known.
    agent: Option<&'static str>,
    uses: Option<&'a [SkillUse]>,
}

impl<'a> CalledTools<'a> {
    /// Fails if the target does not report calls.
    pub(super) fn of(transcript: &'a Transcript) -> Result<Self, Fault> {
        let calls = transcript.calls.as_deref();
        let provider = transcript.session.agent.as_deref();
        let agent = AGENTS.iter().find(|(_, name)| Some(*name) == provider);
        Ok(Self {
            calls: calls.ok_or_else(|| Fault::not_reported(Measurement::ToolCalls))?,
            agent: agent.map(|(agent, _)| *agent),
            uses: transcript.skills.used.as_deref(),
        })
    }

    /// Whether a call is of the expected tool: the same name, a tool of that family, or for `skill` any
    /// call by which the agent loads one.
    pub(super) fn is_of(&self, at: usize, expected: &str) -> bool {
        let tool = self.calls[at].tool.as_str();
        let loads = |one: &SkillUse| one.call == Some(at) && !one.subagent;
        expected == tool
            || ToolFamily::named(expected).is_some_and(|family| family.has(tool))
            || (expected == SKILLS && self.uses.is_some_and(|uses| uses.iter().any(loads)))
    }

    /// Fails if one of these calls may have done what the expected tool does: the agent has no tool for
    /// it, so it would use a command.
    pub(super) fn refuse_hidden(
        &self,
        expected: &str,
        mut calls: impl Iterator<Item = usize>,
    ) -> Result<(), Fault> {
        let Some(family) = ToolFamily::named(expected) else { return Ok(()) };
        if family.name == SKILLS && self.uses.is_some() {
            return Ok(());
        }
        let found = calls.find_map(|at| Some((at, self.agent_without(family, at)?)));
        let Some((at, agent)) = found else { return Ok(()) };
        let (name, tool) = (family.name, excerpt(&self.calls[at].tool));
        Err(Fault::not_measured(&format!(
            "calls of `{name}`, because {agent} has no tool for it and call {} ({tool}) may have done it",
            at + 1
        )))
    }

    /// The agent that ran a command, if it has no tool of the family. Without knowing the agent, no agent
    /// with such a command may have one.
    fn agent_without(&self, family: &ToolFamily, at: usize) -> Option<&'static str> {
        let tool = self.calls[at].tool.as_str();
        let commands = ToolFamily::named(COMMANDS)?.tools.iter();
        let mut agents = commands.filter(|(agent, tools)| {
            tools.contains(&tool) && self.agent.is_none_or(|known| known == *agent)
        });
        let (first, _) = agents.next()?;
        let lacks = !family.is_of(first) && agents.all(|(agent, _)| !family.is_of(agent));
        lacks.then_some(*first)
    }
}

/// The table as Markdown.
pub fn tools_page() -> String {
    let mut text = "Wherever a suite names a tool, it may use one of these names instead of the agent's own. A\n\
         name matches the tools of its row and itself, `skill` also any other call by which an agent loads a skill.\n\n\
         What a command does is not looked into: it counts as `run`. Where an agent has no tool of a row, its\n\
         commands may do the same, so a check on that name is not measured once the agent has run a command.\n\n| name | a tool that | tools |\n|---|---|---|\n"
        .to_owned();
    for family in TOOL_FAMILIES {
        let agents = family.tools.iter().map(|(agent, tools)| {
            let tools = tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>();
            format!("{agent}: {}", tools.join(", "))
        });
        let agents = agents.collect::<Vec<_>>().join("; ");
        text += &format!("| `{}` | {} | {agents} |\n", family.name, family.doc);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SessionFacts, SkillUseKind, Value};

    fn transcript(agent: Option<&str>, tools: &[&str]) -> Transcript {
        let calls = tools.iter().map(|tool| Call::new("", *tool, Value::Null)).collect();
        let agent = agent.map(str::to_owned);
        let session = SessionFacts { agent, ..SessionFacts::default() };
        Transcript { calls: Some(calls), session, ..Transcript::default() }
    }

    fn is_tool(expected: &str, called: &str) -> bool {
        CalledTools::of(&transcript(None, &[called])).unwrap().is_of(0, expected)
    }

    #[test]
    fn a_canonical_name_matches_the_tools_of_every_agent() {
        for (expected, called) in [
            ("read", "Read"),
            ("read", "view"),
            ("write", "Write"),
            ("write", "file_change"),
            ("edit", "file_change"),
            ("edit", "replace"),
            ("run", "command_execution"),
            ("search", "Grep"),
            ("fetch", "google_web_search"),
            ("skill", "activate_skill"),
            ("agent", "Task"),
            ("mine", "mine"),
            ("edit", "edit"),
        ] {
            assert!(is_tool(expected, called), "{expected} {called}");
        }
        for (expected, called) in
            [("edit", "Write"), ("write", "Edit"), ("Read", "read"), ("read", "READ"), ("x", "y")]
        {
            assert!(!is_tool(expected, called), "{expected} {called}");
        }
    }

    #[test]
    fn a_command_hides_what_the_agent_has_no_tool_for() {
        let hidden = |agent, expected: &str, tool| {
            let transcript = transcript(agent, &[tool]);
            let called = CalledTools::of(&transcript).unwrap();
            called.refuse_hidden(expected, 0..1).is_err()
        };
        for (agent, expected, tool) in [
            (Some("codex-cli"), "read", "command_execution"),
            (None, "read", "command_execution"),
            (None, "search", "exec_command"),
            (None, "skill", "shell"),
            (Some("pi"), "fetch", "bash"),
            (Some("pi"), "agent", "bash"),
        ] {
            assert!(hidden(agent, expected, tool), "{agent:?} {expected} {tool}");
        }
        for (agent, expected, tool) in [
            (Some("codex-cli"), "read", "file_change"),
            (Some("codex-cli"), "run", "command_execution"),
            (Some("codex-cli"), "edit", "command_execution"),
            (Some("codex-cli"), "my_tool", "command_execution"),
            (Some("claude-cli"), "read", "Bash"),
            (Some("opencode"), "fetch", "bash"),
            // Other agents with a tool of this name can fetch.
            (None, "fetch", "bash"),
            (Some("cli"), "fetch", "bash"),
        ] {
            assert!(!hidden(agent, expected, tool), "{agent:?} {expected} {tool}");
        }
    }

    #[test]
    fn a_skill_is_loaded_by_any_call_that_uses_one() {
        let mut transcript = transcript(Some("codex-cli"), &["command_execution"; 3]);
        let used = |call, subagent| SkillUse {
            name: "csv".to_owned(),
            how: SkillUseKind::Read,
            ok: true,
            call: Some(call),
            subagent,
        };
        transcript.skills.used = Some(vec![used(1, false), used(2, true)]);
        let called = CalledTools::of(&transcript).unwrap();
        let found: Vec<bool> = (0..3).map(|at| called.is_of(at, "skill")).collect();
        assert_eq!(found, [false, true, false]);
        assert!(called.refuse_hidden("skill", 0..3).is_ok());
    }

    #[test]
    fn every_agent_of_the_table_has_a_provider() {
        let named = |agent: &str| AGENTS.iter().any(|(name, _)| *name == agent);
        let mut tools = TOOL_FAMILIES.iter().flat_map(|family| family.tools);
        assert!(tools.all(|(agent, _)| named(agent)));
    }

    #[test]
    fn every_family_is_on_the_page() {
        let page = tools_page();
        for family in TOOL_FAMILIES {
            assert!(page.contains(&format!("| `{}` |", family.name)));
        }
    }
}
