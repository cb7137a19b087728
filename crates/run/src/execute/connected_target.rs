//! A target that is ready to be called: its agent, retries, timeout and concurrency.

use std::sync::OnceLock;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{Execution, Measurement, Transcript};
use tokio::sync::Semaphore;

use crate::disk::Fingerprint;
use crate::provider::replay::replay_target;
use crate::results::ReadError;
use crate::setting::{Common, ConnectContext, FilesMode, SandboxName, Setting};
use crate::target::Target;

use super::case_workspace::AttemptWorkspaces;
use super::retry::{self, Retrying};
use crate::agent::launch::{HomeRule, ProcessConfinement};
use crate::agent::price::Rates;
use crate::agent::{Agent, AttemptFault, Quote, Request, Unreported};

/// Default timeout of an attempt, in seconds.
const DEFAULT_TIMEOUT: u64 = 300;

#[derive(Debug)]
pub(crate) struct ConnectedTarget {
    pub(crate) name: String,
    /// Name of the provider; `None` for stored answers.
    pub(crate) provider: Option<&'static str>,
    pub(crate) model: Option<String>,
    /// Digest of the settings that decide its answers; `None` if they are not known.
    settings: Option<String>,
    identity: OnceLock<Option<String>>,
    agent: Box<dyn Agent>,
    /// Home and sandbox of its processes; `None` if they run as evalrig does.
    confinement: Option<ProcessConfinement>,
    retries: u32,
    timeout: Duration,
    attachments: FilesMode,
    rates: Option<Rates>,
    /// `allow_empty`, `on_timeout` and `stop_on_trigger` of the target.
    endings: Execution,
    /// `None`: unlimited.
    pub(crate) max_concurrency: Option<usize>,
    slots: Option<Semaphore>,
}

impl ConnectedTarget {
    /// Fails with a diagnostic in the targets file.
    pub(crate) fn connect(
        target: &Target,
        connect: &ConnectContext<'_>,
        sandbox: Option<SandboxName>,
    ) -> Result<Self, Diagnostic> {
        let agent = target.connect(connect)?;
        let common = &target.common;
        let timeout = match &common.timeout_seconds {
            Some(setting) => connect.integer(setting, 1, 3600)?,
            None => DEFAULT_TIMEOUT,
        };
        let max_concurrency = match &common.max_concurrency {
            Some(setting) => Some(connect.integer(setting, 1, Semaphore::MAX_PERMITS as u64)?),
            None => None,
        };
        let max_concurrency = max_concurrency.map(|limit| limit as usize);
        Ok(Self {
            name: target.name.value.clone(),
            provider: Some(target.provider.name),
            model: connect.model(target.model())?,
            settings: target.settings_digest(connect.variable),
            identity: OnceLock::new(),
            confinement: ProcessConfinement::connect(&*agent, sandbox, connect)?,
            agent,
            retries: connect.integer(&target.retries(), 0, 10)? as u32,
            timeout: Duration::from_secs(timeout),
            attachments: connect.files_mode()?,
            rates: Rates::of(common.price.as_ref(), connect)?,
            endings: endings(common, connect)?,
            max_concurrency,
            slots: max_concurrency.map(Semaphore::new),
        })
    }

    /// Replays the answers that a target gave in an earlier run.
    pub(crate) fn replay(results: &Utf8Path, target: &str) -> Result<Self, ReadError> {
        Ok(Self {
            name: target.to_owned(),
            provider: None,
            model: None,
            settings: None,
            identity: OnceLock::new(),
            agent: replay_target(results, target)?,
            confinement: None,
            retries: 0,
            timeout: Duration::from_secs(DEFAULT_TIMEOUT),
            attachments: FilesMode::Inline,
            rates: None,
            endings: Execution::default(),
            max_concurrency: None,
            slots: None,
        })
    }

    pub(crate) fn is_process(&self) -> bool {
        self.working_dir().is_some()
    }

    /// Working directory of the target's processes; `None` if it starts none.
    pub(crate) fn working_dir(&self) -> Option<&Utf8Path> {
        self.agent.working_dir()
    }

    /// Whether it repeats stored answers.
    pub(crate) fn is_stored(&self) -> bool {
        self.agent.is_stored()
    }

    /// The files that its answers come from, as far as they are known.
    pub(crate) fn source_files(&self) -> Vec<Utf8PathBuf> {
        self.agent.source_files().unwrap_or_default()
    }

