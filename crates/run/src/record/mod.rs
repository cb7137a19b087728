//! What is kept of a run: one row per case, a journal for resuming, a summary.

mod door;
mod error;
mod exit;
mod journal;
mod lines;
mod place;
pub(crate) mod read;
mod resume;
mod row;
mod summary;
#[cfg(test)]
pub(crate) mod testing;
mod time;
mod totals;
pub mod transcript_json;
mod writer;

pub use error::{ReadError, RecordError};
pub use exit::{Borderline, ExitRule, ExitTally, RunExit};
pub use journal::{Answered, Header, PlanOptions, PlannedSuite, fingerprint};
pub use place::{Latest, Place};
pub use read::{Finished, Rows, read_finished, read_unpassed};
pub use resume::{Interrupted, Kept};
pub use row::{
    CaseKey, EvaluatorResult, GradeOutcome, JudgeUsage, RecordPlace, Row, RowError, SCHEMA_VERSION,
    SourcePlace, TokenCounts, Trace,
};
pub use summary::{
    CaseCounts, EvaluatorSummary, Miss, RunFacts, Summary, SummaryBuilder, TargetNames,
    write_summary,
};
pub use time::{file_stamp, rfc3339};
pub use totals::{JudgeTotals, OutcomeCounts, PartialSum, RunTotals};
pub use writer::{End, Existing, Receipt, Recorder, Written};
