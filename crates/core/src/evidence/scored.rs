//! An object with a score and its reasons, which scripts print and judges reply in score mode (spec
//! 10.1, 10.2).

use crate::model::{JsonStyle, Map, Marks, Number, Score, Value};

/// Reads the object. The error says what is wrong with it.
pub(super) fn read_scored(map: &Map) -> Result<Marks, String> {
    let assertions = read_assertions(map)?;
    let score = match (map.get("score"), assertions.as_slice()) {
        (Some(value), _) => read_score(value)?,
        (None, []) => return Err(no_score(map)),
        (None, some) => {
            let passed = some.iter().filter(|one| one.passed).count();
            Score::of_share(passed as f64 / some.len() as f64)
        }
    };
    let has_lists = map.get("hits").is_some() || map.get("misses").is_some();
    let (hits, misses) = if has_lists {
        (texts(map.get("hits")), texts(map.get("misses")))
    } else {
        let of = |passed: bool| {
            let some = assertions.iter().filter(move |one| one.passed == passed);
            some.map(|one| one.text.clone()).collect()
        };
        (of(true), of(false))
    };
    Ok(Marks {
        reasoning: reasoning(map, &assertions),
        details: map.get("details").and_then(Value::as_map).cloned(),
        ..Marks::new(score, hits, misses)
    })
}

fn no_score(map: &Map) -> String {
    match map.get("assertions") {
        Some(Value::List(_)) => "it has no `score`, and `assertions` is empty".to_owned(),
        _ => "it has neither `score` nor `assertions`".to_owned(),
    }
}

/// Only a number from 0 to 1: an 8 may or may not mean 0.8.
fn read_score(value: &Value) -> Result<Score, String> {
    let number = as_number("score", value)?;
    Score::new(number.value()).ok_or_else(|| format!("`score` is {number}, which is not in 0..1"))
}

pub(super) fn as_number<'v>(name: &str, value: &'v Value) -> Result<&'v Number, String> {
    match value {
        Value::Number(number) => Ok(number),
        other => Err(format!("`{name}` is {}, not a number", described(other))),
    }
}

/// One of `assertions`.
struct Claim {
    text: String,
    passed: bool,
    evidence: Option<String>,
}

fn read_assertions(map: &Map) -> Result<Vec<Claim>, String> {
    let items = match map.get("assertions") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::List(items)) => items,
        Some(other) => return Err(format!("`assertions` is {}, not a list", described(other))),
    };
    let claims = items.iter().enumerate();
    claims.map(|(at, item)| read_claim(at + 1, item)).collect()
}

fn read_claim(position: usize, item: &Value) -> Result<Claim, String> {
    let Some(map) = item.as_map() else {
        let found = described(item);
        return Err(format!("assertion {position} is {found}, not an object"));
    };
    let passed = match map.get("passed") {
        Some(Value::Bool(passed)) => *passed,
        Some(other) => {
            let found = described(other);
            return Err(format!("`passed` of assertion {position} is {found}, not a boolean"));
        }
        None => return Err(format!("assertion {position} has no `passed`")),
    };
    let text = map.get("text").map(text_of);
    Ok(Claim {
        text: text.unwrap_or_else(|| format!("assertion {position}")),
        passed,
        evidence: map.get("evidence").and_then(non_blank_text),
    })
}

/// The reasoning of the script or judge, else that of each assertion.
fn reasoning(map: &Map, claims: &[Claim]) -> Option<String> {
    if let Some(reasoning) = map.get("reasoning").and_then(non_blank_text) {
        return Some(reasoning);
    }
    let found: Vec<String> = claims
        .iter()
        .filter_map(|claim| {
            let evidence = claim.evidence.as_ref()?;
            Some(format!("{}: {evidence}", claim.text))
        })
        .collect();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// A list of texts; a single value counts as a list of one, since it does not affect the score.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(items)) => items.iter().map(text_of).collect(),
        Some(other) => vec![text_of(other)],
    }
}

/// Strings as they are, other values as JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_json(JsonStyle::Compact),
    }
}

/// A string that is not blank.
pub(super) fn non_blank_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        other => text_of(other),
    };
    (!text.trim().is_empty()).then_some(text)
}

