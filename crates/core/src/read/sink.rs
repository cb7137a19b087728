//! Where tests go while a suite is read: one by one, so that a large suite need not be in memory.

use crate::model::{Map, Test};
use crate::source::Sources;

/// Receives tests as they are read.
pub trait Sink {
    /// Whether the source lines of tests are shown later. Without them a large JSONL file is
    /// checked in constant memory and on several threads.
    fn needs_source_lines(&self) -> bool;

    fn test(&mut self, test: Test, context: SuiteContext<'_>);
}

/// What the suite adds to a test that a sink receives.
#[derive(Debug, Clone, Copy)]
pub struct SuiteContext<'a> {
    /// The suite's own metadata.
    pub metadata: &'a Map,
    /// The text of a JSONL line is added after the sink has seen its test.
    pub sources: &'a Sources,
}

/// Drops every test, for callers that only want diagnostics.
#[derive(Debug, Default)]
pub struct DiscardTests;

impl Sink for DiscardTests {
    fn needs_source_lines(&self) -> bool {
        false
    }

    fn test(&mut self, _: Test, _: SuiteContext<'_>) {}
}

/// Collects every test.
#[derive(Debug, Default)]
pub struct CollectTests(pub Vec<Test>);

impl Sink for CollectTests {
    fn needs_source_lines(&self) -> bool {
        true
    }

    fn test(&mut self, test: Test, _: SuiteContext<'_>) {
        self.0.push(test);
    }
}
