//! `opencode`: opencode, run as a program.

use evalrig_core::reader::{Options, ReadResult};

use crate::agent::clean_home::HomeLayout;
use crate::agent::event_agent::EventProgram;
use crate::agent::login::LoginFile;
use crate::agent::model_variables;
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{EventProvider, PERMITTED_AGENT_FIELDS, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "opencode",
    fields: PERMITTED_AGENT_FIELDS,
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
    variables: &[
        model_variables::ANTHROPIC,
        model_variables::OPENAI,
        model_variables::GOOGLE,
        model_variables::OPENROUTER,
        model_variables::AWS,
        model_variables::AZURE,
        model_variables::SERVICES,
        // What evalrig sets by default.
        &["OPENCODE_DISABLE_AUTOUPDATE"],
    ],
};

static PROGRAM: EventProgram = EventProgram {
    first_args: &["run", "--format", "json"],
    model_flag: "-m",
    // An evaluation should not update the program that it measures.
    defaults: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    resume: "--session",
    bypass: Some((&["--auto"], false)),
    unreported: format::opencode::UNREPORTED,
    ..EventProgram::new("opencode", &HOME, || {
        Box::new(StreamReader::new(&format::opencode::FORMAT))
    })
};

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    EventProvider::read(options, &PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::settings;

    #[test]
    fn permissions_are_those_of_its_configuration_by_default() {
        for name in ["opencode", "opencode-cli"] {
            let read: EventProvider = settings(&format!("provider: {name}"));
            assert_eq!(read.bypass_permissions, None);
            assert_eq!(read.program.bypass.map(|(_, default)| default), Some(false));
            assert_eq!(read.program.executable, "opencode");
        }
    }
}
