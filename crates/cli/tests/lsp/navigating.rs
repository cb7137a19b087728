//! Hover, definitions, references, renaming, symbols, folding and tokens.

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::Project;

const SUITE: &str = "\
# First comment line
# second line
name: demo
execution:
  target: production
arms:
  plain: {target: \"production\"}
tests:
  - id: hello
    criteria: Greets {{ who }}
    input: Hi ${{ NAME }}
    input_files: [notes.md]
    assert:
      - type: contains
        value: Hello
      - {type: word-count, max: 5}
      - {type: trigger-judge, skill: greeter}
      - {type: llm-judge, prompt: Is it kind?, target: production}
  - cases.yaml
";
const CASES: &str = "- {id: more, criteria: Greets, input: Hi}\n";
const TARGETS: &str = "\
targets:
  - name: production
    provider: mock
    response: Hello
  - name: alias
    use_target: production
";

fn project() -> Project {
    let project = Project::new(SUITE, TARGETS);
    project.write("cases.yaml", CASES);
    project.write("notes.md", "Notes\n");
    project.write(".env", "NAME=Alice\n");
    project.write(".evalrig/judges/word-count.py", "print('{\"score\": 1}')\n");
    project.write("skills/greeter/SKILL.md", "---\nname: greeter\ndescription: d\n---\n");
    project
}

fn hover(client: &mut Client<'_>, name: &str, needle: &str) -> String {
    let found = client.ask("textDocument/hover", name, needle);
    found["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn hover_explains_fields_types_providers_and_diagnostics() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let found = client.ask("textDocument/hover", "EVAL.yaml", "criteria: G|reets");
    assert_eq!(found, Value::Null);
    let found = client.ask("textDocument/hover", "EVAL.yaml", "crite|ria");
    assert_eq!(client.at_range("EVAL.yaml", &found["range"]), "criteria");
    assert_eq!(found["contents"]["kind"], "markdown");
    let text = found["contents"]["value"].as_str().unwrap();
    assert_eq!(text, "**`criteria`**\n\nWhat counts as success, in words.");
    let text = hover(&mut client, "EVAL.yaml", "valu|e: Hello");
    assert!(text.starts_with("**`value`** of `contains`, required\n\n"), "{text}");
    let text = hover(&mut client, "EVAL.yaml", "type: con|tains");
    let explained = project.evalrig(&["explain", "contains"]);
    assert_eq!(text.trim(), explained.out.trim());
    assert_eq!(
        hover(&mut client, "EVAL.yaml", "  target: prod|uction\n"),
        "a target of `.evalrig/targets.yaml`"
    );

    client.open(".evalrig/targets.yaml");
    let text = hover(&mut client, ".evalrig/targets.yaml", "provider: mo|ck");
    assert!(text.starts_with("# mock\n\nTarget provider."), "{text}");

    client.replace("EVAL.yaml", "criteria: Greets", "critera: Greets");
    let text = hover(&mut client, "EVAL.yaml", "crit|era");
    assert!(text.starts_with("**`unknown-field`**\n\nThe format does not define"), "{text}");
}

/// The place that one definition leads to: file, line from 1, text of the range.
fn definition(client: &mut Client<'_>, name: &str, needle: &str) -> (String, u64, String) {
    let found = client.ask("textDocument/definition", name, needle);
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 1, "{needle}: {found:?}");
    let uri = found[0]["uri"].as_str().unwrap();
    let file = uri.strip_prefix(&(client.uri("") + "/")).unwrap().to_owned();
    let text = client.at_range(&file, &found[0]["range"]);
    (file, found[0]["range"]["start"]["line"].as_u64().unwrap() + 1, text)
}

#[test]
fn definitions_are_found_for_everything_that_is_named() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.open(".evalrig/targets.yaml");
    assert_eq!(client.diagnostics("EVAL.yaml"), Vec::<String>::new());
    let targets = (".evalrig/targets.yaml".to_owned(), 2, "production".to_owned());
    assert_eq!(definition(&mut client, "EVAL.yaml", "  target: prod|uction\n"), targets);
    assert_eq!(definition(&mut client, "EVAL.yaml", "target: \"prod|"), targets);
    assert_eq!(definition(&mut client, "EVAL.yaml", "kind?, target: p|rod"), targets);
    assert_eq!(definition(&mut client, ".evalrig/targets.yaml", "use_target: p|rod"), targets);
    let start = |file: &str| (file.to_owned(), 1, String::new());
    assert_eq!(definition(&mut client, "EVAL.yaml", "  - cas|es.yaml"), start("cases.yaml"));
    assert_eq!(definition(&mut client, "EVAL.yaml", "[not|es.md]"), start("notes.md"));
    let script = start(".evalrig/judges/word-count.py");
    assert_eq!(definition(&mut client, "EVAL.yaml", "word|-count"), script);
    let skill = start("skills/greeter/SKILL.md");
    assert_eq!(definition(&mut client, "EVAL.yaml", "skill: gree|ter"), skill);
    let id = ("EVAL.yaml".to_owned(), 9, "hello".to_owned());
    assert_eq!(definition(&mut client, "EVAL.yaml", "id: hel|lo"), id);
    let nothing = client.ask("textDocument/definition", "EVAL.yaml", "value: Hel|lo");
    assert_eq!(nothing, json!([]));
}

