//! `codex-cli`: Codex, run as a program.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::environment::Environment;
use crate::agent::event_agent::{EventAgent, ExitStatusRule, executable};
use crate::format;
use crate::setting::{ConnectContext, FilesMode, Secret, SettingOptions as _};

use super::{Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "codex-cli",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Paths,
    key_variables: &[],
    doc: r#"Runs `codex exec --json` with the prompt on standard input. Answer, tool calls and tokens come from the
events it prints. It does not report a cost; set `price` to compute one.

```yaml
targets:
  - name: default
    provider: codex-cli
    model: gpt-5-codex
    args: [--sandbox, read-only]
    price: {input: 1.25, output: 10, cached: 0.125}
```
"#,
    read,
};

/// Default of `executable`.
pub const EXECUTABLE: &str = "codex";

static FIELDS: &[Field] = &[
    Field::new(
        "executable",
        Shape::NonEmptyText,
        "program to run; default `codex`",
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
];

#[derive(Debug, Clone, PartialEq)]
pub struct CodexCli {
    /// `None` is [`EXECUTABLE`].
    pub executable: Option<Template>,
    pub model: Option<Template>,
    pub args: Vec<Template>,
    pub cwd: Option<Template>,
    pub env: Vec<(String, Secret)>,
}

impl ProviderSettings for CodexCli {
    fn model(&self) -> Option<&Template> {
        self.model.as_ref()
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let model = context.optional(self.model.as_ref())?;
        Ok(Box::new(EventAgent {
            executable: executable(self.executable.as_ref(), EXECUTABLE, context)?,
            args: self.arguments(model.as_deref(), context)?,
            cwd: context.directory(self.cwd.as_ref())?,
            env: Environment::of(&[], &self.env, context)?,
            without: &[],
            files: context.files_mode()?,
            model,
            read: |output| format::codex::FORMAT.read_transcript(output),
            exit: ExitStatusRule::Counts,
        }))
    }
}

impl CodexCli {
    /// The final `-` reads the prompt from standard input.
    fn arguments(
        &self,
        model: Option<&str>,
        context: &ConnectContext<'_>,
    ) -> Result<Vec<String>, Diagnostic> {
        let fixed = ["exec", "--json", "--skip-git-repo-check"];
        let mut args: Vec<String> = fixed.map(str::to_owned).into();
        if let Some(model) = model {
            args.extend(["-m".to_owned(), model.to_owned()]);
        }
        args.extend(context.texts(&self.args)?);
        args.push("-".to_owned());
        Ok(args)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let executable = options.full_template("executable");
    let model = options.full_template("model");
    let args = options.templates("args");
    let cwd = options.path("cwd");
    let env = options.secret_map("env");
    Ok(Box::new(CodexCli {
        executable: executable?,
        model: model?,
        args: args?,
        cwd: cwd?,
        env: env?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn every_option_is_optional() {
        let read: CodexCli = settings("provider: codex-cli");
        assert_eq!((read.executable, read.model), (None, None));
        let read: CodexCli =
            settings("provider: codex-cli, executable: codex-beta, model: m, cwd: /srv, args: [a]");
        assert_eq!(read.executable.unwrap().raw(), "codex-beta");
        assert_eq!(read.cwd.unwrap().raw(), "/srv");
    }

    #[test]
    fn options_of_claude_cli_are_unknown() {
        let found = faults("provider: codex-cli, max_turns: 3");
        assert_eq!(found, ["unknown field `max_turns`"]);
    }
}
