//! One test at a look, and what earlier looks saw of it.

use super::Pair;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RoundPair {
    /// All trials so far, in the order of the rounds.
    pub pair: Pair,
    /// By look, the trials of the base and of the candidate that it had; the present one last.
    pub seen: Vec<[usize; 2]>,
}
