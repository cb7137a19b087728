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
pub(crate) mod login;
pub(crate) mod messages_json;
pub(crate) mod model_variables;
mod nested_code;
pub(crate) mod nested_shell;
mod orphan;
mod own_command;
pub(crate) mod placeholder;
pub(crate) mod price;
pub(crate) mod process;
pub(crate) mod program_files;
mod program_mark;
mod request;
mod script_reader;
pub(crate) mod service;
pub(crate) mod shell;
mod simple_command;
pub(crate) mod stream;
mod supervisor;
pub(crate) mod text;
pub(crate) mod turn_limit;
mod unreported;
mod watchdog;
mod wrapped_call;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Transcript;

use clean_home::HomeLayout;
pub(crate) use http_fault::cut;
pub use own_command::{OwnCommand, OwnCommandEnd};
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

    /// A digest of the service that it calls and the key that it calls it with. `None` if that is not
    /// known.
    fn account(&self) -> Option<String> {
        None
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

    /// Whether it is an agent with settings, memory and skills in the home directory, and evalrig does not
    /// know where.
    fn reads_user_home(&self) -> bool {
        false
    }

    /// What it keeps below the home directory, if that is known.
    fn home_layout(&self) -> Option<&'static HomeLayout> {
        None
    }

    /// Whether an attempt needs a workspace, because its command names it.
    fn needs_workspace(&self) -> bool {
        false
    }

    /// Where attempts run, if each is a process. Processes get fewer workers than HTTP services.
    fn working_dir(&self) -> Option<&Utf8Path> {
        None
    }

    /// The program that it starts: a name on the search path, or a path. `None` if it starts none, or
    /// one that is not known before.
    fn program(&self) -> Option<&str> {
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
