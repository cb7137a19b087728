//! Any program that reads a prompt and prints an answer (spec 9.3).

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{FaultKind, Transcript};
use evalrig_core::source::Files as _;

use crate::disk::Disk;
use crate::provider::cli::{Cli, Command, Format, Stdin};
use crate::setting::FilesMode;

use super::environment::Environment;
use super::messages_json::messages_json;
use super::placeholder::{Piece, Reader, Slot, Values, pieces};
use super::process::{Ended, Job, OUTPUT_LIMIT, TARGET_GRACE, describe, run, with_stderr};
use super::request::{Failure, Request, Retry};
use super::shell::script;
use super::{Agent, Pending, text};
use crate::format;
use crate::setting::ConnectContext;

/// A command whose variables are known and whose placeholders are found.
#[derive(Debug)]
enum Ready {
    /// Never empty.
    Argv(Vec<Vec<Piece>>),
    Shell(Vec<Piece>),
}

impl Ready {
    fn mentions(&self, slot: Slot) -> bool {
        let wanted = Piece::Slot(slot);
        match self {
            Self::Argv(argv) => argv.iter().any(|element| element.contains(&wanted)),
            Self::Shell(pieces) => pieces.contains(&wanted),
        }
    }
}

#[derive(Debug)]
struct CliAgent {
    command: Ready,
    cwd: Utf8PathBuf,
    env: Environment,
    stdin: Stdin,
    format: Option<Format>,
    ok_exit_codes: Vec<u64>,
    files: FilesMode,
}

pub(crate) fn connect(
    cli: &Cli,
    connect: &ConnectContext<'_>,
) -> Result<Box<dyn Agent>, Diagnostic> {
    let command = match &cli.command {
        Command::Argv(argv) => {
            let argv = connect.texts(argv)?;
            let argv = argv.iter().map(|one| pieces(one, Reader::Program));
            Ready::Argv(argv.collect())
        }
        Command::Shell(line) => Ready::Shell(pieces(&connect.text(line)?, Reader::Shell)),
    };
    // Files that are arguments are not in the prompt too (spec 9.4).
    let files = if command.mentions(Slot::Files) {
        FilesMode::None
    } else {
        connect.files_mode()?
    };
    let codes = cli.ok_exit_codes.iter();
    let codes = codes.map(|code| connect.integer(code, 0, 255));
    Ok(Box::new(CliAgent {
        command,
        cwd: connect.directory(cli.cwd.as_ref())?,
        env: Environment::of(&[], &cli.env, connect)?,
        stdin: connect.choice(&cli.stdin, "word of `stdin`", Stdin::WORDS, Stdin::ALL)?,
        format: match &cli.format {
            Some(format) => {
                let (words, formats) = (Format::WORDS, Format::ALL);
                Some(connect.choice(format, "word of `format`", words, formats)?)
            }
            None => None,
        },
        ok_exit_codes: codes.collect::<Result<_, _>>()?,
        files,
    }))
}

impl Agent for CliAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn works_in(&self) -> Option<&Utf8Path> {
        Some(&self.cwd)
    }
}

impl CliAgent {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, Failure> {
        let files = self.attached(request)?;
        let prompt = self.prompt(request)?;
        let stdin = match self.stdin {
            Stdin::Prompt => Some(prompt.clone().into_bytes()),
            Stdin::Messages => Some(messages_json(request, &files).into_bytes()),
            Stdin::None => None,
        };
        let values = self.values(request, prompt, &files)?;
        let ended = self.run(request, &values, stdin.as_deref()).await?;
        self.check_exit(&ended)?;
        self.read(&values, &ended)
    }

    /// Only what somebody looks at is rendered: a file that cannot be read is no fault otherwise.
    fn prompt(&self, request: &Request<'_>) -> Result<String, Failure> {
        let is_needed = self.stdin == Stdin::Prompt
            || self.command.mentions(Slot::Prompt)
            || self.command.mentions(Slot::PromptFile);
        if is_needed {
            text::prompt(request, self.files)
        } else {
            Ok(String::new())
        }
    }

