//! How one field of `field-accuracy` is compared, and what its expected value must be for that.

use crate::model::{JsonStyle, Map, Number, Value};

use super::date::{DateFormat, Moment};
use super::pattern::{Fault, Flags, Pattern};

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