    /// What decides its answers: its settings, and its files as they were when this was first asked.
    /// `None` if that is not known.
    pub(crate) fn identity(&self) -> Option<&str> {
        self.identity.get_or_init(|| self.find_identity()).as_deref()
    }

    fn find_identity(&self) -> Option<String> {
        let mut identity = self.settings.clone()?;
        for file in self.agent.source_files()? {
            identity += &format!("\n{file} {}", Fingerprint::of_path(&file)?.text());
        }
        Some(identity)
    }

    /// How attached files are shown to it.
    pub(crate) fn attachments(&self) -> FilesMode {
        self.attachments
    }

    /// What it can never report. With a price, tokens are enough for the cost.
    pub(crate) fn unreported(&self) -> Vec<Unreported> {
        let mut found = self.agent.unreported();
        let has_tokens = !found.iter().any(|one| one.what == Measurement::Tokens);
        if self.rates.is_some() && has_tokens {
            found.retain(|one| one.what != Measurement::Cost);
        }
        found
    }

    /// The settings of a test, with those of the target for what it does not set.
    pub(crate) fn settings_for(&self, test: &Execution) -> Execution {
        test.or(&self.endings)
    }

    /// Whether an empty answer is an answer, whatever the settings say.
    pub(crate) fn may_be_silent(&self) -> bool {
        self.agent.may_be_silent()
    }

    /// Where it looks for the skills of a project, below the workspace.
    pub(crate) fn skill_folder(&self) -> &'static str {
        self.agent.skill_folder()
    }

    /// Whether the tests of one conversation go on in one session.
    pub(crate) fn continues_sessions(&self) -> bool {
        self.agent.continues_sessions()
    }

    pub(crate) fn confinement(&self) -> Option<&ProcessConfinement> {
        self.confinement.as_ref()
    }

    /// Whether an agent CLI uses the home directory of the user.
    pub(crate) fn uses_user_home(&self) -> bool {
        let rule = self.confinement.as_ref().map(|found| &found.home);
        self.agent.has_clean_home() && rule == Some(&HomeRule::User)
    }

    pub(crate) fn quote(&self) -> Quote {
        self.agent.quote()
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    /// Calls the agent, with retries; returns the number of attempts too.
    pub(super) async fn ask(
        &self,
        request: &Request<'_>,
        retries: Option<u32>,
        workspaces: Option<&AttemptWorkspaces<'_>>,
        again: &(dyn Fn(Retrying<'_>) + Sync),
    ) -> (Result<Transcript, AttemptFault>, u32) {
        let _slot = match &self.slots {
            Some(slots) => slots.acquire().await.ok(),
            None => None,
        };
        let request = Request {
            attachments: self.attachments,
            confinement: self.confinement.as_ref(),
            ..*request
        };
        let retries = retries.unwrap_or(self.retries);
        let (asked, attempts) = match workspaces {
            Some(workspaces) => {
                let agent = workspaces.around(&*self.agent);
                retry::attempts(&agent, &request, retries, again).await
            }
            None => retry::attempts(&*self.agent, &request, retries, again).await,
        };
        let asked = match asked {
            Ok(transcript) => Ok(self.complete_transcript(transcript)),
            Err(mut failure) => {
                let so_far = failure.so_far.take();
                failure.so_far = so_far.map(|one| Box::new(self.complete_transcript(*one)));
                Err(failure)
            }
        };
        (asked, attempts)
    }

    /// Adds the model from the target's settings if the agent does not report it. A price that the
    /// user gives wins over the cost that the agent reports.
    fn complete_transcript(&self, mut transcript: Transcript) -> Transcript {
        transcript.model = transcript.model.or_else(|| self.model.clone());
        let priced = || Some(self.rates?.cost(transcript.tokens?));
        transcript.cost_usd = priced().or(transcript.cost_usd);
        transcript
    }
}

fn endings(common: &Common, connect: &ConnectContext<'_>) -> Result<Execution, Diagnostic> {
    let boolean = |setting: &Option<Setting<bool>>| {
        setting.as_ref().map(|setting| connect.boolean(setting)).transpose()
    };
    let on_timeout = common.on_timeout.as_ref();
    let on_timeout = on_timeout.map(|word| connect.choice(word, "a value of `on_timeout`"));
    Ok(Execution {
        allow_empty: boolean(&common.allow_empty)?,
        on_timeout: on_timeout.transpose()?,
        stop_on_trigger: boolean(&common.stop_on_trigger)?,
        ..Execution::default()
    })
}
