//! Several readings of one answer by a judge: what counts of them, and how much they differ (spec 21.3).
//!
//! The value in the middle counts. Of yes and no that is the majority. A reading that failed leaves a gap:
//! a value counts only if it would be in the middle whatever that reading had said.

use crate::evidence::ItemReply;
use crate::model::{Fault, Map, Marks, Number, RubricItem, Score, Value, Votes};

/// One reading, or why it failed.
pub(super) type JudgeReading<T> = Result<T, Fault>;

/// The readings of an answer by a judge that checks items.
pub(super) struct ItemVotes<'a> {
    items: &'a [RubricItem],
    /// By item, one reply per reading.
    given: Vec<Vec<Option<ItemReply>>>,
    /// The first reading that failed.
    fault: Option<Fault>,
}

impl<'a> ItemVotes<'a> {
    /// `calls` has the readings of each call, and each reading one reply per item of its call.
    pub(super) fn of(
        items: &'a [RubricItem],
        calls: Vec<(usize, Vec<JudgeReading<Vec<ItemReply>>>)>,
    ) -> Self {
        let (mut given, mut fault) = (Vec::with_capacity(items.len()), None);
        for (count, readings) in calls {
            let mut of_call = vec![Vec::with_capacity(readings.len()); count];
            for reading in readings {
                let mut replies = match reading {
                    Ok(replies) => replies.into_iter(),
                    Err(found) => {
                        fault.get_or_insert(found);
                        Vec::new().into_iter()
                    }
                };
                of_call.iter_mut().for_each(|item: &mut Vec<_>| item.push(replies.next()));
            }
            given.extend(of_call);
        }
        Self { items, given, fault }
    }

    /// The reply that counts for each item, with the reason of the first reading that gave it.
    pub(super) fn decided(&self) -> Result<Vec<ItemReply>, Fault> {
        let decided = self.given.iter().map(|given| {
            let scores: Vec<_> = given.iter().map(|one| one.as_ref().map(score_of)).collect();
            let middle = middle(&scores);
            let mut agreeing = given.iter().flatten();
            agreeing
                .find(|one| Some(score_of(one)) == middle)
                .cloned()
                .ok_or_else(|| self.undecided(given))
        });
        decided.collect()
    }

    fn undecided(&self, given: &[Option<ItemReply>]) -> Fault {
        let fault = self.fault.clone().unwrap_or_else(|| Fault::not_measured("votes"));
        too_few(fault, given.iter().flatten().count(), given.len())
    }

    /// For `details`; `None` if there was only one reading.
    pub(super) fn details(&self) -> Option<Map> {
        let readings = self.given.first().map(Vec::len).filter(|readings| *readings > 1)?;
        let scores: Vec<_> = (0..readings).map(|at| self.score(at)).collect();
        let items = self.items.iter().zip(&self.given).map(|(item, given)| {
            let votes = given.iter().map(|one| match one {
                Some(reply) => reply.decision.to_value(),
                None => Value::Null,
            });
            Map::new()
                .with("id", item.id.as_str())
                .with("sentence", item.sentence())
                .with("votes", votes.collect::<Vec<Value>>())
        });
        let items: Vec<Map> = items.collect();
        let worst = self.given.iter().map(|given| {
            let values: Vec<_> = given.iter().map(|one| one.as_ref().map(score_of)).collect();
            disagreement(&values)
        });
        let worst = worst.fold(0.0, f64::max);
        Some(summary(&scores, worst).with("items", items))
    }

    /// The score that a reading alone would have given.
    fn score(&self, reading: usize) -> Option<f64> {
        let scores = self.items.iter().zip(&self.given).map(|(item, given)| {
            let reply = given.get(reading)?.as_ref()?;
            Some((reply.decision.score(), item.weight.value()))
        });
        let scores: Option<Vec<(Score, f64)>> = scores.collect();
        Score::weighted_average(scores?).map(Score::value)
    }
}

fn score_of(reply: &ItemReply) -> f64 {
    reply.decision.score().value()
}

/// The marks whose score is in the middle; of several, those of the first reading.
pub(super) fn middle_marks(readings: Vec<JudgeReading<Marks>>) -> Result<Marks, Fault> {
    let count = readings.len();
    let scores: Vec<Option<f64>> =
        readings.iter().map(|one| one.as_ref().ok().map(|marks| marks.score.value())).collect();
    let middle = middle(&scores);
    let (mut fault, mut found) = (None, None);
    for reading in readings {
        match reading {
            Ok(marks) if Some(marks.score.value()) == middle => drop(found.get_or_insert(marks)),
            Ok(_) => {}
            Err(error) => drop(fault.get_or_insert(error)),
        }
    }
    let Some(mut marks) = found else {
        let fault = fault.unwrap_or_else(|| Fault::not_measured("votes"));
        return Err(too_few(fault, scores.iter().flatten().count(), count));
    };
    if count > 1 {
        let votes = summary(&scores, disagreement(&scores));
        marks.details = Some(marks.details.unwrap_or_default().with("votes", votes));
    }
    Ok(marks)
}

