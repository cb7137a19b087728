//! Reads a snippet, for the tests of the types.

use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Assertion, Expected, JsonStyle, TestView, Value};
use crate::reader::{Limits, Reader, World};
use crate::source::{MemoryFiles, Sources, Span, Variables};
use crate::syntax::parse_yaml;

use super::read::read_list;

/// What became of a list of assertions.
pub(super) struct Found {
    assertions: Option<Vec<Arc<Assertion>>>,
    diagnostics: Vec<Diagnostic>,
    sources: Sources,
}

/// Reads an assert list. The variable `NAME` is set to `value`.
pub(super) fn read(yaml: &str) -> Found {
    let mut sources = Sources::new();
    let source = sources.add_file("/p/EVAL.yaml".into(), yaml.to_owned(), 0);
    let text = sources.get(source).shared_text();
    let mut out = Diagnostics::new();
    let tree = parse_yaml(source, text, &mut out).expect("the snippet is YAML");
    let files = MemoryFiles::new().with("/p/EVAL.yaml", yaml);
    let environment = Variables::default().with("NAME", "value");
    let limits = Limits::default();
    let world = World {
        files: &files,
        environment: &environment,
        working_directory: Utf8Path::new("/p"),
    };
    let mut reader = Reader::new(
        world,
        &mut sources,
        &mut out,
        &limits,
        "/p".into(),
        "/p".into(),
    );
    let assertions = read_list(&mut reader, "assert", tree.root(), 0);
    Found {
        assertions,
        diagnostics: out.into_vec(),
        sources,
    }
}

impl Found {
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.diagnostics
            .iter()
            .map(|found| found.code.name)
            .collect()
    }

    pub(super) fn messages(&self) -> Vec<&str> {
        self.diagnostics
            .iter()
            .map(|found| found.message.as_str())
            .collect()
    }

    /// The texts that the diagnostics point at.
    pub(super) fn marked(&self) -> Vec<&str> {
        self.diagnostics
            .iter()
            .map(|found| self.sources.text_of(found.span))
            .collect()
    }

    pub(super) fn only(&self) -> &Assertion {
        match self.assertions.as_deref() {
            Some([only]) => only,
            _ => panic!("one assertion was expected: {:?}", self.messages()),
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

    /// The faults that the only assertion has in a test with this expected output.
    pub(super) fn faults(&self, expected: Option<&Expected>) -> Vec<Diagnostic> {
        let span = self.only().common.span;
        let test = TestView {
            criteria: None,
            expected_output: expected,
            span: Span::at_start(span),
        };
        self.only().check.faults_in(&test, span)
    }
}
