//! Agents that promptfoo runs through their SDK → targets that run the program of the same agent.

use crate::model::Map;

use super::super::located::Located;
use super::service::ServiceTarget;

/// The providers that stand for them.
pub(super) const AGENTS: &[&str] = &["claude-cli", "codex-cli"];

/// `None` for any other provider.
pub(super) fn agent_target(id: &str, config: Option<&Located>) -> Option<ServiceTarget> {
    let (service, rest) = id.split_once(':')?;
    let (agent, model) = rest.split_once(':').map_or((rest, None), |(agent, m)| (agent, Some(m)));
    let option = |key: &str| config.and_then(|config| config.get(key));
    let model = option("model").and_then(Located::text).or_else(|| model.map(str::to_owned));
    let made = |provider: &str| Map::new().with("provider", provider).with_some("model", model);
    match (service, agent) {
        ("anthropic", "claude-agent-sdk" | "claude-code") => {
            let turns = option("max_turns").and_then(Located::number).and_then(|n| n.as_u64());
            let target =
                made("claude-cli").with_some("max_turns", turns.filter(|turns| *turns > 0));
            Some(ServiceTarget { target, taken: &["model", "max_turns"] })
        }
        ("openai", "codex-sdk" | "codex") => {
            Some(ServiceTarget { target: made("codex-cli"), taken: &["model"] })
        }
        _ => None,
    }
}
