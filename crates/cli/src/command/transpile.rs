//! `transpile`: a suite as files for skill-creator, and what they cannot say.

use std::collections::HashSet;
use std::io::{self, Write as _};

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Level, Severity};
use evalrig_core::export::{
    Audience, CriteriaMode, Ending, Format, Layout, NoSkill, PromptMode, TranspileOptions,
    Transpiled, Transpiler,
};
use evalrig_core::model::Test;
use evalrig_core::read::{FoundSuite, Origin, Sink, SuiteContext};
use evalrig_core::source::{EntryKind, Files};
use evalrig_run::disk::Disk;

use crate::args::{AudienceName, EvalsFormat, LayoutName, NoSkillName, Transpile};
use crate::command::suite::{Read, read, show};
use evalrig_run::disk::{self, Durability};
use evalrig_run::text;

use crate::context::{Context, print_text, report_error};
use crate::exit::Exit;
use crate::loss::Losses;
use crate::place::{Foreign, Placement, State};

pub fn run(context: &Context, args: &Transpile) -> Result<Exit, Exit> {
    let path = context.absolute(&args.file);
    if let Some(problem) = match Disk.kind(&path) {
        None => Some("does not exist"),
        Some(EntryKind::Directory) => Some("is a directory; name the suite in it"),
        Some(_) => None,
    } {
        report_error(&format!("`{}` {problem}", args.file));
        return Err(Exit::CouldNotStart);
    }
    context.check(&args.loading)?;
    let one = FoundSuite {
        path,
        origin: Origin::Named,
    };
    let directory = one.path.parent().unwrap_or(&one.path);
    let root = context.root(&args.loading, &one.path);
    let mut stream = Stream(Transpiler::new(options(args, directory, &root)));
    let Some(mut read) = read(context, &args.loading, &one, &mut stream)? else {
        report_error(&format!("`{}` is no suite", args.file));
        return Err(Exit::CouldNotStart);
    };
    let done = stream.0.finish(&Ending {
        metadata: &read.suite.metadata,
        sources: &read.sources,
        secrets: &read.secrets,
    });
    tell(context, &mut read, &done);
    if done.is_stopped() {
        return Err(Exit::CouldNotStart);
    }
    let placement = Placement {
        directory: match &args.out {
            Some(out) => context.absolute(out),
            None => directory.to_owned(),
        },
        files: &done.files,
        suite: &one.path,
    };
    let losses = Losses {
        list: &done.losses,
        sources: &read.sources,
        secrets: &read.secrets,
        working_directory: &context.working_directory,
    };
    let exit = finish(context, args, &placement, &losses);
    // The process ends now; giving back a long list piece by piece would only take time.
    std::mem::forget(done);
    exit
}

/// Turns every test into what is written of it, so that none has to be kept.
#[derive(Debug)]
struct Stream<'a>(Transpiler<'a>);

impl Sink for Stream<'_> {
    /// What is lost is shown with its line.
    fn needs_source_lines(&self) -> bool {
        true
    }

    fn test(&mut self, test: Test, context: SuiteContext<'_>) {
        self.0.add(&test, context.metadata, context.sources);
    }
}

fn options<'a>(
    args: &Transpile,
    directory: &'a Utf8Path,
    root: &'a Utf8Path,
) -> TranspileOptions<'a> {
    TranspileOptions {
        directory,
        root,
        format: match args.format {
            EvalsFormat::Evals => Format::Evals,
            EvalsFormat::EvalSet => Format::EvalSet,
            EvalsFormat::Both => Format::Both,
        },
        audience: match args.audience {
            AudienceName::Issue598 => Audience::AgentEvals,
            AudienceName::AgentSkills => Audience::AgentSkills,
            AudienceName::SkillCreator => Audience::SkillCreator,
        },
        layout: match args.layout {
            LayoutName::Flat => Layout::Flat,
            LayoutName::SkillDirs => Layout::SkillDirs,
        },
        no_skill: match args.no_skill {
            NoSkillName::Dominant => NoSkill::Dominant,
            NoSkillName::Separate => NoSkill::Separate,
        },
        criteria: if args.no_criteria {
            CriteriaMode::Omitted
        } else {
            CriteriaMode::Kept
        },
        prompts: if args.inline_prompts {
            PromptMode::Inlined
        } else {
            PromptMode::AsWritten
        },
    }
}

