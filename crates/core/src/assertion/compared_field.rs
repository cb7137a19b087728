//! One compared field of a `field-accuracy`.

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;
use crate::model::{Fault, Map, Number, SearchTime, Value, Weight};
use crate::reader::{Options, ReadResult, Reported, all_read, short_span};
use crate::source::Span;
use crate::syntax::Node;
use crate::syntax::fields::{Entry, Field, INVALID_OPTION, Shape, shorten};

use super::date::DateFormat;
use super::excerpt::{excerpt, json_excerpt};
use super::field_accuracy::INVALID_EXPECTED;
use super::field_match::{ExpectedValue, FieldMatch, ToleranceScale, ValueMismatch, text_of};
use super::field_path::FieldPath;
use super::finding::Finding;
use super::place::span_in;
use super::read::{AMOUNT, read_weight};

static FIELD: &[Field] = &[
    Field::new(
        "path",
        Shape::NonEmptyText,
        "path of the field, such as `a.b[0].c`; `\\.` is a dot in a name",
    )
    .required(),
    Field::new(
        "match",
        Shape::Choice(FieldMatch::WORDS),
        "how the two values are compared; default `exact`",
    ),
    Field::new(
        "expected",
        Shape::Any,
        "the expected value, for `regex` the pattern; default: the value at `path` in the test's \
         `expected_output`",
    )
    .also(&["pattern"]),
    Field::new(
        "required",
        Shape::Boolean,
        "the field must be present even if no value is expected; default false",
    ),
    Field::new("weight", AMOUNT, "share in the score; default 1"),
    Field::new("tolerance", AMOUNT, "for `numeric_tolerance`: maximum difference; default 0"),
    Field::new(
        "relative",
        Shape::Boolean,
        "for `numeric_tolerance`: the tolerance is a share of the expected value; default false",
    ),
    Field::new(
        "formats",
        Shape::List(&Shape::NonEmptyText),
        "for `date`: additional date formats, made of `YYYY YY MM M DD D MMM MMMM HH mm ss`",
    ),
];

pub(super) const FIELD_SHAPE: Shape = Shape::Fields(FIELD);

#[derive(Debug)]
pub(super) struct ComparedField {
    pub(super) path: FieldPath,
    /// Where the path was written.
    pub(super) span: Span,
    pub(super) matching: FieldMatch,
    /// `None` if it comes from the test.
    pub(super) expected: Option<ExpectedValue>,
    /// Whether it must be in the output even if no value is expected.
    pub(super) is_required: bool,
    pub(super) weight: Weight,
}

impl ComparedField {
    pub(super) fn read<'t>(options: &mut Options<'_, '_, 't>, node: Node<'t>) -> ReadResult<Self> {
        const ITEM: &str = "an item of fields";
        if !node.is_mapping() {
            return Err(options.wrong_type(ITEM, node, "a mapping with `path`"));
        }
        options.nested_of(ITEM, node, FIELD, |options| {
            let path = options.require("path");
            let parsed = path.and_then(|entry| read_path(options, &entry));
            let required = options.boolean("required");
            let weight = options.optional("weight", read_weight);
            let matching = read_matching(options)?;
            let expected = options
                .optional("expected", |options, entry| read_expected(options, entry, &matching));
            Ok(Self {
                path: parsed?,
                span: path?.value.span(),
                expected: expected?,
                is_required: required?.unwrap_or(false),
                weight: weight?.unwrap_or_default(),
                matching,
            })
        })
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("path", self.path.text());
        self.matching.write_options(&mut map);
        let expected = self.expected.as_ref();
        map.insert_some("expected", expected.map(|expected| expected.value.clone()));
        map.insert("required", self.is_required);
        map.insert("weight", self.weight.number().clone());
        map.into()
    }

    /// `None` if the field is skipped because it has no expected value. `reference` has the expected
    /// values that are not written here.
    pub(super) fn check(
        &self,
        output: &Value,
        reference: Option<&Value>,
        time: &SearchTime,
    ) -> Result<Option<Finding>, Fault> {
        let path = excerpt(self.path.text());
        let actual = self.path.look_up(output);
        let found = |holds, text| Ok(Some(Finding { holds, text }));
        let (expected, actual) = match (self.expected_value(reference)?, actual) {
            (None, _) if !self.is_required => return Ok(None),
            (_, None) => return found(false, format!("{path}: missing")),
            (None, Some(actual)) => {
                return found(true, format!("{path}: {}", excerpt(&text_of(actual))));
            }
            (Some(expected), Some(actual)) => (expected, actual),
        };
        if self.matching.accepts(&expected, actual, time)? {
            found(true, format!("{path}: {}", excerpt(&text_of(actual))))
        } else {
            let (expected, got) = distinct_texts(&expected.value, actual);
            found(false, format!("{path}: expected {expected}, got {got}"))
        }
    }

    /// The expected value: its own, else that of the test.
    fn expected_value(
        &self,
        reference: Option<&Value>,
    ) -> Result<Option<Cow<'_, ExpectedValue>>, Fault> {
        if let Some(expected) = &self.expected {
            return Ok(Some(Cow::Borrowed(expected)));
        }
        let Some(value) = reference.and_then(|value| self.path.look_up(value)) else {
            return Ok(None);
        };
        // Reading refuses such suites, but a caller may grade without reading.
        let expected = self.matching.parse_expected(value, &mut 0).map_err(|mismatch| {
            Fault::not_measured(&format!("{}: {}", self.path.text(), mismatch.reason()))
        })?;
        Ok(Some(Cow::Owned(expected)))
    }
}

