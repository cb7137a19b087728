//! Pairs the cases of two runs by test, target and trial. If each run has one target, or one suite,
//! its name is ignored, so that two models can be compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::case::ComparedCase;
use super::change::Side;
use crate::model::Outcome;
use crate::stats::{Measure, Pair, mean};

/// The cases of one test against one target in both runs, each in the order of trials.
#[derive(Debug)]
pub(crate) struct Match<'a> {
    pub suite: &'a str,
    pub test: &'a str,
    pub target: &'a str,
    pub base: Vec<&'a ComparedCase>,
    pub candidate: Vec<&'a ComparedCase>,
}

impl Match<'_> {
    /// `None` unless both sides were measured, and scored where scores are compared.
    pub fn pair(&self, measure: Measure) -> Option<Pair> {
        let pair =
            Pair { base: values(&self.base, measure), candidate: values(&self.candidate, measure) };
        (!pair.base.is_empty() && !pair.candidate.is_empty()).then_some(pair)
    }
}

fn values(cases: &[&ComparedCase], measure: Measure) -> Vec<f64> {
    let measured = cases.iter().filter(|case| case.is_measured());
    measured
        .filter_map(|case| match measure {
            Measure::Rate => Some(f64::from(u8::from(case.outcome == Outcome::Passed))),
            Measure::Score => case.score,
        })
        .collect()
}

impl Side {
    pub fn of(cases: &[&ComparedCase]) -> Self {
        let measured = values(cases, Measure::Rate);
        let scores = values(cases, Measure::Score);
        let errors = cases.iter().filter(|case| case.outcome == Outcome::Errored);
        Self {
            trials: measured.len() as u64,
            passes: measured.iter().filter(|value| **value == 1.0).count() as u64,
            score: (!scores.is_empty()).then(|| mean(&scores)),
            errors: errors.count() as u64,
        }
    }
}

type Key<'a> = (Option<&'a str>, &'a str, Option<&'a str>);
/// By trial.
type Trials<'a> = BTreeMap<u32, &'a ComparedCase>;

/// In the order of the candidate; tests that are only in the base come last.
pub fn pair<'a>(base: &'a [ComparedCase], candidate: &'a [ComparedCase]) -> Vec<Match<'a>> {
    let names_suite = !is_single(base, candidate, |case| case.suite.as_str());
    let names_target = !is_single(base, candidate, |case| case.target.as_str());
    let key = |case: &'a ComparedCase| -> Key<'a> {
        (
            names_suite.then_some(case.suite.as_str()),
            case.test.as_str(),
            names_target.then_some(case.target.as_str()),
        )
    };
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut found: Vec<(Trials, Trials)> = Vec::new();
    let sides = candidate.iter().map(|case| (case, true));
    for (case, is_candidate) in sides.chain(base.iter().map(|case| (case, false))) {
        let at = *places.entry(key(case)).or_insert_with(|| {
            found.push((BTreeMap::new(), BTreeMap::new()));
            found.len() - 1
        });
        let side = if is_candidate { &mut found[at].1 } else { &mut found[at].0 };
        side.insert(case.trial, case);
    }
    found.into_iter().filter_map(matched).collect()
}

fn matched<'a>((base, candidate): (Trials<'a>, Trials<'a>)) -> Option<Match<'a>> {
    let first = candidate.values().chain(base.values()).next()?;
    Some(Match {
        suite: &first.suite,
        test: &first.test,
        target: &first.target,
        base: base.into_values().collect(),
        candidate: candidate.into_values().collect(),
    })
}

/// Whether neither side has two different names.
fn is_single<'a>(
    base: &'a [ComparedCase],
    candidate: &'a [ComparedCase],
    name: impl Fn(&'a ComparedCase) -> &'a str,
) -> bool {
    let is_one =
        |side: &'a [ComparedCase]| side.iter().map(&name).collect::<BTreeSet<_>>().len() <= 1;
    is_one(base) && is_one(candidate)
}

/// What one more trial of every test costs, in both runs together. `None` if any cost is unknown.
pub(crate) fn cost_per_round(matches: &[&Match]) -> Option<f64> {
    let mut total = 0.0;
    for side in matches.iter().flat_map(|found| [&found.base, &found.candidate]) {
        let measured: Vec<&&ComparedCase> = side.iter().filter(|case| case.is_measured()).collect();
        let costs: Option<Vec<f64>> = measured.iter().map(|case| case.cost).collect();
        let costs = costs?;
        if !costs.is_empty() {
            total += mean(&costs);
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::{case, trials};
    use super::*;

    #[test]
    fn one_target_on_each_side_is_the_same_whatever_its_name() {
        let base = trials("a", 2, 2);
        let mut candidate = trials("a", 2, 1);
        for case in &mut candidate {
            case.target = "other".to_owned();
        }
        assert_eq!(pair(&base, &candidate).len(), 1);
        let mut more = case("a", 1, Outcome::Passed);
        more.target = "third".to_owned();
        candidate.push(more);
        assert_eq!(pair(&base, &candidate).len(), 3);
    }

    #[test]
    fn the_order_is_that_of_the_candidate() {
        let base = [trials("gone", 1, 1), trials("a", 1, 1)].concat();
        let candidate = [trials("new", 1, 1), trials("a", 1, 1)].concat();
        let found = pair(&base, &candidate);
        let ids: Vec<&str> = found.iter().map(|found| found.test).collect();
        assert_eq!(ids, ["new", "a", "gone"]);
    }

    #[test]
    fn the_last_row_of_a_case_counts() {
        let twice = [trials("a", 1, 0), trials("a", 1, 1)].concat();
        let found = pair(&twice, &twice);
        assert_eq!(Side::of(&found[0].base).passes, 1);
        assert_eq!(Side::of(&found[0].base).trials, 1);
    }

    #[test]
    fn a_round_costs_the_mean_of_both_sides() {
        let (a, b) = (trials("a", 4, 4), trials("a", 2, 1));
        let found = pair(&a, &b);
        let cost = cost_per_round(&found.iter().collect::<Vec<_>>()).unwrap();
        assert!((cost - 0.02).abs() < 1e-12);
        let mut unknown = b.clone();
        unknown[0].cost = None;
        let found = pair(&a, &unknown);
        assert_eq!(cost_per_round(&found.iter().collect::<Vec<_>>()), None);
    }
}
