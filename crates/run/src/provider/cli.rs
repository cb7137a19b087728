//! `cli`: any program that reads a prompt and prints an answer.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::Template;
use evalrig_core::syntax::Node;
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::setting::ConnectContext;

use super::{Provider, ProviderSettings};
use crate::setting::FilesMode;
use crate::setting::Secret;
use crate::setting::Setting;
use crate::setting::{Options, Read};

pub static PROVIDER: Provider = Provider {
    name: "cli",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Inline,
    key_variables: &[],
    doc: r#"Runs a program. A list is run as it is, a text by the shell. The prompt comes on standard input, and
these stand for themselves in the command: `{PROMPT}`, `{PROMPT_FILE}`, `{OUTPUT_FILE}`, `{FILES}`,
`{TEST_ID}`, `{ATTEMPT}`. In a list, an element that is exactly `{FILES}` becomes one element per
file; in a text every replacement is quoted for the shell.

The answer is what the program prints, or what it leaves in `{OUTPUT_FILE}`; `format` says how to
read it.

The program inherits the environment, with `env` and `EVALRIG_TEST_ID`, `EVALRIG_TRIAL` and
`EVALRIG_ATTEMPT` added.

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
        "program and arguments; a text is run by the shell",
    )
    .required(),
    Field::new(
        "cwd",
        Shape::NonEmptyText,
        "working directory; default: where the paths of this file start",
    ),
    Field::new(
        "env",
        Shape::MapOf(&Shape::Text),
        "variables added to the environment",
    ),
    Field::new(
        "stdin",
        Shape::Choice(Stdin::WORDS),
        "what the program reads: the prompt (default), the messages as JSON, or nothing",
    ),
    Field::new(
        "format",
        Shape::Choice(Format::WORDS),
        "what the program writes; default `text`",
    ),
    Field::new(
        "ok_exit_codes",
        Shape::NonEmptyList(&Shape::Integer { min: 0, max: 255 }),
        "exit codes that are no failure; default `[0]`",
    ),
];

#[derive(Debug, Clone, PartialEq)]
pub struct Cli {
    pub command: Command,
    pub cwd: Option<Template>,
    pub env: Vec<(String, Secret)>,
    pub stdin: Setting<Stdin>,
    /// Only if the author wrote one: `{OUTPUT_FILE}` is read more freely without.
    pub format: Option<Setting<Format>>,
    /// Never empty.
    pub ok_exit_codes: Vec<Setting<u64>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Program and arguments; never empty.
    Argv(Vec<Template>),
    Shell(Template),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    Prompt,
    Messages,
    None,
}

impl Stdin {
    pub(crate) const WORDS: &'static [&'static str] = &["prompt", "messages", "none"];
    pub(crate) const ALL: &'static [Self] = &[Self::Prompt, Self::Messages, Self::None];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Messages,
    Jsonl,
    StreamJson,
}

impl Format {
    pub(crate) const WORDS: &'static [&'static str] = &["text", "messages", "jsonl", "stream-json"];
    pub(crate) const ALL: &'static [Self] =
        &[Self::Text, Self::Messages, Self::Jsonl, Self::StreamJson];
}

