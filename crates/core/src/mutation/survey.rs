//! What checks did with mutants: kill scores, and the checks that let damage through.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Assertion, Test, Transcript};
use crate::source::Span;

use super::case_trial::{CaseTrial, CheckBaseline, GradedMutant, MutantGrade};
use super::mutant::Damage;
use super::survivor::Survivor;

/// An assertion as it is written; tests that share it count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckId {
    /// Number of the suite.
    pub suite: usize,
    pub span: Span,
}

/// Why a check was not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Untried {
    /// A script, a command or a judge answers it.
    Asks,
    /// It measures numbers only, or forbids something that no mutant has.
    NothingToDamage,
    /// It does not pass on an answer whose test passed.
    NotPassed,
    /// It cannot be graded from what is stored; the text says why.
    NotMeasured(String),
}

/// What is wrong with a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// It accepted every mutant.
    NeverFailed,
    /// It failed only answers of which something is missing, and accepted a wrong one that no other
    /// check of the test failed.
    FormOnly,
}

/// What one check did with the mutants that damage what it looks at.
#[derive(Debug, Clone)]
pub struct CheckTally {
    pub id: CheckId,
    pub name: String,
    pub type_name: String,
    pub sentence: String,
    pub is_negated: bool,
    pub applicable: u64,
    pub failed: u64,
    /// Mutants of [`Damage::Wrong`] among the failed ones.
    pub wrong_failed: u64,
    /// Mutants of [`Damage::Wrong`] that it accepted, as did every other check of the test.
    pub let_through: u64,
    /// Mutants that it failed, and with which the whole test still passes.
    pub outvoted: u64,
    /// Mutants that could not be graded; not part of `applicable`.
    pub unknown: u64,
    /// Ids of the tests, at most a few.
    pub tests: BTreeSet<String>,
    /// The kinds that it accepted, by name.
    pub accepted: BTreeSet<&'static str>,
    pub untried: Option<Untried>,
    shortest: Option<Survivor>,
    shortest_wrong: Option<Survivor>,
}

const TESTS_NAMED: usize = 3;

impl CheckTally {
    fn new(id: CheckId, assertion: &Assertion, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            type_name: assertion.type_name.to_string(),
            sentence: assertion.sentences().join("; "),
            is_negated: assertion.common.negate,
            applicable: 0,
            failed: 0,
            wrong_failed: 0,
            let_through: 0,
            outvoted: 0,
            unknown: 0,
            tests: BTreeSet::new(),
            accepted: BTreeSet::new(),
            untried: None,
            shortest: None,
            shortest_wrong: None,
        }
    }

    /// Failed mutants by applicable ones. `None` if nothing was tried.
    pub fn kill_score(&self) -> Option<f64> {
        (self.applicable > 0).then(|| self.failed as f64 / self.applicable as f64)
    }

    pub fn weakness(&self) -> Option<Weakness> {
        if self.applicable == 0 {
            None
        } else if self.failed == 0 {
            // What it forbids is in no mutant.
            (!self.is_negated).then_some(Weakness::NeverFailed)
        } else {
            (self.wrong_failed == 0 && self.let_through > 0).then_some(Weakness::FormOnly)
        }
    }

    /// The shortest damaged answer that it accepted, and that shows its weakness.
    pub fn survivor(&self) -> Option<&Survivor> {
        match self.weakness()? {
            Weakness::NeverFailed => self.shortest.as_ref(),
            Weakness::FormOnly => self.shortest_wrong.as_ref(),
        }
    }

    /// Why it was not tried, if no mutant says anything about it.
    pub fn untried(&self) -> Option<&Untried> {
        if self.applicable > 0 && !(self.is_negated && self.failed == 0) {
            return None;
        }
        Some(self.untried.as_ref().unwrap_or(&Untried::NothingToDamage))
    }

    fn add(&mut self, test: &Test, original: &Transcript, one: &GradedMutant, grade: MutantGrade) {
        let is_wrong = one.mutant.damage == Damage::Wrong;
        match grade {
            MutantGrade::NotTried => {}
            MutantGrade::Unknown => self.unknown += 1,
            MutantGrade::Failed => {
                self.applicable += 1;
                self.failed += 1;
                self.wrong_failed += u64::from(is_wrong);
                self.outvoted += u64::from(one.survives == Some(true));
            }
            MutantGrade::Passed => {
                self.applicable += 1;
                self.accepted.insert(one.mutant.kind.name);
                let survivor = || Survivor::of(test.id.as_str(), original, &one.mutant);
                keep_shorter(&mut self.shortest, survivor);
                if is_wrong && one.unnoticed == Some(true) {
                    self.let_through += 1;
                    keep_shorter(&mut self.shortest_wrong, survivor);
                }
            }
        }
    }
}

fn keep_shorter(kept: &mut Option<Survivor>, survivor: impl Fn() -> Survivor) {
    if kept.as_ref().is_some_and(|kept| kept.length == 0) {
        return;
    }
    let found = survivor();
    if kept.as_ref().is_none_or(|kept| found.length < kept.length) {
        *kept = Some(found);
    }
}

/// A test that passed with every mutant, because none of its checks looks at what was damaged.
#[derive(Debug, Clone)]
pub struct UncheckedTest {
    pub suite: usize,
    pub id: String,
    pub span: Span,
    pub mutants: u64,
    pub checks: Vec<Span>,
}

