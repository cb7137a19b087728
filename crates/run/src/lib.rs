//! Runs evaluation suites: targets, execution, grading, results and reports.
//!
//! [`session::RunSession`] loads, runs and reports suites, as `evalrig run` does:
//!
//! ```
//! use std::sync::Arc;
//!
//! use evalrig_run::session::{RunSpec, RunSession};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let directory = camino::Utf8Path::from_path(folder.path()).unwrap();
//! # std::fs::create_dir_all(directory.join(".evalrig"))?;
//! let suite = "name: greetings
//! tests:
//!   - {id: hello, criteria: Greets, input: Hi, assert: [{type: contains, value: Hello}]}
//! ";
//! let targets = "targets: [{name: default, provider: mock, response: Hello there}]";
//! std::fs::write(directory.join("EVAL.yaml"), suite)?;
//! std::fs::write(directory.join(".evalrig/targets.yaml"), targets)?;
//!
//! let spec = RunSpec::new(directory);
//! let session = RunSession::prepare(spec, &mut |notice| eprintln!("{notice:?}"))?;
//! let outcome = session.run(&mut |_| {}, Arc::new(|event| println!("{event:?}")))?;
//! assert_eq!(outcome.exit.code(), 0);
//! assert_eq!(outcome.totals.counts.total(), 1);
//! # Ok(())
//! # }
//! ```

pub mod agent;
mod cache;
mod clock;
pub mod config;
mod descriptor;
pub mod disk;
pub mod event;
pub mod execute;
pub mod format;
pub mod grade;
pub mod json;
mod local_git;
mod lock;
pub mod prepare;
pub mod provider;
#[cfg(feature = "queue")]
pub mod queue;
mod rate;
pub mod report;
pub mod results;
pub mod runlog;
pub mod sandbox;
#[cfg(feature = "view")]
pub mod serve;
pub mod session;
pub mod setting;
pub mod skill_creator;
pub mod target;
pub mod text;
pub mod topic;
pub mod workspace;

use evalrig_core::diagnostic::Code;

/// Every code of this crate, gathered from the files that declare them.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    let rooms = agent::CODES.iter().chain(setting::CODES).chain(target::CODES);
    let rooms = rooms.chain(prepare::CODES).chain(runlog::CODES);
    let rooms = rooms.chain(provider::CODES).chain([&config::CODES]);
    rooms.flat_map(|codes| codes.iter().copied())
}
