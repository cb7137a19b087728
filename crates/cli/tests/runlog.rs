//! The `.co/evals` store through the binary: its commands, recording by `run`, replay and convert.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const SUITE: &str = "name: greeting
tests:
  - id: alice
    criteria: Greets
    input: Say hello to Alice
    expected_output: Hello, Alice!
    assert:
      - {type: contains, value: Alice}
  - id: talk
    criteria: Remembers
    input:
      - {role: system, content: Be kind}
      - {role: user, content: I am Bob}
      - {role: assistant, content: Hi Bob}
      - {role: user, content: Who am I?}
    assert:
      - {type: contains, value: Carol}
  - id: unanswered
    criteria: Any
    input: This gets no answer
";

const TARGETS: &str = "targets:
  - name: default
    provider: mock
    responses:
      - {pattern: hello, response: 'Hello, Alice!', tokens: {input: 120, output: 35}, cost_usd: 0, duration_ms: 3595, tool_calls: [{tool: greet, args: {name: Alice}, output: 'Hello, Alice!'}]}
      - {pattern: Who, response: You are Bob}
";

const MESSAGES: &str = r#"{"messages": [{"role": "user", "content": "Say hello to Alice"}, {"role": "assistant", "content": "Hello, Alice!"}], "model": "m", "tokens": {"input": 5, "output": 2}}"#;

fn project() -> TempDir {
    let here = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(store(here.path())).expect("a store");
    for (name, text) in
        [(".git/HEAD", ""), ("EVAL.yaml", SUITE), (".evalrig/targets.yaml", TARGETS)]
    {
        write(&here.path().join(name), text);
    }
    here
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, text).expect("a file");
}

fn evalrig(here: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(arguments)
        .current_dir(here)
        .env("NO_COLOR", "1")
        .env_remove("CI")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // Commands that read nothing close it early.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("the binary ends")
}

fn run(here: &Path, arguments: &[&str], code: i32) -> String {
    let output = evalrig(here, arguments, "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn complaint(here: &Path, arguments: &[&str], input: &str) -> String {
    let output = evalrig(here, arguments, input);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn json(here: &Path, arguments: &[&str], code: i32) -> Value {
    let arguments = [arguments, &["--format", "json"]].concat();
    serde_json::from_str(&run(here, &arguments, code)).expect("JSON")
}

fn record(here: &Path, input: &str) {
    let output = evalrig(here, &["log", "record"], input);
    assert!(output.status.success(), "{output:?}");
}

fn store(here: &Path) -> PathBuf {
    here.join(".co/evals")
}

fn rows(here: &Path, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(here.join(file)).expect("rows");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line"));
    // The first and the last line have a kind.
    lines.filter(|line: &Value| line.get("kind").is_none()).collect()
}

#[test]
fn a_store_is_created_unless_recording_is_off() {
    let here = project();
    let here = here.path();
    fs::remove_dir(store(here)).expect("it is empty");
    run(here, &["run", "-q", "--filter", "alice", "--no-record"], 0);
    assert!(!store(here).exists());
    let named = ["run", "-q", "--filter", "alice", "--store", "kept"];
    run(here, &named, 0);
    assert!(here.join("kept/say_hello_to_alice.yaml").exists());
    assert!(!store(here).exists());
    run(here, &["run", "-q", "--filter", "alice"], 0);
    assert!(store(here).join("say_hello_to_alice.yaml").exists());
}

#[cfg(unix)]
#[test]
fn a_run_says_where_its_process_worked() {
    let here = project();
    let here = here.path();
    let targets = "targets: [{name: default, provider: cli, command: [pwd], cwd: work}]\n";
    fs::write(here.join(".evalrig/targets.yaml"), targets).expect("targets");
    fs::create_dir(here.join("work")).expect("a folder");
    run(here, &["run", "-q", "--filter", "alice"], 1);
    let file = store(here).join("say_hello_to_alice/run_1.yaml");
    let text = fs::read_to_string(file).expect("a run");
    let line = text.lines().find(|line| line.starts_with("cwd: "));
    let line = line.expect("the directory");
    assert!(line.ends_with("/work\""), "{line}");
}

#[cfg(unix)]
#[test]
fn a_link_in_a_repository_has_nothing_written_elsewhere() {
    let here = project();
    let outside = tempfile::tempdir().expect("a folder");
    let here = here.path();
    fs::remove_dir_all(here.join(".co")).expect("it is empty");
    std::os::unix::fs::symlink(outside.path(), here.join(".co")).expect("a link");
    let arguments = ["run", "-q", "--filter", "alice", "--output", "r.jsonl"];
    let output = evalrig(here, &arguments, "");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("1 case was not recorded: "), "{said}");
    let row = &rows(here, "r.jsonl")[0];
    assert_eq!(row["outcome"], "passed");
    assert_eq!(row["error"]["stage"], "record");
    let message = row["error"]["message"].as_str().expect("a message");
    assert!(message.contains("is outside the repository"), "{message}");
    let left = fs::read_dir(outside.path()).expect("a folder").count();
    assert_eq!(left, 0);
    let messages = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "x"}]"#;
    let said = complaint(here, &["log", "record"], messages);
    assert!(said.contains("is outside the repository"), "{said}");
    assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 0);
    // A store that is named explicitly is used.
    let named = ["run", "-q", "--filter", "alice", "--store", ".co/evals"];
    run(here, &named, 0);
    assert!(outside.path().join("evals/say_hello_to_alice.yaml").exists());
}

