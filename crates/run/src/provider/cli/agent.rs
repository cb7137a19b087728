//! The agent of a `cli` target: one attempt is one process.

use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{FaultKind, Message, Transcript};
use evalrig_core::source::{Files as _, Reach};

use crate::agent::clean_home::HomeLayout;
use crate::agent::environment::Environment;
use crate::agent::launch::Launch;
use crate::agent::messages_json::messages_json;
use crate::agent::placeholder::{CommandPart, Placeholder, PlaceholderValues, with_own_files};
use crate::agent::process::{
    OUTPUT_LIMIT, ProcessOutput, ProcessSpec, STREAM_LIMIT, describe, run, run_into, with_stderr,
};
use crate::agent::program_files::{files_of_arguments, files_of_script};
use crate::agent::shell::script;
use crate::agent::stream::{WatchedStream, broken_off, transcript_of};
use crate::agent::{
    Agent, AttemptFault, Pending, Request, Retry, StopRule, StreamFault, Unreported, text,
};
use crate::disk::{Access, Disk, create_new};
use crate::format::{self, EventFormat, OutputFormat, StreamReader};
use crate::sandbox::ProgramStart;
use crate::setting::FilesMode;

use super::{CliCommand, StdinMode};

#[derive(Debug)]
pub(super) struct CliAgent {
    pub(super) command: CliCommand<Vec<CommandPart>>,
    pub(super) cwd: Utf8PathBuf,
    pub(super) env: Environment,
    pub(super) stdin: StdinMode,
    pub(super) format: Option<OutputFormat>,
    pub(super) ok_exit_codes: Vec<u64>,
    pub(super) files: FilesMode,
}

/// The command of one attempt.
#[derive(Debug)]
struct CliProgram {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl CliProgram {
    fn launch(self, agent: &CliAgent, request: &Request<'_>) -> Result<Launch, AttemptFault> {
        let Self { program, args, env } = self;
        let start = ProgramStart { program, args, cwd: agent.cwd.clone(), env };
        Launch::prepare(request, start, &[], &HomeLayout::PLAIN)
    }
}

impl Agent for CliAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn working_dir(&self) -> Option<&Utf8Path> {
        Some(&self.cwd)
    }

    fn program(&self) -> Option<&str> {
        match &self.command {
            CliCommand::Argv(argv) => match argv.first().map(Vec::as_slice) {
                Some([CommandPart::Text(program)]) => Some(program),
                _ => None,
            },
            CliCommand::Shell(_) => None,
        }
    }

    fn needs_workspace(&self) -> bool {
        self.command.mentions(Placeholder::Workspace)
    }

    fn source_files(&self) -> Option<Vec<Utf8PathBuf>> {
        Some(match &self.command {
            CliCommand::Argv(argv) => files_of_arguments(&self.cwd, argv),
            CliCommand::Shell(line) => files_of_script(&self.cwd, line),
        })
    }

    fn unreported(&self) -> Vec<Unreported> {
        // An output file without a format may be of either kind.
        let is_text = !self.command.mentions(Placeholder::OutputFile);
        let format = self.format.or(is_text.then_some(OutputFormat::Text));
        format.map_or_else(Vec::new, |format| format::unreported(format).to_vec())
    }
}

