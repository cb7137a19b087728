//! `cli`: any program that reads a prompt and prints an answer (spec 9.3).

mod agent;

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Reported, Template};
use evalrig_core::source::Span;
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::words;

use crate::agent::Agent;
use crate::agent::environment::{CWD, ENV, Environment};
use crate::agent::nested_shell::{GivenStdin, nested_in_arguments, nested_in_line};
use crate::agent::placeholder::{CommandPart, CommandSyntax, Placeholder, split_placeholders};
use crate::format::OutputFormat;
use crate::setting::{ConnectContext, FilesMode, Secret, Setting, option};

use self::agent::CliAgent;
use super::{ArmSetting, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "cli",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Inline,
    key_variables: &[],
    doc: r#"Runs a program: a list directly, a string through the shell. The prompt is on standard input. These
placeholders are replaced in the command: `{PROMPT}`, `{PROMPT_FILE}`, `{OUTPUT_FILE}`, `{FILES}`,
`{TEST_ID}`, `{ATTEMPT}`, `{WORKSPACE}`. In a list, an element that is exactly `{FILES}` becomes one element per
file; in a string, every value is quoted for the shell.

The answer is what the program prints or writes to `{OUTPUT_FILE}`, in the format that `format` names.

The program inherits the environment, with `env`, `EVALRIG_SUITE`, `EVALRIG_TEST_ID`, `EVALRIG_TRIAL` and
`EVALRIG_ATTEMPT` added. It runs in `cwd`, or in the workspace of the test if it has one; elements of a list
that name a file below `cwd` still do so there.

```yaml
targets:
  - name: local-agent
    provider: cli
    command: [python3, ./agent.py, --test, "{TEST_ID}"]
    format: jsonl
    timeout_seconds: 120
```

```yaml
targets:
  - name: default
    provider: cli
    command: ./agent.sh --prompt {PROMPT} {FILES} --output {OUTPUT_FILE}
    cwd: agents
    env: {API_TOKEN: "${{ AGENT_TOKEN }}"}
    stdin: none
    ok_exit_codes: [0, 3]
```
"#,
    read,
};

static FIELDS: &[Field] = &[
    Field::new(
        "command",
        Shape::OneOf(&[Shape::NonEmptyText, Shape::NonEmptyList(&Shape::Text)]),
        "program and arguments; a string is run by the shell",
    )
    .required(),
    CWD,
    ENV,
    Field::new(
        "stdin",
        Shape::Choice(StdinMode::WORDS),
        "standard input: the prompt (default), the messages as JSON, or nothing",
    ),
    Field::new(
        "format",
        Shape::Choice(OutputFormat::WORDS),
        "format of the output; default `text`",
    ),
    Field::new(
        "ok_exit_codes",
        Shape::NonEmptyList(&Shape::Integer { min: 0, max: 255 }),
        "exit codes that mean success; default `[0]`",
    ),
];

#[derive(Debug, Clone, PartialEq)]
struct Cli {
    command: CliCommand<Template>,
    cwd: Option<Template>,
    env: Vec<(String, Secret)>,
    stdin: Setting<StdinMode>,
    /// `None` if absent: `{OUTPUT_FILE}` is then read as `messages` or as text.
    format: Option<Setting<OutputFormat>>,
    /// Never empty.
    ok_exit_codes: Vec<Setting<u64>>,
}

/// `T` is a template, or its parts once variables are known.
#[derive(Debug, Clone, PartialEq)]
enum CliCommand<T> {
    /// Program and arguments; never empty.
    Argv(Vec<T>),
    Shell(T),
}

words! {
    /// What a program reads on standard input.
    enum StdinMode {
        Prompt = "prompt",
        Messages = "messages",
        None = "none",
    }
}

