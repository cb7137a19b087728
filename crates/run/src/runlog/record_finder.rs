//! Finding records by what the user said.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::new_run::Asked;
use super::slug::{name_of, slug};
use super::slug_index::{RecordKey, SlugIndex, SlugSlot};
use super::store::{Record, Store};
use super::store_error::StoreError;

/// Looks records up in one store, and remembers where it has looked.
#[derive(Debug)]
pub struct Finder {
    store: Store,
    homes: Mutex<SlugIndex>,
}

impl Finder {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            homes: Mutex::default(),
        }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The record of an input sequence, if there is one: under its slug, or with a number behind.
    pub fn find(&self, asked: &[Asked]) -> Result<Option<Record>, StoreError> {
        let inputs: Vec<String> = asked.iter().map(Asked::input).collect();
        let wanted = RecordKey {
            slug: &slug(asked.first().map_or("", |first| &first.text)),
            inputs: &inputs,
        };
        let mut homes = self.homes.lock().unwrap_or_else(PoisonError::into_inner);
        homes.look_around(&self.store);
        let mut unreadable = HashMap::new();
        loop {
            match homes.find(&self.store, wanted, &unreadable)? {
                (number, SlugSlot::Record(_)) => {
                    let record = self.store.read(&name_of(wanted.slug, number));
                    return record.map(Some);
                }
                (_, SlugSlot::Free) => return Ok(None),
                // It may be anybody's.
                (number, SlugSlot::Corrupt(_)) => {
                    unreadable.insert(name_of(wanted.slug, number), 0);
                }
            }
        }
    }
}
