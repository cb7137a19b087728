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
