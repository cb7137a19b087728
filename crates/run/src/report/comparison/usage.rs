//! Cost, tokens and time of a case in both runs, in words.

use evalrig_core::compare::{Comparison, UsageMeans};
use serde_json::{Map, Value, json};

use crate::text::numbers::{self, rounded};

/// `cost per case $0.0031 → $0.0050 (+61 %)`, and the same for tokens and time. What is unknown is
/// left out.
pub fn usage(comparison: &Comparison) -> Vec<String> {
    let found = &comparison.usage;
    let count = |value: f64| numbers::count(value.round() as u64);
    let time = |value: f64| numbers::duration(value.round() as u64);
    let line =
        |what: &str, means: Option<UsageMeans>, least: f64, shown: &dyn Fn(f64) -> String| {
            means.filter(|means| means.base.max(means.candidate) > least).map(|means| {
                let sides = format!("{} → {}", shown(means.base), shown(means.candidate));
                format!("{what} per case {sides}{}", growth(means))
            })
        };
    [
        line("cost", found.cost, 0.0, &numbers::money),
        line("tokens", found.tokens, 0.0, &count),
        line("time", found.duration_ms, numbers::SHORT, &time),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// ` (+61 %)`.
fn growth(means: UsageMeans) -> String {
    match means.growth() {
        Some(share) if share.abs() >= 0.005 => {
            format!(" ({:+} %)", (share * 100.0).round() as i64)
        }
        _ => String::new(),
    }
}

/// For programs; an unknown number is null.
pub fn usage_json(comparison: &Comparison) -> Value {
    let found = &comparison.usage;
    let numbers =
        [("costUsd", found.cost), ("tokens", found.tokens), ("durationMs", found.duration_ms)];
    let mut map = Map::new();
    for (key, means) in numbers {
        let value = means.map(
            |means| json!({"base": rounded(means.base), "candidate": rounded(means.candidate)}),
        );
        map.insert(key.to_owned(), json!(value));
    }
    map.into()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{beside, trials};
    use super::*;

    #[test]
    fn unknown_numbers_are_left_out() {
        let base = trials("a", 5);
        let mut candidate = base.clone();
        let known = |cases: &[evalrig_core::compare::ComparedCase], cost: f64| -> Vec<_> {
            let mut cases = cases.to_vec();
            cases.iter_mut().for_each(|case| case.cost = Some(cost));
            cases
        };
        let found = beside(&known(&base, 0.004), &known(&candidate, 0.005)).comparison;
        assert_eq!(usage(&found), ["cost per case $0.0040 → $0.0050 (+25 %)"]);
        let shown = usage_json(&found);
        assert_eq!(shown["costUsd"], json!({"base": 0.004, "candidate": 0.005}));
        assert_eq!(shown["tokens"], Value::Null);
        candidate[0].cost = Some(0.1);
        assert_eq!(usage(&beside(&base, &candidate).comparison), Vec::<String>::new());
    }
}
