//! Nodes → model. The only room that knows shorthand and old spellings; what it returns is in one
//! canonical form.

mod arms;
mod block;
mod dialect;
mod discover;
mod evals_json;
mod evals_json_entry;
mod execution;
mod expected;
mod front_matter;
mod generated;
mod given_skills;
mod grader_fields;
mod identity;
mod import;
mod inherited_defaults;
mod input;
mod jsonl;
mod jsonl_parts;
mod load;
mod loader;
mod message;
mod metadata;
mod name;
mod old_place;
mod pattern;
mod plugin_eval;
mod plugin_eval_case;
mod plugin_eval_files;
mod plugin_eval_grader;
mod plugin_eval_history;
mod sidecar;
mod sink;
mod skill_file;
mod skill_pattern;
mod skills;
mod suite;
mod test;
mod tool_call;
mod translated_test;
mod verdicts;
mod version;
mod workspace;
mod workspace_answers;
mod workspace_container;
mod workspace_hook;
mod workspace_repo;
mod workspace_template;

pub use arms::{ARM_FIELDS, read_skills, skill_not_found};
pub use block::BLOCK_FIELDS;
pub(crate) use dialect::{DialectVerdict, dialect_of, foreign_file_named};
pub use discover::{DiscoveredSuites, DiscoveryError, FoundSuite, is_suite_name};
pub use evals_json::{is_evals_json, skill_root};
pub use execution::EXECUTION_FIELDS;
pub use generated::TRANSPILE_MANIFEST;
pub use import::UNDECODABLE_NAME;
pub use load::{
    Findings, Header, LoadError, LoadRequest, Loaded, Origin, SoundSuite, load, load_suite,
};
pub use loader::{duplicate_suite_name, repository_root, suite_root};
pub use message::MESSAGE_FIELDS;
pub use metadata::METADATA_FIELDS;
pub(crate) use name::legal_name;
pub use plugin_eval_files::{case_directory, holds_cases};
pub(crate) use sidecar::is_sidecar_of_list;
pub use sink::{CollectTests, DiscardTests, Sink, SuiteContext};
pub use skill_file::{
    SKILL_FILE, SkillFacts, SkillFrontMatter, enclosing_skill, skill_facts, skill_in,
    skill_name_fault, skills_in, skills_of_parent,
};
pub use suite::ROOT_FIELDS;
pub use test::TEST_FIELDS;
pub use tool_call::TOOL_CALL_FIELDS;
pub use workspace::WORKSPACE_FIELDS;
pub use workspace_hook::WORKSPACE_HOOK_FIELDS;
pub use workspace_repo::WORKSPACE_REPO_FIELDS;

/// The codes of this room, file by file.
pub const CODES: &[&[&crate::diagnostic::Code]] = &[
    arms::CODES,
    block::CODES,
    dialect::CODES,
    evals_json::CODES,
    expected::CODES,
    front_matter::CODES,
    identity::CODES,
    import::CODES,
    input::CODES,
    message::CODES,
    metadata::CODES,
    name::CODES,
    plugin_eval::CODES,
    sidecar::CODES,
    skill_file::CODES,
    suite::CODES,
    test::CODES,
    tool_call::CODES,
    verdicts::CODES,
    version::CODES,
    workspace_repo::CODES,
    workspace_template::CODES,
    loader::CODES,
];
