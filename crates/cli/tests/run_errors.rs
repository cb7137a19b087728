//! Failures of targets, scripts and judges: the case is `errored` with a readable reason and has no
//! score, the run continues and exits with 3.
#![cfg(unix)]

mod support;

use fake_model::{FakeModel, Reply, Rule, Script};
use serde_json::{Value, json};
use support::{Project, is_alive, wait_until};

/// A test and what is expected of its row.
struct Wrong {
    id: &'static str,
    /// Keys of the test besides id, criteria and input.
    test: String,
    stage: &'static str,
    kind: &'static str,
    /// What the message must say.
    says: &'static str,
}

fn wrong(
    id: &'static str,
    test: impl Into<String>,
    (stage, kind): (&'static str, &'static str),
    says: &'static str,
) -> Wrong {
    Wrong { id, test: test.into(), stage, kind, says }
}

fn suite(cases: &[Wrong]) -> String {
    let mut suite = "name: errors\ntests:\n".to_owned();
    for Wrong { id, test, .. } in cases {
        suite += &format!("  - {{id: {id}, criteria: c, input: This is {id}., {test}}}\n");
    }
    // A test that passes, to check that the others do not affect it.
    suite + "  - {id: well, criteria: c, input: hi, assert: [{type: contains, value: fine}]}\n"
}

/// Every case errored as it should, and nothing else did.
#[track_caller]
fn check(project: &Project, cases: &[Wrong]) {
    project.run(&[]).exits(3);
    for case in cases {
        let id = case.id;
        let row = project.row(id);
        let error = &row["error"];
        assert_eq!(row["outcome"], "errored", "{id}: {row}");
        assert_eq!(
            (&error["stage"], &error["kind"]),
            (&json!(case.stage), &json!(case.kind)),
            "{id}: {error}"
        );
        let message = support::text(&error["message"]);
        assert!(message.contains(case.says), "{id}: {message}");
        assert!(row["score"].is_null() && row["verdict"].is_null(), "{id}");
    }
    assert_eq!(project.row("well")["outcome"], "passed");
    assert_eq!(project.rows().len(), cases.len() + 1);
}

const FINE: &str = "targets: [{name: default, provider: mock, response: fine}]\n";

fn script(line: &str) -> String {
    format!("assert: [{{type: code-judge, script: [sh, -c, {}]}}]", json!(line))
}

#[test]
fn scripts_that_go_wrong() {
    let cases = [
        wrong(
            "no-program",
            "assert: [{type: code-judge, script: [no-such-program-at-all]}]",
            ("script", "start"),
            "cannot start `no-such-program-at-all`: no such program",
        ),
        wrong(
            "crash",
            script("echo '{\"score\": 1'; echo Traceback: boom >&2; exit 3"),
            ("script", "exit"),
            "Traceback: boom",
        ),
        wrong("crash-silently", script("exit 4"), ("script", "exit"), "exit status 4"),
        wrong("killed", script("kill -9 $$"), ("script", "exit"), "killed by signal 9"),
        wrong("no-json", script("echo looks good to me"), ("script", "reply"), "looks good to me"),
        wrong(
            "two-objects",
            script("echo '{\"score\": 1} {\"score\": 0}'"),
            ("script", "reply"),
            "",
        ),
        wrong("list", script("echo '[1]'"), ("script", "reply"), ""),
        wrong("silent", script("true"), ("script", "reply"), ""),
        wrong("no-score", script("echo '{\"hits\": []}'"), ("script", "reply"), "score"),
        wrong("no-assertions", script("echo '{\"assertions\": []}'"), ("script", "reply"), ""),
        wrong("score-7", script("echo '{\"score\": 7}'"), ("script", "reply"), "7"),
        wrong("score-negative", script("echo '{\"score\": -0.1}'"), ("script", "reply"), "-0.1"),
        wrong("score-text", script("echo '{\"score\": \"1\"}'"), ("script", "reply"), "score"),
        wrong("score-null", script("echo '{\"score\": null}'"), ("script", "reply"), "score"),
        wrong("score-nan", script("echo '{\"score\": NaN}'"), ("script", "reply"), ""),
        wrong(
            "passed-text",
            script("echo '{\"assertions\": [{\"text\": \"a\", \"passed\": \"yes\"}]}'"),
            ("script", "reply"),
            "passed",
        ),
        wrong(
            "slow",
            "assert: [{type: code-judge, script: [sh, -c, 'echo working >&2; sleep 60'], timeout_seconds: 1}]",
            ("script", "timeout"),
            "no answer after 1 s: working",
        ),
        wrong(
            "flood",
            script("head -c 16800000 /dev/zero"),
            ("script", "limit"),
            "more than 16 MiB of output",
        ),
        wrong(
            "negated",
            "assert: [{type: code-judge, script: [sh, -c, exit 1], negate: true}]",
            ("script", "exit"),
            "exit status 1",
        ),
        wrong(
            "weightless",
            "assert: [{type: contains, value: fine}, {type: code-judge, script: [sh, -c, exit 1], weight: 0}]",
            ("script", "exit"),
            "exit status 1",
        ),
        wrong(
            "inside",
            "assert: [{type: contains, value: fine, weight: 9}, {type: composite, negate: true, assert: [{type: contains, value: fine}, {type: code-judge, script: [sh, -c, exit 1]}]}]",
            ("script", "exit"),
            "exit status 1",
        ),
        wrong(
            "as-text",
            "assert: [{type: code-judge, script: 'exit 1'}]",
            ("script", "exit"),
            "exit status 1",
        ),
    ];
    let project = Project::new(&suite(&cases), FINE);
    check(&project, &cases);
    // The other grades are recorded.
    let row = project.row("weightless");
    assert_eq!(row["evaluatorResults"][0]["score"], 1.0);
    assert_eq!(row["evaluatorResults"][1]["outcome"], "errored");
    assert!(row["evaluatorResults"][1].get("score").is_none_or(Value::is_null));
}

