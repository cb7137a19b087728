//! Runs with few file descriptors: fewer workers and smaller batches, but every case and every record.
#![cfg(target_os = "linux")]

mod support;

use std::fmt::Write as _;
use std::process::Command;

use fake_model::{FakeModel, Reply, Script};
use support::{Project, Ran};

const CASES: usize = 120;

fn suite() -> String {
    let mut suite = "name: few\ntests:\n".to_owned();
    for number in 0..CASES {
        let _ = writeln!(
            suite,
            "  - {{id: t{number}, criteria: c, input: hi {number}, assert: [{{type: contains, value: ok}}]}}"
        );
    }
    suite
}

/// `evalrig run` with this `ulimit` and many workers.
fn run(project: &Project, limit: &str) -> Ran {
    let evalrig = project.command(&["run", "--workers", "64", "--quiet"]);
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "bash"]);
    command.arg(evalrig.get_program()).args(evalrig.get_args());
    command.current_dir(evalrig.get_current_dir().unwrap());
    command.env("TMPDIR", project.scratch.path());
    // There, the run log is off.
    command.env_remove("CI");
    Ran::of(command)
}

#[track_caller]
fn is_complete(project: &Project) {
    let rows = project.rows();
    assert_eq!(rows.len(), CASES);
    for row in rows {
        assert_eq!(row["outcome"], "passed", "{row}");
        assert!(row["record"].is_object(), "{row}");
    }
    project.evalrig(&["log", "verify"]).exits(0);
}

#[test]
fn programs_wait_for_descriptors() {
    let targets = "targets: [{name: default, provider: cli, command: echo ok}]\n";
    for limit in ["-n 48", "-n 64", "-n 256"] {
        let project = Project::new(&suite(), targets);
        run(&project, limit).exits(0);
        is_complete(&project);
    }
}

#[test]
fn connections_wait_for_descriptors() {
    let server = FakeModel::start(Script::new().otherwise(Reply::text("ok")));
    let targets = format!(
        "targets: [{{name: default, provider: openai, base_url: \"{}/v1\", api_key: k, model: m}}]\n",
        server.url()
    );
    for limit in ["-n 48", "-n 256"] {
        let project = Project::new(&suite(), &targets);
        run(&project, limit).exits(0);
        is_complete(&project);
    }
}

#[test]
fn programs_get_the_limit_that_the_run_was_started_with() {
    let suite = "name: few\ntests:\n  \
                 - {id: a, criteria: c, input: hi, assert: [{type: contains, value: is 99}]}\n";
    let line = "sleep 0.1; echo \"is $(ulimit -Sn) of $(ulimit -Hn)\"";
    let targets = format!("targets: [{{name: default, provider: cli, command: '{line}'}}]\n");
    let project = Project::new(suite, &targets);
    run(&project, "-Sn 99").exits(0);
    assert_ne!(project.row("a")["candidateAnswer"], "is 99 of 99");
}
