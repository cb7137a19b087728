//! `claude-cli`: Claude Code, run as a program.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::environment::Environment;
use crate::agent::event_agent::{EventAgent, ExitStatusRule, executable};
use crate::format;
use crate::setting::{ConnectContext, FilesMode, Secret, Setting, SettingOptions as _};

use super::{Provider, ProviderSettings};

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

/// Default of `executable`.
pub const EXECUTABLE: &str = "claude";

/// With these set, Claude Code detects that another Claude Code started it and behaves differently.
const WITHOUT: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];

/// An evaluation should neither send telemetry nor update the program it measures. Variables that
/// are already set are kept. `IS_SANDBOX` is never set here: only the user can declare a sandbox.
const DEFAULTS: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
];

static FIELDS: &[Field] = &[
    Field::new(
        "executable",
        Shape::NonEmptyText,
        "program to run; default `claude`",
    ),
    Field::new("model", Shape::NonEmptyText, "model to use"),
    Field::new("args", Shape::List(&Shape::Text), "additional arguments"),
    Field::new(
        "cwd",
        Shape::NonEmptyText,
        "working directory; default: the directory that paths of this file are relative to",
    ),
    Field::new(
        "env",
        Shape::MapOf(&Shape::Text),
        "environment variables to add",
    ),
    Field::new(
        "max_turns",
        Shape::Integer {
            min: 1,
            max: u64::MAX,
        },
        "maximum number of turns",
    ),
    Field::new(
        "bypass_permissions",
        Shape::Boolean,
        "allow every tool without asking; default false",
    ),
];

#[derive(Debug, Clone, PartialEq)]
pub struct ClaudeCli {
    /// `None` is [`EXECUTABLE`].
    pub executable: Option<Template>,
    pub model: Option<Template>,
    pub args: Vec<Template>,
    pub cwd: Option<Template>,
    pub env: Vec<(String, Secret)>,
    pub max_turns: Option<Setting<u64>>,
    pub bypass_permissions: Setting<bool>,
}

impl ProviderSettings for ClaudeCli {
    fn model(&self) -> Option<&Template> {
        self.model.as_ref()
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let model = context.optional(self.model.as_ref())?;
        Ok(Box::new(EventAgent {
            executable: executable(self.executable.as_ref(), EXECUTABLE, context)?,
            args: self.arguments(model.as_deref(), context)?,
            cwd: context.directory(self.cwd.as_ref())?,
            env: Environment::of(DEFAULTS, &self.env, context)?,
            without: WITHOUT,
            files: context.files_mode()?,
            model,
            read: |output| format::claude::FORMAT.read_transcript(output),
            exit: ExitStatusRule::Ignored,
        }))
    }
}

impl ClaudeCli {
    /// `args` come last, so that they override the others.
    fn arguments(
        &self,
        model: Option<&str>,
        context: &ConnectContext<'_>,
    ) -> Result<Vec<String>, Diagnostic> {
        let fixed = ["-p", "--output-format", "stream-json", "--verbose"];
        let mut args: Vec<String> = fixed.map(str::to_owned).into();
        if let Some(model) = model {
            args.extend(["--model".to_owned(), model.to_owned()]);
        }
        if let Some(turns) = &self.max_turns {
            let turns = context.integer(turns, 1, u64::MAX)?;
            args.extend(["--max-turns".to_owned(), turns.to_string()]);
        }
        if context.boolean(&self.bypass_permissions)? {
            args.push("--dangerously-skip-permissions".to_owned());
        }
        args.extend(context.texts(&self.args)?);
        Ok(args)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let executable = options.full_template("executable");
    let model = options.full_template("model");
    let args = options.templates("args");
    let cwd = options.path("cwd");
    let env = options.secret_map("env");
    let max_turns = options.integer_setting("max_turns", 1, u64::MAX);
    let bypass_permissions = options.boolean_setting("bypass_permissions");
    Ok(Box::new(ClaudeCli {
        executable: executable?,
        model: model?,
        args: args?,
        cwd: cwd?,
        env: env?,
        max_turns: max_turns?,
        bypass_permissions: bypass_permissions?.unwrap_or(Setting::Given(false)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

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
        assert_eq!(read.args[0].raw(), "-v");
        assert_eq!(read.max_turns, Some(Setting::Given(3)));
        assert_eq!(read.bypass_permissions, Setting::Given(true));
    }

    #[test]
    fn faults_have_names() {
        for (options, message) in [
            (
                "max_turns: 0",
                "`max_turns` takes an integer of at least 1, found 0",
            ),
            (
                "bypass_permissions: yes",
                "`bypass_permissions` takes a boolean, found a string",
            ),
            ("args: -v", "`args` takes a list of strings, found a string"),
            ("model: \"\"", "`model` is empty"),
        ] {
            assert_eq!(
                faults(&format!("provider: claude-cli, {options}")),
                [message]
            );
        }
    }
}