#[test]
fn scripts_that_only_look_wrong() {
    let suite = format!(
        "name: odd\ntests:\n  - {{id: loud, criteria: c, input: hi, {}}}\n  - {{id: deaf, criteria: c, input: hi, {}}}\n  \
         - {{id: share, criteria: c, input: hi, {}}}\n",
        // Valid JSON is a grade, whatever the status says; logs belong on stderr.
        script("cat > /dev/null; echo noise >&2; echo '{\"score\": 1}'; exit 3"),
        script("exec < /dev/null; echo '  {\"score\": 1.0, \"hits\": [\"a\", 7]}  '"),
        script(
            "echo '{\"assertions\": [{\"text\": \"a\", \"passed\": true}, {\"text\": \"b\", \"passed\": false}]}'"
        ),
    );
    let project = Project::new(&suite, FINE);
    project.run(&["--filter", "!share"]).exits(0);
    assert_eq!(project.row("deaf")["hits"], json!(["a", "7"]));
    project.run(&["--filter", "share"]).exits(1);
    let row = project.row("share");
    assert_eq!(
        (&row["score"], &row["hits"], &row["misses"]),
        (&json!(0.5), &json!(["a"]), &json!(["b"]))
    );
}

fn on(target: &str) -> String {
    format!("execution: {{target: {target}}}, assert: [{{type: contains, value: fine}}]")
}

