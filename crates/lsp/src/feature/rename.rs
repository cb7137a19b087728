//! References and renaming of test ids and targets, over all files of the suites that share them.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::syntax::is_one_line_text;
use lsp_types::{self as lsp, Location, TextEdit, Uri, WorkspaceEdit};

use crate::outline::{FileKind, Mark, MarkKind};

use super::spot::{Spot, locations};

/// A file with the places of a name in it.
struct NamedFile {
    path: Utf8PathBuf,
    text: Arc<String>,
    marks: Vec<Mark>,
}

pub(crate) fn references(spot: &Spot<'_>, include_declaration: bool) -> Vec<Location> {
    let Some(mark) = name_at(spot) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for file in places_of(spot, &mark) {
        let marks = file.marks.iter();
        let wanted = marks.filter(|one| include_declaration || one.kind == MarkKind::TargetUse);
        let places: Vec<Range<usize>> = wanted.map(|one| one.place.clone()).collect();
        found.extend(locations(spot.project, &file.path, &file.text, &places));
    }
    found
}

/// The name that would be renamed, with its place.
pub(crate) fn prepare_rename(spot: &Spot<'_>) -> Option<(lsp::Range, String)> {
    let mark = name_at(spot)?;
    Some((spot.range(&mark.place), mark.name))
}

/// The edits, or why there are none.
pub(crate) fn rename(spot: &Spot<'_>, new_name: &str) -> Result<WorkspaceEdit, String> {
    let mark = name_at(spot).ok_or("only test ids and names of targets can be renamed")?;
    if new_name.trim().is_empty() || new_name.contains(['\n', '\r']) {
        return Err("a name is not empty and has one line".to_owned());
    }
    let other = Mark { name: new_name.to_owned(), ..mark.clone() };
    let is_definition = |one: &Mark| one.kind != MarkKind::TargetUse;
    let is_taken = places_of(spot, &other).iter().any(|file| file.marks.iter().any(is_definition));
    if is_taken && new_name != mark.name {
        let noun = if mark.kind == MarkKind::TestId { "test" } else { "target" };
        return Err(format!("another {noun} is named `{new_name}`"));
    }
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for file in places_of(spot, &mark) {
        let places: Vec<Range<usize>> = file.marks.iter().map(|one| one.place.clone()).collect();
        let found = locations(spot.project, &file.path, &file.text, &places);
        for (place, location) in places.iter().zip(found) {
            let is_json = spot.project.kind_of(&file.path, &file.text);
            let is_json = matches!(is_json, FileKind::Lines | FileKind::EvalsJson);
            let new_text = written(new_name, &file.text[place.clone()], is_json);
            let edit = TextEdit { range: location.range, new_text };
            changes.entry(location.uri).or_default().push(edit);
        }
    }
    Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

fn name_at(spot: &Spot<'_>) -> Option<Mark> {
    let survey = spot.survey();
    let mark = survey.mark_at(spot.offset)?;
    let is_renamed =
        matches!(mark.kind, MarkKind::TestId | MarkKind::TargetName | MarkKind::TargetUse);
    is_renamed.then(|| mark.clone())
}

/// Every place of a name. An id is unique in a suite, a target in its targets file.
fn places_of(spot: &Spot<'_>, mark: &Mark) -> Vec<NamedFile> {
    let is_id = mark.kind == MarkKind::TestId;
    let project = spot.project;
    let own_targets = match project.kind_of(&spot.path, &spot.text) {
        FileKind::Targets => Some(spot.path.as_path()),
        _ => spot.targets_file(),
    };
    let mut paths = BTreeSet::from([spot.path.clone()]);
    for analysis in project.analyses() {
        let is_shared = if is_id {
            analysis.reads.contains(&spot.path)
        } else {
            own_targets.is_some() && analysis.targets_file.as_deref() == own_targets
        };
        if is_shared {
            paths.extend(analysis.reads.iter().cloned());
        }
    }
    let same_kind = |kind| match mark.kind {
        MarkKind::TestId => kind == MarkKind::TestId,
        _ => matches!(kind, MarkKind::TargetName | MarkKind::TargetUse),
    };
    let mut found = Vec::new();
    for path in paths {
        let Some(text) = project.text_of(&path) else { continue };
        let survey = project.survey(&path, &text);
        let marks = survey.marks.iter();
        let marks = marks.filter(|one| same_kind(one.kind) && one.name == mark.name);
        let marks: Vec<Mark> = marks.cloned().collect();
        if !marks.is_empty() {
            found.push(NamedFile { path, text, marks });
        }
    }
    found
}

/// The name in the quotes that were there, or in those that it needs. A number stays one.
pub(super) fn written(name: &str, before: &str, is_json: bool) -> String {
    if is_number(before) && is_number(name) {
        return name.to_owned();
    }
    let is_double = before.starts_with('"');
    if before.starts_with('\'') && !is_json && !name.chars().any(char::is_control) {
        return format!("'{}'", name.replace('\'', "''"));
    }
    let is_plain = is_one_line_text(name) && !name.starts_with(['"', '\'']);
    if is_plain && !is_double && !is_json && !name.contains([',', '[', ']', '{', '}']) {
        return name.to_owned();
    }
    serde_json::Value::from(name).to_string()
}

/// An id that is written without quotes and read as a number.
fn is_number(text: &str) -> bool {
    text.parse::<u64>().is_ok_and(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_quotes_or_get_those_they_need() {
        assert_eq!(written("b", "a", false), "b");
        assert_eq!(written("b c", "'a'", false), "'b c'");
        assert_eq!(written("it's", "'a'", false), "'it''s'");
        assert_eq!(written("b", "\"a\"", false), "\"b\"");
        for name in ["yes", "1", "a: b", "x #y", "a, b", "'q'", ""] {
            assert!(written(name, "a", false).starts_with('"'), "{name}");
        }
        assert_eq!(written("b", "7", true), "\"b\"");
    }

    #[test]
    fn a_number_stays_one() {
        for is_json in [false, true] {
            assert_eq!(written("43", "42", is_json), "43");
            assert_eq!(written("43", "\"42\"", is_json), "\"43\"");
            assert_eq!(written("043", "42", is_json), "\"043\"");
        }
        assert_eq!(written("43", "a", false), "\"43\"");
    }
}
