//! Grading of composites: first the members, then their combined score (spec 8.3).

use crate::model::{
    Ask, AssertionGrade, Conclusion, Fault, Gate, Grade, GradingContext, NOT_RUN, NamedAssertion,
    Score, Step,
};

use super::aggregator::{Aggregation, AggregatorKind};
use super::finding::{Finding, FindingList};
use super::grading::{grade_assertion, skipped_grade};

pub(super) fn grade(
    context: &GradingContext<'_>,
    members: &[NamedAssertion],
    aggregation: &Aggregation,
) -> Step {
    let first = &aggregation.required;
    let early = match grade_some(context, members, first) {
        Ok(grades) => grades,
        Err(asks) => return Step::Ask(asks),
    };
    let gate_miss = aggregation.gate_miss(early.iter().map(|(_, grade)| grade));
    let is_decided =
        gate_miss.is_some() || early.iter().any(|(_, grade)| fault_of(grade).is_some());
    let rest: Vec<usize> = (0..members.len()).filter(|at| !first.contains(at)).collect();
    let late = if is_decided {
        rest.iter().map(|at| (*at, skipped_grade(&members[*at], NOT_RUN))).collect()
    } else {
        match grade_some(context, members, &rest) {
            Ok(grades) => grades,
            Err(asks) => return Step::Ask(asks),
        }
    };
    let grades = in_order(early.into_iter().chain(late).collect(), members, aggregation);
    Step::Done(conclude(grades, aggregation, gate_miss, context.options.pass))
}

/// Members with their index in the list, or what they have to ask.
fn grade_some(
    context: &GradingContext<'_>,
    members: &[NamedAssertion],
    places: &[usize],
) -> Result<Vec<(usize, AssertionGrade)>, Vec<Ask>> {
    let (mut grades, mut asks) = (Vec::new(), Vec::new());
    for at in places {
        match grade_assertion(&members[*at], &context.of_member(members, *at)) {
            Step::Done(grade) => grades.push((*at, grade)),
            Step::Ask(more) => asks.extend(more),
        }
    }
    if asks.is_empty() { Ok(grades) } else { Err(asks) }
}

fn in_order(
    mut grades: Vec<(usize, AssertionGrade)>,
    members: &[NamedAssertion],
    aggregation: &Aggregation,
) -> Vec<AssertionGrade> {
    grades.sort_by_key(|(at, _)| *at);
    // The aggregator may weigh a member differently from what is written on it.
    let reweigh = |(at, grade): (usize, AssertionGrade)| AssertionGrade {
        weight: aggregation.weight(members, at).number().clone(),
        ..grade
    };
    grades.into_iter().map(reweigh).collect()
}

fn conclude(
    members: Vec<AssertionGrade>,
    aggregation: &Aggregation,
    gate_miss: Option<String>,
    pass: f64,
) -> Conclusion {
    let inner = members.iter().filter_map(|member| member.gate).max();
    let guard = aggregation.gate_at.map(|_| {
        let mut required = aggregation.required.iter();
        let is_checked = required.all(|at| matches!(members[*at].grade, Grade::Graded(_)));
        match (&gate_miss, is_checked) {
            (_, false) => Gate::Unchecked,
            (None, true) => Gate::Met,
            (Some(_), true) => Gate::Missed,
        }
    });
    Conclusion {
        grade: combined_grade(&members, aggregation, gate_miss, pass),
        gate: inner.max(guard),
        aggregator: Some(aggregation.kind.word()),
        members,
        is_absolute: false,
    }
}

