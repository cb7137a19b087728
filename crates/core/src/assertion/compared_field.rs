//! One compared field of a `field-accuracy`.

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;
use crate::model::{Fault, Map, Number, Value, Weight};
use crate::reader::{Reader, short_span, wrong_type};
use crate::source::Span;
use crate::syntax::Node;
use crate::syntax::fields::{Bound, Entry, Field, INVALID_OPTION, Shape, shorten};

use super::date::DateFormat;
use super::excerpt::{excerpt, json_excerpt};
use super::field_accuracy::INVALID_EXPECTED;
use super::field_match::{Matching, Misfit, Scale, Wanted, text_of};
use super::field_path::FieldPath;
use super::optional::{optional, require_in};
use super::place::span_in;
use super::read::read_weight;

const NOT_NEGATIVE: Shape = Shape::Number {
    min: 0.0,
    max: f64::MAX,
};

static FIELD: &[Field] = &[
    Field::new(
        "path",
        Shape::NonEmptyText,
        "where the field stands, such as `a.b[0].c`; `\\.` is a dot in a name",
    )
    .required(),
    Field::new(
        "match",
        Shape::Choice(Matching::WORDS),
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
        "the field must be there even if no value is expected; default false",
    ),
    Field::new("weight", NOT_NEGATIVE, "share in the score; default 1"),
    Field::new(
        "tolerance",
        NOT_NEGATIVE,
        "for `numeric_tolerance`: how far the numbers may be apart; default 0",
    ),
    Field::new(
        "relative",
        Shape::Boolean,
        "for `numeric_tolerance`: the tolerance is a share of the expected value; default false",
    ),
    Field::new(
        "formats",
        Shape::List(&Shape::NonEmptyText),
        "for `date`: further ways to write a date, of `YYYY YY MM M DD D MMM MMMM HH mm ss`",
    ),
];

pub(super) const FIELD_SHAPE: Shape = Shape::Fields(FIELD);

/// Whether a field must be in the output when no value is expected for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Optional,
    Required,
}

#[derive(Debug)]
pub(super) struct Compared {
    pub(super) path: FieldPath,
    /// Where the path was written.
    pub(super) span: Span,
    pub(super) matching: Matching,
    /// Only if it was written here and not in the test.
    pub(super) expected: Option<Wanted>,
    pub(super) presence: Presence,
    pub(super) weight: Weight,
}

impl Compared {
    pub(super) fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Option<Self> {
        if !node.is_mapping() {
            let wants = "a mapping with `path`";
            reader.report(wrong_type("an item of fields", node, wants));
            return None;
        }
        let bound = Bound::new(node, &[FIELD], reader.out);
        bound.report_unknown(&[FIELD], reader.out);
        let path = require_in(reader, &bound, "an item of `fields`", "path");
        let parsed = path.and_then(|entry| read_path(reader, &entry));
        let required = optional(reader, &bound, "required", |reader, entry| {
            reader.boolean(entry)
        });
        let weight = optional(reader, &bound, "weight", read_weight);
        let matching = read_matching(reader, &bound)?;
        let expected = optional(reader, &bound, "expected", |reader, entry| {
            read_expected(reader, entry, &matching)
        });
        Some(Self {
            path: parsed?,
            span: path?.value.span(),
            expected: expected?,
            presence: match required? {
                Some(true) => Presence::Required,
                Some(false) | None => Presence::Optional,
            },
            weight: weight?.unwrap_or_default(),
            matching,
        })
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("path", self.path.text());
        self.matching.write_options(&mut map);
        let expected = self.expected.as_ref();
        map.insert_some("expected", expected.map(|wanted| wanted.value.clone()));
        map.insert("required", self.presence == Presence::Required);
        map.insert("weight", self.weight.number().clone());
        map.into()
    }
}

/// What became of a field, with its sentence.
pub(super) struct FieldFinding {
    pub(super) holds: bool,
    pub(super) text: String,
}

impl Compared {
    /// `None` when the field is left out: nothing is expected of it. `reference` holds the expected
    /// values that were not written here.
    pub(super) fn check(
        &self,
        output: &Value,
        reference: Option<&Value>,
    ) -> Result<Option<FieldFinding>, Fault> {
        let path = excerpt(self.path.text());
        let actual = self.path.look_up(output);
        let found = |holds, text| Ok(Some(FieldFinding { holds, text }));
        let (wanted, actual) = match (self.wanted(reference)?, actual) {
            (None, _) if self.presence == Presence::Optional => return Ok(None),
            (_, None) => return found(false, format!("{path}: missing")),
            (None, Some(actual)) => {
                return found(true, format!("{path}: {}", excerpt(&text_of(actual))));
            }
            (Some(wanted), Some(actual)) => (wanted, actual),
        };
        if self.matching.accepts(&wanted, actual)? {
            found(true, format!("{path}: {}", excerpt(&text_of(actual))))
        } else {
            let (expected, got) = told_apart(&wanted.value, actual);
            found(false, format!("{path}: expected {expected}, got {got}"))
        }
    }

