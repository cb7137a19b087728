//! Where the rows of a page came from: agents, commit, command, version, plan. Usually one of each.

use serde_json::{Map, Value, json};

use super::case::{NAME, put};
use super::cut_text;
use crate::results::{GitState, Row};

/// Of each kind, at most this many are named.
const MOST: usize = 8;
const COMMAND: usize = 2_000;

#[derive(Debug, Default)]
pub struct PageOrigin {
    agents: Vec<Value>,
    git: Vec<Value>,
    commands: Vec<Value>,
    versions: Vec<Value>,
    plans: Vec<Value>,
    runs: Vec<Value>,
}

impl PageOrigin {
    pub fn add(&mut self, row: &Row) {
        if let Some(agent) = agent(row) {
            keep(&mut self.agents, agent);
        }
        if let Some(state) = &row.git {
            keep(&mut self.git, git(state));
        }
        let texts = [
            (&mut self.commands, row.command.as_deref(), COMMAND),
            (&mut self.versions, row.evalrig.as_deref(), NAME),
            (&mut self.runs, row.run.as_deref(), NAME),
        ];
        for (list, text, most) in texts {
            if let Some(text) = text {
                keep(list, json!(cut_text::text(text, most)));
            }
        }
        if let Some(plan) = &row.plan {
            let shard = plan.shard.as_ref().map(|shard| format!(", shard {shard}"));
            let text = format!("{}{}", plan.hash, shard.unwrap_or_default());
            keep(&mut self.plans, json!(cut_text::text(&text, NAME)));
        }
    }

    pub fn document(&self) -> Value {
        let lists = [
            ("agents", &self.agents),
            ("git", &self.git),
            ("commands", &self.commands),
            ("versions", &self.versions),
            ("plans", &self.plans),
            ("runs", &self.runs),
        ];
        let known = lists.into_iter().filter(|(_, list)| !list.is_empty());
        known.map(|(key, list)| (key.to_owned(), json!(list))).collect::<Map<_, _>>().into()
    }
}

fn keep(list: &mut Vec<Value>, value: Value) {
    if list.len() < MOST && !list.contains(&value) {
        list.push(value);
    }
}

/// `None` where the row does not say who answered.
fn agent(row: &Row) -> Option<Value> {
    let facts = row.agent.as_ref()?;
    let mut map = Map::new();
    let named =
        [("provider", &facts.provider), ("model", &facts.model), ("version", &facts.version)];
    for (key, value) in named {
        put(&mut map, key, value.as_deref().map(|text| cut_text::text(text, NAME)));
    }
    if map.is_empty() {
        return None;
    }
    map.insert("target".to_owned(), json!(cut_text::text(&row.variant(), NAME)));
    Some(map.into())
}

fn git(state: &GitState) -> Value {
    let mut map = Map::new();
    map.insert("commit".to_owned(), json!(cut_text::text(&state.commit, NAME)));
    put(&mut map, "branch", state.branch.as_deref().map(|name| cut_text::text(name, NAME)));
    put(&mut map, "dirty", state.dirty);
    map.into()
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::super::fixture;
    use super::*;
    use crate::results::{AgentFacts, PlanPlace};

    #[test]
    fn each_origin_is_named_once() {
        let mut row = fixture::row("a", Outcome::Passed, Some(1.0));
        let mut origin = PageOrigin::default();
        origin.add(&row);
        assert_eq!(origin.document(), json!({}));
        row.agent = Some(AgentFacts { model: Some("m-1".to_owned()), ..AgentFacts::default() });
        row.git = Some(GitState { commit: "abc".to_owned(), branch: None, dirty: Some(true) });
        row.command = Some("evalrig run".to_owned());
        row.plan = Some(PlanPlace { hash: "9f".to_owned(), shard: Some("1/2".to_owned()) });
        origin.add(&row);
        origin.add(&row);
        assert_eq!(
            origin.document(),
            json!({
                "agents": [{"model": "m-1", "target": "claude"}],
                "git": [{"commit": "abc", "dirty": true}],
                "commands": ["evalrig run"],
                "plans": ["9f, shard 1/2"],
            })
        );
        for number in 0..20 {
            row.run = Some(number.to_string());
            origin.add(&row);
        }
        assert_eq!(origin.document()["runs"].as_array().unwrap().len(), MOST);
    }
}