/// A fault takes precedence over a missed safety gate (spec 8.3), and that over everything else.
fn combined_grade(
    members: &[AssertionGrade],
    aggregation: &Aggregation,
    gate_miss: Option<String>,
    pass: f64,
) -> Grade {
    let faults = members.iter().find_map(|member| Some((member, fault_of(member)?)));
    if let Some((member, fault)) = faults {
        let message = format!("`{}`: {}", member.name, fault.message);
        return Grade::Errored(Fault::new(fault.stage, fault.kind, message));
    }
    let mut findings = FindingList::default();
    for member in members {
        if let Grade::Graded(marks) = &member.grade {
            findings.hits.extend(marks.hits.iter().cloned());
            findings.misses.extend(marks.misses.iter().cloned());
        }
    }
    if let Some(miss) = gate_miss {
        findings.miss(miss);
        return Grade::Graded(findings.marks(Score::ZERO));
    }
    let skipped = members.iter().find_map(|member| match &member.grade {
        Grade::Skipped(reason) => Some(reason.clone()),
        _ => None,
    });
    if let Some(reason) = skipped {
        return Grade::Skipped(reason);
    }
    let score = aggregate(members, aggregation, pass, &mut findings);
    Grade::Graded(findings.marks(score))
}

/// All members are graded.
fn aggregate(
    members: &[AssertionGrade],
    aggregation: &Aggregation,
    pass: f64,
    findings: &mut FindingList,
) -> Score {
    let scores = || members.iter().filter_map(score_of);
    let average = || {
        let weights = members.iter().map(|member| member.weight.value());
        Score::weighted_average(scores().zip(weights)).unwrap_or(Score::ZERO)
    };
    let values = || scores().map(Score::value);
    match (aggregation.kind, &aggregation.threshold) {
        (AggregatorKind::Minimum, _) => Score::of_share(values().fold(1.0, f64::min)),
        (AggregatorKind::Maximum, _) => Score::of_share(values().fold(0.0, f64::max)),
        (AggregatorKind::AllOrNothing, Some(threshold))
            if !scores().all(|score| score.reaches(threshold.value())) =>
        {
            Score::ZERO
        }
        (AggregatorKind::Threshold, Some(threshold)) => {
            let passing = scores().filter(|score| score.reaches(pass)).count();
            let share = Score::of_share(passing as f64 / members.len() as f64);
            findings.add(Finding {
                holds: share.reaches(threshold.value()),
                text: format!("{passing} of {} members pass (needs {threshold})", members.len()),
            });
            share
        }
        _ => average(),
    }
}

fn score_of(grade: &AssertionGrade) -> Option<Score> {
    match &grade.grade {
        Grade::Graded(marks) => Some(marks.score),
        _ => None,
    }
}

