//! `copilot-cli`: GitHub Copilot CLI, run as a program.

use evalrig_core::reader::{Options, ReadResult};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::clean_home::{HomeLayout, LoginFile};
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{ARGS, EventProgram, ExitStatusRule, FiguresRule, ReportFile};
use crate::format::{self, StreamReader};
use crate::setting::FilesMode;

use super::{BYPASS_PERMISSIONS, MODEL, PermittedProvider, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "copilot-cli",
    fields: FIELDS,
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

static HOME: HomeLayout = HomeLayout {
    settings: Some(("COPILOT_HOME", ".copilot")),
    logins: &[
        LoginFile::whole(".copilot/config.json"),
        LoginFile::whole(".config/gh/hosts.yml"),
        LoginFile::whole(".config/github-copilot/apps.json"),
        LoginFile::whole(".config/github-copilot/hosts.json"),
    ],
    variables: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
};

static PROGRAM: EventProgram = EventProgram {
    executable: "copilot",
    first_args: &["--output-format", "json", "--no-color", "--no-auto-update"],
    model_flag: "--model",
    last_args: &[],
    defaults: &[],
    home: &HOME,
    without: &[],
    stream: || Box::new(StreamReader::new(&format::copilot::FORMAT)),
    exit: ExitStatusRule::Counts,
    directory_flag: Some("--add-dir"),
    explicit_skill: |_| None,
    report: Some(ReportFile { flag: "--usage-output-file", read: format::copilot::add_usage }),
    resume: "--resume",
    figures: FiguresRule::AllOfSession,
    system: None,
    unreported: format::copilot::UNREPORTED,
};

static FIELDS: &[Field] = &[
    Field::new("executable", Shape::NonEmptyText, "program to run; default `copilot`"),
    MODEL,
    ARGS,
    CWD,
    ENV,
    BYPASS_PERMISSIONS,
];

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    PermittedProvider::read(options, &PROGRAM, true, &["--allow-all-tools"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::target::testing::settings;

    #[test]
    fn every_tool_is_allowed_by_default() {
        for name in ["copilot-cli", "copilot"] {
            let read: PermittedProvider = settings(&format!("provider: {name}"));
            assert_eq!(read.bypass_permissions, Setting::Given(true));
            assert_eq!(read.program.executable, "copilot");
        }
    }
}
