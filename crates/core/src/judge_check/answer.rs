//! What is known of one answer: verdicts of judges, readings and labels.

use std::collections::BTreeMap;

/// Who decides: the case as a whole, an assertion, or an item of its rubric.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JudgeName {
    pub suite: String,
    /// `None`: the verdict of the case.
    pub assertion: Option<String>,
    /// What the item demands.
    pub item: Option<String>,
}

/// What a label is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LabelScope {
    /// The whole answer.
    Answer,
    /// The assertion or the item itself.
    Own,
}

/// What a judge said of one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeReadingSet {
    pub judge: JudgeName,
    /// `None` if it was not measured.
    pub passes: Option<bool>,
    /// Every reading that was measured, in order, as whether it passes.
    pub readings: Vec<bool>,
    pub label: Option<(bool, LabelScope)>,
}

/// One case with an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedAnswer {
    /// Index of the run.
    pub run: usize,
    pub suite: String,
    pub test: String,
    /// Tests of one group share a fixture.
    pub group: Option<String>,
    /// Equal for equal answers of a test.
    pub hash: String,
    /// Characters of the answer.
    pub length: usize,
    /// The answer was read again only to see whether the judge changes its mind.
    pub is_reread: bool,
    pub judges: Vec<JudgeReadingSet>,
}

impl JudgedAnswer {
    /// What must not be counted as independent: a test, or a group of tests.
    fn cluster(&self) -> (&str, &str, bool) {
        match &self.group {
            Some(group) => (&self.suite, group, true),
            None => (&self.suite, &self.test, false),
        }
    }
}

/// Indices of the clusters of answers, from 0.
pub(super) struct Clusters {
    pub(super) of_answers: Vec<usize>,
    pub(super) count: usize,
}

impl Clusters {
    pub(super) fn of(answers: &[JudgedAnswer]) -> Self {
        let mut known = BTreeMap::new();
        let of_answers = answers
            .iter()
            .map(|answer| {
                let next = known.len();
                *known.entry(answer.cluster()).or_insert(next)
            })
            .collect();
        Self { of_answers, count: known.len() }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    pub(crate) fn name() -> JudgeName {
        JudgeName { suite: "s".to_owned(), assertion: Some("judge".to_owned()), item: None }
    }

    /// An answer of its own test, judged once.
    pub(crate) fn answer(at: usize, passes: bool, label: Option<bool>) -> JudgedAnswer {
        JudgedAnswer {
            run: 0,
            suite: "s".to_owned(),
            test: format!("t{at}"),
            group: None,
            hash: format!("{at:016x}"),
            length: 100,
            is_reread: false,
            judges: vec![JudgeReadingSet {
                judge: name(),
                passes: Some(passes),
                readings: vec![passes],
                label: label.map(|label| (label, LabelScope::Answer)),
            }],
        }
    }
}
