//! Files of other tools that a command names and reads without `convert` (spec 15.6): only if one format fits,
//! nothing is lost, and no program of theirs is run.

use std::collections::HashSet;
use std::io::{BufRead as _, Read as _};
use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::Diagnostics;
use crate::model::Value;
use crate::read::{
    DialectVerdict, Findings, dialect_of, foreign_file_named, is_evals_json, is_sidecar_of_list,
};
use crate::reader::ReadPolicy;
use crate::secrets::Secrets;
use crate::source::{EntryKind, Files, Reach, SourceId, Span};
use crate::syntax::{FILE_LIMIT, json_value, parse_yaml};

use super::conversion::{Conversion, DetectedFormat, Opened};
use super::foreign_file::FileSyntax;
use super::importer::{CodeUse, ImportRequest};
use super::suite_draft::ImportedSuite;

/// A file that was named, and what its reading may touch.
#[derive(Debug, Clone, Copy)]
pub struct DirectRequest<'a> {
    pub files: &'a dyn Files,
    /// Absolute.
    pub path: &'a Utf8Path,
    pub root: &'a Utf8Path,
    pub policy: &'a ReadPolicy,
    /// The names in the targets file of the suite, if there is one.
    pub targets: Option<&'a [String]>,
    /// The file as a user would type it.
    pub shown: &'a str,
}

/// How a named file is read.
#[derive(Debug)]
pub enum DirectReading {
    /// As a suite: it is one, or no format or several formats fit.
    Native,
    /// As the suite that it becomes.
    Converted(DirectSuite),
    /// Not at all; the reason has been reported.
    Refused,
}

/// The suite that a file of another tool becomes, in memory.
#[derive(Debug)]
pub struct DirectSuite {
    /// YAML.
    pub text: String,
    /// The targets file that its providers become, if the suite has none.
    pub targets: Option<String>,
    /// The targets that its tests were written for.
    pub answering: Vec<String>,
}

/// What is reported more often than this is counted.
const MOST_REASONS: usize = 12;

/// A longer first line is not one of a list of tests.
const LINE_LIMIT: u64 = 1024 * 1024;

impl DirectReading {
    /// Files that are suites are recognised by a look at their text and not parsed twice.
    pub fn of(request: &DirectRequest<'_>, findings: &mut Findings) -> Self {
        let Some((import, opened, detected)) = open(request) else { return Self::Native };
        let format = detected.format;
        let mut conversion = opened.convert(&import, format);
        let reasons = reasons_against(&mut conversion);
        if let (Some(suite), true) = (&conversion.suite, reasons.is_empty()) {
            let made_from = request.path.file_name().unwrap_or("a file");
            // The text stays in memory, so nothing is redacted before it is shown.
            let secrets = Secrets::default();
            let targets = suite.targets.as_ref();
            return Self::Converted(DirectSuite {
                text: suite.to_yaml(made_from, &secrets),
                targets: targets.map(|targets| targets.to_yaml(made_from, &secrets)),
                answering: suite.answering.clone(),
            });
        }
        let (sources, out) = findings.parts_mut();
        let shift = sources.append(conversion.sources);
        let place = Span::new(SourceId(0), 0, 0);
        let help = format!(
            "`evalrig convert {} --from {} -o EVAL.yaml` makes a suite of it",
            request.shown, format.name
        );
        let mut refusal = foreign_file_named(shift.of(place), format.title, &detected.keys, &help);
        refusal.message += "; read as it is, it would lose what follows";
        let count = reasons.len();
        for (span, text) in reasons.into_iter().take(MOST_REASONS) {
            refusal = refusal.related(shift.of(span), text);
        }
        if count > MOST_REASONS {
            refusal.message += &format!(" and {} more", count - MOST_REASONS);
        }
        out.report(refusal);
        Self::Refused
    }
}

/// The format that a file of this path fits, if it is the only one: for messages about files that were found.
pub fn lone_format(files: &dyn Files, path: &Utf8Path) -> Option<&'static super::ImportFormat> {
    let policy = ReadPolicy::default();
    let root = path.parent()?;
    let request =
        DirectRequest { files, path, root, policy: &policy, targets: None, shown: path.as_str() };
    open(&request).map(|(_, _, detected)| detected.format)
}