impl CliAgent {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let files = self.attached(request)?;
        let prompt = self.prompt(request)?;
        let stdin = match self.stdin {
            StdinMode::Prompt => Some(prompt.clone().into_bytes()),
            StdinMode::Messages => Some(messages_json(request, &files).into_bytes()),
            StdinMode::None => None,
        };
        let values = self.values(request, prompt, &files)?;
        let program = self.program(request, &values)?;
        let launch = program.launch(self, request)?;
        let spec = launch.spec(request, stdin.as_deref(), self.output_limit());
        let Some(events) = self.format.and_then(OutputFormat::events) else {
            let ended = run(&spec).await?;
            self.check_exit(ended.status, &ended.stderr)?;
            return self.read(&values, &ended);
        };
        let mut asked = if values.output_file.is_empty() {
            self.run_agent(&spec, events, request.stop).await
        } else {
            let ended = run(&spec).await?;
            self.check_exit(ended.status, &ended.stderr)?;
            self.read(&values, &ended)
        };
        if let Some(transcript) = transcript_of(&mut asked) {
            self.add_explicit_skill(events, &values.prompt, request, transcript);
        }
        asked
    }

    /// A skill that the prompt names. Whether a program passes on a prompt that it has from elsewhere is not
    /// known.
    fn add_explicit_skill(
        &self,
        events: &EventFormat,
        prompt: &str,
        request: &Request<'_>,
        transcript: &mut Transcript,
    ) {
        if self.gives_prompt() {
            if let Some(skill) = (events.explicit_skill)(prompt) {
                transcript.skills.add_explicit(skill);
            }
        } else if let Some(asked) = request.messages.last().and_then(Message::text)
            && let Some(skill) = (events.explicit_skill)(&asked)
            && transcript.skills.is_offered(skill)
        {
            transcript.skills.used = None;
        }
    }

    /// Whether the program gets the prompt as a text.
    fn gives_prompt(&self) -> bool {
        self.stdin == StdinMode::Prompt
            || self.command.mentions(Placeholder::Prompt)
            || self.command.mentions(Placeholder::PromptFile)
    }

    /// Reads the events of an agent as they come.
    async fn run_agent(
        &self,
        spec: &ProcessSpec<'_>,
        events: &'static EventFormat,
        stop: Option<StopRule<'_>>,
    ) -> Result<Transcript, AttemptFault> {
        let mut watched = WatchedStream::new(Box::new(StreamReader::new(events)), stop);
        let ended = match run_into(spec, &mut watched).await {
            Ok(ended) => ended,
            Err(fault) => return Err(fault.with_stream(watched.stream)),
        };
        let Some(status) = ended.status else {
            return watched.into_stopped();
        };
        let exit = self.check_exit(status, &ended.stderr);
        match watched.stream.finish() {
            // The error of the agent says more than its exit status.
            Err(StreamFault::Reported(fault)) => Err(fault),
            Err(StreamFault::Unfinished(fault)) => {
                Err(broken_off(exit.err(), &ended.stderr, fault))
            }
            Ok(transcript) => exit.map(|()| transcript),
        }
    }

    /// Rendered only if it is used: otherwise an unreadable file would be a fault for nothing.
    fn prompt(&self, request: &Request<'_>) -> Result<String, AttemptFault> {
        if self.gives_prompt() { text::prompt(request, self.files) } else { Ok(String::new()) }
    }

    fn attached(&self, request: &Request<'_>) -> Result<Vec<Utf8PathBuf>, AttemptFault> {
        if self.stdin == StdinMode::Messages || self.command.mentions(Placeholder::Files) {
            text::attached(request)
        } else {
            Ok(Vec::new())
        }
    }

    fn values(
        &self,
        request: &Request<'_>,
        prompt: String,
        files: &[Utf8PathBuf],
    ) -> Result<PlaceholderValues, AttemptFault> {
        let place = |slot, name| {
            if self.command.mentions(slot) { fresh_path(request, name) } else { Ok(String::new()) }
        };
        if request.place.is_none() && self.needs_workspace() {
            let message = "`{WORKSPACE}` in the command has no value: there is no workspace";
            return Err(AttemptFault::new(FaultKind::Start, message));
        }
        let values = PlaceholderValues {
            prompt_file: place(Placeholder::PromptFile, "prompt")?,
            output_file: place(Placeholder::OutputFile, "output")?,
            files: files.iter().map(|file| file.to_string()).collect(),
            test_id: request.test_id.to_owned(),
            attempt: request.attempt.to_string(),
            workspace: request.place.map(|place| place.workspace.to_string()).unwrap_or_default(),
            prompt,
        };
        if !values.prompt_file.is_empty() {
            let path = Utf8Path::new(&values.prompt_file);
            create_new(path, values.prompt.as_bytes(), Access::Private).map_err(|error| {
                let message = format!("cannot write the prompt to a file: {error}");
                AttemptFault::new(FaultKind::Io, message)
            })?;
        }
        Ok(values)
    }

    fn program(
        &self,
        request: &Request<'_>,
        values: &PlaceholderValues,
    ) -> Result<CliProgram, AttemptFault> {
        let mut env = self.env.for_case(request);
        let argv = match &self.command {
            CliCommand::Argv(argv) if request.place.is_some() => {
                values.arguments(&with_own_files(argv, &self.cwd))
            }
            CliCommand::Argv(argv) => values.arguments(argv),
            CliCommand::Shell(pieces) => {
                let script = script(pieces, values);
                env.extend(script.variables);
                shell(script.text)
            }
        };
        let mut argv = argv.into_iter();
        let Some(program) = argv.next() else {
            let message = "the command is empty: no files are attached for `{FILES}`";
            return Err(AttemptFault::new(FaultKind::Start, message).retry(Retry::Soon));
        };
        Ok(CliProgram { program, args: argv.collect(), env })
    }

    /// A text is the answer alone.
    fn output_limit(&self) -> usize {
        match self.format {
            None | Some(OutputFormat::Text) => OUTPUT_LIMIT,
            Some(_) => STREAM_LIMIT,
        }
    }

    fn check_exit(&self, status: ExitStatus, stderr: &str) -> Result<(), AttemptFault> {
        let code = status.code();
        let code = code.and_then(|code| u64::try_from(code).ok());
        if code.is_some_and(|code| self.ok_exit_codes.contains(&code)) {
            return Ok(());
        }
        let how = describe(status).unwrap_or_else(|| "exit status 0".to_owned());
        let message = with_stderr(how, stderr);
        Err(AttemptFault::new(FaultKind::Exit, message))
    }

    fn read(
        &self,
        values: &PlaceholderValues,
        ended: &ProcessOutput,
    ) -> Result<Transcript, AttemptFault> {
        if values.output_file.is_empty() {
            return format::read(self.format.unwrap_or(OutputFormat::Text), &ended.stdout);
        }
        let output = output_of(&values.output_file, self.output_limit(), &ended.stderr)?;
        match self.format {
            Some(format) => format::read(format, &output),
            None => format::read_output_file(&output),
        }
    }
}

