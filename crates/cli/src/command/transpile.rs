//! `transpile`: writes a suite as files for skill-creator, and lists what they cannot express.

use std::collections::HashSet;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Diagnostic, Level, Severity};
use evalrig_core::export::{
    CriteriaMode, Ending, PromptMode, TranspileOptions, Transpiled, Transpiler,
};
use evalrig_core::model::Test;
use evalrig_core::read::{FoundSuite, Origin, Sink, SuiteContext, enclosing_skill, skill_root};
use evalrig_core::source::{EntryKind, Files};
use evalrig_run::disk::Disk;

use crate::args::Transpile;
use crate::command::suite::{Read, read, show};
use evalrig_run::disk::{Access, Durability, write_named};
use evalrig_run::text;

use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::loss::Losses;
use crate::output::{print_json, print_message, print_text, print_warnings};
use crate::place::{Foreign, Placement, State};

pub fn run(context: &Context, args: &Transpile) -> Result<Exit, CommandError> {
    let path = context.absolute(&args.file);
    if let Some(problem) = match Disk.kind(&path) {
        None => Some("does not exist"),
        Some(EntryKind::Directory) => Some("is a directory; name the suite in it"),
        Some(_) => None,
    } {
        let message = format!("`{}` {problem}", args.file);
        return Err(CommandError::CouldNotStart(message));
    }
    context.check(&args.loading)?;
    let one = FoundSuite { path, origin: Origin::Named };
    let directory = one.path.parent().unwrap_or(&one.path);
    let root = context.root(&args.loading, &one.path);
    let out = args.out.as_ref().map_or(directory.to_owned(), |out| context.absolute(out));
    let skill_root = suite_skill_root(context, args, &one.path, &root);
    let options = options(args, directory, &root, skill_root.as_deref());
    let mut stream = Stream(Transpiler::new(options));
    let Some(mut read) = read(context, &args.loading, &one, &mut stream)? else {
        return Err(CommandError::not_a_suite(&args.file));
    };
    let done = stream.0.finish(&Ending {
        metadata: &read.suite.metadata,
        sources: &read.sources,
        secrets: &read.secrets,
    });
    print_diagnostics(context, &mut read, &done);
    if done.is_stopped() {
        return Err(CommandError::InvalidSuite);
    }
    let placement = Placement { directory: out, files: &done.files, suite: &one.path };
    let losses = Losses {
        list: &done.losses,
        sources: &read.sources,
        secrets: &read.secrets,
        working_directory: &context.working_directory,
    };
    let exit = finish(context, args, &placement, &losses);
    // The process is about to exit; freeing a long list would only take time.
    std::mem::forget(done);
    exit
}

/// Transpiles each test as it is read, so that no test stays in memory.
#[derive(Debug)]
struct Stream<'a>(Transpiler<'a>);

impl Sink for Stream<'_> {
    /// Losses are printed with their lines.
    fn needs_source_lines(&self) -> bool {
        true
    }

    fn test(&mut self, test: Test, context: SuiteContext<'_>) {
        self.0.add(&test, context.metadata, context.sources);
    }
}

/// The skill that the suite lies in: the directory with its SKILL.md, or the parent of `evals/`.
fn suite_skill_root(
    context: &Context,
    args: &Transpile,
    suite: &Utf8Path,
    root: &Utf8Path,
) -> Option<Utf8PathBuf> {
    let limits = context.limits(&args.loading);
    let skill = enclosing_skill(&Disk, suite, root, limits.reach(root));
    let in_evals = || {
        let found = skill_root(suite);
        (Some(found.as_path()) != suite.parent()).then_some(found)
    };
    skill.map(|skill| skill.directory).or_else(in_evals)
}

fn options<'a>(
    args: &Transpile,
    directory: &'a Utf8Path,
    root: &'a Utf8Path,
    skill_root: Option<&'a Utf8Path>,
) -> TranspileOptions<'a> {
    TranspileOptions {
        directory,
        root,
        skill_root,
        format: args.format,
        audience: args.audience,
        layout: args.layout,
        no_skill: args.no_skill,
        criteria: if args.no_criteria { CriteriaMode::Omitted } else { CriteriaMode::Kept },
        prompts: if args.inline_prompts { PromptMode::Inlined } else { PromptMode::AsWritten },
    }
}

