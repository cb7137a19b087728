//! Commands that prepare and clear workspaces (spec 17.1).

use crate::assertion::SCRIPT_NOT_FOUND;
use crate::diagnostic::{Diagnostic, Level};
use crate::model::{Hook, HookCommand, looks_like_path};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::Spanned;
use crate::syntax::fields::{Entry, Field, Shape};

use super::workspace::read_path;

/// A program with its arguments, a shell line, or a mapping.
pub(super) const HOOK_SHAPE: Shape = Shape::Ref("workspace-hook");

pub static WORKSPACE_HOOK_FIELDS: &[Field] = &[
    Field::new(
        "command",
        Shape::OneOf(&[Shape::NonEmptyText, Shape::NonEmptyList(&Shape::Text)]),
        "a list is run as it is, a string by the shell",
    )
    .also(&["script"]),
    Field::new(
        "timeout_seconds",
        Shape::Integer { min: 1, max: MOST_SECONDS },
        "timeout of the command; default 300",
    ),
    Field::new(
        "timeout_ms",
        Shape::Integer { min: 1, max: MOST_SECONDS * 1000 },
        "the same in milliseconds",
    ),
    Field::new(
        "cwd",
        Shape::NonEmptyText,
        "where it runs, below the workspace; default: the `cwd` of the workspace",
    ),
    Field::new(
        "reset",
        Shape::Choice(&["none", "fast", "strict"]),
        "no effect: every case starts with a fresh workspace",
    ),
];

pub(super) static HOOKS_FIELDS: &[Field] = &[
    Field::new("before_all", HOOK_SHAPE, "once per run for each different workspace"),
    Field::new("before_each", HOOK_SHAPE, "the same as `setup`"),
    Field::new("after_each", HOOK_SHAPE, "the same as `teardown`"),
    Field::new("after_all", HOOK_SHAPE, "once per run for each different workspace"),
    Field::new("enabled", Shape::Boolean, "`false` turns these hooks off; default true"),
];

const MOST_SECONDS: u64 = 3600;
const DEFAULT_SECONDS: u64 = 300;

/// The hooks of one layer.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadHooks {
    pub(super) before_all: Option<Hook>,
    pub(super) setup: Option<Hook>,
    pub(super) teardown: Option<Hook>,
    pub(super) after_all: Option<Hook>,
}

impl ReadHooks {
    /// These, and for those that are missing the ones above.
    pub(super) fn or(self, above: &Self) -> Self {
        Self {
            before_all: self.before_all.or_else(|| above.before_all.clone()),
            setup: self.setup.or_else(|| above.setup.clone()),
            teardown: self.teardown.or_else(|| above.teardown.clone()),
            after_all: self.after_all.or_else(|| above.after_all.clone()),
        }
    }
}

/// `hooks`, and the same hooks written beside it.
pub(super) fn read_hooks(options: &mut Options<'_, '_, '_>) -> ReadHooks {
    let beside = read_named(options, ["before_all", "setup", "teardown", "after_all"]);
    let places = ["before_all", "setup", "teardown", "after_all"].map(|name| options.get(name));
    let inside = options.nested("hooks", HOOKS_FIELDS, |options| {
        let names = ["before_all", "before_each", "after_each", "after_all"];
        for (name, beside) in names.iter().zip(&places) {
            if let (Some(inside), Some(beside)) = (options.get(name), beside) {
                options.spelled_twice(beside, &inside);
            }
        }
        let is_enabled = options.boolean("enabled")?.unwrap_or(true);
        let hooks = read_named(options, names);
        Ok(if is_enabled { hooks } else { ReadHooks::default() })
    });
    match inside {
        Ok(Some(inside)) => beside.or(&inside),
        Ok(None) | Err(Reported) => beside,
    }
}

/// A faulty hook has been reported.
fn read_named(options: &mut Options<'_, '_, '_>, names: [&str; 4]) -> ReadHooks {
    let [before_all, setup, teardown, after_all] = names.map(|name| {
        let entry = options.get(name)?;
        read_hook(options, &entry).ok().flatten()
    });
    ReadHooks { before_all, setup, teardown, after_all }
}

/// `None` for a mapping that only resets.
fn read_hook<'t>(options: &mut Options<'_, '_, 't>, entry: &Entry<'t>) -> ReadResult<Option<Hook>> {
    if !entry.value.is_mapping() {
        let command = read_command(options, entry)?;
        let base = options.reader.directory.clone();
        return Ok(Some(Hook { command, cwd: None, timeout_seconds: DEFAULT_SECONDS, base }));
    }
    let name = entry.field.name;
    options.nested_of(name, entry.value, WORKSPACE_HOOK_FIELDS, |options| {
        let seconds = options.integer("timeout_seconds", 1, MOST_SECONDS);
        let millis = options.integer("timeout_ms", 1, MOST_SECONDS * 1000);
        let cwd = read_path(options, "cwd");
        if let Some(reset) = options.get("reset") {
            options.reader.choice(&reset, &["none", "fast", "strict"]).ok_or(Reported)?;
        }
        if let (Some(one), Some(other)) =
            (options.get("timeout_seconds"), options.get("timeout_ms"))
        {
            return Err(options.spelled_twice(&one, &other));
        }
        let Some(command) = options.get("command") else {
            if options.has("reset") {
                return Ok(None);
            }
            options.require("command")?;
            return Err(Reported);
        };
        let millis = millis?.map(|millis| millis.div_ceil(1000));
        Ok(Some(Hook {
            command: read_command(options, &command)?,
            cwd: cwd?,
            timeout_seconds: seconds?.or(millis).unwrap_or(DEFAULT_SECONDS),
            base: options.reader.directory.clone(),
        }))
    })
}

fn read_command<'t>(
    options: &mut Options<'_, '_, 't>,
    entry: &Entry<'t>,
) -> ReadResult<HookCommand> {
    let name = entry.field.name;
    let help = "write `[make, deps]`, or a line for the shell";
    let message = format!("`{name}` does not name a program");
    if !entry.value.is_sequence() {
        let line = options.text_of(name, entry.value)?;
        if line.value.trim().is_empty() {
            return Err(options.missing(line.span, message, help));
        }
        return Ok(HookCommand::Shell(line.value));
    }
    let words = options.reader.text_list(entry).ok_or(Reported)?;
    if words.first().is_none_or(|first| first.value.trim().is_empty()) {
        return Err(options.missing(entry.value.span(), message, help));
    }
    check_script(options, &words);
    Ok(HookCommand::Argv(words.into_iter().map(|word| word.value).collect()))
}

/// The first argument that is a path is the script. It may be in the workspace, which does not exist
/// yet, unless it leads up.
fn check_script(options: &mut Options<'_, '_, '_>, words: &[Spanned<String>]) {
    let Some(script) = words.iter().skip(1).find(|word| looks_like_path(&word.value)) else {
        return;
    };
    let reader = &mut *options.reader;
    if !script.value.starts_with("../") {
        return;
    }
    let Some(path) = reader.resolve(&script.value, script.span, Level::BlocksRun) else {
        return;
    };
    if reader.kind_of(&path.0).is_none() {
        let message = format!("no script at `{}`", reader.shown(&path.0));
        let help = "write a path relative to the directory of this file, or to the workspace";
        options.report(Diagnostic::new(&SCRIPT_NOT_FOUND, script.span, message).help(help));
    }
}
