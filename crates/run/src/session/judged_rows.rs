//! Rows as answers with the verdicts of judges, and the labels of people beside them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evalrig_core::judge_check::{JudgeName, JudgeReadingSet, JudgedAnswer, LabelScope};
use evalrig_core::model::{Score, Verdict};
use serde_json::Value;

use crate::results::{AnswerLabel, AnswerMark, EvaluatorResult, GradeOutcome, Labels, Row};

/// The pass threshold of rows that do not say theirs.
const PASS: f64 = 0.8;

/// Whether a model grades by an assertion of this type.
pub(super) fn is_judged(result: &EvaluatorResult) -> bool {
    matches!(result.type_name.as_str(), "llm-judge" | "rubrics")
}

/// A label that no answer of the results has any more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StaleLabel {
    pub suite: String,
    pub test: String,
    pub answer_hash: String,
}

/// What became of the labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelCounts {
    /// Labels of answers in the results.
    pub used: usize,
    /// Answers about which people disagree evenly; they count as not labelled.
    pub disputed: usize,
    /// Of tests in the results whose answers are others by now.
    pub stale: Vec<StaleLabel>,
    /// Of tests that the results do not have.
    pub elsewhere: usize,
}

/// Labels by what they are about.
pub(super) struct LabelIndex<'l> {
    by_answer: HashMap<(&'l str, &'l str, &'l str), Vec<&'l AnswerLabel>>,
    disputed: BTreeSet<(String, String)>,
}

impl<'l> LabelIndex<'l> {
    pub(super) fn of(labels: &'l Labels) -> Self {
        let mut by_answer: HashMap<_, Vec<&AnswerLabel>> = HashMap::new();
        for label in labels.iter() {
            let key = (label.suite.as_str(), label.test.as_str(), label.answer_hash.as_str());
            by_answer.entry(key).or_default().push(label);
        }
        Self { by_answer, disputed: BTreeSet::new() }
    }

    /// What most people say of an answer, or of a part of what it must do.
    fn mark(
        &mut self,
        answer: &JudgedAnswer,
        part: Option<(&str, Option<&[&str]>)>,
    ) -> Option<bool> {
        let key = (answer.suite.as_str(), answer.test.as_str(), answer.hash.as_str());
        let is_about = |label: &AnswerLabel| match part {
            None => label.assertion.is_none() && label.item.is_none(),
            Some((assertion, items)) => {
                label.assertion.as_deref() == Some(assertion)
                    && match (&label.item, items) {
                        (None, None) => true,
                        (Some(item), Some(names)) => names.contains(&item.as_str()),
                        _ => false,
                    }
            }
        };
        let labels = self.by_answer.get(&key)?.iter().filter(|label| is_about(label));
        let (mut right, mut wrong) = (0_usize, 0_usize);
        for label in labels {
            match label.label {
                Some(AnswerMark::Right) => right += 1,
                Some(AnswerMark::Wrong) => wrong += 1,
                None => {}
            }
        }
        if right == wrong && right > 0 {
            self.disputed.insert((answer.test.clone(), answer.hash.clone()));
        }
        (right != wrong).then_some(right > wrong)
    }

    /// Its own label, else that of the whole answer.
    fn nearest(
        &mut self,
        answer: &JudgedAnswer,
        part: (&str, Option<&[&str]>),
    ) -> Option<(bool, LabelScope)> {
        let own = self.mark(answer, Some(part)).map(|mark| (mark, LabelScope::Own));
        own.or_else(|| Some((self.mark(answer, None)?, LabelScope::Answer)))
    }

    /// Which labels answers of the results have.
    pub(super) fn counts(&self, answers: &[JudgedAnswer]) -> LabelCounts {
        let mut known: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for answer in answers {
            let hashes = known.entry((&answer.suite, &answer.test)).or_default();
            hashes.insert(&answer.hash);
        }
        let mut counts = LabelCounts { disputed: self.disputed.len(), ..LabelCounts::default() };
        for ((suite, test, hash), labels) in &self.by_answer {
            match known.get(&(*suite, *test)) {
                None => counts.elsewhere += labels.len(),
                Some(hashes) if hashes.contains(hash) => counts.used += labels.len(),
                Some(_) => counts.stale.push(StaleLabel {
                    suite: (*suite).to_owned(),
                    test: (*test).to_owned(),
                    answer_hash: (*hash).to_owned(),
                }),
            }
        }
        counts.stale.sort();
        counts
    }
}

