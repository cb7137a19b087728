//! The answers on which the votes of a judge differ most (spec 21.3).

use serde_json::{Value, json};

use super::case_finding::CaseLabel;
use super::label_parts::LabelParts;
use crate::results::{EvaluatorResult, Row};
use crate::text::{self, numbers};

/// Items that are kept.
const KEPT: usize = 20;
const NAME: usize = 120;
/// Deeper composites are not entered.
const DEPTH: usize = 16;

/// Votes that differ, about one item or one score.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispute {
    label: CaseLabel,
    /// The assertion, and the item if it has several.
    what: String,
    votes: String,
    /// The mean difference of two votes, from 0 to 1.
    disagreement: f64,
}

/// The most disputed items of a run.
#[derive(Debug, Clone, Default)]
pub struct Disputes {
    most: Vec<Dispute>,
    count: u64,
}

impl Disputes {
    pub fn add(&mut self, row: &Row) {
        self.add_results(row, &row.evaluator_results, "", DEPTH);
        self.most.sort_by(|one, other| {
            let by_size = other.disagreement.total_cmp(&one.disagreement);
            by_size.then_with(|| (&one.label, &one.what).cmp(&(&other.label, &other.what)))
        });
        self.most.truncate(KEPT);
    }

    fn add_results(&mut self, row: &Row, results: &[EvaluatorResult], above: &str, depth: usize) {
        for result in results {
            let name = match above {
                "" => text::line(&result.name, NAME),
                above => format!("{above}/{}", text::line(&result.name, NAME)),
            };
            if let Some(members) = &result.evaluator_results
                && depth > 0
            {
                self.add_results(row, members, &name, depth - 1);
            }
            if let Some(votes) = result.details.as_ref().and_then(|details| details.get("votes")) {
                self.add_votes(row, &name, votes);
            }
        }
    }

    fn add_votes(&mut self, row: &Row, name: &str, votes: &Value) {
        let Some(items) = votes.get("items").and_then(Value::as_array) else {
            return self.add_one(row, name.to_owned(), votes.get("scores"), 1.0);
        };
        for item in items {
            let sentence = item.get("sentence").and_then(Value::as_str).unwrap_or_default();
            let what = match items.len() {
                1 => name.to_owned(),
                _ => format!("{name} › {}", text::line(sentence, NAME)),
            };
            self.add_one(row, what, item.get("votes"), 10.0);
        }
    }

    /// `full` is the highest number that a vote can give.
    fn add_one(&mut self, row: &Row, what: String, votes: Option<&Value>, full: f64) {
        let votes = votes.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let shares = votes.iter().filter_map(|vote| match vote {
            Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
            vote => vote.as_f64().map(|number| number / full),
        });
        let shares: Vec<f64> = shares.collect();
        let disagreement = mean_difference(&shares);
        if disagreement > 1e-9 {
            self.count += 1;
            let (label, votes) = (CaseLabel::of(row), votes_text(votes));
            self.most.push(Dispute { label, what, votes, disagreement });
        }
    }

    /// How many items and scores are disputed.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The most disputed ones in words, and how many more there are.
    pub fn lines(&self, label_parts: LabelParts, most: usize) -> (Vec<String>, u64) {
        let shown = self.most.iter().take(most);
        let lines = shown
            .map(|one| format!("{} › {}: {}", label_parts.name(&one.label), one.what, one.votes));
        let lines: Vec<String> = lines.collect();
        let more = self.count - lines.len() as u64;
        (lines, more)
    }

    pub fn document(&self) -> Value {
        let list = self.most.iter().map(|one| {
            json!({
                "suite": one.label.suite,
                "evalId": one.label.test,
                "target": one.label.target,
                "trial": one.label.trial,
                "assertion": one.what,
                "votes": one.votes,
                "disagreement": numbers::rounded(one.disagreement),
            })
        });
        json!({"count": self.count, "most": list.collect::<Vec<Value>>()})
    }
}

/// Over all pairs.
fn mean_difference(shares: &[f64]) -> f64 {
    let pairs = shares.len() * shares.len().saturating_sub(1) / 2;
    let sum: f64 = shares
        .iter()
        .enumerate()
        .flat_map(|(at, one)| shares[at + 1..].iter().map(move |other| (one - other).abs()))
        .sum();
    if pairs == 0 { 0.0 } else { sum / pairs as f64 }
}

/// `2 yes, 1 no`, or the numbers.
fn votes_text(votes: &[Value]) -> String {
    let count = |wanted: &dyn Fn(&Value) -> bool| votes.iter().filter(|vote| wanted(vote)).count();
    let unmeasured = count(&Value::is_null);
    let mut parts: Vec<String> = if count(&Value::is_boolean) > 0 {
        let yes = count(&|vote| vote == &Value::Bool(true));
        vec![format!("{yes} yes"), format!("{} no", votes.len() - unmeasured - yes)]
    } else {
        votes.iter().filter(|vote| !vote.is_null()).map(ToString::to_string).collect()
    };
    if unmeasured > 0 {
        parts.push(format!("{unmeasured} not measured"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::fixture;
    use super::*;

    fn row(test: &str, votes: &str) -> Row {
        let mut row = fixture::row(test, Outcome::Passed, Some(1.0));
        let result = format!(
            "{{\"name\": \"kind\", \"type\": \"rubrics\", \"score\": 1, \"weight\": 1, \"required\": false, \
              \"outcome\": \"graded\", \"gate\": null, \"details\": {{\"votes\": {votes}}}}}"
        );
        row.evaluator_results = vec![serde_json::from_str(&result).unwrap()];
        row
    }

    #[test]
    fn the_most_disputed_come_first() {
        let mut found = Disputes::default();
        found.add(&row("even", r#"{"scores": [0.5, 0.5, 0.5]}"#));
        found.add(&row("some", r#"{"scores": [0.5, 0.7, 0.5]}"#));
        let items = r#"{"scores": [1, 0.5, null], "items": [
            {"id": "a", "sentence": "Is kind", "votes": [true, false, null]},
            {"id": "b", "sentence": "Is deep", "votes": [7, 7, null]}]}"#;
        found.add(&row("much", items));
        assert_eq!(found.count(), 2);
        let parts = LabelParts { suites: false, targets: false, trials: false };
        let (lines, more) = found.lines(parts, 1);
        assert_eq!(lines, ["much › kind › Is kind: 1 yes, 1 no, 1 not measured"]);
        assert_eq!(more, 1);
        let document = found.document();
        assert_eq!(document["most"][1]["votes"], "0.5, 0.7, 0.5");
        assert_eq!(document["most"][1]["disagreement"], 0.133_333);
    }

    #[test]
    fn only_so_many_are_kept() {
        let mut found = Disputes::default();
        for at in 0..100 {
            found.add(&row(&format!("t{at:03}"), r#"{"scores": [0, 1, 1]}"#));
        }
        let parts = LabelParts { suites: false, targets: false, trials: false };
        let (lines, more) = found.lines(parts, 500);
        assert_eq!((lines.len(), more), (KEPT, 80));
    }
}
