//! `gemini-cli`: Gemini CLI, run as a program.

use evalrig_core::reader::{Options, ReadResult};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::clean_home::{HomeLayout, LoginFile, LoginPart};
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{ARGS, EventProgram, ExitStatusRule, FiguresRule};
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{BYPASS_PERMISSIONS, MODEL, PermittedProvider, Provider, ProviderSettings};

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

static HOME: HomeLayout = HomeLayout {
    settings: None,
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
    variables: &["GEMINI_*", "GOOGLE_*"],
};

static PROGRAM: EventProgram = EventProgram {
    executable: "gemini",
    first_args: &["-o", "stream-json", "--skip-trust"],
    model_flag: "-m",
    last_args: &[],
    defaults: &[],
    home: &HOME,
    without: &[],
    stream: || Box::new(StreamReader::new(&format::gemini::FORMAT)),
    exit: ExitStatusRule::Counts,
    directory_flag: Some("--include-directories"),
    explicit_skill: |_| None,
    report: None,
    resume: "--resume",
    figures: FiguresRule::OfRun,
    system: None,
    unreported: format::gemini::UNREPORTED,
};

static FIELDS: &[Field] = &[
    Field::new("executable", Shape::NonEmptyText, "program to run; default `gemini`"),
    MODEL,
    ARGS,
    CWD,
    ENV,
    BYPASS_PERMISSIONS,
];

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    PermittedProvider::read(options, &PROGRAM, true, &["--yolo"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::target::testing::{faults, settings};

    #[test]
    fn every_tool_is_allowed_by_default() {
        for name in ["gemini-cli", "gemini"] {
            let read: PermittedProvider = settings(&format!("provider: {name}"));
            assert_eq!(read.bypass_permissions, Setting::Given(true));
            assert_eq!(read.program.executable, "gemini");
        }
        let read: PermittedProvider =
            settings("provider: gemini-cli, bypass_permissions: false, model: m");
        assert_eq!(read.bypass_permissions, Setting::Given(false));
        assert_eq!(ProviderSettings::model(&read).unwrap().raw(), "m");
    }

    #[test]
    fn faults_have_names() {
        let found = faults("provider: gemini-cli, max_turns: 3");
        assert_eq!(found, ["unknown field `max_turns`"]);
    }
}
