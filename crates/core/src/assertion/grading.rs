//! How assertions are graded: pure, in steps. A check looks at the evidence and at the answers it
//! has so far, and either concludes or says what else it must ask. Whoever runs the suite answers
//! and comes back. So any stored run can be graded again, and nothing here waits for anything.

use std::collections::HashMap;

use camino::Utf8PathBuf;

use crate::evidence::Evidence;
use crate::model::{
    AssertionGrade, Fault, Gate, Grade, Map, Marks, Message, Number, Required, Score,
};

use super::check::{Common, Placed};

/// Something that the world must answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Unique within a case.
    pub key: String,
    pub question: Question,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    Script(ScriptQuestion),
    Judge(JudgeQuestion),
}

/// A program to be run, by the contract of spec 10.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptQuestion {
    /// Program and arguments, never empty. A script that is a line for the shell comes as
    /// `sh -c LINE`.
    pub command: Vec<String>,
    pub cwd: Utf8PathBuf,
    pub timeout_seconds: u64,
    pub stdin: String,
}

/// A model to be asked, by the contract of spec 10.2.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeQuestion {
    /// The assertion's own judge; otherwise the one of the case.
    pub target: Option<String>,
    /// System and user, then for a repair the reply and the fault in it.
    pub messages: Vec<Message>,
    /// Added to the request, over what the judge's target says. Where neither names a
    /// `temperature`, it is 0.
    pub config: Map,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Script(ScriptAnswer),
    /// The judge's reply.
    Judge(String),
    /// It could not be asked.
    Failed(Fault),
}

/// How a script ended. Timeouts and scripts that cannot start are [`Answer::Failed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptAnswer {
    pub stdout: Vec<u8>,
    /// The last 2000 characters.
    pub stderr: String,
    /// How it ended when it did not end well, such as `exit status 1`.
    pub failure: Option<String>,
}

/// Answers by the key of their question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers(HashMap<String, Answer>);

impl Answers {
    pub fn insert(&mut self, key: String, answer: Answer) {
        self.0.insert(key, answer);
    }

    pub fn get(&self, key: &str) -> Option<&Answer> {
        self.0.get(key)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether judges are asked at all (`--skip-judges`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judging {
    Ask,
    Skip,
}

/// Reason of a grade that was skipped because of [`Judging::Skip`].
pub const NOT_JUDGED: &str = "not judged";

/// Reason of a member that a safety gate kept from being graded.
pub const NOT_RUN: &str = "not run";

/// What grading needs to know besides the evidence.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The pass threshold.
    pub pass: f64,
    pub judging: Judging,
}

/// The place of an assertion in its test: its number in the list, and whose member it is.
#[derive(Debug, Clone, Copy)]
struct Scope<'a> {
    parent: Option<&'a Scope<'a>>,
    at: usize,
}

impl Scope<'_> {
    fn key(&self, own: &str) -> String {
        match self.parent {
            Some(parent) => parent.key(&format!("{}/{own}", self.at)),
            None => format!("{}/{own}", self.at),
        }
    }
}

/// One assertion about to be graded.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub evidence: &'a Evidence<'a>,
    pub terms: Terms,
    pub common: &'a Common,
    pub name: &'a str,
    answers: &'a Answers,
    scope: Scope<'a>,
}

impl<'a> Subject<'a> {
    /// The answer to a question of this assertion, if it has been asked.
    pub fn answer(&self, own_key: &str) -> Option<&'a Answer> {
        if self.answers.is_empty() {
            return None;
        }
        self.answers.get(&self.scope.key(own_key))
    }

    /// A question of this assertion. `own_key` is unique within the assertion.
    pub fn ask(&self, own_key: &str, question: Question) -> Ask {
        Ask {
            key: self.scope.key(own_key),
            question,
        }
    }

    /// Grades a member of this assertion.
    pub(super) fn grade_member(&self, members: &[Placed], at: usize) -> Progress {
        let placed = &members[at];
        grade_one(
            placed,
            &Subject {
                common: &placed.assertion.common,
                name: &placed.name,
                scope: Scope {
                    parent: Some(&self.scope),
                    at,
                },
                ..*self
            },
        )
    }
}

/// How far a check came.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Never empty.
    Ask(Vec<Ask>),
    Done(Conclusion),
}

