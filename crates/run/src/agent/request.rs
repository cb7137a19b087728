//! One attempt: the request and its fault.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::evidence::PlacedFile;
use evalrig_core::model::{
    Call, ContainerSettings, Fault, FaultKind, FileRef, Map, Message, NamedAssertion, SkillUse,
    Stage, Tokens, Transcript,
};
use evalrig_core::source::Files;

use crate::disk::{Access, create_directories, create_new_directory};
use crate::setting::FilesMode;

use super::launch::ProcessConfinement;

/// What an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be graded.
    Case,
    /// To grade.
    Judge,
}

/// One attempt.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub purpose: Purpose,
    /// Name of the suite.
    pub suite: &'a str,
    pub test_id: &'a str,
    /// From 1.
    pub trial: u32,
    /// From 1.
    pub attempt: u32,
    /// Earlier calls of the same case and assertion, not counting retries.
    pub call: usize,
    pub messages: &'a [Message],
    /// Added to the body of the request; takes precedence over that of the target.
    pub config: Option<&'a Map>,
    pub timeout: Duration,
    /// How attached files are shown to the target.
    pub attachments: FilesMode,
    pub files: &'a dyn Files,
    /// Path of a directory for temporary files, which is removed afterwards.
    pub scratch: &'a Utf8Path,
    /// The home that the tests of a conversation share; `None` for one that only this attempt has.
    pub home: Option<&'a Utf8Path>,
    /// The variables of the arm, for the processes of the agent.
    pub env: &'a [(String, String)],
    /// Where processes run; `None` without a workspace.
    pub place: Option<&'a CasePlace<'a>>,
    /// The home and the sandbox of processes; `None` if they run as evalrig does.
    pub confinement: Option<&'a ProcessConfinement>,
    /// What a sandbox that hides files never shows: see [`crate::sandbox::SandboxView::hidden`].
    pub hidden: &'a [Utf8PathBuf],
    /// When an agent that reports as it works may be stopped.
    pub stop: Option<StopRule<'a>>,
    /// The conversation that goes on; `None` for a session of its own.
    pub conversation: Option<&'a ConversationTurn>,
}

#[cfg(test)]
impl<'a> Request<'a> {
    /// The first attempt of a case, with nothing in it.
    pub(crate) fn sample(files: &'a dyn Files) -> Self {
        Self {
            purpose: Purpose::Case,
            suite: "demo",
            test_id: "t",
            trial: 1,
            attempt: 1,
            call: 0,
            messages: &[],
            config: None,
            timeout: Duration::from_secs(1),
            attachments: FilesMode::Inline,
            files,
            scratch: "/tmp".into(),
            home: None,
            env: &[],
            place: None,
            confinement: None,
            hidden: &[],
            stop: None,
            conversation: None,
        }
    }
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationTurn {
    /// `None` for the first turn.
    pub earlier: Option<EarlierTurns>,
}

/// The turns of a conversation so far.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierTurns {
    /// The agent's name of the session.
    pub session: String,
    /// Of all turns together: some agents count from the beginning of the session.
    pub tokens: Option<Tokens>,
    pub cost_usd: Option<f64>,
    pub llm_calls: Option<u64>,
}

impl EarlierTurns {
    /// Takes the earlier turns out of the number of requests.
    pub(crate) fn subtract_requests(&self, transcript: &mut Transcript) {
        let both = transcript.session.llm_calls.zip(self.llm_calls);
        transcript.session.llm_calls = both.and_then(|(now, before)| now.checked_sub(before));
    }

    /// Takes the earlier turns out of tokens and cost. What is not known of all turns is unknown.
    pub(crate) fn subtract_usage(&self, transcript: &mut Transcript) {
        let both = transcript.tokens.zip(self.tokens);
        transcript.tokens = both.and_then(|(now, before)| now.minus(before));
        // Without tokens it is not known whether the cost of the earlier turns is the agent's own.
        let both = transcript.cost_usd.zip(self.cost_usd).filter(|_| transcript.tokens.is_some());
        transcript.cost_usd = both.map(|(now, before)| (now - before).max(0.0));
    }
}

