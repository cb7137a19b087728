//! `convert` from a file of another tool: chooses the format, shows what is lost, and writes the suite
//! with the scripts and targets that it needs. Nothing is written before everything has been checked.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::import::{
    CodeUse, Conversion, FieldMap, ImportFormat, ImportRequest, ImportedSuite, MapProposal, Opened,
    format_named,
};
use evalrig_core::read::{Findings as ReadFindings, is_evals_json};
use evalrig_core::repair::Overlay;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Reach;
use evalrig_run::disk::{
    Access, Disk, Durability, WritePath, create_directories, create_directory_of, read_whole,
    replace, write_named,
};
use evalrig_run::session::{known_secrets, other_providers, quoted};
use evalrig_run::target::{find_targets_file, read_targets};
use evalrig_run::text::{shown_path, single_line};

use crate::args::Convert;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::loss::Losses;
use crate::output::{print_message, print_text, print_warnings};

use super::{Output, Reading};

/// How a file is read.
pub(super) enum Choice {
    /// By the reader of suites.
    EvalsJson,
    Format(&'static ImportFormat),
}

/// Whether a directory was named that has tasks of Harbor or Terminal-Bench.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskFiles {
    Found,
    None,
}

/// The format that was asked for, or that the file has.
pub(super) fn choose(
    context: &Context,
    args: &Convert,
    path: &Utf8Path,
    files: TaskFiles,
) -> Result<Choice, CommandError> {
    if let Some(format) = args.from.as_deref().and_then(format_named) {
        return Ok(Choice::Format(format));
    }
    if let (TaskFiles::Found, Some(format)) = (files, format_named("harbor")) {
        tell_format(context, args, format, "tasks");
        return Ok(Choice::Format(format));
    }
    let request = request_for(path);
    let opened = Opened::new(&request).map_err(|endings| wrong_ending(&args.file, endings))?;
    let Some(file) = &opened.file else {
        show_failure(context, opened.into_failure());
        return Err(CommandError::InvalidSuite);
    };
    let detected = opened.detect();
    match detected.as_slice() {
        [only] if !is_skill_evals(path) => {
            let keys: Vec<String> = only.keys.iter().map(|key| format!("`{key}`")).collect();
            tell_format(context, args, only.format, &keys.join(" and "));
            Ok(Choice::Format(only.format))
        }
        // A map says that the file is a list.
        [] | [_] if !args.map.is_empty() && MapProposal::of(file).is_some() => {
            format_named("list").map(Choice::Format).ok_or_else(|| unrecognised(args, None))
        }
        [] | [_] if has_evals_shape(path) => match MapProposal::of(file) {
            Some(proposal)
                if !is_skill_evals(path) && proposal.grades_more_than_evals_json(file) =>
            {
                Err(CommandError::CouldNotStart(proposed(args, &proposal)))
            }
            _ => Ok(Choice::EvalsJson),
        },
        [only] => Ok(Choice::Format(only.format)),
        [] => Err(unrecognised(args, MapProposal::of(file))),
        several => {
            let names: Vec<&str> = several.iter().map(|one| one.format.name).collect();
            let names = names.join(", ");
            Err(CommandError::CouldNotStart(format!(
                "`{}` fits several formats: {names}; choose one with `--from`",
                args.file
            )))
        }
    }
}

/// Says how the file is read, and why.
fn tell_format(context: &Context, args: &Convert, format: &ImportFormat, reason: &str) {
    if !context.global.quiet {
        print_message(&format!("reading `{}` as {}: it has {reason}", args.file, format.name));
    }
}

fn wrong_ending(file: &str, endings: &str) -> CommandError {
    let is_code = matches!(
        Utf8Path::new(file).extension(),
        Some("js" | "cjs" | "mjs" | "ts" | "cts" | "mts" | "py")
    );
    CommandError::CouldNotStart(if is_code {
        format!(
            "`{file}` is code, which `convert` does not run: write the configuration that it makes to a \
             .json or .yaml file, and convert that"
        )
    } else {
        format!("`{file}` does not end in {endings}")
    })
}

fn request_for(path: &Utf8Path) -> ImportRequest<'_> {
    ImportRequest {
        files: &Disk,
        path,
        others: &[],
        directory: path.parent().unwrap_or(path),
        reach: Reach::Anywhere,
        map: None,
        targets: None,
        code: CodeUse::Written,
    }
}

/// An `evals.json` is that of a skill, whatever keys its entries have.
fn is_skill_evals(path: &Utf8Path) -> bool {
    path.file_name() == Some("evals.json") && has_evals_shape(path)
}

/// A larger file is not looked into.
const LARGEST_EVALS_JSON: u64 = 16 * 1024 * 1024;

fn has_evals_shape(path: &Utf8Path) -> bool {
    path.extension() == Some("json")
        && read_whole(path, Reach::Anywhere, LARGEST_EVALS_JSON)
            .is_ok_and(|bytes| is_evals_json(&String::from_utf8_lossy(&bytes)))
}

