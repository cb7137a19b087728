//! Turns the grades of a test into its score, verdict and outcome (spec 8.1).

use crate::model::{AssertionGrade, Fault, Gate, Grade, Outcome, Score, Verdict};

/// Thresholds of verdicts: 0 < borderline ≤ pass ≤ 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    pub pass: f64,
    pub borderline: f64,
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseScore {
    pub score: Option<Score>,
    pub verdict: Option<Verdict>,
    pub outcome: Outcome,
    /// The first fault, if the outcome is errored.
    pub fault: Option<Fault>,
}

/// `grades` has at least one grade.
pub fn score_case(grades: &[AssertionGrade], thresholds: Thresholds) -> CaseScore {
    if let Some(fault) = grades.iter().find_map(first_fault) {
        return CaseScore {
            score: None,
            verdict: None,
            outcome: Outcome::Errored,
            fault: Some(fault.clone()),
        };
    }
    let score = Score::weighted_average(grades.iter().filter_map(|grade| match &grade.grade {
        Grade::Graded(marks) => Some((marks.score, grade.weight.value())),
        _ => None,
    }));
    let is_missed = grades.iter().any(|grade| grade.gate == Some(Gate::Missed));
    let verdict = match (is_missed, score) {
        (true, _) => Some(Verdict::Fail),
        (false, Some(score)) => Some(verdict_of(score, thresholds)),
        (false, None) => None,
    };
    CaseScore {
        score,
        verdict,
        outcome: verdict.map_or(Outcome::Skipped, Outcome::from),
        fault: None,
    }
}

fn verdict_of(score: Score, thresholds: Thresholds) -> Verdict {
    if score.reaches(thresholds.pass) {
        Verdict::Pass
    } else if score.reaches(thresholds.borderline) {
        Verdict::Borderline
    } else {
        Verdict::Fail
    }
}

/// The innermost fault, because a composite repeats those of its members.
fn first_fault(grade: &AssertionGrade) -> Option<&Fault> {
    let inner = grade.members.iter().find_map(first_fault);
    inner.or(match &grade.grade {
        Grade::Errored(fault) => Some(fault),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FaultKind, Marks, Number, Required, Stage};
    use crate::source::{Sources, Span};

    const THRESHOLDS: Thresholds = Thresholds { pass: 0.8, borderline: 0.6 };

    fn place() -> Span {
        let id = Sources::new().add_file("/p/EVAL.yaml".into(), String::new(), 0);
        Span::new(id, 0, 0)
    }

    fn grade(grade: Grade, weight: &str, required: Required) -> AssertionGrade {
        let gate = match (&required, &grade) {
            (Required::No, _) => None,
            (Required::Pass, Grade::Graded(marks)) => Some(Gate::of(marks.score.reaches(0.8))),
            (Required::AtLeast(least), Grade::Graded(marks)) => {
                Some(Gate::of(marks.score.reaches(least.value())))
            }
            _ => Some(Gate::Unchecked),
        };
        AssertionGrade {
            name: "a".to_owned(),
            sentence: String::new(),
            type_name: "contains".to_owned(),
            weight: Number::parse(weight).unwrap(),
            required,
            grade,
            gate,
            members: Vec::new(),
            aggregator: None,
            span: place(),
        }
    }

    fn scored(score: f64) -> Grade {
        let score = Score::new(score).unwrap();
        Grade::Graded(Marks::new(score, Vec::new(), Vec::new()))
    }

    fn plain(score: f64, weight: &str) -> AssertionGrade {
        grade(scored(score), weight, Required::No)
    }

    fn skipped(weight: &str) -> AssertionGrade {
        grade(Grade::Skipped("not judged".to_owned()), weight, Required::No)
    }

    fn errored() -> AssertionGrade {
        let fault = Fault::new(Stage::Judge, FaultKind::Reply, "no JSON");
        grade(Grade::Errored(fault), "1", Required::No)
    }

    fn result(grades: &[AssertionGrade]) -> (Option<f64>, Outcome) {
        let judged = score_case(grades, THRESHOLDS);
        (judged.score.map(Score::rounded), judged.outcome)
    }

    #[test]
    fn every_row_of_the_format() {
        use Outcome::{Borderline, Errored, Failed, Passed, Skipped};
        let at_least = |score, least: &str| {
            let least = Required::AtLeast(Number::parse(least).unwrap());
            grade(scored(score), "1", least)
        };
        let gated = |score, weight| grade(scored(score), weight, Required::Pass);
        for (grades, expected) in [
            (vec![plain(0.9, "3"), plain(0.7, "1")], (Some(0.85), Passed)),
            (vec![plain(0.9, "1"), plain(0.8, "1"), plain(0.7, "1")], (Some(0.8), Passed)),
            (vec![plain(0.9, "3"), plain(0.8, "1"), plain(0.7, "1")], (Some(0.84), Passed)),
            (vec![at_least(0.55, "0.6"), plain(1.0, "3")], (Some(0.8875), Failed)),
            (vec![gated(0.75, "1"), plain(1.0, "4")], (Some(0.95), Failed)),
            (vec![plain(0.0, "0"), plain(1.0, "1")], (Some(1.0), Passed)),
            (vec![gated(0.0, "0"), plain(1.0, "1")], (Some(1.0), Failed)),
            (vec![plain(0.7, "1"), plain(1.0, "1")], (Some(0.85), Passed)),
            (vec![skipped("5"), plain(0.7, "1")], (Some(0.7), Borderline)),
            (vec![skipped("1"), skipped("1")], (None, Skipped)),
            (vec![errored(), plain(1.0, "9")], (None, Errored)),
        ] {
            assert_eq!(result(&grades), expected, "{grades:?}");
        }
    }

    #[test]
    fn what_is_left_after_skipping_may_weigh_nothing() {
        let weightless = [skipped("1"), plain(0.0, "0")];
        assert_eq!(result(&weightless), (None, Outcome::Skipped));
        let gated = [skipped("1"), grade(scored(0.0), "0", Required::Pass)];
        assert_eq!(result(&gated), (None, Outcome::Failed));
    }

    #[test]
    fn a_fault_inside_a_composite_is_the_one_that_is_told() {
        let mut composite = plain(1.0, "1");
        composite.grade =
            Grade::Errored(Fault::new(Stage::Judge, FaultKind::Reply, "`a`: no JSON"));
        composite.members = vec![errored()];
        let judged = score_case(&[composite], THRESHOLDS);
        assert_eq!(judged.fault.unwrap().message, "no JSON");
    }
}
