//! How one field of `field-accuracy` is compared, and which expected values that allows.

use std::borrow::Cow;

use crate::model::{Fault, JsonStyle, Map, Number, SearchTime, Value};
use crate::reader::PatternBudget;

use super::date::{DateFormat, Moment};
use super::equality::are_equal;
use super::pattern::{Flags, InvalidPattern, PATTERNS_TOO_LARGE, Pattern, SHORTER_PATTERNS};

/// Rounding error that is always tolerated (spec 7.18).
const ROUNDING: f64 = 1e-9;

/// `match` with the options that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FieldMatch {
    Exact,
    Contains,
    Regex,
    NumericTolerance { tolerance: Number, scale: ToleranceScale },
    Date { formats: Vec<DateFormat> },
}

/// The unit of a tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ToleranceScale {
    #[default]
    Absolute,
    /// A share of the expected value.
    Relative,
}

/// An expected value, parsed as its match requires.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpectedValue {
    /// As it was written.
    pub(super) value: Value,
    pub(super) parsed: ParsedValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ParsedValue {
    /// The value itself.
    Plain,
    Pattern(Pattern),
    Number(f64),
    Moment(Moment),
}

impl ExpectedValue {
    /// Itself, if it is no pattern or one that fits in with the others of its test.
    pub(super) fn within(self, patterns: &mut PatternBudget) -> Result<Self, ValueMismatch> {
        match &self.parsed {
            ParsedValue::Pattern(pattern) if !patterns.has_room(pattern.size()) => {
                Err(ValueMismatch::PatternsTooLarge)
            }
            _ => Ok(self),
        }
    }
}

/// Why a match cannot compare with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueMismatch {
    NotANumber,
    NotADate,
    NotAString,
    Pattern(InvalidPattern),
    /// Together with the other patterns of the test.
    PatternsTooLarge,
}

impl ValueMismatch {
    /// Completes a headline.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::NotANumber => "it is not a number".to_owned(),
            Self::NotADate => "it is not a date".to_owned(),
            Self::NotAString => "a pattern is a string".to_owned(),
            Self::Pattern(fault) => format!("the pattern does not compile: {}", fault.reason),
            Self::PatternsTooLarge => PATTERNS_TOO_LARGE.to_owned(),
        }
    }

    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::NotANumber => "write a number, without a unit or separators",
            Self::NotADate => "write it as 2025-01-15, or describe it in `formats`",
            Self::NotAString => "put quotes around it",
            Self::Pattern(_) => "correct the pattern",
            Self::PatternsTooLarge => SHORTER_PATTERNS,
        }
    }
}

impl FieldMatch {
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

    /// `to_compile` is what patterns of the backtracking engine may take for a check at once; behind it
    /// they are compiled when they are used.
    pub(super) fn parse_expected(
        &self,
        value: &Value,
        to_compile: &mut u64,
    ) -> Result<ExpectedValue, ValueMismatch> {
        let parsed = match self {
            Self::Exact | Self::Contains => ParsedValue::Plain,
            Self::Regex => {
                let text = value.as_str().ok_or(ValueMismatch::NotAString)?;
                let pattern = Pattern::new_within(to_compile, text, Flags::default());
                ParsedValue::Pattern(pattern.map_err(ValueMismatch::Pattern)?)
            }
            Self::NumericTolerance { .. } => {
                ParsedValue::Number(number_in(value).ok_or(ValueMismatch::NotANumber)?)
            }
            Self::Date { formats } => {
                ParsedValue::Moment(moment_in(value, formats).ok_or(ValueMismatch::NotADate)?)
            }
        };
        Ok(ExpectedValue { value: value.clone(), parsed })
    }

    /// Whether a value of the output is the expected one. Fails if the pattern takes too long.
    pub(super) fn accepts(
        &self,
        expected: &ExpectedValue,
        actual: &Value,
        time: &SearchTime,
    ) -> Result<bool, Fault> {
        Ok(match (self, &expected.parsed) {
            (_, ParsedValue::Pattern(pattern)) => return pattern.is_in(&text_of(actual), time),
            (Self::NumericTolerance { tolerance, scale }, ParsedValue::Number(expected)) => {
                let unit = match scale {
                    ToleranceScale::Absolute => 1.0,
                    ToleranceScale::Relative => expected.abs(),
                };
                let most = tolerance.value() * unit + ROUNDING;
                number_in(actual).is_some_and(|actual| (actual - expected).abs() <= most)
            }
            (Self::Date { formats }, ParsedValue::Moment(expected)) => {
                moment_in(actual, formats).is_some_and(|actual| actual.agrees(*expected))
            }
            (Self::Contains, _) => contains(actual, &expected.value),
            _ => are_equal(&expected.value, actual),
        })
    }

    /// The options that belong to the match.
    pub(super) fn write_options(&self, map: &mut Map) {
        map.insert("match", self.word());
        match self {
            Self::NumericTolerance { tolerance, scale } => {
                map.insert("tolerance", tolerance.clone());
                map.insert("relative", *scale == ToleranceScale::Relative);
            }
            Self::Date { formats } if !formats.is_empty() => {
                let formats: Vec<&str> = formats.iter().map(DateFormat::text).collect();
                map.insert("formats", formats);
            }
            _ => {}
        }
    }
}

