//! `convert`: writes a file of another tool, an evals.json, cases of `claude plugin eval` or records of the
//! store as a suite, and iterations of skill-creator as results. A suite is read again before it is written,
//! and an existing file is overwritten only with `--force`.

mod foreign;
mod history;
mod records;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Diagnostic, Severity};
use evalrig_core::export;
use evalrig_core::import::task_files;
use evalrig_core::model::{Loss, Suite};
use evalrig_core::read::{CollectTests, Findings as ReadFindings, LoadRequest, holds_cases, load};
use evalrig_core::repair::Overlay;
use evalrig_core::source::{EntryKind, Files};
use evalrig_run::disk::{Access, Disk, Durability, NamedOutput, create_directory_of};
use evalrig_run::session::{known_secrets, quoted};
use evalrig_run::skill_creator::is_history;
use evalrig_run::text::single_line;

use crate::args::{CO_EVALS, Convert, EVALS_JSON};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::loss::Losses;
use crate::output::{print_error_findings, print_message, print_text, print_warnings};
use crate::render::{self, Findings, format_named};

/// Diagnostics about parts of a case that have no counterpart in a suite.
const LOST: [&str; 2] = ["plugin-eval-loss", "unknown-field"];

pub fn run(context: &Context, args: &Convert) -> Result<Exit, CommandError> {
    context.check(&args.loading)?;
    let path = context.absolute(&args.file);
    if Disk.kind(&path).is_none() {
        return Err(CommandError::CouldNotStart(format!("`{}` does not exist", args.file)));
    }
    if !args.more.is_empty() {
        return run_together(context, args, &path);
    }
    let is_case_directory = holds_cases(&Disk, &path);
    if is_case_directory {
        return run_evals_json(context, args, &path);
    }
    if args.from.is_none() && is_history(&path) {
        foreign::refuse_map(args, "iterations of skill-creator")?;
        return history::run(context, args, &path);
    }
    let tasks = task_files(&Disk, &path);
    match args.from.as_deref() {
        Some(EVALS_JSON) => return run_evals_json(context, args, &path),
        Some(CO_EVALS) | None if tasks.is_empty() => {
            if let Some(logged) = records::source(&path) {
                foreign::refuse_map(args, "records of the run log")?;
                return records::run(context, args, &logged);
            }
        }
        _ => {}
    }
    if args.from.as_deref() == Some(CO_EVALS) {
        let message = format!("`{}` is neither a record nor a `.co/evals` directory", args.file);
        return Err(CommandError::CouldNotStart(message));
    }
    let mut files = tasks.into_iter();
    let first = files.next();
    let found = first.as_ref().map_or(foreign::TaskFiles::None, |_| foreign::TaskFiles::Found);
    let path = first.unwrap_or(path);
    let others: Vec<Utf8PathBuf> = files.collect();
    match foreign::choose(context, args, &path, found)? {
        foreign::Choice::EvalsJson => run_evals_json(context, args, &path),
        foreign::Choice::Format(format) => foreign::run(context, args, &path, &others, format),
    }
}

/// Several files that make one suite.
fn run_together(context: &Context, args: &Convert, path: &Utf8Path) -> Result<Exit, CommandError> {
    let others: Vec<Utf8PathBuf> = args.more.iter().map(|file| context.absolute(file)).collect();
    if let Some((file, _)) =
        args.more.iter().zip(&others).find(|(_, path)| Disk.kind(path) != Some(EntryKind::File))
    {
        return Err(CommandError::CouldNotStart(format!("`{file}` is not a file")));
    }
    match foreign::choose(context, args, path, foreign::TaskFiles::None)? {
        foreign::Choice::Format(format) if format.name == "openai-evals" => {
            foreign::run(context, args, path, &others, format)
        }
        _ => Err(CommandError::CouldNotStart(format!(
            "only exports of the OpenAI Evals API can be combined; convert `{}` separately",
            args.more[0]
        ))),
    }
}