impl ProviderSettings for Cli {
    fn connect(&self, connect: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        crate::agent::cli::connect(self, connect)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> Read<Box<dyn ProviderSettings>> {
    let command = read_command(options);
    let cwd = options.path("cwd");
    let env = options.named_texts("env");
    let stdin = options.choice("stdin", Stdin::WORDS, Stdin::ALL);
    let format = options.choice("format", Format::WORDS, Format::ALL);
    let ok_exit_codes = read_exit_codes(options);
    Ok(Box::new(Cli {
        command: command?,
        cwd: cwd?,
        env: env?,
        stdin: stdin?.unwrap_or(Setting::Given(Stdin::Prompt)),
        format: format?,
        ok_exit_codes: ok_exit_codes?,
    }))
}

fn read_command(options: &mut Options<'_, '_, '_>) -> Read<Command> {
    let Some(entry) = options.get("command") else {
        return Err(missing_command(options));
    };
    if !entry.value.is_sequence() {
        return if entry.value.is_mapping() {
            Err(options.wrong_type("command", entry.value, "a list of strings, or a string"))
        } else {
            options
                .full_text("command", entry.value)
                .map(Command::Shell)
        };
    }
    let Some(program) = entry.value.items().next() else {
        let help = "name the program, then its arguments";
        return Err(options.missing(entry.value.span(), "`command` is empty", help));
    };
    let argv = options.texts("command")?;
    options.full_text("an item of command", program)?;
    Ok(Command::Argv(argv))
}

/// The old name has its own advice: nothing about it looks like a misspelling.
fn missing_command(options: &mut Options<'_, '_, '_>) -> crate::setting::Faulty {
    let old = options
        .fields
        .unknown()
        .map(|(key, _)| key)
        .find(|key| key.scalar_text() == Some("command_template"));
    let (span, help) = match old {
        Some(key) => (key.span(), "rename `command_template` to `command`"),
        None => (options.fields.head(), "add `command`"),
    };
    options.missing(span, "`cli` needs `command`", help)
}

fn read_exit_codes(options: &mut Options<'_, '_, '_>) -> Read<Vec<Setting<u64>>> {
    let Some(entry) = options.get("ok_exit_codes") else {
        return Ok(vec![Setting::Given(0)]);
    };
    if !entry.value.is_sequence() {
        return Err(options.wrong_type("ok_exit_codes", entry.value, "a list of integers"));
    }
    let items: Vec<Node<'_>> = entry.value.items().collect();
    if items.is_empty() {
        let help = "without any, every run would be a failure";
        return Err(options.missing(entry.value.span(), "`ok_exit_codes` is empty", help));
    }
    let codes: Vec<_> = items
        .into_iter()
        .map(|item| options.integer_of("ok_exit_codes", item, 0, 255))
        .collect();
    codes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, read, settings};

    #[test]
    fn a_list_is_run_directly_and_a_text_by_the_shell() {
        let cli: Cli = settings("provider: cli, command: [python3, \"{PROMPT}\", \"\"]");
        let Command::Argv(argv) = &cli.command else {
            panic!("{cli:?}")
        };
        let argv: Vec<_> = argv.iter().map(Template::raw).collect();
        assert_eq!(argv, ["python3", "{PROMPT}", ""]);
        let cli: Cli = settings("provider: cli, command: \"agent | tail -1\"");
        assert!(matches!(&cli.command, Command::Shell(text) if text.raw() == "agent | tail -1"));
    }

    #[test]
    fn defaults_are_filled_in() {
        let cli: Cli = settings("provider: cli, command: x");
        assert_eq!(cli.stdin, Setting::Given(Stdin::Prompt));
        assert_eq!(cli.format, None);
        assert_eq!(cli.ok_exit_codes, [Setting::Given(0)]);
    }

    #[test]
    fn words_and_codes_become_values() {
        let cli: Cli = settings(
            "provider: cli, command: x, stdin: messages, format: stream-json, \
             ok_exit_codes: [0, \"${{ CODE }}\"], env: {A: b}",
        );
        assert_eq!(cli.stdin, Setting::Given(Stdin::Messages));
        assert_eq!(cli.format, Some(Setting::Given(Format::StreamJson)));
        assert!(matches!(cli.ok_exit_codes[1], Setting::Reference(_)));
        assert_eq!(cli.env[0].1.0.raw(), "b");
    }

    #[test]
    fn faults_have_names_and_places() {
        for (options, message) in [
            ("command: []", "`command` is empty"),
            ("command: \"\"", "`command` is empty"),
            ("command: [\"\", x]", "an item of `command` is empty"),
            (
                "command: {a: b}",
                "`command` takes a list of strings, or a string, found a mapping",
            ),
            (
                "command: [x, 3]",
                "an item of `command` is a string, found a number",
            ),
            ("command: x, format: json", "`format` cannot be `json`"),
            (
                "command: x, ok_exit_codes: 0",
                "`ok_exit_codes` takes a list of integers, found a number",
            ),
            ("command: x, ok_exit_codes: []", "`ok_exit_codes` is empty"),
        ] {
            assert_eq!(
                faults(&format!("provider: cli, {options}")),
                [message],
                "{options}"
            );
        }
    }

    #[test]
    fn the_old_name_of_the_command_is_recognised() {
        let read = read("targets: [{name: a, provider: cli, command_template: x}]\n");
        assert_eq!(read.names(), ["unknown-field", "missing-option"]);
        let help = read.out[1].help.as_deref();
        assert_eq!(help, Some("rename `command_template` to `command`"));
    }
}
