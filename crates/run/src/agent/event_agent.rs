//! Programs that report in a stream of events.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{FaultKind, Transcript};
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::source::{Files as _, Reach};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::disk::Disk;
use crate::sandbox::ProgramStart;
use crate::setting::{ConnectContext, FilesMode, Secret, option};

use super::clean_home::HomeLayout;
use super::environment::Environment;
use super::launch::Launch;
use super::placeholder::CommandPart;
use super::process::{STREAM_LIMIT, describe, run_into, with_stderr};
use super::program_files::files_of_arguments;
use super::request::{AttemptFault, ConversationTurn, Request};
use super::stream::{AgentStream, StreamFault, WatchedStream, broken_off, transcript_of};
use super::text::{self, PromptParts};
use super::turn_limit::{TurnLimit, TurnSetting};
use super::{Agent, Pending, SHARED_SKILL_FOLDER, Unreported};

/// Whether a bad exit status is a fault although the events report success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatusRule {
    Counts,
    Ignored,
}

/// What the figures of a continued session count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FiguresRule {
    /// What happened since it was continued.
    OfRun,
    /// Tokens and cost count from the beginning of the session.
    UsageOfSession,
    /// So do requests to the model.
    AllOfSession,
}

impl FiguresRule {
    /// Leaves the figures of this turn.
    fn apply(self, turn: &ConversationTurn, transcript: &mut Transcript) {
        let Some(earlier) = &turn.earlier else { return };
        if self != Self::OfRun {
            earlier.subtract_usage(transcript);
        }
        if self == Self::AllOfSession {
            earlier.subtract_requests(transcript);
        }
    }
}

/// The system gives up on longer arguments. A longer system message is part of the prompt.
const LONGEST_SYSTEM: usize = 100_000;

/// A program that reports in events, and how it is called.
#[derive(Debug)]
pub(crate) struct EventProgram {
    /// Default of `executable`.
    pub(crate) executable: &'static str,
    /// Come before all other arguments.
    pub(crate) first_args: &'static [&'static str],
    pub(crate) model_flag: &'static str,
    /// Come after the `args` of the target.
    pub(crate) last_args: &'static [&'static str],
    /// Variables that are set unless the environment has them.
    pub(crate) defaults: &'static [(&'static str, &'static str)],
    /// Where its settings and its login are.
    pub(crate) home: &'static HomeLayout,
    /// Variables that are not inherited.
    pub(crate) without: &'static [&'static str],
    /// Reads what it prints.
    pub(crate) stream: fn() -> Box<dyn AgentStream>,
    pub(crate) exit: ExitStatusRule,
    /// Gives the agent access to a directory, for attached files outside of the working directory.
    pub(crate) directory_flag: Option<&'static str>,
    /// The skill that a prompt names for it to load before anything else. Its events do not tell.
    pub(crate) explicit_skill: fn(&str) -> Option<&str>,
    /// A file that it writes beside its events.
    pub(crate) report: Option<ReportFile>,
    /// The flag or the command that continues a session, whose name follows. Comes after all flags.
    pub(crate) resume: &'static str,
    /// Whether its figures are those of one run.
    pub(crate) figures: FiguresRule,
    /// The arguments that add this text to its system prompt.
    pub(crate) system: Option<fn(&str) -> Vec<String>>,
    /// Where it looks for the skills of a project.
    pub(crate) skill_folder: &'static str,
    /// The flags of `bypass_permissions`, and whether they are given by default.
    pub(crate) bypass: Option<(&'static [&'static str], bool)>,
    /// How it obeys `max_turns`.
    pub(crate) turns: Option<TurnLimit>,
    /// What its events do not say.
    pub(crate) unreported: &'static [Unreported],
}

impl EventProgram {
    /// With what most programs have in common.
    pub(crate) const fn new(
        executable: &'static str,
        home: &'static HomeLayout,
        stream: fn() -> Box<dyn AgentStream>,
    ) -> Self {
        Self {
            executable,
            first_args: &[],
            model_flag: "--model",
            last_args: &[],
            defaults: &[],
            home,
            without: &[],
            stream,
            exit: ExitStatusRule::Counts,
            directory_flag: None,
            explicit_skill: |_| None,
            report: None,
            resume: "--resume",
            figures: FiguresRule::OfRun,
            system: None,
            skill_folder: SHARED_SKILL_FOLDER,
            bypass: None,
            turns: None,
            unreported: &[],
        }
    }
}

/// For programs that take the text as it is.
pub(crate) fn append_system_prompt(text: &str) -> Vec<String> {
    vec!["--append-system-prompt".to_owned(), text.to_owned()]
}

/// A file in which a program reports what its events leave out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportFile {
    pub(crate) flag: &'static str,
    /// Adds what the file says.
    pub(crate) read: fn(&[u8], &mut Transcript) -> Result<(), String>,
}

