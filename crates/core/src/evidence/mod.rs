//! Evidence as text and JSON for targets, scripts and judges, and their replies.

mod attachment;
mod file_changes;
pub(crate) mod json;
mod judge_prompt;
mod message_json;
mod payload;
mod placement;
mod question;
mod reply;
mod scored;
mod script_reply;
#[cfg(test)]
mod testing;
mod text;

pub use attachment::{EncodedImage, unchanged_path};
pub use judge_prompt::{CHECKS_PER_CALL, JudgeTask, repair};
pub use message_json::{expected_to_value, message_to_value, messages_to_value};
pub use payload::{calls_to_value, input_files, payload, script_stdin, trace_summary};
pub use placement::{PlacedFile, placed_files};
pub use question::{is_silent, last_user_message, question};
pub use reply::{Decision, ItemReply, read_check_reply, read_score_reply};
pub use script_reply::{ScriptEnd, read_script};
pub use text::{FilesMode, MessagePart, Rendering};
