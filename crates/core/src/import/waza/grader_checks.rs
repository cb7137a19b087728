//! Graders of waza that look at the text, at calls of tools, or run code.

use crate::model::Map;

use super::super::assertion_draft::{limits, negated, text_check, tools};
use super::super::importer::Importer;
use super::super::located::Located;
use super::super::script::{ScriptLanguage, script_check};
use super::super::suite_draft::SuiteDraft;

/// The texts of a list that are not empty.
pub(super) fn filled_texts(value: &Located) -> Vec<String> {
    value.texts().into_iter().filter(|text| !text.is_empty()).collect()
}

pub(super) fn text_checks(importer: &mut Importer<'_>, config: &Located) -> Vec<Map> {
    let texts = |keys: &[&str]| config.first_of(keys).map(filled_texts).unwrap_or_default();
    let mut checks = Vec::new();
    for (keys, kind, is_negated) in [
        (["contains", "must_contain"], "icontains-all", false),
        (["not_contains", "must_not_contain"], "icontains-any", true),
        (["contains_cs", ""], "contains-all", false),
        (["not_contains_cs", ""], "contains-any", true),
    ] {
        let list = texts(&keys);
        if !list.is_empty() {
            let check = text_check(kind, list);
            checks.push(if is_negated { negated(check) } else { check });
        }
    }
    for (keys, is_negated) in
        [(["regex_match", "must_match"], false), (["regex_not_match", "must_not_match"], true)]
    {
        for pattern in texts(&keys) {
            if crate::assertion::pattern_fault(&pattern).is_some() {
                importer.loss(
                    "grader",
                    config.span,
                    format!("the pattern `{pattern}` is left out"),
                );
                continue;
            }
            let check = text_check("regex", pattern);
            checks.push(if is_negated { negated(check) } else { check });
        }
    }
    checks
}

/// Expressions about `output`, `tool_calls` and `duration_ms`.
pub(super) fn code_check(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    config: &Located,
) -> Vec<Map> {
    let expressions = config.get("assertions").map(Located::items).unwrap_or_default();
    let mut kept: Vec<String> = Vec::new();
    for expression in expressions {
        let code = expression.text().unwrap_or_default();
        let unknown =
            ["outcome", "transcript", "errors"].into_iter().find(|name| mentions(&code, name));
        match unknown {
            Some(name) => {
                let message = format!("an assertion on `{name}` is left out: `{code}`");
                importer.loss("grader", expression.span, message);
            }
            None => kept.push(code),
        }
    }
    if kept.is_empty() {
        return Vec::new();
    }
    let language = match config.get("language").and_then(Located::as_str) {
        Some("javascript") => ScriptLanguage::JavaScript,
        _ => ScriptLanguage::Python,
    };
    let config = Map::new().with("type", "expressions").with("value", kept);
    vec![script_check(draft, language, None, config)]
}

/// As a whole word.
fn mentions(code: &str, name: &str) -> bool {
    let is_word = |letter: Option<char>| letter.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(name).any(|(at, _)| {
        !is_word(code[..at].chars().next_back()) && !is_word(code[at + name.len()..].chars().next())
    })
}

pub(super) fn behavior_checks(config: &Located) -> Vec<Map> {
    let number = |key: &str| config.get(key).and_then(Located::number);
    let texts = |key: &str| config.get(key).map(filled_texts).unwrap_or_default();
    let mut checks: Vec<Map> = limits(&[
        ("max_tool_calls", number("max_tool_calls")),
        ("max_llm_calls", number("max_iterations")),
        ("max_tokens", number("max_tokens")),
        ("max_duration_ms", number("max_duration_ms")),
    ])
    .into_iter()
    .collect();
    let required = texts("required_tools");
    if !required.is_empty() {
        checks.push(tools("superset", required));
    }
    let forbidden = texts("forbidden_tools").into_iter();
    checks.extend(forbidden.map(|tool| negated(tools("any_order", vec![tool]))));
    checks
}

pub(super) fn constraint_checks(importer: &mut Importer<'_>, config: &Located) -> Vec<Map> {
    let mut names = |key: &str| {
        let mut names = Vec::new();
        for item in config.get(key).map(Located::items).unwrap_or_default() {
            names.extend(item.first_of(&["tool", "name"]).unwrap_or(item).text());
            for entry in
                item.entries().iter().filter(|entry| !matches!(&*entry.key, "tool" | "name"))
            {
                importer.loss(
                    "grader",
                    entry.key_span,
                    format!("`{}` of a tool is left out", entry.key),
                );
            }
        }
        names
    };
    let (expected, rejected) = (names("expect_tools"), names("reject_tools"));
    let mut checks = Vec::new();
    if !expected.is_empty() {
        checks.push(tools("superset", expected));
    }
    checks.extend(rejected.into_iter().map(|tool| negated(tools("any_order", vec![tool]))));
    checks
}