#[test]
fn run_records_every_case_that_has_a_transcript() {
    let here = project();
    let here = here.path();
    for _ in 0..2 {
        run(here, &["run", "--output", "r.jsonl", "-q", "--skip-judges"], 1);
        fs::rename(here.join("r.jsonl"), here.join("old.jsonl")).expect("rows");
    }
    let rows = rows(here, "old.jsonl");
    let record = |id: &str| {
        let row = rows.iter().find(|row| row["evalId"] == id).expect("a row");
        row["record"].clone()
    };
    let alice = serde_json::json!({"file": ".co/evals/say_hello_to_alice.yaml", "run": 2});
    assert_eq!(record("alice"), alice);
    assert_eq!(record("talk")["file"], ".co/evals/i_am_bob.yaml");
    assert_eq!(record("unanswered"), Value::Null);
    let text = fs::read_to_string(store(here).join("say_hello_to_alice.yaml")).expect("a file");
    assert!(text.contains("\nruns: 2\nmodel: default\n"), "{text}");
    assert!(text.contains("  expected: Hello, Alice!\n  evaluation: pass\n"), "{text}");
    assert!(text.contains("  - greet(name='Alice')\n"), "{text}");
    assert!(text.contains("{\"tokens\": 155, \"cost\": 0.0, \"duration_ms\": 3595, "), "{text}");
    let talk = fs::read_to_string(store(here).join("i_am_bob.yaml")).expect("a file");
    assert!(talk.contains("- input: I am Bob\n  run: 2\n  output: Hi Bob\n"), "{talk}");
    assert!(talk.contains("- input: Who am I?\n  run: 2\n  output: You are Bob\n"), "{talk}");
    assert!(talk.contains("  expected: Remembers\n  evaluation: 'fail: "), "{talk}");
    let file = fs::read_to_string(store(here).join("i_am_bob/run_2.yaml")).expect("a file");
    assert!(file.starts_with("system_prompt: \"Be kind\"\nmodel: \"default\"\n"), "{file}");
    let calls =
        fs::read_to_string(store(here).join("say_hello_to_alice/run_1.yaml")).expect("a file");
    let worked = r#"    {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "greet", "arguments": "{\"name\": \"Alice\"}"}}]},"#;
    assert!(calls.contains(worked), "{calls}");
    assert_eq!(json(here, &["log", "verify"], 0)["sound"], true);
}

#[test]
fn recording_can_be_turned_off_moved_and_bounded() {
    let here = project();
    let here = here.path();
    let quiet = ["run", "-q", "--skip-judges", "--filter", "alice", "--output"];
    run(here, &[&quiet[..], &["a.jsonl", "--no-record"]].concat(), 0);
    assert_eq!(fs::read_dir(store(here)).expect("the store").count(), 0);
    for name in ["b.jsonl", "c.jsonl", "d.jsonl"] {
        run(here, &[&quiet[..], &[name, "--store", "logs", "--keep-runs", "2"]].concat(), 0);
    }
    let mut files: Vec<_> = fs::read_dir(here.join("logs/say_hello_to_alice"))
        .expect("runs")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    files.sort();
    assert_eq!(files, ["run_2.yaml", "run_3.yaml"]);
    assert_eq!(rows(here, "d.jsonl")[0]["record"]["file"], "logs/say_hello_to_alice.yaml");
}

