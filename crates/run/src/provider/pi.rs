//! `pi`: Pi, run as a program.

use evalrig_core::reader::{Options, ReadResult};

use crate::agent::clean_home::HomeLayout;
use crate::agent::event_agent::{EventProgram, append_system_prompt};
use crate::agent::login::LoginFile;
use crate::agent::model_variables;
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{AGENT_FIELDS, EventProvider, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "pi",
    fields: AGENT_FIELDS,
    retries: 0,
    files: FilesMode::Paths,
    key_variables: &[],
    doc: r#"Runs `pi --print --mode json` with the prompt on standard input. Answer, tool calls, tokens and cost come
from the events it prints. A cost of 0 is unknown: Pi has no price for that model. Pi exits with status 0
even if the service refused the request; such a case is errored all the same. Also written `pi-cli`.

```yaml
targets:
  - name: default
    provider: pi
    model: anthropic/claude-sonnet-4-5
```
"#,
    read,
};

static HOME: HomeLayout = HomeLayout {
    settings: Some(("PI_CODING_AGENT_DIR", ".pi/agent")),
    logins: &[LoginFile::whole(".pi/agent/auth.json")],
    variables: &[
        model_variables::ANTHROPIC,
        model_variables::OPENAI,
        model_variables::GOOGLE,
        model_variables::OPENROUTER,
        model_variables::AWS,
        model_variables::AZURE_OPENAI,
        model_variables::SERVICES,
    ],
};

static PROGRAM: EventProgram = EventProgram {
    first_args: &["--print", "--mode", "json"],
    resume: "--session",
    system: Some(append_system_prompt),
    unreported: format::pi::UNREPORTED,
    ..EventProgram::new("pi", &HOME, || Box::new(StreamReader::new(&format::pi::FORMAT)))
};

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    EventProvider::read(options, &PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::settings;

    #[test]
    fn nothing_is_needed() {
        for name in ["pi", "pi-cli"] {
            let read: EventProvider = settings(&format!("provider: {name}"));
            assert_eq!(read.program.executable, "pi");
        }
    }
}
