//! Free data: JSON values that keep the order of keys and the spelling of numbers.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use super::json_text::{JsonStyle, write_json};
use super::number::Number;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Value>),
    Map(Map),
}

/// A mapping in written order. Large ones are looked up by an index, so that building one key by key
/// takes time in proportion to its size.
#[derive(Debug, Clone, Default)]
pub struct Map {
    entries: Vec<(String, Value)>,
    /// Made when it is first needed; equal mappings may differ in it.
    index: OnceLock<Box<KeyIndex>>,
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Map {
    pub fn new() -> Self {
        Self::default()
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.entries.len() <= SCANNED {
            return scan(&self.entries, key);
        }
        self.index.get_or_init(|| Box::new(KeyIndex::of(&self.entries))).find(&self.entries, key)
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).map(|at| &self.entries[at].1)
    }

    /// Replaces the value of a key in its place, or adds it at the end.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        if let Some(at) = self.position(&key) {
            self.entries[at].1 = value;
            return;
        }
        if let Some(index) = self.index.get_mut() {
            index.add(&key, self.entries.len());
        }
        self.entries.push((key, value));
    }

    /// Adds the key only if there is a value for it.
    pub fn insert_some<V: Into<Value>>(&mut self, key: impl Into<String>, value: Option<V>) {
        if let Some(value) = value {
            self.insert(key, value);
        }
    }

    /// As [`Self::insert`], for a map that is built in one expression.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(key, value);
        self
    }

    /// As [`Self::insert_some`], for a map that is built in one expression.
    #[must_use]
    pub fn with_some<V: Into<Value>>(mut self, key: impl Into<String>, value: Option<V>) -> Self {
        self.insert_some(key, value);
        self
    }

    /// Takes time in proportion to the size of the map; to remove many keys use [`Self::retain`].
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.position(key)?;
        self.index.take();
        Some(self.entries.remove(at).1)
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Value) -> bool) {
        self.index.take();
        self.entries.retain(|(key, value)| keep(key, value));
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Up to this many keys are compared one by one, which is faster than hashing.
const SCANNED: usize = 32;

fn scan(entries: &[(String, Value)], key: &str) -> Option<usize> {
    entries.iter().position(|(name, _)| name == key)
}

/// Where the first entry with a hash is. Hashes are keyed at random, so keys of equal hash are rare
/// and cannot be chosen; they are found by comparing one by one.
#[derive(Debug, Clone, Default)]
struct KeyIndex {
    hasher: RandomState,
    positions: HashMap<u64, usize>,
}

impl KeyIndex {
    fn of(entries: &[(String, Value)]) -> Self {
        let mut index = Self::default();
        index.positions.reserve(entries.len());
        for (at, (key, _)) in entries.iter().enumerate() {
            index.add(key, at);
        }
        index
    }

    fn add(&mut self, key: &str, at: usize) {
        self.positions.entry(self.hasher.hash_one(key)).or_insert(at);
    }

    fn find(&self, entries: &[(String, Value)], key: &str) -> Option<usize> {
        let at = *self.positions.get(&self.hasher.hash_one(key))?;
        if entries[at].0 == key { Some(at) } else { scan(entries, key) }
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect(), index: OnceLock::new() }
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl Value {
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn to_json(&self, style: JsonStyle) -> String {
        let mut out = String::new();
        write_json(&mut out, self, style, 0);
        out
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(u64::from(value).into())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small and large maps behave alike; both kinds are compared with a list of pairs.
    #[test]
    fn keys_keep_their_order_and_place_at_every_size() {
        for size in [1, SCANNED - 1, SCANNED, SCANNED + 1, 500] {
            let mut map: Map = (0..size).map(|at| (format!("k{at}"), Value::from(0_u64))).collect();
            for at in (0..size).rev() {
                map.insert(format!("k{at}"), at as u64);
                map.insert(format!("new{at}"), at as u64);
            }
            assert_eq!(map.remove("k0"), Some(0_u64.into()), "{size}");
            assert_eq!(map.get("k0"), None, "{size}");
            assert_eq!(map.remove("k0"), None, "{size}");
            map.insert("k0", true);
            let old = (1..size).map(|at| format!("k{at}"));
            let new = (0..size).rev().map(|at| format!("new{at}"));
            let wanted: Vec<_> = old.chain(new).chain(["k0".to_owned()]).collect();
            assert_eq!(map.iter().map(|(key, _)| key).collect::<Vec<_>>(), wanted, "{size}");
            assert!(map.iter().all(|(key, value)| map.get(key) == Some(value)), "{size}");
            map.retain(|key, _| key.starts_with("new"));
            assert_eq!((map.len(), map.get("k0")), (size, None));
            assert_eq!(map.get("new0"), Some(&Value::from(0_u64)));
        }
    }

    #[test]
    fn keys_of_equal_hash_are_told_from_each_other() {
        let entries = [("a".to_owned(), Value::Null), ("b".to_owned(), Value::Null)];
        let mut index = KeyIndex::of(&entries);
        let hash = index.hasher.hash_one("b");
        index.positions.insert(hash, 0);
        assert_eq!(index.find(&entries, "b"), Some(1));
    }

    #[test]
    fn equality_does_not_depend_on_the_index() {
        let map: Map = (0..100_u64).map(|at| (at.to_string(), at.into())).collect();
        let other = map.clone();
        assert!(map.get("50").is_some());
        assert_eq!(map, other);
    }
}
