//! Lenses and hints with the results of the last run.

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::Project;

const SUITE: &str = "\
name: demo
tests:
  - id: steady
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello}
  - id: flaky
    criteria: Greets
    input: Bye
    execution: {target: counting}
    assert:
      - {type: contains, value: Hello}
      - {type: contains, name: polite, value: please}
  - id: unmeasured
    criteria: Greets
    input: Broken
    assert: [{type: contains, value: Hello}]
";
const TARGETS: &str = "\
targets:
  - name: default
    provider: mock
    responses:
      - {pattern: Broken, error: down}
      - {pattern: Hi, response: Hello}
  - name: counting
    provider: cli
    command: COUNT
";

/// The answer of the target `counting` is wrong the fifth time.
fn project() -> Project {
    let project = Project::new(SUITE, "");
    let counter = project.path("count").to_str().unwrap().to_owned();
    let script = format!(
        "echo x >> '{counter}'; if [ $(wc -l < '{counter}') -lt 5 ]; then echo Hello please; else echo No; fi"
    );
    let command = serde_json::Value::from(script).to_string();
    project.write(".evalrig/targets.yaml", &TARGETS.replace("COUNT", &command));
    project
}

fn lenses(client: &mut Client<'_>) -> Vec<(u64, String)> {
    let found = client.ask_all("textDocument/codeLens", "EVAL.yaml");
    let lens = |one: &Value| {
        let title = one["command"]["title"].as_str().unwrap().to_owned();
        (one["range"]["start"]["line"].as_u64().unwrap() + 1, title)
    };
    found.as_array().unwrap().iter().map(lens).collect()
}

#[test]
fn lenses_run_tests_and_say_how_often_they_passed() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let plain = "run this test".to_owned();
    let before =
        [(1, "run this suite".to_owned()), (3, plain.clone()), (8, plain.clone()), (15, plain)];
    assert_eq!(lenses(&mut client), before);

    project.run(&["--trials", "5", "--workers", "1"]).exits(1);
    let report = "open report".to_owned();
    let last = |text: &str| format!("run this test · last: {text}");
    assert_eq!(
        lenses(&mut client),
        [
            (1, "run this suite".to_owned()),
            (1, report.clone()),
            (3, last("5/5 (95 % CI 57–100 %)")),
            (3, report.clone()),
            (8, last("4/5 (95 % CI 38–96 %)")),
            (8, report.clone()),
            (15, last("5 not measured")),
            (15, report),
        ]
    );
    let found = client.ask_all("textDocument/codeLens", "EVAL.yaml");
    let run = &found[2]["command"];
    assert_eq!(run["command"], "evalrig.run");
    let suite = project.path("EVAL.yaml");
    assert_eq!(run["arguments"][0]["suite"], suite.to_str().unwrap());
    assert_eq!(run["arguments"][0]["filter"], "steady");
    let open = &found[1]["command"];
    assert_eq!(open["command"], "evalrig.openReport");
    let results = open["arguments"][0]["results"].as_str().unwrap();
    assert!(results.contains("/.evalrig/results/demo-"), "{results}");
}

#[test]
fn a_test_with_an_error_keeps_its_lenses() {
    let project = project();
    project.run(&["--trials", "5", "--workers", "1"]).exits(1);
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let titles = |lenses: Vec<(u64, String)>| -> Vec<String> {
        lenses.into_iter().map(|(_, title)| title).collect()
    };
    let before = titles(lenses(&mut client));
    client.replace("EVAL.yaml", "input: Hi", "vars: {a: b}\n    input: Hi {{ missing }}");
    assert_eq!(client.diagnostics("EVAL.yaml"), ["6: unknown-variable"]);
    let found = lenses(&mut client);
    assert_eq!(found[2].0, 3, "at the line of the test");
    assert_eq!(titles(found), before);
    // A test without an id cannot be named.
    client.replace("EVAL.yaml", "- id: flaky\n    criteria", "- criteria");
    let found = titles(lenses(&mut client));
    assert_eq!(found.len(), before.len() - 2);
    assert!(found.iter().all(|title| !title.contains("4/5")), "{found:?}");
}

