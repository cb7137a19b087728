//! The files of a workspace, as if the agent had left others.

use std::collections::BTreeMap;

use camino::Utf8Path;

use crate::model::{Fault, FileChanges, WorkspaceFiles};

/// What became of files: the path where each can be found now, or `None` if it is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDamage {
    moved: BTreeMap<String, Option<String>>,
    /// Files whose earlier content is not known.
    unknown: Vec<String>,
}

impl FileDamage {
    /// As if these changes had not been made.
    pub(super) fn reverted(changes: &FileChanges) -> Self {
        let gone = changes.created.iter().map(|path| (path.clone(), None)).collect();
        let unknown = changes.modified.iter().chain(&changes.deleted).cloned().collect();
        Self { moved: gone, unknown }
    }

    pub(super) fn renamed(renamed: impl Iterator<Item = (String, String)>) -> Self {
        let moved = renamed.map(|(from, to)| (from, Some(to))).collect();
        Self { moved, unknown: Vec::new() }
    }

    fn is_nothing(&self) -> bool {
        self.moved.is_empty() && self.unknown.is_empty()
    }
}

/// A workspace seen through the damage.
#[derive(Debug)]
pub struct DamagedFiles<'a> {
    inner: &'a dyn WorkspaceFiles,
    damage: &'a FileDamage,
    list: Result<Vec<String>, Fault>,
}

impl<'a> DamagedFiles<'a> {
    pub fn new(inner: &'a dyn WorkspaceFiles, damage: &'a FileDamage) -> Self {
        Self { inner, damage, list: Self::listed(inner, damage) }
    }

    fn listed(inner: &dyn WorkspaceFiles, damage: &FileDamage) -> Result<Vec<String>, Fault> {
        let mut files = inner.list()?.to_vec();
        if damage.is_nothing() {
            return Ok(files);
        }
        files.retain(|path| !damage.moved.contains_key(path));
        files.extend(damage.moved.values().flatten().cloned());
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }
}

impl WorkspaceFiles for DamagedFiles<'_> {
    fn path(&self) -> &Utf8Path {
        self.inner.path()
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        if self.damage.unknown.iter().any(|unknown| unknown == path) {
            return Err(Fault::not_measured("the file as it was before the agent changed it"));
        }
        if self.damage.moved.contains_key(path) {
            return Ok(None);
        }
        let mut moved = self.damage.moved.iter();
        match moved.find(|(_, to)| to.as_deref() == Some(path)) {
            Some((from, _)) => self.inner.read(from, limit),
            None => self.inner.read(path, limit),
        }
    }

    fn list(&self) -> Result<&[String], Fault> {
        self.list.as_deref().map_err(Clone::clone)
    }
}
