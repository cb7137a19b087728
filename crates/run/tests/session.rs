//! The library runs suites without the command line.

#[path = "../examples/run_suite.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod run_suite;

#[test]
fn the_example_program_runs_a_suite() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".evalrig")).unwrap();
    let suite = "name: greetings
tests:
  - {id: good, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: bad, criteria: c, input: hi, assert: [{type: contains, value: bye}]}
";
    let targets = "targets: [{name: default, provider: mock, response: hello}]\n";
    std::fs::write(folder.path().join("EVAL.yaml"), suite).unwrap();
    std::fs::write(folder.path().join(".evalrig/targets.yaml"), targets).unwrap();
    let outcome = run_suite::run_suites(folder.path().to_str().unwrap()).unwrap();
    assert_eq!(outcome.totals.counts.total(), 2);
    assert_eq!(outcome.exit.code(), 1);
    assert!(outcome.results[0].is_file());
}
