//! `claude-cli`: Claude Code, run as a program.

use evalrig_core::reader::{Options, ReadResult};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::clean_home::HomeLayout;
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{
    ARGS, EventProgram, ExitStatusRule, FiguresRule, append_system_prompt,
};
use crate::agent::login::{LoginFile, LoginPart};
use crate::agent::model_variables;
use crate::agent::turn_limit::TurnLimit;
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{EXECUTABLE, EventProvider, MAX_TURNS, MODEL, Provider, ProviderSettings};

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

/// Its own keys, services, model of sub-agents and client certificate, and what evalrig sets by default.
const VARIABLES: &[&str] = &[
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "IS_SANDBOX",
];

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
    variables: &[
        model_variables::ANTHROPIC,
        model_variables::ANTHROPIC_CLOUDS,
        model_variables::AWS,
        VARIABLES,
    ],
};

static PROGRAM: EventProgram = EventProgram {
    first_args: &["-p", "--output-format", "stream-json", "--verbose"],
    // An evaluation should neither send telemetry nor update the program it measures. `IS_SANDBOX`
    // is never set here: only the user can declare a sandbox.
    defaults: &[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")],
    // With these set, Claude Code detects that another Claude Code started it and behaves differently.
    without: &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"],
    exit: ExitStatusRule::Ignored,
    directory_flag: Some("--add-dir"),
    explicit_skill: format::claude::slash_command,
    figures: FiguresRule::UsageOfSession,
    system: Some(append_system_prompt),
    skill_folder: ".claude/skills",
    bypass: Some((&["--dangerously-skip-permissions"], false)),
    turns: Some(TurnLimit::Flag("--max-turns")),
    unreported: format::claude::UNREPORTED,
    ..EventProgram::new("claude", &HOME, || Box::new(StreamReader::new(&format::claude::FORMAT)))
};

static FIELDS: &[Field] = &[
    EXECUTABLE,
    MODEL,
    ARGS,
    CWD,
    ENV,
    MAX_TURNS,
    Field::new(
        "bypass_permissions",
        Shape::Boolean,
        "allow every tool without asking; default false",
    ),
];

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    EventProvider::read(options, &PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::target::testing::{faults, settings};

    #[test]
    fn nothing_is_needed() {
        let read: EventProvider = settings("provider: claude-cli");
        assert_eq!(read.bypass_permissions, None);
        assert_eq!(ProviderSettings::model(&read), None);
    }

    #[test]
    fn options_are_read() {
        let read: EventProvider = settings(
            "provider: claude-cli, executable: ./claude, args: [-v], max_turns: 3, \
             bypass_permissions: true",
        );
        assert_eq!(read.options.args[0].raw(), "-v");
        assert_eq!(read.max_turns, Some(Setting::Given(3)));
        assert_eq!(read.bypass_permissions, Some(Setting::Given(true)));
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
