//! Pass rates by a judge, corrected with the labels that people gave to some of the cases: PPI++
//! (Angelopoulos, Duchi and Zrnic, 2023), with tests as clusters.

use super::rate::wilson_at;
use super::special::t_quantile;
use super::{Interval, mean, variance};

/// Imagined labels that say right, and as many that say wrong: they keep an interval wide where all
/// labels agree. Chosen by simulated coverage.
const IMAGINED: f64 = 0.5;

/// A case that a judge decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelledCase {
    /// Index of the test, or of the group of tests that share a fixture.
    pub cluster: usize,
    /// What the judge says.
    pub passes: bool,
    /// What people say; `None` without a label.
    pub label: Option<bool>,
}

/// A rate as people would have seen it.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedRate {
    pub rate: f64,
    pub interval: Interval,
    /// How much the judge counts: 0 if its verdicts say nothing about labels.
    pub weight: f64,
    pub labels: usize,
    /// By cluster, how much the rate moves with it.
    influence: Vec<f64>,
    /// Clusters with a label.
    labelled_clusters: usize,
}

impl CorrectedRate {
    /// `clusters` is more than every index. `None` unless two clusters have labels.
    ///
    /// The rate is that of the labels, plus `weight` times the judge's rate over all cases less that over
    /// the labelled ones. The weight is that of PPI++, which makes the variance least. The variance sums
    /// the influences of clusters (CR1); the interval is Wilson's for the effective sample size, with
    /// Student's t.
    pub fn of(cases: &[LabelledCase], clusters: usize, confidence: f64) -> Option<Self> {
        let seen: Vec<(f64, f64)> = cases
            .iter()
            .filter_map(|case| Some((number(case.label?), number(case.passes))))
            .collect();
        let judged: Vec<f64> = cases.iter().map(|case| number(case.passes)).collect();
        let labels: Vec<f64> = seen.iter().map(|(label, _)| *label).collect();
        let judged_seen: Vec<f64> = seen.iter().map(|(_, judged)| *judged).collect();
        let mut with_label = vec![false; clusters];
        for case in cases.iter().filter(|case| case.label.is_some()) {
            with_label[case.cluster] = true;
        }
        let labelled_clusters = with_label.iter().filter(|has_label| **has_label).count();
        if labelled_clusters < 2 {
            return None;
        }
        let (all, count) = (judged.len() as f64, seen.len() as f64);
        let centres = Centres {
            label: mean(&labels),
            judged: mean(&judged),
            judged_seen: mean(&judged_seen),
        };
        let weight = weight(&seen, &judged, &centres);
        let mut influence = vec![0.0; clusters];
        for case in cases {
            let passes = number(case.passes);
            let moved = &mut influence[case.cluster];
            *moved += weight * (passes - centres.judged) / all;
            if let Some(label) = case.label {
                let residual =
                    (number(label) - centres.label) - weight * (passes - centres.judged_seen);
                *moved += residual / count;
            }
        }
        let rate = centres.label + weight * (centres.judged - centres.judged_seen);
        let mut found = Self {
            rate: rate.clamp(0.0, 1.0),
            interval: Interval { low: 0.0, high: 1.0 },
            weight,
            labels: seen.len(),
            influence,
            labelled_clusters,
        };
        found.interval = found.wilson(confidence);
        Some(found)
    }

    fn wilson(&self, confidence: f64) -> Interval {
        let count = self.labels as f64;
        let smoothed = (self.rate * count + IMAGINED) / (count + 2.0 * IMAGINED);
        let variance = cluster_variance(&self.influence) + self.imagined();
        let size = smoothed * (1.0 - smoothed) / variance;
        wilson_at(self.rate, size, t_quantile(self.freedom(), 0.5 + 0.5 * confidence))
    }

    fn freedom(&self) -> f64 {
        self.labelled_clusters as f64 - 1.0
    }

    /// What the imagined labels add to the variance.
    fn imagined(&self) -> f64 {
        let squares = (1.0 - self.rate).powi(2) + self.rate.powi(2);
        IMAGINED * squares / (self.labels as f64).powi(2)
    }
}

/// The later rate less the earlier one, with its interval. The clusters of both are the same tests.
pub fn corrected_difference(
    base: &CorrectedRate,
    candidate: &CorrectedRate,
    confidence: f64,
) -> (f64, Interval) {
    let difference = candidate.rate - base.rate;
    let pairs = base.influence.iter().zip(&candidate.influence);
    let moved: Vec<f64> = pairs.map(|(before, now)| now - before).collect();
    let variance = cluster_variance(&moved) + base.imagined() + candidate.imagined();
    let freedom = base.freedom().min(candidate.freedom());
    let half = t_quantile(freedom, 0.5 + 0.5 * confidence) * variance.sqrt();
    (difference, Interval::within(difference - half, difference + half, -1.0, 1.0))
}

struct Centres {
    label: f64,
    judged: f64,
    judged_seen: f64,
}

/// The covariance of labels and verdicts over the variance of verdicts. PPI++ writes the judge's rate
/// over the unlabelled cases, and bounds its weight, which is smaller by their share.
fn weight(seen: &[(f64, f64)], judged: &[f64], centres: &Centres) -> f64 {
    let spread = variance(judged);
    let unlabelled = (judged.len() - seen.len()) as f64 / judged.len() as f64;
    if spread == 0.0 || unlabelled == 0.0 {
        return 0.0;
    }
    let products =
        seen.iter().map(|(label, passes)| (label - centres.label) * (passes - centres.judged_seen));
    let together = products.sum::<f64>() / seen.len() as f64;
    (together / spread * unlabelled).clamp(0.0, 1.0) / unlabelled
}

