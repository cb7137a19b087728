//! What a suite means, in one dialect. Nothing here knows how it was written.

mod execution;
mod expected;
mod id;
mod message;
mod number;
mod rubric;
mod suite;
mod test;
mod value;

pub use execution::{Execution, Verdicts};
pub use expected::Expected;
pub use id::TestId;
pub use message::{Block, FileRef, Image, Message, Role, ToolCall};
pub use number::Number;
pub use rubric::{Operator, Required, RubricItem, ScoreRange, Weight};
pub use suite::Suite;
pub use test::{Skip, Test};
pub(crate) use value::write_json_string;
pub use value::{JsonStyle, Map, Value};
