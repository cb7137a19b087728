//! Which name a record has (spec 13.2): the first that is free or belongs to its input.
//!
//! Inputs that begin alike share a slug, thousands of them in a data set with one instruction.
//! What was found out about such names is remembered, or the thousandth would look at a thousand
//! files.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

use super::appendable_summary::AppendableSummary;
use super::slug::name_of;
use super::store::{Found, Store};
use super::store_error::StoreError;
use super::summary::{Summary, SummaryKind, Turn};

#[derive(Debug, Default)]
pub(super) struct SlugIndex {
    /// Slugs that several inputs share.
    shared: HashMap<String, Taken>,
    /// When the directory was last changed, as far as we know.
    changed: Option<SystemTime>,
}

/// Names with the numbers from 1 to `last` are taken.
#[derive(Debug, Default)]
struct Taken {
    last: u64,
    /// The number of an input's record.
    by: HashMap<u64, u64>,
}

/// The user messages that a record stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordKey<'a> {
    pub(super) slug: &'a str,
    pub(super) inputs: &'a [String],
}

/// What stands under the name that was found.
#[derive(Debug)]
pub(super) enum SlugSlot {
    Record(AppendableSummary),
    Free,
    /// Something that is no summary, and why.
    Corrupt(String),
}

impl SlugIndex {
    /// Forgets everything if somebody else may have been here since.
    pub(super) fn look_around(&mut self, store: &Store) {
        let now = changed(store);
        if now.is_none() || now != self.changed {
            self.shared.clear();
            self.changed = now;
        }
    }

    /// What changed the directory until now was our own doing.
    pub(super) fn leave(&mut self, store: &Store) {
        self.changed = changed(store);
    }

    /// After something went wrong, what was promised may not be there.
    pub(super) fn forget(&mut self) {
        self.shared.clear();
    }

    /// Whatever is remembered, a name is given only after a look at its file. Those in `promised`
    /// belong to other inputs, by their keys, and their files are not there yet.
    pub(super) fn find(
        &mut self,
        store: &Store,
        wanted: RecordKey<'_>,
        promised: &HashMap<String, u64>,
    ) -> Result<(u64, SlugSlot), StoreError> {
        if let Some(number) = self.remembered(wanted) {
            match store.found_growing(&name_of(wanted.slug, number))? {
                Found::Summary(record) if is_of(&record.summary, wanted.inputs) => {
                    return Ok((number, SlugSlot::Record(record)));
                }
                _ => drop(self.shared.remove(wanted.slug)),
            }
        }
        let taken = self.shared.get(wanted.slug);
        let mut number = taken.map_or(0, |taken| taken.last);
        loop {
            number += 1;
            let name = name_of(wanted.slug, number);
            if let Some(owner) = promised.get(&name) {
                self.note(wanted.slug, number, *owner);
                continue;
            }
            let home = match store.found_growing(&name)? {
                Found::Nothing => SlugSlot::Free,
                Found::Corrupt(reason) => SlugSlot::Corrupt(reason),
                Found::Summary(record) if is_of(&record.summary, wanted.inputs) => {
                    SlugSlot::Record(record)
                }
                Found::Summary(other) => {
                    self.note(wanted.slug, number, key_of(other.summary.inputs()));
                    continue;
                }
            };
            if matches!(home, SlugSlot::Record(_)) {
                self.take(wanted, number);
            }
            return Ok((number, home));
        }
    }

    /// From now on the name is that of this input.
    pub(super) fn take(&mut self, wanted: RecordKey<'_>, number: u64) {
        // A slug that nobody shares needs no memory.
        if number > 1 {
            self.note(wanted.slug, number, wanted.key());
        }
    }

    fn remembered(&self, wanted: RecordKey<'_>) -> Option<u64> {
        let taken = self.shared.get(wanted.slug)?;
        taken.by.get(&wanted.key()).copied()
    }

    fn note(&mut self, slug: &str, number: u64, key: u64) {
        let taken = self.shared.entry(slug.to_owned()).or_default();
        taken.last = number;
        // Of two records of one input the first counts.
        taken.by.entry(key).or_insert(number);
    }
}

impl RecordKey<'_> {
    /// Two inputs may have the same; then the file tells.
    pub(super) fn key(&self) -> u64 {
        key_of(self.inputs.iter().map(String::as_str))
    }
}

fn key_of<'a>(inputs: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    inputs.for_each(|input| input.hash(&mut hasher));
    hasher.finish()
}

/// A history of a shape that nobody knows cannot be made longer, so that nothing is added to it.
fn is_of(summary: &Summary, inputs: &[String]) -> bool {
    let mut turns = summary.turns.iter();
    summary.kind() == SummaryKind::Record
        && summary.inputs().eq(inputs)
        && turns.all(Turn::has_known_history)
}

fn changed(store: &Store) -> Option<SystemTime> {
    let directory = store.directory().metadata().ok()?;
    directory.modified().ok()
}
