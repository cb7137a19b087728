//! Results of grading: grades of assertions, faults, verdicts and outcomes.

use super::measurement::Measurement;
use super::number::Number;
use super::rubric::Required;
use super::score::Score;
use super::value::Map;
use crate::source::Span;

crate::words! {
    /// Where a case failed (spec 11.1).
    pub enum Stage {
        /// Preparing the workspace.
        Workspace = "workspace",
        Target = "target",
        Judge = "judge",
        Script = "script",
        Measure = "measure",
        Record = "record",
        /// On its way to or from a worker.
        Queue = "queue",
    }
}

crate::words! {
    /// How it failed (spec 11.1).
    pub enum FaultKind {
        Start = "start",
        Timeout = "timeout",
        Exit = "exit",
        Network = "network",
        Http = "http",
        Reply = "reply",
        NoMatch = "no-match",
        Limit = "limit",
        NotMeasured = "not-measured",
        Io = "io",
        ChangedFile = "changed-file",
        /// A hook of the workspace failed.
        Setup = "setup",
        /// A repository of the workspace could not be had.
        Clone = "clone",
        /// The agent changed evidence that is not its own.
        Tampered = "tampered",
        EmptyReply = "empty-reply",
        NotOffered = "not-offered",
        /// No worker could run the case.
        NoWorker = "no-worker",
        /// Every worker that began the case was lost.
        LostWorker = "lost-worker",
    }
}

/// Why something could not be measured, which is never a bad score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub stage: Stage,
    pub kind: FaultKind,
    pub message: String,
}

impl Fault {
    pub fn new(stage: Stage, kind: FaultKind, message: impl Into<String>) -> Self {
        Self { stage, kind, message: message.into() }
    }

    /// The target does not report what a check needs.
    pub fn not_reported(what: Measurement) -> Self {
        Self::not_measured(what.word())
    }

    /// Something that a check needs is unknown.
    pub fn not_measured(what: &str) -> Self {
        Self::new(Stage::Measure, FaultKind::NotMeasured, format!("not measured: {what}"))
    }
}

/// A score with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Marks {
    pub score: Score,
    pub hits: Vec<String>,
    pub misses: Vec<String>,
    pub reasoning: Option<String>,
    /// Additional data from a script.
    pub details: Option<Map>,
}

impl Marks {
    pub fn new(score: Score, hits: Vec<String>, misses: Vec<String>) -> Self {
        Self { score, hits, misses, reasoning: None, details: None }
    }

    /// All or nothing, with the sentence for each case.
    pub fn when(holds: bool, hit: impl FnOnce() -> String, miss: impl FnOnce() -> String) -> Self {
        if holds {
            Self::new(Score::ONE, vec![hit()], Vec::new())
        } else {
            Self::new(Score::ZERO, Vec::new(), vec![miss()])
        }
    }
}

/// One assertion's result.
#[derive(Debug, Clone, PartialEq)]
pub enum Grade {
    Graded(Marks),
    /// Not part of the score; the text says why.
    Skipped(String),
    Errored(Fault),
}

crate::words! {
    /// Whether a gate was passed (spec 8.2), in ascending order of severity.
    #[derive(PartialOrd, Ord)]
    pub enum Gate {
        Met = "met",
        /// The grade it guards was skipped or errored.
        Unchecked = "unchecked",
        Missed = "missed",
    }
}

impl Gate {
    pub fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::Missed }
    }
}

/// A grade with its assertion and its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct AssertionGrade {
    pub name: String,
    pub type_name: String,
    /// What the assertion demands; for a composite, what its members demand.
    pub sentence: String,
    /// As it counts: a composite's aggregator may have replaced the written one.
    pub weight: Number,
    pub required: Required,
    pub grade: Grade,
    /// The worst of its own gate and those inside it; `None` where there is none.
    pub gate: Option<Gate>,
    /// Of a composite, in order.
    pub members: Vec<AssertionGrade>,
    /// How a composite combined them.
    pub aggregator: Option<&'static str>,
    /// Where the assertion is written.
    pub span: Span,
}

impl AssertionGrade {
    /// This grade and everything inside it, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        for member in &self.members {
            member.walk(visit);
        }
    }
}

crate::words! {
    pub enum Verdict {
        Pass = "pass",
        Borderline = "borderline",
        Fail = "fail",
    }
}

crate::words! {
    /// The verdict, or why there is none.
    pub enum Outcome {
        Passed = "passed",
        Borderline = "borderline",
        Failed = "failed",
        Errored = "errored",
        Skipped = "skipped",
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Passed,
            Verdict::Borderline => Self::Borderline,
            Verdict::Fail => Self::Failed,
        }
    }
}