/// The answer of a row; `None` if it has none, or no verdict because the target failed.
pub(super) fn judged_answer(
    row: &Row,
    run: usize,
    is_reread: bool,
    labels: &mut LabelIndex<'_>,
) -> Option<JudgedAnswer> {
    let text = row.candidate_answer.as_deref()?;
    let mut answer = JudgedAnswer {
        run,
        suite: row.dataset.clone(),
        test: row.eval_id.clone(),
        group: row.group.clone(),
        hash: row.answer_hash()?,
        length: text.chars().count(),
        is_reread,
        judges: Vec::new(),
    };
    let passes = row.verdict.map(|verdict| verdict == Verdict::Pass);
    let name = |assertion: Option<&str>, item: Option<String>| JudgeName {
        suite: row.dataset.clone(),
        assertion: assertion.map(str::to_owned),
        item,
    };
    let label = labels.mark(&answer, None).map(|mark| (mark, LabelScope::Answer));
    let readings = passes.into_iter().collect();
    let mut judges = vec![JudgeReadingSet { judge: name(None, None), passes, readings, label }];
    let threshold = row.pass_threshold.unwrap_or(PASS);
    let mut found = Vec::new();
    judged_results(&row.evaluator_results, "", &mut found);
    for (assertion, result) in found {
        let votes = result.details.as_ref().and_then(|details| details.get("votes"));
        let passes = result.score.map(|score| reaches(score, threshold));
        let scores = votes.and_then(|votes| votes.get("scores")).and_then(Value::as_array);
        let readings = match scores {
            Some(scores) => scores.iter().filter_map(|one| reading(one, threshold)).collect(),
            None => passes.into_iter().collect(),
        };
        let label = labels.nearest(&answer, (&assertion, None));
        judges.push(JudgeReadingSet {
            judge: name(Some(&assertion), None),
            passes,
            readings,
            label,
        });
        for item in items(result, threshold) {
            let names = [item.id.as_str(), item.sentence.as_str()];
            let label = labels.nearest(&answer, (&assertion, Some(&names)));
            judges.push(JudgeReadingSet {
                judge: name(Some(&assertion), Some(item.sentence)),
                passes: Some(item.holds),
                readings: item.readings,
                label,
            });
        }
    }
    answer.judges = judges;
    Some(answer)
}

/// Judged assertions with their names; members of composites have the name of the composite before theirs.
fn judged_results<'r>(
    results: &'r [EvaluatorResult],
    above: &str,
    found: &mut Vec<(String, &'r EvaluatorResult)>,
) {
    for result in results {
        let name = match above {
            "" => result.name.clone(),
            above => format!("{above}/{}", result.name),
        };
        judged_results(result.evaluator_results.as_deref().unwrap_or_default(), &name, found);
        if is_judged(result) && result.outcome != GradeOutcome::Skipped {
            found.push((name, result));
        }
    }
}

/// One item of a rubric with several.
struct ItemVerdict {
    id: String,
    sentence: String,
    holds: bool,
    readings: Vec<bool>,
}

fn items(result: &EvaluatorResult, threshold: f64) -> Vec<ItemVerdict> {
    let details = result.details.as_ref();
    let list = |pointer: &str| {
        let found = details.and_then(|details| details.pointer(pointer));
        found.and_then(Value::as_array).map_or(&[][..], Vec::as_slice)
    };
    let votes = list("/votes/items");
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let verdicts = list("/items").iter().filter_map(|item| {
        let (id, sentence) = (text(item, "id")?, text(item, "sentence")?);
        let holds = item.get("holds")?.as_bool()?;
        let own = votes.iter().find(|votes| text(votes, "id").as_deref() == Some(&id));
        let given = own.and_then(|votes| votes.get("votes")).and_then(Value::as_array);
        let readings = match given {
            Some(given) => given.iter().filter_map(|one| point_reading(one, threshold)).collect(),
            None => vec![holds],
        };
        Some(ItemVerdict { id, sentence: without_points(&sentence).to_owned(), holds, readings })
    });
    verdicts.collect()
}

fn reaches(score: f64, threshold: f64) -> bool {
    Score::of_share(score).reaches(threshold)
}

/// A score from 0 to 1 as whether it passes.
fn reading(score: &Value, threshold: f64) -> Option<bool> {
    score.as_f64().map(|score| reaches(score, threshold))
}

/// A reply to an item: yes or no, or points from 0 to 10.
fn point_reading(reply: &Value, threshold: f64) -> Option<bool> {
    reply.as_bool().or_else(|| Some(reaches(reply.as_f64()? / 10.0, threshold)))
}

