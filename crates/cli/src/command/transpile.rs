//! `transpile`: a suite as files for skill-creator, and what they cannot say.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Level, Severity};
use evalrig_core::export::{
    self, Audience, Criteria, Format, Layout, Loss, NoSkill, Prompts, TranspileOptions, Transpiled,
};
use evalrig_core::model::{JsonStyle, Map, Value};
use evalrig_core::read::{Found, Origin};
use evalrig_core::source::{EntryKind, Files, Span};
use evalrig_run::disk::Disk;

use crate::args::{AudienceName, EvalsFormat, LayoutName, NoSkillName, Transpile};
use crate::command::suite::{LoadedSuite, load, show};
use crate::context::{Context, complain, print};
use crate::exit::Exit;
use crate::place::{self, Foreign, Placement, State};
use crate::render::visible;

pub fn run(context: &Context, args: &Transpile) -> Result<Exit, Exit> {
    let path = context.absolute(&args.file);
    if let Some(problem) = match Disk.kind(&path) {
        None => Some("does not exist"),
        Some(EntryKind::Directory) => Some("is a directory; name the suite in it"),
        Some(_) => None,
    } {
        complain(&format!("`{}` {problem}", args.file));
        return Err(Exit::CouldNotStart);
    }
    context.check(&args.loading)?;
    let one = Found {
        path,
        origin: Origin::Named,
    };
    let Some(mut loaded) = load(context, &args.loading, &one)? else {
        complain(&format!("`{}` is no suite", args.file));
        return Err(Exit::CouldNotStart);
    };
    let directory = one.path.parent().unwrap_or(&one.path);
    let done = transpiled(context, args, &loaded, &one.path, directory);
    tell(context, &mut loaded, &done);
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
    let report = Report {
        context,
        loaded: &loaded,
        losses: &done.losses,
    };
    let exit = finish(args, &placement, &report);
    // The process ends now; giving back a large suite piece by piece would only take time.
    std::mem::forget((loaded, done));
    exit
}

fn transpiled(
    context: &Context,
    args: &Transpile,
    loaded: &LoadedSuite,
    path: &Utf8Path,
    directory: &Utf8Path,
) -> Transpiled {
    let root = context.root(&args.loading, path);
    let export = export::Context {
        files: &Disk,
        sources: &loaded.sources,
        root: &root,
    };
    let options = TranspileOptions {
        directory,
        secrets: &loaded.secrets,
        format: match args.format {
            EvalsFormat::Evals => Format::Evals,
            EvalsFormat::EvalSet => Format::EvalSet,
            EvalsFormat::Both => Format::Both,
        },
        audience: match args.audience {
            AudienceName::Issue598 => Audience::Issue598,
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
        criteria: match args.no_criteria {
            true => Criteria::Omitted,
            false => Criteria::Kept,
        },
        prompts: match args.inline_prompts {
            true => Prompts::Inlined,
            false => Prompts::AsWritten,
        },
    };
    export::transpile(&loaded.suite, &export, &options)
}

/// Shows what is wrong. Errors that do not stop this work are shown as warnings.
fn tell(context: &Context, loaded: &mut LoadedSuite, done: &Transpiled) {
    let mut all: Vec<Diagnostic> = std::mem::take(&mut loaded.rest)
        .into_iter()
        .filter(|one| one.level.severity() == Severity::Error)
        .map(|one| match one.level.blocks_transpile() {
            true => one,
            false => one.level(Level::Warning),
        })
        .collect();
    all.extend(done.diagnostics.iter().cloned());
    if !all.is_empty() {
        show(context, &loaded.sources, all, &loaded.secrets);
    }
}

/// Everything is built; from here on it is about the disk. What could not start wins over what
/// is denied (`FORMAT.md` 11.4).
fn finish(args: &Transpile, placement: &Placement<'_>, report: &Report<'_>) -> Result<Exit, Exit> {
    if placement.files.is_empty() {
        complain("no test has a trigger, so there is no eval set to write");
        return Err(Exit::NothingSelected);
    }
    if args.stdout && placement.files.len() > 1 {
        let names: Vec<&str> = placement.files.iter().map(|file| &*file.name).collect();
        let names = names.join(", ");
        complain(&format!(
            "--stdout takes one file, but there are more: {names}"
        ));
        return Err(Exit::CouldNotStart);
    }
    let foreign = match args.force {
        true => Foreign::Replace,
        false => Foreign::Keep,
    };
    let writes = !args.stdout && !args.check;
    if let Some(refusal) = writes.then(|| placement.refusal(foreign)).flatten() {
        complain(&format!("nothing was written: {refusal}"));
        return Err(Exit::CouldNotStart);
    }
    let is_denied = args.deny_loss && !report.losses.is_empty();
    if is_denied || !report.context.global.quiet {
        report.show();
    }
    if let Some(file) = &args.loss_report {
        report.save(file)?;
    }
    if is_denied {
        complain("nothing was written: --deny-loss");
        return Ok(Exit::No);
    }
    match (args.check, args.stdout) {
        (true, _) => check(placement, report),
        (_, true) => print(&placement.files[0].text).map(|()| Exit::Well),
        _ => write(placement, report),
    }
}

fn check(placement: &Placement<'_>, report: &Report<'_>) -> Result<Exit, Exit> {
    let mut exit = Exit::Well;
    for file in placement.files {
        let problem = match placement.state(file) {
            State::Equal => continue,
            State::Missing => "is missing",
            State::Differs => "differs",
        };
        let path = placement.path(file);
        print(&format!("{} {problem}\n", report.shown(&path)))?;
        exit = Exit::No;
    }
    Ok(exit)
}

fn write(placement: &Placement<'_>, report: &Report<'_>) -> Result<Exit, Exit> {
    let states: Vec<State> = placement
        .files
        .iter()
        .map(|file| placement.state(file))
        .collect();
    if let Err(error) = placement.write() {
        complain(&format!(
            "cannot write to `{}`: {error}",
            placement.directory
        ));
        return Err(Exit::CouldNotStart);
    }
    if report.context.global.quiet {
        return Ok(Exit::Well);
    }
    for (file, state) in placement.files.iter().zip(states) {
        let word = match state {
            State::Equal => "unchanged",
            State::Missing | State::Differs => "wrote",
        };
        print(&format!("{word} {}\n", report.shown(&placement.path(file))))?;
    }
    Ok(Exit::Well)
}

/// What is lost, for people and for machines.
struct Report<'a> {
    context: &'a Context,
    loaded: &'a LoadedSuite,
    losses: &'a [Loss],
}

