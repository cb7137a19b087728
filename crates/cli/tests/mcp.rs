//! `evalrig mcp`, driven by a client over standard input and output.
#![cfg(all(unix, feature = "mcp"))]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use support::{Project, is_alive, wait_until};

const SUITE: &str = "\
name: greeting
tests:
  - id: polite
    criteria: Greets
    input: Say hello
    metadata: {tags: [smoke]}
    assert: [{type: contains, value: Hello}]
  - id: cheap
    criteria: Names no price
    input: Recommend a book
    assert: [{type: regex, value: '[$]', negate: true}]
";

const TARGETS: &str = "\
targets:
  - name: default
    provider: mock
    responses:
      - {pattern: book, response: \"Sailing. It costs $12.\"}
      - {response: Hello there}
";

/// A client that speaks JSON-RPC, one message per line.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
    /// Notifications of the server.
    heard: Vec<Value>,
}

impl Client {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut client = Self::connect(project, arguments);
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = client.ask("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "evalrig", "{answer}");
        client.tell("notifications/initialized", json!({}));
        client
    }

    fn connect(project: &Project, arguments: &[&str]) -> Self {
        let words: Vec<&str> = ["mcp"].iter().chain(arguments).copied().collect();
        let mut command = project.command(&words);
        command.env("SOME_API_TOKEN", "ghp_Ab12Xy99_secret");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("standard output"));
        Self { child, input, output, last: 0, heard: Vec::new() }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("open"), "{message}").expect("the server reads");
    }

    fn tell(&mut self, method: &str, parameters: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}));
    }

    /// Sends a request and returns its id.
    fn begin(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        id
    }

    fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("UTF-8");
            assert!(read > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).expect("every line is JSON");
            if message["id"] == id {
                return message;
            }
            self.heard.push(message);
        }
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.begin(method, parameters);
        self.answer_to(id)
    }

    /// The text of a tool's answer, and whether it is an error.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert!(result.is_object(), "{answer}");
        let text = support::text(&result["content"][0]["text"]);
        assert!(text.chars().count() < 9_000, "{} characters", text.chars().count());
        assert!(!text.contains("ghp_Ab12Xy99_secret"), "{text}");
        (text, result["isError"] == true)
    }

    #[track_caller]
    fn answers(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        text
    }

    #[track_caller]
    fn refuses(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(is_error, "{text}");
        text
    }

    /// Closes standard input; the server must end by itself.
    #[track_caller]
    fn close(mut self) {
        self.input = None;
        wait_until("the end of the server", || self.child.try_wait().expect("a child").is_some());
        assert!(self.child.wait().expect("a child").success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn names(tools: &Value) -> Vec<String> {
    let list = tools["result"]["tools"].as_array().expect("a list");
    list.iter().map(|tool| support::text(&tool["name"])).collect()
}

#[test]
fn the_tools_have_closed_schemas() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::start(&project, &[]);
    let tools = client.ask("tools/list", json!({}));
    assert_eq!(names(&tools), ["validate", "list", "run", "explain", "compare", "failures"]);
    for tool in tools["result"]["tools"].as_array().expect("a list") {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert!(jsonschema::validator_for(&tool["inputSchema"]).is_ok(), "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"], tool["name"] == "run");
    }
    let unknown = client.ask("tools/call", json!({"name": "rm", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let text = client.refuses("run", json!({"path": "x"}));
    assert_eq!(text, "unknown argument `path`; did you mean `paths`?");
    client.close();
}

#[test]
fn a_suite_is_written_checked_run_and_mended() {
    let project = Project::new(&SUITE.replace("assert: [{type: c", "asserts: [{type: c"), TARGETS);
    let mut client = Client::start(&project, &[]);
    let text = client.answers("validate", json!({}));
    assert!(text.contains("EVAL.yaml:7:5: warning[unknown-field]"), "{text}");
    assert!(text.contains("  help: "), "{text}");
    project.write("EVAL.yaml", SUITE);
    let text = client.answers("validate", json!({"paths": ["EVAL.yaml"]}));
    assert_eq!(text, "0 errors, 0 warnings in 2 files (2 tests)");

    let text = client.answers("list", json!({}));
    assert!(text.starts_with("EVAL.yaml (greeting, 2 tests)\n  3 polite [smoke]: contains"));

    let text = client.answers("run", json!({"dry_run": true}));
    assert!(text.contains("2 cases") || text.contains("2 calls"), "{text}");
    assert!(!project.has(support::LATEST));

    let text = client.answers("run", json!({}));
    assert!(text.starts_with("1 of 2 cases passed, 1 failed (exit code 1)"), "{text}");
    assert!(text.contains("EVAL.yaml:8 cheap on `default`\n  failed, score 0.00\n  ✗ "), "{text}");
    assert!(text.contains("(line 11): must not be so: Output matches regex: [$]"), "{text}");
    assert!(text.contains("\n  asked: Recommend a book\n  answer: Sailing. It costs $12."));
    assert!(!text.contains("polite"), "{text}");

    project.write(".evalrig/targets.yaml", &TARGETS.replace("$12", "nothing"));
    let text = client.answers("run", json!({"failed": true}));
    assert_eq!(text, "1 of 1 case passed (exit code 0)");
    let text = client.answers("run", json!({"failed": true}));
    assert!(text.starts_with("nothing was run: none of these tests failed"), "{text}");
    let text = client.answers("compare", json!({}));
    assert!(text.contains("fixed") && text.contains("cheap"), "{text}");
    let text = client.answers("failures", json!({"results": "latest~1"}));
    assert!(text.contains("cheap"), "{text}");
    let text = client.answers("failures", json!({"results": "latest~1", "test": "polite"}));
    assert!(text.contains("polite") && text.contains("answer: Hello there"), "{text}");
    let text = client.refuses("failures", json!({"test": "no-such-test"}));
    assert_eq!(text, "the run has no test `no-such-test`");
    client.close();
}

#[test]
fn selections_reach_the_run() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::start(&project, &[]);
    let text = client.answers("run", json!({"filter": ["pol*"], "trials": 3}));
    assert_eq!(text, "3 of 3 cases passed (exit code 0)");
    let text = client.answers("run", json!({"tag": "smoke", "budget_usd": 0.5}));
    assert!(text.starts_with("1 of 1 case passed (exit code 0)"), "{text}");
    let text = client.answers("run", json!({"filter": "cheap", "trials": 2}));
    assert!(text.contains("(0 of 2 trials passed; this is trial 1)"), "{text}");
    let text = client.refuses("run", json!({"filter": "nothing-like-this"}));
    assert!(text.contains("no test"), "{text}");
    let text = client.refuses("run", json!({"target": "--help"}));
    assert!(text.contains("--help") && !text.contains("Usage"), "{text}");
}

#[test]
fn names_are_explained() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::start(&project, &[]);
    let text = client.answers("explain", json!({"name": "duplicate-id"}));
    assert!(text.starts_with("# duplicate-id"), "{text}");
    let text = client.answers("explain", json!({}));
    assert!(text.contains("\n  contains: ") && text.contains("\n  mock: "), "{text}");
    assert!(!text.contains("duplicate-id"), "{text}");
    let text = client.refuses("explain", json!({"name": "duplicate-idd"}));
    assert!(text.contains("did you mean `duplicate-id`?"), "{text}");
    let text = client.refuses("explain", json!({"name": "--version"}));
    assert!(text.contains("unknown name"), "{text}");
}

#[test]
fn no_path_leaves_the_repository() {
    let project = Project::new(SUITE, TARGETS);
    let other = Project::new(SUITE, TARGETS);
    let outside = other.path("EVAL.yaml");
    let outside = outside.to_str().expect("UTF-8");
    std::os::unix::fs::symlink(other.path("."), project.path("link")).expect("a link");
    let mut client = Client::start(&project, &[]);
    for tool in ["validate", "list", "run"] {
        for path in [outside, "..", "link/EVAL.yaml", "link/**", "*/../../x", "!/etc"] {
            let text = client.refuses(tool, json!({"paths": [path]}));
            assert!(text.ends_with("is outside of the repository"), "{tool} {path}: {text}");
        }
    }
    for (tool, name) in [("compare", "base"), ("compare", "candidate"), ("failures", "results")] {
        let text = client.refuses(tool, json!({name: "/etc/passwd"}));
        assert_eq!(text, "`/etc/passwd` is outside of the repository");
    }
    assert!(!other.has(support::LATEST));
}

#[test]
fn a_read_only_server_runs_and_changes_nothing() {
    let project = Project::new(&SUITE.replace("tests:", "evalcases:"), TARGETS);
    let mut client = Client::start(&project, &["--read-only"]);
    let tools = client.ask("tools/list", json!({}));
    assert!(!names(&tools).contains(&"run".to_owned()));
    let refused = client.ask("tools/call", json!({"name": "run", "arguments": {}}));
    assert!(refused["error"].is_object(), "{refused}");
    let text = client.refuses("validate", json!({"fix": true}));
    assert!(text.contains("--read-only"), "{text}");
    assert!(project.read("EVAL.yaml").contains("evalcases:"));
    client.close();

    let mut client = Client::start(&project, &[]);
    let text = client.answers("validate", json!({}));
    assert!(text.ends_with("can be fixed: call `validate` with `fix`"), "{text}");
    client.answers("validate", json!({"fix": true}));
    assert!(project.read("EVAL.yaml").contains("\ntests:"));
}

#[test]
fn answers_are_small_sanitized_and_without_secrets() {
    let tests: String = (0..600)
        .map(|n| {
            format!(
                "  - {{id: t{n}, criteria: c, input: i, assert: [{{type: equals, value: x}}]}}\n"
            )
        })
        .collect();
    let answer = "ghp_Ab12Xy99_secret \\u001b[31m\\u202e ".repeat(20);
    let targets = format!("targets: [{{name: default, provider: mock, response: \"{answer}\"}}]\n");
    let project = Project::new(&format!("name: many\ntests:\n{tests}"), &targets);
    let mut client = Client::start(&project, &[]);
    let text = client.answers("list", json!({}));
    assert!(text.ends_with("more tests; name suites in `paths`"), "{text}");
    let text = client.answers("run", json!({"limit": 50}));
    assert!(text.starts_with("0 of 600 cases passed, 600 failed (exit code 1)"), "{text}");
    assert!(text.contains("answer: ***"), "{text}");
    for hostile in ['\u{1b}', '\u{202e}'] {
        assert!(!text.contains(hostile), "{text}");
    }
    assert!(text.contains("more tests; `failures` with `test` shows one"), "{text}");
    let text = client.answers("failures", json!({"test": "t7"}));
    assert!(text.starts_with("0 of 1 case passed"), "{text}");
    project.write("EVAL.yaml", &format!("name: many\ntests:\n{}", tests.replace("criteria", "x")));
    let text = client.answers("validate", json!({}));
    assert!(text.contains("… ") && text.contains(" more"), "{text}");
}

#[test]
fn an_error_of_a_suite_is_returned_with_its_line() {
    let project = Project::new(&SUITE.replace("id: cheap", "id: polite"), TARGETS);
    let mut client = Client::start(&project, &[]);
    let text = client.refuses("run", json!({}));
    assert!(text.contains("duplicate-id") && text.contains("EVAL.yaml:8"), "{text}");
    let empty = Project::empty();
    let mut client = Client::start(&empty, &[]);
    let text = client.refuses("validate", json!({}));
    assert!(text.contains("no suite"), "{text}");
    client.close();
}

/// A target that writes its process id and waits.
const SLOW: &str = "\
targets:
  - name: default
    provider: cli
    command: [sh, -c, 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 600']
    cwd: .
";

fn slow_project() -> Project {
    Project::new(SUITE, SLOW)
}

fn started(project: &Project) -> String {
    wait_until("the program of the target", || project.has("pid") || project.has(".evalrig/pid"));
    let name = if project.has("pid") { "pid" } else { ".evalrig/pid" };
    project.read(name).trim().to_owned()
}

#[test]
fn a_cancelled_run_ends_its_programs() {
    let project = slow_project();
    let mut client = Client::start(&project, &[]);
    let id = client.begin("tools/call", json!({"name": "run", "arguments": {"filter": "cheap"}}));
    let program = started(&project);
    client.tell("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
    let text = client.answers("list", json!({}));
    assert!(text.contains("greeting"), "{text}");
    wait_until("the end of the program", || !is_alive(&program));
    client.close();
}

#[test]
fn a_client_that_goes_away_ends_the_run() {
    let project = slow_project();
    let mut client = Client::start(&project, &[]);
    client.begin("tools/call", json!({"name": "run", "arguments": {"filter": "cheap"}}));
    let program = started(&project);
    client.close();
    wait_until("the end of the program", || !is_alive(&program));
}

#[test]
fn a_killed_server_leaves_no_program() {
    let project = slow_project();
    let mut client = Client::start(&project, &[]);
    client.begin("tools/call", json!({"name": "run", "arguments": {"filter": "cheap"}}));
    let program = started(&project);
    client.child.kill().expect("a child");
    wait_until("the end of the program", || !is_alive(&program));
}

#[test]
fn hostile_messages_do_not_end_the_server() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::start(&project, &[]);
    for line in ["not JSON", "[]", "{}", "{\"jsonrpc\":\"2.0\"}", "\u{0}", "{\"id\":[[[[", ""] {
        writeln!(client.input.as_mut().expect("open"), "{line}").expect("the server reads");
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{{\"name\":\"list\",\"arguments\":{{\"paths\":{deep}}}}}}}"
    );
    writeln!(client.input.as_mut().expect("open"), "{deep}").expect("the server reads");
    client.last = 100;
    let text = client.refuses("list", json!({"paths": ["a\u{0}b"]}));
    assert!(text.contains("is not a path"), "{text}");
    let text = client.refuses("list", json!({"\u{1b}[2J": 1}));
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(client.answers("list", json!({})).contains("greeting"));
    client.close();
}

#[test]
fn a_directory_that_does_not_exist_is_refused() {
    let project = Project::empty();
    let ran = project.evalrig(&["mcp", "nowhere"]);
    ran.exits(2).says("`nowhere` is not a directory");
}
