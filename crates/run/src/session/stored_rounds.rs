//! Comparisons with the results of a run in rounds: the trials of its looks count, and where the base is
//! the one that it stopped against, the looks themselves.

use evalrig_core::compare::{
    CompareOptions, ComparedCase, Comparison, RoundSides, Rounds, compare, compare_in_rounds,
    matched_base, seed_from_cases,
};

use crate::report::ReportedRounds;
use crate::results::{RoundRecord, RoundSettings, Rows};
use crate::text::numbers::counted;

/// The plan of a stored run in rounds, and how they went.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRounds {
    pub settings: RoundSettings,
    pub record: RoundRecord,
}

impl From<StoredRounds> for ReportedRounds {
    fn from(stored: StoredRounds) -> Self {
        Self { settings: stored.settings, record: stored.record }
    }
}

impl StoredRounds {
    pub(super) fn of(rows: &Rows) -> Option<Self> {
        let (settings, record) = rows.rounds()?;
        Some(Self { settings: settings.clone(), record: record.clone() })
    }

    /// The trials that its looks have seen.
    pub fn seen(&self, cases: &[ComparedCase]) -> Vec<ComparedCase> {
        cases.iter().filter(|case| case.trial <= self.record.rounds).cloned().collect()
    }

    /// The looks, made again; `None` with another base, measure or margin.
    fn looks(&self, sides: RoundSides<'_>, options: &CompareOptions) -> Option<Rounds> {
        let plan = self.settings.plan()?;
        let digest = base_digest(sides.base, sides.candidate);
        let is_same = self.settings.base.as_ref().is_some_and(|base| base.digest == digest)
            && (plan.margin, plan.measure) == (options.margin, options.measure);
        is_same.then(|| {
            let mut rounds = Rounds::new(plan);
            rounds.look_up_to(self.record.rounds, sides);
            rounds
        })
    }
}

/// A name for the cases of a base that a run is compared with.
pub(super) fn base_digest(base: &[ComparedCase], candidate: &[ComparedCase]) -> String {
    format!("{:016x}", seed_from_cases(&matched_base(base, candidate), &[]))
}

/// Compares a stored run with a base. Says so if it was run in rounds and its looks are not those of
/// this comparison.
pub fn compare_stored(
    base: &[ComparedCase],
    candidate: &[ComparedCase],
    rounds: Option<&StoredRounds>,
    options: &CompareOptions,
) -> (Comparison, Option<String>) {
    let Some(stored) = rounds else {
        return (compare(base, candidate, options), None);
    };
    let sides = RoundSides { base, candidate };
    if let Some(rounds) = stored.looks(sides, options).filter(|_| options.seed.is_none()) {
        return (compare_in_rounds(sides, rounds), None);
    }
    let seen = stored.seen(candidate);
    let count = counted(u64::from(stored.record.rounds), "round", "rounds");
    let note = format!(
        "the candidate was run in rounds against another baseline, or with another margin: its trials of \
         {count} are compared as if their number had been fixed"
    );
    (compare(base, &seen, options), Some(note).filter(|_| stored.settings.base.is_some()))
}
