//! Asks a judge and reads its replies (spec 10.2). Shared by the types that have a judge.

use crate::evidence::{
    CHECKS_PER_CALL, Decision, ItemReply, JudgeTask, read_check_reply, read_score_reply, repair,
};
use crate::model::{
    Answer, Conclusion, Fault, FaultKind, Gate, Grade, GradingContext, JudgeQuestion,
    JudgeTemplate, Judging, Map, Marks, Message, NOT_JUDGED, Question, Required, RubricItem, Score,
    Stage, Step, Value, Votes,
};

use super::finding::{Finding, FindingList};
use super::judge_votes::{ItemVotes, JudgeReading, is_undecidable, middle_marks, too_few};

/// Maximum length of an unusable reply in messages.
const REPLY_SHOWN: usize = 500;

/// What a judge must decide.
#[derive(Debug, Clone)]
pub(super) struct JudgeRequest<'a> {
    pub(super) prompt: Option<&'a JudgeTemplate>,
    /// If empty, the judge gives a score.
    pub(super) items: &'a [RubricItem],
    pub(super) target: Option<&'a str>,
    pub(super) config: Map,
    pub(super) votes: Votes,
}

impl JudgeRequest<'_> {
    pub(super) fn grade(&self, context: &GradingContext<'_>) -> Step {
        if context.options.judging == Judging::Skip {
            return ungraded(self.items, Grade::Skipped(NOT_JUDGED.to_owned()));
        }
        let step = if self.items.is_empty() { self.score(context) } else { self.check(context) };
        step.unwrap_or_else(|fault| ungraded(self.items, Grade::Errored(fault)))
    }

    fn score(&self, context: &GradingContext<'_>) -> Result<Step, Fault> {
        let read = |key: &str| self.call(context, key, &[], read_score_reply);
        Ok(match self.readings(0, read)? {
            Step::Ask(asks) => Step::Ask(asks),
            Step::Done(readings) => middle_marks(readings)?.into(),
        })
    }

    fn check(&self, context: &GradingContext<'_>) -> Result<Step, Fault> {
        let (mut asks, mut calls) = (Vec::new(), Vec::new());
        for (at, checks) in self.items.chunks(CHECKS_PER_CALL).enumerate() {
            let read = |reply: &str| read_check_reply(reply, checks);
            match self.readings(at, |key| self.call(context, key, checks, read))? {
                Step::Ask(more) => asks.extend(more),
                Step::Done(readings) => calls.push((checks.len(), readings)),
            }
        }
        if asks.is_empty() {
            conclude(&ItemVotes::of(self.items, calls), self.items, context.options.pass)
        } else {
            Ok(Step::Ask(asks))
        }
    }

    /// Every reading of one call. Fails as soon as too many readings failed.
    fn readings<T>(
        &self,
        at: usize,
        read: impl Fn(&str) -> Result<Step<T>, Fault>,
    ) -> Result<Step<Vec<JudgeReading<T>>>, Fault> {
        let (mut asks, mut found) = (Vec::new(), Vec::new());
        for reading in 1..=self.votes.count() {
            let key = match reading {
                1 => at.to_string(),
                _ => format!("{at}-vote-{reading}"),
            };
            match read(&key) {
                Ok(Step::Ask(more)) => asks.extend(more),
                Ok(Step::Done(one)) => found.push(Ok(one)),
                Err(fault) => found.push(Err(fault)),
            }
        }
        let measured = found.iter().filter(|reading| reading.is_ok()).count();
        let failed = found.len() - measured;
        let first = found.iter().find_map(|reading| reading.as_ref().err());
        match first.filter(|_| is_undecidable(failed, self.votes)) {
            Some(fault) => Err(too_few(fault.clone(), measured, self.votes.count())),
            None if asks.is_empty() => Ok(Step::Done(found)),
            None => Ok(Step::Ask(asks)),
        }
    }

    /// One call, and one repair if the first reply is unusable.
    fn call<T>(
        &self,
        context: &GradingContext<'_>,
        key: &str,
        checks: &[RubricItem],
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Step<T>, Fault> {
        let Some(answer) = context.answer(key) else {
            let messages = self.messages(context, checks)?;
            return Ok(Step::Ask(vec![context.ask(key, self.question(messages))]));
        };
        let reply = reply_of(answer)?;
        let fault = match read(reply) {
            Ok(found) => return Ok(Step::Done(found)),
            Err(fault) => fault,
        };
        let key = format!("{key}-repair");
        let Some(answer) = context.answer(&key) else {
            let messages = repair(self.messages(context, checks)?, reply, &fault);
            return Ok(Step::Ask(vec![context.ask(&key, self.question(messages))]));
        };
        let reply = reply_of(answer)?;
        let found = read(reply).map_err(|fault| unusable(reply, &fault))?;
        Ok(Step::Done(found))
    }

    fn messages(
        &self,
        context: &GradingContext<'_>,
        checks: &[RubricItem],
    ) -> Result<Vec<Message>, Fault> {
        let task = JudgeTask {
            evidence: context.evidence,
            subject: context.subject(),
            text: context.text(),
            prompt: self.prompt,
            items: self.items,
        };
        task.messages(checks)
    }

    fn question(&self, messages: Vec<Message>) -> Question {
        Question::Judge(JudgeQuestion {
            target: self.target.map(ToOwned::to_owned),
            messages,
            config: self.config.clone(),
        })
    }
}

