//! Finds the name of a record (spec 13.2): the first one that is free or belongs to its input.
//!
//! Inputs with the same beginning share a slug, thousands of them in a data set with one
//! instruction. The index caches which numbers are taken; without it the thousandth input would
//! open a thousand files.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

use super::appendable_summary::AppendableSummary;
use super::slug::numbered_name;
use super::store::{Store, SummaryLookup};
use super::store_error::StoreError;
use super::summary::{RecordSummary, SummaryKind, Turn};

#[derive(Debug, Default)]
pub(super) struct SlugIndex {
    /// Slugs that several inputs share.
    shared: HashMap<String, TakenNumbers>,
    /// The modification time of the directory when the cache was last valid.
    changed: Option<SystemTime>,
}

/// The numbers from 1 to `last` are taken.
#[derive(Debug, Default)]
struct TakenNumbers {
    last: u64,
    /// Hash of the inputs → number of their record.
    by: HashMap<u64, u64>,
}

/// The user messages that identify a record, and the slug of the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordKey<'a> {
    pub(super) slug: &'a str,
    pub(super) inputs: &'a [String],
}

/// The state of the name that was found.
#[derive(Debug)]
pub(super) enum SlugSlot {
    Record(AppendableSummary),
    Free,
    /// The file is not a summary; the reason.
    Corrupt(String),
}

impl SlugIndex {
    /// Clears the cache if another process may have changed the directory.
    pub(super) fn forget_if_store_changed(&mut self, store: &Store) {
        let now = modified_time(store);
        if now.is_none() || now != self.changed {
            self.shared.clear();
            self.changed = now;
        }
    }

    /// Call after own writes: changes up to now keep the cache valid.
    pub(super) fn note_store_time(&mut self, store: &Store) {
        self.changed = modified_time(store);
    }

    /// Call after a failed write: promised files may be missing.
    pub(super) fn forget_all(&mut self) {
        self.shared.clear();
    }

    /// Always reads the file of the name it returns, even if the name is cached. `promised` contains
    /// names whose files do not exist yet, with the hashes of their inputs.
    pub(super) fn find_slot(
        &mut self,
        store: &Store,
        key: RecordKey<'_>,
        promised: &HashMap<String, u64>,
    ) -> Result<(u64, SlugSlot), StoreError> {
        if let Some(number) = self.known_number(key) {
            match store.look_up_appendable(&numbered_name(key.slug, number))? {
                SummaryLookup::Present(record) if is_record_of(&record.summary, key.inputs) => {
                    return Ok((number, SlugSlot::Record(record)));
                }
                _ => drop(self.shared.remove(key.slug)),
            }
        }
        let taken = self.shared.get(key.slug);
        let mut number = taken.map_or(0, |taken| taken.last);
        loop {
            number += 1;
            let name = numbered_name(key.slug, number);
            if let Some(owner) = promised.get(&name) {
                self.mark_taken(key.slug, number, *owner);
                continue;
            }
            let slot = match store.look_up_appendable(&name)? {
                SummaryLookup::Missing => SlugSlot::Free,
                SummaryLookup::Corrupt(reason) => SlugSlot::Corrupt(reason),
                SummaryLookup::Present(record) if is_record_of(&record.summary, key.inputs) => {
                    SlugSlot::Record(record)
                }
                SummaryLookup::Present(other) => {
                    self.mark_taken(key.slug, number, hash_inputs(other.summary.inputs()));
                    continue;
                }
            };
            if matches!(slot, SlugSlot::Record(_)) {
                self.assign_number(key, number);
            }
            return Ok((number, slot));
        }
    }

    /// Gives the number to this input.
    pub(super) fn assign_number(&mut self, key: RecordKey<'_>, number: u64) {
        // A slug with a single record needs no cache.
        if number > 1 {
            self.mark_taken(key.slug, number, key.hash());
        }
    }

    fn known_number(&self, key: RecordKey<'_>) -> Option<u64> {
        let taken = self.shared.get(key.slug)?;
        taken.by.get(&key.hash()).copied()
    }

    fn mark_taken(&mut self, slug: &str, number: u64, key: u64) {
        let taken = self.shared.entry(slug.to_owned()).or_default();
        taken.last = number;
        // If an input has two records, the first wins.
        taken.by.entry(key).or_insert(number);
    }
}

impl RecordKey<'_> {
    /// Collisions are possible; the caller compares the inputs in the file.
    pub(super) fn hash(&self) -> u64 {
        hash_inputs(self.inputs.iter().map(String::as_str))
    }
}

fn hash_inputs<'a>(inputs: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    inputs.for_each(|input| input.hash(&mut hasher));
    hasher.finish()
}

/// A summary with a history of unknown shape cannot be extended, so it never matches.
fn is_record_of(summary: &RecordSummary, inputs: &[String]) -> bool {
    let mut turns = summary.turns.iter();
    summary.kind() == SummaryKind::Record
        && summary.inputs().eq(inputs)
        && turns.all(Turn::has_known_history)
}

fn modified_time(store: &Store) -> Option<SystemTime> {
    let directory = store.directory().metadata().ok()?;
    directory.modified().ok()
}
