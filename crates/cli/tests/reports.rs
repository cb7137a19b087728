//! What reports say of a run, through the binary.
#![cfg(unix)]

mod support;
use support::Project;

const EVERY_REPORT: &[&str] = &[
    "--no-record",
    "--report",
    "markdown=out.md",
    "--report",
    "github=out.txt",
    "--report",
    "junit=out.xml",
    "--report",
    "sarif=out.sarif",
];

fn project(suite: &str, agent: &str) -> Project {
    let project = Project::empty();
    project.write("EVAL.yaml", suite);
    project.write("agent.sh", agent);
    let agent = project.path("agent.sh");
    let target =
        format!("{{name: default, provider: cli, command: [sh, \"{}\"]}}", agent.display());
    project.write(".evalrig/targets.yaml", &format!("targets: [{target}]\n"));
    project
}

/// Passes at 0.8 with four checks of five.
fn four_of_five() -> Project {
    let checks: String = ["a", "b", "c", "d", "November"]
        .map(|value| format!("      - {{type: icontains, value: {value}}}\n"))
        .concat();
    let suite = format!(
        "name: s\ntests:\n  - id: t1\n    criteria: c\n    input: hi\n    assert:\n{checks}"
    );
    project(&suite, "echo a b c d\n")
}

#[test]
fn a_missed_check_of_a_passing_test_is_counted() {
    let project = four_of_five();
    project
        .run(EVERY_REPORT)
        .exits(0)
        .prints("1 missed check in a passing test; -v shows what was missed");
    let markdown = project.read("out.md");
    assert!(markdown.contains("1 missed check in a passing test:"), "{markdown}");
    assert!(markdown.contains("| <code>t1</code> | 0.80 | "), "{markdown}");
    assert!(markdown.contains("EVAL.yaml:11"), "{markdown}");
    let github = project.read("out.txt");
    assert!(github.contains("%0A1 missed check in a passing test"), "{github}");
    let junit = project.read("out.xml");
    assert!(junit.contains("<system-out>the test passed, but not every check did:"), "{junit}");
    assert!(junit.contains("November"), "{junit}");
    assert!(junit.contains("failures=\"0\""), "{junit}");
    let sarif = project.read("out.sarif");
    assert!(sarif.contains(r#""level":"note""#), "{sarif}");
    assert!(sarif.contains("November"), "{sarif}");
}

#[test]
fn verbose_shows_each_missed_check_with_its_line() {
    let ran = four_of_five();
    let ran = ran.run(&["-v", "--no-record"]);
    ran.exits(0).prints("EVAL.yaml:11  icontains-5 (icontains) scored 0.00").prints("November");
}

/// A command that prints 14 lines on standard error and fails.
const COMMAND: &str = "\
name: s
workspace: {}
tests:
  - id: t1
    criteria: c
    input: hi
    assert:
      - {type: icontains, value: nowhere}
      - name: hidden tests
        type: command
        run: 'for n in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo row $n >&2; done; echo \"  ValueError: $n\" >&2; exit 1'
        required: true
";

#[test]
fn the_output_of_a_failed_command_is_shown() {
    let project = project(COMMAND, "echo done\n");
    let ran = project.run(EVERY_REPORT);
    ran.exits(1).prints("stderr, last 10 of 14 lines:").prints("  ValueError: 13").prints("row 5");
    assert!(!ran.out.contains("row 4"), "{}", ran.out);
    let markdown = project.read("out.md");
    assert!(
        markdown.contains("stderr, last 10 of 14 lines of <code>hidden tests</code>:"),
        "{markdown}"
    );
    assert!(markdown.contains("\n  ValueError: 13\n"), "{markdown}");
    let junit = project.read("out.xml");
    assert!(junit.contains("stderr of hidden tests:\nrow 1\nrow 2\n"), "{junit}");
}

#[test]
fn markdown_names_the_gate_that_was_missed() {
    let project = project(COMMAND, "echo done\n");
    project.run(EVERY_REPORT).exits(1);
    let markdown = project.read("out.md");
    let row = markdown.lines().find(|line| line.starts_with("| ❌")).unwrap();
    assert!(row.contains("Command ended with exit status 1"), "{row}");
}

#[test]
fn the_end_of_a_long_traceback_is_shown() {
    let agent = "echo 'Traceback (most recent call last):' >&2\n\
        for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n\
        echo \"  File \\\"/usr/lib/python3/pathlib.py\\\", line $n, in open\" >&2\ndone\n\
        echo 'PermissionError: sales.csv' >&2\nexit 1\n";
    let suite = "name: s\ntests:\n  - {id: t1, criteria: c, input: hi, assert: [{type: contains, value: x}]}\n";
    let project = project(suite, agent);
    project.run(EVERY_REPORT).exits(3).prints("Traceback").prints("PermissionError:");
    for report in ["out.md", "out.txt", "out.xml", "out.sarif"] {
        let text = project.read(report);
        assert!(text.contains("PermissionError: sales.csv"), "{report}: {text}");
    }
}