#[test]
fn hints_say_which_lines_were_missed() {
    let project = project();
    project.run(&["--trials", "5", "--workers", "1"]).exits(1);
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let end = client.text("EVAL.yaml").lines().count();
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": end, "character": 0}});
    let params = json!({"textDocument": {"uri": client.uri("EVAL.yaml")}, "range": range});
    let found = client.request("textDocument/inlayHint", &params).unwrap();
    let hint = |one: &Value| {
        let label = one["label"].as_str().unwrap().to_owned();
        (one["position"]["line"].as_u64().unwrap() + 1, label)
    };
    let hints: Vec<(u64, String)> = found.as_array().unwrap().iter().map(hint).collect();
    let expected = [
        (3, "✓ 5/5 (95 % CI 57–100 %)"),
        (7, "✓ 5/5"),
        (8, "✗ 4/5 (95 % CI 38–96 %)"),
        (13, "✗ 4/5 "),
        (14, "✗ 4/5 "),
        (15, "? 5 not measured"),
    ];
    assert_eq!(hints.len(), expected.len(), "{hints:?}");
    for ((line, label), (expected_line, start)) in hints.iter().zip(expected) {
        assert_eq!(*line, expected_line);
        assert!(label.starts_with(start), "{label}");
    }
    // At the end of the line.
    let line = client.text("EVAL.yaml").lines().nth(2).unwrap().len();
    assert_eq!(found[0]["position"]["character"], line);
    // Only what is asked for.
    let first = json!({"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}});
    let params = json!({"textDocument": {"uri": client.uri("EVAL.yaml")}, "range": first});
    assert_eq!(
        client.request("textDocument/inlayHint", &params).unwrap().as_array().unwrap().len(),
        1
    );
    let hover = client.ask("textDocument/hover", "EVAL.yaml", "id: fla|ky");
    assert_eq!(hover["contents"]["value"], "last run: 4/5 (95 % CI 38–96 %)");
}

#[test]
fn the_server_runs_nothing_and_writes_nothing() {
    let suite =
        SUITE.replace("{type: contains, value: Hello}]", "{type: code-judge, script: touch ran}]");
    let project = Project::new(&suite, TARGETS);
    let before = project.all_files();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    lenses(&mut client);
    client.diagnostics("EVAL.yaml");
    client.code_actions("EVAL.yaml", "name: d|emo", &["source.fixAll"]);
    assert_eq!(client.shutdown(), 0);
    assert_eq!(project.all_files(), before);
}

/// What each of them must not match are the others.
const HOSTILE_IDS: [&str; 9] =
    ["a!b", "!ab", "ab", r"back\d", "backd", "-x", "a*b", "[a]b{c,d}?", r"\!ab"];

#[test]
fn a_lens_runs_the_test_that_it_is_above() {
    let tests: Vec<String> = HOSTILE_IDS
        .iter()
        .map(|id| {
            let id = json!(id);
            format!(
                "  - {{id: {id}, criteria: c, input: Hi, assert: [{{type: contains, value: x}}]}}\n"
            )
        })
        .collect();
    let suite = format!("name: demo\ntests:\n{}", tests.concat());
    let targets = "targets: [{name: default, provider: mock, response: x}]\n";
    let project = Project::new(&suite, targets);
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let found = client.ask_all("textDocument/codeLens", "EVAL.yaml");
    let places = found.as_array().unwrap().iter().map(|lens| &lens["command"]["arguments"][0]);
    let mut ran = Vec::new();
    for place in places.filter(|place| place["test"].is_string()) {
        let filter = format!("--filter={}", place["filter"].as_str().unwrap());
        project.run(&["EVAL.yaml", &filter, "-o", "one.jsonl", "--force"]).exits(0);
        let rows = project.rows_of("one.jsonl");
        let ids: Vec<&str> = rows.iter().filter_map(|row| row["evalId"].as_str()).collect();
        assert_eq!(ids, [place["test"].as_str().unwrap()], "{filter}");
        ran.push(ids[0].to_owned());
    }
    assert_eq!(ran, HOSTILE_IDS);
}

#[test]
fn lenses_stay_where_they_belong_while_the_file_is_broken() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let before = lenses(&mut client);
    assert_eq!(before.len(), 4);
    client.replace("EVAL.yaml", "  - id: flaky\n", "  - id: flaky\n    input: [\n");
    let broken = lenses(&mut client);
    let lines: Vec<u64> = broken.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 3, 8, 16], "{broken:?}");
    client.replace("EVAL.yaml", "name: demo\n", "\nname: demo\n");
    let lines: Vec<u64> = lenses(&mut client).iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 4, 9, 17]);
    client.replace("EVAL.yaml", "    input: [\n", "");
    let lines: Vec<u64> = lenses(&mut client).iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 4, 9, 16]);
}

#[test]
fn lenses_of_an_imported_file_stay_while_its_suite_is_broken() {
    let targets = "targets: [{name: default, provider: mock, response: x}]\n";
    let project = Project::new("name: demo\ntests: [cases.yaml]\n", targets);
    project.write("cases.yaml", "- {id: a, criteria: c, input: Hi}\n");
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.open("cases.yaml");
    let count = |client: &mut Client<'_>| {
        client.ask_all("textDocument/codeLens", "cases.yaml").as_array().unwrap().len()
    };
    assert_eq!(count(&mut client), 1);
    client.replace("EVAL.yaml", "tests: [", "tests: [[");
    assert_eq!(count(&mut client), 1);
    client.replace("EVAL.yaml", "tests: [[cases.yaml]", "tests: [{id: b, criteria: c, input: i}]");
    assert_eq!(count(&mut client), 0);
}
