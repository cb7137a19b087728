//! Which arms of two runs are compared (spec 20.11). A baseline arm shows what the other arms of its run
//! are worth, so it takes no part in comparisons with other runs, as it takes none in totals.

use std::collections::BTreeSet;

use super::case::ComparedCase;
use super::pairing::is_single;

/// The cases that are compared.
#[derive(Debug)]
pub(super) struct ComparedSides<'a> {
    pub base: Vec<&'a ComparedCase>,
    pub candidate: Vec<&'a ComparedCase>,
    /// Names, in the order in which they were found.
    pub left_out_arms: Vec<String>,
}

/// A suite, unless each side has one, and an arm of it.
type ArmKey<'a> = (Option<&'a str>, &'a str);

impl<'a> ComparedSides<'a> {
    /// Leaves out the candidate's baseline arm on both sides, and that of the base, which may be another
    /// one, unless the candidate compares it. If nothing were left of a side, every arm takes part.
    pub fn of(base: &'a [ComparedCase], candidate: &'a [ComparedCase]) -> Self {
        let all = |cases: &'a [ComparedCase]| -> Vec<&'a ComparedCase> { cases.iter().collect() };
        let (base, candidate) = (all(base), all(candidate));
        let whole = |base, candidate| Self { base, candidate, left_out_arms: Vec::new() };
        if !base.iter().chain(&candidate).any(|case| is_of_baseline_arm(case)) {
            return whole(base, candidate);
        }
        let names_suite = !is_single(&base, &candidate, |case| case.suite.as_str());
        let key = |case: &'a ComparedCase| -> Option<ArmKey<'a>> {
            let arm = case.arm.as_ref()?;
            Some((names_suite.then_some(case.suite.as_str()), arm.name.as_str()))
        };
        let keys = |cases: &[&'a ComparedCase]| -> BTreeSet<ArmKey<'a>> {
            cases.iter().filter_map(|case| key(case)).collect()
        };
        let split = candidate.iter().copied().partition(|case| is_of_baseline_arm(case));
        let (references, compared): (Vec<_>, Vec<_>) = split;
        let (of_references, of_compared) = (keys(&references), keys(&compared));
        let is_kept = |case: &&&'a ComparedCase| match key(case) {
            Some(arm) if of_compared.contains(&arm) => true,
            Some(arm) => !is_of_baseline_arm(case) && !of_references.contains(&arm),
            None => true,
        };
        let kept: Vec<&'a ComparedCase> = base.iter().filter(is_kept).copied().collect();
        if compared.is_empty() || (kept.is_empty() && !base.is_empty()) {
            return whole(base, candidate);
        }
        let left = base.iter().filter(|case| !is_kept(case)).chain(&references);
        let mut left_out_arms: Vec<String> = Vec::new();
        for arm in left.filter_map(|case| case.arm.as_ref()) {
            if !left_out_arms.contains(&arm.name) {
                left_out_arms.push(arm.name.clone());
            }
        }
        Self { base: kept, candidate: compared, left_out_arms }
    }
}

fn is_of_baseline_arm(case: &ComparedCase) -> bool {
    case.arm.as_ref().is_some_and(|arm| arm.is_baseline)
}

/// Keeps the cases of these arms and those without an arm. Whatever they were in their run, they take part.
pub fn take_arms(cases: &mut Vec<ComparedCase>, names: &[String]) {
    cases.retain(|case| case.arm.as_ref().is_none_or(|arm| names.contains(&arm.name)));
    for arm in cases.iter_mut().filter_map(|case| case.arm.as_mut()) {
        arm.is_baseline = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::CaseArm;
    use super::super::case::testing::trials;
    use super::super::{CompareOptions, Comparison, compare};
    use super::*;

    /// One passing test in each of these arms; the first one is the baseline arm if there are several.
    fn run(arms: &[&str]) -> Vec<ComparedCase> {
        let of = |(at, arm): (usize, &&str)| {
            let mut cases = trials("a", 2, 2);
            for case in &mut cases {
                case.target = format!("t/{arm}");
                let is_baseline = at == 0 && arms.len() > 1;
                case.arm = Some(CaseArm { name: (*arm).to_owned(), is_baseline });
            }
            cases
        };
        arms.iter().enumerate().flat_map(of).collect()
    }

    fn found(base: &[ComparedCase], candidate: &[ComparedCase]) -> Comparison {
        compare(base, candidate, &CompareOptions::default())
    }

    fn compared(base: &[ComparedCase], candidate: &[ComparedCase]) -> (Vec<String>, Vec<String>) {
        let found = found(base, candidate);
        let side =
            |test: &super::super::TestChange| format!("{} {}", test.target, test.change.word());
        (found.tests.iter().map(side).collect(), found.left_out_arms)
    }

    #[test]
    fn a_baseline_arm_takes_no_part() {
        let both = run(&["without", "with"]);
        let wanted = (vec!["t/with unchanged".to_owned()], vec!["without".to_owned()]);
        assert_eq!(compared(&both, &both), wanted);
        assert_eq!(compared(&both, &run(&["with"])), wanted);
        assert_eq!(compared(&run(&["with"]), &both), wanted);
        // A suite that had no arms yet, or has none any more.
        assert_eq!(compared(&trials("a", 2, 2), &both), wanted);
        assert_eq!(compared(&both, &trials("a", 2, 2)).1, ["without"]);
    }

    #[test]
    fn an_arm_that_the_candidate_compares_is_compared_whatever_it_was_before() {
        let (both, alone) = (run(&["without", "with"]), run(&["without"]));
        let (tests, left_out) = compared(&both, &alone);
        assert_eq!(tests, ["t/without unchanged", "t/with removed"]);
        assert!(left_out.is_empty());
        let (tests, left_out) = compared(&run(&["with", "without"]), &both);
        assert_eq!(
            (tests, left_out),
            (vec!["t/with unchanged".to_owned()], vec!["without".to_owned()])
        );
    }

    #[test]
    fn other_arms_are_compared_each() {
        let three = run(&["without", "with", "more"]);
        let (tests, left_out) = compared(&three, &three);
        assert_eq!(tests, ["t/with unchanged", "t/more unchanged"]);
        assert_eq!(left_out, ["without"]);
        let suite = found(&three, &three).suite.unwrap();
        assert_eq!((suite.tests, suite.pairs), (1, 2));
    }

    #[test]
    fn where_nothing_would_be_left_every_arm_takes_part() {
        let (both, alone) = (run(&["without", "with"]), run(&["without"]));
        let (tests, left_out) = compared(&alone, &both);
        assert_eq!(tests, ["t/without unchanged", "t/with added"]);
        assert!(left_out.is_empty());
    }

    #[test]
    fn named_arms_take_part() {
        let mut both = run(&["without", "with"]);
        take_arms(&mut both, &["without".to_owned()]);
        assert_eq!(compared(&both, &both), (vec!["t/without unchanged".to_owned()], Vec::new()));
        let mut plain = trials("a", 2, 2);
        take_arms(&mut plain, &["with".to_owned()]);
        assert_eq!(plain.len(), 2);
    }
}
