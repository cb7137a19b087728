//! Whether a judge prefers longer or shorter answers among those with the same label.

use crate::stats::SplitMix64;

use super::finding::Judged;

/// Draws of the permutation test.
const DRAWS: u64 = 9_999;

/// How length goes with the verdict beyond the label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthEffect {
    /// Cases that can be compared: both verdicts occur among those with their label.
    pub cases: u64,
    /// The chance that of two answers with the same label and different verdicts the longer one passed.
    /// One half: length does not matter.
    pub longer_passes: f64,
    /// The chance of a value at least as far from one half if it does not.
    pub p: f64,
}

impl LengthEffect {
    /// `None` if no two answers with the same label have different verdicts.
    pub(super) fn of(judged: &[Judged<'_>], seed: u64) -> Option<Self> {
        let mut strata: Vec<Stratum> = [true, false]
            .into_iter()
            .map(|wanted| {
                let own = judged.iter().filter(|one| one.label.is_some_and(|(is, _)| is == wanted));
                Stratum::of(own.filter_map(|one| Some((one.answer.length, one.passes?))).collect())
            })
            .filter(|stratum| stratum.pairs() > 0)
            .collect();
        let pairs: u64 = strata.iter().map(Stratum::pairs).sum();
        if pairs == 0 {
            return None;
        }
        let lead = |strata: &[Stratum]| strata.iter().map(Stratum::lead).sum::<f64>();
        let seen = lead(&strata);
        let mut random = SplitMix64::new(seed);
        let mut as_far = 1;
        for _ in 0..DRAWS {
            strata.iter_mut().for_each(|stratum| stratum.shuffle(&mut random));
            as_far += u64::from(lead(&strata).abs() >= seen.abs() - 1e-9);
        }
        Some(Self {
            cases: strata.iter().map(|stratum| stratum.passes.len() as u64).sum(),
            longer_passes: 0.5 + seen / pairs as f64,
            p: as_far as f64 / (DRAWS + 1) as f64,
        })
    }
}

/// Cases with one label.
struct Stratum {
    /// Ranks of lengths less their mean; equal lengths share a rank.
    ranks: Vec<f64>,
    passes: Vec<bool>,
}

impl Stratum {
    fn of(mut cases: Vec<(usize, bool)>) -> Self {
        cases.sort_unstable();
        let centre = (cases.len() as f64 + 1.0) / 2.0;
        let rank = |length: usize| {
            let below = cases.partition_point(|(other, _)| *other < length);
            let up_to = cases.partition_point(|(other, _)| *other <= length);
            (below + 1 + up_to) as f64 / 2.0 - centre
        };
        let ranks = cases.iter().map(|(length, _)| rank(*length)).collect();
        Self { ranks, passes: cases.into_iter().map(|(_, passes)| passes).collect() }
    }

    /// Pairs of a case that passes and one that does not.
    fn pairs(&self) -> u64 {
        let passes = self.passes.iter().filter(|passes| **passes).count() as u64;
        passes * (self.passes.len() as u64 - passes)
    }

    /// Mann and Whitney's U less its mean: pairs in which the longer one passes, less half of all.
    fn lead(&self) -> f64 {
        self.ranks
            .iter()
            .zip(&self.passes)
            .filter(|(_, passes)| **passes)
            .map(|(rank, _)| rank)
            .sum()
    }

    fn shuffle(&mut self, random: &mut SplitMix64) {
        for at in (1..self.passes.len()).rev() {
            self.passes.swap(at, random.below(at as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::JudgedAnswer;
    use super::super::answer::testing::answer;
    use super::super::finding::check_judges;
    use super::*;

    fn effect(cases: &[(usize, bool, bool)]) -> Option<LengthEffect> {
        let answers: Vec<JudgedAnswer> = cases
            .iter()
            .enumerate()
            .map(|(at, (length, passes, label))| JudgedAnswer {
                length: *length,
                ..answer(at, *passes, Some(*label))
            })
            .collect();
        check_judges(&answers, 5).remove(0).length
    }

    /// SciPy 1.18.1, `mannwhitneyu([30, 50, 60], [10, 20, 40])`: U = 8 of 9, exact p = 0.2.
    #[test]
    fn the_statistic_is_that_of_mann_and_whitney() {
        let cases = [(30, true), (50, true), (60, true), (10, false), (20, false), (40, false)];
        let cases: Vec<_> = cases.iter().map(|(length, passes)| (*length, *passes, true)).collect();
        let found = effect(&cases).unwrap();
        assert!((found.longer_passes - 8.0 / 9.0).abs() < 1e-12, "{found:?}");
        assert!((found.p - 0.2).abs() < 0.015, "{found:?}");
        assert_eq!(found.cases, 6);
    }

    #[test]
    fn length_that_only_goes_with_the_label_is_no_effect() {
        // Right answers are long and pass, wrong ones short and fail; two of each kind do not.
        let mut cases = Vec::new();
        for at in 0..20 {
            cases.push((1_000 + at, at != 9, true));
            cases.push((100 + at, at == 10, false));
        }
        let found = effect(&cases).unwrap();
        assert!(found.p > 0.5 && (found.longer_passes - 0.5).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn without_different_verdicts_nothing_can_be_said() {
        assert_eq!(effect(&[(1, true, true), (2, false, false)]), None);
        let equal = effect(&[(5, true, true), (5, false, true)]).unwrap();
        assert_eq!((equal.longer_passes, equal.p), (0.5, 1.0));
    }
}
