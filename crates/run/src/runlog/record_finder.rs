//! Finds records by their user messages.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::new_run::UserMessage;
use super::slug::{numbered_name, slug};
use super::slug_index::{RecordKey, SlugIndex, SlugSlot};
use super::store::{Record, Store};
use super::store_error::StoreError;

/// Looks up records in one store and caches which slugs are taken.
#[derive(Debug)]
pub struct RecordFinder {
    store: Store,
    slugs: Mutex<SlugIndex>,
}

impl RecordFinder {
    pub fn new(store: Store) -> Self {
        Self { store, slugs: Mutex::default() }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The record of an input sequence, if any: its slug, possibly with a number.
    pub fn find(&self, asked: &[UserMessage]) -> Result<Option<Record>, StoreError> {
        let inputs: Vec<String> = asked.iter().map(UserMessage::input).collect();
        let key = RecordKey {
            slug: &slug(asked.first().map_or("", |first| &first.text)),
            inputs: &inputs,
        };
        let mut slugs = self.slugs.lock().unwrap_or_else(PoisonError::into_inner);
        slugs.forget_if_store_changed(&self.store);
        let mut unreadable = HashMap::new();
        loop {
            match slugs.find_slot(&self.store, key, &unreadable)? {
                (number, SlugSlot::Record(_)) => {
                    let record = self.store.read(&numbered_name(key.slug, number));
                    return record.map(Some);
                }
                (_, SlugSlot::Free) => return Ok(None),
                // Its inputs are unknown, so the search goes on with the next number.
                (number, SlugSlot::Corrupt(_)) => {
                    unreadable.insert(numbered_name(key.slug, number), 0);
                }
            }
        }
    }
}
