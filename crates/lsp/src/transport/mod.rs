//! Messages on a pair of streams.

mod frame;

pub use frame::MESSAGE_LIMIT;
pub(crate) use frame::{Frame, read_frame};
