//! Diagnostics while typing, and their fixes.

use evalrig_run::text::is_harmful;
use serde_json::{Value, json};

use crate::client::Client;
use crate::support::Project;

const SUITE: &str = "\
name: demo
execution: {target: production}
tests:
  - id: hello
    criteria: Greets
    input: Hi
  - cases.yaml
";
const CASES: &str = "- {id: more, criteria: Greets, input: Hi}\n";
const TARGETS: &str = "targets: [{name: production, provider: mock, response: Hello}]\n";

fn project() -> Project {
    let project = Project::new(SUITE, TARGETS);
    project.write("cases.yaml", CASES);
    project
}

#[test]
fn mistakes_appear_as_they_are_typed_and_go_when_they_are_mended() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    assert_eq!(client.published("EVAL.yaml"), Value::Null);
    client.replace("EVAL.yaml", "criteria: Greets", "critera: Greets");
    assert_eq!(client.diagnostics("EVAL.yaml"), ["4: nothing-to-grade", "5: unknown-field"]);
    let published = client.published("EVAL.yaml");
    assert_eq!(published["version"], 2);
    let unknown = &published["diagnostics"][1];
    assert_eq!(client.at_range("EVAL.yaml", &unknown["range"]), "critera");
    assert_eq!(unknown["source"], "evalrig");
    assert_eq!(unknown["severity"], 2);
    assert_eq!(unknown["message"], "unknown field `critera`\nhelp: did you mean `criteria`?");
    let address = unknown["codeDescription"]["href"].as_str().unwrap();
    assert!(address.ends_with("/docs/reference/diagnostics.md#unknown-field"), "{address}");
    client.replace("EVAL.yaml", "critera", "criteria");
    assert_eq!(client.published("EVAL.yaml")["diagnostics"], json!([]));
}

#[test]
fn a_text_that_cannot_be_parsed_has_one_diagnostic_at_its_place() {
    let project = project();
    let mut client = Client::start(&project);
    client.open_as("EVAL.yaml", "name: demo\ntests:\n  - {id: a\n");
    let found = client.diagnostics("EVAL.yaml");
    assert_eq!(found.len(), 1, "{found:?}");
    client.replace("EVAL.yaml", "{id: a\n", "{id: a, criteria: Greets, input: Hi}\n");
    assert_eq!(client.diagnostics("EVAL.yaml"), Vec::<String>::new());
}

#[test]
fn an_unsaved_import_counts_and_has_its_own_diagnostics() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("cases.yaml");
    assert_eq!(client.diagnostics("cases.yaml"), Vec::<String>::new());
    client.replace("cases.yaml", "id: more", "id: hello");
    assert_eq!(client.diagnostics("cases.yaml"), ["1: duplicate-id"]);
    let related = client.published("cases.yaml")["diagnostics"][0]["relatedInformation"][0].clone();
    assert_eq!(related["location"]["uri"], client.uri("EVAL.yaml"));
    assert_eq!(client.at_range("EVAL.yaml", &related["location"]["range"]), "hello");
    // Closing without saving: the disk counts again, and nothing is shown of closed files.
    client.close("cases.yaml");
    assert_eq!(client.diagnostics("cases.yaml"), Vec::<String>::new());
    client.open("EVAL.yaml");
    assert_eq!(client.diagnostics("EVAL.yaml"), Vec::<String>::new());
}

#[test]
fn an_import_of_a_document_that_is_not_saved_is_found() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.replace("EVAL.yaml", "cases.yaml", "new.yaml");
    assert_eq!(client.diagnostics("EVAL.yaml"), ["7: file-not-found"]);
    client.open_as("new.yaml", "- {id: fresh, criteria: Greets, input: Hi}\n");
    assert_eq!(client.diagnostics("EVAL.yaml"), Vec::<String>::new());
}

