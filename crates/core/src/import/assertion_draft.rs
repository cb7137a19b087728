//! Assertions as they are written in a suite, for the readers of foreign formats.

use std::collections::HashSet;

use crate::assertion::pattern_fault;
use crate::model::{Map, Number, Value};

/// An assertion of a type with a text or a list of texts.
pub(super) fn text_check(kind: &str, value: impl Into<Value>) -> Map {
    Map::new().with("type", kind).with("value", value)
}

/// A question to a judge.
pub(super) fn rubric(outcome: impl Into<String>) -> Map {
    Map::new().with("type", "rubrics").with("rubrics", vec![Value::from(outcome.into())])
}

/// Holds for every answer: for tests that other tools pass without looking.
pub(super) fn any_answer() -> Map {
    text_check("regex", r"[\s\S]*").with("name", "any-answer")
}

/// Holds for every answer that is not blank.
pub(super) fn some_answer() -> Map {
    text_check("regex", r"\S").with("name", "some-answer")
}

pub(super) fn negated(mut assertion: Map) -> Map {
    if assertion.remove("negate").is_none() {
        assertion.insert("negate", true);
    }
    assertion
}

pub(super) fn negated_if(is_negated: bool, assertion: Map) -> Map {
    if is_negated { negated(assertion) } else { assertion }
}

/// Calls of tools; entries are names or mappings.
pub(super) fn tools(mode: &str, expected: impl Into<Value>) -> Map {
    Map::new().with("type", "tool-trajectory").with("mode", mode).with("expected", expected)
}

pub(super) fn skill_used(skill: &str, should_trigger: bool) -> Map {
    let map = Map::new().with("type", "trigger-judge").with("skill", skill);
    let map = if should_trigger { map } else { map.with("should_trigger", false) };
    map.with("detection", "any-call")
}

pub(super) fn limits(pairs: &[(&str, Option<Number>)]) -> Option<Map> {
    let mut map = Map::new().with("type", "execution-metrics");
    for (name, most) in pairs {
        map.insert_some(*name, most.clone());
    }
    (map.len() > 1).then_some(map)
}

/// A pattern that matches exactly this text.
pub(super) fn literal_pattern(text: &str) -> String {
    regex_syntax::escape(text)
}

/// A check for the whole text or its beginning, exactly: the types of the suite ignore white space at
/// the ends and refuse a blank text.
pub(super) fn exact_text(kind: &'static str, text: &str) -> Map {
    if text.trim() == text && !text.is_empty() {
        return text_check(kind, text);
    }
    let end = if kind == "equals" { r"\z" } else { "" };
    text_check("regex", format!(r"\A{}{end}", literal_pattern(text)))
}

/// A pattern of a tool whose regular expressions are those of JavaScript; `None` if a suite cannot
/// express it.
pub(super) fn js_regex(pattern: &str) -> Option<Map> {
    let translated = super::js_pattern::translated(pattern);
    let fits = !translated.is_empty() && pattern_fault(&translated).is_none();
    fits.then(|| text_check("regex", translated))
}

/// Whether it has no share in the score.
pub(super) fn has_no_weight(assertion: &Map) -> bool {
    match assertion.get("weight") {
        Some(Value::Number(weight)) => weight.value() <= 0.0,
        _ => false,
    }
}

/// Names for the members of a composite, which need some (spec 7.16).
pub(super) fn name_members(members: &mut [Map]) {
    for member in members.iter_mut() {
        if member.get("name").is_none() {
            let kind = member.get("type").and_then(Value::as_str).unwrap_or("check").to_owned();
            member.insert("name", kind);
        }
    }
    unique_names(members);
}

/// Several checks that count as one: it holds if all of them do.
pub(super) fn all_of(mut checks: Vec<Map>) -> Option<Map> {
    if checks.len() <= 1 {
        return checks.pop();
    }
    name_members(&mut checks);
    let members: Vec<Value> = checks.into_iter().map(Value::from).collect();
    let map = Map::new().with("type", "composite").with("aggregator", "minimum");
    Some(map.with("assert", members))
}

/// Gives every named assertion of a list a name of its own.
pub(super) fn unique_names(assertions: &mut [Map]) {
    let mut taken: HashSet<String> = HashSet::new();
    for assertion in assertions {
        let Some(name) = assertion.get("name").and_then(Value::as_str).map(str::to_owned) else {
            continue;
        };
        let mut unique = name.clone();
        let mut next = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}-{next}");
            next += 1;
        }
        assertion.insert("name", unique);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_at_the_ends_needs_a_pattern() {
        assert_eq!(exact_text("equals", "a b"), text_check("equals", "a b"));
        assert_eq!(exact_text("equals", ""), text_check("regex", r"\A\z"));
        assert_eq!(exact_text("starts-with", "a. "), text_check("regex", r"\Aa\. "));
    }

    #[test]
    fn names_are_numbered() {
        let named = |name: &str| Map::new().with("name", name);
        let mut list = [named("a"), Map::new(), named("a"), named("a-2"), named("a")];
        unique_names(&mut list);
        let names: Vec<Option<&str>> =
            list.iter().map(|map| map.get("name").and_then(Value::as_str)).collect();
        assert_eq!(names, [Some("a"), None, Some("a-2"), Some("a-2-2"), Some("a-3")]);
    }
}
