//! Criteria for tests whose authors wrote only checks: what the checks ask for, in words.

use crate::model::{JsonStyle, Map, Value};

/// More checks than these are counted.
const TOLD: usize = 3;

/// Longer values are cut.
const LONGEST_VALUE: usize = 80;

/// `None` when there is nothing to tell.
pub(super) fn criteria_of(rubrics: &[Value], assertions: &[&Value]) -> Option<String> {
    let mut parts: Vec<String> = rubrics.iter().filter_map(outcome).collect();
    parts.extend(assertions.iter().filter_map(|one| phrase(one.as_map()?)));
    parts.dedup();
    if parts.is_empty() {
        return None;
    }
    let told = parts.len().min(TOLD);
    let mut text = parts[..told].join("; ");
    match parts.len() - told {
        0 => {}
        1 => text.push_str("; and 1 more check"),
        more => text.push_str(&format!("; and {more} more checks")),
    }
    let mut letters = text.chars();
    let first = letters.next()?;
    Some(first.to_uppercase().chain(letters).collect())
}

fn outcome(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Map(map) => map.get("outcome").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    }
}

fn phrase(assertion: &Map) -> Option<String> {
    let kind = assertion.get("type")?.as_str()?;
    let is_negated = assertion.get("negate") == Some(&Value::Bool(true));
    let value = || quoted(assertion.get("value"));
    let (holds, fails) = match kind {
        "contains" => (format!("contains {}", value()), format!("does not contain {}", value())),
        "icontains" => (
            format!("contains {} in any case", value()),
            format!("does not contain {} in any case", value()),
        ),
        "contains-any" | "icontains-any" => {
            (format!("contains one of {}", value()), format!("contains none of {}", value()))
        }
        "contains-all" | "icontains-all" => {
            (format!("contains all of {}", value()), format!("does not contain all of {}", value()))
        }
        "equals" => (format!("is {}", value()), format!("is not {}", value())),
        "starts-with" => {
            (format!("starts with {}", value()), format!("does not start with {}", value()))
        }
        "ends-with" => (format!("ends with {}", value()), format!("does not end with {}", value())),
        "regex" if assertion.get("name").is_none() => {
            (format!("matches {}", value()), format!("does not match {}", value()))
        }
        "is-json" => ("is JSON".to_owned(), "is not JSON".to_owned()),
        "rubrics" => {
            let items = assertion.get("rubrics")?.as_list()?;
            let told: Vec<String> = items.iter().filter_map(outcome).collect();
            (told.join("; "), format!("not: {}", told.join("; ")))
        }
        "composite" => {
            let members: Vec<&Value> = assertion.get("assert")?.as_list()?.iter().collect();
            let told = criteria_of(&[], &members)?;
            (told.clone(), format!("not: {told}"))
        }
        "latency" | "cost" | "token-usage" | "execution-metrics" => {
            ("stays within its limits".to_owned(), "exceeds its limits".to_owned())
        }
        "tool-trajectory" => {
            ("calls the right tools".to_owned(), "does not call these tools".to_owned())
        }
        "trigger-judge" => {
            let skill = quoted(assertion.get("skill"));
            let (uses, avoids) =
                (format!("uses the skill {skill}"), format!("does not use the skill {skill}"));
            if assertion.get("should_trigger") == Some(&Value::Bool(false)) {
                (avoids, uses)
            } else {
                (uses, avoids)
            }
        }
        _ => {
            let name = assertion.get("name").and_then(Value::as_str).unwrap_or(kind);
            (format!("passes the check `{name}`"), format!("does not pass the check `{name}`"))
        }
    };
    Some(if is_negated { fails } else { holds })
}

fn quoted(value: Option<&Value>) -> String {
    let one = |value: &Value| match value {
        Value::String(text) => format!("`{}`", cut(text)),
        other => format!("`{}`", cut(&other.to_json(JsonStyle::Compact))),
    };
    match value {
        Some(Value::List(items)) => items.iter().map(one).collect::<Vec<_>>().join(", "),
        Some(value) => one(value),
        None => "the value".to_owned(),
    }
}

fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_VALUE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::super::located::testing::located;
    use super::*;

    fn told(yaml: &str) -> Option<String> {
        let list = located(yaml);
        let values: Vec<Value> = list.items().iter().map(|item| item.value()).collect();
        criteria_of(&[], &values.iter().collect::<Vec<_>>())
    }

    #[test]
    fn checks_are_told_in_words() {
        let yaml = "- {type: contains, value: Paris}\n- {type: regex, value: ^a, negate: true}\n";
        assert_eq!(told(yaml).as_deref(), Some("Contains `Paris`; does not match `^a`"));
        let yaml = "- {type: rubrics, rubrics: [Is polite]}\n- {type: is-json}\n";
        assert_eq!(told(yaml).as_deref(), Some("Is polite; is JSON"));
        assert_eq!(told("[]"), None);
    }

    #[test]
    fn many_checks_are_counted() {
        let yaml = "[{type: contains, value: a}, {type: contains, value: b}, {type: contains, value: c}, \
                    {type: contains, value: d}, {type: is-json}]";
        let text = "Contains `a`; contains `b`; contains `c`; and 2 more checks";
        assert_eq!(told(yaml).as_deref(), Some(text));
    }
}
