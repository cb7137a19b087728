//! Grades the assertions of a test, one step at a time: applies negation and gates, and makes the
//! grades of skipped members.

use crate::model::{
    Answers, AssertionGrade, Conclusion, Evidence, Gate, Grade, GradingContext, GradingOptions,
    Marks, NamedAssertion, Required, Step,
};

use super::subject::grade_subject;

/// Grades every assertion of the test, as far as the answers allow. `Done` has one grade per
/// assertion, in order.
pub fn grade(
    evidence: &Evidence<'_>,
    options: GradingOptions<'_>,
    answers: &Answers,
) -> Step<Vec<AssertionGrade>> {
    let assertions = &evidence.test.assertions;
    let mut asks = Vec::new();
    let mut grades = Vec::with_capacity(assertions.len());
    for (at, named) in assertions.iter().enumerate() {
        let context = GradingContext::of_test(evidence, options, answers, at);
        match grade_assertion(named, &context) {
            Step::Ask(more) => asks.extend(more),
            Step::Done(grade) => grades.push(grade),
        }
    }
    if asks.is_empty() { Step::Done(grades) } else { Step::Ask(asks) }
}

/// Grades the assertion at index `at` of the test alone.
pub fn grade_one(
    evidence: &Evidence<'_>,
    options: GradingOptions,
    answers: &Answers,
    at: usize,
) -> Step<AssertionGrade> {
    let context = GradingContext::of_test(evidence, options, answers, at);
    grade_assertion(&evidence.test.assertions[at], &context)
}

pub(super) fn grade_assertion(
    named: &NamedAssertion,
    context: &GradingContext<'_>,
) -> Step<AssertionGrade> {
    match grade_subject(&*named.assertion.check, context) {
        Step::Ask(asks) => Step::Ask(asks),
        Step::Done(conclusion) => Step::Done(finish(named, conclusion, context.options.pass)),
    }
}

/// Applies negation and the assertion's own gate.
fn finish(named: &NamedAssertion, conclusion: Conclusion, pass: f64) -> AssertionGrade {
    let assertion = &named.assertion;
    let common = &assertion.common;
    let is_inverted = common.negate && !conclusion.is_absolute;
    let grade = if is_inverted { negate(conclusion.grade) } else { conclusion.grade };
    let own = own_gate(&common.required, &grade, pass);
    AssertionGrade {
        name: named.name.to_string(),
        type_name: assertion.type_name.to_string(),
        sentence: assertion.sentences().join("; "),
        weight: common.weight.number().clone(),
        required: common.required.clone(),
        gate: own.max(conclusion.gate),
        grade,
        members: conclusion.members,
        aggregator: conclusion.aggregator,
        span: common.span.at_start(),
    }
}

/// Swaps hits and misses. A fault stays a fault.
fn negate(grade: Grade) -> Grade {
    match grade {
        Grade::Graded(marks) => Grade::Graded(Marks {
            score: marks.score.inverted(),
            hits: marks.misses,
            misses: marks.hits,
            ..marks
        }),
        other => other,
    }
}

/// `None` where nothing is required.
fn own_gate(required: &Required, grade: &Grade, pass: f64) -> Option<Gate> {
    let least = match required {
        Required::No => return None,
        Required::Pass => pass,
        Required::AtLeast(number) => number.value(),
    };
    Some(match grade {
        Grade::Graded(marks) => Gate::of(marks.score.reaches(least)),
        Grade::Skipped(_) | Grade::Errored(_) => Gate::Unchecked,
    })
}

/// The grade of an assertion that was skipped together with its members.
pub(super) fn skipped_grade(named: &NamedAssertion, reason: &str) -> AssertionGrade {
    let members = named.assertion.check.members().iter();
    let conclusion = Conclusion {
        members: members.map(|one| skipped_grade(one, reason)).collect(),
        ..Grade::Skipped(reason.to_owned()).into()
    };
    finish(named, conclusion, 1.0)
}
