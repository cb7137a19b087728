//! Targets for the suite of a skill that has no targets file: the agents that are installed (spec 19.2).

use std::fmt::Write as _;

use camino::Utf8Path;
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::reader::World;
use evalrig_core::source::Sources;

use super::file::{Targets, read_targets_source};

/// A program on the search path that is an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstalledAgent {
    pub program: &'static str,
    pub provider: &'static str,
    /// Options with which it only judges.
    judging: &'static str,
}

/// The first that is installed is the default.
static AGENTS: &[InstalledAgent] = &[
    agent("claude", "claude-cli", ""),
    agent("codex", "codex-cli", ", args: [--sandbox, read-only]"),
    agent("gemini", "gemini-cli", ""),
    agent("copilot", "copilot-cli", ""),
    agent("opencode", "opencode", ""),
    agent("pi", "pi", ""),
];

const fn agent(
    program: &'static str,
    provider: &'static str,
    judging: &'static str,
) -> InstalledAgent {
    InstalledAgent { program, provider, judging }
}

/// Whether a program is on the search path.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

pub fn installed_agents() -> Vec<InstalledAgent> {
    AGENTS.iter().copied().filter(|agent| is_installed(agent.program)).collect()
}

/// Targets that are named as the agents; `default` and the judge are the first of them. `None` without
/// agents.
pub fn targets_of_agents(
    agents: &[InstalledAgent],
    world: World<'_>,
    sources: &mut Sources,
    out: &mut Diagnostics,
    root: &Utf8Path,
) -> Option<Targets> {
    let text = targets_text(agents)?;
    // Where it would be, so that paths mean the same.
    let path = root.join(".evalrig/targets.yaml");
    let source = sources.add_file(path.clone(), text, 0);
    read_targets_source(world, sources, out, source, &path, root)
}

fn targets_text(agents: &[InstalledAgent]) -> Option<String> {
    let first = agents.first()?;
    let mut text = String::from("targets:\n");
    let _ = writeln!(text, "  - {{name: default, provider: {}}}", first.provider);
    for InstalledAgent { program, provider, .. } in agents {
        let _ = writeln!(text, "  - {{name: {program}, provider: {provider}}}");
    }
    let _ = writeln!(text, "  - {{name: judge, provider: {}{}}}", first.provider, first.judging);
    text.push_str("judge_target: judge\n");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing;

    #[test]
    fn every_agent_makes_a_valid_file() {
        for agent in AGENTS {
            let text = targets_text(&[*agent]).unwrap();
            let read = testing::read(&text);
            assert_eq!(read.messages(), Vec::<String>::new(), "{text}");
            assert!(read.targets.unwrap().has("default"));
        }
        let all = testing::read(&targets_text(AGENTS).unwrap());
        assert_eq!(all.targets.unwrap().names().count(), AGENTS.len() + 2);
        assert_eq!(targets_text(&[]), None);
    }
}
