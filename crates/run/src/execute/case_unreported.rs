//! Faults of checks that need what a target never reports.

use evalrig_core::model::{AssertionGrade, Fault, Grade};

use super::case::CaseWork;

impl CaseWork<'_> {
    /// Says why the target does not report something, where that is known.
    pub(super) fn explain_unreported(&self, grades: &mut [AssertionGrade]) {
        let has_fault = |grade: &AssertionGrade| matches!(grade.grade, Grade::Errored(_));
        if !grades.iter().any(has_fault) {
            return;
        }
        let target = &self.case.target;
        let known = self.suite_job().target(target).map(|connected| connected.unreported());
        for one in known.unwrap_or_default() {
            let sentence = format!("{}; {}", one.sentence(target), one.remedy);
            explain_faults(grades, &Fault::not_reported(one.what), &sentence);
        }
    }
}

/// Replaces the message of this fault, also inside composites.
fn explain_faults(grades: &mut [AssertionGrade], fault: &Fault, message: &str) {
    for one in grades {
        if let Grade::Errored(found) = &mut one.grade
            && found == fault
        {
            message.clone_into(&mut found.message);
        }
        explain_faults(&mut one.members, fault, message);
    }
}