/// Without answers, the gates of items are unchecked.
pub(super) fn ungraded(items: &[RubricItem], grade: Grade) -> Step {
    let has_gate = items.iter().any(|item| item.required.is_gate());
    Step::Done(Conclusion { gate: has_gate.then_some(Gate::Unchecked), ..grade.into() })
}

fn reply_of(answer: &Answer) -> Result<&str, Fault> {
    match answer {
        Answer::Judge(reply) => Ok(reply),
        Answer::Failed(fault) => Err(fault.clone()),
        Answer::Script(_) | Answer::Command(_) | Answer::NoDirectory(_) => {
            let message = "a program answered what a judge was asked";
            Err(Fault::new(Stage::Judge, FaultKind::Reply, message))
        }
    }
}

fn unusable(reply: &str, fault: &str) -> Fault {
    let shown: String = reply.chars().take(REPLY_SHOWN).collect();
    let message = if shown.trim().is_empty() {
        "the judge's reply cannot be used: it is empty".to_owned()
    } else {
        format!("the judge's reply cannot be used: {fault}\nreply: {shown}")
    };
    Fault::new(Stage::Judge, FaultKind::Reply, message)
}

fn conclude(votes: &ItemVotes<'_>, items: &[RubricItem], pass: f64) -> Result<Step, Fault> {
    let replies = &votes.decided()?[..];
    let scores = items.iter().zip(replies);
    let scores = scores.map(|(item, reply)| (reply.decision.score(), item.weight.value()));
    // Reading refuses a list in which all weights are 0.
    let score =
        Score::weighted_average(scores).ok_or_else(|| Fault::not_measured("weights of items"))?;
    let (mut findings, mut gate) = (FindingList::default(), None);
    for (item, reply) in items.iter().zip(replies) {
        findings.add(finding(item, reply.decision, pass));
        gate = gate.max(gate_of(item, reply.decision, pass));
    }
    let marks = Marks {
        reasoning: joined_reasoning(items, replies),
        details: details(items, replies, pass, votes),
        ..findings.marks(score)
    };
    Ok(Step::Done(Conclusion { gate, ..Grade::Graded(marks).into() }))
}

fn finding(item: &RubricItem, decision: Decision, pass: f64) -> Finding {
    let outcome = item.sentence();
    match decision {
        Decision::Satisfied(holds) => Finding { holds, text: outcome.to_owned() },
        Decision::Points(points) => Finding {
            holds: decision.score().reaches(pass),
            text: format!("{outcome} ({points}/10)"),
        },
    }
}

/// By spec 3.6, `true` requires a checked item to be satisfied, whatever the pass threshold is.
fn gate_of(item: &RubricItem, decision: Decision, pass: f64) -> Option<Gate> {
    let score: Score = decision.score();
    let is_met = match (&item.required, decision) {
        (Required::No, _) => return None,
        (Required::Pass, Decision::Satisfied(holds)) => holds,
        (Required::Pass, Decision::Points(_)) => score.reaches(pass),
        (Required::AtLeast(least), _) => score.reaches(least.value()),
    };
    Some(Gate::of(is_met))
}

/// The items, and the votes where there are several.
fn details(
    items: &[RubricItem],
    replies: &[ItemReply],
    pass: f64,
    votes: &ItemVotes<'_>,
) -> Option<Map> {
    let (items, votes) = (item_details(items, replies, pass), votes.details());
    match (items, votes) {
        (items, None) => items,
        (items, Some(votes)) => Some(items.unwrap_or_default().with("votes", votes)),
    }
}