/// An element of a list, or a substring.
fn contains(actual: &Value, expected: &Value) -> bool {
    match actual {
        Value::List(items) => items.iter().any(|item| are_equal(item, expected)),
        other => text_of(other).contains(&*text_of(expected)),
    }
}

/// Strings as they are, other values as JSON.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_json(JsonStyle::Compact)),
    }
}

/// A number, or a string that is a number.
fn number_in(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.value()),
        // `0x1F` is a number in YAML, but a quoted one is probably meant as text.
        Value::String(text) if !text.starts_with("0x") && !text.starts_with("0o") => {
            Number::parse(text).map(|number| number.value())
        }
        _ => None,
    }
}

/// A string that is a date, or a number such as `20250115`.
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

    fn accepts(matching: &FieldMatch, expected: &str, actual: &str) -> bool {
        let value = |text| json_value(text).unwrap();
        let expected = matching.parse_expected(&value(expected), &mut 0).unwrap();
        matching.accepts(&expected, &value(actual), &SearchTime::of_one_search()).unwrap()
    }

    #[test]
    fn exact_values_are_equal_as_json() {
        for (expected, actual, holds) in [
            ("1", "1.0", true),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, true),
            ("null", "null", true),
            ("null", "0", false),
            ("\"Acme\"", "\"ACME\"", false),
            ("1", "\"1\"", false),
        ] {
            let found = accepts(&FieldMatch::Exact, expected, actual);
            assert_eq!(found, holds, "{expected} {actual}");
        }
    }

    #[test]
    fn texts_and_lists_contain_things() {
        for (expected, actual, holds) in [
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
            let found = accepts(&FieldMatch::Contains, expected, actual);
            assert_eq!(found, holds, "{expected} {actual}");
        }
    }

    #[test]
    fn patterns_are_looked_for_in_texts_and_json() {
        for (expected, actual, holds) in [
            (r#""^A\\w+$""#, "\"Acme\"", true),
            (r#""^\\d+$""#, "1250", true),
            (r#""^\\d+$""#, "\"12 EUR\"", false),
            (r#""\"b\"""#, r#"["a","b"]"#, true),
        ] {
            let found = accepts(&FieldMatch::Regex, expected, actual);
            assert_eq!(found, holds, "{expected} {actual}");
        }
    }

    #[test]
    fn numbers_may_be_apart_by_the_tolerance() {
        let within = |tolerance, scale| FieldMatch::NumericTolerance {
            tolerance: Number::parse(tolerance).unwrap(),
            scale,
        };
        for (tolerance, scale, expected, actual, holds) in [
            ("0.01", ToleranceScale::Absolute, "1250.00", "1250.005", true),
            ("0.01", ToleranceScale::Absolute, "1250", "1250.01", true),
            ("0.01", ToleranceScale::Absolute, "1250", "1250.02", false),
            ("0.01", ToleranceScale::Relative, "1250", "1262.5", true),
            ("0.01", ToleranceScale::Relative, "-1250", "-1262.5", true),
            ("0.01", ToleranceScale::Relative, "1250", "1263", false),
            ("0", ToleranceScale::Absolute, "0.3", "0.30000000000000004", true),
            ("1", ToleranceScale::Absolute, "\"5\"", "\"6\"", true),
            ("1", ToleranceScale::Absolute, "5", "\"5 EUR\"", false),
            ("1", ToleranceScale::Absolute, "5", "null", false),
        ] {
            let found = accepts(&within(tolerance, scale), expected, actual);
            assert_eq!(found, holds, "{expected} {actual}");
        }
    }

    #[test]
    fn dates_agree_in_whatever_form() {
        let date = |formats: &[&str]| FieldMatch::Date {
            formats: formats.iter().map(|format| DateFormat::parse(format).unwrap()).collect(),
        };
        for (formats, expected, actual, holds) in [
            (&["DD/MM/YYYY"][..], "2024-03-05", "05/03/2024", true),
            (&[], "2024-03-05", "05/03/2024", false),
            (&[], "2025-01-15", "15-JAN-2025", true),
            (&[], "2025-01-15", "2025-01-15T23:00:00-05:00", true),
            (&[], "2025-01-15T10:00", "2025-01-15T11:00+01:00", true),
            (&[], "2025-01-15T10:00", "2025-01-15T10:01Z", false),
            (&[], "2025-01-15", "soon", false),
        ] {
            let quote = |text: &str| format!("\"{text}\"");
            let found = accepts(&date(formats), &quote(expected), &quote(actual));
            assert_eq!(found, holds, "{expected} {actual}");
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
        let date = FieldMatch::Date { formats: vec![DateFormat::parse("DD/MM/YYYY").unwrap()] };
        let a = date.parse_expected(&"05/03/2024".into(), &mut 0).unwrap().parsed;
        assert_eq!(a, date.parse_expected(&"2024-03-05".into(), &mut 0).unwrap().parsed);
        assert_eq!(a, date.parse_expected(&20_240_305_u64.into(), &mut 0).unwrap().parsed);
        assert_eq!(date.parse_expected(&Value::Null, &mut 0), Err(ValueMismatch::NotADate));
        assert_eq!(
            FieldMatch::Regex.parse_expected(&7_u64.into(), &mut 0),
            Err(ValueMismatch::NotAString)
        );
        assert!(FieldMatch::Regex.parse_expected(&"(".into(), &mut u64::MAX.clone()).is_err());
        assert!(FieldMatch::Exact.parse_expected(&Value::Null, &mut 0).is_ok());
    }
}