/// What a check concluded, before negation and its own gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    pub grade: Grade,
    /// The worst of the gates inside it.
    pub gate: Option<Gate>,
    pub members: Vec<AssertionGrade>,
    pub aggregator: Option<&'static str>,
}

impl From<Grade> for Conclusion {
    fn from(grade: Grade) -> Self {
        Self {
            grade,
            gate: None,
            members: Vec::new(),
            aggregator: None,
        }
    }
}

impl From<Grade> for Step {
    fn from(grade: Grade) -> Self {
        Self::Done(grade.into())
    }
}

impl From<Marks> for Step {
    fn from(marks: Marks) -> Self {
        Grade::Graded(marks).into()
    }
}

impl From<Fault> for Step {
    fn from(fault: Fault) -> Self {
        Grade::Errored(fault).into()
    }
}

/// How far one assertion came.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    Ask(Vec<Ask>),
    Done(Box<AssertionGrade>),
}

/// How far a test's assertions came.
#[derive(Debug, Clone, PartialEq)]
pub enum Graded {
    /// Never empty: what has to be answered before grading goes on.
    Asks(Vec<Ask>),
    /// One per assertion, in order.
    Done(Vec<AssertionGrade>),
}

/// Grades every assertion of the test as far as the answers reach.
pub fn grade(evidence: &Evidence<'_>, terms: Terms, answers: &Answers) -> Graded {
    let mut asks = Vec::new();
    let mut grades = Vec::with_capacity(evidence.test.assertions.len());
    for (at, placed) in evidence.test.assertions.iter().enumerate() {
        let subject = Subject {
            evidence,
            terms,
            common: &placed.assertion.common,
            name: &placed.name,
            answers,
            scope: Scope { parent: None, at },
        };
        match grade_one(placed, &subject) {
            Progress::Ask(more) => asks.extend(more),
            Progress::Done(grade) => grades.push(*grade),
        }
    }
    if asks.is_empty() {
        Graded::Done(grades)
    } else {
        Graded::Asks(asks)
    }
}

fn grade_one(placed: &Placed, subject: &Subject<'_>) -> Progress {
    let assertion = &placed.assertion;
    let conclusion = match assertion.check.grade(subject) {
        Step::Ask(asks) => return Progress::Ask(asks),
        Step::Done(conclusion) => conclusion,
    };
    let common = &assertion.common;
    let grade = if common.negate {
        negated(conclusion.grade)
    } else {
        conclusion.grade
    };
    let own = own_gate(&common.required, &grade, subject.terms.pass);
    Progress::Done(Box::new(AssertionGrade {
        name: placed.name.to_string(),
        type_name: assertion.type_name.to_string(),
        weight: common.weight.number().clone(),
        required: common.required.clone(),
        gate: own.max(conclusion.gate),
        grade,
        members: conclusion.members,
        aggregator: conclusion.aggregator,
        span: common.span.at_start(),
    }))
}

/// What could not be measured cannot be turned round either.
fn negated(grade: Grade) -> Grade {
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
pub(super) fn own_gate(required: &Required, grade: &Grade, pass: f64) -> Option<Gate> {
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

/// Σ(score × weight) / Σ(weight); `None` when nothing weighs anything.
pub fn weighted_average(scores: impl IntoIterator<Item = (Score, f64)>) -> Option<Score> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (score, weight) in scores {
        sum += score.value() * weight;
        weights += weight;
    }
    (weights > 0.0).then(|| Score::of_share(sum / weights))
}

/// A composite's member keeps its own number unless the aggregator gives it another.
pub(super) fn weighed(grade: AssertionGrade, weight: &Number) -> AssertionGrade {
    AssertionGrade {
        weight: weight.clone(),
        ..grade
    }
}

/// A grade for an assertion that was not looked at, with its members.
pub(super) fn not_graded(placed: &Placed, reason: &str) -> AssertionGrade {
    let assertion = &placed.assertion;
    let members = assertion.check.members().iter();
    let grade = Grade::Skipped(reason.to_owned());
    AssertionGrade {
        name: placed.name.to_string(),
        type_name: assertion.type_name.to_string(),
        weight: assertion.common.weight.number().clone(),
        required: assertion.common.required.clone(),
        gate: own_gate(&assertion.common.required, &grade, 1.0),
        grade,
        members: members.map(|one| not_graded(one, reason)).collect(),
        aggregator: None,
        span: assertion.common.span.at_start(),
    }
}