/// CR1: the sum of squared influences, times G / (G − 1).
fn cluster_variance(influence: &[f64]) -> f64 {
    let count = influence.len() as f64;
    let squares: f64 = influence.iter().map(|one| one * one).sum();
    squares * count / (count - 1.0).max(1.0)
}

fn number(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::*;

    fn pattern() -> Vec<LabelledCase> {
        let case = |at: usize| {
            let right = (at * 7) % 10 < 7;
            LabelledCase {
                cluster: at / 4,
                passes: right != (at * 3).is_multiple_of(7),
                label: ((at * at) % 5 < 2 && at / 4 != 9).then_some(right),
            }
        };
        (0..40).map(case).collect()
    }

    /// ppi-python 0.2.3: `ppi_mean_pointestimate` and its tuned weight, here for all cases instead of
    /// the unlabelled ones. The variance by NumPy, as the sum over tests of squared influences.
    #[test]
    fn the_rate_is_that_of_ppi_python() {
        let found = CorrectedRate::of(&pattern(), 10, 0.95).unwrap();
        assert_eq!(found.labels, LABELS);
        assert!((found.rate - RATE).abs() < 1e-12, "{found:?}");
        assert!((found.weight - WEIGHT).abs() < 1e-12, "{found:?}");
        assert!((cluster_variance(&found.influence) - VARIANCE).abs() < 1e-12, "{found:?}");
        assert!(found.interval.holds(found.rate));
    }

    const LABELS: usize = 22;
    const RATE: f64 = 0.677_873_779_113_448_6;
    const WEIGHT: f64 = 0.6523022432113345;
    const VARIANCE: f64 = 0.001_398_398_869_071_691;

    #[test]
    fn a_judge_that_says_nothing_does_not_count() {
        let mut cases = pattern();
        cases.iter_mut().for_each(|case| case.passes = true);
        let found = CorrectedRate::of(&cases, 10, 0.95).unwrap();
        let labels: Vec<f64> = cases.iter().filter_map(|case| case.label.map(number)).collect();
        assert_eq!((found.weight, found.rate), (0.0, mean(&labels)));
    }

    #[test]
    fn labels_of_one_test_say_nothing_about_others() {
        let mut cases = pattern();
        cases.iter_mut().filter(|case| case.cluster > 0).for_each(|case| case.label = None);
        assert_eq!(CorrectedRate::of(&cases, 10, 0.95), None);
        assert_eq!(CorrectedRate::of(&[], 0, 0.95), None);
    }

    #[test]
    fn agreement_everywhere_is_not_certainty() {
        let mut cases = pattern();
        for case in &mut cases {
            case.passes = true;
            case.label = case.label.map(|_| true);
        }
        let found = CorrectedRate::of(&cases, 10, 0.95).unwrap();
        assert_eq!(found.rate, 1.0);
        assert!(found.interval.low < 0.95 && found.interval.high == 1.0, "{found:?}");
        let (difference, interval) = corrected_difference(&found, &found, 0.95);
        assert_eq!(difference, 0.0);
        assert!(interval.low < -0.01 && interval.high > 0.01, "{interval:?}");
    }

    /// 30 tests with 4 cases on each side, rates from 0.6 to 1 that fall by an eighth, 40 labels a side,
    /// and a judge that the candidate fools.
    fn fooled(random: &mut SplitMix64) -> [CorrectedRate; 2] {
        let rates: Vec<f64> = (0..30).map(|_| 0.6 + 0.4 * random.fraction()).collect();
        [(1.0, 0.9, 0.85), (0.875, 0.95, 0.6)].map(|(share, sensitivity, specificity)| {
            let mut cases: Vec<(LabelledCase, bool)> = Vec::new();
            for (cluster, rate) in rates.iter().enumerate() {
                for _ in 0..4 {
                    let right = random.fraction() < rate * share;
                    let chance = if right { sensitivity } else { 1.0 - specificity };
                    let passes = random.fraction() < chance;
                    cases.push((LabelledCase { cluster, passes, label: None }, right));
                }
            }
            let mut left = 40;
            while left > 0 {
                let (case, right) = &mut cases[random.below(120) as usize];
                if case.label.is_none() {
                    case.label = Some(*right);
                    left -= 1;
                }
            }
            let cases: Vec<LabelledCase> = cases.into_iter().map(|(case, _)| case).collect();
            CorrectedRate::of(&cases, 30, 0.95).unwrap()
        })
    }

    #[test]
    fn intervals_hold_the_truth_although_the_judge_is_fooled() {
        let mut random = SplitMix64::new(21);
        let (mut rates, mut differences) = ([0; 2], 0);
        const REPEATS: usize = 2_000;
        for _ in 0..REPEATS {
            let [base, candidate] = fooled(&mut random);
            rates[0] += usize::from(base.interval.holds(0.8));
            rates[1] += usize::from(candidate.interval.holds(0.7));
            let (_, interval) = corrected_difference(&base, &candidate, 0.95);
            differences += usize::from(interval.holds(-0.1));
        }
        for count in [rates[0], rates[1], differences] {
            let coverage = count as f64 / REPEATS as f64;
            assert!((0.93..=0.97).contains(&coverage), "{rates:?} {differences}");
        }
    }
}
