//! One expected call of a `tool-trajectory`.

use crate::diagnostic::Diagnostic;
use crate::model::{self, Map, Number, Value};
use crate::reader::{Reader, wrong_type};
use crate::syntax::fields::{Bound, Entry, Field, INVALID_OPTION, Shape, shorten};
use crate::syntax::{Node, Scalar};

use super::equality::{are_equal, is_part_of};
use super::excerpt::{excerpt, json_excerpt};
use super::needle::EMPTY_VALUE;
use super::optional::{optional, require_in};

pub(super) const ARGS_MATCH: Shape =
    Shape::OneOf(&[Shape::Choice(ArgsMatch::WORDS), Shape::List(&Shape::Text)]);

static CALL: &[Field] = &[
    Field::new(
        "tool",
        Shape::NonEmptyText,
        "name of the tool, in its own case",
    )
    .required(),
    Field::new(
        "args",
        Shape::OneOf(&[Shape::Map, Shape::Choice(&["any"])]),
        "arguments that the call must have; default `any`",
    ),
    Field::new(
        "args_match",
        ARGS_MATCH,
        "how `args` is compared; default: that of the whole check",
    ),
    Field::new(
        "max_duration_ms",
        Shape::Number {
            min: 0.0,
            max: f64::MAX,
        },
        "most milliseconds that the call may take",
    ),
];

/// The name of a tool, or a mapping.
pub(super) const CALL_SHAPE: Shape = Shape::OneOf(&[Shape::NonEmptyText, Shape::Fields(CALL)]);

/// How the arguments of a call are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum ArgsMatch {
    /// Each wanted argument is there and equal.
    #[default]
    Partial,
    Exact,
    /// Each argument of the call is a wanted one and equal.
    Subset,
    Ignore,
    /// Only these arguments are compared.
    Names(Vec<String>),
}

impl ArgsMatch {
    const WORDS: &'static [&'static str] = &["partial", "superset", "exact", "subset", "ignore"];

    pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Self> {
        if entry.value.is_sequence() {
            let names = reader.text_list(entry)?;
            let names = names.into_iter().map(|name| name.value).collect();
            return Some(Self::Names(names));
        }
        if !matches!(entry.value.scalar(), Some(Scalar::Str(_))) {
            let wants = "a word, or a list of argument names";
            reader.report(wrong_type(entry.field.name, entry.value, wants));
            return None;
        }
        Some(match reader.choice(entry, Self::WORDS)? {
            "exact" => Self::Exact,
            "subset" => Self::Subset,
            "ignore" => Self::Ignore,
            _ => Self::Partial,
        })
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Partial => "partial".into(),
            Self::Exact => "exact".into(),
            Self::Subset => "subset".into(),
            Self::Ignore => "ignore".into(),
            Self::Names(names) => names.clone().into(),
        }
    }
}

impl ArgsMatch {
    fn holds(&self, wanted: &Map, actual: &Value) -> bool {
        let none = Map::new();
        let actual = match actual {
            Value::Map(map) => map,
            // A call without arguments.
            Value::Null => &none,
            _ => return *self == Self::Ignore,
        };
        match self {
            Self::Partial => is_part_of(wanted, actual),
            Self::Exact => wanted.len() == actual.len() && is_part_of(wanted, actual),
            Self::Subset => is_part_of(actual, wanted),
            Self::Ignore => true,
            Self::Names(names) => {
                names
                    .iter()
                    .all(|name| match (wanted.get(name), actual.get(name)) {
                        (Some(wanted), Some(actual)) => are_equal(wanted, actual),
                        (wanted, actual) => wanted.is_none() && actual.is_none(),
                    })
            }
        }
    }
}

/// The arguments that a call must have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Args {
    Any,
    Like { wanted: Map, how: ArgsMatch },
}

impl Args {
    fn hold(&self, actual: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Like { wanted, how } => how.holds(wanted, actual),
        }
    }
}

/// Whether a call is the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
    /// It would be if it was fast enough, and nobody knows how long it took.
    Unknown,
}

/// One expected call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) args: Args,
    pub(super) max_duration_ms: Option<Number>,
}

