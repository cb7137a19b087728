//! What a person is told, once and in the right place: the summary although the report goes to a
//! file, equal diagnostics as one, no suite twice, and nothing about files that evalrig wrote.

mod support;

use support::Project;

const SUITE: &str = "\
name: greeting
tests:
  - {id: hello, criteria: Greets, input: Say hello, assert: [{type: contains, value: hello}]}
  - {id: bye, criteria: Says goodbye, input: Say bye, assert: [{type: contains, value: bye}]}
";

/// Answers every test with the same text.
const TARGETS: &str = "\
targets:
  - name: default
    provider: mock
    response: hello
";

const TRIGGERS: &str = r#"{"should_trigger": ["Build the app", "Run the tests", "Sign the app"],
 "should_not_trigger": ["Write a poem"]}"#;

#[test]
fn a_report_in_a_file_comes_with_the_summary_and_its_path() {
    let project = Project::new(SUITE, TARGETS);
    let ran = project.run(&["--report", "html=out/r.html", "--report", "junit=out/j.xml"]);
    ran.exits(1).prints("1 of 2 passed").prints("  report   out/r.html\n");
    ran.prints("           out/j.xml\n");
    let ran = project.evalrig(&["report", support::LATEST, "--report", "html=again.html"]);
    ran.exits(1).prints("1 of 2 passed").prints("  report   again.html\n");
    let ran = project.evalrig(&["grade", support::LATEST, "--report", "markdown=g.md"]);
    ran.exits(1).prints("1 of 2 passed").prints("  report   g.md\n");
}

#[test]
fn standard_output_has_one_report() {
    let project = Project::new(SUITE, TARGETS);
    let ran = project.run(&["--report", "json", "--report", "junit=j.xml"]);
    assert!(ran.exits(1).out.starts_with('{'), "{}", ran.out);
    if cfg!(unix) {
        let ran = project.run(&["--report", "json=/dev/stdout"]);
        assert!(ran.exits(1).out.starts_with('{'), "{}", ran.out);
        assert!(!ran.out.contains("1 of 2 passed"), "{}", ran.out);
        let ran = project.run(&["--output", "/dev/stdout", "--report", "json=r.json"]);
        assert!(!ran.exits(1).out.contains("1 of 2 passed"), "{}", ran.out);
    }
}

#[test]
fn a_summary_names_only_reports_that_were_written() {
    let project = Project::new(SUITE, TARGETS);
    let ran = project.run(&["--report", "junit=/dev/null"]);
    if cfg!(unix) {
        assert!(!ran.exits(1).out.contains("  report "), "{}", ran.out);
    }
}

#[test]
fn equal_diagnostics_are_one_entry_with_a_count_and_places() {
    let project = Project::new("name: many\ntests:\n", TARGETS);
    let test = |n| format!("  - {{id: t{n}, input: Hi, assert: [{{type: contains, value: a}}]}}\n");
    let tests: String = (0..20).map(test).collect();
    project.write("EVAL.yaml", &format!("name: many\ntests:\n{tests}"));
    let ran = project.evalrig(&["validate"]);
    ran.exits(1).prints("the same in 19 more places: EVAL.yaml:4:6, 5:6, ");
    assert_eq!(ran.out.matches("[missing-criteria]").count(), 1, "{}", ran.out);
    ran.prints("20 errors");
    let ran = project.run(&["--dry-run"]);
    assert_eq!(ran.err.matches("[missing-criteria]").count(), 1, "{}", ran.err);
    for format in ["concise", "json", "github", "sarif"] {
        let ran = project.evalrig(&["validate", "--format", format]);
        assert!(ran.out.matches("missing-criteria").count() >= 20, "{format}: {}", ran.out);
    }
}

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
