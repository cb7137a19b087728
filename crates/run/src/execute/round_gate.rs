//! The interface through which execution learns whether another round is run.

/// Decides after each round of trials.
pub(crate) trait RoundGate: std::fmt::Debug + Send + Sync {
    /// The round that is to be run, from 1; `None` when no further round is needed. Every row that was
    /// reported so far is taken into account.
    fn open_round(&self) -> Option<u32>;
}
