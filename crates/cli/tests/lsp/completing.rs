//! Completion of keys, values, names and files.

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::Project;

const TARGETS: &str = "targets:\n  - {name: production, provider: mock, response: Hello}\n  - {name: a b, provider: mock, response: x}\n";

fn project() -> Project {
    let project = Project::new("name: demo\ntests: cases.yaml\n", TARGETS);
    project.write("cases.yaml", "- {id: more, criteria: Greets, input: Hi, tags: [slow, a]}\n");
    project.write("notes/one.md", "x\n");
    project.write("notes/two.txt", "x\n");
    project.write("skills/greeter/SKILL.md", "---\nname: greeter\ndescription: d\n---\n");
    project.write(".evalrig/judges/word-count.py", "print()\n");
    project
}

/// The items at the cursor `|`, in the order in which an editor shows them.
fn items_in(client: &mut Client<'_>, name: &str, text: &str) -> Vec<Value> {
    let offset = text.find('|').unwrap();
    let text = text.replacen('|', "", 1);
    client.open_as(name, &text);
    let position = client.position(&text, offset);
    let params = json!({"textDocument": {"uri": client.uri(name)}, "position": position});
    let found = client.request("textDocument/completion", &params).unwrap();
    let mut items = found["items"].as_array().unwrap().clone();
    items.sort_by_key(|item| item["sortText"].as_str().unwrap().to_owned());
    client.close(name);
    items
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["label"].as_str().unwrap()).collect()
}

#[track_caller]
fn inserted<'i>(items: &'i [Value], label: &str) -> &'i str {
    let item = items.iter().find(|item| item["label"] == label);
    item.unwrap_or_else(|| panic!("no `{label}` in {:?}", labels(items)))["textEdit"]["newText"]
        .as_str()
        .unwrap()
}

fn suite(end: &str) -> String {
    format!("name: demo\ntests:\n  - id: a\n    criteria: c\n{end}")
}

#[test]
fn keys_come_from_the_tables_without_those_that_are_there() {
    let project = project();
    let mut client = Client::start(&project);
    let items = items_in(&mut client, "EVAL.yaml", &suite("    |\n"));
    let found = labels(&items);
    assert_eq!(found[0], "input", "required keys come first");
    for absent in ["id", "criteria", "name", "value"] {
        assert!(!found.contains(&absent), "{absent}");
    }
    assert_eq!(inserted(&items, "assert"), "assert:\n  - type: $0");
    assert_eq!(inserted(&items, "tags"), "tags: [$0]");
    let doc = items[0]["documentation"]["value"].as_str().unwrap();
    assert_eq!(
        doc,
        "**`input`**, required\n\nWhat is sent to the agent.".replace(", required", "")
    );
    let items = items_in(&mut client, "EVAL.yaml", "na|");
    assert_eq!(labels(&items)[0], "name");
    let range = &items[0]["textEdit"]["range"];
    assert_eq!(
        *range,
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 2}})
    );
}

#[test]
fn an_assertion_begins_with_its_type() {
    let project = project();
    let mut client = Client::start(&project);
    let items = items_in(&mut client, "EVAL.yaml", &suite("    assert:\n      - |\n"));
    assert_eq!(labels(&items)[..2], ["type", "type: contains"]);
    assert_eq!(inserted(&items, "type: contains"), "type: contains\n  value: $1");
    let text = suite("    assert:\n      - type: con|\n");
    let items = items_in(&mut client, "EVAL.yaml", &text);
    assert_eq!(labels(&items)[0], "contains");
    assert_eq!(inserted(&items, "contains"), "contains\n  value: $1");
    assert_eq!(inserted(&items, "latency"), "latency\n  threshold: $1");
    assert_eq!(inserted(&items, "word-count"), "word-count");
    let text = suite("    assert:\n      - {type: con|}\n");
    assert_eq!(
        inserted(&items_in(&mut client, "EVAL.yaml", &text), "contains"),
        "contains, value: $1"
    );
    let text = suite("    assert:\n      - type: contains\n        |\n");
    let items = items_in(&mut client, "EVAL.yaml", &text);
    assert_eq!(labels(&items)[0], "value");
    let text = suite("    assert:\n      - type: tool-trajectory\n        mode: |\n");
    let items = items_in(&mut client, "EVAL.yaml", &text);
    assert!(labels(&items).contains(&"in_order"), "{:?}", labels(&items));
}

#[test]
fn negated_types_are_offered_with_what_they_replace() {
    let project = project();
    let mut client = Client::start(&project);
    let items = items_in(&mut client, "EVAL.yaml", &suite("    assert:\n      - type: not-|\n"));
    assert_eq!(inserted(&items, "not-contains"), "not-contains\n  value: $1");
    // Editors filter by what the edit replaces.
    let item = items.iter().find(|item| item["label"] == "not-contains").unwrap();
    assert_eq!(item["textEdit"]["range"]["start"], json!({"line": 5, "character": 14}));
    assert_eq!(labels(&items)[0], "contains", "plain types come first");
}