fn summary(scores: &[Option<f64>], disagreement: f64) -> Map {
    let shown = |score: &Option<f64>| score.map_or(Value::Null, decimal);
    Map::new()
        .with("readings", scores.len() as u64)
        .with("measured", scores.iter().flatten().count() as u64)
        .with("disagreement", decimal(disagreement))
        .with("scores", scores.iter().map(shown).collect::<Vec<Value>>())
}

/// A share, in the precision of rows.
fn decimal(share: f64) -> Value {
    let rounded = Score::of_share(share).rounded();
    Number::parse(&rounded.to_string()).map_or(Value::Null, Value::Number)
}

/// Why an answer is not graded although some readings were. The fault of a single reading stays as it is.
pub(super) fn too_few(fault: Fault, measured: usize, readings: usize) -> Fault {
    if readings == 1 {
        return fault;
    }
    let message = format!(
        "{measured} of {readings} readings could be measured, too few to decide: {}",
        fault.message
    );
    Fault { message, ..fault }
}

/// Whether so many failed readings leave nothing to decide.
pub(super) fn is_undecidable(failed: usize, votes: Votes) -> bool {
    failed >= votes.majority()
}

/// The value in the middle of an odd number of readings. `None` if those that failed could change it.
fn middle(values: &[Option<f64>]) -> Option<f64> {
    let mut known: Vec<f64> = values.iter().copied().flatten().collect();
    known.sort_by(f64::total_cmp);
    let (middle, gaps) = (values.len() / 2, values.len() - known.len());
    let least = *known.get(middle.checked_sub(gaps)?)?;
    let most = *known.get(middle)?;
    (least == most).then_some(least)
}