impl Call {
    pub(super) fn read(
        reader: &mut Reader<'_>,
        node: Node<'_>,
        default: &ArgsMatch,
    ) -> Option<Self> {
        if !node.is_mapping() {
            if node.is_sequence() || node.is_null() {
                let wants = "the name of a tool, or a mapping with `tool`";
                reader.report(wrong_type("an item of expected", node, wants));
                return None;
            }
            return Some(Self {
                tool: read_tool(reader, "an item of expected", node)?,
                args: Args::Any,
                max_duration_ms: None,
            });
        }
        let bound = Bound::new(node, &[CALL], reader.out);
        bound.report_unknown(&[CALL], reader.out);
        let tool = require_in(reader, &bound, "an item of `expected`", "tool")
            .and_then(|entry| read_tool(reader, "tool", entry.value));
        let args = optional(reader, &bound, "args", read_args);
        let how = optional(reader, &bound, "args_match", ArgsMatch::read);
        let max_duration_ms = optional(reader, &bound, "max_duration_ms", |reader, entry| {
            reader.number(entry, 0.0, f64::INFINITY)
        });
        let how = how?.unwrap_or_else(|| default.clone());
        Some(Self {
            tool: tool?,
            args: match args?.flatten() {
                Some(wanted) => Args::Like { wanted, how },
                None => Args::Any,
            },
            max_duration_ms: max_duration_ms?,
        })
    }

    pub(super) fn fit(&self, call: &model::Call) -> Fit {
        if self.tool != call.tool || !self.args.hold(&call.args) {
            return Fit::No;
        }
        let Some(most) = &self.max_duration_ms else {
            return Fit::Yes;
        };
        match call.duration_ms {
            None => Fit::Unknown,
            Some(duration) if duration as f64 <= most.value() => Fit::Yes,
            Some(_) => Fit::No,
        }
    }

    /// What is said of a call that fits: with the arguments if they were compared.
    pub(super) fn hit(&self) -> String {
        let tool = excerpt(&self.tool);
        match &self.args {
            Args::Any
            | Args::Like {
                how: ArgsMatch::Ignore,
                ..
            } => format!("Called {tool}"),
            Args::Like { wanted, .. } => {
                let args = json_excerpt(&wanted.clone().into());
                format!("Called {tool} with {args}")
            }
        }
    }

    pub(super) fn miss(&self) -> String {
        format!("Did not call {}", excerpt(&self.tool))
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("tool", self.tool.as_str());
        if let Args::Like { wanted, how } = &self.args {
            map.insert("args", wanted.clone());
            map.insert("args_match", how.to_value());
        }
        map.insert_some("max_duration_ms", self.max_duration_ms.clone());
        map.into()
    }
}

fn read_tool(reader: &mut Reader<'_>, name: &str, node: Node<'_>) -> Option<String> {
    let tool = reader.text_of(name, node)?;
    if tool.is_empty() {
        reader.report(
            Diagnostic::new(&EMPTY_VALUE, node.span(), "the name of a tool is empty")
                .help("name the tool"),
        );
        return None;
    }
    Some(tool.into_owned())
}

/// A mapping; `None` inside for `any`.
fn read_args(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Option<Map>> {
    if entry.value.is_mapping() {
        return reader.map(entry).map(Some);
    }
    match entry.value.scalar() {
        Some(Scalar::Str("any")) => return Some(None),
        Some(Scalar::Str(word)) => {
            let message = format!("`args` cannot be `{}`", shorten(word));
            reader.report(
                Diagnostic::new(&INVALID_OPTION, entry.value.span(), message)
                    .help("it takes a mapping of arguments, or `any`"),
            );
        }
        _ => reader.report(wrong_type("args", entry.value, "a mapping, or `any`")),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json_value;

    fn holds(how: &ArgsMatch, wanted: &str, actual: &str) -> bool {
        let wanted = json_value(wanted).unwrap();
        how.holds(wanted.as_map().unwrap(), &json_value(actual).unwrap())
    }

    #[test]
    fn arguments_agree_as_their_match_says() {
        let names = ArgsMatch::Names(vec!["a".to_owned(), "z".to_owned()]);
        let all = [
            ArgsMatch::Partial,
            ArgsMatch::Exact,
            ArgsMatch::Subset,
            ArgsMatch::Ignore,
            names,
        ];
        let wanted = r#"{"a":1,"b":{"c":[2]}}"#;
        // Partial, exact, subset, ignore, and the names `a` and `z`.
        for (actual, expected) in [
            (r#"{"b":{"c":[2.0]},"a":1}"#, [true, true, true, true, true]),
            (
                r#"{"a":1,"b":{"c":[2]},"d":0}"#,
                [true, false, false, true, true],
            ),
            (r#"{"a":1}"#, [false, false, true, true, true]),
            (
                r#"{"a":2,"b":{"c":[2]}}"#,
                [false, false, false, true, false],
            ),
            (r#"{"a":1,"z":0}"#, [false, false, false, true, false]),
            ("{}", [false, false, true, true, false]),
            ("null", [false, false, true, true, false]),
            ("\"a\"", [false, false, false, true, false]),
        ] {
            for (how, expected) in all.iter().zip(expected) {
                assert_eq!(holds(how, wanted, actual), expected, "{how:?} {actual}");
            }
        }
        assert!(holds(&ArgsMatch::Exact, "{}", "null"));
    }
}
