//! A target that is ready to be called: its agent, retries, timeout and concurrency.

use std::sync::OnceLock;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{Execution, Measurement, Transcript, Votes};
use evalrig_core::secrets::Secrets;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::disk::Fingerprint;
use crate::provider::replay::replay_target;
use crate::results::{ReadError, is_cost};
use crate::sandbox::{NoSandbox, Sandbox as _};
use crate::setting::{Common, ConnectContext, FilesMode, SandboxName, Setting, unusable};
use crate::target::Target;
use crate::text::hex;

use super::ask_guard::{AskGuard, Guarded, GuardedAgent, WaitingAgent};
use super::case_workspace::AttemptWorkspaces;
use super::retry::{self, Retrying};
use crate::agent::clean_home::{UserEnvironment, login_secrets};
use crate::agent::launch::{HomeRule, ProcessConfinement};
use crate::agent::price::Rates;
use crate::agent::{Agent, AttemptFault, CasePlace, Quote, Request, Unreported};
use crate::rate::{BucketStores, LimitedAgent, RateBucket, RateLimits};

/// Default timeout of an attempt, in seconds.
const DEFAULT_TIMEOUT: u64 = 300;

/// What bounds the calls for one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskLimits<'a> {
    /// `None`: as often as the target says.
    pub(super) retries: Option<u32>,
    pub(super) guard: Option<&'a AskGuard<'a>>,
}

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
    logins: Secrets,
    retries: u32,
    timeout: Duration,
    attachments: FilesMode,
    rates: Option<Rates>,
    /// As a judge.
    votes: Option<Votes>,
    /// `allow_empty`, `on_timeout` and `stop_on_trigger` of the target.
    endings: Execution,
    /// `None`: unlimited.
    pub(crate) max_concurrency: Option<usize>,
    /// `rate`.
    bucket: Option<RateBucket>,
    slots: Option<Semaphore>,
}

/// Why an agent runs in the home directory of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserHomeUse {
    /// It would have a clean one.
    Chosen,
    /// Where it keeps its login is not known.
    Default,
}

impl ConnectedTarget {
    /// Fails with a diagnostic in the targets file.
    pub(crate) fn connect(
        target: &Target,
        connect: &ConnectContext<'_>,
        sandbox: Option<SandboxName>,
        buckets: &dyn BucketStores,
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
        let settings = target.settings_digest(connect.variable);
        let confinement = ProcessConfinement::connect(&*agent, sandbox, connect)?;
        let bucket = rate_bucket(target, &*agent, settings.as_deref(), connect, buckets)?;
        Ok(Self {
            name: target.name.value.clone(),
            provider: Some(target.provider.name),
            model: connect.model(target.model())?,
            settings,
            identity: OnceLock::new(),
            logins: login_secrets_of(&*agent, confinement.as_ref()),
            confinement,
            agent,
            retries: connect.integer(&target.retries(), 0, 10)? as u32,
            timeout: Duration::from_secs(timeout),
            attachments: connect.files_mode()?,
            rates: Rates::of(common.price.as_ref(), connect)?,
            votes: votes(target, connect)?,
            endings: endings(common, connect)?,
            max_concurrency,
            bucket,
            slots: max_concurrency.map(Semaphore::new),
        })
    }

    /// Replays the answers that a target gave in an earlier run.
    pub(crate) fn replay(results: &Utf8Path, target: &str) -> Result<Self, ReadError> {
        Ok(Self::stored(target, replay_target(results, target)?))
    }

    /// Gives answers that are known before.
    pub(crate) fn stored(target: &str, agent: Box<dyn Agent>) -> Self {
        Self {
            name: target.to_owned(),
            provider: None,
            model: None,
            settings: None,
            identity: OnceLock::new(),
            agent,
            confinement: None,
            logins: Secrets::default(),
            retries: 0,
            timeout: Duration::from_secs(DEFAULT_TIMEOUT),
            attachments: FilesMode::Inline,
            rates: None,
            votes: None,
            endings: Execution::default(),
            max_concurrency: None,
            bucket: None,
            slots: None,
        }
    }

    pub(crate) fn is_process(&self) -> bool {
        self.working_dir().is_some()
    }

    /// Whether its command names the workspace.
    pub(crate) fn needs_workspace(&self) -> bool {
        self.agent.needs_workspace()
    }

    /// Working directory of the target's processes; `None` if it starts none.
    pub(crate) fn working_dir(&self) -> Option<&Utf8Path> {
        self.agent.working_dir()
    }

    /// The program that it starts, as far as it is known.
    pub(crate) fn program(&self) -> Option<&str> {
        self.agent.program()
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

    /// What texts must not show of the login that its agent has.
    pub(crate) fn login_secrets(&self) -> &Secrets {
        &self.logins
    }

    /// The sandbox that its processes run in; `None` if it has none.
    pub(crate) fn sandbox_name(&self) -> Option<&'static str> {
        let confined = self.confinement.as_ref().map(|found| found.sandbox.name());
        confined.or_else(|| self.is_process().then_some(NoSandbox.name()))
    }

    /// Whether an agent uses the home directory of the user, and why.
    pub(crate) fn uses_user_home(&self) -> Option<UserHomeUse> {
        let rule = self.confinement.as_ref().map(|found| &found.home);
        if rule.is_some_and(|rule| *rule != HomeRule::User) {
            return None;
        }
        if self.agent.has_clean_home() {
            rule.map(|_| UserHomeUse::Chosen)
        } else {
            self.agent.reads_user_home().then_some(UserHomeUse::Default)
        }
    }

