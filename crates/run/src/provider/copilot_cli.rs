//! `copilot-cli`: GitHub Copilot CLI, run as a program.

use evalrig_core::reader::{Options, ReadResult};

use crate::agent::clean_home::HomeLayout;
use crate::agent::event_agent::{EventProgram, FiguresRule, ReportFile};
use crate::agent::login::{LoginFile, LoginPart};
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{EventProvider, PERMITTED_AGENT_FIELDS, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "copilot-cli",
    fields: PERMITTED_AGENT_FIELDS,
    retries: 0,
    files: FilesMode::Paths,
    key_variables: &[],
    doc: r#"Runs `copilot --output-format json` with the prompt on standard input. Answer, tool calls and the
catalogue of skills come from the events it prints, tokens from the file that it writes with
`--usage-output-file`. It does not report a cost in dollars; set `price` to compute one. Also written
`copilot`.

Every tool is allowed by default. With `bypass_permissions: false` choose them yourself, such as
`args: [--allow-tool, "shell(git)"]`.

```yaml
targets:
  - name: default
    provider: copilot-cli
    model: gpt-5.1
    price: {input: 1.25, output: 10, cached: 0.125}
```
"#,
    read,
};

/// Of a file that holds settings too. Both spellings are in use.
const LOGIN_MEMBERS: &[&str] = &[
    "copilotTokens",
    "copilot_tokens",
    "lastLoggedInUser",
    "last_logged_in_user",
    "loggedInUsers",
    "logged_in_users",
    "storeTokenPlaintext",
    "store_token_plaintext",
];

static HOME: HomeLayout = HomeLayout {
    settings: Some(("COPILOT_HOME", ".copilot")),
    logins: &[
        LoginFile {
            from: ".copilot/config.json",
            to: ".copilot/config.json",
            part: LoginPart::Members(LOGIN_MEMBERS),
        },
        LoginFile::whole(".config/gh/hosts.yml"),
        LoginFile::whole(".config/github-copilot/apps.json"),
        LoginFile::whole(".config/github-copilot/hosts.json"),
    ],
    variables: &[&[
        "COPILOT_GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "GH_HOST",
        "COPILOT_MODEL",
        // A service in place of GitHub: its address, its key, its models.
        "COPILOT_OFFLINE",
        "COPILOT_PROVIDER_*",
    ]],
};

static PROGRAM: EventProgram = EventProgram {
    first_args: &["--output-format", "json", "--no-color", "--no-auto-update"],
    directory_flag: Some("--add-dir"),
    report: Some(ReportFile { flag: "--usage-output-file", read: format::copilot::add_usage }),
    figures: FiguresRule::AllOfSession,
    bypass: Some((&["--allow-all-tools"], true)),
    unreported: format::copilot::UNREPORTED,
    ..EventProgram::new("copilot", &HOME, || Box::new(StreamReader::new(&format::copilot::FORMAT)))
};

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    EventProvider::read(options, &PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::settings;

    #[test]
    fn every_tool_is_allowed_by_default() {
        for name in ["copilot-cli", "copilot"] {
            let read: EventProvider = settings(&format!("provider: {name}"));
            assert_eq!(read.bypass_permissions, None);
            assert_eq!(read.program.bypass.map(|(_, default)| default), Some(true));
            assert_eq!(read.program.executable, "copilot");
        }
    }
}
