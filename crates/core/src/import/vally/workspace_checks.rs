//! Graders of Vally that look at the workspace: `file-…` and `run-command`.

use crate::model::{Map, Number, Value};

use super::super::assertion_draft::{negated_if, text_check};
use super::super::file_checks::{files_check, in_file, is_inside, is_pattern};
use super::super::importer::Importer;
use super::super::located::Located;
use super::{flagged_regex, milliseconds};

/// Seconds that a command may take (spec 7.26).
const LONGEST: u64 = 3600;

pub(super) fn file_check(
    importer: &mut Importer<'_>,
    config: &Located,
    kind: &str,
    is_negated: bool,
) -> Option<Map> {
    let path = config.get("path").and_then(Located::text).unwrap_or_default();
    if !is_inside(&path) {
        let message = format!("`{kind}` names no file below the workspace, so it is left out");
        importer.loss("grader", config.span, message);
        return None;
    }
    if kind.ends_with("exists") {
        return Some(files_check(if is_negated { "absent" } else { "exists" }, vec![path]));
    }
    if is_pattern(&path) {
        let message = format!("`{kind}` is left out: a check reads one file, not `{path}`");
        importer.loss("grader", config.span, message);
        return None;
    }
    let text =
        |key: &str| config.get(key).and_then(Located::text).filter(|text| !text.trim().is_empty());
    let check = if kind.ends_with("contains") {
        text("value").map(|value| text_check("contains", value))
    } else {
        text("pattern").and_then(|pattern| flagged_regex(&pattern))
    };
    if check.is_none() {
        importer.loss("grader", config.span, format!("`{kind}` is left out: nothing to look for"));
    } else if is_negated {
        let message = "a check of a file fails if the file does not exist";
        importer.loss_once("method", config.span, message);
    }
    check.map(|check| in_file(negated_if(is_negated, check), &path))
}

/// A program with its arguments, or a line for the shell.
pub(super) fn run_command(importer: &mut Importer<'_>, config: &Located) -> Option<Map> {
    let command = config.get("command").and_then(Located::text);
    let Some(command) = command.filter(|command| !command.trim().is_empty()) else {
        importer.loss("grader", config.span, "the grader `run-command` names no `command`");
        return None;
    };
    let run = match config.get("args") {
        Some(arguments) => {
            let words = std::iter::once(command).chain(arguments.texts());
            Value::from(words.collect::<Vec<String>>())
        }
        None => command.into(),
    };
    let code = config.get("expected_exit_code").and_then(Located::number);
    let code = code.filter(|code| code.as_u64().is_some_and(|code| (1..=255).contains(&code)));
    let cwd = config.get("sub_path").and_then(Located::text).map(|path| path.replace('\\', "/"));
    let seconds = config.get("timeout").and_then(milliseconds);
    let seconds = seconds.map(|time| Number::from(time.div_ceil(1000).clamp(1, LONGEST)));
    for entry in config.entries() {
        let key = entry.key.as_str();
        let is_known = ["command", "args", "expected_exit_code", "sub_path", "timeout", "negate"];
        if !is_known.contains(&key) {
            let message = format!("`{key}` of `run-command` is left out");
            importer.loss("grader", entry.key_span, message);
        }
    }
    let check = Map::new().with("type", "command").with("run", run);
    let check = check.with_some("cwd", cwd.filter(|path| is_inside(path)));
    let check = check.with_some("ok_exit_codes", code.map(|code| vec![Value::from(code)]));
    Some(check.with_some("timeout_seconds", seconds))
}