#[test]
fn a_new_jsonl_file_is_completed_before_it_has_a_line() {
    let project = project();
    let mut client = Client::start(&project);
    let test = "{\"id\": \"$1\", \"criteria\": \"$2\", \"input\": \"$0\"}";
    let items = items_in(&mut client, "new.jsonl", "|");
    assert_eq!(labels(&items), ["test"]);
    assert_eq!(inserted(&items, "test"), test);
    let written = "{\"id\": \"a\", \"criteria\": \"c\", \"input\": \"i\"}\n|";
    assert_eq!(inserted(&items_in(&mut client, "d.jsonl", written), "test"), test);
    let items = items_in(&mut client, "new.jsonl", "{\"|\"}");
    assert!(labels(&items).contains(&"criteria"), "{:?}", labels(&items));
    let items = items_in(&mut client, "new.jsonl", "{\"id\": \"a\", |");
    assert_eq!(inserted(&items, "criteria"), "\"criteria\": \"$1\"");
    // A complete line that is not a test is one of another file.
    let items = items_in(&mut client, "log.jsonl", "{\"time\": 1, \"message\": \"x\"}\n|");
    assert_eq!(labels(&items), Vec::<&str>::new());
    client.open_as("new.jsonl", "{\"");
    assert_eq!(client.published("new.jsonl"), Value::Null);
}

#[test]
fn editors_without_snippets_get_plain_text() {
    let project = project();
    let mut client = Client::start_with(&project, &json!({}));
    let items = items_in(&mut client, "EVAL.yaml", &suite("    assert:\n      - type: |\n"));
    assert_eq!(inserted(&items, "contains"), "contains");
    assert!(items.iter().all(|item| item["insertTextFormat"] == 1));
}

#[test]
fn names_of_targets_tags_skills_and_files_are_offered() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("cases.yaml");
    assert_eq!(client.diagnostics("cases.yaml"), Vec::<String>::new());
    client.close("cases.yaml");
    let items = items_in(&mut client, "EVAL.yaml", &suite("    execution:\n      target: |\n"));
    assert_eq!(labels(&items), ["a b", "production"]);
    // What was closed is read from the disk again first.
    client.diagnostics("EVAL.yaml");
    let items = items_in(&mut client, "other.eval.yaml", &suite("    tags: [x, |]\n"));
    assert_eq!(labels(&items), ["a", "slow", "x"]);
    let text = suite("    assert:\n      - {type: trigger-judge, skill: |}\n");
    let items = items_in(&mut client, "EVAL.yaml", &text);
    assert_eq!(labels(&items), ["greeter"]);
    let items = items_in(&mut client, "EVAL.yaml", &suite("    input_files: [|]\n"));
    assert_eq!(labels(&items), ["cases.yaml", "notes/", "skills/"]);
    let items = items_in(&mut client, "EVAL.yaml", &suite("    input_files: [notes/o|]\n"));
    assert_eq!(labels(&items), ["notes/one.md", "notes/two.txt"]);
    assert_eq!(inserted(&items, "notes/one.md"), "notes/one.md");
    let items = items_in(&mut client, "EVAL.yaml", &suite("    input_files: [../|]\n"));
    assert_eq!(labels(&items), Vec::<&str>::new());
    let text =
        suite("    conversation_id: talk\n    input: Hi\n  - id: b\n    conversation_id: |\n");
    assert_eq!(labels(&items_in(&mut client, "EVAL.yaml", &text)), ["talk"]);
}

#[test]
fn targets_files_lines_and_evals_json_are_completed() {
    let project = project();
    let mut client = Client::start(&project);
    let items =
        items_in(&mut client, ".evalrig/targets.yaml", "targets:\n  - name: a\n    provider: |\n");
    assert!(labels(&items).contains(&"claude-cli"), "{:?}", labels(&items));
    let text = "targets:\n  - name: a\n    provider: mock\n    |\n";
    let items = items_in(&mut client, ".evalrig/targets.yaml", text);
    assert!(labels(&items).contains(&"responses"), "{:?}", labels(&items));
    let items = items_in(
        &mut client,
        "d.jsonl",
        "{\"id\": \"a\", \"input\": \"x\"}\n{\"id\": \"b\", \"cri|\"}\n",
    );
    assert_eq!(inserted(&items, "criteria"), "criteria");
    let items = items_in(&mut client, "d.jsonl", "{\"id\": \"a\", \"input\": \"x\", |}\n");
    assert_eq!(inserted(&items, "criteria"), "\"criteria\": \"$1\"");
    let items =
        items_in(&mut client, "skill/evals/evals.json", "{\"evals\": [{\"id\": 1, \"|\"}]}");
    assert!(labels(&items).contains(&"prompt"), "{:?}", labels(&items));
}

#[test]
fn files_and_skills_of_evals_json_are_those_of_the_skill() {
    let project = project();
    project.write("skills/greeter/a.txt", "x\n");
    let mut client = Client::start(&project);
    let file = "skills/greeter/evals/evals.json";
    let text = "{\"evals\": [{\"id\": 1, \"prompt\": \"Hi\", \"files\": [\"|\"]}]}";
    assert_eq!(labels(&items_in(&mut client, file, text)), ["SKILL.md", "a.txt"]);
    let text = "{\"skill_name\": \"|\", \"evals\": []}";
    assert_eq!(labels(&items_in(&mut client, file, text)), ["greeter"]);
}

#[test]
fn nothing_is_offered_in_comments_and_sentences() {
    let project = project();
    let mut client = Client::start(&project);
    for text in ["# na|", "name: demo # x|", "description: some words an|"] {
        assert_eq!(items_in(&mut client, "EVAL.yaml", text).len(), 0, "{text}");
    }
}
