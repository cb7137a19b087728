//! Assertion types: name, options, grading, sentence and docs. A file is named after its type, or
//! after the first of a family. This file has the list of all types, and nothing else does.

mod aggregator;
mod backtracking;
mod code_judge;
mod codes;
mod command;
mod compared_field;
mod composite;
mod composite_grade;
mod contains;
mod custom;
mod date;
mod equality;
mod equals;
mod excerpt;
mod execution_metrics;
mod fence;
mod field_accuracy;
mod field_match;
mod field_path;
mod file_pattern;
mod files;
mod finding;
mod grading;
mod is_json;
mod json_schema;
mod judge_request;
mod judge_votes;
mod junit;
mod kind;
mod latency;
mod llm_judge;
mod metric;
mod output_json;
mod overlay;
mod pattern;
mod place;
mod read;
mod regex;
mod rubric_items;
mod rubrics;
mod schema_work;
mod score_ranges;
mod script;
mod scripted;
mod searcher;
mod subject;
#[cfg(test)]
mod testing;
mod text_value;
mod tool_call;
mod tool_names;
mod tool_trajectory;
mod trajectory_grade;
mod trajectory_match;
mod trigger_judge;
mod vote_option;

pub(crate) use codes::ZERO_WEIGHT;
pub use grading::{grade, grade_one};
pub use kind::{AssertionKind, EntryContext, ReadCheck, UnknownKeys};
pub use read::COMMON as COMMON_FIELDS;
pub(crate) use read::{name_in_test, read_entries};
pub use regex::{INVALID_REGEX, pattern_fault};
pub use rubric_items::ITEM_FIELDS;
pub(crate) use rubric_items::read_items;
pub use rubrics::judge_criteria;
pub(crate) use rubrics::{assertion_from_criteria, assertion_from_items};
pub(crate) use script::SCRIPT_NOT_FOUND;
pub use searcher::Searcher;
pub(crate) use subject::faults_in_test;
pub use tool_names::{TOOL_FAMILIES, ToolFamily, tools_page};
pub use trigger_judge::NOT_IN_THIS_ARM;
pub(crate) use trigger_judge::trigger_assertion;

/// Every built-in type, in the order of spec 7.
pub static KINDS: &[&AssertionKind] = &[
    &contains::CONTAINS,
    &contains::ICONTAINS,
    &contains::CONTAINS_ANY,
    &contains::CONTAINS_ALL,
    &contains::ICONTAINS_ANY,
    &contains::ICONTAINS_ALL,
    &equals::STARTS_WITH,
    &equals::ENDS_WITH,
    &regex::KIND,
    &equals::EQUALS,
    &is_json::KIND,
    &rubrics::KIND,
    &code_judge::KIND,
    &llm_judge::KIND,
    &composite::KIND,
    &tool_trajectory::KIND,
    &field_accuracy::KIND,
    &execution_metrics::KIND,
    &latency::LATENCY,
    &latency::COST,
    &latency::TOKEN_USAGE,
    &trigger_judge::KIND,
    &files::KIND,
    &command::KIND,
];

/// The codes of this room, file by file.
pub const CODES: &[&[&crate::diagnostic::Code]] = &[
    codes::CODES,
    aggregator::CODES,
    code_judge::CODES,
    composite::CODES,
    custom::CODES,
    execution_metrics::CODES,
    field_accuracy::CODES,
    files::CODES,
    json_schema::CODES,
    llm_judge::CODES,
    overlay::CODES,
    text_value::CODES,
    regex::CODES,
    rubric_items::CODES,
    score_ranges::CODES,
    script::CODES,
    subject::CODES,
    tool_trajectory::CODES,
    trigger_judge::CODES,
];

/// Options of custom types, besides [`COMMON_FIELDS`].
pub fn custom_fields() -> &'static [crate::syntax::fields::Field] {
    custom::FIELDS
}

/// The built-in type with this name or alias; `_` and `-` are equivalent.
pub fn kind_named(written: &str) -> Option<&'static AssertionKind> {
    let is = |name: &str| {
        name.len() == written.len()
            && name.bytes().zip(written.bytes()).all(|(a, b)| a == b || (a == b'-' && b == b'_'))
    };
    KINDS.iter().copied().find(|kind| is(kind.name) || kind.aliases.iter().any(|name| is(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_and_other_spellings_name_the_same_type() {
        for (written, name) in [
            ("contains", "contains"),
            ("llm_judge", "llm-judge"),
            ("code-grader", "code-judge"),
            ("skill_trigger", "trigger-judge"),
            ("assert-set", "composite"),
            ("rubric", "rubrics"),
        ] {
            assert_eq!(kind_named(written).map(|kind| kind.name), Some(name), "{written}");
        }
        assert!(kind_named("Contains").is_none());
    }
}
