//! What a person is told, once and in the right place.

mod support;

use support::Project;

/// Answers every test with the same text.
const TARGETS: &str = "\
targets:
  - name: default
    provider: mock
    response: hello
";

const TRIGGERS: &str = r#"{"should_trigger": ["Build the app", "Run the tests", "Sign the app"],
 "should_not_trigger": ["Write a poem"]}"#;

const SKILL: &str = "\
name: xcode
metadata: {skill: xcode}
tests:
  - {id: 1, criteria: Builds, input: Build the app, assert: [{type: contains, value: hello}]}
";

#[test]
fn what_transpile_wrote_is_not_a_second_suite() {
    let project = Project::new(SKILL, TARGETS);
    project.evalrig(&["transpile", "EVAL.yaml"]).exits(0).prints("wrote evals.json\n");
    project.run(&["--dry-run"]).exits(0).prints("cases         1\n");
    let ran = project.evalrig(&["validate"]);
    assert!(!ran.exits(0).out.contains("duplicate-suite-name"), "{}", ran.out);
    // Named, it is a suite like any other; alone in a directory, it says so.
    project.run(&["evals.json", "--dry-run", "--skip-judges"]).exits(0).prints("xcode: 1 test");
    project.evalrig(&["transpile", "EVAL.yaml", "--out", "build"]).exits(0);
    project.run(&["build"]).exits(4).says("`build/evals.json`, which `transpile` wrote; name it");
    // Edited by hand, it is no copy of the suite.
    let edited = project.read("evals.json").replace("Build the app", "Build it");
    project.write("evals.json", &edited);
    project.evalrig(&["list"]).exits(0).prints("evals.json");
}

#[test]
fn what_convert_wrote_validates_without_a_word() {
    let project = Project::new(SKILL, TARGETS);
    project.write("skills/xcode/evals/trigger-evals.json", TRIGGERS);
    project.write("skills/xcode/EVAL.yaml", SKILL);
    let source = "skills/xcode/evals/trigger-evals.json";
    let output = "skills/xcode/triggers.eval.yaml";
    project.evalrig(&["convert", source, "-o", output, "-q"]).exits(0);
    let text = project.read(output);
    let header =
        "# Made from trigger-evals.json by `evalrig convert`.\nname: xcode-trigger-evals\n";
    assert!(text.starts_with(header), "{text}");
    assert!(text.contains("criteria: Does not use the skill `xcode`\n"), "{text}");
    let ran = project.evalrig(&["validate", "skills", "--strict"]);
    ran.exits(0).prints("all good");
    // Back as evals.json it has no sentences that were not in the source.
    let ran = project.evalrig(&["transpile", output, "--stdout", "--format", "eval-set"]);
    assert!(!ran.exits(0).out.contains("the skill `xcode`"), "{}", ran.out);
}
