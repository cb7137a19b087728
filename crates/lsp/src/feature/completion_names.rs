//! Names for completion that are not in a table: targets, tags, skills, types of the author's own,
//! conversations, and files.

use std::collections::BTreeSet;

use evalrig_core::source::{EntryKind, Files, Reach};

use crate::outline::{MarkKind, Visit};

use super::definition::{judge_scripts, resolve, skill_files};
use super::spot::Spot;

/// Fields whose values are paths. Elsewhere files are offered once a `/` is typed.
const PATH_FIELDS: &[&str] = &[
    "tests",
    "input_files",
    "prompt",
    "script",
    "cwd",
    "overlay",
    "schema",
    "template",
    "skills",
    "workspace",
    "files",
];

/// The names of the targets file, or of this document if it is one.
pub(super) fn targets(spot: &Spot<'_>) -> Vec<String> {
    let file = spot.targets_file().unwrap_or(&spot.path);
    let Some(text) = spot.project.text_of(file) else {
        return Vec::new();
    };
    let survey = spot.project.survey(file, &text);
    let names = survey.marks.iter().filter(|mark| mark.kind == MarkKind::TargetName);
    names.map(|mark| mark.name.clone()).collect()
}

/// The tags of all tests that are known.
pub(super) fn tags(spot: &Spot<'_>) -> BTreeSet<String> {
    let tests = spot.project.analyses().flat_map(|analysis| &analysis.tests);
    let mut found: BTreeSet<String> = tests.flat_map(|test| test.tags.iter().cloned()).collect();
    let survey = spot.survey();
    let here = survey.marks.iter().filter(|mark| mark.kind == MarkKind::Tag);
    found.extend(here.map(|mark| mark.name.clone()));
    found
}

/// With the path of each, relative to the root.
pub(super) fn skills(spot: &Spot<'_>) -> Vec<(String, String)> {
    let root = spot.root();
    let shown = |path: camino::Utf8PathBuf| path.strip_prefix(&root).unwrap_or(&path).to_string();
    skill_files(spot).into_iter().map(|(name, path)| (name, shown(path))).collect()
}

/// With the path of each script, relative to the root.
pub(super) fn scripted_types(spot: &Spot<'_>) -> Vec<(String, String)> {
    let root = spot.root();
    let named = judge_scripts(spot).into_iter().filter_map(|path| {
        let name = path.file_stem()?.to_owned();
        Some((name, path.strip_prefix(&root).unwrap_or(&path).to_string()))
    });
    named.collect()
}

/// The conversations of this document.
pub(super) fn conversations(spot: &Spot<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    spot.parsed().visit(&mut |place, _| {
        if let Visit::Entry { field: Some(field), value, .. } = place
            && field.name == "conversation_id"
        {
            found.extend(value.scalar_text().filter(|name| !name.is_empty()).map(str::to_owned));
        }
    });
    found
}

/// Paths that begin with what is typed, and whether each is a directory.
pub(super) fn paths(spot: &Spot<'_>, field: &str, typed: &str) -> Vec<(String, bool)> {
    if !typed.contains('/') && !PATH_FIELDS.contains(&field) {
        return Vec::new();
    }
    let (folder, begun) = typed
        .rsplit_once('/')
        .map_or(("", typed), |(folder, begun)| (&typed[..folder.len() + 1], begun));
    let root = spot.root();
    let start = spot.start_of_paths();
    let directory = if folder.is_empty() { Some(start) } else { resolve(folder, &start, &root) };
    let Some(directory) = directory else {
        return Vec::new();
    };
    let listing = spot.project.files().list(&directory, Reach::Inside(&root)).unwrap_or_default();
    let entries = listing.entries.into_iter().filter(|entry| {
        let is_hidden = entry.name.starts_with('.') && !begun.starts_with('.');
        !is_hidden && directory.join(&entry.name) != spot.path
    });
    let found = entries.filter_map(|entry| match entry.kind {
        EntryKind::File => Some((format!("{folder}{}", entry.name), false)),
        EntryKind::Directory => Some((format!("{folder}{}/", entry.name), true)),
        EntryKind::Other | EntryKind::Outside => None,
    });
    found.collect()
}