#[test]
fn a_record_that_cannot_be_written_leaves_the_row_and_exits_with_3() {
    let here = project();
    let here = here.path();
    write(&here.join("blocked"), "a file");
    let arguments = ["run", "-q", "--filter", "alice", "--output", "r.jsonl"];
    let arguments = [&arguments[..], &["--store", "blocked/x"]].concat();
    let output = evalrig(here, &arguments, "");
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("1 case was not recorded: `"), "{told}");
    let row = &rows(here, "r.jsonl")[0];
    assert_eq!((&row["outcome"], &row["error"]["stage"]), (&"passed".into(), &"record".into()));
    assert_eq!(row["record"], Value::Null);
}

#[test]
fn an_unreadable_summary_is_set_aside_with_a_warning() {
    let here = project();
    let here = here.path();
    let path = store(here).join("say_hello_to_alice.yaml");
    write(&path, "a: [");
    let arguments = ["run", "-q", "--filter", "alice", "--output", "r.jsonl"];
    let output = evalrig(here, &arguments, "");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("renamed it to `say_hello_to_alice.yaml.corrupt.1`"), "{told}");
    assert_eq!(rows(here, "r.jsonl")[0]["record"]["run"], 1);
}

#[test]
fn recorded_runs_are_graded_again_without_an_agent() {
    let here = project();
    let here = here.path();
    run(here, &["run", "-q", "--skip-judges", "--output", "a.jsonl"], 1);
    let again = "targets:\n  - {name: default, provider: replay, from: .co/evals}\n  - {name: first, provider: replay, from: .co/evals, run: 1}\n";
    write(&here.join("again.yaml"), again);
    let arguments = ["run", "-q", "--targets", "again.yaml", "--filter", "alice", "--no-record"];
    run(here, &[&arguments[..], &["--output", "b.jsonl"]].concat(), 0);
    let row = &rows(here, "b.jsonl")[0];
    assert_eq!(row["candidateAnswer"], "Hello, Alice!");
    assert_eq!(row["traceSummary"]["toolNames"][0], "greet");
    assert_eq!((&row["tokens"]["total"], &row["durationMs"]), (&155.into(), &3595.into()));
    let missing = [
        &arguments[..4],
        &["--filter", "unanswered", "--no-record", "--output", "c.jsonl", "--skip-judges"],
    ]
    .concat();
    run(here, &missing, 3);
    assert_eq!(rows(here, "c.jsonl")[0]["error"]["kind"], "no-match");
}

#[test]
fn sessions_become_records_without_code() {
    let here = project();
    let here = here.path();
    record(here, MESSAGES);
    let claude = r#"{"type":"system","subtype":"init","cwd":"/p","model":"claude-x"}
{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Read","input":{"path":"a"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}
{"type":"assistant","message":{"id":"n","content":[{"type":"text","text":"Done."}]}}
{"type":"result","result":"Done.","total_cost_usd":0.0125,"duration_ms":5,"usage":{"input_tokens":1,"output_tokens":2}}
"#;
    let told = complaint(here, &["log", "record"], claude);
    assert!(told.contains("add `--input TEXT`"), "{told}");
    let output = evalrig(here, &["log", "record", "--input", "Fix it", "--format", "json"], claude);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["record"]["file"], ".co/evals/fix_it.yaml");
    let shown = json(here, &["log", "show", "fix_it"], 0);
    assert_eq!(shown["turns"][0]["tools_called"][0], "Read(path='a')");
    assert_eq!(shown["turns"][0]["meta"]["cost"], 0.0125);
    assert_eq!(shown["model"], "claude-x");
    let codex = "{\"type\":\"thread.started\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"Hi\"}}\n";
    let output = evalrig(here, &["log", "record", "--input", "Hello?"], codex);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "recorded run 1 of hello (.co/evals/hello.yaml)\n"
    );
    for (input, reason) in [
        ("", "the format of the session is unknown"),
        ("{\"a\": 1}", "the format of the session is unknown"),
    ] {
        assert!(complaint(here, &["log", "record"], input).contains(reason));
    }
    let twice = complaint(here, &["log", "record", "--input", "x"], MESSAGES);
    assert!(twice.contains("remove `--input`"), "{twice}");
}

