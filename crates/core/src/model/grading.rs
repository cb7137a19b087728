//! The vocabulary of grading, which is pure and stepwise. A check gets the evidence and the answers
//! so far, and either concludes or returns what else it must ask. The caller answers
//! and grades again, so any stored run can be regraded and nothing here ever waits.

use std::collections::HashMap;

use camino::Utf8PathBuf;

use super::assertion::{CommonOptions, NamedAssertion};
use super::evidence::Evidence;
use super::grade::{AssertionGrade, Fault, Gate, Grade, Marks};
use super::message::Message;
use super::search_time::SearchTime;
use super::subject::SubjectName;
use super::value::Map;
use super::votes::{JudgeReadings, Votes};
use super::workspace::HookCommand;

/// A question that grading cannot answer by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Unique within a case.
    pub key: String,
    pub question: Question,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    Script(ScriptQuestion),
    Judge(JudgeQuestion),
    Command(CommandQuestion),
}

/// A program to run, by the contract of spec 10.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptQuestion {
    /// Program and arguments, never empty. A script that is a shell line comes as `sh -c LINE`.
    pub command: Vec<String>,
    pub cwd: Utf8PathBuf,
    /// The files of the command, which must be what they were when the suite was loaded.
    pub files: Vec<Utf8PathBuf>,
    pub timeout_seconds: u64,
    pub stdin: String,
}

/// A program to run in a copy of the workspace (spec 17.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandQuestion {
    pub command: HookCommand,
    /// Below the workspace; the `cwd` of the workspace if `None`.
    pub cwd: Option<String>,
    /// Directory that is copied over the copy first; absolute.
    pub overlay: Option<Utf8PathBuf>,
    /// Every file of the overlay, which must be what it was when the suite was loaded; absolute.
    pub overlay_files: Vec<Utf8PathBuf>,
    /// Its directories, and its links to directories; absolute.
    pub overlay_others: Vec<Utf8PathBuf>,
    pub timeout_seconds: u64,
    /// Files to return, as a pattern below the copy.
    pub collect: Option<String>,
}

/// How a command ended. Timeouts and commands that cannot start are [`Answer::Failed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAnswer {
    /// `None` if a signal ended it.
    pub exit_code: Option<i32>,
    /// The last 64 KiB.
    pub stdout: Vec<u8>,
    /// The last 2000 characters.
    pub stderr: String,
    /// Path and content of the collected files, in byte order.
    pub collected: Vec<(String, Vec<u8>)>,
}

/// A judge to ask, by the contract of spec 10.2.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeQuestion {
    /// The assertion's own judge; otherwise that of the case.
    pub target: Option<String>,
    /// System and user; for a repair also the reply and what was wrong with it.
    pub messages: Vec<Message>,
    /// Added to the request; overrides the judge's target. Where neither sets `temperature`, it
    /// is 0.
    pub config: Map,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Script(ScriptAnswer),
    /// The judge's reply.
    Judge(String),
    Command(CommandAnswer),
    /// The command was not run: this directory, in which it is to run, does not exist.
    NoDirectory(String),
    /// The question could not be asked.
    Failed(Fault),
}

/// How a script ended. Timeouts and scripts that cannot start are [`Answer::Failed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptAnswer {
    pub stdout: Vec<u8>,
    /// The last 2000 characters.
    pub stderr: String,
    /// How it ended if it did not succeed, such as `exit status 1`.
    pub failure: Option<String>,
}

/// Answers by the key of their question.
pub type Answers = HashMap<String, Answer>;

/// Whether judges are asked at all (`--skip-judges`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Judging {
    #[default]
    Ask,
    Skip,
}

/// Reason of a grade that was skipped because of [`Judging::Skip`].
pub const NOT_JUDGED: &str = "not judged";

/// Reason of a member that was not graded because a safety gate was missed.
pub const NOT_RUN: &str = "not run";

/// What grading needs to know besides the evidence.
#[derive(Debug, Clone, Copy)]
pub struct GradingOptions<'a> {
    /// The pass threshold.
    pub pass: f64,
    pub judging: Judging,
    /// How often judges read an answer; if `None`, as often as assertions say.
    pub readings: Option<&'a dyn JudgeReadings>,
    /// What the patterns and schemas of the case may still take.
    pub search_time: &'a SearchTime,
}

