//! How one field of `field-accuracy` is compared, and what its expected value must be for that.

use std::borrow::Cow;

use crate::model::{self, JsonStyle, Map, Number, Value};

use super::date::{DateFormat, Moment};
use super::equality::are_equal;
use super::pattern::{Fault, Flags, Pattern};

/// How far numbers may be apart in any case (spec 7.18).
const ROUNDING: f64 = 1e-9;

/// `match` with the options that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Matching {
    Exact,
    Contains,
    Regex,
    NumericTolerance { tolerance: Number, scale: Scale },
    Date { formats: Vec<DateFormat> },
}

/// What a tolerance is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Scale {
    #[default]
    Absolute,
    /// Shares of the expected value.
    Relative,
}

/// An expected value, understood as its match needs it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// As it was written.
    pub(super) value: Value,
    pub(super) meaning: Meaning,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// The value itself.
    Plain,
    Pattern(Pattern),
    Number(f64),
    Moment(Moment),
}

/// Why a value is not what its match compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Misfit {
    NoNumber,
    NoDate,
    NoText,
    Pattern(Fault),
}

impl Misfit {
    /// The end of a headline.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::NoNumber => "it is not a number".to_owned(),
            Self::NoDate => "it is not a date".to_owned(),
            Self::NoText => "a pattern is a text".to_owned(),
            Self::Pattern(fault) => format!("the pattern does not compile: {}", fault.reason),
        }
    }

    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::NoNumber => "write a number, without a unit or separators",
            Self::NoDate => "write it as 2025-01-15, or describe it in `formats`",
            Self::NoText => "put quotes round it",
            Self::Pattern(_) => "correct the pattern",
        }
    }
}

impl Matching {
    pub(super) const WORDS: &'static [&'static str] =
        &["exact", "contains", "regex", "numeric_tolerance", "date"];

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Contains => "contains",
            Self::Regex => "regex",
            Self::NumericTolerance { .. } => "numeric_tolerance",
            Self::Date { .. } => "date",
        }
    }

    /// Understands an expected value.
    pub(super) fn want(&self, value: &Value) -> Result<Wanted, Misfit> {
        let meaning = match self {
            Self::Exact | Self::Contains => Meaning::Plain,
            Self::Regex => {
                let text = value.as_str().ok_or(Misfit::NoText)?;
                let pattern = Pattern::new(text, Flags::default()).map_err(Misfit::Pattern)?;
                Meaning::Pattern(pattern)
            }
            Self::NumericTolerance { .. } => {
                Meaning::Number(number_in(value).ok_or(Misfit::NoNumber)?)
            }
            Self::Date { formats } => {
                Meaning::Moment(moment_in(value, formats).ok_or(Misfit::NoDate)?)
            }
        };
        Ok(Wanted {
            value: value.clone(),
            meaning,
        })
    }

    /// Whether a value of the output is the one that is wanted. An error says that the pattern
    /// took too long.
    pub(super) fn accepts(&self, wanted: &Wanted, actual: &Value) -> Result<bool, model::Fault> {
        Ok(match (self, &wanted.meaning) {
            (_, Meaning::Pattern(pattern)) => return pattern.is_in(&text_of(actual)),
            (Self::NumericTolerance { tolerance, scale }, Meaning::Number(expected)) => {
                let unit = match scale {
                    Scale::Absolute => 1.0,
                    Scale::Relative => expected.abs(),
                };
                let most = tolerance.value() * unit + ROUNDING;
                number_in(actual).is_some_and(|actual| (actual - expected).abs() <= most)
            }
            (Self::Date { formats }, Meaning::Moment(expected)) => {
                moment_in(actual, formats).is_some_and(|actual| actual.agrees(*expected))
            }
            (Self::Contains, _) => contains(actual, &wanted.value),
            _ => are_equal(&wanted.value, actual),
        })
    }

    /// The options that belong to the match.
    pub(super) fn write_options(&self, map: &mut Map) {
        map.insert("match", self.word());
        match self {
            Self::NumericTolerance { tolerance, scale } => {
                map.insert("tolerance", tolerance.clone());
                map.insert("relative", *scale == Scale::Relative);
            }
            Self::Date { formats } if !formats.is_empty() => {
                let formats: Vec<&str> = formats.iter().map(DateFormat::text).collect();
                map.insert("formats", formats);
            }
            _ => {}
        }
    }
}

/// An element of a list, or else a part of the text.
fn contains(actual: &Value, wanted: &Value) -> bool {
    match actual {
        Value::List(items) => items.iter().any(|item| are_equal(item, wanted)),
        other => text_of(other).contains(&*text_of(wanted)),
    }
}

/// A text itself; anything else as JSON.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_json(JsonStyle::Compact)),
    }
}

/// A number, or a text that is wholly one.
fn number_in(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.value()),
        // `0x1F` is a number to YAML, but hardly to whoever puts it in quotes.
        Value::String(text) if !text.starts_with("0x") && !text.starts_with("0o") => {
            Number::parse(text).map(|number| number.value())
        }
        _ => None,
    }
}