fn run_evals_json(
    context: &Context,
    args: &Convert,
    source: &Utf8Path,
) -> Result<Exit, CommandError> {
    foreign::refuse_map(args, "evals.json")?;
    let output = Output::new(context, args).map_err(CommandError::CouldNotStart)?;
    let first = Reading::of(context, args, source, &Disk);
    let Some(suite) = first.sound() else {
        first.show(context);
        if !first.findings.is_blocked() {
            return Err(CommandError::not_a_suite(&args.file));
        }
        return Err(CommandError::InvalidSuite);
    };
    let place = output.place(context);
    let directory = place.parent().unwrap_or(&place);
    let root = context.root(&args.loading, &place);
    let export = export::Context { files: &Disk, sources: first.findings.sources(), root: &root };
    let made_from = made_from(source, Disk.kind(source) == Some(EntryKind::Directory));
    let secrets = first.findings.secrets();
    let text = export::converted_yaml(suite, &export, directory, &made_from, secrets);
    let mut files = Overlay::new(&Disk);
    files.insert(place.clone(), text.clone().into_bytes());
    let second = Reading::of(context, args, &place, &files);
    first.show(context);
    if second.sound().is_none() {
        second.show(context);
        return Err(CommandError::CouldNotStart(format!(
            "`{}` cannot be expressed as a suite; nothing was written",
            args.file
        )));
    }
    let list = first.losses(suite);
    let losses = Losses {
        list: &list,
        sources: first.findings.sources(),
        secrets,
        working_directory: &context.working_directory,
    };
    foreign::save_losses(context, args, &losses)?;
    if args.deny_loss && !list.is_empty() {
        if context.global.quiet {
            print_warnings(&losses.to_lines());
        }
        print_message("nothing was written: `--deny-loss` is set");
        return Ok(Exit::Failure);
    }
    output.write(context, &suite.name, suite.tests.len(), &text)?;
    if !context.global.quiet {
        warn_of_new_errors(&first, &second, output.shown());
    }
    if !context.global.quiet && matches!(output, Output::File { .. }) {
        warn_of_copy(context, source, directory);
    }
    Ok(Exit::Success)
}

/// Says that an `evals.json`, which is found in directories, now repeats the suite.
fn warn_of_copy(context: &Context, source: &Utf8Path, directory: &Utf8Path) {
    if source.file_name() != Some("evals.json") || !source.starts_with(directory) {
        return;
    }
    let source = single_line(context.shown(source).as_str());
    print_message(&format!(
        "`{source}` has the same tests and is still a suite: delete it (`evalrig transpile` writes one \
         from the suite), or exclude it with `'!{source}'`"
    ));
}

/// How the first line of the suite names its source.
fn made_from(source: &Utf8Path, is_directory: bool) -> String {
    let name = source.file_name().unwrap_or("evals.json");
    let above = source.parent().and_then(Utf8Path::file_name).filter(|_| is_directory);
    above.map_or_else(|| name.to_owned(), |above| format!("{above}/{name}"))
}

/// One file, read as a suite.
struct Reading {
    suite: Option<Suite>,
    findings: ReadFindings,
}

impl Reading {
    fn of(context: &Context, args: &Convert, path: &Utf8Path, files: &dyn Files) -> Self {
        let limits = context.limits(&args.loading);
        let root = context.root(&args.loading, path);
        let world = evalrig_core::reader::World { files, ..context.world() };
        let request = LoadRequest::new(world, &limits, path, &root);
        let mut tests = CollectTests::default();
        let mut findings = ReadFindings::new();
        let directory = path.parent().unwrap_or(path);
        findings.add_secrets(known_secrets(&context.load_options(&args.loading), directory));
        let loaded = load(&request, findings, &mut tests);
        let header = loaded.header().cloned();
        Self {
            suite: header.map(|header| header.with_tests(tests.0)),
            findings: loaded.into_findings(),
        }
    }

    /// The suite, unless it has blocking errors.
    fn sound(&self) -> Option<&Suite> {
        let suite = self.suite.as_ref();
        suite.filter(|_| !self.findings.is_blocked())
    }

    /// Prints diagnostics to standard error, because the suite may go to standard output.
    fn show(&self, context: &Context) {
        let least = match (context.global.quiet, context.global.verbose) {
            (true, _) => Severity::Error,
            (_, true) => Severity::Note,
            _ => Severity::Warning,
        };
        let out = self.findings.diagnostics();
        let all = out.iter();
        let mut diagnostics: Vec<Diagnostic> =
            all.filter(|one| one.level.severity() >= least).cloned().collect();
        if diagnostics.is_empty() {
            return;
        }
        render::sort(&mut diagnostics, self.findings.sources());
        let findings = Findings {
            sources: self.findings.sources(),
            diagnostics: &diagnostics,
            errors: out.errors(),
            warnings: out.warnings(),
            dropped: out.dropped(),
            files: 1,
            tests: self.suite.as_ref().map_or(0, |suite| suite.tests.len()),
            working_directory: &context.working_directory,
            secrets: self.findings.secrets(),
        };
        if let Some(format) = format_named("full", context.error_look()) {
            print_error_findings(&*format, &findings);
        }
    }

    /// What the suite leaves out. Reading has reported it; an evals.json loses nothing.
    fn losses(&self, suite: &Suite) -> Vec<Loss> {
        let id = |position: u32| {
            let test = suite.tests.iter().find(|test| test.position == position)?;
            Some(Arc::new(test.id.clone()))
        };
        let found = self.findings.diagnostics().iter();
        let found = found.filter(|one| LOST.contains(&one.code.name));
        let loss = |one: &Diagnostic| Loss {
            kind: one.code.name,
            test: one.test.and_then(id),
            message: one.message.clone().into(),
            span: one.span,
        };
        found.map(loss).collect()
    }

