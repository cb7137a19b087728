//! What a suite means, independent of how it was written, and the vocabulary of grading.

mod arm;
mod assertion;
mod base64;
mod command_word;
mod evidence;
mod evidence_part;
mod execution;
mod expected;
mod grade;
mod grading;
mod id;
mod ignore_list;
mod json_text;
mod judge_prompt;
mod loss;
mod measurement;
mod message;
mod number;
mod pass_share;
mod rubric;
mod score;
mod search_time;
mod subject;
mod suite;
mod test;
mod transcript;
mod value;
mod votes;
mod word;
mod workspace;

pub use arm::{Arm, Skill, SkillSource, skills_to_value};
pub use assertion::{
    Assertion, Check, CommonOptions, NamedAssertion, TestView, Trigger, WorkspaceView,
};
pub(crate) use base64::{from_base64, to_base64};
pub(crate) use command_word::has_script_extension;
pub use command_word::looks_like_path;
pub use evidence::Evidence;
pub use evidence_part::EvidencePart;
pub use execution::{Execution, MOST_TRIALS, OnTimeout, Verdicts};
pub use expected::Expected;
pub use grade::{AssertionGrade, Fault, FaultKind, Gate, Grade, Marks, Outcome, Stage, Verdict};
pub use grading::{
    Answer, Answers, Ask, CommandAnswer, CommandQuestion, Conclusion, GradingContext,
    GradingOptions, JudgeQuestion, Judging, NOT_JUDGED, NOT_RUN, Question, ScriptAnswer,
    ScriptQuestion, Step,
};
pub use id::TestId;
pub use ignore_list::IgnoreList;
pub use json_text::JsonStyle;
pub(crate) use json_text::{JsonObject, write_json_list};
pub use judge_prompt::{JudgePrompt, JudgeTemplate, JudgeVariable, PromptFile, TemplatePart};
pub use loss::Loss;
pub use measurement::Measurement;
pub use message::{Block, FileRef, Image, Message, Role, ToolCall};
pub use number::Number;
pub use pass_share::PassShare;
pub use rubric::{Operator, Required, RubricItem, ScoreRange, Weight};
pub use score::Score;
pub use search_time::SearchTime;
pub use subject::SubjectName;
pub use suite::Suite;
pub use test::{SkillWishes, Skip, Test};
pub use transcript::{
    Call, SessionFacts, SkillEvents, SkillUse, SkillUseKind, Tokens, Transcript, answer_of,
};
pub use value::{Map, Value};
pub use votes::{JudgeReadings, Votes};
pub use word::Words;
pub use workspace::{
    ContainerSettings, FileChanges, Hook, HookCommand, KeepRule, RepoOrigin, Workspace,
    WorkspaceFiles, WorkspaceRepo,
};

pub use crate::words;