#[test]
fn targets_that_go_wrong() {
    let cases = [
        wrong("exit", on("exit"), ("target", "exit"), "no licence found"),
        wrong("exit-silently", on("exit-silently"), ("target", "exit"), "exit status 9"),
        wrong("killed", on("killed"), ("target", "exit"), "killed by signal 9"),
        wrong("missing", on("missing"), ("target", "start"), "no such program"),
        wrong("no-file", on("no-file"), ("target", "reply"), ""),
        wrong("bad-messages", on("bad-messages"), ("target", "reply"), ""),
        wrong("bad-jsonl", on("bad-jsonl"), ("target", "reply"), "2"),
        wrong("bad-stream", on("bad-stream"), ("target", "reply"), ""),
        wrong("endless-stream", on("endless-stream"), ("target", "reply"), "result"),
        wrong("failed-stream", on("failed-stream"), ("target", "reply"), "out of patience"),
        wrong("bytes", on("bytes"), ("target", "reply"), "UTF-8"),
        wrong("flood", on("flood"), ("target", "limit"), "more than 16 MiB of output"),
        wrong(
            "no-match",
            on("default"),
            ("target", "no-match"),
            "no pattern of the mock target matches",
        ),
        wrong("told-to", on("default"), ("target", "reply"), "as you wish"),
        wrong(
            "no-cost",
            "execution: {target: plain}, assert: [{type: cost, budget: 1}]",
            ("measure", "not-measured"),
            "target `plain` does not report cost (`format: text`); let the program",
        ),
        wrong(
            "no-tokens",
            "execution: {target: plain}, assert: [{type: token-usage, max_total: 1}]",
            ("measure", "not-measured"),
            "target `plain` does not report tokens (`format: text`); let the program",
        ),
        wrong(
            "no-calls",
            "execution: {target: plain}, assert: [{type: tool-trajectory, expected: [search]}]",
            ("measure", "not-measured"),
            "target `plain` does not report tool calls (`format: text`); let the program",
        ),
        wrong(
            "no-trigger",
            "execution: {target: plain}, assert: [{type: trigger-judge, skill: csv, should_trigger: false}]",
            ("measure", "not-measured"),
            "target `plain` does not report skill use (`format: text`); let the program",
        ),
        wrong(
            "no-metric-negated",
            "execution: {target: plain}, assert: [{type: cost, budget: 1, negate: true}, {type: contains, value: fine, weight: 9}]",
            ("measure", "not-measured"),
            "target `plain` does not report cost (`format: text`); let the program",
        ),
    ];
    let targets = r#"
targets:
  - name: default
    provider: mock
    responses: [{pattern: ^hi$, response: fine}, {pattern: told-to, error: as you wish}]
  - {name: plain, provider: cli, command: [echo, fine]}
  - {name: exit, provider: cli, command: [sh, -c, "echo fine; echo no licence found >&2; exit 2"]}
  - {name: exit-silently, provider: cli, command: [sh, -c, "exit 9"]}
  - {name: killed, provider: cli, command: [sh, -c, "kill -9 $$"]}
  - {name: missing, provider: cli, command: [no-such-program-at-all]}
  - {name: no-file, provider: cli, command: [sh, -c, "echo fine", "{OUTPUT_FILE}"]}
  - {name: bad-messages, provider: cli, format: messages, command: [echo, "{fine"]}
  - {name: bad-jsonl, provider: cli, format: jsonl, command: [printf, '{"text":"fine"}\nfine\n']}
  - {name: bad-stream, provider: cli, format: stream-json, command: [echo, fine]}
  - {name: endless-stream, provider: cli, format: stream-json, command: [printf, '{"type":"system","subtype":"init","tools":[]}\n{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"fine"}]}}\n']}
  - {name: failed-stream, provider: cli, format: stream-json, command: [echo, '{"type":"result","subtype":"error_during_execution","is_error":true,"result":"out of patience"}']}
  - {name: bytes, provider: cli, command: [printf, 'fine\377']}
  - {name: flood, provider: cli, command: [head, -c, "16800000", /dev/zero]}
"#;
    let project = Project::new(&suite(&cases), targets);
    check(&project, &cases);
}

#[test]
fn what_a_target_cannot_report_is_said_before_it_is_called() {
    let suite = "\
name: blind
tests:
  - id: calls
    criteria: c
    input: hi
    assert:
      - {type: contains, value: fine}
      - type: tool-trajectory
        expected: [search]
  - {id: nested, criteria: c, input: hi, assert: [{type: composite, assert: [{type: cost, budget: 1}]}]}
  - {id: skipped, criteria: c, input: hi, skip: true, assert: [{type: token-usage, max_total: 9}]}
";
    let targets = "targets:
  - {name: default, provider: cli, command: [sh, -c, 'echo >> calls; echo fine']}
  - {name: events, provider: cli, format: jsonl, command: [echo, '{\"text\": \"fine\"}']}
  - {name: mocked, provider: mock, response: fine}
  - {name: codex, provider: codex-cli}
  - {name: priced, provider: codex-cli, price: {input: 1, output: 2}}
";
    let project = Project::new(suite, targets);
    let ran = project.run(&["--dry-run"]);
    ran.exits(0).says("warning[not-reported]: `tool-trajectory` cannot be measured: target `default` does not report tool calls (`format: text`)");
    ran.says("EVAL.yaml:8:").says("set `format: jsonl`");
    ran.says("`cost` cannot be measured: target `default` does not report cost");
    assert!(!ran.err.contains("token-usage"), "{}", ran.err);
    assert!(project.lines("calls").is_empty());
    let ran = project.run(&[]);
    ran.exits(3).says("not-reported");
    ran.prints(
        "tool-trajectory could not be measured: target `default` does not report tool calls\n",
    );
    let message = project.row("calls")["error"]["message"].clone();
    let expected = "does not report tool calls (`format: text`); let the program print events";
    assert!(message.as_str().is_some_and(|text| text.contains(expected)), "{message}");
    for (target, said) in [
        ("events", None),
        ("mocked", Some("does not report cost (no response has `cost_usd`)")),
        ("codex", Some("does not report cost (Codex)")),
        ("priced", None),
    ] {
        let ran = project.run(&["--dry-run", "--target", target]);
        match said {
            Some(text) => {
                ran.exits(0).says(text);
            }
            None => assert!(!ran.err.contains("not-reported"), "{target}: {}", ran.err),
        }
    }
}

