//! `opencode`: opencode, run as a program.

use evalrig_core::reader::{Options, ReadResult};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::clean_home::{HomeLayout, LoginFile};
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{ARGS, EventProgram, ExitStatusRule, FiguresRule};
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{BYPASS_PERMISSIONS, MODEL, PermittedProvider, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "opencode",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Paths,
    key_variables: &[],
    doc: r#"Runs `opencode run --format json` with the prompt on standard input. Answer, tool calls, tokens and cost
come from the events it prints. A cost of 0 is unknown: opencode has no price for that model. Also written
`opencode-cli`.

opencode refuses what its configuration says to ask for. `bypass_permissions: true` allows it. What a
sub-agent (the tool `task`) does is not in the events, so the use of skills is then not measured. The tool
`skill` needs `rg` on the `PATH`.

```yaml
targets:
  - name: default
    provider: opencode
    model: anthropic/claude-sonnet-4-5
```
"#,
    read,
};

static HOME: HomeLayout = HomeLayout {
    settings: None,
    logins: &[LoginFile::whole(".local/share/opencode/auth.json")],
    variables: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*"],
};

static PROGRAM: EventProgram = EventProgram {
    executable: "opencode",
    first_args: &["run", "--format", "json"],
    model_flag: "-m",
    last_args: &[],
    // An evaluation should not update the program that it measures.
    defaults: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    home: &HOME,
    without: &[],
    stream: || Box::new(StreamReader::new(&format::opencode::FORMAT)),
    exit: ExitStatusRule::Counts,
    directory_flag: None,
    explicit_skill: |_| None,
    report: None,
    resume: "--session",
    figures: FiguresRule::OfRun,
    system: None,
    unreported: format::opencode::UNREPORTED,
};

static FIELDS: &[Field] = &[
    Field::new("executable", Shape::NonEmptyText, "program to run; default `opencode`"),
    MODEL,
    ARGS,
    CWD,
    ENV,
    BYPASS_PERMISSIONS,
];

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    PermittedProvider::read(options, &PROGRAM, false, &["--auto"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::target::testing::settings;

    #[test]
    fn permissions_are_those_of_its_configuration_by_default() {
        for name in ["opencode", "opencode-cli"] {
            let read: PermittedProvider = settings(&format!("provider: {name}"));
            assert_eq!(read.bypass_permissions, Setting::Given(false));
            assert_eq!(read.program.executable, "opencode");
        }
    }
}
