//! Grades the mutants of one stored answer with the checks of its test.

use crate::assertion::grade_one;
use crate::model::{
    Answers, AssertionGrade, Evidence, Gate, Grade, GradingOptions, Judging, Outcome, SearchTime,
    Step, Test,
};
use crate::score::{Thresholds, score_case};

use super::damaged_files::DamagedFiles;
use super::mutant::Mutant;

/// What a check makes of the answer before it is damaged.
#[derive(Debug, Clone)]
pub enum CheckBaseline {
    Graded {
        grade: Box<AssertionGrade>,
        passes: bool,
    },
    /// A script, a command or a judge answers it.
    Asks,
    /// It cannot be graded from what is stored; the text says why.
    NotMeasured(String),
}

/// What a check makes of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutantGrade {
    /// The check does not look at what was damaged, or was not tried.
    NotTried,
    Failed,
    Passed,
    /// It could not be graded.
    Unknown,
}

/// A mutant with a grade for every assertion of its test.
#[derive(Debug, Clone)]
pub struct GradedMutant {
    pub mutant: Mutant,
    pub grades: Vec<MutantGrade>,
    /// Whether the whole test still passes. `None` if a part of it was not tried.
    pub survives: Option<bool>,
    /// Whether no check of the test fails it. `None` if a part of the test was not tried.
    pub unnoticed: Option<bool>,
}

/// One stored answer, and what became of its mutants.
#[derive(Debug, Clone)]
pub struct CaseTrial {
    pub baselines: Vec<CheckBaseline>,
    pub mutants: Vec<GradedMutant>,
}

/// What an answer and its mutants have in common.
#[derive(Clone, Copy)]
struct MutantGrading<'a> {
    thresholds: Thresholds,
    search_time: &'a SearchTime,
}

/// Grades the mutants of an answer. Nothing is asked: checks that need an answer from elsewhere are not
/// tried.
pub fn try_case(
    evidence: &Evidence<'_>,
    thresholds: Thresholds,
    search_time: &SearchTime,
    mutants: Vec<Mutant>,
) -> CaseTrial {
    let grading = MutantGrading { thresholds, search_time };
    let checks = evidence.test.assertions.len();
    let baselines: Vec<CheckBaseline> =
        (0..checks).map(|at| baseline(evidence, grading, at)).collect();
    let mutants = mutants.into_iter().map(|mutant| {
        let (grades, survives) = grade_mutant(evidence, grading, &baselines, &mutant);
        let unnoticed = survives.map(|_| !grades.contains(&MutantGrade::Failed));
        GradedMutant { mutant, grades, survives, unnoticed }
    });
    CaseTrial { mutants: mutants.collect(), baselines }
}

fn baseline(evidence: &Evidence<'_>, grading: MutantGrading<'_>, at: usize) -> CheckBaseline {
    if evidence.test.assertions[at].assertion.check.needs_judge() {
        return CheckBaseline::Asks;
    }
    let Some(grade) = grade_at(evidence, grading, at) else { return CheckBaseline::Asks };
    match &grade.grade {
        Grade::Errored(fault) => CheckBaseline::NotMeasured(fault.message.clone()),
        Grade::Skipped(reason) => CheckBaseline::NotMeasured(reason.clone()),
        Grade::Graded(_) => {
            let passes = is_passed(&grade, grading.thresholds) == MutantGrade::Passed;
            CheckBaseline::Graded { grade: Box::new(grade), passes }
        }
    }
}

/// `None` if it asks.
fn grade_at(
    evidence: &Evidence<'_>,
    grading: MutantGrading<'_>,
    at: usize,
) -> Option<AssertionGrade> {
    let MutantGrading { thresholds, search_time } = grading;
    let (pass, judging) = (thresholds.pass, Judging::Skip);
    let options = GradingOptions { pass, judging, readings: None, search_time };
    match grade_one(evidence, options, &Answers::default(), at) {
        Step::Done(grade) => Some(grade),
        Step::Ask(_) => None,
    }
}

fn is_passed(grade: &AssertionGrade, thresholds: Thresholds) -> MutantGrade {
    match &grade.grade {
        _ if grade.gate == Some(Gate::Missed) => MutantGrade::Failed,
        Grade::Graded(marks) if marks.score.reaches(thresholds.pass) => MutantGrade::Passed,
        Grade::Graded(_) => MutantGrade::Failed,
        Grade::Skipped(_) | Grade::Errored(_) => MutantGrade::Unknown,
    }
}

/// Whether the check at this index looks at what the mutant damages.
pub(super) fn looks_at(test: &Test, at: usize, mutant: &Mutant) -> bool {
    test.assertions[at].assertion.parts().contains(&mutant.part())
}

fn grade_mutant(
    evidence: &Evidence<'_>,
    grading: MutantGrading<'_>,
    baselines: &[CheckBaseline],
    mutant: &Mutant,
) -> (Vec<MutantGrade>, Option<bool>) {
    let files = evidence.workspace.map(|inner| DamagedFiles::new(inner, &mutant.files));
    let damaged = Evidence {
        transcript: &mutant.transcript,
        workspace: files.as_ref().map(|files| files as _),
        ..*evidence
    };
    let mut found = Vec::with_capacity(baselines.len());
    let mut all = Some(Vec::with_capacity(baselines.len()));
    for (at, baseline) in baselines.iter().enumerate() {
        let CheckBaseline::Graded { grade: before, passes } = baseline else {
            all = None;
            found.push(MutantGrade::NotTried);
            continue;
        };
        // What a check forbids may be in the mutant, so it is graded even if it demands nothing.
        let Some(grade) = grade_at(&damaged, grading, at) else {
            all = None;
            found.push(MutantGrade::Unknown);
            continue;
        };
        let now = is_passed(&grade, grading.thresholds);
        let is_tried =
            *passes && (now == MutantGrade::Failed || looks_at(evidence.test, at, mutant));
        found.push(if is_tried { now } else { MutantGrade::NotTried });
        // A measurement that the mutant lacks is not the damage.
        let grade = if now == MutantGrade::Unknown { None } else { Some(grade) };
        match (grade, &mut all) {
            (Some(grade), Some(all)) => all.push(grade),
            _ => all = None,
        }
        debug_assert!(before.name == evidence.test.assertions[at].name.as_ref());
    }
    let survives =
        all.map(|grades| score_case(&grades, grading.thresholds).outcome == Outcome::Passed);
    (found, survives)
}

impl CaseTrial {
    /// Whether a check of the test asks a script, a command or a judge.
    pub fn asks(&self) -> bool {
        self.baselines.iter().any(|one| matches!(one, CheckBaseline::Asks))
    }
}
