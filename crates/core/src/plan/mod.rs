//! Plans the cases of a run: which tests, how often, against which targets. Deterministic: the same
//! suite, options and seed give the same cases.

mod select;
mod shard;

pub use select::{Filter, PatternError, Selection};
pub use shard::{Shard, ShardError};

use std::collections::HashMap;

use crate::model::Test;

/// Test × target × trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCase {
    /// Index of the test in its suite.
    pub test: usize,
    pub target: String,
    /// From 1.
    pub trial: u32,
}

/// Cases that run one after another, in this order. Never empty.
pub type Chain = Vec<PlannedCase>;

/// Plans the selected tests. `targets` returns the targets of a test.
pub fn plan(
    tests: &[Test],
    selected: &[usize],
    trials: Option<u32>,
    targets: impl Fn(&Test) -> Vec<String>,
) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut conversations: HashMap<(&str, String, u32), usize> = HashMap::new();
    for at in selected {
        let test = &tests[*at];
        for target in targets(test) {
            for trial in 1..=trials.unwrap_or(test.trials) {
                let case = PlannedCase { test: *at, target: target.clone(), trial };
                let Some(conversation) = test.conversation_id.as_deref() else {
                    chains.push(vec![case]);
                    continue;
                };
                // Tests of one conversation run in file order; targets and trials do not wait
                // for each other.
                let key = (conversation, target.clone(), trial);
                match conversations.get(&key) {
                    Some(chain) => chains[*chain].push(case),
                    None => {
                        conversations.insert(key, chains.len());
                        chains.push(vec![case]);
                    }
                }
            }
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::load;
    use crate::source::MemoryFiles;

    #[test]
    fn tests_of_a_conversation_follow_each_other() {
        let text = "name: demo\ntests:\n\
            \x20 - {id: a, criteria: c, input: i, conversation_id: x}\n\
            \x20 - {id: b, criteria: c, input: i}\n\
            \x20 - {id: c, criteria: c, input: i, conversation_id: x, trials: 2}\n";
        let loaded = load(MemoryFiles::new().with("/p/EVAL.yaml", text), "/p/EVAL.yaml");
        let chains = plan(&loaded.suite.tests, &[0, 1, 2], None, |_| vec!["t".to_owned()]);
        let shape: Vec<Vec<(usize, u32)>> = chains
            .iter()
            .map(|chain| chain.iter().map(|case| (case.test, case.trial)).collect())
            .collect();
        assert_eq!(shape, [vec![(0, 1), (2, 1)], vec![(1, 1)], vec![(2, 2)]]);
    }
}