/// Paths of an `evals.json` start at the skill, not at the directory `evals`.
#[test]
fn definitions_of_evals_json_start_at_the_skill() {
    let project = Project::new(SUITE, TARGETS);
    project.write("greeter/SKILL.md", "---\nname: greeter\ndescription: d\n---\n");
    project.write("greeter/a.txt", "x\n");
    project.write("greeter/evals/b.txt", "x\n");
    let text = "{\"skill_name\": \"greeter\",\n \"evals\": [{\"id\": 1, \"prompt\": \"Hi\",\n   \"files\": [\"a.txt\", {\"path\": \"evals/b.txt\"}, \"b.txt\"],\n   \"assertions\": [\"Greets\"]}]}\n";
    let file = "greeter/evals/evals.json";
    let mut client = Client::start(&project);
    client.open_as(file, text);
    let start = |file: &str| (file.to_owned(), 1, String::new());
    assert_eq!(definition(&mut client, file, "[\"a.|txt"), start("greeter/a.txt"));
    assert_eq!(definition(&mut client, file, "\"evals/b|.txt"), start("greeter/evals/b.txt"));
    assert_eq!(definition(&mut client, file, "\"gree|ter"), start("greeter/SKILL.md"));
    // In `evals` there is such a file, but beside the skill there is none.
    assert_eq!(client.ask("textDocument/definition", file, ", \"b.|txt"), json!([]));
    let symbols = client.ask_all("textDocument/documentSymbol", file);
    assert_eq!(symbols[0]["name"], "1");
    let renamed = client.ask("textDocument/prepareRename", file, "\"id\": |1");
    assert_eq!(renamed["placeholder"], "1");
    let text = hover(&mut client, file, "\"fi|les");
    assert!(text.contains("relative to the skill's directory"), "{text}");
}

#[test]
fn definitions_of_scripts_that_are_a_text_are_the_files_in_it() {
    let project = project();
    project.write("judges/x.py", "print()\n");
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let judge = "{type: code-judge, script: python3 judges/x.py --file=notes.md}";
    client.replace("EVAL.yaml", "{type: word-count, max: 5}", judge);
    let start = |file: &str| (file.to_owned(), 1, String::new());
    assert_eq!(definition(&mut client, "EVAL.yaml", "judges/|x.py"), start("judges/x.py"));
    assert_eq!(definition(&mut client, "EVAL.yaml", "--file=no|tes.md"), start("notes.md"));
    assert_eq!(client.ask("textDocument/definition", "EVAL.yaml", "pyth|on3"), json!([]));
    client.replace("EVAL.yaml", "criteria: Greets {{ who }}", "criteria: See notes.md");
    let sentence = client.ask("textDocument/definition", "EVAL.yaml", "See no|tes.md");
    assert_eq!(sentence, json!([]), "a sentence is not a command");
}

#[test]
fn no_definition_leads_out_of_the_repository() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.replace("EVAL.yaml", "notes.md", "../../../../../../../../etc/passwd");
    let found = client.ask("textDocument/definition", "EVAL.yaml", "etc/pass|wd");
    assert_eq!(found, json!([]));
}

/// `file:line` of every reference.
fn references(client: &mut Client<'_>, name: &str, needle: &str, with_own: bool) -> Vec<String> {
    let mut params = client.place(name, needle);
    params["context"] = json!({"includeDeclaration": with_own});
    let found = client.request("textDocument/references", &params).unwrap();
    let place = |one: &Value| {
        let uri = one["uri"].as_str().unwrap();
        let file = uri.strip_prefix(&(client.uri("") + "/")).unwrap();
        format!("{file}:{}", one["range"]["start"]["line"].as_u64().unwrap() + 1)
    };
    found.as_array().unwrap().iter().map(place).collect()
}

#[test]
fn references_are_those_of_all_suites_with_the_same_targets() {
    let project = project();
    project.write("other/EVAL.yaml", "name: other\nexecution: {target: production}\ntests: [{id: hello, criteria: c, input: i}]\n");
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let uses = [
        ".evalrig/targets.yaml:6",
        "EVAL.yaml:5",
        "EVAL.yaml:7",
        "EVAL.yaml:18",
        "other/EVAL.yaml:2",
    ];
    assert_eq!(references(&mut client, "EVAL.yaml", "  target: prod|uction\n", false), uses);
    let all = references(&mut client, "EVAL.yaml", "  target: prod|uction\n", true);
    assert_eq!(all[0], ".evalrig/targets.yaml:2");
    assert_eq!(all.len(), 6);
    // An id is one of its suite only.
    assert_eq!(references(&mut client, "EVAL.yaml", "id: hel|lo", true), ["EVAL.yaml:9"]);
}