#[test]
fn the_targets_file_is_checked_and_names_follow_its_unsaved_text() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.open(".evalrig/targets.yaml");
    client.replace(".evalrig/targets.yaml", "production", "staging");
    assert_eq!(client.diagnostics("EVAL.yaml"), ["2: unknown-target"]);
    client.replace(".evalrig/targets.yaml", "provider: mock", "provider: mok");
    assert_eq!(client.diagnostics(".evalrig/targets.yaml"), ["1: unsupported-provider"]);
    client.replace(".evalrig/targets.yaml", "mok", "mock");
    client.replace(".evalrig/targets.yaml", "staging", "production");
    assert_eq!(client.diagnostics("EVAL.yaml"), Vec::<String>::new());
    assert_eq!(client.diagnostics(".evalrig/targets.yaml"), Vec::<String>::new());
}

#[test]
fn a_file_that_changes_on_the_disk_is_read_again() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    assert_eq!(client.diagnostics("EVAL.yaml"), Vec::<String>::new());
    project.write("cases.yaml", "- {id: more, critera: Greets, input: Hi}\n");
    let change = json!({"uri": client.uri("cases.yaml"), "type": 2});
    client.notify("workspace/didChangeWatchedFiles", &json!({"changes": [change]}));
    assert_eq!(client.diagnostics("cases.yaml"), ["1: nothing-to-grade", "1: unknown-field"]);
}

#[test]
fn lines_and_evals_json_are_checked_at_their_places() {
    let project = project();
    let mut client = Client::start(&project);
    client.open_as(
        "d.jsonl",
        "{\"id\": \"a\", \"criteria\": \"é😀\", \"input\": \"Hi\"}\n\n{\"id\": \"é😀\", \"criteria\": \"c\", \"input\": \"Hi\", \"typo\": 1}\n",
    );
    let found = client.diagnostics("d.jsonl");
    assert_eq!(found, ["1: missing-sidecar", "3: unknown-field"]);
    let published = client.published("d.jsonl");
    let all = published["diagnostics"].as_array().unwrap();
    let unknown = all.iter().find(|one| one["code"] == "unknown-field").unwrap();
    assert_eq!(client.at_range("d.jsonl", &unknown["range"]), "\"typo\"");
    project.write("skill/SKILL.md", "---\nname: skill\ndescription: d\n---\n");
    client.open_as("skill/evals/evals.json", "{\"evals\": [{\"id\": 1}]}\n");
    let found = client.diagnostics("skill/evals/evals.json");
    assert_eq!(found, ["1: missing-input", "1: nothing-to-grade"]);
}

#[test]
fn a_file_of_another_tool_has_no_diagnostics() {
    let project = project();
    let mut client = Client::start(&project);
    client.open_as("compose.yaml", "services:\n  web: {image: x}\n");
    client.open_as("package.json", "{\"name\": \"x\"");
    client.open_as("rows.jsonl", "{\"schemaVersion\": 1, \"input\": 3}\n");
    for name in ["compose.yaml", "package.json", "rows.jsonl"] {
        assert_eq!(client.published(name), Value::Null, "{name}");
    }
}

#[test]
fn rows_that_convert_reads_have_no_diagnostics() {
    let project = project();
    let mut client = Client::start(&project);
    for (name, row) in [
        (
            "samples.jsonl",
            "{\"input\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"ideal\": \"Hello\"}",
        ),
        ("inspect.jsonl", "{\"input\": \"Hi\", \"target\": \"Hello\"}"),
        ("golden.jsonl", "{\"scenario\": \"s\", \"expected_outcome\": \"Hello\"}"),
    ] {
        client.open_as(name, &format!("{row}\n{row}\n"));
        assert_eq!(client.published(name), Value::Null, "{name}");
    }
    // One that says what counts is a test, whatever else it has.
    client.open_as(
        "own.jsonl",
        "{\"id\": \"a\", \"input\": \"Hi\", \"criteria\": \"c\", \"target\": \"x\"}\n",
    );
    let found = client.diagnostics("own.jsonl");
    assert!(found.contains(&"1: unknown-field".to_owned()), "{found:?}");
}

