//! The only way to standard output and standard error: clippy forbids the others (`clippy.toml`).
//! Whatever is printed passes the sanitizer of `evalrig_run::text`, so a text that a caller forgot to
//! sanitize still cannot move the cursor or give a command to a CI runner.
#![expect(clippy::disallowed_methods, reason = "the one place that may name the streams")]

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::LazyLock;

use anstream::{AutoStream, ColorChoice};
use evalrig_core::secrets::Secrets;
use evalrig_run::session::environment_secrets;
use evalrig_run::text;
use indicatif::ProgressDrawTarget;

use crate::error::CommandError;
use crate::render::{Findings, Render};

/// Commands redact the files that they show. What was typed is repeated by messages of every kind, so
/// these pass the secrets of the environment here.
static TYPED_SECRETS: LazyLock<Secrets> = LazyLock::new(environment_secrets);

fn without_secrets(text: &str) -> String {
    TYPED_SECRETS.redact(text)
}

/// What a stream can show.
#[derive(Debug, Clone, Copy)]
pub struct StreamKind {
    pub color: ColorChoice,
    pub is_terminal: bool,
}

pub fn stdout_kind() -> StreamKind {
    let stdout = io::stdout();
    StreamKind { color: AutoStream::choice(&stdout), is_terminal: stdout.is_terminal() }
}

pub fn stderr_kind() -> StreamKind {
    let stderr = io::stderr();
    StreamKind { color: AutoStream::choice(&stderr), is_terminal: stderr.is_terminal() }
}

/// Prints a message of the program to standard error.
pub fn print_message(message: &str) {
    let _ = writeln!(io::stderr(), "evalrig: {}", text::paragraph(&without_secrets(message)));
}

/// Prints a line to standard error.
pub fn print_status(line: &str) {
    let _ = writeln!(io::stderr(), "{}", text::single_line(&without_secrets(line)));
}

/// Standard output for a protocol: JSON for a program, whose strings are data and pass unchanged.
#[cfg(feature = "lsp")]
pub fn protocol_output() -> impl Write {
    BufWriter::new(io::stdout().lock())
}

/// Prints lines to standard error.
pub fn print_warnings(lines: &str) {
    let _ = io::stderr().write_all(text::paragraph(&without_secrets(lines)).as_bytes());
}

/// Prints text for people, or YAML, to standard output. The emitter of YAML escapes what would be
/// replaced here.
pub fn print_text(text: &str) -> Result<(), CommandError> {
    print(&text::paragraph(&without_secrets(text)))
}

/// Prints text with colours to standard output.
pub fn print_painted(text: &str) -> Result<(), CommandError> {
    print(&text::painted(&without_secrets(text)))
}

/// Prints JSON to standard output; its values do not change.
pub fn print_json(text: &str) -> Result<(), CommandError> {
    print(&text::json(text))
}

/// Prints a patch, whose lines `render::patch` has sanitized. A file with `\r\n` keeps them, or the
/// patch would not apply.
pub fn print_patch(text: &str) -> Result<(), CommandError> {
    print(text)
}

/// Prints a script that the program made without any text from a file.
pub fn print_script(text: &str) -> Result<(), CommandError> {
    print(text)
}

fn print(text: &str) -> Result<(), CommandError> {
    let mut out = io::stdout();
    // A last line without a line break would only be written at the end of the process, without a message
    // if that fails.
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints diagnostics to standard output. Formats sanitize the texts themselves, because they may
/// contain commands for the runner.
pub fn print_findings(format: &dyn Render, findings: &Findings) -> Result<(), CommandError> {
    let mut out = BufWriter::new(io::stdout().lock());
    written(format.render(findings, &mut out).and_then(|()| out.flush()))
}

/// Like [`print_findings`], to standard error.
pub fn print_error_findings(format: &dyn Render, findings: &Findings) {
    let _ = format.render(findings, &mut io::stderr().lock());
}

/// Prints help, the version or a usage error, which repeats arguments.
pub fn print_usage(error: &clap::Error) {
    let text = without_secrets(&error.render().ansi().to_string());
    let text = text::painted(&text);
    // A closed pipe while printing help is not an error.
    let _ = if error.use_stderr() {
        anstream::stderr().write_all(text.as_bytes())
    } else {
        anstream::stdout().write_all(text.as_bytes())
    };
}

/// Where progress bars are drawn. Their messages are sanitized by the caller.
pub fn progress_target() -> ProgressDrawTarget {
    ProgressDrawTarget::stderr_with_hz(12)
}

/// A closed pipe is not an error; a full disk is.
fn written(outcome: io::Result<()>) -> Result<(), CommandError> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("cannot write to standard output: {error}");
            Err(CommandError::CouldNotStart(message))
        }
        _ => Ok(()),
    }
}
