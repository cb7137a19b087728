//! pass@k and pass^k of tests and of the run, where tests have several trials.

use std::collections::{BTreeMap, BTreeSet};

use evalrig_core::model::Outcome;
use evalrig_core::stats::{Interval, KRule, PassK};
use serde_json::{Value, json};

use crate::results::Row;
use crate::text::{self, numbers};

/// The numbers of trials that are asked about.
const KS: [u64; 5] = [1, 2, 3, 5, 10];
const CONFIDENCE: f64 = 0.95;
/// Tests with lines of their own.
const LISTED: usize = 100;

/// Passes and trials by suite, test and target.
#[derive(Debug, Default)]
pub struct PassKTally {
    tests: BTreeMap<(String, String), BTreeMap<String, (u64, u64)>>,
    /// Targets with a baseline arm, by suite. They count for tests alone.
    baselines: BTreeSet<(String, String)>,
}

impl PassKTally {
    /// Trials without a verdict do not count.
    pub fn add(&mut self, row: &Row) {
        if !matches!(row.outcome, Outcome::Passed | Outcome::Borderline | Outcome::Failed) {
            return;
        }
        if row.baseline_arm {
            self.baselines.insert((row.dataset.clone(), row.variant().into_owned()));
        }
        let test = (row.dataset.clone(), row.eval_id.clone());
        let targets = self.tests.entry(test).or_default();
        let (passes, trials) = targets.entry(row.variant().into_owned()).or_default();
        *passes += u64::from(row.outcome == Outcome::Passed);
        *trials += 1;
    }

    /// Whether a test has several trials.
    fn is_repeated(&self) -> bool {
        self.tests.values().flat_map(BTreeMap::values).any(|(_, trials)| *trials > 1)
    }

    /// The k that every test has enough trials for.
    fn common_ks(&self, suite: Option<&str>) -> Vec<u64> {
        let trials = self.groups(suite).into_iter().flatten().map(|(_, trials)| trials);
        ks(trials.min().unwrap_or(0))
    }

    /// Passes and trials of each test on its targets, without baseline arms.
    fn groups(&self, suite: Option<&str>) -> Vec<Vec<(u64, u64)>> {
        let tests = self.tests.iter().filter(|((name, _), _)| suite.is_none_or(|one| one == name));
        let groups = tests.map(|((suite, _), targets)| {
            let is_compared = |target: &String| {
                self.baselines.is_empty()
                    || !self.baselines.contains(&(suite.clone(), target.clone()))
            };
            let counts = targets.iter().filter(|(target, _)| is_compared(target));
            counts.map(|(_, counts)| *counts).collect::<Vec<_>>()
        });
        groups.filter(|group| !group.is_empty()).collect()
    }

    fn suite(&self, suite: Option<&str>, rule: KRule, k: u64) -> Option<PassK> {
        rule.of_suite(&self.groups(suite), k, CONFIDENCE)
    }

