//! Canonical names of tools, so that one suite fits every agent (spec 18.4). This table is all that
//! knows them; the reference and `explain tools` are made from it.

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
    fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|(_, tools)| tools.contains(&tool))
    }
}

/// Whether a called tool is the expected one: the same name, or a tool of that family.
pub(super) fn is_tool(expected: &str, called: &str) -> bool {
    let is_family = |family: &&ToolFamily| family.name == expected;
    expected == called
        || TOOL_FAMILIES.iter().find(is_family).is_some_and(|family| family.has(called))
}

/// The table as Markdown.
pub fn tools_page() -> String {
    let mut text = "Wherever a suite names a tool, it may use one of these names instead of the agent's own. A\n\
         name matches the tools of its row and itself.\n\n| name | a tool that | tools |\n|---|---|---|\n"
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
    fn every_family_is_on_the_page() {
        let page = tools_page();
        for family in TOOL_FAMILIES {
            assert!(page.contains(&format!("| `{}` |", family.name)));
        }
    }
}