#[test]
fn secrets_of_the_environment_are_not_recorded() {
    let here = project();
    let mut child = Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(["log", "record", "-q"])
        .current_dir(here.path())
        .env("MY_API_KEY", "sk-very-secret-1")
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let messages = r#"[{"role":"user","content":"Hi"},
        {"role":"assistant","content":"it is sk-very-secret-1","tool_calls":[
          {"tool":"get","args":{"header":"Authorization: Bearer with some more sk-very-secret-1"}}]}]"#;
    child.stdin.take().expect("a pipe").write_all(messages.as_bytes()).expect("room");
    assert!(child.wait().expect("an end").success());
    for file in ["hi.yaml", "hi/run_1.yaml"] {
        let text = fs::read_to_string(store(here.path()).join(file)).expect("a file");
        assert!(!text.contains("very-secret") && text.contains("it is ***"), "{text}");
    }
}

#[test]
fn secrets_of_env_files_are_not_recorded() {
    let here = project();
    let here = here.path();
    write(&here.join(".env"), "MY_API_KEY=sk-very-secret-2\n");
    record(
        here,
        r#"[{"role":"user","content":"Hi"},{"role":"assistant","content":"sk-very-secret-2"}]"#,
    );
    let text = fs::read_to_string(store(here).join("hi.yaml")).expect("a file");
    assert!(text.contains("  output: '***'\n"), "{text}");
}

#[test]
fn records_are_listed_shown_and_compared() {
    let here = project();
    let here = here.path();
    record(here, MESSAGES);
    run(here, &["log", "evaluate", "say_hello_to_alice", "pass"], 0);
    let worse = MESSAGES.replace("Hello, Alice!", "Bye").replace("\"output\": 2", "\"output\": 9");
    record(here, &worse);
    let name = "say_hello_to_alice";
    run(here, &["log", "evaluate", name, "--turn", "1", "fail", "no greeting"], 0);
    run(here, &["log", "expect", name, "--turn", "1", "Greets Alice"], 0);
    let list = json(here, &["log", "list"], 0);
    let row = &list["records"][0];
    assert_eq!(list["schemaVersion"], 1);
    assert_eq!((&row["name"], &row["runs"], &row["turns"]), (&name.into(), &2.into(), &1.into()));
    assert_eq!(row["file"], ".co/evals/say_hello_to_alice.yaml");
    assert_eq!(row["evaluation"], "fail: no greeting");
    let shown = json(here, &["log", "show", name], 0);
    let turn = &shown["turns"][0];
    assert_eq!((&turn["expected"], &turn["run"]), (&"Greets Alice".into(), &2.into()));
    assert_eq!(
        (&turn["meta"]["tokens"], &turn["history"][0]["meta"]["tokens"]),
        (&14.into(), &7.into())
    );
    let diff = json(here, &["log", "diff", name], 1);
    let change = &diff["turns"][0];
    assert_eq!(diff["runs"], serde_json::json!([1, 2]));
    assert_eq!(change["evaluation"], serde_json::json!(["pass", "fail: no greeting"]));
    assert_eq!(change["tokens"], serde_json::json!([7, 14]));
    assert_eq!((&change["output"], &change["regressed"]), (&"changed".into(), &true.into()));
    let text = run(here, &["log", "diff", name, "--runs", "1,2"], 1);
    assert!(text.contains("    - Hello, Alice!\n    + Bye\n"), "{text}");
    assert!(text.contains("pass → fail: no greeting  (regressed)"), "{text}");
    assert!(text.contains("tokens      7 → 14 (+7)"), "{text}");
    run(here, &["log", "diff", name, "--runs", "2,1"], 0);
    let messages: Value =
        serde_json::from_str(&run(here, &["log", "messages", name, "--run", "1"], 0))
            .expect("JSON");
    assert_eq!(messages[1]["content"], "Hello, Alice!");
    let text = run(here, &["log", "show", name], 0);
    assert!(text.contains("  judged   fail: no greeting\n"), "{text}");
    assert!(run(here, &["log", "list"], 0).contains("\n1 record in .co/evals, "));
}

