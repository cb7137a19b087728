//! What is found about each judge.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::{Interval, Passes, clustered_rate};

use super::answer::{Clusters, JudgeName, JudgedAnswer, LabelScope};
use super::length::LengthEffect;
use super::repeat::RepeatFinding;

/// With fewer labelled answers, nothing is said about agreement.
pub const FEWEST_LABELS: usize = 20;

/// A share of the labelled cases, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelShare {
    pub hits: u64,
    pub of: u64,
    /// `None` without cases.
    pub interval: Option<Interval>,
}

/// What is known about a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeFinding {
    pub judge: JudgeName,
    /// Cases with a verdict, and those without.
    pub judged: u64,
    pub unmeasured: u64,
    /// Labelled answers with a verdict, each once.
    pub labels: usize,
    /// Whether some labels are about the whole answer, although the judge decides a part of it.
    pub has_whole_labels: bool,
    pub agreement: LabelShare,
    /// How often the judge passes answers labelled right.
    pub sensitivity: LabelShare,
    /// How often it fails answers labelled wrong.
    pub specificity: LabelShare,
    pub repeats: RepeatFinding,
    pub length: Option<LengthEffect>,
}

impl JudgeFinding {
    /// Whether there are enough labels to say something about agreement.
    pub fn has_enough_labels(&self) -> bool {
        self.labels >= FEWEST_LABELS
    }
}

/// One reading set with its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) answer: &'a JudgedAnswer,
    pub(super) cluster: usize,
    pub(super) passes: Option<bool>,
    pub(super) readings: &'a [bool],
    pub(super) label: Option<(bool, LabelScope)>,
}

/// Every judge, in the order of its name. The seed is that of the permutations.
pub fn check_judges(answers: &[JudgedAnswer], seed: u64) -> Vec<JudgeFinding> {
    let clusters = Clusters::of(answers);
    let mut by_judge: BTreeMap<&JudgeName, Vec<Judged<'_>>> = BTreeMap::new();
    for (answer, cluster) in answers.iter().zip(&clusters.of_answers) {
        for set in &answer.judges {
            by_judge.entry(&set.judge).or_default().push(Judged {
                answer,
                cluster: *cluster,
                passes: set.passes,
                readings: &set.readings,
                label: set.label,
            });
        }
    }
    let found = by_judge.into_iter();
    found.map(|(judge, all)| finding(judge, &all, clusters.count, seed)).collect()
}

fn finding(judge: &JudgeName, all: &[Judged<'_>], clusters: usize, seed: u64) -> JudgeFinding {
    let own: Vec<Judged<'_>> = all.iter().copied().filter(|one| !one.answer.is_reread).collect();
    let labelled: Vec<LabelledVerdict> = own.iter().filter_map(LabelledVerdict::of).collect();
    let share = |of: &dyn Fn(&LabelledVerdict) -> bool, hits: &dyn Fn(&LabelledVerdict) -> bool| {
        LabelShare::of(labelled.iter().filter(|one| of(one)), hits, clusters)
    };
    let answers: BTreeSet<(&str, &str)> = own
        .iter()
        .filter(|one| one.label.is_some() && one.passes.is_some())
        .map(|one| (one.answer.test.as_str(), one.answer.hash.as_str()))
        .collect();
    let is_part = judge.assertion.is_some();
    let whole = |one: &Judged<'_>| matches!(one.label, Some((_, LabelScope::Answer)));
    JudgeFinding {
        judge: judge.clone(),
        judged: own.iter().filter(|one| one.passes.is_some()).count() as u64,
        unmeasured: own.iter().filter(|one| one.passes.is_none()).count() as u64,
        labels: answers.len(),
        has_whole_labels: is_part && own.iter().any(whole),
        agreement: share(&|_| true, &|one| one.passes == one.label),
        sensitivity: share(&|one| one.label, &|one| one.passes),
        specificity: share(&|one| !one.label, &|one| !one.passes),
        repeats: RepeatFinding::of(all, clusters, seed),
        length: LengthEffect::of(&own, seed),
    }
}

/// A verdict beside the label of the same answer.
struct LabelledVerdict {
    cluster: usize,
    passes: bool,
    label: bool,
}

impl LabelledVerdict {
    fn of(judged: &Judged<'_>) -> Option<Self> {
        let (label, _) = judged.label?;
        Some(Self { cluster: judged.cluster, passes: judged.passes?, label })
    }
}

impl LabelShare {
    fn of<'a>(
        cases: impl Iterator<Item = &'a LabelledVerdict>,
        hits: &dyn Fn(&LabelledVerdict) -> bool,
        clusters: usize,
    ) -> Self {
        let mut counts = vec![Passes::default(); clusters];
        for case in cases {
            counts[case.cluster].trials += 1;
            counts[case.cluster].passes += u64::from(hits(case));
        }
        Self {
            hits: counts.iter().map(|count| count.passes).sum(),
            of: counts.iter().map(|count| count.trials).sum(),
            interval: clustered_rate(&counts, 0.95),
        }
    }

    /// `None` without cases.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::testing::answer;
    use super::*;
    use crate::stats::wilson;

    #[test]
    fn sensitivity_and_specificity_are_shares_of_what_people_say() {
        // 12 right, of which 9 pass; 8 wrong, of which 2 pass; 5 without a label.
        let answers: Vec<JudgedAnswer> = (0..25)
            .map(|at| match at {
                0..12 => answer(at, at < 9, Some(true)),
                12..20 => answer(at, at < 14, Some(false)),
                _ => answer(at, true, None),
            })
            .collect();
        let found = check_judges(&answers, 1);
        assert_eq!(found.len(), 1);
        let judge = &found[0];
        assert_eq!((judge.judged, judge.labels, judge.has_whole_labels), (25, 20, true));
        assert!(judge.has_enough_labels());
        let shares = [judge.agreement, judge.sensitivity, judge.specificity];
        let counts = shares.map(|share| (share.hits, share.of));
        assert_eq!(counts, [(15, 20), (9, 12), (6, 8)]);
        assert_eq!(judge.specificity.interval, Some(wilson(6, 8, 0.95)));
        assert_eq!(judge.specificity.share(), Some(0.75));
    }

    #[test]
    fn an_answer_that_occurs_twice_has_one_label() {
        let mut answers: Vec<JudgedAnswer> =
            (0..19).map(|at| answer(at, true, Some(true))).collect();
        let again = answers[0].clone();
        answers.push(again);
        let judge = &check_judges(&answers, 1)[0];
        assert_eq!((judge.labels, judge.agreement.of), (19, 20));
        assert!(!judge.has_enough_labels());
        assert_eq!(judge.specificity.interval, None);
        assert_eq!(judge.specificity.share(), None);
    }

    #[test]
    fn what_was_not_measured_has_no_verdict() {
        let mut answers: Vec<JudgedAnswer> =
            (0..3).map(|at| answer(at, true, Some(true))).collect();
        answers[0].judges[0].passes = None;
        let judge = &check_judges(&answers, 1)[0];
        assert_eq!((judge.judged, judge.unmeasured, judge.labels), (2, 1, 2));
    }
}
