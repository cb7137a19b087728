//! Many machines: the cases of a run go through NATS JetStream (spec 22). The coordinator puts bundle
//! and cases on the server and collects rows; workers take chains of cases, run them as a local run
//! does, and publish rows.
//!
//! What is on the server is named in `names`; messages are in `message`. Everything that comes from
//! there is checked before it is used: hashes of the bundle, the key and the test of every row.
//!
//! This room knows no suites. The session gives it a job, and a `BundleLoader` that makes one from a
//! bundle.

mod address;
mod bundle;
mod bundle_cache;
mod chain_sending;
mod check;
mod collection;
mod contact;
mod control_state;
mod coordinator;
mod error;
mod full_disk;
mod given_back;
mod health;
mod known_answers;
mod lease;
mod link;
mod manifest;
mod materialise;
mod message;
mod names;
mod object_bucket;
mod open_cases;
mod patience;
mod payload;
mod prepared_run;
mod presence;
mod publisher;
mod queued_plan;
mod rate_store;
mod row_message;
mod run_description;
mod run_queue;
mod served_runs;
mod status;
mod taken_chain;
mod trouble;
mod waiting;
mod worker;
mod worker_run;
mod worker_state;

pub use check::check_messages;
pub use error::QueueError;
pub use link::QueueServer;
pub use status::{RunStatus, WorkerStatus};

pub(crate) use bundle::{BundleFile, collect_tree};
pub(crate) use coordinator::Coordinator;
pub(crate) use link::QueueLink;
pub(crate) use manifest::{BundleManifest, RunRequest};
pub(crate) use materialise::materialise;
pub(crate) use names::RunName;
pub(crate) use patience::ServerPatience;
pub(crate) use prepared_run::PreparedRun;
pub(crate) use queued_plan::{QueuedPlan, request_path};
pub(crate) use run_description::read_manifest;
pub(crate) use run_queue::{QueueSettings, RunQueue};
pub(crate) use status::{cancel, list, remove};
pub use worker::Say;
pub(crate) use worker::{QueueWorker, WorkerSettings};
pub(crate) use worker_run::{BundleLoader, BundleToLoad, LoadedBundle};
