//! `gemini-cli`: Gemini CLI, run as a program.

use evalrig_core::reader::{Options, ReadResult};
use evalrig_core::syntax::fields::Field;

use crate::agent::clean_home::HomeLayout;
use crate::agent::event_agent::EventProgram;
use crate::agent::login::{LoginFile, LoginPart};
use crate::agent::model_variables;
use crate::agent::turn_limit::{TurnLimit, TurnSetting};
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{
    ARGS, BYPASS_PERMISSIONS, CWD, ENV, EXECUTABLE, EventProvider, MAX_TURNS, MODEL, Provider,
    ProviderSettings,
};

pub static PROVIDER: Provider = Provider {
    name: "gemini-cli",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Paths,
    key_variables: &[],
    doc: r#"Runs `gemini -o stream-json` with the prompt on standard input. Answer, tool calls and tokens come from
the events it prints. It does not report a cost; set `price` to compute one. Also written `gemini`.

Every tool is allowed by default, because Gemini CLI does not even offer tools that it would have to ask for.
With `bypass_permissions: false` choose a mode yourself, such as `args: [--approval-mode, plan]`.
Reaching `max_turns` is not an error: the conversation up to that point is graded. It needs another `home` than
`user`, and settings of the project go before it.

```yaml
targets:
  - name: default
    provider: gemini-cli
    model: gemini-2.5-pro
    price: {input: 1.25, output: 10, cached: 0.31}
```
"#,
    read,
};

static FIELDS: &[Field] = &[EXECUTABLE, MODEL, ARGS, CWD, ENV, MAX_TURNS, BYPASS_PERMISSIONS];

static HOME: HomeLayout = HomeLayout {
    settings: Some(("GEMINI_CLI_HOME", "")),
    logins: &[
        LoginFile::whole(".gemini/oauth_creds.json"),
        LoginFile::whole(".gemini/google_accounts.json"),
        // Which of the logins is used.
        LoginFile {
            from: ".gemini/settings.json",
            to: ".gemini/settings.json",
            part: LoginPart::Value(&["security", "auth"]),
        },
    ],
    variables: &[model_variables::GOOGLE, &["GEMINI_API_KEY_AUTH_MECHANISM"]],
};

static PROGRAM: EventProgram = EventProgram {
    first_args: &["-o", "stream-json", "--skip-trust"],
    model_flag: "-m",
    directory_flag: Some("--include-directories"),
    bypass: Some((&["--yolo"], true)),
    // It has no flag for it.
    turns: Some(TurnLimit::Setting(TurnSetting {
        file: ".gemini/settings.json",
        keys: &["model", "maxSessionTurns"],
        exit_code: 53,
    })),
    unreported: format::gemini::UNREPORTED,
    ..EventProgram::new("gemini", &HOME, || Box::new(StreamReader::new(&format::gemini::FORMAT)))
};

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    EventProvider::read(options, &PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::target::testing::settings;

    #[test]
    fn every_tool_is_allowed_by_default() {
        for name in ["gemini-cli", "gemini"] {
            let read: EventProvider = settings(&format!("provider: {name}"));
            assert_eq!(read.bypass_permissions, None);
            assert_eq!(read.program.bypass.map(|(_, default)| default), Some(true));
            assert_eq!(read.program.executable, "gemini");
        }
        let read: EventProvider =
            settings("provider: gemini-cli, bypass_permissions: false, model: m");
        assert_eq!(read.bypass_permissions, Some(Setting::Given(false)));
        assert_eq!(ProviderSettings::model(&read).unwrap().raw(), "m");
    }

    #[test]
    fn turns_can_be_limited() {
        let read: EventProvider = settings("provider: gemini-cli, max_turns: 3");
        assert_eq!(read.max_turns, Some(Setting::Given(3)));
    }
}