#[cfg(not(windows))]
fn shell(line: String) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), line]
}

/// Delayed expansion keeps values from being parsed.
#[cfg(windows)]
fn shell(line: String) -> Vec<String> {
    ["cmd", "/V:ON", "/C"].into_iter().map(str::to_owned).chain([line]).collect()
}

/// An unused path in the scratch directory, which the judges of a case share.
fn fresh_path(request: &Request<'_>, name: &str) -> Result<String, AttemptFault> {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = request.scratch()?.join(format!("{name}-{number}"));
    Ok(path.into_string())
}

fn output_of(path: &str, limit: usize, stderr: &str) -> Result<Vec<u8>, AttemptFault> {
    let limit = limit as u64;
    let path = Utf8Path::new(path);
    // An agent in a sandbox must not make the program outside read other files for it.
    let reach = Reach::Inside(path.parent().unwrap_or(path));
    let output = Disk.read(path, reach, limit + 1).map_err(|error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "the program did not write `{OUTPUT_FILE}`".to_owned(),
            _ => format!("cannot read `{{OUTPUT_FILE}}`: {error}"),
        };
        AttemptFault::new(FaultKind::Reply, with_stderr(message, stderr))
    })?;
    if output.len() as u64 > limit {
        let message = format!("more than {} MiB of output", limit >> 20);
        Err(AttemptFault::new(FaultKind::Limit, message))
    } else {
        Ok(output)
    }
}
