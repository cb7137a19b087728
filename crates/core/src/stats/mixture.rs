//! The statistic by which passes are compared: a mixture of likelihood ratios, which sees a small
//! drop of every test as well as a few tests that broke. A statistic for one of the two misses the
//! other.

/// One kind of drop.
struct DropKind {
    /// The factor on the odds of passing.
    odds: f64,
    /// The share of the tests that it hits.
    share: f64,
    /// Its weight in the mixture.
    weight: f64,
}

const fn spread(odds: f64) -> DropKind {
    DropKind { odds, share: 1.0, weight: 0.125 }
}

const fn broken(share: f64) -> DropKind {
    DropKind { odds: 0.03, share, weight: 1.0 / 6.0 }
}

const DROPS: [DropKind; 7] = [
    spread(0.35),
    spread(0.55),
    spread(0.75),
    spread(0.87),
    broken(0.03),
    broken(0.1),
    broken(0.25),
];

/// Log likelihood ratios of each kind of drop; the last number is the gain. Sums over tests.
pub(super) type MixtureEvidence = [f64; 8];

const GAIN: usize = 7;

/// The evidence of one test for each number of passes that the candidate may have.
pub(super) fn evidence(chances: &[f64], gain: impl Fn(usize) -> f64) -> Vec<MixtureEvidence> {
    let mut found: Vec<MixtureEvidence> = vec![[0.0; 8]; chances.len()];
    for (kind, drop) in DROPS.iter().enumerate() {
        let log = drop.odds.ln();
        let total: f64 =
            chances.iter().enumerate().map(|(at, chance)| chance * (at as f64 * log).exp()).sum();
        for (at, one) in found.iter_mut().enumerate() {
            let ratio = at as f64 * log - total.ln();
            one[kind] = match drop.share {
                1.0 => ratio,
                share => (1.0 - share + share * ratio.exp()).ln(),
            };
        }
    }
    for (at, one) in found.iter_mut().enumerate() {
        one[GAIN] = gain(at);
    }
    found
}

pub(super) fn add(sum: &mut MixtureEvidence, one: &MixtureEvidence) {
    for (sum, one) in sum.iter_mut().zip(one) {
        *sum += one;
    }
}

/// The larger, the more it looks like a drop.
pub(super) fn statistic(sum: &MixtureEvidence) -> f64 {
    let logs = &sum[..GAIN];
    let highest = logs.iter().fold(f64::NEG_INFINITY, |most, log| most.max(*log));
    let terms = logs.iter().zip(&DROPS).map(|(log, drop)| drop.weight * (log - highest).exp());
    highest + terms.sum::<f64>().ln()
}

/// Sum of the gains of the tests.
pub(super) fn gain(sum: &MixtureEvidence) -> f64 {
    sum[GAIN]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Candidate passes of 2 in 2 base and 2 candidate trials with 2 passes: 1/6, 4/6, 1/6.
    #[test]
    fn each_ratio_has_a_mean_of_one_by_chance() {
        let chances = [1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0];
        let found = evidence(&chances, |at| at as f64 - 1.0);
        for kind in 0..DROPS.len() {
            let mean: f64 = chances.iter().zip(&found).map(|(c, one)| c * one[kind].exp()).sum();
            assert!((mean - 1.0).abs() < 1e-12, "{kind}: {mean}");
        }
        assert_eq!(found.iter().map(gain).collect::<Vec<_>>(), [-1.0, 0.0, 1.0]);
    }

    #[test]
    fn weights_sum_to_one() {
        let total: f64 = DROPS.iter().map(|drop| drop.weight).sum();
        assert!((total - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_broken_test_and_a_small_drop_everywhere_both_count() {
        let chances = [0.25, 0.5, 0.25];
        let found = evidence(&chances, |_| 0.0);
        let sum = |tests: &[usize]| {
            let mut sum = [0.0; 8];
            tests.iter().for_each(|at| add(&mut sum, &found[*at]));
            statistic(&sum)
        };
        let [even, spread, broken] = [
            sum(&[1; 12]),
            sum(&[1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1]),
            sum(&[0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2]),
        ];
        assert!(even < broken && broken < spread, "{even} {broken} {spread}");
    }

    /// Thousands of trials do not overflow.
    #[test]
    fn large_numbers_stay_finite() {
        let chances = vec![1.0 / 3_001.0; 3_001];
        let found = evidence(&chances, |_| 0.0);
        assert!(found.iter().flatten().all(|log| log.is_finite()));
    }
}