fn open<'a>(request: &DirectRequest<'a>) -> Option<(ImportRequest<'a>, Opened, DetectedFormat)> {
    let (files, path) = (request.files, request.path);
    let syntax = FileSyntax::of(path)?;
    if files.kind(path) != Some(EntryKind::File) {
        return None;
    }
    let text = match syntax {
        // A list may be as large as it likes, and one line says what it is.
        FileSyntax::JsonLines => first_line(files, path)?,
        _ => String::from_utf8(files.read(path, Reach::Anywhere, FILE_LIMIT + 1).ok()?).ok()?,
    };
    let is_candidate = match syntax {
        FileSyntax::Yaml => may_be_foreign(&text),
        FileSyntax::Json => !is_evals_json(&text),
        FileSyntax::JsonLines => is_foreign_list(files, path, &text),
        FileSyntax::Csv | FileSyntax::Toml => false,
    };
    if !is_candidate {
        return None;
    }
    let import = ImportRequest {
        files,
        path,
        others: &[],
        directory: path.parent()?,
        reach: request.policy.reach(request.root),
        map: None,
        targets: request.targets,
        code: CodeUse::Refused,
    };
    let opened = Opened::new(&import).ok()?;
    let mut detected = opened.detect();
    let only = detected.pop().filter(|_| detected.is_empty())?;
    let is_foreign =
        syntax != FileSyntax::Yaml || is_foreign_yaml(request, &text, only.format.name);
    is_foreign.then_some((import, opened, only))
}

fn first_line(files: &dyn Files, path: &Utf8Path) -> Option<String> {
    let mut lines = files.open(path, Reach::Anywhere).ok()?.take(LINE_LIMIT).lines();
    lines.find_map(|line| match line {
        Ok(line) if line.trim().is_empty() => None,
        other => Some(other.ok()),
    })?
}

/// Whether the root looks like that of another tool; suites are large, and this is the only look at them.
fn may_be_foreign(text: &str) -> bool {
    const FOREIGN: &[&str] = &[
        "prompts",
        "providers",
        "default_test",
        "defaultTest",
        "evaluateOptions",
        "stimuli",
        "tasks",
    ];
    const OWN: &[&str] = &["tests", "evalcases", "eval_cases", "cases", "targets"];
    let mut has_own = false;
    for line in text.lines() {
        if line.starts_with([' ', '-', '#']) {
            continue;
        }
        let Some((key, _)) = line.split_once(':') else { continue };
        let key = key.trim_end().trim_matches(['"', '\'']);
        if FOREIGN.contains(&key) {
            return true;
        }
        has_own |= OWN.contains(&key);
    }
    !has_own || text.trim_start().starts_with('{')
}

fn is_foreign_yaml(request: &DirectRequest<'_>, text: &str, format: &str) -> bool {
    let mut ignored = Diagnostics::new();
    let Some(tree) = parse_yaml(SourceId(0), Arc::new(text.to_owned()), &mut ignored) else {
        return false;
    };
    match dialect_of(tree.root()) {
        DialectVerdict::Convertible(name) => name == format,
        DialectVerdict::Unknown => !is_sidecar_of_list(request.files, request.path),
        DialectVerdict::Suite | DialectVerdict::Other => false,
    }
}

/// Tests of a suite have `criteria`; a list with a sidecar is a suite, whatever its keys are.
fn is_foreign_list(files: &dyn Files, path: &Utf8Path, first: &str) -> bool {
    let has_sidecar =
        ["yaml", "yml"].iter().any(|end| files.kind(&path.with_extension(end)).is_some());
    let first = json_value(first).filter(|_| !has_sidecar);
    matches!(first, Some(Value::Map(map)) if map.get("criteria").is_none())
}

/// Why the file needs `convert`, each with its place.
fn reasons_against(conversion: &mut Conversion) -> Vec<(Span, String)> {
    let said = conversion.diagnostics.iter().map(|one| (one.span, one.message.clone()));
    let mut reasons: Vec<(Span, String)> = said.collect();
    let losses = std::mem::take(&mut conversion.losses);
    // What many tests share is said once.
    let mut known = HashSet::new();
    for loss in losses {
        if known.insert((loss.span, loss.message.clone())) {
            reasons.push((loss.span, format!("loss[{}]: {}", loss.kind, loss.message)));
        }
    }
    if reasons.is_empty() && conversion.suite.as_ref().is_some_and(ImportedSuite::runs_programs) {
        let text = "its tests run programs, which only a converted suite does";
        reasons.push((Span::new(SourceId(0), 0, 0), format!("loss[script]: {text}")));
    }
    reasons
}

/// Whether a suite would start something but the target.
pub(super) fn runs_programs(value: &Value) -> bool {
    const WORKSPACE: &[&str] =
        &["setup", "teardown", "hooks", "before_all", "after_all", "docker", "repos"];
    match value {
        Value::List(items) => items.iter().any(runs_programs),
        Value::Map(map) => {
            let kind = map.get("type").and_then(Value::as_str);
            let workspace = map.get("workspace").and_then(Value::as_map);
            matches!(kind, Some("code-judge" | "command"))
                || workspace.is_some_and(|own| WORKSPACE.iter().any(|key| own.get(key).is_some()))
                || map.iter().any(|(_, inner)| runs_programs(inner))
        }
        _ => false,
    }
}
