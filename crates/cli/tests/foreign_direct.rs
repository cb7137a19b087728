//! Files of other tools that are named on the command line are read without `convert`, if nothing is lost and
//! nothing of theirs is run. Those that are only found are named in the message.

mod support;

use support::Project;

const PROMPTFOO: &str = "\
prompts: ['Say {{word}}']
providers: [echo]
tests:
  - description: Says hello
    vars: {word: hello}
    assert: [{type: contains, value: hello}]
  - vars: {word: bye}
    assert: [{type: not-contains, value: hello}]
";

const VALLY: &str = "\
name: greetings
stimuli:
  - name: greets
    prompt: Say hello
    graders: [{type: output-contains, config: {substring: hello}}]
";

const MOCK: &str = "targets: [{name: default, provider: mock, response: hello}]\n";

fn promptfoo(text: &str) -> Project {
    let project = Project::empty();
    project.write("promptfooconfig.yaml", text);
    project
}

#[test]
fn a_configuration_is_validated_listed_shown_and_run() {
    let project = promptfoo(PROMPTFOO);
    let file = "promptfooconfig.yaml";
    project.evalrig(&["validate", file, "--strict"]).exits(0).prints("all good: 1 file, 2 tests");
    project.evalrig(&["list", file]).exits(0).prints("says-hello");
    project.evalrig(&["show", &format!("{file}#says-hello")]).exits(0).prints("contains");
    // Its providers are the targets.
    project.run(&[file, "-o", "results.jsonl"]).exits(0);
    let rows = project.rows_of("results.jsonl");
    let outcomes: Vec<&str> = rows.iter().filter_map(|row| row["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["passed", "passed"]);
    // A place is a line of the text that it became.
    let place = rows[0]["source"]["file"].as_str().unwrap_or_default();
    assert_eq!(place, "promptfooconfig.yaml (converted)");
    assert!(!project.has(".evalrig/targets.yaml") && !project.has("EVAL.yaml"));
    // What is stored can be graded again and resumed.
    project.evalrig(&["grade", "results.jsonl", "-o", "again.jsonl"]).exits(0);
}

#[test]
fn the_targets_file_of_the_repository_goes_first() {
    let project = promptfoo(&PROMPTFOO.replace("[echo]", "[{id: echo, label: default}]"));
    project.write(".evalrig/targets.yaml", MOCK);
    project.run(&["promptfooconfig.yaml", "-o", "results.jsonl"]).exits(1);
    let rows = project.rows_of("results.jsonl");
    let outcome = |id: &str| {
        let row = rows.iter().find(|row| row["evalId"] == id).expect("a row");
        row["outcome"].clone()
    };
    assert_eq!([outcome("says-hello"), outcome("test-2")], ["passed", "failed"]);
}

#[test]
fn a_spec_of_vally_is_read_under_any_name() {
    let project = Project::new(VALLY, MOCK);
    project.evalrig(&["validate", "EVAL.yaml"]).exits(0).prints("1 test");
    project.run(&["EVAL.yaml"]).exits(0);
    // Found and not named, it is skipped as before.
    project
        .run(&[])
        .exits(4)
        .says("foreign-dialect")
        .says("evalrig convert EVAL.yaml --from vally");
}

#[test]
fn what_would_be_lost_is_said_with_its_line_and_the_command() {
    let project =
        promptfoo(&PROMPTFOO.replace("contains, value: hello}]\n  -", "similar, value: hi}]\n  -"));
    for command in ["validate", "run", "list", "show"] {
        let ran = project.evalrig(&[command, "promptfooconfig.yaml"]);
        let told = format!("{}{}", ran.out, ran.err);
        assert_ne!(ran.code, Some(0), "{command}: {told}");
        let command_to_type = "evalrig convert promptfooconfig.yaml --from promptfoo -o EVAL.yaml";
        for part in ["foreign-dialect", "loss[judged]", "\n6 |     assert", command_to_type] {
            assert!(told.contains(part), "{command} does not say {part}: {told}");
        }
    }
}

#[test]
fn code_of_the_file_is_run_only_from_a_converted_suite() {
    let python = "{type: python, value: 'open(\"ran\", \"w\").close() or True'}";
    let javascript = "{type: javascript, value: 'require(\"fs\").writeFileSync(\"ran\", \"\")'}";
    let check = "{type: contains, value: hello}";
    for text in [
        PROMPTFOO.replacen(check, python, 1),
        PROMPTFOO.replacen(check, javascript, 1),
        PROMPTFOO.replace("[echo]", "['exec:touch ran']"),
        PROMPTFOO.replace("value: hello}]\n  -", "value: hello, transform: 'output.trim()'}]\n  -"),
    ] {
        let project = promptfoo(&text);
        let ran = project.run(&["promptfooconfig.yaml"]);
        ran.exits(2).says("loss[script]").says("only").says("evalrig convert promptfooconfig.yaml");
        assert!(!project.has("ran"), "{text}");
    }
    let vally = VALLY.replace(
        "{type: output-contains, config: {substring: hello}}",
        "{type: run-command, config: {command: touch ran}}",
    );
    let project = Project::new(&vally, MOCK);
    project.run(&["EVAL.yaml"]).exits(2).says("its tests run programs");
    assert!(!project.has("ran"));
}

#[test]
fn what_cannot_be_converted_is_not_read_either() {
    let project = promptfoo("prompts: [a]\nproviders: [echo]\ntests: file://tests.js\n");
    let ran = project.evalrig(&["validate", "promptfooconfig.yaml"]);
    ran.exits(1).prints("foreign-dialect").prints("tests from `file://tests.js` are made");
}

#[test]
fn datasets_name_convert() {
    let project = Project::empty();
    project.write(".evalrig/targets.yaml", MOCK);
    for (text, format) in [
        ("{\"input\": \"Say hello\", \"ideal\": \"hello\"}\n", "openai-evals"),
        ("{\"input\": \"Say hello\", \"target\": \"hello\"}\n", "inspect"),
    ] {
        project.write("samples.jsonl", text);
        let command = format!("evalrig convert samples.jsonl --from {format} -o EVAL.yaml");
        let validated = project.evalrig(&["validate", "samples.jsonl"]);
        validated.exits(1).prints("foreign-dialect").prints(&command);
        project.run(&["samples.jsonl"]).exits(2).says(&command);
    }
    // A sidecar says that the lines are tests.
    project.write("samples.yaml", "name: samples\n");
    let validated = project.evalrig(&["validate", "samples.jsonl"]);
    assert!(!validated.out.contains("foreign-dialect"), "{}", validated.out);
}

#[test]
fn suites_with_a_misspelt_key_stay_suites() {
    let suite = "name: a\ntests:\n  - {id: a, criteria: c, input: hi, target: hello}\n";
    let project = Project::new(suite, MOCK);
    let ran = project.evalrig(&["validate", "EVAL.yaml"]);
    assert!(!ran.out.contains("foreign-dialect") && ran.out.contains("`target`"), "{}", ran.out);
    project.write("a.jsonl", "{\"criteria\": \"c\", \"input\": \"hi\", \"target\": \"hello\"}\n");
    let ran = project.evalrig(&["validate", "a.jsonl"]);
    assert!(!ran.out.contains("foreign-dialect"), "{}", ran.out);
}

#[test]
fn files_of_other_tools_are_named_where_no_suite_is_found() {
    let project = Project::empty();
    project.write("evals/promptfooconfig.yaml", PROMPTFOO);
    project.write("evals/data.jsonl", "{\"input\": \"a\", \"ideal\": \"b\"}\n");
    project.write("package.json", "{\"name\": \"x\"}\n");
    for command in ["validate", "list", "run"] {
        let ran = project.evalrig(&[command]);
        ran.exits(4).says("no suite found").says(
            "`evals/promptfooconfig.yaml` is a promptfoo configuration: \
             `evalrig convert evals/promptfooconfig.yaml -o evals/EVAL.yaml` makes a suite of it",
        );
        ran.says("evalrig convert evals/data.jsonl -o evals/EVAL.yaml");
        assert!(!ran.err.contains("package.json"), "{}", ran.err);
    }
}

#[test]
fn a_configuration_that_is_code_is_not_run() {
    let project = Project::empty();
    project.write("promptfooconfig.js", "require('fs').writeFileSync('ran', '')\n");
    let ran = project.evalrig(&["convert", "promptfooconfig.js", "-o", "EVAL.yaml"]);
    ran.exits(2).says("`promptfooconfig.js` is code").says(".json or .yaml file");
    assert!(!project.has("ran"));
}

#[test]
fn several_providers_are_named_with_the_options_that_ask_all() {
    let project = promptfoo(&PROMPTFOO.replace("[echo]", "[echo, 'openai:gpt-4o']"));
    let ran = project.run(&["promptfooconfig.yaml", "--no-record"]);
    ran.says("has 2 providers, and a run asks `echo`; add `-t echo -t gpt-4o` to `run` to ask all");
}
