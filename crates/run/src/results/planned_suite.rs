//! The cases that a run plans, as its header names them (spec 11.5): compactly, so that a missing row can be named
//! without the suite.

use std::collections::{HashMap, HashSet};

use evalrig_core::stats::Fnv1a;
use serde::{Deserialize, Serialize};

use super::row::CaseKey;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSuite {
    pub name: String,
    /// Relative to the repository root.
    pub file: String,
    /// See [`fingerprint`].
    pub fingerprint: String,
    /// Of a shard: the hash of the suite's whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseGroup>,
    /// Ids of tests that are in other shards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_shards: Vec<String>,
}

/// Every test on every target, as often as `trials` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseGroup {
    pub targets: Vec<String>,
    pub trials: TrialNumbers,
    pub tests: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TrialNumbers {
    /// From 1 to this.
    UpTo(u32),
    /// These alone.
    These(Vec<u32>),
}

/// The name of a plan from the hash of its cases.
pub(crate) fn plan_name(hash: &Fnv1a) -> String {
    format!("{:016x}", hash.finish())
}

/// Adds a case to the hash of a plan.
pub(crate) fn add_case(hash: &mut Fnv1a, test: &str, target: &str, trial: u32) {
    hash.add_text(test);
    hash.add_text(target);
    hash.add(&trial.to_le_bytes());
}

impl PlannedSuite {
    pub fn new<'a>(
        name: &str,
        file: &str,
        fingerprint: String,
        cases: impl IntoIterator<Item = (&'a str, &'a str, u32)>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            fingerprint,
            plan: None,
            cases: grouped(cases),
            other_shards: Vec::new(),
        }
    }

    /// Adds the cases of tests that there are, each once.
    pub(crate) fn add_cases<'g>(
        &mut self,
        groups: impl Iterator<Item = &'g CaseGroup>,
        has_test: impl Fn(&str) -> bool,
    ) {
        let mut known: HashSet<(String, String, u32)> =
            self.keys().map(|key| (key.test, key.target, key.trial)).collect();
        for group in groups {
            for test in group.tests.iter().filter(|test| has_test(test)) {
                for target in &group.targets {
                    let numbers = group.trials.numbers();
                    let missing = numbers
                        .filter(|trial| known.insert((test.clone(), target.clone(), *trial)));
                    let missing: Vec<u32> = missing.collect();
                    if !missing.is_empty() {
                        self.cases.push(CaseGroup {
                            targets: vec![target.clone()],
                            trials: TrialNumbers::of(missing),
                            tests: vec![test.clone()],
                        });
                    }
                }
            }
        }
    }

    pub(super) fn case_count(&self) -> u64 {
        let groups = self.cases.iter().map(|group| {
            let tests = (group.tests.len() as u64).saturating_mul(group.targets.len() as u64);
            tests.saturating_mul(group.trials.count())
        });
        groups.fold(0, u64::saturating_add)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = CaseKey> {
        self.cases().map(|(test, target, trial)| CaseKey {
            suite: self.name.clone(),
            test: test.to_owned(),
            target: target.to_owned(),
            trial,
        })
    }

    /// Test, target and trial of every planned case.
    pub(super) fn cases(&self) -> impl Iterator<Item = (&str, &str, u32)> {
        self.cases.iter().flat_map(|group| {
            group.tests.iter().flat_map(|test| {
                group.targets.iter().flat_map(|target| {
                    let numbers = group.trials.numbers();
                    numbers.map(|trial| (test.as_str(), target.as_str(), trial))
                })
            })
        })
    }
}

impl TrialNumbers {
    fn of(numbers: Vec<u32>) -> Self {
        let is_whole = numbers.iter().zip(1..).all(|(number, at)| *number == at);
        match u32::try_from(numbers.len()) {
            Ok(count) if is_whole => Self::UpTo(count),
            _ => Self::These(numbers),
        }
    }

    /// Whether it is what [`TrialNumbers::of`] makes of these.
    fn is(&self, numbers: &[u32]) -> bool {
        match self {
            Self::UpTo(last) => (1..=*last).eq(numbers.iter().copied()),
            Self::These(list) => list == numbers,
        }
    }

    /// Drops the numbers above this one; false if none is left.
    pub(super) fn cut(&mut self, last: u32) -> bool {
        match self {
            Self::UpTo(count) => *count = last.min(*count),
            Self::These(numbers) => numbers.retain(|number| *number <= last),
        }
        self.count() > 0
    }