impl Report<'_> {
    /// One line per place; an assertion that many tests share is named once.
    fn show(&self) {
        let mut lines: Vec<(&Loss, usize)> = Vec::new();
        let mut known: HashMap<(&str, Span, &str), usize> = HashMap::new();
        for loss in self.losses {
            let key = (loss.kind, loss.span, loss.message.as_str());
            match known.get(&key) {
                Some(at) => lines[*at].1 += 1,
                None => {
                    known.insert(key, lines.len());
                    lines.push((loss, 0));
                }
            }
        }
        let mut text = String::with_capacity(lines.len() * 100);
        let mut file = (None, String::new());
        for (loss, others) in lines {
            // Losses of one file follow each other.
            if file.0 != Some(loss.span.source) {
                file = (Some(loss.span.source), self.place(loss.span).0);
            }
            let line = self.loaded.sources.position(loss.span).line;
            let file = &file.1;
            let others = match others {
                0 => String::new(),
                1 => " and 1 other".to_owned(),
                more => format!(" and {more} others"),
            };
            let _ = writeln!(
                text,
                "{file}:{line}: loss[{}]: {} (test `{}`{others})",
                loss.kind, loss.message, loss.test
            );
        }
        let text = visible::paragraph(&self.loaded.secrets.redact(&text));
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn save(&self, file: &str) -> Result<(), Exit> {
        let losses: Vec<Value> = self.losses.iter().map(|loss| self.value(loss)).collect();
        let text = Value::from(losses).to_json(JsonStyle::Pretty) + "\n";
        let path = self.context.absolute(file);
        place::replace(&path, text.as_bytes()).map_err(|error| {
            complain(&format!("cannot write `{file}`: {error}"));
            Exit::CouldNotStart
        })
    }

    fn value(&self, loss: &Loss) -> Value {
        let (file, line) = self.place(loss.span);
        let mut source = Map::new();
        source.insert("file", file);
        source.insert("line", line);
        let mut map = Map::new();
        map.insert("kind", loss.kind);
        match loss.test.number() {
            Some(number) => map.insert("test", number),
            None => map.insert("test", self.loaded.secrets.redact(loss.test.as_str())),
        }
        map.insert("message", self.loaded.secrets.redact(&loss.message));
        map.insert("source", source);
        map.into()
    }

    fn place(&self, span: Span) -> (String, u32) {
        let path = self.loaded.sources.get(span.source).path();
        (self.shown(path), self.loaded.sources.position(span).line)
    }

    /// Relative to where the user stands, with `/`.
    fn shown(&self, path: &Utf8Path) -> String {
        let shown = path.strip_prefix(&self.context.working_directory);
        shown.unwrap_or(path).as_str().replace('\\', "/")
    }
}
