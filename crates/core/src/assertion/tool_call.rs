//! One expected call of a `tool-trajectory`.

use crate::diagnostic::Diagnostic;
use crate::model::{Call, Fault, Map, Number, Value};
use crate::reader::{Options, ReadResult, Reported};
use crate::syntax::fields::{Entry, Field, INVALID_OPTION, Shape, shorten};
use crate::syntax::{Node, Scalar};

use super::equality::{are_equal, is_part_of};
use super::excerpt::{excerpt, json_excerpt};
use super::read::AMOUNT;
use super::text_value::empty_value;
use super::tool_names::CalledTools;

pub(super) const ARGS_MATCH: Shape =
    Shape::OneOf(&[Shape::Choice(ArgsMatch::WORDS), Shape::List(&Shape::Text)]);

static CALL: &[Field] = &[
    Field::new("tool", Shape::NonEmptyText, "name of the tool, or a canonical name; case matters")
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
    Field::new("max_duration_ms", AMOUNT, "maximum duration of the call in milliseconds"),
];

/// The name of a tool, or a mapping.
pub(super) const CALL_SHAPE: Shape = Shape::OneOf(&[Shape::NonEmptyText, Shape::Fields(CALL)]);

/// How the arguments of a call are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum ArgsMatch {
    /// Every expected argument is present and equal.
    #[default]
    Partial,
    Exact,
    /// Every argument of the call is expected and equal.
    Subset,
    Ignore,
    /// Only these arguments are compared.
    Names(Vec<String>),
}

impl ArgsMatch {
    const WORDS: &'static [&'static str] = &["partial", "superset", "exact", "subset", "ignore"];

    pub(super) fn read<'t>(
        options: &mut Options<'_, '_, 't>,
        entry: &Entry<'t>,
    ) -> ReadResult<Self> {
        if entry.value.is_sequence() {
            let names = options.reader.text_list(entry).ok_or(Reported)?;
            let names = names.into_iter().map(|name| name.value).collect();
            return Ok(Self::Names(names));
        }
        if !matches!(entry.value.scalar(), Some(Scalar::Str(_))) {
            let expected = "a word, or a list of argument names";
            return Err(options.wrong_type(entry.field.name, entry.value, expected));
        }
        let word = options.reader.choice(entry, Self::WORDS).ok_or(Reported)?;
        Ok(match word {
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

    fn holds(&self, expected: &Map, actual: &Value) -> bool {
        let none = Map::new();
        let actual = match actual {
            Value::Map(map) => map,
            // A call without arguments.
            Value::Null => &none,
            _ => return *self == Self::Ignore,
        };
        match self {
            Self::Partial => is_part_of(expected, actual),
            Self::Exact => expected.len() == actual.len() && is_part_of(expected, actual),
            Self::Subset => is_part_of(actual, expected),
            Self::Ignore => true,
            Self::Names(names) => {
                names.iter().all(|name| match (expected.get(name), actual.get(name)) {
                    (Some(expected), Some(actual)) => are_equal(expected, actual),
                    (expected, actual) => expected.is_none() && actual.is_none(),
                })
            }
        }
    }
}

/// The arguments that a call must have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpectedArgs {
    expected: Map,
    how: ArgsMatch,
}

/// One expected call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpectedCall {
    pub(super) tool: String,
    /// `None` if any will do.
    pub(super) args: Option<ExpectedArgs>,
    pub(super) max_duration_ms: Option<Number>,
}

