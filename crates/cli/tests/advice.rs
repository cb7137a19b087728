//! What messages tell people to do, through the binary: it must be possible, and it must help.
#![cfg(unix)]

mod support;
use support::Project;

const MOCK: &str = "targets: [{name: default, provider: mock, response: yes it is}]\n";

/// A skill with an evals.json and a list of triggers with a mistake in it.
fn skill() -> Project {
    let project = Project::empty();
    project.write("skills/csv/SKILL.md", "---\nname: csv\ndescription: Reads CSV\n---\nRead.\n");
    project.write(
        "skills/csv/evals/evals.json",
        "{\"skill_name\": \"csv\", \"evals\": [{\"id\": 1, \"prompt\": \"Hi\", \"expected_output\": \"Hello\"}]}\n",
    );
    project.write(
        "skills/csv/evals/triggers.json",
        "[{\"query\": \"Read this CSV\", \"should_trigger\": \"no\"}]\n",
    );
    project
}

#[test]
fn an_eval_set_that_is_not_found_in_its_directory_is_named() {
    let project = skill();
    for path in [".", "skills", "skills/csv/evals"] {
        project
            .evalrig(&["validate", path])
            .exits(0)
            .says("`skills/csv/evals/triggers.json` is not checked");
    }
    let named = project.evalrig(&["validate", "skills/csv/evals/triggers.json"]);
    named.exits(1).prints("wrong-type");
    assert!(!named.err.contains("is not checked"), "{}", named.err);
    let quiet = project.evalrig(&["validate", "--quiet"]);
    assert!(!quiet.err.contains("is not checked"), "{}", quiet.err);
}

#[test]
fn other_json_files_and_what_transpile_wrote_are_not_named() {
    let project = skill();
    project.write("skills/csv/evals/triggers.json", "{\"rows\": [1, 2]}\n");
    project.write("other/data.json", "[{\"query\": \"a\", \"should_trigger\": true}]\n");
    let ran = project.evalrig(&["validate"]);
    assert!(!ran.err.contains("is not checked"), "{}", ran.err);
}

#[test]
fn should_trigger_in_a_test_leads_to_an_assertion() {
    let project = Project::new(
        "name: s\ntests:\n  - {id: a, criteria: c, input: Hi, should_trigger: no}\n  - {id: b, criteria: c, input: Hi, assert: [], assertion: []}\n",
        MOCK,
    );
    let ran = project.evalrig(&["validate"]);
    ran.prints("{type: trigger-judge, skill: NAME, detection: any-call, should_trigger: false}");
    ran.prints("did you mean `assert`?");
    assert!(!ran.out.contains("begin it with `x-`"), "{}", ran.out);
}

#[test]
fn an_eval_set_without_a_skill_is_not_told_to_name_it_at_its_root() {
    let project = Project::empty();
    project.write("csv/evals/set.json", "[{\"query\": \"a\", \"should_trigger\": true}]\n");
    let ran = project.evalrig(&["validate", "csv/evals/set.json"]);
    ran.prints("missing-skill-name").prints("a list has no place for it");
}

#[test]
fn all_typos_at_the_root_are_reported_together() {
    let project = Project::new("nmae: a\nverison: \"1.0\"\nworkspce: {}\ntestss: []\n", MOCK);
    let ran = project.evalrig(&["validate"]);
    for name in ["name", "version", "workspace", "tests"] {
        ran.prints(&format!("did you mean `{name}`?"));
    }
}

#[test]
fn a_converted_suite_says_that_its_source_is_still_there() {
    let project = skill();
    let ran =
        project.evalrig(&["convert", "skills/csv/evals/evals.json", "-o", "skills/csv/EVAL.yaml"]);
    ran.exits(0).says("`skills/csv/evals/evals.json` has the same tests and is still a suite");
    let exclude = "exclude it with `'!skills/csv/evals/evals.json'`";
    ran.says(exclude);
    project.evalrig(&["validate"]).prints("duplicate-suite-name").prints(exclude);
    let rest = project.evalrig(&["validate", "!skills/csv/evals/evals.json"]);
    assert!(!rest.out.contains("duplicate-suite-name"), "{}", rest.out);
}

#[test]
fn failed_says_when_nothing_failed() {
    let suite = "name: s\ntests: [{id: a, criteria: c, input: Hi, assert: [{type: contains, value: yes it}]}]\n";
    let project = Project::new(suite, MOCK);
    project.run(&["--no-record"]).exits(0);
    project
        .run(&["--no-record", "--failed"])
        .exits(4)
        .says("every selected test passed in the earlier run");
}

#[test]
fn after_a_bad_reply_of_a_judge_the_answers_are_graded_again() {
    let suite = "name: s\ntests: [{id: a, criteria: c, input: Hi, rubrics: [Greets]}]\n";
    let targets = "judge_target: judge\ntargets:\n  - {name: default, provider: mock, response: Hello}\n  - {name: judge, provider: mock, response: I cannot say}\n";
    let project = Project::new(suite, targets);
    let ran = project.run(&["--no-record", "--output", "out.jsonl"]);
    ran.exits(3).prints("evalrig grade out.jsonl");
    assert!(!ran.out.contains("run --failed"), "{}", ran.out);
}

#[test]
fn the_lines_of_config_can_be_copied_into_the_file() {
    let project = Project::new("name: s\ntests: []\n", MOCK);
    let printed = project.evalrig(&["config"]);
    project.write("evalrig.toml", &printed.exits(0).out);
    project.evalrig(&["config"]).exits(0).prints("trials");
}

#[test]
fn negated_types_have_a_page() {
    let project = Project::empty();
    let page = |name: &str| project.evalrig(&["explain", name]).exits(0).out.clone();
    assert_eq!(page("not-contains"), page("contains"));
    project.evalrig(&["explain", "not-a-type"]).exits(2);
}

#[test]
fn the_workflow_of_the_sample_says_that_it_will_fail() {
    let project = Project::empty();
    let note = "one of the three tests fails on purpose, so CI fails until you change it";
    project.evalrig(&["init", "--ci", "github"]).exits(0).prints(note);
    let plain = Project::empty();
    let ran = plain.evalrig(&["init"]);
    assert!(!ran.out.contains(note), "{}", ran.out);
}
