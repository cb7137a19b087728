//! Graders of waza that look at the workspace: `file` and `program`.

use camino::Utf8Path;

use crate::model::{Map, Value};

use super::super::assertion_draft::{negated_if, text_check};
use super::super::file_checks::{files_check, in_file, is_inside, path_pattern};
use super::super::importer::Importer;
use super::super::located::Located;
use super::super::script::{ScriptLanguage, script_check};
use super::super::suite_draft::SuiteDraft;

use super::grader_checks::filled_texts;

/// Directories above the eval in which a script may be: waza looks from where it was started.
const DEEPEST: usize = 8;

/// Files that must exist, must not exist, or have a content.
pub(super) fn file_checks(importer: &mut Importer<'_>, config: &Located) -> Vec<Map> {
    let mut checks = Vec::new();
    for (key, statement) in [("must_exist", "exists"), ("must_not_exist", "absent")] {
        let paths = config.get(key).map(Located::items).unwrap_or_default().iter();
        let paths = paths.filter_map(|path| path_below(importer, path));
        let patterns: Vec<String> = paths.map(|path| path_pattern(&path)).collect();
        if !patterns.is_empty() {
            checks.push(files_check(statement, patterns));
        }
    }
    for item in config.get("content_patterns").map(Located::items).unwrap_or_default() {
        let Some(path) = item.get("path").and_then(|path| path_below(importer, path)) else {
            continue;
        };
        let before = checks.len();
        for (key, is_negated) in [("must_match", false), ("must_not_match", true)] {
            for pattern in item.get(key).map(filled_texts).unwrap_or_default() {
                if crate::assertion::pattern_fault(&pattern).is_some() {
                    let message = format!("the pattern `{pattern}` is left out");
                    importer.loss("grader", item.span, message);
                    continue;
                }
                checks.push(in_file(negated_if(is_negated, text_check("regex", pattern)), &path));
            }
        }
        if checks.len() == before {
            checks.push(files_check("exists", vec![path_pattern(&path)]));
        }
    }
    checks
}

fn path_below(importer: &mut Importer<'_>, place: &Located) -> Option<String> {
    let path = place.text().filter(|path| !path.trim().is_empty())?;
    if !is_inside(&path) {
        let message = format!("`{path}` is outside of the workspace, so it is left out");
        importer.loss("grader", place.span, message);
        return None;
    }
    Some(path)
}

/// A program that gets the answer on its standard input, and the workspace in a variable.
pub(super) fn program_check(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    config: &Located,
    directory: &Utf8Path,
) -> Vec<Map> {
    let Some(command) = config.get("command").and_then(Located::text) else {
        importer.loss("grader", config.span, "the grader `program` names no `command`");
        return Vec::new();
    };
    let arguments = config.get("args").map(Located::texts).unwrap_or_default().into_iter();
    let words = std::iter::once(command).chain(arguments);
    let words: Vec<Value> =
        words.map(|word| found_script(importer, directory, word).into()).collect();
    let seconds = config.get("timeout").and_then(Located::number);
    let config = Map::new()
        .with("type", "program")
        .with("value", words)
        .with_some("timeout_seconds", seconds);
    vec![script_check(draft, ScriptLanguage::JavaScript, None, config)]
}

/// A word that names a file, as a path from the suite, where the script runs.
fn found_script(importer: &Importer<'_>, directory: &Utf8Path, word: String) -> String {
    if !word.contains(['/', '.']) || !is_inside(&word) {
        return word;
    }
    let mut places = directory.ancestors().take(DEEPEST).map(|above| above.join(&word));
    let found = places.find(|path| importer.exists(path));
    found.map_or(word, |path| importer.path_in_suite(&path))
}
