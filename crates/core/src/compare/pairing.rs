//! Pairs the cases of the base and of the candidate by test and target. If each run has one target, or one suite,
//! its name is ignored, so that two models can be compared.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::arm_choice::ComparedSides;
use super::case::ComparedCase;
use super::change::Side;
use crate::model::Outcome;
use crate::stats::{Measure, Pair, mean};

/// The cases of one test against one target: of the base runs whose test means the same, and of the
/// candidate, each in the order of runs and trials.
#[derive(Debug)]
pub(crate) struct Match<'a> {
    pub suite: &'a str,
    pub test: &'a str,
    pub target: &'a str,
    pub group: Option<&'a str>,
    pub base: Vec<&'a ComparedCase>,
    pub candidate: Vec<&'a ComparedCase>,
}

/// What trials that could not be measured count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorCount {
    /// They are left out.
    Ignored,
    /// Those of the base as passes, those of the candidate as failures.
    AgainstCandidate,
    /// The reverse.
    ForCandidate,
}

impl ErrorCount {
    fn value(self, is_base: bool) -> Option<f64> {
        match self {
            Self::Ignored => None,
            Self::AgainstCandidate => Some(f64::from(u8::from(is_base))),
            Self::ForCandidate => Some(f64::from(u8::from(!is_base))),
        }
    }
}

impl Match<'_> {
    /// `None` unless both sides were measured, and scored where scores are compared.
    pub fn pair(&self, measure: Measure, errors: ErrorCount) -> Option<Pair> {
        let candidate = values(&self.candidate, measure, errors.value(false));
        let runs = self.base.last().map_or(0, |case| case.run as usize + 1);
        let mut base = vec![Vec::new(); runs];
        let mut rest = &self.base[..];
        while let Some(first) = rest.first() {
            let length = rest.iter().take_while(|case| case.run == first.run).count();
            let (run, later) = rest.split_at(length);
            base[first.run as usize] = values(run, measure, errors.value(true));
            rest = later;
        }
        let is_measured = !candidate.is_empty() && base.iter().any(|run| !run.is_empty());
        is_measured.then(|| Pair::pooled(base, candidate))
    }

    /// Scores of each base run.
    pub fn base_scores(&self) -> Vec<Vec<f64>> {
        let runs = self.base.last().map_or(0, |case| case.run as usize + 1);
        let mut found = vec![Vec::new(); runs];
        for case in &self.base {
            found[case.run as usize].extend(values(&[case], Measure::Score, None));
        }
        found
    }

    /// How many of the values of [`Match::pair`] there were after a round: of the base and of the
    /// candidate. `base_grows` says whether the base has rounds too.
    pub fn seen_after(
        &self,
        round: u32,
        base_grows: bool,
        measure: Measure,
        errors: ErrorCount,
    ) -> [usize; 2] {
        let of_round = |case: &&&ComparedCase| case.trial <= round;
        let base: Vec<&ComparedCase> =
            self.base.iter().filter(|case| !base_grows || of_round(case)).copied().collect();
        let now: Vec<&ComparedCase> = self.candidate.iter().filter(of_round).copied().collect();
        [
            values(&base, measure, errors.value(true)).len(),
            values(&now, measure, errors.value(false)).len(),
        ]
    }

    /// Trials that could not be measured, in the base and in the candidate.
    pub fn errors(&self) -> [u64; 2] {
        [&self.base, &self.candidate].map(|cases| {
            cases.iter().filter(|case| case.outcome == Outcome::Errored).count() as u64
        })
    }
}

/// `errored` is the value of a trial that could not be measured.
fn values(cases: &[&ComparedCase], measure: Measure, errored: Option<f64>) -> Vec<f64> {
    let value = |case: &&ComparedCase| match (case.outcome, measure) {
        (Outcome::Errored, _) => errored,
        _ if !case.is_measured() => None,
        (outcome, Measure::Rate) => Some(f64::from(u8::from(outcome == Outcome::Passed))),
        (_, Measure::Score) => case.score,
    };
    cases.iter().filter_map(value).collect()
}