    fn attached(&self, request: &Request<'_>) -> Result<Vec<Utf8PathBuf>, Failure> {
        if self.stdin == Stdin::Messages || self.command.mentions(Slot::Files) {
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
    ) -> Result<Values, Failure> {
        let place = |slot, name| {
            if self.command.mentions(slot) {
                fresh_path(request, name)
            } else {
                Ok(String::new())
            }
        };
        let values = Values {
            prompt_file: place(Slot::PromptFile, "prompt")?,
            output_file: place(Slot::OutputFile, "output")?,
            files: files.iter().map(|file| file.to_string()).collect(),
            test_id: request.test_id.to_owned(),
            attempt: request.attempt.to_string(),
            prompt,
        };
        if !values.prompt_file.is_empty() {
            fs::write(&values.prompt_file, &values.prompt).map_err(|error| {
                let message = format!("cannot write the prompt to a file: {error}");
                Failure::new(FaultKind::Io, message)
            })?;
        }
        Ok(values)
    }

    async fn run(
        &self,
        request: &Request<'_>,
        values: &Values,
        stdin: Option<&[u8]>,
    ) -> Result<Ended, Failure> {
        let mut env = self.env.for_case(request);
        let argv = match &self.command {
            Ready::Argv(argv) => values.arguments(argv),
            Ready::Shell(pieces) => {
                let script = script(pieces, values);
                env.extend(script.variables);
                shell(script.text)
            }
        };
        let Some((program, args)) = argv.split_first() else {
            let message = "the command is empty: there are no files for `{FILES}`";
            return Err(Failure::new(FaultKind::Start, message).retry(Retry::Soon));
        };
        let job = Job {
            program,
            args,
            cwd: &self.cwd,
            env: &env,
            without: &[],
            stdin,
            timeout: request.timeout,
            grace: TARGET_GRACE,
            output_limit: OUTPUT_LIMIT,
        };
        Ok(run(&job).await?)
    }

    fn check_exit(&self, ended: &Ended) -> Result<(), Failure> {
        let code = ended
            .status
            .code()
            .and_then(|code| u64::try_from(code).ok());
        if code.is_some_and(|code| self.ok_exit_codes.contains(&code)) {
            return Ok(());
        }
        let how = describe(ended.status).unwrap_or_else(|| "exit status 0".to_owned());
        let message = with_stderr(how, &ended.stderr);
        Err(Failure::new(FaultKind::Exit, message))
    }

    fn read(&self, values: &Values, ended: &Ended) -> Result<Transcript, Failure> {
        if values.output_file.is_empty() {
            return format::read(self.format.unwrap_or(Format::Text), &ended.stdout);
        }
        let output = output_of(&values.output_file, &ended.stderr)?;
        match self.format {
            Some(format) => format::read(format, &output),
            None => format::read_freely(&output),
        }
    }
}

#[cfg(not(windows))]
fn shell(line: String) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), line]
}

/// Variables are expanded late, so that their values are not taken apart.
#[cfg(windows)]
fn shell(line: String) -> Vec<String> {
    ["cmd", "/V:ON", "/C"]
        .into_iter()
        .map(str::to_owned)
        .chain([line])
        .collect()
}

/// A path in the scratch directory that nobody has used, also not a judge of the same case.
fn fresh_path(request: &Request<'_>, name: &str) -> Result<String, Failure> {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = request.scratch()?.join(format!("{name}-{number}"));
    Ok(path.into_string())
}

fn output_of(path: &str, stderr: &str) -> Result<Vec<u8>, Failure> {
    let limit = OUTPUT_LIMIT as u64;
    let output = Disk.read(Utf8Path::new(path), limit + 1).map_err(|error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "the program did not write `{OUTPUT_FILE}`".to_owned(),
            _ => format!("cannot read `{{OUTPUT_FILE}}`: {error}"),
        };
        Failure::new(FaultKind::Reply, with_stderr(message, stderr))
    })?;
    if output.len() as u64 > limit {
        Err(Failure::new(FaultKind::Limit, "more than 64 MiB of output"))
    } else {
        Ok(output)
    }
}
