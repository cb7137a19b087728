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
            for trial in 1..=trials.unwrap_or_else(|| test.planned_trials()) {
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
    use crate::model::PassShare;
    use crate::source::MemoryFiles;

    #[test]
    fn trigger_judges_say_how_often_a_test_is_run_and_how_often_it_must_pass() {
        let test = |rest: &str| {
            let text =
                format!("name: demo\ntests:\n  - {{id: a, criteria: c, input: i, {rest}}}\n");
            let files = MemoryFiles::new().with("/p/EVAL.yaml", text.as_str());
            load(files, "/p/EVAL.yaml").suite.tests.remove(0)
        };
        let judge = |rest: &str| format!("assert: [{{type: trigger-judge, skill: x{rest}}}]");
        for (rest, trials, share) in [
            (judge(""), 1, None),
            (judge(", runs_per_query: 3"), 3, Some(PassShare::at_least(0.5))),
            (judge(", runs_per_query: 3") + ", trials: 5", 5, Some(PassShare::at_least(0.5))),
            (judge(", trigger_threshold: 0.7"), 1, Some(PassShare::at_least(0.7))),
            (
                judge(", runs_per_query: 4, trigger_threshold: 0.25, should_trigger: false"),
                4,
                Some(PassShare::above(0.75)),
            ),
            (judge(", runs_per_query: 2, negate: true"), 2, Some(PassShare::above(0.5))),
            (
                judge("") + ", metadata: {runs_per_query: 3, trigger_threshold: 0.6}",
                3,
                Some(PassShare::at_least(0.6)),
            ),
            ("metadata: {runs_per_query: 3}".to_owned(), 1, None),
        ] {
            let test = test(&rest);
            assert_eq!((test.planned_trials(), test.pass_share()), (trials, share), "{rest}");
            let cases = plan(&[test], &[0], None, |_| vec!["t".to_owned()]);
            assert_eq!(cases.len(), trials as usize);
        }
        let test = test(&judge(", runs_per_query: 3"));
        assert_eq!(plan(&[test], &[0], Some(1), |_| vec!["t".to_owned()]).len(), 1);
    }

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
