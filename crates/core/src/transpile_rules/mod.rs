//! What every test needs to go out as an entry of evals.json: a prompt, triggers that agree, and
//! skills whose files are not one (spec 12). Reading reports what is missing, and export
//! refuses.

mod file_name;
mod prompt;
mod trigger;

pub(crate) use file_name::{NamedSkill, SKILL_NAME_COLLISION, collision, file_name};
pub(crate) use prompt::{NO_PROMPT, no_prompt};
pub(crate) use trigger::{WantedTrigger, triggers_of};

/// The codes of this room, file by file.
pub const CODES: &[&[&crate::diagnostic::Code]] =
    &[file_name::CODES, prompt::CODES, trigger::CODES];
