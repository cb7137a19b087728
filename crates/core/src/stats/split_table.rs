//! The splits of tests with the same totals: how likely each is, and what it is evidence of.

use std::collections::HashMap;

use super::SplitMix64;
use super::mixture::{self, MixtureEvidence};
use super::pass_split::{PassTotals, SplitModel};

/// The possible splits of tests with the same totals.
pub(super) struct SplitTable {
    pub cumulative: Vec<f64>,
    pub evidence: Vec<MixtureEvidence>,
}

impl SplitTable {
    fn new(totals: PassTotals, chances: &[f64]) -> Self {
        let mut sum = 0.0;
        let cumulative = chances.iter().map(|chance| {
            sum += chance;
            sum
        });
        let cumulative = cumulative.collect();
        let gain = |at: usize| totals.gain(totals.least() + at);
        Self { cumulative, evidence: mixture::evidence(chances, gain) }
    }

    pub fn draw(&self, random: &mut SplitMix64) -> &MixtureEvidence {
        &self.evidence[self.draw_place(random)]
    }

    /// Passes above the fewest that there can be.
    pub fn draw_place(&self, random: &mut SplitMix64) -> usize {
        let place = random.fraction();
        let last = self.cumulative.len() - 1;
        self.cumulative[..last].iter().position(|sum| place < *sum).unwrap_or(last)
    }
}

/// One table for all tests with the same totals.
pub(super) struct SplitTables {
    model: SplitModel,
    places: HashMap<PassTotals, usize>,
    tables: Vec<SplitTable>,
}

impl SplitTables {
    pub fn new(model: SplitModel) -> Self {
        Self { model, places: HashMap::new(), tables: Vec::new() }
    }

    /// The place of a table, which is made if there is none.
    pub fn place(&mut self, totals: PassTotals) -> usize {
        *self.places.entry(totals).or_insert_with(|| {
            self.tables.push(SplitTable::new(totals, self.model.chances(totals)));
            self.tables.len() - 1
        })
    }

    pub fn at(&self, place: usize) -> &SplitTable {
        &self.tables[place]
    }
}