/// Prints diagnostics. Errors that do not block transpiling are shown as warnings.
fn print_diagnostics(context: &Context, read: &mut Read, done: &Transpiled) {
    let mut all: Vec<Diagnostic> = std::mem::take(&mut read.rest)
        .into_iter()
        .filter(|one| one.level.severity() == Severity::Error)
        .map(|one| if one.level.blocks_transpile() { one } else { one.level(Level::Warning) })
        .collect();
    // Loading has reported these already, with better places.
    let said: HashSet<_> = all.iter().map(|one| (one.code.name, one.test)).collect();
    let news = done.diagnostics.iter();
    let news = news.filter(|one| one.test.is_none() || !said.contains(&(one.code.name, one.test)));
    all.extend(news.cloned().collect::<Vec<_>>());
    if !all.is_empty() {
        show(context, &read.sources, all, &read.secrets);
    }
}

/// Checks, prints or writes the files. Exit code 2 takes precedence over `--deny-loss` (spec
/// 11.4).
fn finish(
    context: &Context,
    args: &Transpile,
    placement: &Placement<'_>,
    losses: &Losses<'_>,
) -> Result<Exit, CommandError> {
    if placement.files.is_empty() {
        return Err(CommandError::NothingSelected(
            "no eval set to write: no test has a trigger".to_owned(),
        ));
    }
    if args.stdout && placement.files.len() > 1 {
        let names: Vec<&str> = placement.files.iter().map(|file| &*file.name).collect();
        let names = names.join(", ");
        return Err(CommandError::CouldNotStart(format!(
            "`--stdout` prints one file, but there are several: {names}; use `--out DIR`"
        )));
    }
    let foreign = if args.force { Foreign::Replace } else { Foreign::Keep };
    let states = if args.stdout { Vec::new() } else { placement.states() };
    let writes = !args.stdout && !args.check;
    if let Some(refusal) = writes.then(|| placement.refusal(&states, foreign)).flatten() {
        return Err(CommandError::CouldNotStart(format!("nothing was written: {refusal}")));
    }
    let is_denied = args.deny_loss && !losses.list.is_empty();
    if is_denied || !context.global.quiet {
        print_warnings(&losses.to_lines());
    }
    if let Some(file) = &args.loss_report {
        save(context, losses, file)?;
    }
    if is_denied {
        print_message("nothing was written: `--deny-loss` is set");
        return Ok(Exit::Failure);
    }
    match (args.check, args.stdout) {
        (true, _) => check(context, placement, &states),
        (_, true) => print_json(&placement.files[0].text).map(|()| Exit::Success),
        _ => write(context, placement, &states),
    }
}

fn check(
    context: &Context,
    placement: &Placement<'_>,
    states: &[State],
) -> Result<Exit, CommandError> {
    let mut exit = Exit::Success;
    for (file, state) in placement.files.iter().zip(states) {
        let problem = match state {
            State::Equal => continue,
            State::Missing => "is missing",
            State::Differs => "differs",
        };
        let path = text::shown_path(&placement.path(file), &context.working_directory);
        let path = text::single_line(&path);
        print_text(&format!("{path} {problem}\n"))?;
        exit = Exit::Failure;
    }
    Ok(exit)
}

fn write(
    context: &Context,
    placement: &Placement<'_>,
    states: &[State],
) -> Result<Exit, CommandError> {
    placement
        .write(states)
        .map_err(|error| CommandError::cannot_write(placement.directory.as_str(), &error))?;
    if context.global.quiet {
        return Ok(Exit::Success);
    }
    for (file, state) in placement.files.iter().zip(states) {
        let word = match state {
            State::Equal => "unchanged",
            State::Missing | State::Differs => "wrote",
        };
        let path = text::shown_path(&placement.path(file), &context.working_directory);
        let path = text::single_line(&path);
        print_text(&format!("{word} {path}\n"))?;
    }
    Ok(Exit::Success)
}

fn save(context: &Context, losses: &Losses<'_>, file: &str) -> Result<(), CommandError> {
    let path = context.absolute(file);
    let text = losses.to_json().map_err(io::Error::other);
    let saved = text
        .and_then(|text| write_named(&path, text.as_bytes(), Access::Shared, Durability::Contents));
    saved.map_err(|error| CommandError::cannot_write(file, &error))
}