    /// The number of errors by name.
    fn errors(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        let all = self.findings.diagnostics().iter();
        for one in all.filter(|one| one.level.severity() == Severity::Error) {
            *counts.entry(one.code.name).or_default() += 1;
        }
        counts
    }
}

/// Warns of errors that the suite has and the evals.json had not, such as missing criteria.
fn warn_of_new_errors(first: &Reading, second: &Reading, shown: &str) {
    let before = first.errors();
    let news: Vec<String> = second
        .errors()
        .into_iter()
        .filter(|(name, count)| before.get(name).is_none_or(|known| known < count))
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    if !news.is_empty() {
        print_message(&format!(
            "`evalrig validate` will report these errors in {shown}: {}",
            news.join(", ")
        ));
    }
}

enum Output {
    Stdout,
    File { path: Utf8PathBuf, shown: String, replaces: Replaces },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Replaces {
    Nothing,
    Anything,
}

impl Output {
    fn new(context: &Context, args: &Convert) -> Result<Self, String> {
        let shown = match args.output.as_deref() {
            None if !args.stdout => return Err(no_output(args)),
            None | Some("-") => return Ok(Self::Stdout),
            Some(shown) => shown.to_owned(),
        };
        let path = context.absolute(&shown);
        if Disk.kind(&path) == Some(EntryKind::Directory) {
            let inside = format!("{}/EVAL.yaml", shown.trim_end_matches('/'));
            return Err(format!("`{shown}` is a directory; use `-o {inside}`"));
        }
        let ending = path.extension().map(str::to_ascii_lowercase);
        if !matches!(ending.as_deref(), Some("yaml" | "yml")) {
            return Err(format!("`{shown}` must end in .yaml or .yml"));
        }
        // A broken link counts as an existing file.
        if !args.force && path.symlink_metadata().is_ok() {
            return Err(exists(&shown));
        }
        let replaces = if args.force { Replaces::Anything } else { Replaces::Nothing };
        Ok(Self::File { path, shown, replaces })
    }

    /// The path of the suite; its own paths are relative to it.
    fn place(&self, context: &Context) -> Utf8PathBuf {
        match self {
            Self::Stdout => context.working_directory.join("EVAL.yaml"),
            Self::File { path, .. } => path.clone(),
        }
    }

    /// Its name in messages.
    fn shown(&self) -> &str {
        match self {
            Self::Stdout => "this suite",
            Self::File { shown, .. } => shown,
        }
    }

    fn write(
        &self,
        context: &Context,
        name: &str,
        count: usize,
        text: &str,
    ) -> Result<(), CommandError> {
        let Self::File { path, shown, replaces } = self else {
            return print_text(text);
        };
        match write(path, text.as_bytes(), *replaces) {
            Ok(()) if context.global.quiet => Ok(()),
            Ok(()) => {
                let noun = if count == 1 { "test" } else { "tests" };
                let (shown, name) = (single_line(shown), single_line(name));
                print_text(&format!("wrote {shown} ({name}, {count} {noun})\n"))
            }
            // A parent that is a file gives the same kind of error.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && path.symlink_metadata().is_ok() =>
            {
                Err(CommandError::CouldNotStart(exists(shown)))
            }
            Err(error) => Err(CommandError::cannot_write(shown, &error)),
        }
    }
}

/// Without a place to write to, the command is proposed.
fn no_output(args: &Convert) -> String {
    let pairs = args.map.join(",");
    let from = args.from.iter().flat_map(|format| ["--from", format]);
    let map = ["--map", pairs.as_str()].into_iter().filter(|_| !pairs.is_empty());
    let files = std::iter::once(&args.file).chain(&args.more).map(String::as_str);
    let words = ["evalrig", "convert"].into_iter().chain(files).chain(from).chain(map);
    let command: Vec<String> = words.map(quoted).collect();
    format!(
        "no output file; print the suite with `--stdout`, or write it with this command:\n  \
         {} -o EVAL.yaml",
        command.join(" ")
    )
}

fn exists(shown: &str) -> String {
    format!("`{shown}` already exists; use `--force` to overwrite it")
}

fn write(path: &Utf8Path, bytes: &[u8], replaces: Replaces) -> io::Result<()> {
    create_directory_of(path, Access::Shared)?;
    let mut output = NamedOutput::open(path, Access::Shared)?;
    output.write_all(bytes)?;
    match replaces {
        Replaces::Anything => output.finish(Durability::Contents),
        Replaces::Nothing => output.finish_new(Durability::Contents),
    }
}
