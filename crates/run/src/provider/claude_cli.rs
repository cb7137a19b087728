//! `claude-cli`: Claude Code, run as a program.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::clean_home::{HomeLayout, LoginFile, LoginPart};
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{
    ARGS, EventAgentOptions, EventProgram, ExitStatusRule, FiguresRule,
};
use crate::format::{self, StreamReader};
use crate::setting::{ConnectContext, FilesMode, Setting, option};

use super::{MODEL, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "claude-cli",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Paths,
    key_variables: &[],
    doc: r#"Runs `claude -p` with the prompt on standard input. Answer, tool calls, tokens, cost and duration come
from the events it prints.

As root, Claude Code rejects `bypass_permissions` unless `env: {IS_SANDBOX: "1"}` declares a sandbox.
`CLAUDECODE` and `CLAUDE_CODE_ENTRYPOINT` are not passed on. Reaching `max_turns` is not an error: the
answer so far is graded.

```yaml
targets:
  - name: default
    provider: claude-cli
    model: sonnet
    args: [--allowedTools, "Read,Grep"]
    max_turns: 20
    timeout_seconds: 600
```
"#,
    read,
};

static HOME: HomeLayout = HomeLayout {
    settings: Some(("CLAUDE_CONFIG_DIR", ".claude")),
    logins: &[
        LoginFile::whole(".claude/.credentials.json"),
        LoginFile {
            from: ".claude.json",
            to: ".claude/.claude.json",
            part: LoginPart::Value(&["oauthAccount"]),
        },
    ],
    variables: &["ANTHROPIC_*", "CLAUDE_CODE_*", "AWS_*", "IS_SANDBOX"],
};

static PROGRAM: EventProgram = EventProgram {
    executable: "claude",
    first_args: &["-p", "--output-format", "stream-json", "--verbose"],
    model_flag: "--model",
    last_args: &[],
    // An evaluation should neither send telemetry nor update the program it measures. `IS_SANDBOX`
    // is never set here: only the user can declare a sandbox.
    defaults: &[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")],
    // With these set, Claude Code detects that another Claude Code started it and behaves differently.
    home: &HOME,
    without: &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"],
    stream: || Box::new(StreamReader::new(&format::claude::FORMAT)),
    exit: ExitStatusRule::Ignored,
    directory_flag: Some("--add-dir"),
    explicit_skill: slash_command,
    report: None,
    resume: "--resume",
    figures: FiguresRule::UsageOfSession,
    system: Some(|text| vec!["--append-system-prompt".to_owned(), text.to_owned()]),
    unreported: format::claude::UNREPORTED,
};

/// `/NAME …` loads the skill of that name and leaves no trace in the stream.
fn slash_command(prompt: &str) -> Option<&str> {
    let name = prompt.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let name = Some(name).filter(|name| !name.is_empty())?;
    Some(name.rsplit_once(':').map_or(name, |(_, skill)| skill))
}

static FIELDS: &[Field] = &[
    Field::new("executable", Shape::NonEmptyText, "program to run; default `claude`"),
    MODEL,
    ARGS,
    CWD,
    ENV,
    Field::new("max_turns", Shape::Integer { min: 1, max: u64::MAX }, "maximum number of turns"),
    Field::new(
        "bypass_permissions",
        Shape::Boolean,
        "allow every tool without asking; default false",
    ),
];

#[derive(Debug, Clone, PartialEq)]
struct ClaudeCli {
    program: EventAgentOptions,
    max_turns: Option<Setting<u64>>,
    bypass_permissions: Setting<bool>,
}

impl ProviderSettings for ClaudeCli {
    fn model(&self) -> Option<&Template> {
        self.program.model.as_ref()
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let mut flags = Vec::new();
        if let Some(turns) = &self.max_turns {
            let turns = context.integer(turns, 1, u64::MAX)?;
            flags.extend(["--max-turns".to_owned(), turns.to_string()]);
        }
        if context.boolean(&self.bypass_permissions)? {
            flags.push("--dangerously-skip-permissions".to_owned());
        }
        self.program.connect(&PROGRAM, flags, context)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let program = EventAgentOptions::read(options);
    let max_turns = option::integer(options, "max_turns", 1, u64::MAX);
    let bypass_permissions = option::boolean(options, "bypass_permissions");
    Ok(Box::new(ClaudeCli {
        program: program?,
        max_turns: max_turns?,
        bypass_permissions: bypass_permissions?.unwrap_or(Setting::Given(false)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn a_slash_command_names_a_skill() {
        assert_eq!(slash_command("/csv-analyzer a.csv"), Some("csv-analyzer"));
        assert_eq!(slash_command("/data:csv\nNow."), Some("csv"));
        for prompt in ["What is /csv?", "/", "/ csv", ""] {
            assert_eq!(slash_command(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn nothing_is_needed() {
        let read: ClaudeCli = settings("provider: claude-cli");
        assert_eq!(read.bypass_permissions, Setting::Given(false));
        assert_eq!(ProviderSettings::model(&read), None);
    }

    #[test]
    fn options_are_read() {
        let read: ClaudeCli = settings(
            "provider: claude-cli, executable: ./claude, args: [-v], max_turns: 3, \
             bypass_permissions: true",
        );
        assert_eq!(read.program.args[0].raw(), "-v");
        assert_eq!(read.max_turns, Some(Setting::Given(3)));
        assert_eq!(read.bypass_permissions, Setting::Given(true));
    }

    #[test]
    fn faults_have_names() {
        for (options, message) in [
            ("max_turns: 0", "`max_turns` takes an integer of at least 1, found 0"),
            ("bypass_permissions: yes", "`bypass_permissions` takes a boolean, found a string"),
            ("args: -v", "`args` takes a list of strings, found a string"),
            ("model: \"\"", "`model` is empty"),
        ] {
            assert_eq!(faults(&format!("provider: claude-cli, {options}")), [message]);
        }
    }
}
