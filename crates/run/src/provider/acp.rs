//! `acp`: any agent that speaks the Agent Client Protocol on standard input and output.
//!
//! The protocol is JSON-RPC, one message per line. A case is one session with one prompt:
//! `initialize`, `session/new`, `session/prompt`; a later turn of a conversation has `session/load`.

mod client;
mod model_choice;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{FaultKind, Transcript};
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::words;

use crate::agent::clean_home::HomeLayout;
use crate::agent::environment::{CWD, ENV, Environment};
use crate::agent::launch::Launch;
use crate::agent::placeholder::{CommandPart, PlaceholderValues, with_own_files};
use crate::agent::process::{STREAM_LIMIT, describe, run_into, with_stderr};
use crate::agent::program_files::files_of_arguments;
use crate::agent::stream::WatchedStream;
use crate::agent::{
    Agent, AttemptFault, OutputSink as _, Pending, Request, StreamFault, Unreported, text,
};
use crate::format::acp;
use crate::sandbox::ProgramStart;
use crate::setting::{ConnectContext, FilesMode, Secret, Setting, option};

use client::AcpClient;

pub use client::read_conversation;

use super::{ArmSetting, MODEL, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "acp",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Paths,
    key_variables: &[],
    doc: r#"Runs an agent that speaks the [Agent Client Protocol](https://agentclientprotocol.com) and gives it the
prompt in a new session. How much such an agent reports differs: some name their tools, some give only a
title. Use the agent's own provider where there is one.

`model` chooses one of the models that the agent offers when a session is opened; an agent that offers none, or
refuses it, is a fault.

Permission requests are answered by `permissions`: `allow` (the default) or `deny`.

The agent runs in your home directory, with your settings, memory and skills, which a warning says. `home: clean`
gives it an empty one without a login: pass a key by `env`. `home: user` accepts your own.

```yaml
targets:
  - name: default
    provider: acp
    command: [goose, acp]
    home: user
    timeout_seconds: 600
```

```yaml
targets:
  - name: claude-acp
    provider: acp
    command: [npx, "@agentclientprotocol/claude-agent-acp"]
    permissions: deny
```
"#,
    read,
};

static FIELDS: &[Field] = &[
    Field::new("command", Shape::NonEmptyList(&Shape::Text), "program and arguments").required(),
    MODEL,
    CWD,
    ENV,
    Field::new(
        "permissions",
        Shape::Choice(Permissions::WORDS),
        "how permission requests are answered; default `allow`",
    ),
];

words! {
    /// How permission requests are answered.
    enum Permissions {
        Allow = "allow",
        Deny = "deny",
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Acp {
    /// Never empty.
    command: Vec<Template>,
    model: Option<Template>,
    cwd: Option<Template>,
    env: Vec<(String, Secret)>,
    permissions: Setting<Permissions>,
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let command = read_command(options);
    let model = option::full_template(options, "model");
    let cwd = option::path(options, "cwd");
    let env = option::secret_map(options, "env");
    let permissions = option::choice(options, "permissions");
    Ok(Box::new(Acp {
        command: command?,
        model: model?,
        cwd: cwd?,
        env: env?,
        permissions: permissions?.unwrap_or(Setting::Given(Permissions::Allow)),
    }))
}

fn read_command(options: &mut Options<'_, '_, '_>) -> ReadResult<Vec<Template>> {
    let entry = options.require("command")?;
    let command = option::arguments(options, "command")?;
    if command.is_empty() {
        let help = "name the program, then its arguments";
        return Err(options.missing(entry.value.span(), "`command` is empty", help));
    }
    Ok(command)
}

impl ProviderSettings for Acp {
    fn model(&self) -> Option<&Template> {
        self.model.as_ref()
    }

    fn arm_settings(&self) -> &'static [ArmSetting] {
        &[ArmSetting::Model, ArmSetting::Args]
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let command = context.texts(&self.command)?.into_iter();
        let mut command = command.chain(context.arm_args.iter().cloned());
        Ok(Box::new(AcpAgent {
            program: command.next().unwrap_or_default(),
            args: command.collect(),
            model: context.model(self.model.as_ref())?,
            cwd: context.directory(self.cwd.as_ref())?,
            env: Environment::of(&[], &self.env, context)?,
            permissions: context.choice(&self.permissions, "a value of `permissions`")?,
            files: context.files_mode()?,
        }))
    }
}

#[derive(Debug)]
struct AcpAgent {
    program: String,
    args: Vec<String>,
    model: Option<String>,
    cwd: Utf8PathBuf,
    env: Environment,
    permissions: Permissions,
    files: FilesMode,
}

impl Agent for AcpAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    /// A later turn of those without `loadSession` is a fault.
    fn continues_sessions(&self) -> bool {
        true
    }

    fn reads_user_home(&self) -> bool {
        true
    }

    fn working_dir(&self) -> Option<&Utf8Path> {
        Some(&self.cwd)
    }

    fn unreported(&self) -> Vec<Unreported> {
        acp::UNREPORTED.to_vec()
    }

    fn program(&self) -> Option<&str> {
        Some(&self.program)
    }

    fn source_files(&self) -> Option<Vec<Utf8PathBuf>> {
        Some(files_of_arguments(&self.cwd, &self.words()))
    }
}

