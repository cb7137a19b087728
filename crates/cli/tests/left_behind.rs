//! Programs that a run starts never outlive it: not those that detach, not after a signal, not after
//! a bug. Unless a test says otherwise, each agent writes the number of every process to `started`.
#![cfg(target_os = "linux")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use serde_json::json;
use support::{Project, Ran, Running, is_alive, wait_until};

fn suite(cases: usize) -> String {
    let mut suite = "name: left\ntests:\n".to_owned();
    for number in 0..cases {
        let _ = writeln!(
            suite,
            "  - {{id: t{number}, criteria: c, input: hi, assert: [{{type: contains, value: ok}}]}}"
        );
    }
    suite
}

fn targets(line: &str) -> String {
    format!("targets: [{{name: default, provider: cli, command: {}}}]\n", json!(line))
}

/// Whether this process ignores a signal, as SIGHUP under `nohup` and SIGQUIT in the background. Its
/// children then ignore it too.
fn is_ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (number - 1)) != 0)
}

fn started(project: &Project) -> Vec<String> {
    project.lines("started")
}

#[track_caller]
fn all_are_gone(project: &Project) {
    let started = started(project);
    assert!(!started.is_empty(), "no program was started");
    wait_until("the end of what was started", || !started.iter().any(|one| is_alive(one)));
}

/// Ways to outlive the program that started it.
const DETACHING: &[(&str, &str)] = &[
    ("a background job", "sleep 207 >/dev/null 2>&1 & echo $! >> started; echo ok"),
    (
        "a session of its own",
        "setsid sh -c 'echo $$ >> started; exec sleep 207' >/dev/null 2>&1 & \
        while ! [ -s started ]; do sleep 0.01; done; echo ok",
    ),
    (
        "a double fork",
        "(setsid sh -c 'sleep 207 & echo $! >> started' >/dev/null 2>&1 &); \
        while ! [ -s started ]; do sleep 0.01; done; echo ok",
    ),
    (
        "no variables",
        "setsid env -i /bin/sh -c 'echo $$ >> started; exec sleep 207' >/dev/null 2>&1 & \
        while ! [ -s started ]; do sleep 0.01; done; echo ok",
    ),
];

#[test]
fn what_detaches_ends_with_the_run() {
    for (what, line) in DETACHING {
        let project = Project::new(&suite(3), &targets(line));
        project.run(&["--workers", "2", "--quiet"]).exits(0);
        let left: Vec<_> = started(&project).into_iter().filter(|one| is_alive(one)).collect();
        assert_eq!(left, [""; 0], "{what}");
    }
}

/// The second case looks for the processes of the first. A zombie would still be found.
#[test]
fn what_detaches_ends_with_its_case_and_is_reaped() {
    for (what, line) in DETACHING {
        let line = format!(
            "if [ \"$EVALRIG_TEST_ID\" = t0 ]; then {line}; else \
             for one in $(cat started); do kill -0 \"$one\" 2>/dev/null && echo left; done; \
             echo ok; fi"
        );
        let project = Project::new(&suite(2), &targets(&line));
        project.run(&["--workers", "1", "--quiet", "--messages"]).exits(0);
        let row = project.row("t1");
        assert_eq!(row["candidateAnswer"], "ok", "{what}");
    }
}

/// The second case runs from before the end of the first one until what the first one left is gone.
#[test]
fn what_detaches_ends_with_its_case_while_others_run() {
    for (what, line) in DETACHING {
        let line = format!(
            "if [ \"$EVALRIG_TEST_ID\" = t0 ]; then while ! [ -e second ]; do sleep 0.01; done; {line}; \
             else touch second; for turn in $(seq 2000); do \
             if [ -s started ] && ! kill -0 $(cat started) 2>/dev/null; then echo ok; exit; fi; \
             sleep 0.01; done; echo left; fi"
        );
        let project = Project::new(&suite(2), &targets(&line));
        project.run(&["--workers", "2", "--quiet", "--messages"]);
        assert_eq!(project.row("t1")["candidateAnswer"], "ok", "{what}");
        assert_eq!(project.row("t0")["candidateAnswer"], "ok", "{what}");
    }
}