#[test]
fn text_from_agents_cannot_control_the_terminal() {
    let here = project();
    let here = here.path();
    for said in ["a", "b"] {
        let messages = r#"{"messages": [{"role": "user", "content": "Hi\u001b[1m"},
            {"role": "assistant", "content": "\u001b[31mSAID\u202e", "tool_calls": [
              {"tool": "f", "args": {"x": "\u001b[2J SAID"}}]}], "model": "m\u001b[1m"}"#;
        record(here, &messages.replace("SAID", said));
    }
    for what in ["show", "diff"] {
        let text = run(here, &["log", what, "hi_1m"], 0);
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        assert!(text.contains("␛[31mb�"), "{text}");
        let shown = json(here, &["log", what, "hi_1m"], 0);
        assert_eq!(shown["turns"][0]["input"], "Hi\u{1b}[1m");
    }
    let text = run(here, &["log", "list"], 0);
    assert!(text.contains("m␛[1m") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_count_that_is_too_small_is_shown_as_it_should_be() {
    let here = project();
    let here = here.path();
    let path = store(here).join("hi.yaml");
    write(&store(here).join("hi/run_4.jsonl"), "");
    for count in ["", "runs: 1\n"] {
        write(&path, &format!("name: hi\n{count}turns: [{{input: hi, run: 2}}]\n"));
        assert_eq!(json(here, &["log", "show", "hi"], 0)["runs"], 4);
    }
}

#[test]
fn missing_stores_and_records_are_reported() {
    let here = project();
    let here = here.path();
    fs::remove_dir(store(here)).expect("it is empty");
    assert!(complaint(here, &["log", "list"], "").contains("no store found at `.co/evals`"));
    assert!(!store(here).exists());
    record(here, MESSAGES);
    for (arguments, reason) in [
        (&["log", "show", "no"][..], "no record `no`"),
        (&["log", "show", "../../EVAL"], "cannot be the name of a record"),
        (&["log", "messages", "say_hello_to_alice", "--run", "7"], "has no run 7"),
        (&["log", "diff", "say_hello_to_alice"], "fewer than two runs"),
        (&["log", "diff", "x", "--runs", "1"], "expected two run numbers"),
        (
            &["log", "expect", "say_hello_to_alice", "--turn", "2", "x"],
            "has no turn 2; its last turn is 1",
        ),
    ] {
        let told = complaint(here, arguments, "");
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn a_store_is_pruned_and_verified() {
    let here = project();
    let here = here.path();
    for _ in 0..3 {
        record(here, MESSAGES);
    }
    let listed = json(here, &["log", "prune", "--keep-runs", "1", "--dry-run"], 0);
    assert_eq!(listed["files"].as_array().map(Vec::len), Some(2));
    let text = run(here, &["log", "prune", "--keep-runs", "1", "--keep-history", "1"], 0);
    assert!(text.ends_with("deleted 2 files and 0 records\n"), "{text}");
    assert!(run(here, &["log", "verify"], 0).contains("1 record, 1 run file: no problems"));
    fs::remove_file(store(here).join("say_hello_to_alice.yaml")).expect("a file");
    let text = run(here, &["log", "verify"], 1);
    assert!(
        text.contains("the runs in `say_hello_to_alice/` have no summary (repairable)"),
        "{text}"
    );
    run(here, &["log", "verify", "--repair"], 0);
    assert_eq!(json(here, &["log", "list"], 0)["records"][0]["runs"], 3);
}

#[test]
fn the_log_is_a_suite() {
    let here = project();
    let here = here.path();
    run(here, &["run", "-q", "--skip-judges", "--output", "a.jsonl"], 1);
    record(
        here,
        r#"[{"role":"user","content":"New ${{ X }}: #1"},{"role":"assistant","content":"ok"}]"#,
    );
    let output = evalrig(here, &["convert", ".co/evals", "-o", "new/EVAL.yaml"], "");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("import-needs-criteria"), "{told}");
    assert_eq!(told.matches("import-needs-criteria").count(), 1, "{told}");
    let suite = json(here, &["show", "new/EVAL.yaml"], 0);
    let tests = suite["tests"].as_array().expect("tests");
    let ids: Vec<&str> = tests.iter().filter_map(|test| test["id"].as_str()).collect();
    assert_eq!(ids, ["i_am_bob", "new_x_1", "say_hello_to_alice"]);
    assert_eq!(tests[0]["input"].as_array().map(Vec::len), Some(3));
    assert_eq!(tests[1]["input"][0]["content"][0]["value"], "New ${{ X }}: #1");
    assert_eq!(tests[2]["criteria"], "Hello, Alice!");
    // Existing tests do not change; the new record is added.
    let path = here.join("new/EVAL.yaml");
    let edited =
        fs::read_to_string(&path).expect("a suite").replace("Hello, Alice!", "Mine # kept");
    write(&path, &edited);
    record(here, r#"[{"role":"user","content":"Later"},{"role":"assistant","content":"ok"}]"#);
    let text = run(here, &["convert", ".co/evals", "-o", "new/EVAL.yaml"], 0);
    assert_eq!(text, "added to new/EVAL.yaml (1 record)\n");
    let added = fs::read_to_string(&path).expect("a suite");
    assert!(added.starts_with(&edited) && added.contains("  - id: later\n"), "{added}");
    let text = run(here, &["convert", ".co/evals", "-o", "new/EVAL.yaml"], 0);
    assert_eq!(text, "new/EVAL.yaml already has all of these tests\n");
    let one = run(here, &["convert", ".co/evals/later.yaml", "--stdout"], 0);
    assert!(one.contains("name: later\ntests:\n  - id: later\n"), "{one}");
    // The records answer the suite that was made from them.
    let again = "targets:\n  - {name: default, provider: replay, from: .co/evals}\n";
    write(&here.join("again.yaml"), again);
    run(
        here,
        &[
            "run",
            "new",
            "-q",
            "--targets",
            "again.yaml",
            "--skip-judges",
            "--no-record",
            "--output",
            "b.jsonl",
        ],
        4,
    );
    let answers = rows(here, "b.jsonl");
    assert!(answers.iter().all(|row| row["candidateAnswer"].is_string()), "{answers:?}");
}

#[test]
fn a_record_with_a_blank_input_is_skipped() {
    let here = project();
    let here = here.path();
    record(here, r#"[{"role":"user","content":" "}]"#);
    record(here, MESSAGES);
    let arguments = ["convert", ".co/evals", "-o", "new.yaml"];
    let output = evalrig(here, &arguments, "");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("`.co/evals/default.yaml` is skipped"), "{told}");
    let suite = json(here, &["show", "new.yaml"], 0);
    assert_eq!(suite["tests"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_store_without_records_makes_no_suite() {
    let here = project();
    write(&store(here.path()).join("hi.yaml"), "name: hi\n");
    run(here.path(), &["convert", ".co/evals", "-o", "new.yaml"], 4);
    assert!(!here.path().join("new.yaml").exists());
}

/// CI runners obey commands in their log, and invisible characters hide what an answer says.
#[test]
fn show_and_diff_print_neither_commands_nor_invisible_characters() {
    let here = project();
    let here = here.path();
    let answer =
        r"Hello\n::add-mask::secret\n##[error]boom\n##vso[task.x]y \u200b\u2060\ufeff\udb40\udc41";
    record(here, &MESSAGES.replace("Hello, Alice!", answer));
    record(here, MESSAGES);
    let name = "say_hello_to_alice";
    for arguments in [&["log", "show", name][..], &["log", "diff", name]] {
        let shown = run(here, arguments, 0);
        assert!(shown.contains("add-mask"), "{shown}");
        let has_command = |line: &str| line.trim_start().starts_with("::");
        assert!(!shown.lines().any(has_command), "{shown}");
        assert!(!shown.contains("##[") && !shown.contains("##vso["), "{shown}");
        let invisible = ['\u{200b}', '\u{2060}', '\u{feff}', '\u{e0041}'];
        assert!(!shown.contains(invisible), "{shown:?}");
    }
}