impl AcpAgent {
    fn words(&self) -> Vec<Vec<CommandPart>> {
        let words = std::iter::once(&self.program).chain(&self.args);
        words.map(|word| vec![CommandPart::Text(word.clone())]).collect()
    }

    /// In a workspace, files that the command names are still those of the target.
    fn command(&self, request: &Request<'_>) -> (String, Vec<String>) {
        if request.place.is_none() {
            return (self.program.clone(), self.args.clone());
        }
        let own = with_own_files(&self.words(), &self.cwd);
        let mut words = PlaceholderValues::default().arguments(&own).into_iter();
        (words.next().unwrap_or_default(), words.collect())
    }

    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let prompt = text::prompt(request, self.files)?;
        let mut client = AcpClient::new(request.cwd(&self.cwd).as_str(), prompt, self.permissions);
        client.earlier = request.session().map(str::to_owned);
        client.model.clone_from(&self.model);
        let first = client.replies();
        let env = self.env.for_case(request);
        let (program, args) = self.command(request);
        let start = ProgramStart { program, args, cwd: self.cwd.clone(), env };
        let launch = Launch::prepare(request, start, &[], &HomeLayout::PLAIN)?;
        let spec = launch.spec(request, Some(&first), STREAM_LIMIT);
        let mut watched = WatchedStream::new(Box::new(client), request.stop);
        let ended = match run_into(&spec, &mut watched).await {
            Ok(ended) => ended,
            Err(fault) => return Err(fault.with_stream(watched.stream)),
        };
        match (watched.stream.finish(), ended.status) {
            (Ok(transcript), _) => Ok(transcript),
            (Err(StreamFault::Reported(fault)), _) => Err(fault),
            (Err(StreamFault::Unfinished(fault)), Some(status)) => {
                let how = describe(status).unwrap_or(fault.fault.message);
                Err(AttemptFault::new(FaultKind::Exit, with_stderr(how, &ended.stderr)))
            }
            (Err(StreamFault::Unfinished(fault)), None) => Err(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn options_are_read() {
        let read: Acp = settings("provider: acp, command: [goose, acp], permissions: deny");
        assert_eq!(read.command[1].raw(), "acp");
        assert_eq!(read.permissions, Setting::Given(Permissions::Deny));
        assert_eq!(faults("provider: acp"), ["`acp` needs `command`"]);
        assert_eq!(faults("provider: acp, command: []"), ["`command` is empty"]);
        assert_eq!(
            faults("provider: acp, command: [x], permissions: ask"),
            ["`permissions` cannot be `ask`"]
        );
    }
}