/// A text that is a date. Numbers count by their spelling: `20250115` needs no quotes.
fn moment_in(value: &Value, formats: &[DateFormat]) -> Option<Moment> {
    match value {
        Value::String(text) => Moment::read(text, formats),
        Value::Number(_) => Moment::read(&value.to_json(JsonStyle::Compact), formats),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json_value;

    fn accepts(matching: &Matching, wanted: &str, actual: &str) -> bool {
        let value = |text| json_value(text).unwrap();
        let wanted = matching.want(&value(wanted)).unwrap();
        matching.accepts(&wanted, &value(actual)).unwrap()
    }

    #[test]
    fn exact_values_are_equal_as_json() {
        for (wanted, actual, holds) in [
            ("1", "1.0", true),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, true),
            ("null", "null", true),
            ("null", "0", false),
            ("\"Acme\"", "\"ACME\"", false),
            ("1", "\"1\"", false),
        ] {
            let found = accepts(&Matching::Exact, wanted, actual);
            assert_eq!(found, holds, "{wanted} {actual}");
        }
    }

    #[test]
    fn texts_and_lists_contain_things() {
        for (wanted, actual, holds) in [
            ("\"cm\"", "\"Acme\"", true),
            ("\"CM\"", "\"Acme\"", false),
            ("25", "1250", true),
            ("25", "\"EUR 1250\"", true),
            ("\"a\"", r#"{"a":1}"#, true),
            ("\"cat\"", r#"["dog","cat"]"#, true),
            ("\"ca\"", r#"["dog","cat"]"#, false),
            ("1", "[1.0]", true),
            ("\"x\"", "null", false),
        ] {
            let found = accepts(&Matching::Contains, wanted, actual);
            assert_eq!(found, holds, "{wanted} {actual}");
        }
    }

    #[test]
    fn patterns_are_looked_for_in_texts_and_json() {
        for (wanted, actual, holds) in [
            (r#""^A\\w+$""#, "\"Acme\"", true),
            (r#""^\\d+$""#, "1250", true),
            (r#""^\\d+$""#, "\"12 EUR\"", false),
            (r#""\"b\"""#, r#"["a","b"]"#, true),
        ] {
            let found = accepts(&Matching::Regex, wanted, actual);
            assert_eq!(found, holds, "{wanted} {actual}");
        }
    }

    #[test]
    fn numbers_may_be_apart_by_the_tolerance() {
        let within = |tolerance, scale| Matching::NumericTolerance {
            tolerance: Number::parse(tolerance).unwrap(),
            scale,
        };
        for (tolerance, scale, wanted, actual, holds) in [
            ("0.01", Scale::Absolute, "1250.00", "1250.005", true),
            ("0.01", Scale::Absolute, "1250", "1250.01", true),
            ("0.01", Scale::Absolute, "1250", "1250.02", false),
            ("0.01", Scale::Relative, "1250", "1262.5", true),
            ("0.01", Scale::Relative, "-1250", "-1262.5", true),
            ("0.01", Scale::Relative, "1250", "1263", false),
            ("0", Scale::Absolute, "0.3", "0.30000000000000004", true),
            ("1", Scale::Absolute, "\"5\"", "\"6\"", true),
            ("1", Scale::Absolute, "5", "\"5 EUR\"", false),
            ("1", Scale::Absolute, "5", "null", false),
        ] {
            let found = accepts(&within(tolerance, scale), wanted, actual);
            assert_eq!(found, holds, "{wanted} {actual}");
        }
    }

    #[test]
    fn dates_agree_in_whatever_form() {
        let date = |formats: &[&str]| Matching::Date {
            formats: formats
                .iter()
                .map(|format| DateFormat::parse(format).unwrap())
                .collect(),
        };
        for (formats, wanted, actual, holds) in [
            (&["DD/MM/YYYY"][..], "2024-03-05", "05/03/2024", true),
            (&[], "2024-03-05", "05/03/2024", false),
            (&[], "2025-01-15", "15-JAN-2025", true),
            (&[], "2025-01-15", "2025-01-15T23:00:00-05:00", true),
            (&[], "2025-01-15T10:00", "2025-01-15T11:00+01:00", true),
            (&[], "2025-01-15T10:00", "2025-01-15T10:01Z", false),
            (&[], "2025-01-15", "soon", false),
        ] {
            let quote = |text: &str| format!("\"{text}\"");
            let found = accepts(&date(formats), &quote(wanted), &quote(actual));
            assert_eq!(found, holds, "{wanted} {actual}");
        }
    }

    #[test]
    fn only_a_whole_number_is_one() {
        for (value, number) in [
            ("12.5", Some(12.5)),
            ("-3", Some(-3.0)),
            ("1e3", Some(1000.0)),
            ("12 EUR", None),
            ("1,250", None),
            ("0x1F", None),
            ("", None),
        ] {
            assert_eq!(number_in(&value.into()), number, "{value}");
        }
        assert_eq!(number_in(&true.into()), None);
        assert_eq!(number_in(&Value::Null), None);
    }

    #[test]
    fn values_are_understood_as_their_match_needs_them() {
        let date = Matching::Date {
            formats: vec![DateFormat::parse("DD/MM/YYYY").unwrap()],
        };
        let a = date.want(&"05/03/2024".into()).unwrap().meaning;
        assert_eq!(a, date.want(&"2024-03-05".into()).unwrap().meaning);
        assert_eq!(a, date.want(&20_240_305_u64.into()).unwrap().meaning);
        assert_eq!(date.want(&Value::Null), Err(Misfit::NoDate));
        assert_eq!(Matching::Regex.want(&7_u64.into()), Err(Misfit::NoText));
        assert!(Matching::Regex.want(&"(".into()).is_err());
        assert!(Matching::Exact.want(&Value::Null).is_ok());
    }
}