    /// How often it reads an answer as a judge, if it says so.
    pub(crate) fn votes(&self) -> Option<Votes> {
        self.votes
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

    /// Whether the sandbox would have to show something hidden as the working directory: a process that has
    /// no workspace then gets an empty directory of its own.
    pub(crate) fn needs_own_directory(&self, hidden: &[Utf8PathBuf]) -> bool {
        let confinement = self.confinement.as_ref();
        let is_hiding = confinement.is_some_and(ProcessConfinement::hides_files);
        let Some(cwd) = self.working_dir().filter(|_| is_hiding) else { return false };
        let cwd = cwd.canonicalize_utf8().unwrap_or_else(|_| cwd.to_owned());
        hidden.iter().any(|path| path.starts_with(&cwd) || cwd.starts_with(path))
    }

    /// Calls the agent, with retries; returns the number of attempts too.
    pub(super) async fn ask(
        &self,
        request: &Request<'_>,
        limits: AskLimits<'_>,
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
        let is_placed = workspaces.is_some() || request.place.is_some();
        let directory = if !is_placed && self.needs_own_directory(request.hidden) {
            match request.own_directory() {
                Ok(directory) => Some(directory),
                Err(fault) => return (Err(fault.into()), 0),
            }
        } else {
            None
        };
        let place = directory.as_deref().map(CasePlace::empty);
        let request = Request { place: request.place.or(place.as_ref()), ..request };
        let retries = limits.retries.unwrap_or(self.retries);
        // The guard is asked before a rate is drawn on and a workspace is made, after that, and while the rate
        // makes the case wait.
        let guarded =
            |agent, guarded| limits.guard.map(|guard| GuardedAgent { agent, guard, guarded });
        let inner = guarded(&*self.agent, Guarded::Request);
        let agent = inner.as_ref().map_or(&*self.agent, |inner| inner as &dyn Agent);
        let limited = self.bucket.as_ref().map(|bucket| LimitedAgent { agent, bucket });
        let waiting = limited.as_ref().zip(limits.guard);
        let waiting = waiting.map(|(agent, guard)| WaitingAgent { agent, guard });
        let agent = limited.as_ref().map_or(agent, |limited| limited as &dyn Agent);
        let agent = waiting.as_ref().map_or(agent, |waiting| waiting as &dyn Agent);
        let placed = workspaces.map(|workspaces| workspaces.around(agent));
        let agent = placed.as_ref().map_or(agent, |placed| placed as &dyn Agent);
        let outer = guarded(agent, Guarded::Preparation);
        let agent = outer.as_ref().map_or(agent, |outer| outer as &dyn Agent);
        let (asked, attempts) = retry::attempts(agent, &request, retries, again).await;
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

    /// Adds the provider, and the model from the target's settings if the agent does not report it. A
    /// price that the user gives overrides the cost that the agent reports, which is unknown if it is not a price.
    fn complete_transcript(&self, mut transcript: Transcript) -> Transcript {
        let agent = &mut transcript.session.agent;
        *agent = agent.take().or_else(|| self.provider.map(str::to_owned));
        transcript.model = transcript.model.or_else(|| self.model.clone());
        let priced = || Some(self.rates?.cost(transcript.tokens?));
        transcript.cost_usd = priced().or(transcript.cost_usd).filter(|cost| is_cost(*cost));
        transcript
    }
}

/// Whatever home the agent gets: unless a sandbox hides it, the user's is still there.
fn login_secrets_of(agent: &dyn Agent, confinement: Option<&ProcessConfinement>) -> Secrets {
    let Some(layout) = agent.home_layout() else { return Secrets::default() };
    let copied = confinement.and_then(|found| match &found.home {
        HomeRule::Copy(directory) => Some(directory.as_path()),
        HomeRule::User | HomeRule::Clean => None,
    });
    login_secrets(layout, copied, &UserEnvironment::current())
}

/// Targets that call the same service with the same key share a bucket, whatever their names. Agent
/// programs keep their keys to themselves: those with the same settings share one.
fn rate_bucket(
    target: &Target,
    agent: &dyn Agent,
    settings: Option<&str>,
    connect: &ConnectContext<'_>,
    buckets: &dyn BucketStores,
) -> Result<Option<RateBucket>, Diagnostic> {
    let Some(rate) = &target.common.rate else { return Ok(None) };
    let per_minute = |setting: &Option<Setting<u64>>| {
        setting.as_ref().map(|setting| connect.integer(setting, 1, u64::MAX)).transpose()
    };
    let limits = RateLimits {
        requests_per_minute: per_minute(&rate.requests_per_minute)?,
        tokens_per_minute: per_minute(&rate.tokens_per_minute)?,
    };
    let account = agent.account().unwrap_or_else(|| {
        let settings = settings.unwrap_or(&target.name.value);
        hex(&Sha256::digest(format!("{} {settings}", target.provider.name)))
    });
    let store = buckets
        .open(&account)
        .map_err(|reason| unusable(target.name.span, format!("cannot keep to `rate`: {reason}")))?;
    Ok(Some(RateBucket::new(limits, store)))
}

fn votes(target: &Target, connect: &ConnectContext<'_>) -> Result<Option<Votes>, Diagnostic> {
    let Some(setting) = &target.common.votes else { return Ok(None) };
    let number = connect.integer(setting, 1, Votes::MOST)?;
    let message = format!("`votes` is {number}, an even number, which can have no majority");
    Votes::new(number).map(Some).ok_or_else(|| unusable(target.name.span, message))
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