impl ProviderSettings for Cli {
    /// A line for the shell has no place for arguments.
    fn arm_settings(&self) -> &'static [ArmSetting] {
        match self.command {
            CliCommand::Argv(_) => &[ArmSetting::Args],
            CliCommand::Shell(_) => &[],
        }
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let stdin = context.choice(&self.stdin, "a value of `stdin`")?;
        let given = given_stdin(Some(&Setting::Given(stdin)));
        let command = match &self.command {
            CliCommand::Argv(argv) => {
                let written = argv;
                let mut argv = context.texts(written)?;
                argv.extend_from_slice(context.arm_args);
                if let Some(nested) = nested_in_arguments(argv.iter().map(String::as_str), given) {
                    return Err(nested.diagnostic(place_in(written)));
                }
                let split = |one: String| split_placeholders(&one, CommandSyntax::Program);
                CliCommand::Argv(argv.into_iter().map(split).collect())
            }
            CliCommand::Shell(written) => {
                let line = context.text(written)?;
                if let Some(nested) = nested_in_line(&line, given) {
                    return Err(nested.diagnostic(written.span()));
                }
                CliCommand::Shell(split_placeholders(&line, CommandSyntax::Shell))
            }
        };
        // Files that are passed as arguments are not repeated in the prompt (spec 9.4).
        let files = if command.mentions(Placeholder::Files) {
            FilesMode::None
        } else {
            context.files_mode()?
        };
        let format = self.format.as_ref();
        let format = format.map(|format| context.choice(format, "a value of `format`"));
        let codes = self.ok_exit_codes.iter();
        let codes = codes.map(|code| context.integer(code, 0, 255));
        Ok(Box::new(CliAgent {
            command,
            cwd: context.directory(self.cwd.as_ref())?,
            env: Environment::of(&[], &self.env, context)?,
            stdin,
            format: format.transpose()?,
            ok_exit_codes: codes.collect::<Result<_, _>>()?,
            files,
        }))
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let stdin = option::choice(options, "stdin");
    let given = given_stdin(stdin.as_ref().ok().and_then(Option::as_ref));
    let command = read_command(options, given);
    let cwd = option::path(options, "cwd");
    let env = option::secret_map(options, "env");
    let format = option::choice(options, "format");
    let ok_exit_codes = read_exit_codes(options);
    Ok(Box::new(Cli {
        command: command?,
        cwd: cwd?,
        env: env?,
        stdin: stdin?.unwrap_or(Setting::Given(StdinMode::Prompt)),
        format: format?,
        ok_exit_codes: ok_exit_codes?,
    }))
}

/// By default, and perhaps if a variable decides, a program reads the prompt.
fn given_stdin(mode: Option<&Setting<StdinMode>>) -> GivenStdin {
    match mode {
        Some(Setting::Given(StdinMode::None)) => GivenStdin::Nothing,
        _ => GivenStdin::Prompt,
    }
}

fn read_command(
    options: &mut Options<'_, '_, '_>,
    stdin: GivenStdin,
) -> ReadResult<CliCommand<Template>> {
    let Some(entry) = options.get("command") else {
        return Err(missing_command(options));
    };
    if !entry.value.is_sequence() {
        return if entry.value.is_mapping() {
            Err(options.wrong_type("command", entry.value, "a list of strings, or a string"))
        } else {
            let text = options.full_text_of("command", entry.value)?;
            if let Some(nested) = nested_in_line(&text.value, stdin) {
                return Err(options.report(nested.diagnostic(text.span)));
            }
            let line = Template::new(text.value, text.span);
            option::warn_of_secrets(options, "command", std::slice::from_ref(&line));
            Ok(CliCommand::Shell(line))
        };
    }
    let Some(program) = entry.value.items().next() else {
        let help = "name the program, then its arguments";
        return Err(options.missing(entry.value.span(), "`command` is empty", help));
    };
    let argv = option::arguments(options, "command")?;
    options.full_text_of("an item of command", program)?;
    if let Some(nested) = nested_in_arguments(argv.iter().map(Template::raw), stdin) {
        return Err(options.report(nested.diagnostic(place_in(&argv))));
    }
    Ok(CliCommand::Argv(argv))
}

/// The first argument with a placeholder.
fn place_in(argv: &[Template]) -> Span {
    let has_placeholder = |argument: &&Template| {
        let parts = split_placeholders(argument.raw(), CommandSyntax::Program);
        parts.iter().any(|part| matches!(part, CommandPart::Placeholder(_)))
    };
    // If it comes from a variable, the place is the program.
    argv.iter().find(has_placeholder).unwrap_or(&argv[0]).span()
}

/// The old name gets its own help: it is too different to count as a misspelling.
fn missing_command(options: &mut Options<'_, '_, '_>) -> Reported {
    let old = options
        .fields
        .unknown()
        .map(|(key, _)| key)
        .find(|key| key.scalar_text() == Some("command_template"));
    let (span, help) = match old {
        Some(key) => (key.span(), "rename `command_template` to `command`"),
        None => (options.head(), "add `command`"),
    };
    options.missing(span, "`cli` needs `command`", help)
}

fn read_exit_codes(options: &mut Options<'_, '_, '_>) -> ReadResult<Vec<Setting<u64>>> {
    let name = "ok_exit_codes";
    let codes = options.list(name, "a list of integers", |options, item| {
        option::integer_of(options, name, item, 0, 255)
    })?;
    match (codes, options.get(name)) {
        (Some(codes), Some(entry)) if codes.is_empty() => {
            let help = "add the exit code of a successful run, such as `0`";
            Err(options.missing(entry.value.span(), "`ok_exit_codes` is empty", help))
        }
        (codes, _) => Ok(codes.unwrap_or_else(|| vec![Setting::Given(0)])),
    }
}

