//! Grades assertions of snippets, for the unit tests of this room.

use crate::model::{
    Answer, Answers, Ask, AssertionGrade, Evidence, Expected, Fault, Grade, GradingOptions,
    Judging, Marks, Message, Step, Test, TestId, Transcript,
};
use crate::source::MemoryFiles;

use super::grading::grade;
use super::read::name_all;
use super::snippet;

/// A test with the assertions of a list, and what came back for it.
pub(crate) struct Trial {
    pub(crate) test: Test,
    pub(crate) transcript: Transcript,
    pub(crate) options: GradingOptions,
    pub(crate) files: MemoryFiles,
}

impl Trial {
    /// `yaml` is an assert list without faults.
    pub(crate) fn new(yaml: &str, transcript: Transcript) -> Self {
        Self::with_files(MemoryFiles::new(), yaml, transcript)
    }

    /// As [`Self::new`]; the suite lies in `/p`.
    pub(crate) fn with_files(files: MemoryFiles, yaml: &str, transcript: Transcript) -> Self {
        let (assertions, faults) = snippet::read_with(files.clone(), yaml);
        assert!(!assertions.is_empty(), "{faults:?} in {yaml}");
        let span = assertions[0].common.span;
        let id = TestId::new("t").expect("a legal id");
        let test = Test {
            input: vec![Message::user("Hi")],
            assertions: name_all(assertions, |_, _| {}),
            ..Test::blank(id, 1, span)
        };
        Self {
            test,
            transcript,
            options: GradingOptions {
                pass: 0.8,
                judging: Judging::Ask,
            },
            files,
        }
    }

    pub(crate) fn expecting(mut self, expected: Expected) -> Self {
        self.test.expected_output = Some(expected);
        self
    }

    fn step(&self, answers: &Answers) -> Step<Vec<AssertionGrade>> {
        let evidence = Evidence {
            suite: "demo",
            test: &self.test,
            trial: 1,
            transcript: &self.transcript,
            files: &self.files,
        };
        grade(&evidence, self.options, answers)
    }

    /// Every grade, with the answers that `answer` gives to whatever is asked.
    pub(crate) fn grades(&self, mut answer: impl FnMut(&Ask) -> Answer) -> Vec<AssertionGrade> {
        let mut answers = Answers::default();
        for _ in 0..10 {
            match self.step(&answers) {
                Step::Done(grades) => return grades,
                Step::Ask(asks) => {
                    for ask in asks {
                        let given = answer(&ask);
                        answers.insert(ask.key, given);
                    }
                }
            }
        }
        panic!("asked ten times and still not done")
    }

    /// The grade of the only assertion, which asks nothing.
    pub(crate) fn only(&self) -> AssertionGrade {
        let mut grades = self.grades(|ask| panic!("asks {ask:?}"));
        assert_eq!(grades.len(), 1);
        grades.remove(0)
    }

    /// The marks of the only assertion, which asks nothing.
    pub(crate) fn marks(&self) -> Marks {
        match self.only().grade {
            Grade::Graded(marks) => marks,
            other => panic!("{other:?}"),
        }
    }

    /// Why the only assertion, which asks nothing, could not be graded.
    pub(crate) fn fault(&self) -> Fault {
        match self.only().grade {
            Grade::Errored(fault) => fault,
            other => panic!("{other:?}"),
        }
    }
}

/// The marks of one assertion, given as a YAML flow mapping, on an answer.
pub(crate) fn marks(assertion: &str, answer: &str) -> Marks {
    Trial::new(&format!("- {assertion}"), Transcript::of_text(answer)).marks()
}
