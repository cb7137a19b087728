//! What is kept of a run: one row per case, a journal for resuming, a summary.

mod answer_hash;
mod append_file;
mod checksum;
mod error;
mod exit;
#[cfg(all(test, unix))]
mod fault_tests;
mod file_changes;
mod follow;
mod gaps;
mod journal;
mod judge_reply;
mod label_table;
mod label_writer;
mod labels;
mod overview;
mod planned_suite;
pub(crate) mod read;
mod redact;
mod results_paths;
mod resume;
mod round_record;
mod row;
mod row_check;
mod row_fields;
mod row_limit;
mod row_question;
mod row_skills;
mod rows;
mod run_header;
mod run_settings;
pub(crate) mod scan;
mod schema;
mod stored_runs;
mod summary;
mod test_verdicts;
#[cfg(test)]
pub(crate) mod testing;
mod totals;
pub mod transcript_json;
mod variant;
mod worker_notes;
mod writer;

pub use crate::clock::{file_stamp, rfc3339};
pub(crate) use checksum::{Seal, check_seal, seal};
pub use error::{ReadError, WriteError};
pub use exit::{Borderline, ExitRule, ExitTally, RunVerdict};
pub use file_changes::WorkspaceChanges;
pub use follow::{FollowedFile, FollowedLine, is_being_written};
pub use gaps::{Gaps, MissingCase};
pub use journal::JournaledAnswer;
#[cfg(feature = "queue")]
pub(crate) use journal::{answer_line, read_answer};
pub use judge_reply::JudgeReply;
pub use label_writer::append_label;
pub use labels::{AnswerLabel, AnswerMark, LabelFault, Labels, UNKNOWN_AUTHOR};
pub use overview::{ResultsOverview, run_of_file};
pub use planned_suite::{CaseGroup, PlannedSuite, TrialNumbers, fingerprint};
pub(crate) use planned_suite::{add_case, plan_name};
#[cfg(feature = "queue")]
pub(crate) use read::read_row;
pub use read::{DamagedLine, Finished, ScannedFile};
pub(crate) use redact::redact_transcript;
#[cfg(feature = "queue")]
pub(crate) use redact::row_line;
pub use results_paths::{Latest, ResultsPaths};
pub use resume::Interrupted;
pub use round_record::{ComparedRounds, LookRecord, RoundRecord, RoundSettings, measure_word};
pub use row::{
    AgentFacts, CaseKey, EvaluatorResult, GitState, GradeOutcome, JudgeUsage, PassTrials,
    PlanPlace, RecordPlace, Row, RowError, SCHEMA_VERSION, SourcePlace, TokenCounts, Trace,
};
pub(crate) use row_check::is_cost;
pub use row_skills::{RowSkillUse, RowSkills};
pub use rows::{Rows, read_finished};
pub(crate) use run_header::INCOMPLETE;
pub use run_header::{Completion, GateResult, PlanOptions, RunEnd, RunHeader};
pub use run_settings::RunSettings;
pub use schema::results_schema;
pub(crate) use stored_runs::named_entries;
pub use stored_runs::{StoredRun, gate_of_file, header_of_file, is_results_file, stored_runs};
pub use summary::{
    CaseCounts, EvaluatorSummary, Miss, RunFacts, RunSummary, SummaryBuilder, TargetNames,
    write_summary,
};
pub use test_verdicts::{SharedVerdict, TestKey, TestVerdicts};
pub use totals::{JudgeTotals, OutcomeCounts, PartialSum, RunTotals};
pub use variant::variant_name;
pub(crate) use variant::{ALL, WITH, WITHOUT};
pub use worker_notes::{WorkerLines, WorkerNotes, read_worker_notes};
pub use writer::{Existing, Receipt, ResultsWriter, Written};
