//! Eval specs of Vally: stimuli with graders.

mod workspace_checks;

use crate::model::{Map, Number, Value};

use super::assertion_draft::{
    all_of, any_answer, has_no_weight, js_regex, limits, negated, negated_if, rubric, skill_used,
    some_answer, text_check, tools, unique_names,
};
use super::file_checks::needs_workspace;
use super::foreign_file::ForeignFile;
use super::format::ImportFormat;
use super::importer::Importer;
use super::located::Located;
use super::row::sendable;
use super::suite_draft::{SuiteDraft, TestDraft};

use workspace_checks::{file_check, run_command};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "vally",
    title: "a Vally eval spec",
    doc: "Eval specs of Vally: a YAML file with `stimuli`.

| Vally | EVAL.yaml |
|---|---|
| a stimulus: `name`, `prompt`, `tags` | a test: `id`, `input`, `tags` as `key=value` |
| `config` or `defaults`: `runs`, `timeout` | `trials`, `execution.timeout_seconds` |
| `scoring.threshold`; without it every grader must pass | `verdicts`; without it `pass: 1` |
| `scoring.weights` | `weight` |
| `output-contains`, `output-matches`, also with `not` | `icontains` or `contains`, `regex`, with `negate` |
| `skill-invocation` | `trigger-judge` with `any-call` |
| `tool-calls` with plain names | `tool-trajectory` |
| `tool-call-count`, `token-budget`, `wall-time`, `turn-count`, `constraints` | `execution-metrics` |
| `completed`, `exit-success` | a `regex` for an answer that is not blank |
| `prompt`, `panel`, `rubric` | `rubrics` |
| `file-exists`, `file-contains`, `file-matches`, also with `not` | `files`; `contains` and `regex` with `file` |
| `run-command` | `command` |
| `program`, which reads a file that only Vally writes; `pairwise`, `error-count`, `environment` | left out |

A stimulus that loses all of its graders is written with `skip`.
",
    detect: |file| {
        let stimuli = file.root.get("stimuli")?;
        stimuli.is_list().then(|| vec!["stimuli"])
    },
    read,
};

fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let root = &file.root;
    let Some(stimuli) = root.get("stimuli").filter(|list| list.is_list()) else {
        return importer.refuse(
            root.span.at_start(),
            "a Vally eval spec has a list `stimuli`",
            "name the file that has one",
        );
    };
    let name = root.get("name").and_then(Located::text);
    let mut draft = SuiteDraft::named(name.unwrap_or_else(|| file.suggested_name()));
    draft.description = root.get("description").and_then(Located::text);
    let config = root.first_of(&["config", "defaults"]);
    let setting = |key: &str| config.and_then(|config| config.get(key));
    draft.trials = setting("runs").and_then(Located::number).and_then(|runs| runs.as_u64());
    draft.trials = draft.trials.filter(|runs| (1..=100).contains(runs));
    draft.timeout_seconds =
        setting("timeout").and_then(milliseconds).map(|time| time.div_ceil(1000).clamp(1, 3600));
    let threshold = root.at_path("scoring.threshold").and_then(Located::number);
    let threshold = threshold.filter(|score| score.value() > 0.0 && score.value() <= 1.0);
    draft.pass = Some(threshold.unwrap_or_else(|| Number::from(1)));
    for key in ["model", "judge_model", "executor"] {
        if let Some(value) = setting(key) {
            let message =
                format!("`{key}` is left out: targets and judges are in the targets file");
            importer.loss("target", value.span, message);
        }
    }
    if let Some(environment) = root.get("environment") {
        importer.loss("workspace", environment.span, "the environment is left out");
    }
    let weights = root.at_path("scoring.weights");
    let shared = root.get("graders");
    for stimulus in stimuli.items() {
        let test = read_stimulus(importer, &mut draft, stimulus, shared, weights)?;
        draft.tests.push(test);
    }
    Some(draft)
}

