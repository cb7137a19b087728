//! `convert` of files of other tools: every section of the pages in `tests/foreign` is converted. The
//! suite has the tests and the losses that the page says, validates without a word, and runs on a mock.

#[path = "foreign/fixture.rs"]
mod fixture;
mod support;

use fixture::{Fixture, fixtures};
use serde_json::Value;
use support::Project;

/// Answers that let every kind of grading end with a score. `written` is the targets file that belongs to
/// the suite: its names are those of mocks here.
fn mocks(written: &str) -> String {
    let ids = (1..=20).map(|n| format!("rubric-{n}")).chain(["criteria".to_owned()]);
    let checks: Vec<String> =
        ids.map(|id| format!(r#"{{"id": "{id}", "satisfied": true}}"#)).collect();
    let names = written.lines().filter_map(|line| line.strip_prefix("  - name: "));
    let names = names.filter(|name| *name != "default");
    let aliases: Vec<String> =
        names.map(|name| format!("  - {{name: {name}, use_target: mock}}\n")).collect();
    format!(
        "judge_target: judge\ntargets:\n  - {{name: default, use_target: mock}}\n  - name: mock\n    \
         provider: mock\n    responses:\n      - {{response: hello, tokens: {{input: 1, output: 1}}, \
         cost_usd: 0.0001, duration_ms: 5}}\n  - name: judge\n    provider: mock\n    response: \
         '{{\"score\": 1, \"checks\": [{}]}}'\n{}",
        checks.join(", "),
        aliases.concat()
    )
}

/// What is wrong with a conversion.
fn faults(fixture: &Fixture) -> Vec<String> {
    let project = Project::empty();
    for (name, text) in &fixture.files {
        project.write(name, text);
    }
    let main = fixture.files[0].0.as_str();
    let mut arguments = vec!["convert", main, "-o", "EVAL.yaml", "--loss-report", "losses.json"];
    arguments.extend(fixture.options.iter().map(String::as_str));
    let converted = project.evalrig(&arguments);
    if converted.code != Some(0) {
        return vec![format!("`convert` failed:\n{}{}", converted.out, converted.err)];
    }
    let mut faults = Vec::new();
    let noun = if fixture.tests == 1 { "test" } else { "tests" };
    if !converted.out.contains(&format!(", {} {noun})", fixture.tests)) {
        faults.push(format!("expected {} tests: {}", fixture.tests, converted.out));
    }
    let losses = losses(&project, main);
    if losses != fixture.losses {
        let (expected, found) = (fixture.losses.join("\n"), losses.join("\n"));
        faults
            .push(format!("expected the losses:\n{expected}\nfound:\n{found}\n{}", converted.err));
    }
    let validated = project.evalrig(&["validate", "EVAL.yaml", "--strict"]);
    if validated.code != Some(0) || !validated.err.is_empty() {
        let suite = project.read("EVAL.yaml");
        faults.push(format!("`validate`:\n{}{}\n{suite}", validated.out, validated.err));
    }
    // Mocks run in no container.
    project.write("EVAL.yaml", &without_images(&project.read("EVAL.yaml")));
    let written =
        project.has(".evalrig/targets.yaml").then(|| project.read(".evalrig/targets.yaml"));
    project.write("mocks.yaml", &mocks(&written.unwrap_or_default()));
    let run = [
        "EVAL.yaml",
        "--targets",
        "mocks.yaml",
        "-t",
        "mock",
        "--no-record",
        "-o",
        "r.jsonl",
        "-q",
    ];
    let ran = project.run(&run);
    // 1 is a test that did not pass.
    if !matches!(ran.code, Some(0 | 1)) {
        faults.push(format!("`run` ends with {:?}:\n{}{}", ran.code, ran.out, ran.err));
    }
    faults
}

/// A suite without the images of its workspaces. Another key takes the place of `docker`, because a
/// workspace must not be empty.
fn without_images(suite: &str) -> String {
    let mut image: Option<usize> = None;
    let mut kept = String::new();
    for line in suite.lines() {
        let depth = line.len() - line.trim_start().len();
        if image.is_some_and(|above| depth > above) {
            continue;
        }
        image = (line.trim() == "docker:").then_some(depth);
        kept += &if image.is_some() {
            format!("{}env: {{}}\n", " ".repeat(depth))
        } else {
            format!("{line}\n")
        };
    }
    kept
}

fn losses(project: &Project, main: &str) -> Vec<String> {
    let losses: Value = serde_json::from_str(&project.read("losses.json")).expect("JSON");
    let shown = |loss: &Value| {
        let file = loss["source"]["file"].as_str().unwrap_or_default();
        let (line, kind) = (&loss["source"]["line"], loss["kind"].as_str().unwrap_or_default());
        if file == main { format!("{line} {kind}") } else { format!("{file}:{line} {kind}") }
    };
    losses.as_array().expect("a list").iter().map(shown).collect()
}

#[track_caller]
fn check(page: &str, least: usize) {
    let fixtures = fixtures(page);
    assert!(fixtures.len() >= least, "{page} has {} sections", fixtures.len());
    let mut report = String::new();
    for fixture in &fixtures {
        for fault in faults(fixture) {
            report += &format!("\n# {}\n{fault}\n", fixture.title);
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn configurations_of_promptfoo_become_suites() {
    check("promptfoo.md", 60);
}

#[test]
fn files_of_other_tools_become_suites() {
    check("others.md", 30);
}

#[test]
fn a_file_of_tests_that_names_itself_is_refused() {
    let project = Project::empty();
    project.write("promptfooconfig.yaml", "prompts: [p]\nproviders: [echo]\ntests: [a.yaml]\n");
    project.write("a.yaml", "- b.yaml\n");
    project.write("b.yaml", "- file://a.yaml\n");
    let ran = project.evalrig(&["convert", "promptfooconfig.yaml", "--stdout"]);
    ran.exits(2).says("`a.yaml` leads to itself, or to too many files");
}

#[test]
fn a_key_of_a_map_that_no_record_has_is_refused() {
    let project = Project::empty();
    project.write("cases.csv", "question,answer,meta\nWhat?,That,x\n");
    let convert = |map: &str| {
        project.evalrig(&["convert", "cases.csv", "--from", "list", "--map", map, "--stdout"])
    };
    let misspelt = convert("input=question,icontains=anwser");
    misspelt
        .exits(2)
        .says("no record has the key `anwser` of `--map`")
        .says("did you mean `answer`?");
    convert("input=question+contxt").exits(2).says("the keys are question, answer, meta");
    convert("input=question,icontains=answer").exits(0).prints("type: icontains");
    // What a preset names may be missing.
    project.write("mmlu.csv", "question,choices,answer\nWhat?,\"[a, b]\",a\n");
    let ran = project.evalrig(&["convert", "mmlu.csv", "--map", "mmlu", "--stdout"]);
    ran.exits(0).prints("expected_output: a");
}

#[test]
fn a_map_makes_a_list_of_a_file_that_no_other_format_fits() {
    let project = Project::empty();
    project.write("cases.csv", "frage,antwort\nWas?,Das\n");
    let ran = project.evalrig(&["convert", "cases.csv", "--map", "input=frage", "--stdout"]);
    ran.exits(0).prints("input: Was?");
}

#[test]
fn a_map_for_a_configuration_is_refused() {
    let project = Project::empty();
    project.write(
        "promptfooconfig.yaml",
        "prompts: [p]\nproviders: [echo]\ntests: [{vars: {a: b}}]\n",
    );
    let ran = project.evalrig(&["convert", "promptfooconfig.yaml", "--map", "input=a", "--stdout"]);
    ran.exits(2).says("`--map` is for lists of records");
}

#[test]
fn several_providers_are_named_with_the_command_that_asks_all() {
    let project = Project::empty();
    let config = "prompts: [p]\nproviders: [echo, 'openai:gpt-4o']\ntests: [{assert: [{type: contains, value: p}]}]\n";
    project.write("promptfooconfig.yaml", config);
    let ran = project.evalrig(&["convert", "promptfooconfig.yaml", "-o", "EVAL.yaml"]);
    ran.exits(0).says("the file has 2 providers, and a run asks `echo`; add `-t echo -t ");
    project.write("one.yaml", &config.replace(", 'openai:gpt-4o'", ""));
    let ran = project.evalrig(&["convert", "one.yaml", "-o", "one/EVAL.yaml"]);
    assert!(!ran.err.contains("a run asks"), "{}", ran.err);
}

#[test]
fn services_of_a_configuration_become_targets_that_call_them() {
    let project = Project::empty();
    let config = "prompts: [p]\nproviders:\n  \
                  - {id: https, label: shop, config: {url: 'https://example.org', headers: {a: 'Bearer {{env.TOKEN}}'}, \
                  body: {q: '{{prompt}}'}, transformResponse: 'json.result[0].text'}}\n  \
                  - {id: 'azure:chat:gpt-4o', config: {apiHost: shop.openai.azure.com}}\n\
                  tests: [{assert: [{type: contains, value: p}]}]\n";
    project.write("promptfooconfig.yaml", config);
    project.evalrig(&["convert", "promptfooconfig.yaml", "-o", "EVAL.yaml"]).exits(0);
    let targets = project.read(".evalrig/targets.yaml");
    for line in [
        "provider: http",
        "url: https://example.org",
        "a: Bearer ${{ TOKEN }}",
        "q: '{{ prompt }}'",
        "answer: $.result[0].text",
        "provider: azure",
        "endpoint: https://shop.openai.azure.com",
        "deployment: gpt-4o",
    ] {
        assert!(targets.contains(line), "{line}: {targets}");
    }
}

/// JSON that the reader of evals.json would take as well.
const EVALS_SHAPED: [(&str, &str); 5] = [
    (
        r#"{"cases": [{"input": "Was?", "expected": "Das"}]}"#,
        "input=input,expected_output=expected",
    ),
    (r#"[{"prompt": "Was?", "answer": "Das"}]"#, "input=prompt,expected_output=answer"),
    (r#"[{"query": "Was?", "golden": "Das"}]"#, "input=query,expected_output=golden"),
    (
        r#"{"tests": [{"input": "Was?", "solution": "Das"}]}"#,
        "input=input,expected_output=solution",
    ),
    (r#"{"evals": [{"prompt": "Was?", "answer": "Das"}]}"#, "input=prompt,expected_output=answer"),
];

#[test]
fn a_map_wins_over_the_shape_of_an_evals_json() {
    for (text, map) in EVALS_SHAPED {
        let project = Project::empty();
        project.write("list.json", text);
        let convert = |map: &str| {
            project.evalrig(&["convert", "list.json", "--map", map, "-o", "EVAL.yaml", "--force"])
        };
        convert(map).exits(0);
        let suite = project.read("EVAL.yaml");
        assert!(suite.contains("input: Was?\n    expected_output: Das\n"), "{text}: {suite}");
        convert("input=nonsense").exits(2).says("no record has the key `nonsense` of `--map`");
    }
}

#[test]
fn a_map_is_proposed_where_an_evals_json_would_drop_the_answer() {
    for (text, map) in EVALS_SHAPED {
        let project = Project::empty();
        project.write("list.json", text);
        let ran = project.evalrig(&["convert", "list.json", "-o", "EVAL.yaml"]);
        let command = format!("evalrig convert list.json --from list --map {map} -o EVAL.yaml");
        ran.exits(2).says(&command);
        assert!(!project.has("EVAL.yaml"), "{text}");
        project
            .evalrig(&["convert", "list.json", "--from", "evals-json", "-o", "EVAL.yaml"])
            .exits(0);
    }
    // What is graded stays what it is.
    let project = Project::empty();
    let text = r#"[{"prompt": "Hi", "answer": "x", "expected_output": "Hello"}]"#;
    project.write("list.json", text);
    project.evalrig(&["convert", "list.json", "-o", "EVAL.yaml"]).exits(0);
}

#[test]
fn a_map_that_an_evals_json_cannot_follow_is_refused() {
    let project = Project::empty();
    project.write("list.json", r#"{"should_trigger": ["Hi"]}"#);
    let map = ["--map", "input=prompt", "--stdout"];
    let ran = project.evalrig(&[&["convert", "list.json"], &map[..]].concat());
    ran.exits(2).says("`--map` is for lists of records, and `list.json` is read as evals.json");
}

#[test]
fn the_last_answer_of_a_conversation_is_expected_and_not_sent() {
    let project = Project::empty();
    let turn = |role: &str, text: &str| format!(r#"{{"role": "{role}", "content": "{text}"}}"#);
    let (ask, answer) = (turn("user", "What is a loom?"), turn("assistant", "A machine"));
    let lines = [
        format!(r#"{{"messages": [{ask}, {answer}]}}"#),
        format!(r#"{{"messages": [{ask}, {answer}, {ask}]}}"#),
        format!(r#"{{"messages": [{ask}, {answer}], "label": "polite"}}"#),
    ];
    project.write("chats.jsonl", &(lines.join("\n") + "\n"));
    let convert = |map: &str| {
        let arguments = ["convert", "chats.jsonl", "--map", map, "-o", "EVAL.yaml", "--force"];
        project.evalrig(&arguments).exits(0);
        project.evalrig(&["validate", "EVAL.yaml"]).exits(0);
        let shown = project.evalrig(&["show", "EVAL.yaml", "--format", "json"]);
        let shown: Value = serde_json::from_str(&shown.out).expect("JSON");
        let tests = shown["tests"].as_array().expect("tests").clone();
        tests
            .iter()
            .map(|test| {
                let roles: Vec<String> = test["input"]
                    .as_array()
                    .map(|list| {
                        list.iter().map(|one| one["role"].as_str().unwrap().to_owned()).collect()
                    })
                    .unwrap_or_default();
                (roles.join(" "), test["expectedOutput"].to_string())
            })
            .collect::<Vec<_>>()
    };
    let found = convert("chat");
    assert_eq!(found[0].0, "user");
    assert!(found[0].1.contains("A machine"), "{found:?}");
    assert_eq!(found[1], ("user assistant user".to_owned(), "null".to_owned()));
    // The label is the expected output: the answer is part of what is labelled.
    let found = convert("chat,expected_output=label");
    assert_eq!(found[2].0, "user assistant");
    assert!(found[2].1.contains("polite"), "{found:?}");
}

/// Three that end in the same name, two of which ask the same model in other ways.
const ALIKE: &str = "prompts: [p]\nproviders:\n  \
    - {id: 'openai:gpt-4o', config: {temperature: 0}}\n  \
    - {id: 'openai:gpt-4o', config: {temperature: 1}}\n  \
    - 'azure:chat:gpt-4o'\n  - 'openrouter:openai/gpt-4o'\n  \
    - {id: 'openai:chat:gpt-4o', config: {temperature: 0}}\n\
    tests: [{assert: [{type: contains, value: p}]}]\n";

#[test]
fn providers_that_differ_are_targets_with_numbered_names() {
    let project = Project::empty();
    project.write("promptfooconfig.yaml", ALIKE);
    let convert = ["convert", "promptfooconfig.yaml", "-o", "EVAL.yaml", "--force"];
    let all = "add `-t gpt-4o -t gpt-4o-2 -t gpt-4o-3 -t gpt-4o-4` to `run`";
    project.evalrig(&convert).exits(0).says(all);
    let targets = project.read(".evalrig/targets.yaml");
    for part in [
        "name: gpt-4o\n    provider: openai\n    model: gpt-4o\n    config:\n      temperature: 0\n",
        "name: gpt-4o-2\n    provider: openai\n    model: gpt-4o\n    config:\n      temperature: 1\n",
        "name: gpt-4o-3\n    provider: azure\n",
        "name: gpt-4o-4\n    provider: openai\n    base_url: https://openrouter.ai",
    ] {
        assert!(targets.contains(part), "{part}: {targets}");
    }
    assert_eq!(targets.matches("provider:").count(), 4, "{targets}");
    // The names are the same where the file is there already.
    let again = project.evalrig(&convert);
    again.exits(0).says(all);
    assert!(!again.err.contains("loss["), "{}", again.err);
    project
        .write(".evalrig/targets.yaml", "targets: [{name: gpt-4o, provider: mock, response: p}]\n");
    let ran = project.evalrig(&convert);
    ran.exits(0).says("the targets file has no target `gpt-4o-2` for `openai:gpt-4o`");
    ran.says("the targets file has no target `gpt-4o-3` for `azure:chat:gpt-4o`");
}

#[test]
fn a_test_for_one_of_two_providers_with_the_same_id_names_its_label() {
    let project = Project::empty();
    let config = "prompts: [p]\nproviders:\n  \
        - {id: 'openai:gpt-4o', label: cold, config: {temperature: 0}}\n  \
        - {id: 'openai:gpt-4o', label: warm, config: {temperature: 1}}\n\
        tests:\n  - {providers: [warm], assert: [{type: contains, value: p}]}\n  \
        - {providers: ['openai:gpt-4o'], assert: [{type: contains, value: p}]}\n";
    project.write("promptfooconfig.yaml", config);
    let ran = project.evalrig(&["convert", "promptfooconfig.yaml", "-o", "EVAL.yaml"]);
    ran.exits(0)
        .says("promptfooconfig.yaml:7: loss[provider]: that this test runs on some providers");
    let suite = project.read("EVAL.yaml");
    assert!(suite.contains("target: warm") && !suite.contains("target: cold"), "{suite}");
}

#[test]
fn agents_of_promptfoo_are_targets_that_run_them() {
    let project = Project::empty();
    let config = "prompts: [p]\nproviders:\n  \
        - {id: 'anthropic:claude-agent-sdk', config: {model: sonnet, max_turns: 5, permission_mode: plan}}\n  \
        - 'anthropic:claude-code'\n  \
        - {id: 'openai:codex-sdk', config: {model: gpt-5-codex}}\n\
        tests: [{assert: [{type: contains, value: p}]}]\n";
    project.write("promptfooconfig.yaml", config);
    let ran = project.evalrig(&["convert", "promptfooconfig.yaml", "-o", "EVAL.yaml"]);
    ran.exits(0)
        .says("`permission_mode` of `anthropic:claude-agent-sdk` is left out")
        .says("`openai:codex-sdk` is run as `codex-cli`");
    let targets = project.read(".evalrig/targets.yaml");
    for part in [
        "name: claude-agent-sdk\n    provider: claude-cli\n    model: sonnet\n    max_turns: 5\n",
        "name: claude-code\n    provider: claude-cli\n",
        "name: codex-sdk\n    provider: codex-cli\n    model: gpt-5-codex\n",
    ] {
        assert!(targets.contains(part), "{part}: {targets}");
    }
    project.evalrig(&["validate", "--strict"]).exits(0);
    // Programs are started only from a converted suite.
    let direct = Project::empty();
    direct.write("promptfooconfig.yaml", config);
    direct.run(&["promptfooconfig.yaml"]).exits(2).says("loss[script]");
}

#[test]
fn an_api_in_which_no_chat_model_answers_has_no_target() {
    let ids =
        ["openai:chat", "openai:completion:gpt-3.5-turbo-instruct", "openai:assistant:asst_1"];
    let others = ["openai:embedding", "anthropic:messages", "openai:realtime:gpt-4o-realtime"];
    for id in ids.into_iter().chain(others) {
        let project = Project::empty();
        let config = format!(
            "prompts: [p]\nproviders: ['{id}']\ntests: [{{assert: [{{type: contains, value: p}}]}}]\n"
        );
        project.write("promptfooconfig.yaml", &config);
        let ran = project.evalrig(&["convert", "promptfooconfig.yaml", "-o", "EVAL.yaml"]);
        ran.exits(0).says(&format!("loss[provider]: `{id}` has no counterpart among the targets"));
        assert!(!project.has(".evalrig/targets.yaml"), "{id}");
    }
}

#[test]
fn without_an_output_the_command_is_proposed() {
    let project = Project::empty();
    project.write("promptfooconfig.yaml", ALIKE);
    let ran = project.evalrig(&["convert", "promptfooconfig.yaml"]);
    ran.exits(2)
        .says("reading `promptfooconfig.yaml` as promptfoo")
        .says("evalrig convert promptfooconfig.yaml -o EVAL.yaml");
    project.write("cases.csv", "question,answer\nWhat?,That\n");
    let ran = project.evalrig(&["convert", "cases.csv"]);
    ran.exits(2).says("--from list --map input=question,expected_output=answer -o EVAL.yaml");
}
