//! What grading found: grades of assertions, and why there is none.

use super::number::Number;
use super::rubric::Required;
use super::score::Score;
use super::value::Map;
use crate::source::Span;

/// Where the work failed (spec 11.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    Target,
    Judge,
    Script,
    Measure,
    Record,
}

impl Stage {
    pub fn word(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Judge => "judge",
            Self::Script => "script",
            Self::Measure => "measure",
            Self::Record => "record",
        }
    }
}

/// How it failed (spec 11.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    Start,
    Timeout,
    Exit,
    Network,
    Http,
    Reply,
    NoMatch,
    Limit,
    NotMeasured,
    Io,
}

impl FaultKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Timeout => "timeout",
            Self::Exit => "exit",
            Self::Network => "network",
            Self::Http => "http",
            Self::Reply => "reply",
            Self::NoMatch => "no-match",
            Self::Limit => "limit",
            Self::NotMeasured => "not-measured",
            Self::Io => "io",
        }
    }
}

/// Something could not be measured. Never a bad score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub stage: Stage,
    pub kind: FaultKind,
    pub message: String,
}

impl Fault {
    pub fn new(stage: Stage, kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            stage,
            kind,
            message: message.into(),
        }
    }

    /// The target did not report what a check needs.
    pub fn not_measured(what: &str) -> Self {
        Self::new(
            Stage::Measure,
            FaultKind::NotMeasured,
            format!("not measured: {what}"),
        )
    }
}

/// A score with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Marks {
    pub score: Score,
    pub hits: Vec<String>,
    pub misses: Vec<String>,
    pub reasoning: Option<String>,
    /// What a script gave besides.
    pub details: Option<Map>,
}

impl Marks {
    pub fn new(score: Score, hits: Vec<String>, misses: Vec<String>) -> Self {
        Self {
            score,
            hits,
            misses,
            reasoning: None,
            details: None,
        }
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
    /// Left out of the score; the text says why.
    Skipped(String),
    Errored(Fault),
}

/// Whether a gate was passed (spec 8.2). In ascending order of how much it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    Met,
    /// The grade it guards was skipped or errored.
    Unchecked,
    Missed,
}

impl Gate {
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Unchecked => "unchecked",
            Self::Missed => "missed",
        }
    }

    pub fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::Missed }
    }
}

/// A grade in its place: which assertion it belongs to and what it counts for.
#[derive(Debug, Clone, PartialEq)]
pub struct AssertionGrade {
    pub name: String,
    pub type_name: String,
    /// As it counts: a composite's aggregator may have replaced the written one.
    pub weight: Number,
    pub required: Required,
    pub grade: Grade,
    /// The worst of its own gate and those inside it; `None` where there is none.
    pub gate: Option<Gate>,
    /// Of a composite, in order.
    pub members: Vec<AssertionGrade>,
    /// How a composite joined them.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Pass,
    Borderline,
    Fail,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Borderline => "borderline",
            Self::Fail => "fail",
        }
    }
}

/// The verdict, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Passed,
    Borderline,
    Failed,
    Errored,
    Skipped,
}

impl Outcome {
    pub const ALL: &'static [Self] = &[
        Self::Passed,
        Self::Borderline,
        Self::Failed,
        Self::Errored,
        Self::Skipped,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Borderline => "borderline",
            Self::Failed => "failed",
            Self::Errored => "errored",
            Self::Skipped => "skipped",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.word() == word)
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
