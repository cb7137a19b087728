//! `codex-cli`: Codex, run as a program.

use evalrig_core::reader::{Options, ReadResult};

use crate::agent::clean_home::HomeLayout;
use crate::agent::event_agent::{EventProgram, FiguresRule};
use crate::agent::login::LoginFile;
use crate::agent::model_variables;
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{AGENT_FIELDS, EventProvider, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "codex-cli",
    fields: AGENT_FIELDS,
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

static HOME: HomeLayout = HomeLayout {
    settings: Some(("CODEX_HOME", ".codex")),
    logins: &[LoginFile::whole(".codex/auth.json")],
    variables: &[
        model_variables::OPENAI,
        &["CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE"],
    ],
};

static PROGRAM: EventProgram = EventProgram {
    first_args: &["exec", "--json", "--skip-git-repo-check"],
    model_flag: "-m",
    // Reads the prompt from standard input.
    last_args: &["-"],
    // Codex reads files anywhere; its sandbox is about writing.
    directory_flag: None,
    resume: "resume",
    figures: FiguresRule::UsageOfSession,
    system: Some(developer_instructions),
    unreported: format::codex::UNREPORTED,
    ..EventProgram::new("codex", &HOME, || Box::new(StreamReader::new(&format::codex::FORMAT)))
};

/// Codex adds its own instructions to these. A JSON string is a TOML string, except for one character.
fn developer_instructions(text: &str) -> Vec<String> {
    let text = serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f");
    vec!["-c".to_owned(), format!("developer_instructions={text}")]
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    EventProvider::read(options, &PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, read, settings};

    #[test]
    fn every_option_is_optional() {
        let read: EventProvider = settings("provider: codex-cli");
        let read = read.options;
        assert_eq!((read.executable, read.model), (None, None));
        let read: EventProvider =
            settings("provider: codex-cli, executable: codex-beta, model: m, cwd: /srv, args: [a]");
        let read = read.options;
        assert_eq!(read.executable.unwrap().raw(), "codex-beta");
        assert_eq!(read.cwd.unwrap().raw(), "/srv");
    }

    #[test]
    fn turns_cannot_be_limited_and_the_help_says_so() {
        let found = faults("provider: codex-cli, max_turns: 3");
        assert_eq!(found, ["unknown field `max_turns`"]);
        let text = "targets:\n  - {name: a, provider: codex-cli, max_turns: 3}\n";
        let help = read(text).out[0].help.clone();
        let expected = "`codex-cli` cannot limit the number of turns; use `timeout_seconds`";
        assert_eq!(help.as_deref(), Some(expected));
    }
}