/// Waits for a signal, with a child in a session of its own.
const WAITING: &str = "echo $$ >> started; \
    setsid sh -c 'trap \"\" TERM HUP INT QUIT; echo $$ >> started; while :; do sleep 1; done' & \
    wait; sleep 207";

fn start_waiting(project: &Project) -> Running {
    let mut running = project.start(&["--workers", "2"]);
    wait_until("two agents", || {
        assert!(!running.is_over(), "{}", running.said());
        started(project).len() >= 4
    });
    running
}

#[test]
fn signals_leave_nothing_behind() {
    for (signal, code) in [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)] {
        if ["HUP", "QUIT"].contains(&signal) && is_ignored(code - 128) {
            continue;
        }
        let project = Project::new(&suite(3), &targets(WAITING));
        let mut running = start_waiting(&project);
        running.signal(signal);
        running.wait_for("finishing running cases");
        running.signal(signal);
        running.end().exits(code);
        all_are_gone(&project);
        assert_eq!(std::fs::read_dir(project.scratch.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_kill_leaves_nothing_behind() {
    let project = Project::new(&suite(3), &targets(WAITING));
    start_waiting(&project).kill();
    all_are_gone(&project);
    let env = "env -i /bin/sh -c 'echo $$ >> started; exec sleep 207'";
    let project = Project::new(&suite(1), &targets(&format!("exec {env}")));
    let running = project.start(&[]);
    wait_until("an agent", || !started(&project).is_empty());
    running.kill();
    all_are_gone(&project);
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let project = Project::new(&suite(3), &targets(WAITING));
    let mut command = project.command(&["run", "--workers", "2"]);
    command.env("EVALRIG_TEST_PANIC", project.path("started"));
    let ran = Running::of(command).end();
    assert_eq!(ran.code, Some(101), "{}", ran.err);
    ran.says("this is a bug in evalrig");
    all_are_gone(&project);
}

/// Standard error is a pipe that is full and never read, so the message about the first signal blocks.
#[test]
fn the_second_signal_ends_what_is_stuck() {
    let project = Project::new(&suite(3), &targets(WAITING));
    let (mut full, _unread) = UnixStream::pair().unwrap();
    full.set_nonblocking(true).unwrap();
    while full.write(&[b'x'; 4096]).is_ok() {}
    full.set_nonblocking(false).unwrap();
    let mut command = project.command(&["run", "--workers", "2"]);
    let full = || Stdio::from(OwnedFd::from(full.try_clone().unwrap()));
    let mut child = command.stdin(Stdio::null()).stdout(full()).stderr(full()).spawn().unwrap();
    wait_until("two agents", || started(&project).len() >= 4);
    let id = child.id().to_string();
    let signal = |name: &str| {
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    };
    let mut status = None;
    wait_until("the end", || {
        // Two that come before evalrig has looked are one, and nothing shows when it has.
        signal("TERM");
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(143));
    all_are_gone(&project);
}

/// Ends a run with two signals, the second one once the first was heard.
#[track_caller]
fn end_by_two_signals(mut running: Running, first: &str, second: &str) -> Ran {
    running.signal(first);
    running.wait_for("finishing running cases");
    running.signal(second);
    running.end()
}

/// What the run waits for never comes, or comes long after the second signal: the case has no row then.
#[test]
fn the_second_signal_ends_a_run_that_grades() {
    for (first, second, code) in [("TERM", "INT", 130), ("INT", "TERM", 143)] {
        let line = "echo $$ >> started; head -c 60000 /dev/zero | tr '\\0' a; echo b";
        let pattern = "{type: regex, value: '(?=(a+)+$)(a|aa)+$x(?!yN)'}";
        let suite = suite(1).replace("{type: contains, value: ok}", pattern);
        let project = Project::new(&suite, &targets(line));
        let running = project.start(&["--workers", "1", "--quiet"]);
        wait_until("an agent", || !started(&project).is_empty());
        all_are_gone(&project);
        end_by_two_signals(running, first, second).exits(code);
        let graded = project.rows().into_iter().find(|row| row["error"]["kind"] == "limit");
        assert_eq!(graded, None);
    }
}

/// A FIFO that is open, full and never read.
#[test]
fn the_second_signal_ends_a_run_that_writes_a_report() {
    for (first, second, code) in [("TERM", "HUP", 129), ("INT", "TERM", 143)] {
        if second == "HUP" && is_ignored(1) {
            continue;
        }
        let project = Project::new(
            &suite(2_000),
            "targets: [{name: default, provider: mock, response: ok}]\n",
        );
        let fifo = project.path("report.fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _unread = fs::File::options().read(true).write(true).open(&fifo).unwrap();
        let arguments = ["--no-record", "--quiet", "--output", "r.jsonl", "--report"];
        let mut running = project.start(&[&arguments[..], &["junit=report.fifo"]].concat());
        wait_until("the end of the results", || {
            assert!(!running.is_over(), "{}", running.said());
            project.has("r.jsonl") && project.read("r.jsonl").contains("{\"kind\":\"end\"")
        });
        end_by_two_signals(running, first, second).exits(code);
    }
}

/// `nohup` ignores SIGHUP, and so does what it starts.
#[test]
fn an_ignored_hangup_stays_ignored() {
    let line = "echo $$ >> started; while ! [ -e go ]; do sleep 0.01; done; echo ok";
    let project = Project::new(&suite(1), &targets(line));
    let evalrig = project.command(&["run", "--quiet"]);
    let mut command = Command::new("nohup");
    command.arg(evalrig.get_program()).args(evalrig.get_args());
    command.current_dir(evalrig.get_current_dir().unwrap());
    command.env("TMPDIR", project.scratch.path());
    let running = Running::of(command);
    wait_until("an agent", || !started(&project).is_empty());
    running.signal("HUP");
    project.write("go", "");
    running.end().exits(0);
}

#[test]
fn a_file_that_may_not_grow_is_reported() {
    let project =
        Project::new(&suite(40), &targets("head -c 3000 /dev/zero | tr '\\0' x; echo ok"));
    let ran = limited(&project, &["run", "--quiet", "--no-record", "--messages"], 32);
    ran.exits(3).says("File too large");
}

/// Runs a command that may write no file of more than so many KiB.
fn limited(project: &Project, arguments: &[&str], most: u32) -> Ran {
    let evalrig = project.command(arguments);
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -f {most}; exec \"$@\""), "bash"]);
    command.arg(evalrig.get_program()).args(evalrig.get_args());
    command.current_dir(evalrig.get_current_dir().unwrap());
    command.env("TMPDIR", project.scratch.path());
    Running::of(command).end()
}

/// What is printed goes to a file here, too.
#[test]
fn every_command_says_that_a_file_may_not_grow_and_leaves_no_draft() {
    let suite = suite(400).replace("assert:", "metadata: {skill: csv}, assert:");
    let project =
        Project::new(&suite, "targets: [{name: default, provider: mock, response: ok}]\n");
    project.run(&["--quiet"]).exits(0);
    project.write("old.eval.yaml", &suite.replace("tests:", "evalcases:"));
    let questions: Vec<_> =
        (0..800).map(|number| json!({"q": format!("question {number}"), "a": "b"})).collect();
    project.write("list.json", &json!(questions).to_string());
    let convert = ["convert", "list.json", "--from", "list", "--map", "input=q,expected_output=a"];
    for arguments in [
        &["report", "latest", "--report", "html=report.html"][..],
        &["report", "latest", "--report", "junit=report.xml"],
        &["report", "latest", "--report", "html"],
        &["show", "EVAL.yaml", "--format", "json"],
        &["list", "EVAL.yaml", "--format", "json"],
        &["schema", "suite"],
        &["transpile", "EVAL.yaml", "--out", "skills"],
        &["export", "skill-creator", "latest", "-o", "iterations"],
        &[&convert[..], &["-o", "new.eval.yaml"]].concat(),
        &[&convert[..], &["--stdout"]].concat(),
        &["validate", "--fix", "old.eval.yaml"],
    ] {
        let ran = limited(&project, arguments, 8);
        ran.exits(2).says("File too large");
    }
    let left = project.all_files();
    let names = left.iter().filter_map(|(path, _)| path.file_name()?.to_str());
    let unwanted = ["report.html", "report.xml", "evals.json", "new.eval.yaml"];
    let found: Vec<_> =
        names.filter(|name| name.ends_with(".tmp") || unwanted.contains(name)).collect();
    assert_eq!(found, [""; 0]);
    assert_eq!(fs::read_dir(project.scratch.path()).unwrap().count(), 0);
}
