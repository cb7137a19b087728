//! `convert` of files of other tools: every section of the pages in `tests/foreign` is converted. The
//! suite has the tests and the losses that the page says, validates without a word, and runs on a mock.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::Project;

/// One section of a page.
#[derive(Debug, Default)]
struct Fixture {
    title: String,
    tests: usize,
    options: Vec<String>,
    /// Name and text; the first is converted.
    files: Vec<(String, String)>,
    /// `line kind` of the first file, or `name:line kind`.
    losses: Vec<String>,
}

fn fixtures(page: &str) -> Vec<Fixture> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(page);
    let text = fs::read_to_string(path).expect("the page");
    let mut fixtures: Vec<Fixture> = Vec::new();
    let mut lines = text.lines();
    let mut name: Option<String> = None;
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            let count = title.rsplit_once('(').expect("a number of tests").1;
            let tests = count.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
            fixtures.push(Fixture { title: title.to_owned(), tests, ..Fixture::default() });
        }
        let Some(fixture) = fixtures.last_mut() else { continue };
        if let Some(options) = line.strip_prefix("Options: `") {
            let options = options.trim_end_matches('`').split(' ');
            fixture.options = options.map(str::to_owned).collect();
        } else if let Some(file) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
            name = Some(file.to_owned());
        } else if let Some(kind) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if kind == "losses" {
                fixture.losses = block.iter().map(|line| (*line).to_owned()).collect();
            } else {
                let name = name.take().expect("a name before a file");
                fixture.files.push((name, block.join("\n") + "\n"));
            }
        }
    }
    fixtures
}

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
    check("others.md", 24);
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
