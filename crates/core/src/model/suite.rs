//! A suite: its fields and all of its tests, imported ones included.

use super::execution::{Execution, Verdicts};
use super::test::Test;
use super::value::Map;

#[derive(Debug, Clone)]
pub struct Suite {
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    pub metadata: Map,
    pub execution: Execution,
    pub verdicts: Verdicts,
    pub tests: Vec<Test>,
}
