//! What the measuring programs share: the files they measure and the raw parser's own tree.

pub mod raw;
pub mod text;