/// A short description of a value for messages.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text \"{}\"", cut(text, 60)),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "an object".to_owned(),
    }
}

/// At most `limit` characters of a text, with a mark if it was longer.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::parse;
    use super::*;

    fn read(text: &str) -> Result<Marks, String> {
        let value = parse(text).expect("JSON");
        read_scored(value.as_map().expect("an object"))
    }

    #[test]
    fn examples_of_the_format() {
        let marks = read(r#"{"score":0.5,"hits":["a"],"misses":["b"]}"#).unwrap();
        assert_eq!(marks.score.value(), 0.5);
        assert_eq!((marks.hits, marks.misses), (vec!["a".into()], vec!["b".into()]));
        let claims = r#"{"assertions":[{"text":"a","passed":true},{"text":"b","passed":true},{"text":"c","passed":false}]}"#;
        let marks = read(claims).unwrap();
        assert_eq!(marks.score.rounded(), 0.666_667);
        assert_eq!(marks.hits, ["a", "b"]);
        assert_eq!(marks.misses, ["c"]);
        assert_eq!(read(r#"{"score":7}"#).unwrap_err(), "`score` is 7, which is not in 0..1");
        assert_eq!(read(r#"{"score": 1.0}"#).unwrap().score, Score::ONE);
    }

    #[test]
    fn the_score_counts_and_lists_win_over_assertions() {
        let text = r#"{"score":0.2,"misses":[],"assertions":[{"text":"a","passed":true}]}"#;
        let marks = read(text).unwrap();
        assert_eq!(marks.score.value(), 0.2);
        assert!(marks.hits.is_empty());
        let text = r#"{"score":0.2,"assertions":[{"text":"a","passed":true}]}"#;
        assert_eq!(read(text).unwrap().hits, ["a"]);
    }

    #[test]
    fn reasons_and_details_are_kept() {
        let text = r#"{"score":1,"hits":[1,{"a":null}],"misses":null,"reasoning":"so","details":{"n":1.50}}"#;
        let marks = read(text).unwrap();
        assert_eq!(marks.hits, ["1", r#"{"a":null}"#]);
        assert_eq!(marks.reasoning.as_deref(), Some("so"));
        assert_eq!(
            Value::from(marks.details.unwrap()).to_json(JsonStyle::Compact),
            r#"{"n":1.50}"#
        );
        let text = r#"{"assertions":[{"text":"a","passed":true,"evidence":"line 3"}]}"#;
        assert_eq!(read(text).unwrap().reasoning.as_deref(), Some("a: line 3"));
    }

    #[test]
    fn every_fault_is_named() {
        for (text, fault) in [
            (r#"{}"#, "it has neither `score` nor `assertions`"),
            (r#"{"hits":["a"]}"#, "it has neither `score` nor `assertions`"),
            (r#"{"assertions":[]}"#, "it has no `score`, and `assertions` is empty"),
            (r#"{"assertions":null}"#, "it has neither `score` nor `assertions`"),
            (r#"{"assertions":{}}"#, "`assertions` is an object, not a list"),
            (r#"{"assertions":["a"]}"#, "assertion 1 is the text \"a\", not an object"),
            (r#"{"assertions":[{"text":"a"}]}"#, "assertion 1 has no `passed`"),
            (
                r#"{"score":1,"assertions":[{"passed":true},{"passed":"yes"}]}"#,
                "`passed` of assertion 2 is the text \"yes\", not a boolean",
            ),
            (r#"{"score":"0.8"}"#, "`score` is the text \"0.8\", not a number"),
            (r#"{"score":true}"#, "`score` is the boolean true, not a number"),
            (r#"{"score":null}"#, "`score` is null, not a number"),
            (r#"{"score":[1]}"#, "`score` is a list, not a number"),
            (r#"{"score":-0.1}"#, "`score` is -0.1, which is not in 0..1"),
            (r#"{"score":1.01}"#, "`score` is 1.01, which is not in 0..1"),
            (r#"{"score":1e999}"#, "`score` is the text \"1e999\", not a number"),
        ] {
            assert_eq!(read(text).unwrap_err(), fault, "{text}");
        }
    }
}