/// Each item with its reason, for readers that show them together. One item needs no list.
fn item_details(items: &[RubricItem], replies: &[ItemReply], pass: f64) -> Option<Map> {
    if items.len() < 2 {
        return None;
    }
    let entries = items.iter().zip(replies).map(|(item, reply)| {
        let Finding { holds, text } = finding(item, reply.decision, pass);
        let entry = Map::new()
            .with("id", item.id.as_str())
            .with("sentence", text)
            .with("holds", holds)
            .with_some("reasoning", reply.reasoning.clone());
        Value::Map(entry)
    });
    Some(Map::new().with("items", Value::List(entries.collect())))
}

/// One line per item; the id is omitted if there is only one.
fn joined_reasoning(items: &[RubricItem], replies: &[ItemReply]) -> Option<String> {
    if let [only] = replies {
        return only.reasoning.clone();
    }
    let lines: Vec<String> = items
        .iter()
        .zip(replies)
        .filter_map(|(item, reply)| Some(format!("{}: {}", item.id, reply.reasoning.as_ref()?)))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Trial;
    use super::*;
    use crate::model::{Ask, AssertionGrade, JsonStyle, Transcript};

    fn trial(yaml: &str) -> Trial {
        Trial::new(yaml, Transcript::of_text("November was best."))
    }

    /// Replies in turn; the last one is repeated.
    fn grade_in(trial: &Trial, replies: &[&str]) -> (AssertionGrade, Vec<Ask>) {
        let mut asked = Vec::new();
        let mut grades = trial.grades(|ask| {
            asked.push(ask.clone());
            let at = asked.len().min(replies.len()) - 1;
            Answer::Judge(replies[at].to_owned())
        });
        assert_eq!(grades.len(), 1);
        (grades.remove(0), asked)
    }

    fn graded(yaml: &str, replies: &[&str]) -> (AssertionGrade, Vec<Ask>) {
        grade_in(&trial(yaml), replies)
    }

    fn marks(yaml: &str, reply: &str) -> (Marks, Option<Gate>) {
        let (graded, asked) = graded(yaml, &[reply]);
        assert_eq!(asked.len(), 1);
        match graded.grade {
            Grade::Graded(marks) => (marks, graded.gate),
            other => panic!("{other:?}"),
        }
    }

    fn fault_of(grade: Grade) -> Fault {
        match grade {
            Grade::Errored(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    fn checks(answers: &[(&str, &str)]) -> String {
        let answers: Vec<String> = answers
            .iter()
            .map(|(id, answer)| format!(r#"{{"id": "{id}", "reasoning": "why {id}", {answer}}}"#))
            .collect();
        format!(r#"{{"checks": [{}]}}"#, answers.join(", "))
    }

    fn question_of(ask: &Ask) -> &JudgeQuestion {
        match &ask.question {
            Question::Judge(question) => question,
            other => panic!("{other:?}"),
        }
    }

    const SCORED: &str = "score_ranges: {0: Bad, 10: Good}";

    #[test]
    fn weights_of_scored_items_count() {
        let yaml = format!(
            "- {{type: rubrics, rubrics: [{{id: a, weight: 3, {SCORED}}}, {{id: b, {SCORED}}}, {{id: c, weight: 2, {SCORED}}}]}}"
        );
        let reply = checks(&[("a", "\"score\": 9"), ("b", "\"score\": 8"), ("c", "\"score\": 7")]);
        let (marks, gate) = marks(&yaml, &reply);
        assert_eq!(marks.score.rounded(), 0.816_667);
        assert_eq!(marks.hits, ["a (9/10)", "b (8/10)"]);
        assert_eq!(marks.misses, ["c (7/10)"]);
        assert_eq!(marks.reasoning.as_deref(), Some("a: why a\nb: why b\nc: why c"));
        let Some(Value::List(items)) = marks.details.as_ref().and_then(|map| map.get("items"))
        else {
            panic!("no items: {marks:?}");
        };
        let Value::Map(last) = &items[2] else { panic!("{items:?}") };
        assert_eq!(last.get("reasoning"), Some(&Value::String("why c".to_owned())));
        assert_eq!(gate, None);
    }

    #[test]
    fn a_required_item_that_is_missed_is_a_missed_gate() {
        let yaml = "- {type: rubrics, rubrics: [{id: a, outcome: Is true, weight: 9}, {id: b, outcome: Is kind, required: true}]}";
        let missed = checks(&[("a", "\"satisfied\": true"), ("b", "\"satisfied\": false")]);
        let (found, gate) = marks(yaml, &missed);
        assert_eq!(found.score.rounded(), 0.9);
        assert_eq!((found.hits, found.misses), (vec!["Is true".into()], vec!["Is kind".into()]));
        assert_eq!(gate, Some(Gate::Missed));
        let met = checks(&[("a", "\"satisfied\": false"), ("b", "\"satisfied\": true")]);
        assert_eq!(marks(yaml, &met).1, Some(Gate::Met));
    }

    #[test]
    fn gates_of_scored_items_are_thresholds() {
        for (required, points, gate) in [
            ("true", "8", Gate::Met),
            ("true", "7.9", Gate::Missed),
            ("0.5", "5", Gate::Met),
            ("0.5", "4.9", Gate::Missed),
        ] {
            let yaml = format!(
                "- {{type: rubrics, rubrics: [{{id: a, required: {required}, {SCORED}}}]}}"
            );
            let reply = checks(&[("a", &format!("\"score\": {points}"))]);
            assert_eq!(marks(&yaml, &reply).1, Some(gate), "{required} {points}");
        }
    }

    #[test]
    fn one_scored_item_is_a_tenth_per_point() {
        let yaml = format!("- {{type: rubrics, rubrics: [{{outcome: Is deep, {SCORED}}}]}}");
        let (marks, _) = marks(&yaml, &checks(&[("rubric-1", "\"score\": 7")]));
        assert_eq!(marks.score.rounded(), 0.7);
        assert_eq!(marks.misses, ["Is deep (7/10)"]);
        assert_eq!(marks.reasoning.as_deref(), Some("why rubric-1"));
    }

    #[test]
    fn an_item_that_is_missing_twice_is_a_fault() {
        let yaml = "- {type: rubrics, rubrics: [a, b, {outcome: c, required: true}]}";
        let two =
            checks(&[("rubric-1", "\"satisfied\": true"), ("rubric-2", "\"satisfied\": true")]);
        let (grade, asked) = graded(yaml, &[&two]);
        assert_eq!(asked.len(), 2);
        assert_eq!(grade.gate, Some(Gate::Unchecked));
        let fault = fault_of(grade.grade);
        assert_eq!((fault.stage, fault.kind), (Stage::Judge, FaultKind::Reply));
        let start =
            "the judge's reply cannot be used: no answer to check `rubric-3`\nreply: {\"checks\"";
        assert!(fault.message.starts_with(start), "{}", fault.message);
        let repair = question_of(&asked[1]);
        assert_eq!(repair.messages.len(), 4);
        assert_eq!(repair.messages[..2], question_of(&asked[0]).messages);
        assert_eq!(repair.messages[2].text().as_deref(), Some(two.as_str()));
        let said = repair.messages[3].text().expect("a text");
        assert!(said.contains("no answer to check `rubric-3`"));
    }

    #[test]
    fn a_repaired_reply_is_graded() {
        let good = checks(&[("rubric-1", "\"satisfied\": true")]);
        let (grade, asked) = graded("- Is kind", &["I think so!", &good]);
        assert_eq!(asked[0].key, "0/0");
        assert_eq!(asked[1].key, "0/0-repair");
        assert!(matches!(grade.grade, Grade::Graded(marks) if marks.score == Score::ONE));
    }

    #[test]
    fn many_items_go_into_several_calls() {
        let items: Vec<String> = (1..=45).map(|n| format!("Item {n}")).collect();
        let yaml = format!("- {{type: rubrics, rubrics: [{}]}}", items.join(", "));
        let trial = trial(&yaml);
        let mut keys = Vec::new();
        let grades = trial.grades(|ask| {
            keys.push(ask.key.clone());
            let shown = question_of(ask).messages[1].text().expect("a text");
            let answers: Vec<String> = shown
                .lines()
                .filter_map(|line| line.strip_prefix("- [")?.split_once(']'))
                .map(|(id, _)| format!(r#"{{"id": "{id}", "satisfied": {}}}"#, id != "rubric-45"))
                .collect();
            assert!(answers.len() <= 20);
            Answer::Judge(format!("{{\"checks\": [{}]}}", answers.join(",")))
        });
        assert_eq!(keys, ["0/0", "0/1", "0/2"]);
        match &grades[0].grade {
            Grade::Graded(marks) => {
                assert_eq!(marks.hits.len(), 44);
                assert_eq!(marks.misses, ["Item 45"]);
                assert_eq!(marks.reasoning, None);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_faulty_call_is_repaired() {
        let items: Vec<String> = (1..=21).map(|n| format!("Item {n}")).collect();
        let trial = trial(&format!("- {{type: rubrics, rubrics: [{}]}}", items.join(", ")));
        let mut keys = Vec::new();
        let good = |from: usize, to: usize| {
            let ids: Vec<String> = (from..=to).map(|n| format!("rubric-{n}")).collect();
            let answers: Vec<_> =
                ids.iter().map(|id| (id.as_str(), "\"satisfied\": true")).collect();
            Answer::Judge(checks(&answers))
        };
        trial.grades(|ask| {
            keys.push(ask.key.clone());
            match ask.key.as_str() {
                "0/0" => good(1, 20),
                "0/1" => Answer::Judge("?".to_owned()),
                _ => good(21, 21),
            }
        });
        assert_eq!(keys, ["0/0", "0/1", "0/1-repair"]);
    }

    #[test]
    fn a_judge_that_could_not_be_asked_is_a_fault() {
        let failed = Fault::new(Stage::Judge, FaultKind::Http, "status 500");
        let trial = trial("- Is kind");
        let grades = trial.grades(|_| Answer::Failed(failed.clone()));
        assert_eq!(fault_of(grades[0].grade.clone()), failed);
        // The repair can fail in the same way.
        let grades = trial.grades(|ask| {
            if ask.key.ends_with("-repair") {
                Answer::Failed(failed.clone())
            } else {
                Answer::Judge("?".to_owned())
            }
        });
        assert_eq!(fault_of(grades[0].grade.clone()), failed);
    }

    #[test]
    fn judges_can_be_left_out() {
        for yaml in [
            "- {type: rubrics, rubrics: [{outcome: a, required: true}]}",
            "- {type: llm-judge, rubrics: [{outcome: a, required: true}]}",
        ] {
            let mut trial = trial(yaml);
            trial.options.judging = Judging::Skip;
            let grade = trial.only();
            assert_eq!(grade.grade, Grade::Skipped("not judged".to_owned()));
            assert_eq!(grade.gate, Some(Gate::Unchecked));
        }
    }

    #[test]
    fn scores_are_the_judges() {
        let yaml = "- {type: llm-judge, prompt: Is it polite?}";
        let reply = r#"{"score":0.85,"hits":["x"],"misses":[]}"#;
        let (found, gate) = marks(yaml, reply);
        assert_eq!(found.score.value(), 0.85);
        assert_eq!(found.hits, ["x"]);
        assert_eq!(gate, None);
        let negated = "- {type: llm-judge, prompt: Is it polite?, negate: true}";
        let (found, _) = marks(negated, reply);
        assert_eq!(found.score.rounded(), 0.15);
        assert_eq!(found.misses, ["x"]);
        let (grade, asked) = graded(yaml, &[r#"{"score":8}"#]);
        assert_eq!(asked.len(), 2);
        let message = fault_of(grade.grade).message;
        assert_eq!(
            message,
            "the judge's reply cannot be used: `score` is 8, which is not in 0..1\nreply: {\"score\":8}"
        );
    }

    #[test]
    fn every_bad_reply_is_repaired_once_and_then_a_fault() {
        let long = format!("No. {}", "x".repeat(600));
        for reply in [
            "",
            "8/10",
            "{\"score\": 0.4",
            "{\"score\": \"1\"}",
            "{\"score\": -1}",
            "{\"hits\": []}",
            &long,
        ] {
            let (grade, asked) = graded("- {type: llm-judge, prompt: Is it polite?}", &[reply]);
            assert_eq!(asked.len(), 2, "{reply}");
            let fault = fault_of(grade.grade);
            assert_eq!((fault.stage, fault.kind), (Stage::Judge, FaultKind::Reply));
            assert!(fault.message.starts_with("the judge's reply cannot be used: "));
            assert!(fault.message.chars().count() < 650, "{reply}");
        }
        for answer in [
            "\"satisfied\": 1",
            "\"score\": 7",
            "\"satisfied\": true}, {\"id\": \"rubric-1\", \"satisfied\": false",
        ] {
            let (grade, asked) = graded("- Is kind", &[&checks(&[("rubric-1", answer)])]);
            assert_eq!(asked.len(), 2, "{answer}");
            assert_eq!(fault_of(grade.grade).stage, Stage::Judge);
        }
    }

    #[test]
    fn options_of_the_request_are_those_of_the_author() {
        let config = |yaml: &str, reply: &str| {
            let (_, asked) = graded(yaml, &[reply]);
            let question = question_of(&asked[0]);
            let config = Value::from(question.config.clone());
            (question.target.clone(), config.to_json(JsonStyle::Compact))
        };
        let kind = checks(&[("rubric-1", "\"satisfied\": true")]);
        assert_eq!(
            config("- {type: rubrics, criteria: a, target: big}", &kind),
            (Some("big".to_owned()), "{}".to_owned())
        );
        let yaml =
            "- {type: llm-judge, prompt: Is it polite?, temperature: 0.5, config: {seed: 1}}";
        assert_eq!(
            config(yaml, "{\"score\": 1}"),
            (None, r#"{"seed":1,"temperature":0.5}"#.to_owned())
        );
    }
}
