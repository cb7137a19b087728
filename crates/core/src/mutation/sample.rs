//! A few mutants of many, of as many kinds as possible.

use std::collections::HashMap;

use crate::stats::SplitMix64;

use super::mutant::{Damage, Mutant};

/// Indices of `count` mutants in ascending order: one of each kind before a second of any, and wrong
/// answers before missing ones.
pub fn sample_mutants(mutants: &[&Mutant], count: usize, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64::new(seed);
    let mut order: Vec<(usize, bool, u64, usize)> = Vec::with_capacity(mutants.len());
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (at, mutant) in mutants.iter().enumerate() {
        let earlier = seen.entry(mutant.kind.name).or_default();
        let is_missing = mutant.damage == Damage::Missing;
        order.push((*earlier, is_missing, random.below(1 << 32), at));
        *earlier += 1;
    }
    order.sort_unstable();
    let mut chosen: Vec<usize> = order.into_iter().take(count).map(|(.., at)| at).collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::mutants;
    use super::super::testing::answered;
    use super::*;

    #[test]
    fn a_sample_has_as_many_kinds_as_possible_and_wrong_answers_first() {
        let all = answered("The best month was November with $22,500.", mutants);
        let all: Vec<&Mutant> = all.iter().collect();
        let chosen = sample_mutants(&all, 4, 7);
        assert_eq!(chosen, sample_mutants(&all, 4, 7));
        let mut kinds: Vec<&str> = chosen.iter().map(|at| all[*at].kind.name).collect();
        assert!(chosen.iter().all(|at| all[*at].damage == Damage::Wrong), "{kinds:?}");
        kinds.dedup();
        assert_eq!(kinds.len(), 4);
        assert_eq!(sample_mutants(&all, 100, 7).len(), all.len());
    }
}
