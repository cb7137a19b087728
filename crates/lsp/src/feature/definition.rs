//! Go to definition: of targets, skills, types of the author's own, and of every path that leads to a
//! file.

use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::{SKILL_FILE, skill_in};
use evalrig_core::source::{EntryKind, Files, Reach, list_tree, without_dots};
use lsp_types::Location;

use crate::outline::{Mark, MarkKind, Visit};
use crate::text::uri_of;

use super::spot::{Spot, locations};

/// Where scripts of the author's own types are.
pub(super) const JUDGE_FOLDERS: &[&str] =
    &[".evalrig/judges", ".agentv/judges", ".agentv/assertions", ".agentv/graders"];

/// Fields with a program to run: a text is a command line, of which each word may be a path.
const COMMAND_FIELDS: &[&str] = &["script", "command"];

/// Of a repository, so many files are looked at to find a skill.
const MOST_FILES: usize = 20_000;

pub(crate) fn definition(spot: &Spot<'_>) -> Vec<Location> {
    let survey = spot.survey();
    let found = survey.mark_at(spot.offset).map(|mark| definition_of(spot, mark));
    match found {
        Some(places) if !places.is_empty() => places,
        _ => path_at(spot).map(|path| vec![start_of(&path)]).unwrap_or_default(),
    }
}

fn definition_of(spot: &Spot<'_>, mark: &Mark) -> Vec<Location> {
    match mark.kind {
        MarkKind::TargetUse => target(spot, &mark.name),
        MarkKind::AssertionType => {
            script_of_type(spot, &mark.name).map(|path| vec![start_of(&path)]).unwrap_or_default()
        }
        MarkKind::Skill => {
            skill(spot, &mark.name).map(|path| vec![start_of(&path)]).unwrap_or_default()
        }
        // A definition is its own.
        MarkKind::TestId | MarkKind::TargetName => {
            locations(spot.project, &spot.path, &spot.text, std::slice::from_ref(&mark.place))
        }
        MarkKind::Provider | MarkKind::Tag => Vec::new(),
    }
}

fn start_of(path: &Utf8Path) -> Location {
    Location { uri: uri_of(path), range: lsp_types::Range::default() }
}

fn target(spot: &Spot<'_>, name: &str) -> Vec<Location> {
    let Some(file) = spot.targets_file() else {
        return Vec::new();
    };
    let Some(text) = spot.project.text_of(file) else {
        return Vec::new();
    };
    let survey = spot.project.survey(file, &text);
    let names = survey.marks.iter().filter(|mark| mark.kind == MarkKind::TargetName);
    let places: Vec<Range<usize>> =
        names.filter(|mark| mark.name == name).map(|mark| mark.place.clone()).collect();
    locations(spot.project, file, &text, &places)
}

/// `_` and `-` are equivalent in names of types.
fn script_of_type(spot: &Spot<'_>, name: &str) -> Option<Utf8PathBuf> {
    let is_named = |stem: &str| stem.replace('_', "-") == name.replace('_', "-");
    judge_scripts(spot).into_iter().find(|path| path.file_stem().is_some_and(is_named))
}

/// The scripts of the author's own types, the nearest folder first.
pub(super) fn judge_scripts(spot: &Spot<'_>) -> Vec<Utf8PathBuf> {
    let root = spot.root();
    let files = spot.project.files();
    let above = spot.directory().ancestors().take_while(|directory| directory.starts_with(&root));
    let folders = above.flat_map(|directory| JUDGE_FOLDERS.iter().map(|name| directory.join(name)));
    let mut found = Vec::new();
    for folder in folders {
        let listing = files.list(&folder, Reach::Inside(&root)).unwrap_or_default();
        let scripts = listing.entries.iter().filter(|entry| entry.kind == EntryKind::File);
        found.extend(scripts.map(|entry| folder.join(&entry.name)));
    }
    found
}

fn skill(spot: &Spot<'_>, name: &str) -> Option<Utf8PathBuf> {
    skill_files(spot).into_iter().find(|(skill, _)| skill == name).map(|(_, path)| path)
}

/// The skills of the repository, by name.
pub(super) fn skill_files(spot: &Spot<'_>) -> Vec<(String, Utf8PathBuf)> {
    let root = spot.root();
    let files = spot.project.files();
    let tree = list_tree(&files, &root, MOST_FILES);
    let paths = tree.files.iter().map(|file| root.join(file));
    let skills = paths.filter(|path| path.file_name() == Some(SKILL_FILE));
    let named = skills.filter_map(|path| {
        let skill = skill_in(&files, path.parent()?, Reach::Inside(&root))?;
        Some((skill.name, path))
    });
    named.collect()
}

/// A text of the document.
struct ScalarText {
    text: String,
    /// With quotes, if there are any.
    place: Range<usize>,
    is_command: bool,
}

/// The file that the text at the cursor leads to: the whole text, or a word of a command line.
fn path_at(spot: &Spot<'_>) -> Option<Utf8PathBuf> {
    let scalar = scalar_at(spot)?;
    file_at(spot, &scalar.text).or_else(|| {
        let written = &spot.text[scalar.place.clone()];
        let word = word_of_command(written, spot.offset - scalar.place.start);
        file_at(spot, word).filter(|_| scalar.is_command)
    })
}

fn scalar_at(spot: &Spot<'_>) -> Option<ScalarText> {
    let mut found = None;
    spot.parsed().visit(&mut |place, start| {
        let (node, field) = match place {
            Visit::Entry { value, field, .. } => (*value, *field),
            Visit::Item { node, field, .. } => (*node, *field),
            Visit::Mapping { .. } => return,
        };
        let span = node.span();
        let bytes = start + span.start as usize..start + span.end as usize;
        if bytes.start <= spot.offset
            && spot.offset <= bytes.end
            && let Some(text) = node.scalar_text()
        {
            let is_command = field.is_some_and(|field| COMMAND_FIELDS.contains(&field.name));
            found = Some(ScalarText { text: text.to_owned(), place: bytes, is_command });
        }
    });
    found
}

/// The word of a command line at an offset.
fn word_of_command(line: &str, offset: usize) -> &str {
    let is_end = |sign: char| sign.is_whitespace() || "\"'=;|&()<>".contains(sign);
    let before = line[..offset].rsplit(is_end).next().unwrap_or_default();
    let after = line[offset..].split(is_end).next().unwrap_or_default();
    &line[offset - before.len()..offset + after.len()]
}

/// The file of a path as it is written; of a directory with a skill, its SKILL.md.
fn file_at(spot: &Spot<'_>, written: &str) -> Option<Utf8PathBuf> {
    let root = spot.root();
    let path = resolve(written, &spot.start_of_paths(), &root)?;
    let files = spot.project.files();
    let reach = Reach::Inside(&root);
    match files.look(&path, reach).ok()?.kind {
        EntryKind::File => Some(path),
        EntryKind::Directory => {
            let skill = path.join(SKILL_FILE);
            files.look(&skill, reach).is_ok().then_some(skill)
        }
        EntryKind::Other | EntryKind::Outside => None,
    }
}

/// A leading `/` is the repository root; everything else starts at a directory.
pub(super) fn resolve(written: &str, directory: &Utf8Path, root: &Utf8Path) -> Option<Utf8PathBuf> {
    if written.is_empty() || written.contains(['\n', '\0']) {
        return None;
    }
    let path = written.strip_prefix("file://").unwrap_or(written);
    Some(without_dots(&match path.strip_prefix('/') {
        Some(below) => root.join(below),
        None => directory.join(path),
    }))
}