impl GradingOptions<'_> {
    /// The votes of an assertion with this judge of its own.
    pub(crate) fn votes(&self, judge: Option<&str>, written: Option<Votes>) -> Votes {
        match self.readings {
            Some(readings) => readings.votes(judge, written),
            None => written.unwrap_or_default(),
        }
    }
}

/// The position of an assertion in its test: its index in the list, below that of its composite.
#[derive(Debug, Clone, Copy)]
struct AssertionPath<'a> {
    parent: Option<&'a AssertionPath<'a>>,
    at: usize,
}

impl AssertionPath<'_> {
    fn key(&self, own: &str) -> String {
        match self.parent {
            Some(parent) => parent.key(&format!("{}/{own}", self.at)),
            None => format!("{}/{own}", self.at),
        }
    }
}

/// One assertion that is being graded.
#[derive(Debug, Clone, Copy)]
pub struct GradingContext<'a> {
    pub evidence: &'a Evidence<'a>,
    pub options: GradingOptions<'a>,
    pub common: &'a CommonOptions,
    pub name: &'a str,
    /// The content of the file that the assertion names.
    file_text: Option<&'a str>,
    answers: &'a Answers,
    path: AssertionPath<'a>,
}

impl<'a> GradingContext<'a> {
    /// For the assertion at index `at` of the test.
    pub(crate) fn of_test(
        evidence: &'a Evidence<'a>,
        options: GradingOptions<'a>,
        answers: &'a Answers,
        at: usize,
    ) -> Self {
        let named = &evidence.test.assertions[at];
        Self {
            evidence,
            options,
            common: &named.assertion.common,
            name: &named.name,
            file_text: None,
            answers,
            path: AssertionPath { parent: None, at },
        }
    }

    /// For the member at index `at` of this assertion.
    pub(crate) fn of_member<'m>(
        &'m self,
        members: &'m [NamedAssertion],
        at: usize,
    ) -> GradingContext<'m> {
        let member = &members[at];
        GradingContext {
            common: &member.assertion.common,
            name: &member.name,
            file_text: None,
            path: AssertionPath { parent: Some(&self.path), at },
            ..*self
        }
    }

    /// The same for an assertion about a file with this content.
    pub(crate) fn about_file<'m>(&'m self, text: &'m str) -> GradingContext<'m> {
        GradingContext { file_text: Some(text), ..*self }
    }

    /// The text that the assertion looks at: the answer, or the content of its file.
    pub fn text(&self) -> &'a str {
        self.file_text.unwrap_or(&self.evidence.transcript.answer)
    }

    /// How sentences call that text.
    pub fn subject(&self) -> SubjectName<'a> {
        self.common.subject()
    }

    /// The answer to a question of this assertion, if it has been asked.
    pub fn answer(&self, own_key: &str) -> Option<&'a Answer> {
        if self.answers.is_empty() {
            return None;
        }
        self.answers.get(&self.path.key(own_key))
    }

    /// A question of this assertion. `own_key` is unique within the assertion.
    pub fn ask(&self, own_key: &str, question: Question) -> Ask {
        Ask { key: self.path.key(own_key), question }
    }
}

/// How far grading got with the answers so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<T = Conclusion> {
    /// What has to be answered before grading can go on. Never empty.
    Ask(Vec<Ask>),
    Done(T),
}

/// What a check concluded, before negation and its own gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    pub grade: Grade,
    /// The worst of the gates inside it.
    pub gate: Option<Gate>,
    pub members: Vec<AssertionGrade>,
    pub aggregator: Option<&'static str>,
    /// Negation does not apply: what the check is about does not exist.
    pub is_absolute: bool,
}

impl From<Grade> for Conclusion {
    fn from(grade: Grade) -> Self {
        Self { grade, gate: None, members: Vec::new(), aggregator: None, is_absolute: false }
    }
}

impl From<Grade> for Step {
    fn from(grade: Grade) -> Self {
        Self::Done(grade.into())
    }
}

impl From<Marks> for Step {
    fn from(marks: Marks) -> Self {
        Grade::Graded(marks).into()
    }
}

impl From<Fault> for Step {
    fn from(fault: Fault) -> Self {
        Grade::Errored(fault).into()
    }
}