/// A weak check.
#[derive(Debug, Clone, Copy)]
pub struct CheckFinding<'a> {
    pub check: &'a CheckTally,
    pub weakness: Weakness,
}

#[derive(Debug, Clone)]
struct TestTally {
    mutants: u64,
    /// All of them, and nothing in the test was left untried.
    survived: u64,
    checks: Vec<Span>,
    id: String,
    /// It only forbids skills, which no mutant uses.
    is_contract: bool,
}

/// The mutants of many answers.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    checks: BTreeMap<CheckId, CheckTally>,
    tests: BTreeMap<(usize, Span), TestTally>,
    /// Stored answers that were damaged.
    pub answers: u64,
    pub mutants: u64,
    /// Mutants with which a whole test still passed.
    pub survived: u64,
}

impl Survey {
    pub fn add(&mut self, suite: usize, test: &Test, original: &Transcript, trial: &CaseTrial) {
        self.answers += 1;
        self.mutants += trial.mutants.len() as u64;
        for (at, named) in test.assertions.iter().enumerate() {
            let tally = self.check(suite, test, at);
            let untried = match &trial.baselines[at] {
                CheckBaseline::Graded { passes: true, .. } => None,
                CheckBaseline::Graded { .. } => Some(Untried::NotPassed),
                CheckBaseline::Asks => Some(Untried::Asks),
                CheckBaseline::NotMeasured(why) => Some(Untried::NotMeasured(why.clone())),
            };
            tally.untried = untried.or(tally.untried.take());
            debug_assert_eq!(tally.id.span, named.assertion.common.span.at_start());
            for one in &trial.mutants {
                tally.add(test, original, one, one.grades[at]);
            }
        }
        let tally = self.tests.entry((suite, test.span)).or_insert_with(|| TestTally {
            mutants: 0,
            survived: 0,
            checks: test
                .assertions
                .iter()
                .map(|one| one.assertion.common.span.at_start())
                .collect(),
            id: test.id.to_string(),
            is_contract: test.skill_wishes().is_contract,
        });
        let survived = trial.mutants.iter().filter(|one| one.survives == Some(true)).count() as u64;
        tally.mutants += trial.mutants.len() as u64;
        tally.survived += survived;
        self.survived += survived;
    }

    /// Adds what was asked about a mutant that [`Self::add`] has counted: grades of checks that it could
    /// not try.
    pub fn add_asked(
        &mut self,
        suite: usize,
        test: &Test,
        original: &Transcript,
        one: &GradedMutant,
    ) {
        for at in 0..test.assertions.len() {
            self.check(suite, test, at).add(test, original, one, one.grades[at]);
        }
        if one.survives == Some(true) {
            self.survived += 1;
            if let Some(tally) = self.tests.get_mut(&(suite, test.span)) {
                tally.survived += 1;
            }
        }
    }

    fn check(&mut self, suite: usize, test: &Test, at: usize) -> &mut CheckTally {
        let named = &test.assertions[at];
        let id = CheckId { suite, span: named.assertion.common.span.at_start() };
        let made = || CheckTally::new(id, &named.assertion, &named.name);
        let tally = self.checks.entry(id).or_insert_with(made);
        if tally.tests.len() < TESTS_NAMED {
            tally.tests.insert(test.id.to_string());
        }
        tally
    }

    /// Rewrites every text that comes from a suite or an answer.
    pub fn rewrite_texts(&mut self, rewrite: &dyn Fn(&str) -> String) {
        for check in self.checks.values_mut() {
            let texts = [&mut check.name, &mut check.type_name, &mut check.sentence];
            texts.into_iter().for_each(|text| *text = rewrite(text));
            check.tests = check.tests.iter().map(|test| rewrite(test)).collect();
            if let Some(Untried::NotMeasured(why)) = &mut check.untried {
                *why = rewrite(why);
            }
            for survivor in [&mut check.shortest, &mut check.shortest_wrong].into_iter().flatten() {
                survivor.rewrite_texts(rewrite);
            }
        }
        self.tests.values_mut().for_each(|test| test.id = rewrite(&test.id));
    }

    /// In the order of the files.
    pub fn checks(&self) -> impl Iterator<Item = &CheckTally> {
        self.checks.values()
    }

    pub fn weak_checks(&self) -> impl Iterator<Item = CheckFinding<'_>> {
        self.checks().filter_map(|check| Some(CheckFinding { check, weakness: check.weakness()? }))
    }

    /// Without those of which a check is listed as weak.
    pub fn unchecked_tests(&self) -> Vec<UncheckedTest> {
        let is_listed = |suite, span: &Span| {
            let check = self.checks.get(&CheckId { suite, span: *span });
            check.is_some_and(|check| check.weakness().is_some())
        };
        let unchecked = self.tests.iter().filter(|((suite, _), tally)| {
            tally.mutants > 0
                && !tally.is_contract
                && tally.survived == tally.mutants
                && !tally.checks.iter().any(|span| is_listed(*suite, span))
        });
        let found = unchecked.map(|((suite, span), tally)| UncheckedTest {
            suite: *suite,
            id: tally.id.clone(),
            span: *span,
            mutants: tally.mutants,
            checks: tally.checks.clone(),
        });
        found.collect()
    }
}