/// Says what to type.
fn unrecognised(args: &Convert, proposal: Option<MapProposal>) -> CommandError {
    let file = &args.file;
    let Some(proposal) = proposal else {
        return CommandError::CouldNotStart(format!(
            "`{file}` has an unknown format; choose one of `evalrig convert --help` with `--from`, or \
             use `evalrig show {file}` to print a suite in canonical form"
        ));
    };
    if proposal.keys.iter().any(|key| key == "criteria")
        && proposal.keys.iter().any(|key| key == "input")
    {
        return CommandError::CouldNotStart(format!(
            "`{file}` already has the tests of a suite; `evalrig validate {file}` checks them"
        ));
    }
    CommandError::CouldNotStart(proposed(args, &proposal))
}

/// The command with a map, for a list whose keys are not known.
fn proposed(args: &Convert, proposal: &MapProposal) -> String {
    let keys: Vec<String> = proposal.keys.iter().map(|key| format!("`{key}`")).collect();
    let map = proposal.map.clone().unwrap_or_else(|| "input=KEY".to_owned());
    let output = args.output.as_deref().unwrap_or("EVAL.yaml");
    let words = ["evalrig", "convert", &args.file, "--from", "list", "--map", &map, "-o", output];
    let command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let reason = match proposal.map {
        Some(_) => "name the fields of a test",
        None => "say which of them is the input",
    };
    format!(
        "`{}` is a list with the keys {}; {reason}:\n  {}",
        args.file,
        keys.join(", "),
        command.join(" ")
    )
}

pub(super) fn run(
    context: &Context,
    args: &Convert,
    path: &Utf8Path,
    others: &[Utf8PathBuf],
    format: &'static ImportFormat,
) -> Result<Exit, CommandError> {
    let map = field_map(args)?;
    let request = request_for(path);
    if format.name == "list"
        && map.is_none()
        && let Ok(opened) = Opened::new(&request)
        && let Some(proposal) = opened.file.as_ref().and_then(MapProposal::of)
    {
        return Err(CommandError::CouldNotStart(proposed(args, &proposal)));
    }
    let output = Output::new(context, args).map_err(CommandError::CouldNotStart)?;
    let place = output.place(context);
    let directory = place.parent().unwrap_or(&place);
    let root = context.root(&args.loading, path);
    let policy = context.limits(&args.loading);
    let targets = known_targets(context, args, &place);
    let request = ImportRequest {
        files: &Disk,
        path,
        others,
        directory,
        reach: policy.reach(&root),
        map: map.as_ref(),
        targets: targets.as_deref(),
        code: CodeUse::Written,
    };
    let opened = Opened::new(&request).map_err(|endings| wrong_ending(&args.file, endings))?;
    let mut conversion = opened.convert(&request, format);
    let Some(suite) = conversion.suite.take() else {
        show_failure(context, conversion);
        return Err(CommandError::InvalidSuite);
    };
    let secrets = known_secrets(&context.load_options(&args.loading), directory);
    let made_from = path.file_name().unwrap_or("a file");
    let files = Written::new(&suite, directory, made_from, &secrets);
    let text = suite.to_yaml(made_from, &secrets);
    check(context, args, &place, &text, &files)?;
    report_losses(context, args, &conversion, &secrets)?;
    if args.deny_loss && !conversion.losses.is_empty() {
        print_message("nothing was written: `--deny-loss` is set");
        return Ok(Exit::Failure);
    }
    match output {
        Output::Stdout => files.tell(),
        Output::File { .. } => files.write(context, args)?,
    }
    output.write(context, &suite.name, suite.test_count, &text)?;
    if !context.global.quiet {
        tell_how_to_run(&suite);
    }
    Ok(Exit::Success)
}

/// What the command to run it needs, where `evalrig run` alone does something else.
fn tell_how_to_run(suite: &ImportedSuite) {
    if suite.needs_container {
        print_message(
            "its tests run in containers; add `--sandbox podman` or `--sandbox docker` to `run`",
        );
    }
    if let Some(text) = other_providers("the file", &suite.answering) {
        print_message(&text);
    }
}

/// Refuses a map that nothing would follow.
pub(super) fn refuse_map(args: &Convert, read_as: &str) -> Result<(), CommandError> {
    if args.map.is_empty() {
        return Ok(());
    }
    Err(CommandError::CouldNotStart(format!(
        "`--map` is for lists of records, and `{}` is read as {read_as}; leave `--map` out",
        args.file
    )))
}

fn field_map(args: &Convert) -> Result<Option<FieldMap>, CommandError> {
    if args.map.is_empty() {
        return Ok(None);
    }
    FieldMap::parse(&args.map.join(",")).map(Some).map_err(CommandError::CouldNotStart)
}

/// The names in the targets file that the suite will find.
fn known_targets(context: &Context, args: &Convert, place: &Utf8Path) -> Option<Vec<String>> {
    let root = context.root(&args.loading, place);
    let directory = place.parent().unwrap_or(place);
    let file = find_targets_file(&Disk, directory, &root, &context.working_directory)?;
    let mut findings = ReadFindings::new();
    let (sources, _) = findings.parts_mut();
    let mut ignored = Diagnostics::new();
    let world = context.world();
    let targets = read_targets(world, sources, &mut ignored, &file, &root, Reach::Anywhere);
    Some(targets.map(|targets| targets.names().map(str::to_owned).collect()).unwrap_or_default())
}