#[test]
fn a_target_that_takes_too_long_is_ended_with_all_it_started() {
    let suite = "\
name: slow
tests:
  - {id: slow, criteria: c, input: hi, execution: {timeout_seconds: 1}, assert: [{type: contains, value: fine}]}
";
    let targets = "targets: [{name: default, provider: cli, command: \
                   [sh, -c, 'echo patience >&2; sleep 300 & (sleep 300 & echo $! > inner); echo $! > outer; wait']}]\n";
    let project = Project::new(suite, targets);
    let begun = std::time::Instant::now();
    project.run(&[]).exits(3).prints("no answer after 1 s");
    assert!(begun.elapsed() < std::time::Duration::from_secs(30));
    let row = project.row("slow");
    assert_eq!((&row["error"]["kind"], &row["attempts"]), (&json!("timeout"), &json!(1)));
    assert_eq!(row["error"]["message"], "no answer after 1 s: patience");
    for file in ["inner", "outer"] {
        let process = project.read(file).trim().to_owned();
        wait_until("the end of what it started", || !is_alive(&process));
    }
}

/// A judge on loopback that does what the test's id says.
fn judge() -> FakeModel {
    let quota = json!({"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}});
    let unanswered = r#"{"checks": [{"id": "rubric-1", "reasoning": "r", "satisfied": true}]}"#;
    let contrary = r#"{"checks": [{"id": "rubric-1", "satisfied": true}, {"id": "rubric-1", "satisfied": false}, {"id": "rubric-2", "satisfied": true}]}"#;
    let all = r#"Sure! ```json
{"checks": [{"id": "rubric-1", "reasoning": "r", "satisfied": true}, {"id": "rubric-2", "reasoning": "r", "satisfied": true}]}
```"#;
    let one = r#"{"checks": [{"id": "rubric-1", "satisfied": true}, {"id": "must", "satisfied": false}]}"#;
    let when = |id: &str, reply: Reply| Rule::new(reply).when_body(format!("This is {id}."));
    FakeModel::start(
        Script::new()
            .rule(when("garbage", Reply::text("I liked it a lot.")))
            .rule(when("empty", Reply::text("")))
            .rule(when("range", Reply::text(r#"{"score": 8}"#)))
            .rule(when("word", Reply::text(r#"{"score": "high"}"#)))
            .rule(when("unanswered", Reply::text(unanswered)))
            .rule(when("contrary", Reply::text(contrary)))
            .rule(when("closed", Reply::close()))
            .rule(when("html", Reply::garbage()))
            .rule(when("unknown-key", Reply::status(401)))
            .rule(when("quota", Reply::status(429).body(quota)))
            .rule(when("busy", Reply::status(503)))
            .rule(when("repaired", Reply::text("Well …")).times(1))
            .rule(when("repaired", Reply::text(all)))
            .rule(when("must", Reply::text(one)))
            .otherwise(Reply::text(all)),
    )
}

fn judged_by(server: &FakeModel) -> String {
    format!(
        "judge_target: judge\ntargets:\n  - {{name: default, provider: mock, response: fine}}\n  \
         - {{name: judge, provider: openai, base_url: \"{}/v1\", api_key: \"${{{{ JUDGE_SESAME }}}}\", model: m, retries: 0}}\n",
        server.url()
    )
}

const CHECKED: &str = "rubrics: [Is short, Is polite]";
const SCORED: &str = "assert: [{type: llm-judge, prompt: How good is it?}]";

#[test]
fn judges_that_go_wrong() {
    let cases = [
        wrong("garbage", CHECKED, ("judge", "reply"), "I liked it a lot."),
        wrong("empty", CHECKED, ("judge", "reply"), ""),
        wrong("range", SCORED, ("judge", "reply"), "8"),
        wrong("word", SCORED, ("judge", "reply"), "high"),
        wrong("unanswered", CHECKED, ("judge", "reply"), "rubric-2"),
        wrong("contrary", CHECKED, ("judge", "reply"), "rubric-1"),
        wrong("closed", CHECKED, ("judge", "network"), ""),
        wrong("html", CHECKED, ("judge", "reply"), ""),
        wrong("unknown-key", CHECKED, ("judge", "http"), "HTTP 401"),
        wrong("quota", CHECKED, ("judge", "http"), "You exceeded your current quota"),
        wrong("busy", CHECKED, ("judge", "http"), "HTTP 503"),
        wrong(
            "garbage-negated",
            "assert: [{type: contains, value: fine, weight: 9}, {type: llm-judge, prompt: How is it?, negate: true}]",
            ("judge", "reply"),
            "",
        ),
    ];
    let server = judge();
    let project = Project::new(&suite(&cases), &judged_by(&server));
    project.write(".env", "JUDGE_SESAME=opensesame\n");
    check(&project, &cases);
    // One question and one repair; what is not the judge's fault is not repaired.
    let asked = |id: &str| {
        let named = format!("This is {id}.");
        let requests = server.requests();
        requests.iter().filter(|one| one.body.to_string().contains(&named)).count()
    };
    for (id, count) in
        [("garbage", 2), ("range", 2), ("unanswered", 2), ("unknown-key", 1), ("quota", 1)]
    {
        assert_eq!(asked(id), count, "{id}");
    }
    // A 200 response without a reply is requested at most twice.
    assert!(asked("html") <= 2);
    assert_eq!(project.row("garbage")["judgeUsage"]["calls"], 2);
}

#[test]
fn judges_that_recover_or_reject() {
    let suite = "\
name: judged
tests:
  - {id: repaired, criteria: c, input: This is repaired., rubrics: [Is short, Is polite]}
  - {id: must, criteria: c, input: This is must., rubrics: [{outcome: Is short, weight: 9}, {id: must, outcome: Is true, required: true}]}
";
    let server = judge();
    let project = Project::new(suite, &judged_by(&server));
    project.write(".env", "JUDGE_SESAME=opensesame\n");
    project.run(&["--filter", "repaired"]).exits(0);
    let row = project.row("repaired");
    assert_eq!(row["judgeUsage"], json!({"calls": 2, "input": 300, "output": 34, "costUsd": null}));
    // Nine of ten rubrics are met, and the tenth was required.
    project.run(&["--filter", "must"]).exits(1);
    let row = project.row("must");
    assert_eq!((&row["outcome"], &row["verdict"]), (&json!("failed"), &json!("fail")));
    assert_eq!(row["score"], 0.9);
    assert_eq!(row["misses"], json!(["Is true"]));
}

#[test]
fn requests_that_go_wrong_at_the_target() {
    let cases = [
        wrong("closed", on("default"), ("target", "network"), ""),
        wrong("html", on("default"), ("target", "reply"), ""),
        wrong("unknown-key", on("default"), ("target", "http"), "HTTP 401"),
        wrong("quota", on("default"), ("target", "http"), "no credit or quota left"),
        wrong("busy", on("default"), ("target", "http"), "HTTP 503"),
        wrong("refused", on("refused"), ("target", "network"), ""),
        wrong(
            "slow",
            "execution: {target: default, timeout_seconds: 1}, assert: [{type: contains, value: fine}]",
            ("target", "timeout"),
            "no answer after 1 s",
        ),
    ];
    let when = |id: &str, reply: Reply| Rule::new(reply).when(format!("This is {id}."));
    let quota = json!({"error": {"code": "insufficient_quota", "message": "empty"}});
    let server = FakeModel::start(
        Script::new()
            .rule(when("closed", Reply::close()))
            .rule(when("html", Reply::garbage()))
            .rule(when("unknown-key", Reply::status(401)))
            .rule(when("quota", Reply::status(429).body(quota)))
            .rule(when("busy", Reply::status(503)))
            .rule(when("slow", Reply::text("fine").delay(std::time::Duration::from_secs(60))))
            .otherwise(Reply::text("fine")),
    );
    let stopped = FakeModel::start(Script::new());
    let address = stopped.url();
    drop(stopped);
    for provider in ["openai", "anthropic"] {
        let version = if provider == "openai" { "/v1" } else { "" };
        let targets = format!(
            "targets:\n  - {{name: default, provider: {provider}, base_url: \"{}{version}\", api_key: unguessable-1, model: m, retries: 0}}\n  \
             - {{name: refused, provider: {provider}, base_url: \"{address}{version}\", api_key: unguessable-1, model: m, retries: 0}}\n",
            server.url()
        );
        let project = Project::new(&suite(&cases), &targets);
        check(&project, &cases);
    }
}
