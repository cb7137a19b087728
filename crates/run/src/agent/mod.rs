//! How agents are called: the `Agent` trait, processes, HTTP services and prices. Which agents there
//! are is the business of `provider`.

pub(crate) mod chat;
pub(crate) mod clean_home;
pub(crate) mod environment;
pub(crate) mod event_agent;
mod group;
pub(crate) mod http;
mod http_fault;
mod interpreter;
mod interpreter_call;
pub(crate) mod launch;
pub(crate) mod messages_json;
mod nested_code;
pub(crate) mod nested_shell;
mod orphan;
pub(crate) mod placeholder;
pub(crate) mod price;
pub(crate) mod process;
pub(crate) mod program_files;
mod request;
mod script_reader;
pub(crate) mod service;
pub(crate) mod shell;
pub(crate) mod stream;
mod supervisor;
pub(crate) mod text;
mod unreported;
mod watchdog;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Transcript;

pub(crate) use http_fault::cut;
pub use request::{
    AttemptFault, CasePlace, ConversationTurn, EarlierTurns, Purpose, Request, Retry, StopRule,
};
pub(crate) use stream::{AgentStream, OutputSink, SinkStop, StreamFault};
pub use supervisor::kill_programs;
pub(crate) use supervisor::{adopt_orphans, end_all};
pub use unreported::Unreported;
pub use watchdog::{enable_watchdog, watch_if_asked};

/// Codes declared here.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[nested_code::CODES];

/// The future of one attempt.
pub type Pending<'a> = Pin<Box<dyn Future<Output = Result<Transcript, AttemptFault>> + Send + 'a>>;

/// The folder of skills that most agents share.
pub(crate) const SHARED_SKILL_FOLDER: &str = ".agents/skills";

/// The price of a call, as far as it is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quote {
    Unknown,
    /// USD per call.
    Call {
        low: f64,
        high: f64,
    },
    /// USD per token, and the limit on the tokens of an answer.
    Tokens {
        input: f64,
        output: f64,
        most_output: Option<u64>,
    },
}

/// Something that answers. An agent makes one attempt per call and keeps to the timeout; retries and
/// concurrency limits are up to the caller.
pub trait Agent: fmt::Debug + Send + Sync {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a>;

    /// The duration of an attempt that began then, for agents that do not report one. `None` if the
    /// elapsed time says nothing about the answer.
    fn elapsed_ms(&self, begun: Instant) -> Option<u64> {
        u64::try_from(begun.elapsed().as_millis()).ok()
    }

    /// What a call may cost.
    fn quote(&self) -> Quote {
        Quote::Unknown
    }

    /// Whether an empty answer without calls is an answer, and not a sign that something is broken.
    fn may_be_silent(&self) -> bool {
        false
    }

    /// What it can never report.
    fn unreported(&self) -> Vec<Unreported> {
        Vec::new()
    }

    /// Where it looks for the skills of a project, below the workspace.
    fn skill_folder(&self) -> &'static str {
        SHARED_SKILL_FOLDER
    }

    /// Whether the tests of one conversation go on in one session.
    fn continues_sessions(&self) -> bool {
        false
    }

    /// Whether its processes get a home of their own unless the target says otherwise.
    fn has_clean_home(&self) -> bool {
        false
    }

    /// Where attempts run, if each is a process. Processes get fewer workers than HTTP services.
    fn working_dir(&self) -> Option<&Utf8Path> {
        None
    }

    /// Whether it repeats stored answers, in which something may have become a secret since.
    fn is_stored(&self) -> bool {
        false
    }

    /// The files that its answers come from, such as those of its program: another content may give
    /// other answers. `None` if they are not known; such answers are never cached.
    fn source_files(&self) -> Option<Vec<Utf8PathBuf>> {
        self.working_dir().is_none().then(Vec::new)
    }
}
