//! `pi`: Pi, run as a program.

use evalrig_core::reader::{Options, ReadResult};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::clean_home::{HomeLayout, LoginFile};
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{
    ARGS, EventAgentOptions, EventProgram, ExitStatusRule, FiguresRule,
};
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{EventProvider, MODEL, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "pi",
    fields: FIELDS,
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
    args: [--no-session]
```
"#,
    read,
};

static HOME: HomeLayout = HomeLayout {
    settings: Some(("PI_CODING_AGENT_DIR", ".pi/agent")),
    logins: &[LoginFile::whole(".pi/agent/auth.json")],
    variables: &["PI_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*"],
};

static PROGRAM: EventProgram = EventProgram {
    executable: "pi",
    first_args: &["--print", "--mode", "json"],
    model_flag: "--model",
    last_args: &[],
    defaults: &[],
    home: &HOME,
    without: &[],
    stream: || Box::new(StreamReader::new(&format::pi::FORMAT)),
    exit: ExitStatusRule::Counts,
    directory_flag: None,
    explicit_skill: |_| None,
    report: None,
    resume: "--session",
    figures: FiguresRule::OfRun,
    system: Some(|text| vec!["--append-system-prompt".to_owned(), text.to_owned()]),
    unreported: format::pi::UNREPORTED,
};

static FIELDS: &[Field] = &[
    Field::new("executable", Shape::NonEmptyText, "program to run; default `pi`"),
    MODEL,
    ARGS,
    CWD,
    ENV,
];

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let options = EventAgentOptions::read(options)?;
    Ok(Box::new(EventProvider { options, program: &PROGRAM, flags: &[] }))
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
