//! Where the rows of a page came from: agents, commit, command, version, plan. Usually one of each.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::case::{NAME, put};
use super::cut_text;
use crate::results::{GitState, Row};

/// Of each kind, at most this many are named.
const MOST: usize = 8;
const COMMAND: usize = 2_000;
const MOST_WORKERS: usize = 64;
const OTHER_WORKERS: &str = "other workers";

#[derive(Debug, Default)]
pub struct PageOrigin {
    agents: Vec<Value>,
    git: Vec<Value>,
    commands: Vec<Value>,
    versions: Vec<Value>,
    plans: Vec<Value>,
    runs: Vec<Value>,
    /// How many rows each worker of a queue wrote.
    workers: BTreeMap<String, u64>,
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
        if let Some(worker) = &row.worker {
            self.count_worker(cut_text::text(worker, NAME));
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
        let mut map: Map<_, _> = known.map(|(key, list)| (key.to_owned(), json!(list))).collect();
        let workers: Vec<Value> =
            self.workers.iter().map(|(name, rows)| json!([name, rows])).collect();
        put(&mut map, "workers", (!workers.is_empty()).then_some(workers));
        map.into()
    }

    fn count_worker(&mut self, name: String) {
        let is_named = self.workers.len() < MOST_WORKERS || self.workers.contains_key(&name);
        let name = if is_named { name } else { OTHER_WORKERS.to_owned() };
        *self.workers.entry(name).or_default() += 1;
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
    fn rows_are_counted_by_worker() {
        let mut row = fixture::row("a", Outcome::Passed, Some(1.0));
        let mut origin = PageOrigin::default();
        for number in (0..MOST_WORKERS + 3).chain([0]) {
            row.worker = Some(format!("w{number:03}"));
            origin.add(&row);
        }
        let workers = &origin.document()["workers"];
        assert_eq!(workers.as_array().map(Vec::len), Some(MOST_WORKERS + 1));
        assert_eq!((&workers[0], &workers[1]), (&json!([OTHER_WORKERS, 3]), &json!(["w000", 2])));
    }

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
