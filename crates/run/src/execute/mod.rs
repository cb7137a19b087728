//! Runs a plan: cases go to workers, rows go to the sinks of their suites.
//!
//! Between its grades and its report a row waits for two things, in this order: its place in the run
//! log, which is part of the row, and the disk. Neither makes a worker wait. The worker hands the
//! finished case to `log_task`, which awaits the run log's thread and writes the row; the recorder's
//! thread syncs rows in batches, and `settle_task` reports each row once it is on disk. Rows keep
//! the order in which cases ended. `Backlog` bounds how many are pending. The tasks are separate
//! because writing the run log and syncing rows overlap; awaiting both in one task would make every
//! batch of one wait for the other.

mod answer_memory;
mod ask_guard;
mod backlog;
mod cancel;
mod case;
mod case_answers;
mod case_judges;
mod case_scratch;
mod case_setup;
mod case_unreported;
mod case_workspace;
mod chain_queue;
#[cfg(feature = "queue")]
mod chain_runner;
mod connected_target;
mod conversation;
mod job;
mod judging_files;
mod limit;
#[cfg(feature = "queue")]
mod remote;
pub mod retry;
mod round_gate;
mod row_sink;
mod rows;
mod run;
mod target_variant;
mod unchanged;

#[cfg(feature = "queue")]
pub(crate) use ask_guard::AskGuard;
#[cfg(feature = "queue")]
pub(crate) use ask_guard::{LookElsewhere, SentSoFar};
pub(crate) use cancel::Cancel;
pub(crate) use case_judges::CaseJudges;
pub(crate) use case_setup::TreeDigests;
#[cfg(feature = "queue")]
pub(crate) use chain_runner::{ChainRunner, GivenChain, NoRow};
pub(crate) use connected_target::{ConnectedTarget, UserHomeUse};
pub use job::SuiteJob;
pub(crate) use job::{
    Job, RunOptions, SuiteRun, UngradedAnswer, WholePlan, remove_stale_containers,
};
pub(crate) use limit::{AnswerPayment, FailFast, Limit};
#[cfg(feature = "queue")]
pub(crate) use remote::{CaseIndex, CollectionEnd, RemoteExecution, RowIntake, execute_elsewhere};
pub(crate) use round_gate::RoundGate;
pub(crate) use row_sink::{Durable, RowSink, WrittenRow};
pub(crate) use run::{ExecutionEnd, execute};
pub(crate) use target_variant::{TargetVariant, TargetVariants};
pub(crate) use unchanged::{remember_hooks, remember_target};