fn fault_of(grade: &AssertionGrade) -> Option<&Fault> {
    match &grade.grade {
        Grade::Errored(fault) => Some(fault),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Trial;
    use super::*;
    use crate::model::{Answer, Ask, FaultKind, Question, ScriptAnswer, Stage, Transcript};

    /// A script that scores what its only argument says; `error` fails.
    fn scripted(ask: &Ask) -> Answer {
        let Question::Script(script) = &ask.question else { panic!("asks {ask:?}") };
        let word = script.command.last().expect("an argument");
        match word.as_str() {
            "error" => Answer::Failed(Fault::new(Stage::Script, FaultKind::Start, "no such file")),
            score => Answer::Script(ScriptAnswer {
                stdout: format!("{{\"score\": {score}}}").into_bytes(),
                stderr: String::new(),
                failure: None,
            }),
        }
    }

    fn member(name: &str, score: &str) -> String {
        format!("{{type: code-judge, name: {name}, script: [judge, '{score}']}}")
    }

    fn composite(aggregator: &str, scores: &[(&str, &str)]) -> String {
        let members: Vec<String> = scores.iter().map(|(name, s)| member(name, s)).collect();
        let list = members.join(", ");
        format!("{{type: composite, aggregator: {aggregator}, assert: [{list}]}}")
    }

    fn graded(assertion: &str) -> AssertionGrade {
        let trial = Trial::new(&format!("- {assertion}"), Transcript::of_text("x"));
        trial.grades(scripted).remove(0)
    }

    fn score(assertion: &str) -> f64 {
        score_of(&graded(assertion)).expect("a score").rounded()
    }

    #[test]
    fn every_row_of_the_format() {
        let three = [("safety", "0.9"), ("quality", "0.7"), ("format", "0.8")];
        let weights = "{type: weighted_average, weights: {safety: 0.3, quality: 0.5, format: 0.2}}";
        let gate = "{type: safety_gate, required: [safety]}";
        for (aggregator, members, expected) in [
            (weights, &three[..], 0.78),
            ("minimum", &three, 0.7),
            ("maximum", &three, 0.9),
            (gate, &[("safety", "1.0"), ("quality", "0.7")], 0.85),
            (gate, &[("safety", "0.5"), ("quality", "0.7")], 0.0),
            ("{type: all_or_nothing, threshold: 0.7}", &three, 0.8),
            (
                "{type: all_or_nothing, threshold: 0.7}",
                &[("a", "0.9"), ("b", "0.69"), ("c", "0.8")],
                0.0,
            ),
            (
                "{type: threshold, threshold: 0.5}",
                &[("a", "0.9"), ("b", "0.8"), ("c", "0.5"), ("d", "1.0")],
                0.75,
            ),
        ] {
            assert_eq!(score(&composite(aggregator, members)), expected, "{aggregator}");
        }
    }

    #[test]
    fn a_missed_safety_gate_keeps_the_rest_from_running() {
        let gate = "{type: safety_gate, required: [safety]}";
        let grade = graded(&composite(gate, &[("quality", "0.7"), ("safety", "0.5")]));
        assert_eq!(grade.gate, Some(Gate::Missed));
        assert_eq!(grade.members[0].grade, Grade::Skipped(NOT_RUN.to_owned()));
        let Grade::Graded(marks) = grade.grade else { panic!("graded") };
        assert_eq!(marks.misses, ["Safety gate: 'safety' scored 0.5, below 0.6"]);
    }

    #[test]
    fn the_threshold_is_only_a_sentence() {
        let members = [("a", "0.9"), ("b", "0.1")];
        let aggregator = "{type: threshold, threshold: 0.9}";
        let grade = graded(&composite(aggregator, &members));
        let Grade::Graded(marks) = grade.grade else { panic!("graded") };
        assert_eq!(marks.score.value(), 0.5);
        assert_eq!(marks.misses, ["1 of 2 members pass (needs 0.9)"]);
        assert_eq!(grade.gate, None);
    }

    #[test]
    fn nested_composites() {
        let nested = |low: &str| {
            let safe = composite("minimum", &[("x", "0.9"), ("y", low)]);
            let quality = "{type: composite, name: q, assert: [\
                {type: code-judge, name: a, script: [judge, '0.7'], weight: 3}, \
                {type: code-judge, name: b, script: [judge, '0.4']}]}";
            format!(
                "{{type: composite, aggregator: {{type: safety_gate, required: [s]}}, \
                 assert: [{}, {quality}]}}",
                safe.replacen("{type: composite,", "{type: composite, name: s,", 1)
            )
        };
        assert_eq!(score(&nested("1.0")), 0.7625);
        let missed = graded(&nested("0.5"));
        assert_eq!(score_of(&missed), Some(Score::ZERO));
        assert_eq!(missed.gate, Some(Gate::Missed));
        assert_eq!(missed.members[1].grade, Grade::Skipped(NOT_RUN.to_owned()));
    }

    #[test]
    fn what_could_not_be_measured_wins() {
        let gate = "{type: safety_gate, required: [a, b]}";
        for aggregator in ["weighted_average", "minimum", gate] {
            let members = [("a", "0.1"), ("b", "error")];
            let grade = graded(&composite(aggregator, &members));
            let Grade::Errored(fault) = grade.grade else {
                panic!("{aggregator}: {:?}", grade.grade)
            };
            assert_eq!(fault.message, "`b`: no such file");
        }
    }

    #[test]
    fn gates_of_members_count_wherever_they_sit() {
        let assertion = "{type: composite, assert: [\
            {type: code-judge, name: a, script: [judge, '0.5'], required: true}, \
            {type: code-judge, name: b, script: [judge, '1.0']}]}";
        assert_eq!(graded(assertion).gate, Some(Gate::Missed));
    }
}