/// Bytes of the largest report.
const REPORT_LIMIT: u64 = 1024 * 1024;

pub(crate) const ARGS: Field =
    Field::new("args", Shape::List(&Shape::Text), "additional arguments");

/// The options that all such programs take.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EventAgentOptions {
    pub(crate) executable: Option<Template>,
    pub(crate) model: Option<Template>,
    pub(crate) args: Vec<Template>,
    pub(crate) cwd: Option<Template>,
    pub(crate) env: Vec<(String, Secret)>,
}

impl EventAgentOptions {
    pub(crate) fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Self> {
        let executable = option::full_template(options, "executable");
        let model = option::full_template(options, "model");
        let args = option::arguments(options, "args");
        let cwd = option::path(options, "cwd");
        let env = option::secret_map(options, "env");
        Ok(Self { executable: executable?, model: model?, args: args?, cwd: cwd?, env: env? })
    }

    /// `flags` come before `args`, so that `args` override them. `settings` is a limit on turns that no flag
    /// sets.
    pub(crate) fn connect(
        &self,
        program: &'static EventProgram,
        flags: Vec<String>,
        settings: Option<(TurnSetting, u64)>,
        context: &ConnectContext<'_>,
    ) -> Result<Box<dyn Agent>, Diagnostic> {
        let owned = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        let model = context.model(self.model.as_ref())?;
        let mut args = owned(program.first_args);
        if let Some(model) = &model {
            args.extend(owned(&[program.model_flag, model]));
        }
        args.extend(flags);
        args.extend(context.texts(&self.args)?);
        args.extend_from_slice(context.arm_args);
        args.extend(owned(program.last_args));
        Ok(Box::new(EventAgent {
            program,
            executable: self.executable(program.executable, context)?,
            args,
            cwd: context.directory(self.cwd.as_ref())?,
            env: Environment::of(program.defaults, &self.env, context)?,
            files: context.files_mode()?,
            model,
            settings,
        }))
    }

    /// A bare name is looked up in `PATH`; a path is resolved like every path of the targets file.
    fn executable(
        &self,
        default: &str,
        context: &ConnectContext<'_>,
    ) -> Result<String, Diagnostic> {
        let Some(template) = &self.executable else {
            return Ok(default.to_owned());
        };
        let text = context.text(template)?;
        if text.contains(['/', '\\']) {
            Ok(context.path(template)?.into_string())
        } else {
            Ok(text)
        }
    }
}

/// Runs a program with the prompt on standard input and reads the events it prints.
#[derive(Debug)]
struct EventAgent {
    program: &'static EventProgram,
    executable: String,
    args: Vec<String>,
    cwd: Utf8PathBuf,
    env: Environment,
    files: FilesMode,
    /// As configured; a model that the events name takes precedence.
    model: Option<String>,
    settings: Option<(TurnSetting, u64)>,
}

impl Agent for EventAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn working_dir(&self) -> Option<&Utf8Path> {
        Some(&self.cwd)
    }

    fn program(&self) -> Option<&str> {
        Some(&self.executable)
    }

    fn has_clean_home(&self) -> bool {
        true
    }

    fn home_layout(&self) -> Option<&'static HomeLayout> {
        Some(self.program.home)
    }

    fn skill_folder(&self) -> &'static str {
        self.program.skill_folder
    }

    fn continues_sessions(&self) -> bool {
        true
    }

    fn unreported(&self) -> Vec<Unreported> {
        self.program.unreported.to_vec()
    }

    fn source_files(&self) -> Option<Vec<Utf8PathBuf>> {
        let words = std::iter::once(&self.executable).chain(&self.args);
        let words: Vec<_> = words.map(|word| vec![CommandPart::Text(word.clone())]).collect();
        Some(files_of_arguments(&self.cwd, &words))
    }
}

