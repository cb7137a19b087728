//! `init`: writes the files needed to run suites here: a suite, a targets file, a `.gitignore`, a
//! workflow. Nothing that exists is changed.

mod agent;
mod example;
mod skill;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::{FoundSuite, repository_root};
use evalrig_core::source::Reach;
use evalrig_run::disk::{
    Access, Disk, WritePath, create_directories, create_directory_of, create_new, read_whole,
};

use crate::args::{CiSystem, Init, InitAgent, parse_run};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_text;

use agent::{Needs, STARTER, installed_agent, python_program};
use skill::read_skill;

const SUITE: &str = include_str!("../../templates/EVAL.yaml");
const MOCK_TARGETS: &str = include_str!("../../templates/targets.yaml");
const GITIGNORE: &str = include_str!("../../templates/gitignore");
const WORKFLOW: &str = include_str!("../../templates/evals.yml");

/// The first line of suites, for editors.
const MODELINE: &str = "# yaml-language-server: $schema=https://raw.githubusercontent.com/evalrig/evalrig/main/schema/eval.strict.schema.json\n";

/// The first line of targets files, for editors.
const TARGETS_MODELINE: &str = "# yaml-language-server: $schema=https://raw.githubusercontent.com/evalrig/evalrig/main/schema/targets.strict.schema.json\n";

const TARGETS: &str = ".evalrig/targets.yaml";

/// What `.co/evals` is, before a run creates it.
const RUN_LOG: &str = "runs are recorded in .co/evals; commit it to keep a history, add `.co/` to .gitignore to leave \
                       it out, or set `no_record = true` in evalrig.toml to turn it off";

/// A file to write.
struct NewFile {
    path: Utf8PathBuf,
    content: String,
    what: &'static str,
}

pub fn run(context: &Context, args: &Init) -> Result<Exit, CommandError> {
    let shown = args.directory.as_deref().unwrap_or(".");
    let directory = context.absolute(shown);
    if directory.exists() && !directory.is_dir() {
        return Err(CommandError::CouldNotStart(format!("`{shown}` is not a directory")));
    }
    let place = InitPlace::look(&directory);
    if args.example.is_some() && (place.has_suites || place.has_targets) {
        return Err(CommandError::CouldNotStart(format!(
            "`{shown}` has suites or targets already; name another directory for the example"
        )));
    }
    let agent = if args.example.is_some() { None } else { place.agent(args.target) };
    let files = place.files(agent, args).into_iter().filter(|file| !file.path.exists());
    let files: Vec<NewFile> = files.collect();
    for file in &files {
        create(&place, &file.path, &file.content).map_err(|error| {
            CommandError::cannot_write(context.shown(&file.path).as_str(), &error)
        })?;
    }
    let mut text = written(context, &files);
    text += &place.notes(agent, &files);
    let is_greeting = agent.is_none() && args.example.is_none() && !place.has_targets;
    if !args.run {
        text += &next_steps(args.directory.as_deref(), is_greeting);
    }
    print_text(&text)?;
    if !args.run {
        return Ok(Exit::Success);
    }
    match parse_run(shown).map_err(CommandError::Config)? {
        Some(args) => super::run::run(context, &args),
        None => Err(CommandError::CouldNotStart(format!("`{shown}` cannot be run"))),
    }
}

/// What is in the directory already.
struct InitPlace {
    directory: Utf8PathBuf,
    root: Utf8PathBuf,
    has_suites: bool,
    has_targets: bool,
    skill: Option<skill::SkillFile>,
}

impl InitPlace {
    fn look(directory: &Utf8Path) -> Self {
        let found = FoundSuite::from_arguments(&Disk, directory, &[]).unwrap_or_default();
        Self {
            directory: directory.to_owned(),
            root: repository_root(&Disk, directory),
            has_suites: !found.suites.is_empty(),
            has_targets: directory.join(TARGETS).exists(),
            skill: read_skill(directory),
        }
    }

    /// Who answers. Suites that exist need an agent; the suite of `init` has a mock.
    fn agent(&self, asked: Option<InitAgent>) -> Option<InitAgent> {
        let needs_agent = self.has_suites || self.skill.is_some();
        asked.or_else(|| needs_agent.then(|| installed_agent().unwrap_or(InitAgent::Claude)))
    }

