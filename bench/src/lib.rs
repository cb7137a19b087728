//! What the measuring programs share: the files they measure, what a command costs, and the raw
//! parser's own tree.

pub mod cost;
pub mod growth;
pub mod raw;
pub mod text;
