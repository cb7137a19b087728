//! A suite: its fields and all of its tests, imported ones included.

use super::arm::{Arm, SkillSource};
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
    /// `None` if the suite does not say which; then it is the skill that the suite lies in.
    pub skills: Option<Vec<SkillSource>>,
    /// As written, in order.
    pub arms: Vec<Arm>,
    pub tests: Vec<Test>,
}