fn read_stimulus(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    stimulus: &Located,
    shared: Option<&Located>,
    weights: Option<&Located>,
) -> Option<TestDraft> {
    let name = stimulus.get("name").and_then(Located::text);
    let position = draft.tests.len() + 1;
    let id = draft.given_id(name.as_deref(), position);
    let Some(prompt) = stimulus.get("prompt").and_then(Located::text) else {
        return importer.refuse(
            stimulus.span.at_start(),
            format!("the stimulus `{id}` has no `prompt`"),
            "write what the agent is asked",
        );
    };
    importer.enter_test(&id);
    let mut test = TestDraft::new(id, sendable(prompt.trim_end().into()));
    test.tags = tag_pairs(stimulus.get("tags"));
    let graders = stimulus.get("graders").into_iter().chain(shared).flat_map(Located::items);
    let graders: Vec<&Located> = graders.collect();
    let mut checks: Vec<Map> = Vec::new();
    for grader in &graders {
        let kind = grader.get("type").and_then(Located::text).unwrap_or_default();
        let name = grader.get("name").and_then(Located::text);
        let weight = weights.and_then(|weights| {
            name.as_deref().and_then(|name| weights.get(name)).or_else(|| weights.get(&kind))
        });
        let made = all_of(checks_of(importer, grader, &kind));
        let weight = weight.or_else(|| grader.get("weight")).and_then(Located::number);
        checks.extend(made.into_iter().map(|check| {
            let check = check.with_some("weight", weight.clone());
            check.with_some("name", name.clone())
        }));
    }
    // Limits must hold, and have no share in the score.
    let limits = constraint_checks(importer, stimulus).into_iter();
    checks.extend(limits.map(|check| check.with("weight", 0_u64).with("required", 1_u64)));
    test.rubrics = stimulus.get("rubric").map(super::row::rubric_items).unwrap_or_default();
    if let Some(environment) = stimulus.get("environment") {
        importer.loss("workspace", environment.span, "the environment is left out");
    }
    if checks.is_empty() && test.rubrics.is_empty() {
        test.skip = Some("none of its graders could be converted".to_owned());
        test.criteria = Some("Not written yet: its graders could not be converted".to_owned());
    }
    if !checks.is_empty() && test.rubrics.is_empty() && checks.iter().all(has_no_weight) {
        checks.push(any_answer());
    }
    unique_names(&mut checks);
    test.workspace = checks.iter().any(needs_workspace).then(Map::new);
    test.assertions = checks.into_iter().map(Value::from).collect();
    importer.leave_test();
    Some(test)
}

/// Tags are a mapping of names to words, or a list.
pub(super) fn tag_pairs(tags: Option<&Located>) -> Vec<String> {
    let Some(tags) = tags else { return Vec::new() };
    if tags.is_map() {
        let pair = |key: &str, value: &Located| format!("{key}={}", value.texts().join(","));
        return tags.entries().iter().map(|entry| pair(&entry.key, &entry.value)).collect();
    }
    super::row::tags(tags)
}

fn checks_of(importer: &mut Importer<'_>, grader: &Located, kind: &str) -> Vec<Map> {
    let empty = Located::at(&Value::Map(Map::new()), grader.span);
    let config = grader.get("config").unwrap_or(&empty);
    let text = |key: &str| config.get(key).and_then(Located::text);
    let most = || config.get("max").and_then(Located::number);
    let is_negated =
        kind.contains("-not-") != (config.get("negate").and_then(Located::as_bool) == Some(true));
    let one = |check: Option<Map>| check.into_iter().collect::<Vec<Map>>();
    match kind {
        "output-contains" | "output-not-contains" => {
            let is_exact = config.get("case_sensitive").and_then(Located::as_bool) == Some(true);
            let name = if is_exact { "contains" } else { "icontains" };
            let substring = text("substring").filter(|text| !text.is_empty());
            one(substring.map(|text| negated_if(is_negated, text_check(name, text))))
        }
        "output-matches" | "output-not-matches" => {
            let pattern = text("pattern").unwrap_or_default();
            let made = flagged_regex(&pattern);
            if made.is_none() {
                importer.loss(
                    "grader",
                    grader.span,
                    format!("the pattern `{pattern}` is left out"),
                );
            }
            one(made.map(|check| negated_if(is_negated, check)))
        }
        "file-exists" | "file-not-exists" | "file-contains" | "file-not-contains"
        | "file-matches" | "file-not-matches" => {
            one(file_check(importer, config, kind, is_negated))
        }
        "run-command" => one(run_command(importer, config)),
        "completed" | "exit-success" => vec![some_answer()],
        "skill-invocation" => {
            let names = |key: &str| config.get(key).map(Located::texts).unwrap_or_default();
            let used = names("required").into_iter().map(|skill| skill_used(&skill, true));
            used.chain(names("disallowed").into_iter().map(|skill| skill_used(&skill, false)))
                .collect()
        }
        "tool-calls" => tool_calls(importer, config),
        "tool-call-count" => one(limits(&[("max_tool_calls", most())])),
        "token-budget" => one(limits(&[("max_tokens", most())])),
        "turn-count" => one(limits(&[("max_llm_calls", most())])),
        "wall-time" => {
            let time = config.get("max").and_then(milliseconds).map(Number::from);
            one(limits(&[("max_duration_ms", time)]))
        }
        "prompt" | "panel" => {
            if kind == "panel" {
                importer.loss("panel", grader.span, "one judge decides instead of a panel");
            }
            let prompt = text("prompt").or_else(|| text("rubric"));
            let prompt = prompt.filter(|prompt| !prompt.trim().is_empty());
            if let Some(threshold) = config.get("threshold") {
                let message =
                    "the judge answers yes or no, so the threshold of its score is left out";
                importer.loss("threshold", threshold.span, message);
            }
            one(prompt.map(|prompt| rubric(prompt.trim())))
        }
        _ => {
            importer.loss("grader", grader.span, format!("the grader `{kind}` is left out"));
            Vec::new()
        }
    }
}

