//! The settings of graders of `claude plugin eval`, by type (spec 15.5).

use crate::diagnostic::Diagnostic;
use crate::reader::{ReadResult, Reader, Reported, list_words};
use crate::syntax::Node;
use crate::syntax::fields::{Field, INVALID_OPTION, Shape};

use super::plugin_eval::INVALID_PLUGIN_EVAL;

const TYPES: &[&str] = &["regex", "tool_used", "tool_order", "file_exists", "llm", "baseline"];
pub(super) const ARMS: &[&str] = &["with-only", "both"];
const EVERYTHING: Shape = Shape::Any;
const COUNT: Shape = Shape::Integer { min: 0, max: u64::MAX };

pub(super) static COMMON: &[Field] = &[
    Field::new("type", Shape::Choice(TYPES), "what is checked").required(),
    Field::new("name", Shape::NonEmptyText, "key in the results; default: the file's name"),
    Field::new("weight", Shape::Number { min: 0.0, max: f64::MAX }, "weight in the score"),
    Field::new("arm", Shape::Choice(ARMS), "whether it counts without the plugin"),
];
static REGEX: &[Field] = &[
    Field::new("pattern", Shape::NonEmptyText, "a JavaScript pattern"),
    Field::new("flags", Shape::Text, "flags of the pattern"),
    Field::new("match", Shape::Text, "`contains`, `not_contains` or `count:N`"),
    Field::new("target", EVERYTHING, "what is searched"),
];
static TOOL_USED: &[Field] = &[
    Field::new("tool", Shape::NonEmptyText, "name of the tool").required(),
    Field::new("input_match", Shape::Text, "a pattern for the input as JSON"),
    Field::new("min", COUNT, "fewest calls; default 1"),
    Field::new("max", COUNT, "most calls"),
];
static TOOL_ORDER: &[Field] = &[
    Field::new("before", EVERYTHING, "the earlier call").required(),
    Field::new("after", EVERYTHING, "the later call").required(),
];
static FILE_EXISTS: &[Field] = &[
    Field::new("path", Shape::NonEmptyText, "pattern of a created file").required(),
    Field::new("exists", Shape::Boolean, "whether there must be one; default true"),
];
static LLM: &[Field] = &[
    Field::new("criteria", Shape::NonEmptyText, "what the judge decides"),
    Field::new("focus", EVERYTHING, "what the judge is shown"),
];
static BASELINE: &[Field] = &[
    Field::new("baseline_file", Shape::NonEmptyText, "a transcript to compare with").required(),
    Field::new("criteria", Shape::NonEmptyText, "what the judge compares"),
];
pub(super) static CALL: &[Field] = &[
    Field::new("tool", Shape::NonEmptyText, "name of the tool").required(),
    Field::new("input_match", Shape::Text, "a pattern for the input as JSON"),
];
pub(super) static FILE: &[Field] = &[
    Field::new("source", Shape::Choice(&["file"]), "always `file`").required(),
    Field::new("path", Shape::NonEmptyText, "path of the file").required(),
];

/// The name of a type, and its settings.
pub(super) type GraderType = (&'static str, &'static [Field]);

/// Which type a grader says that it is.
pub(super) fn type_of_grader(reader: &mut Reader<'_>, node: Node<'_>) -> ReadResult<GraderType> {
    let head = || node.written_entries().next().map_or(node.span(), |(key, _)| key.span());
    let Some(value) = node.get("type").filter(|value| !value.is_null()) else {
        let help = format!("add `type`: {}", list_words(TYPES));
        let message = "this grader has no `type`";
        reader.report(Diagnostic::new(&INVALID_PLUGIN_EVAL, head(), message).help(help));
        return Err(Reported);
    };
    let word = reader.text_of("type", value).ok_or(Reported)?;
    let tables: [GraderType; 6] = [
        ("regex", REGEX),
        ("tool_used", TOOL_USED),
        ("tool_order", TOOL_ORDER),
        ("file_exists", FILE_EXISTS),
        ("llm", LLM),
        ("baseline", BASELINE),
    ];
    tables.into_iter().find(|(name, _)| *name == word).ok_or_else(|| {
        let message = format!("`{word}` is not a type of grader");
        let help = format!("it takes {}", list_words(TYPES));
        let diagnostic = Diagnostic::new(&INVALID_OPTION, value.span(), message);
        reader.report(diagnostic.suggest(&word, TYPES.iter().copied(), help));
        Reported
    })
}
