//! The targets files that `init --target` writes, one per agent.

use camino::Utf8Path;
use clap::ValueEnum;

use crate::args::InitAgent;
use evalrig_run::target::{InstalledAgent, installed_agents, is_installed};

const PYTHON_NAMES: &[&str] = &["agent.py", "main.py", "app.py"];

/// The starter that is written where no Python program is found.
pub(super) const STARTER: (&str, &str) =
    ("agent.py", include_str!("../../../templates/agents/agent.py"));

/// Who can grade in words. The first that is available becomes the judge of a targets file.
const JUDGES: &[JudgeTemplate] = &[
    JudgeTemplate { needs: Needs::Program("claude"), text: "provider: claude-cli" },
    JudgeTemplate {
        needs: Needs::Variable("ANTHROPIC_API_KEY"),
        text: "provider: anthropic\n    model: claude-sonnet-4-5",
    },
    JudgeTemplate {
        needs: Needs::Variable("OPENAI_API_KEY"),
        text: "provider: openai\n    model: gpt-4o",
    },
    JudgeTemplate {
        needs: Needs::Program("codex"),
        text: "provider: codex-cli\n    args: [--sandbox, read-only]",
    },
    // A judge needs no tools.
    JudgeTemplate {
        needs: Needs::Program("gemini"),
        text: "provider: gemini-cli\n    bypass_permissions: false",
    },
    JudgeTemplate {
        needs: Needs::Program("copilot"),
        text: "provider: copilot-cli\n    bypass_permissions: false",
    },
    JudgeTemplate { needs: Needs::Program("opencode"), text: "provider: opencode" },
    JudgeTemplate { needs: Needs::Program("pi"), text: "provider: pi" },
];

struct JudgeTemplate {
    needs: Needs,
    text: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Program(&'static str),
    Variable(&'static str),
}

impl Needs {
    pub(super) fn is_met(self) -> bool {
        match self {
            Self::Program(name) => is_installed(name),
            Self::Variable(name) => std::env::var_os(name).is_some_and(|value| !value.is_empty()),
        }
    }

    /// What to do before the first run.
    pub(super) fn missing(self) -> Option<String> {
        match self {
            _ if self.is_met() => None,
            Self::Program(name) => {
                Some(format!("`{name}` is not installed yet; it is needed to run"))
            }
            Self::Variable(name) => Some(format!("set {name} before the first run")),
        }
    }
}

impl InitAgent {
    pub(super) fn needs(self) -> Option<Needs> {
        Some(match self {
            Self::Claude => Needs::Program("claude"),
            Self::Codex => Needs::Program("codex"),
            Self::Gemini => Needs::Program("gemini"),
            Self::Copilot => Needs::Program("copilot"),
            Self::Opencode => Needs::Program("opencode"),
            Self::Pi => Needs::Program("pi"),
            Self::Python => Needs::Program(python()),
            Self::Openai => Needs::Variable("OPENAI_API_KEY"),
            Self::Http => return None,
        })
    }

    fn template(self) -> &'static str {
        match self {
            Self::Claude => include_str!("../../../templates/agents/claude.yaml"),
            Self::Codex => include_str!("../../../templates/agents/codex.yaml"),
            Self::Gemini => include_str!("../../../templates/agents/gemini.yaml"),
            Self::Copilot => include_str!("../../../templates/agents/copilot.yaml"),
            Self::Opencode => include_str!("../../../templates/agents/opencode.yaml"),
            Self::Pi => include_str!("../../../templates/agents/pi.yaml"),
            Self::Python => include_str!("../../../templates/agents/python.yaml"),
            Self::Openai => include_str!("../../../templates/agents/openai.yaml"),
            Self::Http => include_str!("../../../templates/agents/http.yaml"),
        }
    }

    /// What a judge like this agent needs, and its options; none if it cannot judge.
    fn own_judge(self) -> Option<&'static JudgeTemplate> {
        let needs = self.needs()?;
        JUDGES.iter().find(|judge| judge.needs == needs)
    }

    /// The targets file for a directory.
    pub(super) fn targets_file(self, directory: &Utf8Path) -> String {
        let script = python_program(directory).unwrap_or(STARTER.0);
        let entry = self.template().replace("{PYTHON}", python()).replace("{SCRIPT}", script);
        let available = || JUDGES.iter().find(|judge| judge.needs.is_met());
        let judge = match self.own_judge().or_else(available) {
            Some(judge) => judge_text(judge.text),
            None => commented(&judge_text(JUDGES[2].text)),
        };
        format!(
            "{entry}
{judge}"
        )
    }
}

/// The judge as an entry of its own, because a target never judges itself.
fn judge_text(provider: &str) -> String {
    format!(
        "  # Grades criteria and rubrics, which are written in words.\n  - name: judge\n    {provider}\n\n\
         judge_target: judge\n"
    )
}

fn commented(text: &str) -> String {
    let is_as_it_is = |line: &str| line.is_empty() || line.trim_start().starts_with('#');
    let mark = |line: &str| if is_as_it_is(line) { "" } else { "# " };
    text.lines().map(|line| format!("{}{line}\n", mark(line))).collect()
}

/// The program in a directory that looks like an agent.
pub(super) fn python_program(directory: &Utf8Path) -> Option<&'static str> {
    PYTHON_NAMES.iter().copied().find(|name| directory.join(name).is_file())
}

fn python() -> &'static str {
    if is_installed("python3") || !is_installed("python") { "python3" } else { "python" }
}

/// The agent that `run` would use without a targets file.
pub(super) fn installed_agent() -> Option<InitAgent> {
    installed_agents().first().copied().and_then(agent_of_program)
}

fn agent_of_program(installed: InstalledAgent) -> Option<InitAgent> {
    let needs = Some(Needs::Program(installed.program));
    InitAgent::value_variants().iter().copied().find(|agent| agent.needs() == needs)
}