#[test]
fn a_quick_fix_is_that_of_validate() {
    let old = "name: demo\nevalcases:\n  - id: a\n    expected_outcome: Greets\n    input: Hi\n";
    let project = Project::new(old, TARGETS);
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let actions = client.code_actions("EVAL.yaml", "evalc|ases", &[]);
    assert_eq!(actions.as_array().unwrap().len(), 1, "{actions}");
    let action = &actions[0];
    assert_eq!(action["title"], "rename `evalcases` to `tests`");
    assert_eq!(action["kind"], "quickfix");
    assert_eq!(action["isPreferred"], true);
    assert_eq!(action["diagnostics"][0]["code"], "deprecated-field");
    let fixed = client.edited("EVAL.yaml", &action["edit"]);
    assert_eq!(fixed, old.replace("evalcases", "tests"));
    assert_eq!(client.code_actions("EVAL.yaml", "name: d|emo", &[]), json!([]));

    let all = client.code_actions("EVAL.yaml", "name: d|emo", &["source.fixAll"]);
    assert_eq!(all[0]["kind"], "source.fixAll.evalrig");
    let all_fixed = client.edited("EVAL.yaml", &all[0]["edit"]);
    project.evalrig(&["validate", "--fix"]).exits(0);
    assert_eq!(all_fixed, project.read("EVAL.yaml"));
}

#[test]
fn a_misspelt_key_can_be_renamed_but_fix_leaves_it_alone() {
    let misspelt = "name: demo\ntests:\n  - id: a\n    critera: Greets\n    input: Hi\n";
    let project = Project::new(misspelt, TARGETS);
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let actions = client.code_actions("EVAL.yaml", "crit|era", &[]);
    let action = &actions[0];
    assert_eq!(action["title"], "rename `critera` to `criteria`", "{actions}");
    assert_eq!(action["isPreferred"], false);
    let fixed = client.edited("EVAL.yaml", &action["edit"]);
    assert_eq!(fixed, misspelt.replace("critera", "criteria"));
    project.evalrig(&["validate", "--fix"]);
    assert_eq!(project.read("EVAL.yaml"), misspelt);
}

#[test]
fn values_of_secrets_are_not_shown() {
    let suite = SUITE.replace("Greets", "Greets\n    sk-live-0123456789abcdef: 1");
    let project = Project::new(&suite, TARGETS);
    project.write("cases.yaml", CASES);
    project.write(".env", "MY_API_KEY=sk-live-0123456789abcdef\n");
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let published = client.published("EVAL.yaml");
    assert_eq!(published["diagnostics"][0]["code"], "unknown-field");
    assert!(!published.to_string().contains("0123456789abcdef"), "{published}");
}

#[test]
fn texts_of_a_hostile_suite_move_no_cursor() {
    let project = project();
    let mut client = Client::start(&project);
    let id = r#""a\u001b[31m\u202e\u0007b""#;
    let test = |key: &str| format!("  - {{id: {id}, {key}: Greets, input: Hi}}\n");
    let key = r#""cri\u202eteria\u001b[2J""#;
    let suite = format!(
        "name: demo\nexecution: {{target: production}}\ntests:\n{}{}{}",
        test("criteria"),
        test("criteria"),
        test(key)
    );
    client.open_as("EVAL.yaml", &suite);
    let published = client.published("EVAL.yaml");
    let found = published["diagnostics"].as_array().unwrap();
    let related = |one: &Value| one["relatedInformation"].as_array().cloned().unwrap_or_default();
    let texts = found.iter().flat_map(|one| {
        let related = related(one).into_iter().map(|one| one["message"].clone());
        related.chain([one["message"].clone()]).collect::<Vec<_>>()
    });
    let texts: Vec<String> = texts.map(|text| text.as_str().unwrap().to_owned()).collect();
    assert!(texts.iter().any(|text| text.contains('\u{241b}')), "{texts:?}");
    for text in &texts {
        assert!(!text.chars().any(|c| c != '\n' && is_harmful(c)), "{text:?}");
    }
    let lenses = client.ask_all("textDocument/codeLens", "EVAL.yaml");
    let sent = lenses.as_array().unwrap().iter().map(|lens| &lens["command"]);
    for command in sent {
        let title = command["title"].as_str().unwrap();
        assert!(!title.chars().any(is_harmful), "{title:?}");
    }
}
