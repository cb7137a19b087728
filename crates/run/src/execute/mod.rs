//! Running a plan: cases go to workers, what became of them goes to a ledger.

mod backlog;
mod cancel;
mod case;
mod job;
mod ledger;
mod limit;
pub mod retry;
mod rows;
mod run;
mod station;

pub use cancel::Cancel;
pub use job::{Answered, Job, RunOptions, SuiteJob};
pub use ledger::{Books, Kept, Ledger, Safe};
pub use limit::{Limit, Reached};
pub use run::{Ended, execute};
pub use station::Station;
