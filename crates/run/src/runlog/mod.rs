//! The `.co/evals` store: every run of every input as readable files (spec 13).
//!
//! A record is `<slug>.yaml` with the newest run first and older ones below, and a directory
//! `<slug>/` with one `run_N.yaml` for each run. Any program may log its runs here:
//!
//! ```no_run
//! use std::time::SystemTime;
//! use evalrig_run::runlog::{NewRun, Store, UserMessage, local_time};
//!
//! let store = Store::open(".co/evals");
//! let recorded = store.record(&NewRun {
//!     asked: vec![UserMessage::new("Say hello to Alice")],
//!     output: "Hello, Alice!".to_owned(),
//!     model: "gemini-2.5-flash".to_owned(),
//!     timestamp: local_time(SystemTime::now()),
//!     ..NewRun::default()
//! })?;
//! assert_eq!(recorded.name, "say_hello_to_alice");
//! # Ok::<(), evalrig_run::runlog::StoreError>(())
//! ```

mod appendable_summary;
mod case;
mod compare;
mod dialogue;
#[cfg(all(test, unix))]
mod fault_tests;
mod history_entry;
mod import;
mod lock;
#[cfg(test)]
mod maintenance_tests;
mod new_run;
mod past_points;
mod prune;
mod rebuild;
mod record_finder;
mod record_writer;
#[cfg(test)]
mod record_writer_tests;
mod replace_files;
mod revise;
mod run_file;
mod run_log_recorder;
mod session;
mod slug;
mod slug_index;
mod store;
mod store_error;
mod summary;
#[cfg(test)]
mod testing;
mod tools_called;
mod verify;

/// The codes of this room, file by file.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[import::CODES];

pub use crate::clock::local_time;
pub use case::{CaseRun, input_sequence};
pub use compare::{Comparison, TurnChange};
pub use dialogue::Dialogue;
pub use history_entry::{HistoryEntry, LoggedVerdict, RunMeta};
pub use import::{IMPORT_NEEDS_CRITERIA, RecordTest};
pub use new_run::{NewRun, Recorded, UserMessage};
pub use past_points::{PastPoint, past_points};
pub use prune::{PruneMode, Pruned, Retention};
pub use record_finder::RecordFinder;
pub use record_writer::RecordWriter;
pub use revise::{ManualVerdict, TurnSelector};
pub use run_file::RunFile;
pub use run_log_recorder::{FinishedCase, PendingRecord, RunLogRecorder};
pub use session::{Session, SessionFormat, read_session};
pub use slug::slug;
pub use store::{Listing, Record, Store};
pub use store_error::StoreError;
pub use summary::{RecordSummary, SummaryKind, Turn};
pub use tools_called::{shown_call, tools_called};
pub use verify::{RepairStatus, StoreFinding, Verified, VerifyMode};