    /// Label and text of a line for the run, and one for each of its tests. Empty unless tests have
    /// several trials.
    pub fn lines(&self) -> Vec<(String, String)> {
        if !self.is_repeated() {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for (rule, label) in [(KRule::Any, "pass@k"), (KRule::All, "pass^k")] {
            let found = self.common_ks(None).into_iter().filter(|k| *k > 1);
            let parts: Vec<String> = found
                .filter_map(|k| Some(format!("k={k}: {}", phrase(self.suite(None, rule, k)?))))
                .collect();
            if !parts.is_empty() {
                lines.push((label.to_owned(), parts.join(", ")));
            }
        }
        let all: Vec<_> = self
            .tests
            .iter()
            .flat_map(|((_, test), targets)| {
                targets.iter().map(move |(target, counts)| (test, target, targets.len(), *counts))
            })
            .filter(|(.., (_, trials))| *trials > 1)
            .collect();
        for (test, target, targets, (passes, trials)) in all.iter().take(LISTED) {
            let k = ks(*trials).pop().unwrap_or(1);
            let of = |rule: KRule| rule.of_test(*passes, *trials, k, CONFIDENCE);
            let (Some(any), Some(every)) = (of(KRule::Any), of(KRule::All)) else { continue };
            let name = match targets {
                1 => text::line(test, 60),
                _ => format!("{} @{}", text::line(test, 60), text::line(target, 40)),
            };
            let label = if lines.len() < 3 { "by test" } else { "" };
            let said = format!("{name}: pass@{k} {}, pass^{k} {}", phrase(any), phrase(every));
            lines.push((label.to_owned(), said));
        }
        if let left @ 1.. = all.len().saturating_sub(LISTED) {
            lines.push((String::new(), format!("and {} more", numbers::count(left as u64))));
        }
        lines
    }

    /// `None` unless tests have several trials.
    pub fn json(&self) -> Option<Value> {
        if !self.is_repeated() {
            return None;
        }
        let mut names: Vec<&str> = self.tests.keys().map(|(suite, _)| suite.as_str()).collect();
        names.dedup();
        let suites: Vec<Value> = names
            .into_iter()
            .map(|name| json!({"name": name, "estimates": self.estimates(Some(name))}))
            .collect();
        let tests: Vec<Value> = self
            .tests
            .iter()
            .flat_map(|((suite, test), targets)| {
                targets.iter().map(move |(target, (passes, trials))| {
                    let of = |rule: KRule, k| rule.of_test(*passes, *trials, k, CONFIDENCE);
                    let found = ks(*trials)
                        .into_iter()
                        .filter_map(|k| Some(estimate(k, of(KRule::Any, k)?, of(KRule::All, k)?)));
                    json!({
                        "suite": suite, "evalId": test, "target": target,
                        "passes": passes, "trials": trials,
                        "estimates": found.collect::<Vec<_>>(),
                    })
                })
            })
            .collect();
        Some(json!({"estimates": self.estimates(None), "suites": suites, "tests": tests}))
    }

    fn estimates(&self, suite: Option<&str>) -> Vec<Value> {
        let found = self.common_ks(suite).into_iter().filter_map(|k| {
            let of = |rule| self.suite(suite, rule, k);
            Some(estimate(k, of(KRule::Any)?, of(KRule::All)?))
        });
        found.collect()
    }
}

/// Those of [`KS`] that fit, and the number of trials itself.
fn ks(trials: u64) -> Vec<u64> {
    let mut found: Vec<u64> = KS.into_iter().filter(|k| *k <= trials).collect();
    if trials > 0 && trials <= 20 && !found.contains(&trials) {
        found.push(trials);
        found.sort_unstable();
    }
    found
}

/// `0.93 (95 % CI 0.71–0.99)`
fn phrase(found: PassK) -> String {
    let interval = evalrig_core::stats::mean_between(found.interval);
    format!("{} ({interval})", numbers::average(found.value))
}

fn estimate(k: u64, any: PassK, every: PassK) -> Value {
    let pair = |found: PassK| {
        let Interval { low, high } = found.interval;
        json!([numbers::rounded(low), numbers::rounded(high)])
    };
    json!({
        "k": k,
        "passAtK": numbers::rounded(any.value),
        "passAtKInterval": pair(any),
        "passHatK": numbers::rounded(every.value),
        "passHatKInterval": pair(every),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn of(tests: &[(&str, u32, u32)]) -> PassKTally {
        let mut found = PassKTally::default();
        fixture::trials(tests).iter().for_each(|row| found.add(row));
        found
    }

    #[test]
    fn single_trials_have_no_estimates() {
        let found = of(&[("a", 1, 1), ("b", 0, 1)]);
        assert_eq!((found.json(), found.lines().len()), (None, 0));
    }

    #[test]
    fn the_run_has_the_estimates_that_all_tests_allow() {
        let found = of(&[("a", 3, 5), ("b", 4, 4)]);
        let document = found.json().unwrap();
        let ks = |value: &Value| -> Vec<u64> {
            let list = value["estimates"].as_array().unwrap();
            list.iter().map(|one| one["k"].as_u64().unwrap()).collect()
        };
        assert_eq!(ks(&document), [1, 2, 3, 4]);
        assert_eq!(ks(&document["tests"][0]), [1, 2, 3, 5]);
        // The mean of 0.3 and 1.
        assert_eq!(document["estimates"][1]["passHatK"], json!(0.65));
        assert_eq!(document["tests"][0]["estimates"][1]["passAtK"], json!(0.9));
        let lines = found.lines();
        assert_eq!(lines[0].0, "pass@k");
        assert!(lines[2].1.starts_with("a: pass@5 1.00 (95 % CI "), "{}", lines[2].1);
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn a_baseline_arm_counts_for_tests_alone() {
        let mut found = PassKTally::default();
        for (arm, passes) in [("with", 4), ("without", 0)] {
            for mut row in fixture::trials(&[("a", passes, 4)]) {
                row.arm = Some(arm.to_owned());
                row.baseline_arm = arm == "without";
                found.add(&row);
            }
        }
        let lines = found.lines();
        assert!(lines[0].1.starts_with("k=2: 1.00 "), "{lines:?}");
        let document = found.json().unwrap();
        assert_eq!(document["estimates"][1]["passHatK"], json!(1.0));
        assert_eq!(document["suites"][0]["estimates"][1]["passHatK"], json!(1.0));
        assert_eq!(document["tests"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn trials_without_a_verdict_do_not_count() {
        let mut found = of(&[("a", 2, 2)]);
        found.add(&fixture::row("a", Outcome::Errored, None));
        assert_eq!(found.json().unwrap()["tests"][0]["trials"], 2);
    }
}
