//! One test of a suite.

use crate::source::Span;

use super::assertion::NamedAssertion;
use super::execution::Execution;
use super::expected::Expected;
use super::id::TestId;
use super::message::Message;
use super::value::{Map, Value};
use super::workspace::Workspace;

/// The test is not run; the text is the author's reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    pub reason: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Test {
    pub id: TestId,
    /// 1-based, over the fully loaded suite.
    pub position: u32,
    pub criteria: Option<String>,
    pub description: Option<String>,
    /// The name that `evals.json` gives it beside its id.
    pub name: Option<String>,
    pub conversation_id: Option<String>,
    pub note: Option<String>,
    /// The metadata of the test over those of the root.
    pub metadata: Map,
    /// Root input first. Never empty.
    pub input: Vec<Message>,
    pub expected_output: Option<Expected>,
    /// The full ordered list of spec 3.2, each with its name in this test.
    pub assertions: Vec<NamedAssertion>,
    pub execution: Execution,
    pub trials: u32,
    pub skip: Option<Skip>,
    /// The workspace of the root, with that of the test over it.
    pub workspace: Option<Workspace>,
    /// The mapping of the test.
    pub span: Span,
}

impl Test {
    /// A test in which everything optional is absent; it has no input yet.
    pub fn blank(id: TestId, position: u32, span: Span) -> Self {
        Self {
            id,
            position,
            criteria: None,
            description: None,
            name: None,
            conversation_id: None,
            note: None,
            metadata: Map::new(),
            input: Vec::new(),
            expected_output: None,
            assertions: Vec::new(),
            execution: Execution::default(),
            trials: 1,
            skip: None,
            workspace: None,
            span,
        }
    }

    /// Those of the suite included.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let list = self.metadata.get("tags").and_then(Value::as_list);
        list.unwrap_or_default().iter().filter_map(Value::as_str)
    }
}