/// `Is deep (7/10)` is the item `Is deep`.
fn without_points(sentence: &str) -> &str {
    match sentence.strip_suffix("/10)").and_then(|rest| rest.rsplit_once(" (")) {
        Some((item, points)) if points.parse::<f64>().is_ok() => item,
        _ => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::row;

    const RESULT: &str = r#"{
        "name": "rubrics", "type": "rubrics", "score": 0.5, "weight": 1, "required": false,
        "outcome": "graded", "gate": null, "hits": [], "misses": [],
        "details": {
            "items": [
                {"id": "a", "sentence": "Is kind", "holds": true},
                {"id": "b", "sentence": "Is deep (7/10)", "holds": false}],
            "votes": {"readings": 3, "measured": 2, "scores": [1, 0.5, null], "items": [
                {"id": "a", "votes": [true, false, null]},
                {"id": "b", "votes": [7, 9, null]}]}
        }
    }"#;

    fn labelled(lines: &[&str]) -> Labels {
        Labels::parse("labels.jsonl".into(), lines.join("\n").as_bytes())
    }

    fn judged(labels: &Labels) -> (JudgedAnswer, LabelCounts) {
        let mut row = row("a", 1);
        row.candidate_answer = Some("hello".to_owned());
        row.evaluator_results = vec![serde_json::from_str(RESULT).unwrap()];
        let mut index = LabelIndex::of(labels);
        let answer = judged_answer(&row, 0, false, &mut index).unwrap();
        let counts = index.counts(std::slice::from_ref(&answer));
        (answer, counts)
    }

    fn line(rest: &str) -> String {
        let suite = row("a", 1).dataset;
        format!(
            "{{\"suite\":\"{suite}\",\"when\":\"2026-11-16T20:00:00Z\",\"who\":\"ann\",{rest}}}"
        )
    }

    const HELLO: &str = "2cf24dba5fb0a30e";

    #[test]
    fn votes_are_readings_of_the_assertion_and_of_its_items() {
        let (answer, _) = judged(&Labels::default());
        let readings: Vec<(Option<&str>, &[bool])> = answer
            .judges
            .iter()
            .skip(1)
            .map(|set| (set.judge.item.as_deref(), set.readings.as_slice()))
            .collect();
        assert_eq!(
            readings,
            [
                (None, &[true, false][..]),
                (Some("Is kind"), &[true, false][..]),
                (Some("Is deep"), &[false, true][..]),
            ]
        );
        assert_eq!(answer.length, 5);
    }

    #[test]
    fn the_nearest_label_counts() {
        let labels = [
            line(&format!("\"test\":\"a\",\"answerHash\":\"{HELLO}\",\"label\":\"wrong\"")),
            line(&format!(
                "\"test\":\"a\",\"answerHash\":\"{HELLO}\",\"assertion\":\"rubrics\",\"item\":\"Is kind\",\"label\":\"right\""
            )),
        ];
        let labels = labelled(&[&labels[0], &labels[1]]);
        let (answer, counts) = judged(&labels);
        let marks: Vec<_> = answer.judges.iter().map(|set| set.label).collect();
        let whole = Some((false, LabelScope::Answer));
        assert_eq!(marks, [whole, whole, Some((true, LabelScope::Own)), whole]);
        assert_eq!((counts.used, counts.disputed), (2, 0));
    }

    #[test]
    fn labels_of_other_answers_and_tests_are_counted() {
        let other = "0000000000000000";
        let labels = [
            line(&format!("\"test\":\"a\",\"answerHash\":\"{other}\",\"label\":\"wrong\"")),
            line(&format!("\"test\":\"zz\",\"answerHash\":\"{HELLO}\",\"label\":\"wrong\"")),
            line(&format!("\"test\":\"a\",\"answerHash\":\"{HELLO}\",\"label\":\"wrong\"")),
            line(&format!("\"test\":\"a\",\"answerHash\":\"{HELLO}\",\"label\":\"right\""))
                .replace("ann", "bob"),
        ];
        let texts: Vec<&str> = labels.iter().map(String::as_str).collect();
        let labels = labelled(&texts);
        let (answer, counts) = judged(&labels);
        assert_eq!(answer.judges[0].label, None);
        assert_eq!((counts.used, counts.disputed, counts.elsewhere), (2, 1, 1));
        assert_eq!((counts.stale.len(), counts.stale[0].answer_hash.as_str()), (1, other));
    }

    #[test]
    fn only_points_are_cut_off() {
        assert_eq!(without_points("Is deep (7.5/10)"), "Is deep");
        assert_eq!(without_points("Rates it (x/10)"), "Rates it (x/10)");
        assert_eq!(without_points("Is kind"), "Is kind");
    }
}