impl Side {
    pub fn of(cases: &[&ComparedCase]) -> Self {
        let measured = values(cases, Measure::Rate, None);
        let scores = values(cases, Measure::Score, None);
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
/// The cases of one side.
type Trials<'a> = Vec<&'a ComparedCase>;

/// The cases of the base that the candidate's tests are compared with, in their order.
pub fn matched_base(base: &[ComparedCase], candidate: &[ComparedCase]) -> Vec<ComparedCase> {
    let found = pair(base, candidate).matches;
    let both = found.iter().filter(|found| !found.candidate.is_empty());
    let kept: HashSet<*const ComparedCase> =
        both.flat_map(|found| found.base.iter().map(|case| std::ptr::from_ref(*case))).collect();
    base.iter().filter(|case| kept.contains(&std::ptr::from_ref(*case))).cloned().collect()
}

/// The tests of both sides, and what takes no part.
#[derive(Debug)]
pub(crate) struct Pairing<'a> {
    /// In the order of the candidate; tests that are only in the base come last.
    pub matches: Vec<Match<'a>>,
    pub left_out_arms: Vec<String>,
}

pub(crate) fn pair<'a>(base: &'a [ComparedCase], candidate: &'a [ComparedCase]) -> Pairing<'a> {
    let sides = ComparedSides::of(base, candidate);
    let matches = pair_sides(&sides.base, &sides.candidate);
    Pairing { matches, left_out_arms: sides.left_out_arms }
}

fn pair_sides<'a>(base: &[&'a ComparedCase], candidate: &[&'a ComparedCase]) -> Vec<Match<'a>> {
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
    let sides = candidate.iter().map(|case| (*case, true));
    let mut last: Option<(Key, usize)> = None;
    for (case, is_candidate) in sides.chain(base.iter().map(|case| (*case, false))) {
        let key = key(case);
        // Trials of one test usually follow each other.
        let at = match last {
            Some((before, at)) if before == key => at,
            _ => *places.entry(key).or_insert_with(|| {
                found.push((Vec::new(), Vec::new()));
                found.len() - 1
            }),
        };
        last = Some((key, at));
        if is_candidate {
            found[at].1.push(case);
        } else {
            found[at].0.push(case);
        }
    }
    found.into_iter().filter_map(matched).collect()
}

fn matched<'a>((base, candidate): (Trials<'a>, Trials<'a>)) -> Option<Match<'a>> {
    let candidate = in_order(candidate, |case| (0, case.trial));
    let mut base = in_order(base, |case| (case.run, case.trial));
    let first = *candidate.first().or(base.first())?;
    // The runs in which the test means what it means now; if there are none, it has changed.
    let means_the_same = |case: &&ComparedCase| candidate.iter().all(|now| now.hash == case.hash);
    if base.iter().any(means_the_same) {
        base.retain(means_the_same);
    }
    Some(Match {
        suite: &first.suite,
        test: &first.test,
        target: &first.target,
        group: first.group.as_deref(),
        base,
        candidate,
    })
}

/// If a case occurs twice, the last one counts.
fn in_order<'a>(mut cases: Trials<'a>, key: fn(&ComparedCase) -> (u32, u32)) -> Trials<'a> {
    cases.sort_by_key(|case| key(case));
    // `dedup` keeps the first of equal ones.
    cases.reverse();
    cases.dedup_by_key(|case| key(case));
    cases.reverse();
    cases
}

