//! The pass rate of each run, by the judge and as people would have seen it.

use crate::stats::{
    CorrectedRate, Interval, LabelledCase, Passes, clustered_rate, corrected_difference,
};

use super::answer::{Clusters, JudgedAnswer};
use super::finding::FEWEST_LABELS;

/// The pass rate of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRate {
    pub run: usize,
    pub passes: u64,
    pub judged: u64,
    /// Of the judge's rate.
    pub interval: Option<Interval>,
    /// Cases with a label.
    pub labels: usize,
    /// `None` with too few labels.
    pub corrected: Option<CorrectedRate>,
}

/// The rate of each run, and with two runs how far the corrected rates are apart.
pub fn run_rates(answers: &[JudgedAnswer]) -> (Vec<RunRate>, Option<(f64, Interval)>) {
    let own: Vec<JudgedAnswer> = answers.iter().filter(|one| !one.is_reread).cloned().collect();
    let clusters = Clusters::of(&own);
    let runs = own.iter().map(|answer| answer.run + 1).max().unwrap_or(0);
    let rates: Vec<RunRate> = (0..runs).map(|run| RunRate::of(run, &own, &clusters)).collect();
    let difference = match &rates[..] {
        [RunRate { corrected: Some(base), .. }, RunRate { corrected: Some(candidate), .. }] => {
            Some(corrected_difference(base, candidate, 0.95))
        }
        _ => None,
    };
    (rates, difference)
}

impl RunRate {
    fn of(run: usize, answers: &[JudgedAnswer], clusters: &Clusters) -> Self {
        let own = answers.iter().zip(&clusters.of_answers).filter(|(answer, _)| answer.run == run);
        let cases: Vec<LabelledCase> = own
            .filter_map(|(answer, cluster)| {
                let verdict = answer.judges.iter().find(|set| set.judge.assertion.is_none())?;
                let label = verdict.label.map(|(label, _)| label);
                Some(LabelledCase { cluster: *cluster, passes: verdict.passes?, label })
            })
            .collect();
        let mut counts = vec![Passes::default(); clusters.count];
        for case in &cases {
            counts[case.cluster].trials += 1;
            counts[case.cluster].passes += u64::from(case.passes);
        }
        let labels = cases.iter().filter(|case| case.label.is_some()).count();
        let corrected = (labels >= FEWEST_LABELS)
            .then(|| CorrectedRate::of(&cases, clusters.count, 0.95))
            .flatten();
        Self {
            run,
            passes: counts.iter().map(|count| count.passes).sum(),
            judged: counts.iter().map(|count| count.trials).sum(),
            interval: clustered_rate(&counts, 0.95),
            labels,
            corrected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::testing::answer;
    use super::*;

    fn verdicts(run: usize, wrong: usize, labels: usize) -> Vec<JudgedAnswer> {
        let case = |at: usize| {
            let mut one = answer(at, true, (at < labels).then_some(at >= wrong));
            one.run = run;
            one.judges[0].judge.assertion = None;
            one
        };
        (0..60).map(case).collect()
    }

    #[test]
    fn labels_correct_a_judge_that_passes_everything() {
        let answers = [verdicts(0, 5, 40), verdicts(1, 20, 40)].concat();
        let (rates, difference) = run_rates(&answers);
        assert_eq!((rates[0].passes, rates[0].judged, rates[0].labels), (60, 60, 40));
        let corrected: Vec<f64> =
            rates.iter().map(|rate| rate.corrected.as_ref().unwrap().rate).collect();
        assert_eq!(corrected, [0.875, 0.5]);
        let (difference, interval) = difference.unwrap();
        assert_eq!(difference, -0.375);
        assert!(interval.high < -0.1 && interval.low > -0.6, "{interval:?}");
    }

    #[test]
    fn few_labels_correct_nothing() {
        let (rates, difference) = run_rates(&verdicts(0, 5, 19));
        assert_eq!((rates[0].labels, rates[0].corrected.as_ref()), (19, None));
        assert_eq!(difference, None);
        assert_eq!(run_rates(&[]), (Vec::new(), None));
    }
}