/// Shows why no suite can be made.
fn show_failure(context: &Context, conversion: Conversion) {
    let findings = ReadFindings::of_parts(conversion.sources, conversion.diagnostics);
    Reading { suite: None, findings }.show(context);
}

/// Reads the suite before it is written. What it reports is a mistake of the conversion.
fn check(
    context: &Context,
    args: &Convert,
    place: &Utf8Path,
    text: &str,
    files: &Written,
) -> Result<(), CommandError> {
    let mut overlay = Overlay::new(&Disk);
    overlay.insert(place.to_owned(), text.as_bytes().to_vec());
    for file in &files.files {
        overlay.insert(file.path.clone(), file.text.as_bytes().to_vec());
    }
    let reading = Reading::of(context, args, place, &overlay);
    reading.show(context);
    if reading.sound().is_some() {
        return Ok(());
    }
    Err(CommandError::CouldNotStart(format!(
        "`{}` cannot be expressed as a suite; nothing was written",
        args.file
    )))
}

fn report_losses(
    context: &Context,
    args: &Convert,
    conversion: &Conversion,
    secrets: &Secrets,
) -> Result<(), CommandError> {
    let losses = Losses {
        list: &conversion.losses,
        sources: &conversion.sources,
        secrets,
        working_directory: &context.working_directory,
    };
    if args.deny_loss || !context.global.quiet {
        print_warnings(&losses.to_lines());
    }
    save_losses(context, args, &losses)
}

/// Writes the list that `--loss-report` asks for.
pub(super) fn save_losses(
    context: &Context,
    args: &Convert,
    losses: &Losses<'_>,
) -> Result<(), CommandError> {
    let Some(file) = &args.loss_report else { return Ok(()) };
    let path = context.absolute(file);
    let text = losses.to_json().map_err(io::Error::other);
    let saved = text
        .and_then(|text| write_named(&path, text.as_bytes(), Access::Shared, Durability::Contents));
    saved.map_err(|error| CommandError::cannot_write(file, &error))
}

/// The files that a suite needs, with their texts.
struct Written {
    /// The directory of the suite, which they stay in.
    directory: Utf8PathBuf,
    files: Vec<WrittenFile>,
}

struct WrittenFile {
    path: Utf8PathBuf,
    text: String,
    /// What is said about it behind its name.
    remark: String,
}

impl Written {
    fn new(
        suite: &ImportedSuite,
        directory: &Utf8Path,
        made_from: &str,
        secrets: &Secrets,
    ) -> Self {
        let scripts = suite.files.iter().map(|file| WrittenFile {
            path: directory.join(&file.name),
            text: file.text.clone(),
            remark: String::new(),
        });
        let targets = suite.targets.as_ref().map(|targets| WrittenFile {
            path: directory.join(".evalrig").join("targets.yaml"),
            text: targets.to_yaml(made_from, secrets),
            remark: format!(" ({})", targets.names.join(", ")),
        });
        Self { directory: directory.to_owned(), files: scripts.chain(targets).collect() }
    }

    /// Only the suite has a path that the user named.
    fn write_file(&self, file: &WrittenFile) -> io::Result<()> {
        create_directories(&self.directory, Access::Shared)?;
        let path = WritePath::inside(&self.directory, &file.path);
        create_directory_of(path, Access::Shared)?;
        replace(path, file.text.as_bytes(), Access::Shared, Durability::Contents)
    }

    /// The suite goes to standard output, where nothing can be beside it.
    fn tell(&self) {
        for file in &self.files {
            let name = file.path.file_name().unwrap_or_default();
            print_message(&format!("`{name}` belongs beside this suite; `-o FILE` writes it"));
        }
    }

    /// Writes what is not there yet. A file with another text is replaced only with `--force`.
    fn write(&self, context: &Context, args: &Convert) -> Result<(), CommandError> {
        const LIMIT: u64 = 1024 * 1024;
        let mut missing: Vec<(&WrittenFile, String)> = Vec::new();
        for file in &self.files {
            let shown = shown_path(&file.path, &context.working_directory);
            let there = read_whole(&file.path, Reach::Anywhere, LIMIT).ok();
            if there.as_deref() == Some(file.text.as_bytes()) {
                continue;
            }
            if file.path.symlink_metadata().is_ok() && !args.force {
                let message = format!("`{shown}` already exists; use `--force` to overwrite it");
                return Err(CommandError::CouldNotStart(message));
            }
            missing.push((file, shown));
        }
        for (file, shown) in missing {
            self.write_file(file).map_err(|error| CommandError::cannot_write(&shown, &error))?;
            if !context.global.quiet {
                let remark = single_line(&file.remark);
                print_text(&format!("wrote {}{remark}\n", single_line(&shown)))?;
            }
        }
        Ok(())
    }
}
