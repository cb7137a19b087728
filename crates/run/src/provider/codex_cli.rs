//! `codex-cli`: Codex, run as a program.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{ARGS, EventAgentOptions, EventProgram, ExitStatusRule};
use crate::format::{self, StreamReader};
use crate::setting::{ConnectContext, FilesMode};

use super::{MODEL, Provider, ProviderSettings};

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

static PROGRAM: EventProgram = EventProgram {
    executable: "codex",
    first_args: &["exec", "--json", "--skip-git-repo-check"],
    model_flag: "-m",
    // Reads the prompt from standard input.
    last_args: &["-"],
    defaults: &[],
    without: &[],
    stream: || Box::new(StreamReader::new(&format::codex::FORMAT)),
    exit: ExitStatusRule::Counts,
    unreported: format::codex::UNREPORTED,
};

static FIELDS: &[Field] = &[
    Field::new("executable", Shape::NonEmptyText, "program to run; default `codex`"),
    MODEL,
    ARGS,
    CWD,
    ENV,
];

#[derive(Debug, Clone, PartialEq)]
struct CodexCli(EventAgentOptions);

impl ProviderSettings for CodexCli {
    fn model(&self) -> Option<&Template> {
        self.0.model.as_ref()
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        self.0.connect(&PROGRAM, Vec::new(), context)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    Ok(Box::new(CodexCli(EventAgentOptions::read(options)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn every_option_is_optional() {
        let CodexCli(read) = settings("provider: codex-cli");
        assert_eq!((read.executable, read.model), (None, None));
        let CodexCli(read) =
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
