//! Figures that programs report: tokens, cost, durations. A figure that is absent or null is unknown;
//! an invalid one is a fault, because assertions may check limits against it.

use evalrig_core::model::{Map, Number, Tokens, Value};

/// The value of a key that is present and not null.
pub(super) fn given<'a>(map: &'a Map, key: &str) -> Option<&'a Value> {
    map.get(key).filter(|value| **value != Value::Null)
}

/// A whole number of at least 0; `5.0` is one.
pub(super) fn count(map: &Map, key: &str) -> Result<Option<u64>, String> {
    let whole = |number: &Number| number.as_u64();
    number(map, key, "a whole number of at least 0", whole)
}

/// A whole number of either sign.
pub(super) fn whole(map: &Map, key: &str) -> Result<Option<i64>, String> {
    number(map, key, "a whole number", Number::as_i64)
}

pub(super) fn boolean(map: &Map, key: &str) -> Result<Option<bool>, String> {
    match given(map, key) {
        None => Ok(None),
        Some(Value::Bool(found)) => Ok(Some(*found)),
        Some(other) => Err(format!("`{key}` takes a boolean, found {}", kind(other))),
    }
}

/// Rounded: some programs report fractions.
pub(super) fn milliseconds(map: &Map, key: &str) -> Result<Option<u64>, String> {
    number(map, key, "a number of milliseconds", |number| {
        let value = number.value().round();
        (0.0..9e15).contains(&value).then_some(value as u64)
    })
}

pub(super) fn amount(map: &Map, key: &str) -> Result<Option<f64>, String> {
    number(map, key, "a number of at least 0", |number| {
        Some(number.value()).filter(|value| *value >= 0.0)
    })
}

fn number<T>(
    map: &Map,
    key: &str,
    expected: &str,
    read: impl FnOnce(&Number) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = given(map, key) else {
        return Ok(None);
    };
    let found = match value {
        Value::Number(number) => match read(number) {
            Some(value) => return Ok(Some(value)),
            None => number.text(),
        },
        other => kind(other),
    };
    Err(format!("`{key}` takes {expected}, found {found}"))
}

pub(super) fn text<'a>(map: &'a Map, key: &str) -> Result<Option<&'a str>, String> {
    match given(map, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` takes a string, found {}", kind(other))),
    }
}

/// Counts under the keys of input, output and cached tokens. Unknown unless both input and output are
/// present.
pub(super) fn tokens(map: &Map, keys: [&str; 3]) -> Result<Option<Tokens>, String> {
    let [input, output, cached] = keys;
    let (input, output) = (count(map, input)?, count(map, output)?);
    let cached = count(map, cached)?.unwrap_or(0);
    Ok(input.zip(output).map(|(input, output)| Tokens { input, output, cached }))
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::List(_) => "a list",
        Value::Map(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::parse;
    use super::*;

    fn map(json: &str) -> Map {
        match parse(json).unwrap() {
            Value::Map(map) => map,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn counts_are_whole_and_not_negative() {
        let of = |json| count(&map(json), "n");
        assert_eq!(of(r#"{"n": 12}"#), Ok(Some(12)));
        assert_eq!(of(r#"{"n": 12.0}"#), Ok(Some(12)));
        assert_eq!(of(r#"{"n": 1e3}"#), Ok(Some(1000)));
        assert_eq!(of(r#"{"n": null}"#), Ok(None));
        assert_eq!(of("{}"), Ok(None));
        for (json, found) in [
            (r#"{"n": -3}"#, "-3"),
            (r#"{"n": 2.5}"#, "2.5"),
            (r#"{"n": 99999999999999999999999}"#, "99999999999999999999999"),
            (r#"{"n": "12"}"#, "a string"),
            (r#"{"n": 1e999}"#, "a string"),
        ] {
            let message = format!("`n` takes a whole number of at least 0, found {found}");
            assert_eq!(of(json), Err(message));
        }
    }

    #[test]
    fn durations_may_have_fractions_and_costs_too() {
        let of = |json| milliseconds(&map(json), "n");
        assert_eq!(of(r#"{"n": 1234.6}"#), Ok(Some(1235)));
        assert!(of(r#"{"n": -1}"#).is_err());
        assert!(of(r#"{"n": 1e300}"#).is_err());
        assert_eq!(amount(&map(r#"{"n": 0.25}"#), "n"), Ok(Some(0.25)));
        assert!(amount(&map(r#"{"n": -0.25}"#), "n").is_err());
    }

    #[test]
    fn half_of_the_tokens_are_none() {
        const KEYS: [&str; 3] = ["input", "output", "cached"];
        assert_eq!(tokens(&map(r#"{"input": 5}"#), KEYS), Ok(None));
        let known = Tokens { input: 5, output: 2, cached: 0 };
        let given = map(r#"{"input": 5, "output": 2, "cached": null}"#);
        assert_eq!(tokens(&given, KEYS), Ok(Some(known)));
    }
}
