//! What people meet of the run log: when it is written, what is said about it, and how records are found.

mod support;

use support::{Project, Ran};

const SUITE: &str = "name: greetings
tests:
  - {id: hello, criteria: Greets, input: Say hello to Alice, assert: [{type: contains, value: Hello}]}
  - {id: bye, criteria: Takes leave, input: Say goodbye to Bob, assert: [{type: contains, value: Bye}]}
";
const TARGETS: &str = "targets: [{name: default, provider: mock, response: Hello there}]";
const NEW: &str = "new: commit it to keep a history, add `.co/` to .gitignore";
const OFF: &str = "run log  off, because CI is set; --record turns it on";

fn project() -> Project {
    Project::new(SUITE, TARGETS)
}

fn in_ci(project: &Project, value: &str, arguments: &[&str]) -> Ran {
    let arguments: Vec<&str> = ["run"].iter().chain(arguments).copied().collect();
    let mut command = project.command(&arguments);
    command.env("CI", value);
    Ran::of(command)
}

#[test]
fn the_first_run_says_what_the_log_is() {
    let project = project();
    project.run(&[]).exits(1).prints("run log  2 runs in .co/evals").prints(NEW);
    let second = project.run(&[]);
    assert!(!second.out.contains(NEW), "{}", second.out);
    let project = self::project();
    let without = project.run(&["--no-record"]);
    assert!(!without.out.contains("run log"), "{}", without.out);
}

#[test]
fn in_ci_it_is_off_unless_it_is_asked_for() {
    let project = project();
    in_ci(&project, "true", &[]).exits(1).prints(OFF);
    in_ci(&project, "1", &["--keep-runs", "3"]).exits(1).prints(OFF);
    assert!(!project.has(".co"));
    let refused = in_ci(&project, "true", &["--no-record"]);
    assert!(!refused.out.contains("run log"), "{}", refused.out);
    in_ci(&project, "true", &["--store", "elsewhere"]).exits(1);
    assert!(project.has("elsewhere") && !project.has(".co"));
    in_ci(&project, "true", &["--record"]).exits(1).prints("2 runs in .co/evals");
    assert!(project.has(".co/evals"));
    for unset in ["", "false", "0"] {
        let project = self::project();
        in_ci(&project, unset, &[]).exits(1).prints("2 runs in .co/evals");
    }
}

#[test]
fn the_file_can_ask_for_it_and_limit_it() {
    let project = project();
    project.write("evalrig.toml", "record = true\nkeep_runs = 1\n");
    for _ in 0..3 {
        in_ci(&project, "true", &[]).exits(1);
    }
    let runs = std::fs::read_dir(project.path(".co/evals/say_hello_to_alice")).unwrap().count();
    assert_eq!(runs, 1);
    // What was typed wins.
    let refused = in_ci(&project, "true", &["--no-record"]);
    assert!(!refused.out.contains("run log"), "{}", refused.out);
}

#[test]
fn init_says_what_the_log_is_before_there_is_one() {
    let project = Project::empty();
    project.evalrig(&["init"]).exits(0).prints("runs are recorded in .co/evals; commit it");
    project.run(&[]).exits(1);
    let again = project.evalrig(&["init"]);
    assert!(!again.out.contains(".co/evals"), "{}", again.out);
}

#[test]
fn log_lists_records_with_their_outcome_and_the_size_of_the_store() {
    let project = project();
    project.run(&[]).exits(1);
    let listed = project.evalrig(&["log"]);
    listed.exits(0).prints("✓ say_hello_to_alice  ").prints("✗ say_goodbye_to_bob  ");
    listed.prints("2 records in .co/evals, ").prints(" kB\n");
    assert_eq!(listed.out, project.evalrig(&["log", "list"]).out);
    let json = project.evalrig(&["log", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let files = project.all_files();
    let is_stored = |path: &std::path::Path| path.starts_with(project.path(".co/evals"));
    let bytes: usize =
        files.iter().filter(|(path, _)| is_stored(path)).map(|(_, bytes)| bytes.len()).sum();
    assert_eq!(document["bytes"], bytes);
}

#[test]
fn records_are_found_by_the_beginning_of_their_name() {
    let project = project();
    project.run(&[]).exits(1);
    project.evalrig(&["log", "show", "say_h"]).exits(0).prints("say_hello_to_alice (1 run");
    project.evalrig(&["log", "messages", "say_g"]).exits(0).prints("Say goodbye to Bob");
    project.evalrig(&["log", "expect", "say_hello", "Hello"]).exits(0);
    assert!(project.read(".co/evals/say_hello_to_alice.yaml").contains("expected: Hello"));
    let several = project.evalrig(&["log", "show", "say"]);
    several.exits(2).says("`say` is the beginning of 2 records: say_goodbye_to_bob, say_hello");
    let near = project.evalrig(&["log", "show", "say_helo_to_alice"]);
    near.exits(2).says("did you mean `say_hello_to_alice`?");
    project.evalrig(&["log", "show", "alice"]).exits(2).says("did you mean `say_hello_to_alice`?");
    project.evalrig(&["log", "show", "other"]).exits(2).says("other");
}