/// Shows what is wrong. Errors that do not stop this work are shown as warnings.
fn tell(context: &Context, read: &mut Read, done: &Transpiled) {
    let mut all: Vec<Diagnostic> = std::mem::take(&mut read.rest)
        .into_iter()
        .filter(|one| one.level.severity() == Severity::Error)
        .map(|one| {
            if one.level.blocks_transpile() {
                one
            } else {
                one.level(Level::Warning)
            }
        })
        .collect();
    // What loading said of a test is not said again: it knew the better place.
    let said: HashSet<_> = all.iter().map(|one| (one.code.name, one.test)).collect();
    let news = done.diagnostics.iter();
    let news = news.filter(|one| one.test.is_none() || !said.contains(&(one.code.name, one.test)));
    all.extend(news.cloned().collect::<Vec<_>>());
    if !all.is_empty() {
        show(context, &read.sources, all, &read.secrets);
    }
}

/// Everything is built; from here on it is about the disk. What could not start wins over what
/// is denied (spec 11.4).
fn finish(
    context: &Context,
    args: &Transpile,
    placement: &Placement<'_>,
    losses: &Losses<'_>,
) -> Result<Exit, Exit> {
    if placement.files.is_empty() {
        report_error("no test has a trigger, so there is no eval set to write");
        return Err(Exit::NothingSelected);
    }
    if args.stdout && placement.files.len() > 1 {
        let names: Vec<&str> = placement.files.iter().map(|file| &*file.name).collect();
        let names = names.join(", ");
        report_error(&format!(
            "--stdout takes one file, but there are more: {names}"
        ));
        return Err(Exit::CouldNotStart);
    }
    let foreign = if args.force {
        Foreign::Replace
    } else {
        Foreign::Keep
    };
    let states = if args.stdout {
        Vec::new()
    } else {
        placement.states()
    };
    let writes = !args.stdout && !args.check;
    if let Some(refusal) = writes
        .then(|| placement.refusal(&states, foreign))
        .flatten()
    {
        report_error(&format!("nothing was written: {refusal}"));
        return Err(Exit::CouldNotStart);
    }
    let is_denied = args.deny_loss && !losses.list.is_empty();
    if is_denied || !context.global.quiet {
        let _ = io::stderr().write_all(losses.to_lines().as_bytes());
    }
    if let Some(file) = &args.loss_report {
        save(context, losses, file)?;
    }
    if is_denied {
        report_error("nothing was written: --deny-loss");
        return Ok(Exit::Failure);
    }
    match (args.check, args.stdout) {
        (true, _) => check(context, placement, &states),
        (_, true) => print_text(&placement.files[0].text).map(|()| Exit::Success),
        _ => write(context, placement, &states),
    }
}

fn check(context: &Context, placement: &Placement<'_>, states: &[State]) -> Result<Exit, Exit> {
    let mut exit = Exit::Success;
    for (file, state) in placement.files.iter().zip(states) {
        let problem = match state {
            State::Equal => continue,
            State::Missing => "is missing",
            State::Differs => "differs",
        };
        let path = text::shown_path(&placement.path(file), &context.working_directory);
        print_text(&format!("{path} {problem}\n"))?;
        exit = Exit::Failure;
    }
    Ok(exit)
}

fn write(context: &Context, placement: &Placement<'_>, states: &[State]) -> Result<Exit, Exit> {
    if let Err(error) = placement.write(states) {
        report_error(&format!(
            "cannot write to `{}`: {error}",
            placement.directory
        ));
        return Err(Exit::CouldNotStart);
    }
    if context.global.quiet {
        return Ok(Exit::Success);
    }
    for (file, state) in placement.files.iter().zip(states) {
        let word = match state {
            State::Equal => "unchanged",
            State::Missing | State::Differs => "wrote",
        };
        let path = text::shown_path(&placement.path(file), &context.working_directory);
        print_text(&format!("{word} {path}\n"))?;
    }
    Ok(Exit::Success)
}

fn save(context: &Context, losses: &Losses<'_>, file: &str) -> Result<(), Exit> {
    let path = context.absolute(file);
    let text = losses.to_json().map_err(io::Error::other);
    let saved = text.and_then(|text| disk::replace(&path, text.as_bytes(), Durability::Contents));
    saved.map_err(|error| {
        report_error(&format!("cannot write `{file}`: {error}"));
        Exit::CouldNotStart
    })
}