#[test]
fn a_target_is_renamed_everywhere_with_its_quotes() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let prepared = client.ask("textDocument/prepareRename", "EVAL.yaml", "target: \"prod|");
    assert_eq!(prepared["placeholder"], "production");
    let mut params = client.place("EVAL.yaml", "target: \"prod|");
    params["newName"] = json!("staging");
    let edit = client.request("textDocument/rename", &params).unwrap();
    let renamed = SUITE.replace("production", "staging");
    assert_eq!(client.edited("EVAL.yaml", &edit), renamed);
    let targets = TARGETS.replace("production", "staging");
    assert_eq!(client.edited(".evalrig/targets.yaml", &edit), targets);

    params["newName"] = json!("alias");
    let refused = client.request("textDocument/rename", &params).unwrap_err();
    assert_eq!(refused["message"], "another target is named `alias`");
    params["newName"] = json!(" ");
    let refused = client.request("textDocument/rename", &params).unwrap_err();
    assert_eq!(refused["message"], "a name is not empty and has one line");
}

#[test]
fn a_test_is_renamed_where_it_is_written() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.open("cases.yaml");
    let mut params = client.place("cases.yaml", "id: mo|re");
    params["newName"] = json!("hello");
    let refused = client.request("textDocument/rename", &params).unwrap_err();
    assert_eq!(refused["message"], "another test is named `hello`");
    params["newName"] = json!("yes, please");
    let edit = client.request("textDocument/rename", &params).unwrap();
    assert_eq!(client.edited("cases.yaml", &edit), CASES.replace("more", "\"yes, please\""));
    assert_eq!(edit["changes"].as_object().unwrap().len(), 1);
    let elsewhere = client.ask("textDocument/prepareRename", "cases.yaml", "crit|eria");
    assert_eq!(elsewhere, Value::Null);
}

#[test]
fn symbols_are_the_tests_and_the_targets() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.open(".evalrig/targets.yaml");
    let symbols = client.ask_all("textDocument/documentSymbol", "EVAL.yaml");
    assert_eq!(symbols.as_array().unwrap().len(), 1);
    assert_eq!(symbols[0]["name"], "hello");
    assert_eq!(symbols[0]["detail"], "Greets {{ who }}");
    assert_eq!(client.at_range("EVAL.yaml", &symbols[0]["selectionRange"]), "hello");
    let whole = client.at_range("EVAL.yaml", &symbols[0]["range"]);
    assert!(whole.starts_with("id: hello") && whole.ends_with("production}"), "{whole}");
    let symbols = client.ask_all("textDocument/documentSymbol", ".evalrig/targets.yaml");
    let names: Vec<&str> =
        symbols.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["production", "alias"]);

    client.open_as(
        "d.jsonl",
        "{\"id\": \"a\", \"input\": \"x\"}\n{broken\n{\"id\": \"b\", \"input\": \"x\"}\n",
    );
    let symbols = client.ask_all("textDocument/documentSymbol", "d.jsonl");
    assert_eq!(symbols[1]["name"], "b");
    assert_eq!(symbols[1]["selectionRange"]["start"], json!({"line": 2, "character": 7}));
}

#[test]
fn symbols_before_a_mistake_stay() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    client.replace("EVAL.yaml", "  - cases.yaml\n", "  - {id: second, criteria: [\n");
    let symbols = client.ask_all("textDocument/documentSymbol", "EVAL.yaml");
    assert_eq!(symbols[0]["name"], "hello");
}

#[test]
fn tests_lists_and_comments_fold() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let ranges = client.ask_all("textDocument/foldingRange", "EVAL.yaml");
    let mut lines: Vec<(u64, u64)> = ranges
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["startLine"].as_u64().unwrap(), one["endLine"].as_u64().unwrap()))
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [(0, 1), (3, 4), (5, 6), (7, 18), (8, 17), (12, 17), (13, 14)]);
    let comment = ranges.as_array().unwrap().iter().find(|one| one["kind"] == "comment").unwrap();
    assert_eq!(comment["endLine"], 1);
}

#[test]
fn templates_have_tokens() {
    let project = project();
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let tokens = client.ask_all("textDocument/semanticTokens/full", "EVAL.yaml");
    let numbers: Vec<u64> =
        tokens["data"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect();
    // Line 10: `{{ who }}`; line 11: `${{ NAME }}`.
    assert_eq!(
        numbers,
        [
            [9, 21, 2, 0, 0],
            [0, 3, 3, 2, 0],
            [0, 4, 2, 0, 0],
            [1, 14, 3, 0, 0],
            [0, 4, 4, 1, 0],
            [0, 5, 2, 0, 0],
        ]
        .concat()
    );
}