    fn count(&self) -> u64 {
        match self {
            Self::UpTo(last) => u64::from(*last),
            Self::These(numbers) => numbers.len() as u64,
        }
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        let (last, list) = match self {
            Self::UpTo(last) => (*last, &[][..]),
            Self::These(numbers) => (0, &numbers[..]),
        };
        (1..=last).chain(list.iter().copied())
    }
}

/// Targets of one test with the same trials.
type Signature = (Vec<String>, TrialNumbers);

/// Trials of one test by target, in order.
type TrialsByTarget<'a> = Vec<(&'a str, Vec<u32>)>;

/// Tests that run on the same targets, equally often, share a group.
fn grouped<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str, u32)>) -> Vec<CaseGroup> {
    let mut groups: Vec<CaseGroup> = Vec::new();
    let mut known: HashMap<Signature, usize> = HashMap::new();
    // Most suites have one group, which is found again without a look at the table.
    let mut last = 0;
    let mut add = |test: &str, targets: TrialsByTarget<'_>| {
        if let ([(target, trials)], Some(group)) = (&targets[..], groups.get_mut(last))
            && group.targets == [*target]
            && group.trials.is(trials)
        {
            group.tests.push(test.to_owned());
            return;
        }
        let mut merged: Vec<Signature> = Vec::with_capacity(1);
        for (target, trials) in targets {
            let trials = TrialNumbers::of(trials);
            match merged.iter_mut().find(|(_, known)| *known == trials) {
                Some((names, _)) => names.push(target.to_owned()),
                None => merged.push((vec![target.to_owned()], trials)),
            }
        }
        for signature in merged {
            let at = *known.entry(signature).or_insert_with_key(|(targets, trials)| {
                let (targets, trials) = (targets.clone(), trials.clone());
                groups.push(CaseGroup { targets, trials, tests: Vec::new() });
                groups.len() - 1
            });
            groups[at].tests.push(test.to_owned());
            last = at;
        }
    };
    let mut current: Option<(&str, TrialsByTarget<'_>)> = None;
    for (test, target, trial) in cases {
        match &mut current {
            Some((known, targets)) if *known == test => {
                match targets.iter_mut().find(|(name, _)| *name == target) {
                    Some((_, trials)) => trials.push(trial),
                    None => targets.push((target, vec![trial])),
                }
            }
            _ => {
                let next = (test, vec![(target, vec![trial])]);
                if let Some((test, targets)) = current.replace(next) {
                    add(test, targets);
                }
            }
        }
    }
    if let Some((test, targets)) = current {
        add(test, targets);
    }
    groups
}

/// A short name for the tests of a plan: changes when a test is added, removed, moved, or means
/// something else. Takes pairs of id and `testHash`.
pub fn fingerprint<'a>(tests: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    // Not a cryptographic hash: there is nothing to gain by making two plans look alike.
    let mut hash = Fnv1a::default();
    for (id, test_hash) in tests {
        hash.add_text(id);
        hash.add_text(test_hash);
    }
    plan_name(&hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(cases: &[(&str, &str, u32)]) -> PlannedSuite {
        PlannedSuite::new("s", "EVAL.yaml", String::new(), cases.iter().copied())
    }

    #[test]
    fn tests_on_the_same_targets_share_a_group() {
        let mut cases = Vec::new();
        for test in ["a", "b", "c"] {
            for target in ["x", "y"] {
                cases.extend((1..=3).map(|trial| (test, target, trial)));
            }
        }
        let planned = suite(&cases);
        assert_eq!(
            planned.cases,
            [CaseGroup {
                targets: vec!["x".to_owned(), "y".to_owned()],
                trials: TrialNumbers::UpTo(3),
                tests: ["a", "b", "c"].map(str::to_owned).to_vec(),
            }]
        );
        let keys: Vec<CaseKey> = planned.keys().collect();
        let listed: Vec<_> =
            keys.iter().map(|key| (key.test.as_str(), key.target.as_str(), key.trial)).collect();
        assert_eq!(listed, cases);
    }

    #[test]
    fn the_fingerprint_changes_with_the_tests() {
        let same = fingerprint([("a", "00"), ("b", "11")]);
        assert_eq!(same, fingerprint([("a", "00"), ("b", "11")]));
        assert_eq!(same.len(), 16);
        for other in [
            fingerprint([("a", "00")]),
            fingerprint([("b", "11"), ("a", "00")]),
            fingerprint([("a", "00"), ("b", "12")]),
            fingerprint([("a0", "0"), ("b", "11")]),
        ] {
            assert_ne!(same, other);
        }
    }
}
