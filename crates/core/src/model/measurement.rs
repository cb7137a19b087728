//! What assertions measure beside the answer, and not every target reports.

crate::words! {
    /// Part of what a target reports of an attempt. Every target reports its duration.
    pub enum Measurement {
        ToolCalls = "tool calls",
        LlmCalls = "llm calls",
        SkillUse = "skill use",
        Tokens = "tokens",
        Cost = "cost",
    }
}