/// Both values as text; as JSON if the texts are equal and only the types differ.
fn distinct_texts(expected: &Value, actual: &Value) -> (String, String) {
    let text = |value| excerpt(&text_of(value)).into_owned();
    match (text(expected), text(actual)) {
        (a, b) if a == b => (json_excerpt(expected), json_excerpt(actual)),
        texts => texts,
    }
}

fn read_path(options: &mut Options<'_, '_, '_>, entry: &Entry<'_>) -> ReadResult<FieldPath> {
    let text = options.reader.text(entry).ok_or(Reported)?;
    FieldPath::parse(&text).map_err(|error| {
        let span = span_in(entry.value, &text, error.at);
        let message = format!("`{}` is not a path: {}", shorten(&text), error.reason);
        options.report(
            Diagnostic::new(&INVALID_OPTION, span, message)
                .help("write it like `a.b[0].c`; a dot in a name is written `\\.`"),
        )
    })
}

/// Reads the options of all matches, including those that this match does not use.
fn read_matching(options: &mut Options<'_, '_, '_>) -> ReadResult<FieldMatch> {
    let word = options.optional("match", |options, entry| {
        let word = options.reader.choice(entry, FieldMatch::WORDS);
        word.ok_or(Reported)
    });
    let tolerance = options.amount("tolerance");
    let relative = options.boolean("relative");
    let formats = read_formats(options);
    let (tolerance, relative, formats) = (tolerance?, relative?, formats?);
    Ok(match word?.unwrap_or("exact") {
        "contains" => FieldMatch::Contains,
        "regex" => FieldMatch::Regex,
        "numeric_tolerance" => FieldMatch::NumericTolerance {
            tolerance: tolerance.unwrap_or_else(|| Number::from(0)),
            scale: match relative {
                Some(true) => ToleranceScale::Relative,
                Some(false) | None => ToleranceScale::Absolute,
            },
        },
        "date" => FieldMatch::Date { formats },
        _ => FieldMatch::Exact,
    })
}

fn read_formats(options: &mut Options<'_, '_, '_>) -> ReadResult<Vec<DateFormat>> {
    let texts = options.texts("formats")?.unwrap_or_default();
    all_read(texts.into_iter().map(|text| {
        DateFormat::parse(&text.value).map_err(|reason| {
            let shown = shorten(&text.value);
            let message = format!("`{shown}` is not a date format: {reason}");
            options.report(
                Diagnostic::new(&INVALID_OPTION, text.span, message)
                    .help("combine `YYYY YY MM M DD D MMM MMMM HH mm ss`"),
            )
        })
    }))
}

fn read_expected(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
    matching: &FieldMatch,
) -> ReadResult<ExpectedValue> {
    let value = options.reader.value("expected", entry.value);
    let patterns = &mut options.reader.patterns;
    let parsed = matching.parse_expected(&value, patterns.compilable());
    let fitting = parsed.and_then(|expected| expected.within(patterns));
    fitting.map_err(|mismatch| {
        let span = match (&mismatch, value.as_str()) {
            (ValueMismatch::Pattern(error), Some(text)) => {
                span_in(entry.value, text, error.at.clone())
            }
            _ => short_span(entry.value),
        };
        let name = entry.key.scalar_text().unwrap_or("expected");
        let message =
            format!("`{name}` does not fit `match: {}`: {}", matching.word(), mismatch.reason());
        options.report(Diagnostic::new(&INVALID_EXPECTED, span, message).help(mismatch.help()))
    })
}