/// Where the processes of a case run, if the case has a workspace.
#[derive(Debug, Clone, Copy)]
pub struct CasePlace<'a> {
    /// Absolute.
    pub workspace: &'a Utf8Path,
    /// The working directory of the agent: the workspace, or a directory in it.
    pub cwd: &'a Utf8Path,
    /// The variables of the workspace, for every process.
    pub env: &'a [(String, String)],
    /// The attached files that are in the workspace.
    pub placed: &'a [PlacedFile],
    /// The container of the workspace.
    pub container: Option<&'a ContainerSettings>,
}

impl<'a> CasePlace<'a> {
    /// A directory that is not a workspace.
    pub(crate) fn empty(directory: &'a Utf8Path) -> Self {
        Self { workspace: directory, cwd: directory, env: &[], placed: &[], container: None }
    }
}

/// An agent may be stopped once every assertion of its test is decided (`stop_on_trigger`).
#[derive(Debug, Clone, Copy)]
pub struct StopRule<'a>(pub &'a [NamedAssertion]);

impl StopRule<'_> {
    pub(crate) fn is_met(self, calls: &[Call], uses: &[SkillUse]) -> bool {
        let mut assertions = self.0.iter().map(|named| &named.assertion);
        assertions.all(|one| one.check.is_decided(&one.common, calls, uses))
    }
}

impl<'a> Request<'a> {
    /// The session to continue.
    pub(crate) fn session(&self) -> Option<&'a str> {
        let earlier = self.conversation?.earlier.as_ref();
        earlier.map(|earlier| earlier.session.as_str())
    }

    /// The working directory of a process: that of the workspace, else that of the target.
    pub fn cwd<'r>(&'r self, own: &'r Utf8Path) -> &'r Utf8Path {
        self.place.map_or(own, |place| place.cwd)
    }

    /// The attached files that are in the workspace.
    pub fn placed(&self) -> &'a [PlacedFile] {
        self.place.map_or(&[], |place| place.placed)
    }

    /// The absolute path of an attached file in the workspace.
    pub fn place_of(&self, file: &FileRef) -> Option<Utf8PathBuf> {
        let place = self.place?;
        let placed = place.placed.iter().find(|one| Some(&one.source) == file.path.as_ref())?;
        Some(place.workspace.join(&placed.path))
    }

    /// A new directory for a process that must not see its own.
    pub(crate) fn own_directory(&self) -> Result<Utf8PathBuf, Fault> {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = self.scratch()?.join(format!("directory-{number}"));
        create_new_directory(&path, Access::Private).map_err(|error| {
            let message = format!("cannot create a working directory: {error}");
            Fault::new(Stage::Target, FaultKind::Io, message)
        })?;
        Ok(path)
    }

    /// The directory for temporary files, created on demand: few cases need it.
    pub fn scratch(&self) -> Result<&'a Utf8Path, Fault> {
        match create_directories(self.scratch, Access::Private) {
            Ok(()) => Ok(self.scratch),
            Err(error) => {
                let message = format!("cannot create a directory for temporary files: {error}");
                Err(Fault::new(Stage::Target, FaultKind::Io, message))
            }
        }
    }
}

impl std::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("purpose", &self.purpose)
            .field("test_id", &self.test_id)
            .field("trial", &self.trial)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// Whether another attempt may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    Never,
    /// After the usual delay.
    Soon,
    /// After the delay that the service asked for.
    After(Duration),
}

/// Why an attempt gave nothing to grade.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptFault {
    /// The caller sets its stage: only the caller knows whether this was a case or a judge.
    pub fault: Fault,
    pub retry: Retry,
    /// The service was asked too often.
    pub is_rate_limit: bool,
    /// What the agent did before it was stopped.
    pub so_far: Option<Box<Transcript>>,
}

impl AttemptFault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Fault::new(Stage::Target, kind, message).into()
    }

    pub(crate) fn timed_out(timeout: Duration) -> Self {
        let message = format!("no answer after {} s", timeout.as_secs_f64());
        Self::new(FaultKind::Timeout, message).retry(Retry::Soon)
    }

    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }
}

impl From<Fault> for AttemptFault {
    fn from(fault: Fault) -> Self {
        Self { fault, retry: Retry::Never, is_rate_limit: false, so_far: None }
    }
}