impl EventAgent {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let parts = match self.program.system {
            Some(_) => text::prompt_parts(request, self.files, LONGEST_SYSTEM)?,
            None => PromptParts { system: None, prompt: text::prompt(request, self.files)? },
        };
        let mut asked = self.ask(request, &parts).await;
        if let Some(transcript) = transcript_of(&mut asked)
            && let Some(skill) = (self.program.explicit_skill)(&parts.prompt)
        {
            transcript.skills.add_explicit(skill);
        }
        asked
    }

    async fn ask(
        &self,
        request: &Request<'_>,
        PromptParts { system, prompt }: &PromptParts,
    ) -> Result<Transcript, AttemptFault> {
        let env = self.env.for_case(request);
        let report = match self.program.report {
            Some(report) => Some((report, request.scratch()?.join(report_name(request)))),
            None => None,
        };
        let mut more = self.directories(request)?;
        if let Some((report, path)) = &report {
            more.extend([report.flag.to_owned(), path.to_string()]);
        }
        if let (Some(arguments), Some(system)) = (self.program.system, system) {
            more.extend(arguments(system));
        }
        let args = self.arguments(more, request.session());
        let start =
            ProgramStart { program: self.executable.clone(), args, cwd: self.cwd.clone(), env };
        let launch = Launch::prepare(request, start, self.program.without, self.program.home)?;
        if let Some((setting, turns)) = self.settings {
            setting.add(turns, launch.home())?;
        }
        let asked = self.run(request, &launch, prompt, report).await;
        asked.map_err(|fault| with_missing_keys(fault, &launch))
    }

    async fn run(
        &self,
        request: &Request<'_>,
        launch: &Launch,
        prompt: &str,
        report: Option<(ReportFile, Utf8PathBuf)>,
    ) -> Result<Transcript, AttemptFault> {
        let spec = launch.spec(request, Some(prompt.as_bytes()), STREAM_LIMIT);
        let mut watched = WatchedStream::new((self.program.stream)(), request.stop);
        let ended = run_into(&spec, &mut watched).await;
        let ended = match ended {
            Ok(ended) => ended,
            Err(fault) => return Err(fault.with_stream(watched.stream)),
        };
        let Some(status) = ended.status else {
            return watched.into_stopped();
        };
        let is_limit = |code| self.settings.is_some_and(|(setting, _)| setting.exit_code == code);
        let is_graded = status.code().is_some_and(is_limit);
        let bad_exit = describe(status).map(|how| {
            let message = with_stderr(how, &ended.stderr);
            AttemptFault::new(FaultKind::Exit, message)
        });
        let mut transcript = match watched.stream.finish() {
            Ok(transcript) => match bad_exit {
                Some(fault) if self.program.exit == ExitStatusRule::Counts && !is_graded => {
                    return Err(fault);
                }
                _ => transcript,
            },
            // The error of the agent says more than its exit status.
            Err(StreamFault::Reported(fault)) => return Err(fault),
            Err(StreamFault::Unfinished(fault)) => {
                return Err(broken_off(bad_exit, &ended.stderr, fault));
            }
        };
        if transcript.model.is_none() {
            transcript.model.clone_from(&self.model);
        }
        if let Some((report, path)) = report {
            add_report(report, &path, &mut transcript)?;
        }
        if let Some(turn) = request.conversation {
            self.program.figures.apply(turn, &mut transcript);
        }
        Ok(transcript)
    }

    /// Gives access to the directories of attached files.
    fn directories(&self, request: &Request<'_>) -> Result<Vec<String>, AttemptFault> {
        let mut more = Vec::new();
        if let (Some(flag), FilesMode::Paths) = (self.program.directory_flag, self.files) {
            let files = text::attached(request)?;
            let directories = files.iter().filter_map(|file| file.parent());
            let outside =
                directories.filter(|directory| !directory.starts_with(request.cwd(&self.cwd)));
            for directory in outside.collect::<BTreeSet<_>>() {
                more.extend([flag.to_owned(), directory.to_string()]);
            }
        }
        Ok(more)
    }

    /// Those of the target with more of them, and with the session to continue.
    fn arguments(&self, mut more: Vec<String>, session: Option<&str>) -> Vec<String> {
        if let Some(session) = session {
            more.extend([self.program.resume.to_owned(), session.to_owned()]);
        }
        let mut args = self.args.clone();
        let last = args.len() - self.program.last_args.len();
        args.splice(last..last, more);
        args
    }
}

/// Words of services that refuse a key, in lower case.
const REFUSALS: &[&str] =
    &["401", "api key", "api_key", "authenticat", "credential", "unauthorized"];

/// A login that fails in a clean home may lack a key that the user has.
fn with_missing_keys(mut fault: AttemptFault, launch: &Launch) -> AttemptFault {
    let said = fault.fault.message.to_lowercase();
    let missing: Vec<&str> = launch.missing_keys().collect();
    if !missing.is_empty() && REFUSALS.iter().any(|words| said.contains(words)) {
        let names = missing.join("`, `");
        fault.fault.message += &format!(
            "\nthe clean home leaves out `{names}`; name what the agent needs in `env` of the target"
        );
    }
    fault
}

fn report_name(request: &Request<'_>) -> String {
    format!("report-{}-{}.json", request.attempt, request.call)
}

/// A program that did not write its report leaves what it would say unknown.
fn add_report(
    report: ReportFile,
    path: &Utf8Path,
    transcript: &mut Transcript,
) -> Result<(), AttemptFault> {
    let reach = Reach::Inside(path.parent().unwrap_or(path));
    let Ok(bytes) = Disk.read(path, reach, REPORT_LIMIT) else {
        return Ok(());
    };
    let unreadable = |why| AttemptFault::new(FaultKind::Reply, format!("`{}`: {why}", report.flag));
    (report.read)(&bytes, transcript).map_err(unreadable)
}