/// The mean difference of two readings, from 0 to 1.
fn disagreement(values: &[Option<f64>]) -> f64 {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let pairs = known.len() * known.len().saturating_sub(1) / 2;
    let differences = known
        .iter()
        .enumerate()
        .flat_map(|(at, one)| known[at + 1..].iter().map(move |other| (one - other).abs()));
    if pairs == 0 { 0.0 } else { differences.sum::<f64>() / pairs as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Trial;
    use super::*;
    use crate::model::{Answer, AssertionGrade, FaultKind, Grade, JsonStyle, Stage, Transcript};

    /// Grades with one reply per reading; `None` is a judge that cannot be reached.
    fn graded(yaml: &str, replies: &[Option<&str>]) -> (AssertionGrade, Vec<String>) {
        let mut keys = Vec::new();
        let trial = Trial::new(yaml, Transcript::of_text("November was best."));
        let mut grades = trial.grades(|ask| {
            keys.push(ask.key.clone());
            match replies[(keys.len() - 1).min(replies.len() - 1)] {
                Some(reply) => Answer::Judge(reply.to_owned()),
                None => Answer::Failed(Fault::new(Stage::Judge, FaultKind::Http, "status 500")),
            }
        });
        (grades.remove(0), keys)
    }

    fn marks(yaml: &str, replies: &[Option<&str>]) -> (f64, String) {
        match graded(yaml, replies).0.grade {
            Grade::Graded(marks) => {
                let details = marks.details.expect("details");
                let votes = details.get("votes").expect("votes").to_json(JsonStyle::Compact);
                (marks.score.rounded(), votes)
            }
            other => panic!("{other:?}"),
        }
    }

    fn fault(yaml: &str, replies: &[Option<&str>]) -> Fault {
        match graded(yaml, replies).0.grade {
            Grade::Errored(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    const YES: Option<&str> =
        Some(r#"{"checks": [{"id": "rubric-1", "reasoning": "yes", "satisfied": true}]}"#);
    const NO: Option<&str> =
        Some(r#"{"checks": [{"id": "rubric-1", "reasoning": "no", "satisfied": false}]}"#);
    const CHECK: &str = "- {type: rubrics, criteria: Is kind, votes: 3}";

    #[test]
    fn the_majority_of_the_readings_counts() {
        let (grade, keys) = graded(CHECK, &[NO, YES, YES]);
        assert_eq!(keys, ["0/0", "0/0-vote-2", "0/0-vote-3"]);
        let Grade::Graded(marks) = grade.grade else { panic!("{:?}", grade.grade) };
        assert_eq!(marks.score, Score::ONE);
        assert_eq!(marks.reasoning.as_deref(), Some("yes"));
        let (score, votes) = self::marks(CHECK, &[NO, YES, NO]);
        assert_eq!(score, 0.0);
        assert_eq!(
            votes,
            "{\"readings\":3,\"measured\":3,\"disagreement\":0.666667,\"scores\":[0,1,0],\
             \"items\":[{\"id\":\"rubric-1\",\"sentence\":\"Is kind\",\"votes\":[false,true,false]}]}"
        );
    }

    #[test]
    fn each_item_has_a_majority_of_its_own() {
        let yaml = "- {type: rubrics, rubrics: [a, b], votes: 3}";
        let reply = |a: bool, b: bool| {
            format!(
                "{{\"checks\": [{{\"id\": \"rubric-1\", \"satisfied\": {a}}}, \
                 {{\"id\": \"rubric-2\", \"satisfied\": {b}}}]}}"
            )
        };
        let replies = [reply(true, false), reply(true, true), reply(false, true)];
        let replies: Vec<Option<&str>> = replies.iter().map(|one| Some(one.as_str())).collect();
        let (score, votes) = marks(yaml, &replies);
        assert_eq!(score, 1.0);
        assert!(votes.contains("\"scores\":[0.5,1,0.5]"), "{votes}");
    }

    #[test]
    fn the_median_of_scores_counts() {
        let yaml = "- {type: llm-judge, prompt: Is it polite?, votes: 3}";
        let reply = |score| format!("{{\"score\": {score}, \"reasoning\": \"is {score}\"}}");
        let replies = [reply("0.9"), reply("0.2"), reply("0.8")];
        let replies: Vec<Option<&str>> = replies.iter().map(|one| Some(one.as_str())).collect();
        let (grade, _) = graded(yaml, &replies);
        let Grade::Graded(marks) = grade.grade else { panic!("{:?}", grade.grade) };
        assert_eq!(marks.score.rounded(), 0.8);
        assert_eq!(marks.reasoning.as_deref(), Some("is 0.8"));
        let votes = marks.details.unwrap().get("votes").unwrap().to_json(JsonStyle::Compact);
        assert_eq!(
            votes,
            "{\"readings\":3,\"measured\":3,\"disagreement\":0.466667,\"scores\":[0.9,0.2,0.8]}"
        );
    }

    #[test]
    fn a_reading_that_failed_may_not_change_what_counts() {
        let (score, votes) = marks(CHECK, &[YES, None, YES]);
        assert_eq!(score, 1.0);
        assert!(votes.contains("\"measured\":2") && votes.contains("[true,null,true]"), "{votes}");
        let found = fault(CHECK, &[YES, None, NO]);
        assert_eq!((found.stage, found.kind), (Stage::Judge, FaultKind::Http));
        assert_eq!(
            found.message,
            "2 of 3 readings could be measured, too few to decide: status 500"
        );
        assert!(fault(CHECK, &[YES, None, None]).message.starts_with("1 of 3 readings"));
        let scored = "- {type: llm-judge, prompt: Is it polite?, votes: 3}";
        let (high, low) = (Some("{\"score\": 0.9}"), Some("{\"score\": 0.8}"));
        assert_eq!(marks(scored, &[high, None, high]).0, 0.9);
        assert!(fault(scored, &[high, low, None]).message.starts_with("2 of 3 readings"));
    }

    #[test]
    fn a_reading_has_its_own_repair() {
        let (grade, keys) = graded(CHECK, &[YES, Some("Well…"), YES, YES]);
        assert_eq!(keys, ["0/0", "0/0-vote-2", "0/0-vote-3", "0/0-vote-2-repair"]);
        assert!(matches!(grade.grade, Grade::Graded(marks) if marks.score == Score::ONE));
    }

    #[test]
    fn a_single_reading_leaves_no_details() {
        let (grade, keys) = graded("- {type: rubrics, criteria: Is kind, votes: 1}", &[YES]);
        assert_eq!(keys, ["0/0"]);
        assert!(matches!(grade.grade, Grade::Graded(marks) if marks.details.is_none()));
    }

    #[test]
    fn the_middle_is_known_only_if_gaps_cannot_move_it() {
        let (a, b) = (Some(0.2), Some(0.7));
        assert_eq!(middle(&[a, b, b]), Some(0.7));
        assert_eq!(middle(&[a, b, None]), None);
        assert_eq!(middle(&[a, a, None]), Some(0.2));
        assert_eq!(middle(&[a, b, b, b, None]), Some(0.7));
        assert_eq!(middle(&[a, a, b, b, None]), None);
        assert_eq!(middle(&[a, None, None]), None);
        assert_eq!(middle(&[None]), None);
    }
}
