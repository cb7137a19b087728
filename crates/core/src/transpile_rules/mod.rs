//! What a test needs to become an entry of evals.json: a prompt, triggers that agree, and skills
//! whose files have different names (spec 12). `read` reports violations; `export` refuses them.

mod file_name;
mod prompt;
mod trigger;

pub(crate) use file_name::{NamedSkill, SKILL_NAME_COLLISION, collision, file_name};
pub(crate) use prompt::{NO_PROMPT, no_prompt};
pub(crate) use trigger::{WantedTrigger, triggers_of};

/// The codes of this room, file by file.
pub const CODES: &[&[&crate::diagnostic::Code]] =
    &[file_name::CODES, prompt::CODES, trigger::CODES];