    /// The expected value: its own, else that of the test.
    fn wanted(&self, reference: Option<&Value>) -> Result<Option<Cow<'_, Wanted>>, Fault> {
        if let Some(wanted) = &self.expected {
            return Ok(Some(Cow::Borrowed(wanted)));
        }
        let Some(value) = reference.and_then(|value| self.path.look_up(value)) else {
            return Ok(None);
        };
        // Suites whose values do not fit are refused; this is for those who grade without reading.
        let wanted = self.matching.want(value).map_err(|misfit| {
            Fault::not_measured(&format!("{}: {}", self.path.text(), misfit.reason()))
        })?;
        Ok(Some(Cow::Owned(wanted)))
    }
}

/// Both values as text; as JSON where the texts look alike and only the kinds differ.
fn told_apart(expected: &Value, actual: &Value) -> (String, String) {
    let text = |value| excerpt(&text_of(value)).into_owned();
    match (text(expected), text(actual)) {
        (a, b) if a == b => (json_excerpt(expected), json_excerpt(actual)),
        texts => texts,
    }
}

fn read_path(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<FieldPath> {
    let text = reader.text(entry)?;
    FieldPath::parse(&text)
        .map_err(|fault| {
            let span = span_in(entry.value, &text, fault.at);
            let message = format!("`{}` is no path: {}", shorten(&text), fault.reason);
            reader.report(
                Diagnostic::new(&INVALID_OPTION, span, message)
                    .help("write it like `a.b[0].c`; a dot in a name is written `\\.`"),
            );
        })
        .ok()
}

/// All options of all matches are looked at, also those that this match has no use for.
fn read_matching(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<Matching> {
    let word = optional(reader, bound, "match", |reader, entry| {
        reader.choice(entry, Matching::WORDS)
    });
    let tolerance = optional(reader, bound, "tolerance", |reader, entry| {
        reader.number(entry, 0.0, f64::INFINITY)
    });
    let relative = optional(reader, bound, "relative", |reader, entry| {
        reader.boolean(entry)
    });
    let formats = optional(reader, bound, "formats", read_formats);
    let (tolerance, relative, formats) = (tolerance?, relative?, formats?);
    Some(match word?.unwrap_or("exact") {
        "contains" => Matching::Contains,
        "regex" => Matching::Regex,
        "numeric_tolerance" => Matching::NumericTolerance {
            tolerance: tolerance.unwrap_or_else(|| Number::from(0)),
            scale: match relative {
                Some(true) => Scale::Relative,
                Some(false) | None => Scale::Absolute,
            },
        },
        "date" => Matching::Date {
            formats: formats.unwrap_or_default(),
        },
        _ => Matching::Exact,
    })
}

fn read_formats(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<DateFormat>> {
    let texts = reader.text_list(entry)?;
    let formats: Vec<Option<DateFormat>> = texts
        .into_iter()
        .map(|text| {
            DateFormat::parse(&text.value)
                .map_err(|reason| {
                    let text_shown = shorten(&text.value);
                    let message = format!("`{text_shown}` is no date format: {reason}");
                    reader.report(
                        Diagnostic::new(&INVALID_OPTION, text.span, message)
                            .help("make it of `YYYY YY MM M DD D MMM MMMM HH mm ss`"),
                    );
                })
                .ok()
        })
        .collect();
    formats.into_iter().collect()
}

fn read_expected(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    matching: &Matching,
) -> Option<Wanted> {
    let value = reader.value("expected", entry.value);
    matching
        .want(&value)
        .map_err(|misfit| {
            let span = match (&misfit, value.as_str()) {
                (Misfit::Pattern(fault), Some(text)) => {
                    span_in(entry.value, text, fault.at.clone())
                }
                _ => short_span(entry.value),
            };
            let name = entry.key.scalar_text().unwrap_or("expected");
            let message = format!(
                "`{name}` does not fit `match: {}`: {}",
                matching.word(),
                misfit.reason()
            );
            reader.report(Diagnostic::new(&INVALID_EXPECTED, span, message).help(misfit.help()));
        })
        .ok()
}
