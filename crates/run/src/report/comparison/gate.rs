//! What the gate says at the end of a run.

use evalrig_core::compare::ComparisonVerdict;
use evalrig_core::model::Outcome;

use super::super::{GatedArm, ReportedRun};
use super::phrase;
use crate::text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateDecision {
    /// How it is to be taken.
    pub outcome: Outcome,
    /// `gate: worse than the baseline`.
    pub decision: String,
    /// Why, and the exit code.
    pub reason: String,
}

impl GateDecision {
    pub fn line(&self) -> String {
        format!("{}; {}", self.decision, self.reason)
    }
}

/// At most so long.
const NAME: usize = 100;

/// An arm that is worse, else one without a verdict that passes, else the first.
fn deciding_arm(end: &ReportedRun) -> Option<&GatedArm> {
    let rank = |arm: &&GatedArm| match arm.comparison.suite {
        Some(suite) if !suite.is_certain() => 1,
        Some(suite) if suite.judged.verdict == ComparisonVerdict::Worse => 0,
        Some(suite) if suite.judged.verdict.passes_gate() => 3,
        Some(_) => 1,
        None => 2,
    };
    end.gated_arms.iter().min_by_key(rank)
}

/// `None` where no gate was asked for, or the run did not get as far as that.
pub fn gate(end: &ReportedRun) -> Option<GateDecision> {
    if !end.is_gated {
        return None;
    }
    let (arm, comparison) = match (&end.compared, deciding_arm(end)) {
        (Some(compared), _) => (None, &compared.comparison),
        (None, arm) => arm.map(|one| (Some(one.arm.as_str()), &one.comparison))?,
    };
    let verdict = comparison.suite.map(|suite| suite.judged.verdict);
    let code = end.exit_code.unwrap_or_default();
    let mut decision = match arm {
        Some(arm) => {
            format!("gate: arm `{}`: {}", text::line(arm, NAME), phrase::verdict(comparison))
        }
        None => format!("gate: {}", phrase::verdict(comparison)),
    };
    let mut reason = format!("exit code {code}");
    match &comparison.suite {
        // Nothing is wrong with the verdict, so this is why the gate stays shut.
        Some(suite) if code == 3 && !suite.is_certain() => {
            decision += ", but trials that could not be measured may change that";
        }
        Some(_) if code != 0 && verdict.is_some_and(ComparisonVerdict::passes_gate) => {
            decision += ", but not everything could be measured";
        }
        Some(suite) => reason = format!("{}; {reason}", phrase::reason(comparison, suite)),
        None => {}
    }
    Some(GateDecision {
        outcome: match verdict {
            Some(ComparisonVerdict::Worse) if code == 1 => Outcome::Failed,
            _ if code == 0 => Outcome::Passed,
            _ => Outcome::Errored,
        },
        decision,
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn text(passes: [u32; 2], code: u8) -> (Outcome, String) {
        let end = ReportedRun {
            is_gated: true,
            exit_code: Some(code),
            compared: Some(testing::compared(20, passes[0], passes[1])),
            ..ReportedRun::default()
        };
        let gate = gate(&end).unwrap();
        (gate.outcome, gate.line())
    }

    #[test]
    fn the_gate_says_what_decided() {
        let (outcome, said) = text([5, 3], 1);
        assert_eq!(outcome, Outcome::Failed);
        assert_eq!(
            said,
            "gate: worse than the baseline; a drop this large happens by chance in fewer than 1 in \
             1,000 comparisons; exit code 1"
        );
        let (outcome, said) = text([5, 5], 0);
        assert_eq!(outcome, Outcome::Passed);
        assert_eq!(
            said,
            "gate: equivalent to the baseline; if there is a difference, it is smaller than 10 \
             points; exit code 0"
        );
        let (outcome, said) = text([3, 5], 3);
        assert_eq!(outcome, Outcome::Errored);
        assert_eq!(
            said,
            "gate: better than the baseline, but not everything could be measured; exit code 3"
        );
    }

    #[test]
    fn what_is_open_is_not_passed() {
        let mut end = ReportedRun {
            is_gated: true,
            exit_code: Some(3),
            compared: Some(testing::compared(2, 5, 5)),
            ..ReportedRun::default()
        };
        let found = gate(&end).unwrap();
        let said = found.line();
        assert_eq!(found.outcome, Outcome::Errored);
        assert!(said.starts_with("gate: inconclusive against the baseline; not enough"), "{said}");
        end.is_gated = false;
        assert_eq!(gate(&end), None);
    }
}