impl CliCommand<Vec<CommandPart>> {
    fn mentions(&self, slot: Placeholder) -> bool {
        let elements = match self {
            Self::Argv(argv) => argv.as_slice(),
            Self::Shell(line) => std::slice::from_ref(line),
        };
        let wanted = CommandPart::Placeholder(slot);
        elements.iter().any(|element| element.contains(&wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, read, settings};

    #[test]
    fn a_list_is_run_directly_and_a_text_by_the_shell() {
        let cli: Cli = settings("provider: cli, command: [my-agent, \"{PROMPT}\", \"\"]");
        let CliCommand::Argv(argv) = &cli.command else { panic!("{cli:?}") };
        let argv: Vec<_> = argv.iter().map(Template::raw).collect();
        assert_eq!(argv, ["my-agent", "{PROMPT}", ""]);
        let cli: Cli = settings("provider: cli, command: \"agent | tail -1\"");
        assert!(matches!(&cli.command, CliCommand::Shell(text) if text.raw() == "agent | tail -1"));
    }

    #[test]
    fn defaults_are_filled_in() {
        let cli: Cli = settings("provider: cli, command: x");
        assert_eq!(cli.stdin, Setting::Given(StdinMode::Prompt));
        assert_eq!(cli.format, None);
        assert_eq!(cli.ok_exit_codes, [Setting::Given(0)]);
    }

    #[test]
    fn words_and_codes_become_values() {
        let cli: Cli = settings(
            "provider: cli, command: x, stdin: messages, format: stream-json, \
             ok_exit_codes: [0, \"${{ CODE }}\"], env: {A: b}",
        );
        assert_eq!(cli.stdin, Setting::Given(StdinMode::Messages));
        assert_eq!(cli.format, Some(Setting::Given(OutputFormat::StreamJson)));
        assert!(matches!(cli.ok_exit_codes[1], Setting::Reference(_)));
        assert_eq!(cli.env[0].1.0.raw(), "b");
    }

    #[test]
    fn faults_have_names_and_places() {
        for (options, message) in [
            ("command: []", "`command` is empty"),
            ("command: \"\"", "`command` is empty"),
            ("command: [\"\", x]", "an item of `command` is empty"),
            ("command: {a: b}", "`command` takes a list of strings, or a string, found a mapping"),
            ("command: [x, 3]", "an item of `command` is a string, found a number"),
            ("command: x, format: json", "`format` cannot be `json`"),
            (
                "command: x, ok_exit_codes: 0",
                "`ok_exit_codes` takes a list of integers, found a number",
            ),
            ("command: x, ok_exit_codes: []", "`ok_exit_codes` is empty"),
        ] {
            assert_eq!(faults(&format!("provider: cli, {options}")), [message], "{options}");
        }
    }

    #[test]
    fn placeholders_in_nested_shells_are_refused_with_the_safe_form() {
        for (command, message) in [
            (r#"[sh, -c, "x {PROMPT}"]"#, "a placeholder is part of code that `sh` runs"),
            (r#""bash -lc 'x {PROMPT}'""#, "a placeholder is part of code that `bash` runs"),
            (
                r#"[python3, -c, "x('{PROMPT}')"]"#,
                "a placeholder is part of code that `python3` runs",
            ),
            (r#""echo {PROMPT} | sh""#, "`sh` runs text that contains a placeholder"),
            (
                r#"[ssh, host, "{PROMPT}"]"#,
                "`ssh` passes a placeholder to the shell of another host",
            ),
            (r#""eval x {PROMPT}""#, "`eval` runs a placeholder as code"),
            (r#"["{FILES}"]"#, "a placeholder names the program to run"),
        ] {
            let read =
                read(&format!("targets: [{{name: a, provider: cli, command: {command}}}]\n"));
            assert_eq!(read.names(), ["placeholder-in-nested-shell"], "{command}");
            assert_eq!(read.out[0].message, message);
            assert!(read.out[0].help.is_some());
        }
    }

    #[test]
    fn the_old_name_of_the_command_is_recognized() {
        let read = read("targets: [{name: a, provider: cli, command_template: x}]\n");
        assert_eq!(read.names(), ["unknown-field", "missing-option"]);
        let help = read.out[1].help.as_deref();
        assert_eq!(help, Some("rename `command_template` to `command`"));
    }
}