impl ExpectedCall {
    pub(super) fn read<'t>(
        options: &mut Options<'_, '_, 't>,
        node: Node<'t>,
        default: &ArgsMatch,
    ) -> ReadResult<Self> {
        const ITEM: &str = "an item of expected";
        if node.is_mapping() {
            return options
                .nested_of(ITEM, node, CALL, |options| Self::read_mapping(options, default));
        }
        if node.is_sequence() || node.is_null() {
            let expected = "the name of a tool, or a mapping with `tool`";
            return Err(options.wrong_type(ITEM, node, expected));
        }
        Ok(Self { tool: read_tool(options, ITEM, node)?, args: None, max_duration_ms: None })
    }

    /// From a mapping with `tool`.
    pub(super) fn read_mapping(
        options: &mut Options<'_, '_, '_>,
        default: &ArgsMatch,
    ) -> ReadResult<Self> {
        let tool = options.require("tool");
        let tool = tool.and_then(|entry| read_tool(options, "tool", entry.value));
        let args = options.optional("args", read_args);
        let how = options.optional("args_match", ArgsMatch::read);
        let max_duration_ms = options.amount("max_duration_ms");
        let how = how?.unwrap_or_else(|| default.clone());
        Ok(Self {
            tool: tool?,
            args: args?.flatten().map(|expected| ExpectedArgs { expected, how }),
            max_duration_ms: max_duration_ms?,
        })
    }

    /// Whether a call is this one. Its duration only matters if everything else fits; then it must
    /// be known.
    pub(super) fn fits(&self, called: &CalledTools<'_>, at: usize) -> Result<bool, Fault> {
        if !called.is_of(at, &self.tool) || !self.has_args_of(&called.calls[at]) {
            return Ok(false);
        }
        match (&self.max_duration_ms, called.calls[at].duration_ms) {
            (None, _) => Ok(true),
            (Some(most), Some(duration)) => Ok(duration as f64 <= most.value()),
            (Some(_), None) => {
                let what = format!("duration of the call of {}", excerpt(&self.tool));
                Err(Fault::not_measured(&what))
            }
        }
    }

    /// Whether a call is of the expected tool and has other arguments.
    pub(super) fn differs_in_args(&self, called: &CalledTools<'_>, at: usize) -> bool {
        called.is_of(at, &self.tool) && !self.has_args_of(&called.calls[at])
    }

    fn has_args_of(&self, call: &Call) -> bool {
        let are_like = |args: &ExpectedArgs| args.how.holds(&args.expected, &call.args);
        self.args.as_ref().is_none_or(are_like)
    }

    /// How many of the expected arguments a call has.
    pub(super) fn equal_args(&self, call: &Call) -> usize {
        let (Some(args), Some(actual)) = (&self.args, call.args.as_map()) else {
            return 0;
        };
        let expected = args.expected.iter();
        let equal = expected.filter(|(name, value)| {
            actual.get(name).is_some_and(|actual| are_equal(value, actual))
        });
        equal.count()
    }

    pub(super) fn other_args(&self) -> String {
        format!("Called '{}', but not with the expected arguments", excerpt(&self.tool))
    }

    /// With the arguments, if they were compared.
    pub(super) fn hit(&self) -> String {
        let tool = excerpt(&self.tool);
        match &self.args {
            Some(args) if args.how != ArgsMatch::Ignore => {
                let args = json_excerpt(&args.expected.clone().into());
                format!("Called {tool} with {args}")
            }
            _ => format!("Called {tool}"),
        }
    }

    pub(super) fn miss(&self) -> String {
        format!("Did not call {}", excerpt(&self.tool))
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new().with("tool", self.tool.as_str());
        if let Some(ExpectedArgs { expected, how }) = &self.args {
            map.insert("args", expected.clone());
            map.insert("args_match", how.to_value());
        }
        map.insert_some("max_duration_ms", self.max_duration_ms.clone());
        map.into()
    }
}

fn read_tool<'t>(
    options: &mut Options<'_, '_, 't>,
    name: &str,
    node: Node<'t>,
) -> ReadResult<String> {
    let tool = options.text_of(name, node)?;
    if tool.value.is_empty() {
        let message = "the name of a tool is empty";
        return Err(empty_value(options, node.span(), message, "name the tool"));
    }
    Ok(tool.value)
}

/// A mapping; `None` for `any`.
fn read_args(options: &mut Options<'_, '_, '_>, entry: &Entry<'_>) -> ReadResult<Option<Map>> {
    if entry.value.is_mapping() {
        return options.reader.map(entry).ok_or(Reported).map(Some);
    }
    match entry.value.scalar() {
        Some(Scalar::Str("any")) => Ok(None),
        Some(Scalar::Str(word)) => {
            let message = format!("`args` cannot be `{}`", shorten(word));
            let fault = Diagnostic::new(&INVALID_OPTION, entry.value.span(), message);
            Err(options.report(fault.help("it takes a mapping of arguments, or `any`")))
        }
        _ => Err(options.wrong_type("args", entry.value, "a mapping, or `any`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json_value;

    fn holds(how: &ArgsMatch, expected: &str, actual: &str) -> bool {
        let expected = json_value(expected).unwrap();
        how.holds(expected.as_map().unwrap(), &json_value(actual).unwrap())
    }

    #[test]
    fn arguments_agree_as_their_match_says() {
        let names = ArgsMatch::Names(vec!["a".to_owned(), "z".to_owned()]);
        let all =
            [ArgsMatch::Partial, ArgsMatch::Exact, ArgsMatch::Subset, ArgsMatch::Ignore, names];
        let args = r#"{"a":1,"b":{"c":[2]}}"#;
        // Partial, exact, subset, ignore, and the names `a` and `z`.
        for (actual, expected) in [
            (r#"{"b":{"c":[2.0]},"a":1}"#, [true, true, true, true, true]),
            (r#"{"a":1,"b":{"c":[2]},"d":0}"#, [true, false, false, true, true]),
            (r#"{"a":1}"#, [false, false, true, true, true]),
            (r#"{"a":2,"b":{"c":[2]}}"#, [false, false, false, true, false]),
            (r#"{"a":1,"z":0}"#, [false, false, false, true, false]),
            ("{}", [false, false, true, true, false]),
            ("null", [false, false, true, true, false]),
            ("\"a\"", [false, false, false, true, false]),
        ] {
            for (how, expected) in all.iter().zip(expected) {
                assert_eq!(holds(how, args, actual), expected, "{how:?} {actual}");
            }
        }
        assert!(holds(&ArgsMatch::Exact, "{}", "null"));
    }
}
