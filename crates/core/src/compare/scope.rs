//! The tests and targets that a run was asked for, so that what it left out on purpose does not
//! count as removed.

use std::collections::{BTreeMap, BTreeSet};

use super::case::ComparedCase;

#[derive(Debug, Clone, Default)]
pub struct Scope {
    suites: BTreeMap<String, SuiteScope>,
    targets: BTreeSet<String>,
}

/// The requested tests of one suite.
#[derive(Debug, Clone, Default)]
struct SuiteScope {
    tests: BTreeSet<String>,
    /// Whether tests of the suite were left out.
    is_part: bool,
}

impl Scope {
    /// Adds a planned case.
    pub fn add(&mut self, suite: &str, test: &str, target: &str) {
        let asked = self.suites.entry(suite.to_owned()).or_default();
        asked.tests.insert(test.to_owned());
        self.targets.insert(target.to_owned());
    }

    /// Sets the size of a suite; tests without an added case were left out.
    pub fn add_size(&mut self, suite: &str, tests: usize) {
        let asked = self.suites.entry(suite.to_owned()).or_default();
        asked.is_part = asked.tests.len() < tests;
    }

    /// The cases of an earlier run that this one could have: of its suites, of the tests that were
    /// asked for and of its targets. A test that is gone from a suite which was run as a whole
    /// stays, and so do targets when none of them is run any more: then two models are compared.
    pub fn keep(&self, base: &[ComparedCase]) -> Vec<ComparedCase> {
        let names =
            |of: fn(&ComparedCase) -> &str| -> BTreeSet<&str> { base.iter().map(of).collect() };
        let suites = names(|case| &case.suite);
        // As in a comparison, a suite that is alone on both sides may have been renamed.
        let renamed = match (suites.len(), self.suites.first_key_value()) {
            (1, Some((name, asked))) if self.suites.len() == 1 && !suites.contains(&**name) => {
                Some(asked)
            }
            _ => None,
        };
        let has_target = |target: &str| self.targets.contains(target);
        let has_any = names(|case| &case.target).into_iter().any(has_target);
        let is_kept = |case: &&ComparedCase| {
            let asked = renamed.or_else(|| self.suites.get(&case.suite));
            asked.is_some_and(|asked| !asked.is_part || asked.tests.contains(&case.test))
                && (!has_any || has_target(&case.target))
        };
        base.iter().filter(is_kept).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::trials;
    use super::*;

    fn ids(cases: &[ComparedCase]) -> Vec<&str> {
        cases.iter().map(|case| case.test.as_str()).collect()
    }

    fn scope(tests: &[&str], size: usize) -> Scope {
        let mut scope = Scope::default();
        tests.iter().for_each(|test| scope.add("s", test, "t"));
        scope.add_size("s", size);
        scope
    }

    #[test]
    fn tests_that_were_left_out_are_not_missed() {
        let base = [trials("a", 1, 1), trials("b", 1, 1), trials("gone", 1, 1)].concat();
        assert_eq!(ids(&scope(&["a"], 2).keep(&base)), ["a"]);
        assert_eq!(ids(&scope(&["a", "b"], 2).keep(&base)), ["a", "b", "gone"]);
    }

    #[test]
    fn other_suites_are_not_missed_and_a_new_name_is_no_other_suite() {
        let mut base = trials("a", 1, 1);
        base[0].suite = "old".to_owned();
        assert_eq!(ids(&scope(&["a"], 1).keep(&base)), ["a"]);
        base.extend(trials("b", 1, 1));
        assert_eq!(ids(&scope(&["b"], 1).keep(&base)), ["b"]);
    }

    #[test]
    fn targets_that_were_left_out_are_not_missed() {
        let mut other = trials("a", 1, 1);
        other[0].target = "u".to_owned();
        let base = [trials("a", 1, 1), other.clone()].concat();
        let kept = scope(&["a"], 1).keep(&base);
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].target, "t");
        assert_eq!(scope(&["a"], 1).keep(&other), other);
    }
}