/// Whether neither side has two different names.
pub(super) fn is_single<'a>(
    base: &[&'a ComparedCase],
    candidate: &[&'a ComparedCase],
    name: impl Fn(&'a ComparedCase) -> &'a str,
) -> bool {
    let is_one = |side: &[&'a ComparedCase]| {
        side.iter().map(|case| name(case)).collect::<BTreeSet<_>>().len() <= 1
    };
    is_one(base) && is_one(candidate)
}

/// What one more trial of every test costs, in the base and in the candidate. `None` if any cost is
/// unknown.
pub(crate) fn cost_per_round(matches: &[&Match]) -> Option<[f64; 2]> {
    let mut totals = [0.0, 0.0];
    for found in matches {
        for (side, total) in [&found.base, &found.candidate].into_iter().zip(&mut totals) {
            let measured = side.iter().filter(|case| case.is_measured());
            let costs: Vec<f64> = measured.map(|case| case.cost).collect::<Option<_>>()?;
            if !costs.is_empty() {
                *total += mean(&costs);
            }
        }
    }
    Some(totals)
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::{case, of_run, trials};
    use super::*;

    #[test]
    fn one_target_on_each_side_is_the_same_whatever_its_name() {
        let base = trials("a", 2, 2);
        let mut candidate = trials("a", 2, 1);
        for case in &mut candidate {
            case.target = "other".to_owned();
        }
        assert_eq!(pair(&base, &candidate).matches.len(), 1);
        let mut more = case("a", 1, Outcome::Passed);
        more.target = "third".to_owned();
        candidate.push(more);
        assert_eq!(pair(&base, &candidate).matches.len(), 3);
    }

    #[test]
    fn the_order_is_that_of_the_candidate() {
        let base = [trials("gone", 1, 1), trials("a", 1, 1)].concat();
        let candidate = [trials("new", 1, 1), trials("a", 1, 1)].concat();
        let found = pair(&base, &candidate).matches;
        let ids: Vec<&str> = found.iter().map(|found| found.test).collect();
        assert_eq!(ids, ["new", "a", "gone"]);
    }

    #[test]
    fn the_last_row_of_a_case_counts() {
        let twice = [trials("a", 1, 0), trials("a", 1, 1)].concat();
        let found = pair(&twice, &twice).matches;
        assert_eq!(Side::of(&found[0].base).passes, 1);
        assert_eq!(Side::of(&found[0].base).trials, 1);
    }

    #[test]
    fn a_round_costs_the_mean_of_a_trial() {
        let (a, b) = (trials("a", 4, 4), trials("a", 2, 1));
        let found = pair(&a, &b).matches;
        let cost = cost_per_round(&found.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(cost, [0.01, 0.01]);
        let mut unknown = b.clone();
        unknown[0].cost = None;
        let found = pair(&a, &unknown).matches;
        assert_eq!(cost_per_round(&found.iter().collect::<Vec<_>>()), None);
    }

    #[test]
    fn a_trial_is_one_of_its_run() {
        let base = [trials("a", 2, 2), of_run(2, trials("a", 3, 1))].concat();
        let candidate = trials("a", 1, 1);
        let found = pair(&base, &candidate).matches;
        let pair = found[0].pair(Measure::Rate, ErrorCount::Ignored).unwrap();
        assert_eq!(pair.base, [vec![1.0, 1.0], Vec::new(), vec![1.0, 0.0, 0.0]]);
    }

    #[test]
    fn runs_with_another_meaning_of_the_test_are_left_out() {
        let mut old = trials("a", 2, 0);
        old.iter_mut().for_each(|case| case.hash = "old".to_owned());
        let base = [old.clone(), of_run(1, trials("a", 2, 2))].concat();
        assert_eq!(Side::of(&pair(&base, &trials("a", 1, 1)).matches[0].base).passes, 2);
        assert_eq!(pair(&old, &trials("a", 1, 1)).matches[0].base.len(), 2);
    }

    #[test]
    fn errors_count_as_the_question_asks() {
        let with_error = [trials("a", 1, 1), vec![case("a", 2, Outcome::Errored)]].concat();
        let found = pair(&with_error, &with_error).matches;
        let values = |errors| {
            let pair = found[0].pair(Measure::Rate, errors).unwrap();
            (pair.base.concat(), pair.candidate)
        };
        assert_eq!(values(ErrorCount::Ignored), (vec![1.0], vec![1.0]));
        assert_eq!(values(ErrorCount::AgainstCandidate), (vec![1.0, 1.0], vec![1.0, 0.0]));
        assert_eq!(values(ErrorCount::ForCandidate), (vec![1.0, 0.0], vec![1.0, 1.0]));
        assert_eq!(found[0].errors(), [1, 1]);
    }
}
