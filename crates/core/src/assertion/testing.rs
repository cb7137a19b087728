//! Reads and grades assert lists, for the unit tests of assertion types.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{
    Answer, Answers, Ask, Assertion, AssertionGrade, Evidence, Expected, Fault, Grade,
    GradingOptions, JsonStyle, Judging, Marks, Message, SearchTime, Step, Test, TestId, TestView,
    Transcript, Value, WorkspaceFiles,
};
use crate::reader::{ReadPolicy, Reader, World};
use crate::source::{MemoryFiles, Sources, Variables};
use crate::syntax::parse_yaml;

use super::grading::grade;
use super::read::{name_all, read_list};

/// An assert list that was read.
pub(super) struct Snippet {
    /// Empty if one entry is invalid.
    pub(super) assertions: Vec<Arc<Assertion>>,
    pub(super) diagnostics: Vec<Diagnostic>,
    sources: Sources,
}

/// Reads an assert list. The variable `NAME` is set to `value`.
pub(super) fn read(yaml: &str) -> Snippet {
    read_with(MemoryFiles::new(), yaml)
}

/// As [`read`], with files; the suite is in `/p`, which is also the root.
pub(super) fn read_with(files: MemoryFiles, yaml: &str) -> Snippet {
    read_within(&ReadPolicy::default(), files, yaml)
}

pub(super) fn read_within(limits: &ReadPolicy, files: MemoryFiles, yaml: &str) -> Snippet {
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let source = sources.add_file("/p/EVAL.yaml".into(), yaml.to_owned(), 0);
    let text = sources.get(source).shared_text();
    let tree = parse_yaml(source, text, &mut out).expect("the snippet is YAML");
    let environment = Variables::default().with("NAME", "value");
    let world = World { files: &files, environment: &environment, working_directory: "/p".into() };
    let mut reader = Reader::new(world, &mut sources, &mut out, limits, "/p".into(), "/p".into());
    let assertions = read_list(&mut reader, "assert", tree.root(), 0).unwrap_or_default();
    Snippet { assertions, diagnostics: out.into_vec(), sources }
}

impl Snippet {
    /// The assertions, and the names of the diagnostics.
    pub(super) fn parts(self) -> (Vec<Arc<Assertion>>, Vec<&'static str>) {
        let names = self.names();
        (self.assertions, names)
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        let diagnostics = self.diagnostics.iter();
        diagnostics.map(|found| found.code.name).collect()
    }

    pub(super) fn messages(&self) -> Vec<&str> {
        let diagnostics = self.diagnostics.iter();
        diagnostics.map(|found| found.message.as_str()).collect()
    }

    /// The texts that the diagnostics point at.
    pub(super) fn marked(&self) -> Vec<&str> {
        let diagnostics = self.diagnostics.iter();
        diagnostics.map(|found| self.sources.text_of(found.span)).collect()
    }

    pub(super) fn only(&self) -> &Assertion {
        match &self.assertions[..] {
            [only] => only,
            _ => panic!("expected one assertion: {:?}", self.messages()),
        }
    }

    /// The canonical options of the only assertion, as JSON.
    pub(super) fn options(&self) -> String {
        Value::from(self.only().check.options()).to_json(JsonStyle::Compact)
    }

    pub(super) fn sentences(&self) -> Vec<String> {
        let only = self.only();
        only.check.sentences(&only.common)
    }

    /// The faults of the only assertion in a test with this expected output.
    pub(super) fn faults(&self, expected: Option<&Expected>) -> Vec<Diagnostic> {
        let span = self.only().common.span;
        let test = TestView {
            id: None,
            criteria: None,
            expected_output: expected,
            workspace: None,
            given_skills: None,
            span: span.at_start(),
        };
        self.only().check.diagnostics_in(&test, span)
    }
}

/// The files of a workspace, in memory.
#[derive(Debug, Default)]
pub(super) struct MemoryWorkspace {
    files: BTreeMap<String, Vec<u8>>,
    names: Vec<String>,
}

impl MemoryWorkspace {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn with(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.insert(path.to_owned(), content.as_ref().to_vec());
        self.names = self.files.keys().cloned().collect();
        self
    }
}

impl WorkspaceFiles for MemoryWorkspace {
    fn path(&self) -> &Utf8Path {
        "/w".into()
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        let content = self.files.get(path);
        Ok(content.map(|bytes| bytes[..bytes.len().min(limit as usize)].to_vec()))
    }

    fn list(&self) -> Result<&[String], Fault> {
        Ok(&self.names)
    }
}

/// A test with the assertions of a list, and its transcript.
pub(super) struct Trial {
    pub(crate) test: Test,
    pub(crate) transcript: Transcript,
    pub(crate) options: GradingOptions<'static>,
    pub(crate) files: MemoryFiles,
    pub(crate) given_skills: Option<Vec<String>>,
    pub(crate) arm: Option<&'static str>,
    pub(crate) workspace: Option<MemoryWorkspace>,
}

impl Trial {
    /// `yaml` is an assert list without faults.
    pub(crate) fn new(yaml: &str, transcript: Transcript) -> Self {
        Self::with_files(MemoryFiles::new(), yaml, transcript)
    }

    /// As [`Self::new`]; the suite is in `/p`.
    pub(crate) fn with_files(files: MemoryFiles, yaml: &str, transcript: Transcript) -> Self {
        let (assertions, faults) = read_with(files.clone(), yaml).parts();
        assert!(!assertions.is_empty(), "{faults:?} in {yaml}");
        let span = assertions[0].common.span;
        let search_time = Box::leak(Box::new(SearchTime::of_one_search()));
        let test = Test {
            input: vec![Message::user("Hi")],
            assertions: name_all(assertions, |_, _| {}),
            ..Test::blank(TestId::new("t").expect("a legal id"), 1, span)
        };
        Self {
            test,
            transcript,
            options: GradingOptions {
                pass: 0.8,
                judging: Judging::Ask,
                readings: None,
                search_time,
            },
            files,
            given_skills: None,
            arm: None,
            workspace: None,
        }
    }

    /// With the files that the agent left.
    pub(crate) fn inside(mut self, workspace: MemoryWorkspace) -> Self {
        self.workspace = Some(workspace);
        self
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
            given_skills: self.given_skills.as_deref(),
            arm: self.arm,
            workspace: self.workspace.as_ref().map(|files| files as &dyn WorkspaceFiles),
        };
        grade(&evidence, self.options, answers)
    }

    /// Every grade; `answer` answers all questions.
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
        panic!("not done after ten rounds")
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
pub(super) fn marks(assertion: &str, answer: &str) -> Marks {
    Trial::new(&format!("- {assertion}"), Transcript::of_text(answer)).marks()
}