/// A pattern that may begin with `(?i)` and other flags.
fn flagged_regex(pattern: &str) -> Option<Map> {
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split_once(')'));
    let flags =
        flags.filter(|(flags, _)| !flags.is_empty() && flags.bytes().all(|b| b"ims".contains(&b)));
    match flags {
        Some((flags, rest)) => js_regex(rest).map(|check| check.with("flags", flags)),
        None => js_regex(pattern),
    }
}

/// Names in these lists are patterns; only plain ones have a counterpart.
fn tool_calls(importer: &mut Importer<'_>, config: &Located) -> Vec<Map> {
    let mut checks = Vec::new();
    let mut names = |key: &str| {
        let mut names: Vec<(String, u64)> = Vec::new();
        for item in config.get(key).map(Located::items).unwrap_or_default() {
            let written = item.get("name").unwrap_or(item).text().unwrap_or_default();
            let name = written.trim_start_matches('^').trim_end_matches('$').to_owned();
            let is_plain = !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b));
            if !is_plain {
                importer.loss(
                    "grader",
                    item.span,
                    format!("the tool pattern `{written}` is left out"),
                );
                continue;
            }
            for entry in
                item.entries().iter().filter(|entry| !matches!(&*entry.key, "name" | "min_count"))
            {
                let message = format!("`{}` of the tool `{name}` is left out", entry.key);
                importer.loss("grader", entry.key_span, message);
            }
            let least = item.get("min_count").and_then(Located::number);
            names.push((name, least.and_then(|least| least.as_u64()).unwrap_or(1)));
        }
        names
    };
    let (required, disallowed, sequence) =
        (names("required"), names("disallowed"), names("sequence"));
    let (once, often): (Vec<_>, Vec<_>) = required.into_iter().partition(|(_, least)| *least <= 1);
    if !once.is_empty() {
        let list: Vec<String> = once.into_iter().map(|(name, _)| name).collect();
        checks.push(tools("superset", list));
    }
    for (name, least) in often {
        let map = Map::new().with("type", "tool-trajectory").with("mode", "any_order");
        checks.push(map.with("minimums", Map::new().with(name, least)));
    }
    for (name, _) in disallowed {
        checks.push(negated(tools("any_order", vec![name])));
    }
    if !sequence.is_empty() {
        let list: Vec<String> = sequence.into_iter().map(|(name, _)| name).collect();
        checks.push(tools("in_order", list));
    }
    checks
}

fn constraint_checks(importer: &mut Importer<'_>, stimulus: &Located) -> Vec<Map> {
    let Some(constraints) = stimulus.get("constraints") else { return Vec::new() };
    let number = |key: &str| constraints.get(key).and_then(Located::number);
    let time = constraints.get("max_duration").and_then(milliseconds).map(Number::from);
    let mut checks: Vec<Map> = limits(&[
        ("max_tool_calls", number("max_tool_calls")),
        ("max_llm_calls", number("max_turns")),
        ("max_tokens", number("max_tokens")),
        ("max_duration_ms", time),
    ])
    .into_iter()
    .collect();
    for (key, wanted) in [("expect_skills", true), ("reject_skills", false)] {
        let skills = constraints.get(key).map(Located::texts).unwrap_or_default();
        checks.extend(skills.iter().map(|skill| skill_used(skill, wanted)));
    }
    for entry in constraints.entries() {
        let is_known = matches!(
            entry.key.as_str(),
            "max_tool_calls"
                | "max_turns"
                | "max_tokens"
                | "max_duration"
                | "expect_skills"
                | "reject_skills"
        );
        if !is_known {
            importer.loss(
                "grader",
                entry.key_span,
                format!("the limit `{}` is left out", entry.key),
            );
        }
    }
    checks
}

/// `5m`, `300s`, `1500ms`, or a number of seconds.
fn milliseconds(value: &Located) -> Option<u64> {
    if let Some(seconds) = value.number() {
        return Some((seconds.value() * 1000.0).max(0.0) as u64);
    }
    let text = value.as_str()?.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let amount: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    Some((amount * unit) as u64)
}
