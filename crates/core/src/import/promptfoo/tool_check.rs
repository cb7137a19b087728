//! Assertions about tool calls and skills.

use crate::model::{Map, Number, Value};

use super::super::assertion_draft::{limits, negated, negated_if, skill_used, tools};
use super::super::located::Located;
use super::foo_check::{CheckWriter, FooAssertion};
use super::graded::word;

const TYPES: &[&str] = &[
    "trajectory:tool-used",
    "trajectory:tool-sequence",
    "trajectory:tool-args-match",
    "trajectory:step-count",
    "tool-call-f1",
    "skill-used",
];

pub(super) fn is_tool_type(base: &str) -> bool {
    TYPES.contains(&base)
}

pub(super) fn checks(writer: &mut CheckWriter<'_, '_>, assertion: &FooAssertion<'_>) -> Vec<Map> {
    let empty = Located::scalar(Value::Null, assertion.span());
    let value = assertion.data.get("value").unwrap_or(&empty).clone();
    let is_negated = assertion.is_negated;
    if value.has("pattern") {
        return writer.lost(assertion, "a pattern for names has no counterpart");
    }
    match assertion.base {
        "trajectory:tool-used" if value.is_map() => tool_count(writer, assertion, &value),
        "trajectory:tool-used" => {
            let names = value.texts();
            if names.is_empty() {
                return writer.lost(assertion, "it names no tool");
            }
            if is_negated {
                // None of them may be used.
                return names
                    .into_iter()
                    .map(|name| negated(tools("any_order", vec![name])))
                    .collect();
            }
            vec![tools("superset", names)]
        }
        "trajectory:tool-sequence" => {
            let steps = value.get("steps").unwrap_or(&value);
            let steps = steps.items().iter().map(|step| step.get("name").unwrap_or(step).text());
            let Some(steps) =
                steps.collect::<Option<Vec<String>>>().filter(|steps| !steps.is_empty())
            else {
                return writer.lost(assertion, "its steps are not names of tools");
            };
            let mode =
                if word(&value, "mode").as_deref() == Some("exact") { "exact" } else { "in_order" };
            vec![negated_if(is_negated, tools(mode, steps))]
        }
        "trajectory:tool-args-match" => {
            let args = value.first_of(&["args", "arguments"]).filter(|args| args.is_map());
            let (Some(name), Some(args)) = (word(&value, "name"), args) else {
                return writer.lost(assertion, "it names no tool with arguments");
            };
            for key in ["defaults", "ignore"] {
                if let Some(option) = value.get(key) {
                    let message = format!("`{key}` of the arguments is left out");
                    writer.importer.loss("option", option.span, message);
                }
            }
            let is_exact = word(&value, "mode").as_deref() == Some("exact");
            let entry = Map::new().with("tool", name).with("args", args.map());
            let entry = entry.with_some("args_match", is_exact.then_some("exact"));
            vec![negated_if(is_negated, tools("superset", vec![Value::from(entry)]))]
        }
        "trajectory:step-count" => {
            let most = value.get("max").and_then(Located::number);
            let is_tools = word(&value, "type").is_none_or(|kind| kind == "tool");
            let is_plain = is_tools && !value.has("name") && !value.has("min");
            match limits(&[("max_tool_calls", most)]).filter(|_| is_plain) {
                Some(map) => vec![negated_if(is_negated, map)],
                None => writer.lost(assertion, "only a maximum of tool calls has a counterpart"),
            }
        }
        "tool-call-f1" => {
            let names = value.texts();
            let threshold = assertion.threshold().map_or(1.0, |least| least.value());
            if names.is_empty() || is_negated || threshold < 1.0 {
                return writer.lost(assertion, "a part of the tools has no counterpart");
            }
            vec![tools("superset", names.clone()), tools("subset", names)]
        }
        _ => {
            let names = match value.get("name") {
                Some(name) => name.texts(),
                None => value.texts(),
            };
            for key in ["min", "max"] {
                if let Some(option) = value.get(key) {
                    let message = "how often a skill is used is not counted";
                    writer.importer.loss("option", option.span, message);
                }
            }
            if names.is_empty() {
                return writer.lost(assertion, "it names no skill");
            }
            names.iter().map(|name| skill_used(name.trim(), !is_negated)).collect()
        }
    }
}

/// `{name, min, max}`.
fn tool_count(
    writer: &mut CheckWriter<'_, '_>,
    assertion: &FooAssertion<'_>,
    value: &Located,
) -> Vec<Map> {
    let Some(name) = word(value, "name") else {
        return writer.lost(assertion, "it names no tool");
    };
    let count =
        |key: &str| value.get(key).and_then(Located::number).and_then(|count| count.as_u64());
    let least = count("min").unwrap_or(1);
    if value.has("max") && !(count("max") == Some(0) && least <= 1) {
        return writer.lost(assertion, "a maximum for one tool has no counterpart");
    }
    if count("max") == Some(0) {
        return vec![negated_if(!assertion.is_negated, tools("any_order", vec![name]))];
    }
    if least == 0 {
        return writer.lost(assertion, "it always holds");
    }
    let minimums = Map::new().with(name, Number::from(least));
    let map = Map::new().with("type", "tool-trajectory").with("mode", "any_order");
    vec![negated_if(assertion.is_negated, map.with("minimums", minimums))]
}