    /// The files that belong here, whether they exist or not.
    fn files(&self, agent: Option<InitAgent>, args: &Init) -> Vec<NewFile> {
        let mut files = match args.example {
            Some(example) => example.files(&self.directory),
            None => self.suite_and_targets(agent),
        };
        let mut add = |path: Utf8PathBuf, content: &str, what| {
            files.push(NewFile { path, content: content.to_owned(), what });
        };
        add(self.root.join(".gitignore"), GITIGNORE, "keeps results and keys out of git");
        if let Some(CiSystem::Github) = args.ci {
            let workflow = self.root.join(".github/workflows/evals.yml");
            let text = WORKFLOW.replace("vVERSION", concat!("v", env!("CARGO_PKG_VERSION")));
            add(workflow, &text, "checks and runs the suites on GitHub");
        }
        files
    }

    fn suite_and_targets(&self, agent: Option<InitAgent>) -> Vec<NewFile> {
        let mut files = Vec::new();
        let mut add = |path: Utf8PathBuf, content: String, what| {
            files.push(NewFile { path, content, what });
        };
        if !self.has_suites {
            let (content, what) = match &self.skill {
                Some(skill) => (skill.suite(), "two tests of the skill to start from"),
                None => (SUITE.to_owned(), "three tests to start from"),
            };
            add(self.directory.join("EVAL.yaml"), content, what);
        }
        let (targets, what) = match agent {
            Some(agent) => (agent.targets_file(&self.directory), agent.doc()),
            None => (MOCK_TARGETS.to_owned(), "a mock target that answers them"),
        };
        add(self.directory.join(TARGETS), format!("{TARGETS_MODELINE}{targets}"), what);
        if agent == Some(InitAgent::Python) && python_program(&self.directory).is_none() {
            add(self.directory.join(STARTER.0), STARTER.1.to_owned(), "an agent to start from");
        }
        files
    }

    /// What the user has to know or do.
    fn notes(&self, agent: Option<InitAgent>, written: &[NewFile]) -> String {
        let mut notes = Vec::new();
        let has_written = |name: &str| written.iter().any(|file| file.path.ends_with(name));
        if self.has_targets {
            notes.push(format!("{TARGETS} exists already and was not changed"));
        } else if let Some(missing) = agent.and_then(InitAgent::needs).and_then(Needs::missing) {
            notes.push(missing);
        }
        if !has_written(".gitignore") && !ignores_results(&self.root) {
            notes.push("add .evalrig/results/ to .gitignore".to_owned());
        }
        if has_written("evals.yml") && agent.is_none() && has_written("EVAL.yaml") {
            notes.push(
                "one of the three tests fails on purpose, so CI fails until you change it"
                    .to_owned(),
            );
        }
        if !self.root.join(".co/evals").exists() {
            notes.push(RUN_LOG.to_owned());
        }
        notes.iter().map(|note| format!("note: {note}\n")).collect()
    }
}

fn ignores_results(root: &Utf8Path) -> bool {
    let bytes = read_whole(&root.join(".gitignore"), Reach::Inside(root), 1024 * 1024);
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    text.lines().any(|line| line.trim().trim_start_matches('/').starts_with(".evalrig"))
}

fn written(context: &Context, files: &[NewFile]) -> String {
    if files.is_empty() {
        return "everything is here already; nothing was written\n".to_owned();
    }
    let names: Vec<String> =
        files.iter().map(|file| context.shown(&file.path).into_string()).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let lines = names.iter().zip(files);
    lines.map(|(name, file)| format!("wrote {name:<width$}  {}\n", file.what)).collect()
}

/// Fails if the file has appeared in the meantime, and at links that lead out of the repository.
fn create(place: &InitPlace, path: &Utf8Path, content: &str) -> std::io::Result<()> {
    create_directories(&place.directory, Access::Shared)?;
    let is_in_root = path.starts_with(&place.root);
    let root = if is_in_root { &place.root } else { &place.directory };
    let path = WritePath::inside(root, path);
    create_directory_of(path, Access::Shared)?;
    create_new(path, content.as_bytes(), Access::Shared)
}

/// `is_greeting`: the suite is the one of `init`, in which a test fails.
fn next_steps(directory: Option<&str>, is_greeting: bool) -> String {
    let on = directory.map(|directory| format!(" {directory}")).unwrap_or_default();
    let run = format!("evalrig run{on}");
    let validate = format!("evalrig validate{on}");
    let width = validate.chars().count();
    let result =
        if is_greeting { "run the tests; one fails and shows why" } else { "run the tests" };
    format!("\nnext:\n  {run:<width$}  {result}\n  {validate}  check the files\n")
}
