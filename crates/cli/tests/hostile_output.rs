//! Every command in every format, on files whose every text attacks the terminal and the CI runner: nothing that reaches
//! standard output or standard error moves the cursor, reorders characters or gives a command to a runner.
//! The commands and formats are read from the help, so a new one without a row in the table fails the test.
#![cfg(unix)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::Stdio;

use evalrig_run::text::{self, is_harmful};
use serde_json::{Value, json};
use support::{Project, Ran};

/// ESC, BEL, a C1 control, bidirectional controls, commands after every kind of line break.
const HOSTILE: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\u{2066}\u{200b}\n::stop-commands::x\n  \
                       ::add-mask::y\r::error::z\u{2028}::error::u\n##[error]v ##vso[task.complete]w\r\n::warning::k";
/// Without line breaks: ids and file names below a directory.
const HOSTILE_LINE: &str = "::error::\u{1b}[31m\u{7}\u{9b}\u{202e}##[error]v";
/// A directory; it begins lines wherever a path does.
const FOLDER: &str = "::warning::d\u{1b}[2J\u{9b}\u{202e}\n::stop-commands::x\n##[error]n";
const RECORD: &str = ".co/evals";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Text for people, or a page.
    Text,
    /// Text whose only escapes are colours.
    Painted,
    Json,
    Yaml,
    /// Workflow commands that evalrig writes.
    Commands,
    /// Messages with the lines of their length before them.
    Framed,
}

struct Row {
    command: &'static str,
    format: &'static str,
    arguments: Vec<String>,
    form: Form,
    input: Option<String>,
}

fn row(command: &'static str, format: &'static str, form: Form, arguments: &[&str]) -> Row {
    let arguments = arguments.iter().map(|one| (*one).to_owned()).collect();
    Row { command, format, arguments, form, input: None }
}

/// In double quotes, as JSON and YAML read it.
fn quoted(text: &str) -> String {
    text::json(&serde_json::to_string(text).expect("a text")).into_owned()
}

fn suite() -> String {
    let (all, line) = (quoted(HOSTILE), quoted(HOSTILE_LINE));
    format!(
        "name: {all}\ndescription: {all}\nexecution: {{target: {line}}}\ntests:\n  \
         - {{id: {line}, criteria: {all}, input: {all}, expected_output: {all}, metadata: {{tags: [{all}], {all}: {all}}},\n     \
         conversation_id: {line}, rubrics: [{all}], assert: [{{type: contains, name: {all}, value: {all}}},\n     \
         {{type: tool-trajectory, mode: any_order, minimums: {{{line}: 1}}}},\n     \
         {{type: code-judge, name: {all}, script: [sh, ./judge.sh]}}]}}\n  \
         - {{id: fails, criteria: c, input: fail, assert: [{{type: equals, value: {all}}}]}}\n  \
         - {{id: skipped, criteria: c, input: i, skip: {all}}}\n"
    )
}

fn broken_suite() -> String {
    let all = quoted(HOSTILE);
    format!(
        "name: {all}\n{all}: 1\ntests:\n  - {{id: {all}, input: 1, {all}: 2, assert: [{{type: {all}}}, {{type: regex, value: \"[\"}}]}}\n  \
         - {{id: a, criteria: c, input: i, targets: {all}, input_files: [{all}]}}\n  - {all}\nmin_score: {all}\n"
    )
}

/// Tests with checks on files, for `export harbor`.
fn suite_of_tasks() -> String {
    let (all, line) = (quoted(HOSTILE), quoted(HOSTILE_LINE));
    format!(
        "name: {all}\ntests:\n  - {{id: {line}, criteria: {all}, input: {all}, workspace: {{}}, rubrics: [{all}],\n     \
         assert: [{{type: files, name: {all}, exists: [a.txt]}}, {{type: contains, name: {all}, value: {all}}}]}}\n"
    )
}

fn targets() -> String {
    let (all, line) = (quoted(HOSTILE), quoted(HOSTILE_LINE));
    format!(
        "judge_target: {all}\ntargets:\n  - {{name: {all}, provider: mock, response: {all}}}\n  \
         - name: {line}\n    provider: mock\n    responses:\n      - {{pattern: fail, error: {all}}}\n      \
         - {{response: {all}, tool_calls: [{{tool: {all}, args: {{{all}: {all}}}, output: {all}}}]}}\n  \
         - {{name: program, provider: cli, command: [sh, ./agent.sh]}}\n"
    )
}

/// A shell script that prints a text and fails.
fn script(text: &str, end: &str) -> String {
    let octal: String = text.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    format!("cat >/dev/null\nprintf '{octal}'\nprintf '{octal}' >&2\n{end}\n")
}

fn summary() -> String {
    let all = quoted(HOSTILE);
    format!(
        "name: {all}\ncreated: {all}\nupdated: {all}\nruns: 2\nmodel: {all}\n{all}: {all}\nturns:\n\
         - input: {all}\n  run: 2\n  output: {all}\n  tools_called: [{all}]\n  expected: {all}\n  evaluation: {all}\n  \
         meta: {all}\n  history:\n  - {{run: 1, output: {all}, evaluation: {all}, tools_called: [], meta: {all}}}\n"
    )
}

fn project() -> Project {
    let project = Project::empty();
    let inside = |name: &str| format!("{FOLDER}/{name}");
    project.write(&inside("EVAL.yaml"), &suite());
    project.write(&inside(".evalrig/targets.yaml"), &targets());
    let all = quoted(HOSTILE);
    let settings = format!("filter = [{all}]\n[profile.{all}]\ntag = {all}\n");
    project.write("settings/evalrig.toml", &settings);
    project.write(&inside("evalrig.toml"), &format!("{all} = {all}\ntag = [{all}, 1]\n"));
    project.write(
        &inside("judge.sh"),
        &script(
            &json!({"score": 0.5, "hits": [HOSTILE], "misses": [HOSTILE],
        "reasoning": HOSTILE, "details": {HOSTILE: HOSTILE}})
            .to_string(),
            "",
        ),
    );
    project.write(&inside("agent.sh"), &script(HOSTILE, "exit 3"));
    project.write(&inside("broken/EVAL.yaml"), &broken_suite());
    project.write(&inside("tasks.yaml"), &suite_of_tasks());
    project.write(
        &inside("raw/EVAL.yaml"),
        &format!("name: r\n# {HOSTILE}\ntests: {HOSTILE}\n::stop-commands::x: [\n"),
    );
    project.write(&inside(&format!("evals/{HOSTILE_LINE}.json")), &evals_json());
    let store = |name: &str| format!("{FOLDER}/{RECORD}/{name}");
    project.write(&store("hostile.yaml"), &summary());
    project.write(
        &store("unreadable\u{1b}[31m\n::stop-commands::x.yaml"),
        &format!("a: [\n{HOSTILE}"),
    );
    for run in [1, 2] {
        project.write(&store(&format!("hostile/run_{run}.yaml")), &run_file(run));
    }
    project.write(&store("hostile/run_9.yaml"), HOSTILE);
    project
}

fn evals_json() -> String {
    json!({"skill_name": HOSTILE, "evals": [{"id": 1, "prompt": HOSTILE, "expected_output": HOSTILE,
        "files": [HOSTILE_LINE], "expectations": [HOSTILE], HOSTILE: HOSTILE}]})
    .to_string()
}

fn run_file(run: u64) -> String {
    let messages = json!([{"role": "user", "content": HOSTILE},
        {"role": "assistant", "content": format!("{HOSTILE}{run}"), "tool_calls": [{"id": HOSTILE, "type": "function",
         "function": {"name": HOSTILE, "arguments": HOSTILE}}]}]);
    let all = quoted(HOSTILE);
    format!(
        "model: {all}\ncwd: {all}\ntokens: 1\ncost: 0.5\nduration_ms: 3\nts: {all}\nmessages: {messages}\n"
    )
}

/// The rows of a run with every text replaced, except the words that a reader knows.
fn spoiled(results: &str) -> String {
    const WORDS: &[&str] =
        &["outcome", "verdict", "timestamp", "stage", "kind", "gate", "role", "testHash"];
    fn spoil(value: &mut Value) {
        match value {
            Value::String(text) => *text = HOSTILE.to_owned(),
            Value::Array(items) => items.iter_mut().for_each(spoil),
            Value::Object(map) => {
                for (key, value) in map {
                    if !WORDS.contains(&key.as_str()) {
                        spoil(value);
                    }
                }
            }
            _ => {}
        }
    }
    let rows = results.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let rows = rows.filter(|row| row.get("evalId").is_some()).map(|mut row| {
        spoil(&mut row);
        // A row with a wrong checksum is refused; one without is that of an older version.
        row.as_object_mut().and_then(|map| map.remove("crc"));
        row.to_string() + "\n"
    });
    rows.collect()
}

fn table(folder: &str) -> Vec<Row> {
    let suite = &format!("{folder}/EVAL.yaml");
    let test = &format!("{suite}#{HOSTILE_LINE}");
    let store = &format!("{folder}/{RECORD}");
    let evals = &format!("{folder}/evals/{HOSTILE_LINE}.json");
    let mut rows = vec![
        row("init", "", Form::Text, &["init", &format!("{folder}/new")]),
        row("init", "", Form::Text, &["init", folder]),
        row("config", "text", Form::Text, &["config", "--root", "settings"]),
        row(
            "config",
            "json",
            Form::Json,
            &["config", "--root", "settings", "--profile", HOSTILE, "--format", "json"],
        ),
        row("config", "", Form::Text, &["config", "--root", "settings", "--profile", HOSTILE_LINE]),
        row("config", "", Form::Text, &["config", "--root", folder]),
        row("validate", "full", Form::Text, &["validate", "--strict"]),
        row("validate", "full", Form::Painted, &["validate", "-v", "--color", "always"]),
        row("validate", "concise", Form::Text, &["validate", "--format", "concise"]),
        row("validate", "json", Form::Json, &["validate", "--format", "json"]),
        row("validate", "github", Form::Commands, &["validate", "-v", "--format", "github"]),
        row("validate", "sarif", Form::Json, &["validate", "--format", "sarif"]),
        row("validate", "", Form::Text, &["validate", "--fix", "--diff"]),
        row("validate", "", Form::Text, &["validate", HOSTILE]),
        row("validate", "", Form::Text, &["validate", "--targets", HOSTILE]),
        row("list", "text", Form::Text, &["list"]),
        row("list", "text", Form::Text, &["list", suite]),
        row("list", "json", Form::Json, &["list", suite, "--format", "json"]),
        row("show", "yaml", Form::Yaml, &["show", suite]),
        row("show", "yaml", Form::Yaml, &["show", test]),
        row("show", "json", Form::Json, &["show", suite, "--format", "json"]),
        row("show", "json", Form::Json, &["show", test, "--format", "json"]),
        row("show", "", Form::Text, &["show", &format!("{suite}#{HOSTILE}")]),
        row("show", "", Form::Text, &["show", folder]),
        row("convert", "", Form::Yaml, &["convert", evals, "--stdout"]),
        row("convert", "", Form::Yaml, &["convert", store, "--stdout"]),
        row("convert", "", Form::Text, &["convert", evals, "-o", &format!("{folder}/out.yaml")]),
        row("convert", "", Form::Text, &["convert", suite, "--stdout"]),
        row(
            "transpile",
            "evals",
            Form::Json,
            &["transpile", suite, "--format", "evals", "--stdout"],
        ),
        row(
            "transpile",
            "eval-set",
            Form::Json,
            &["transpile", suite, "--format", "eval-set", "--stdout"],
        ),
        row("transpile", "both", Form::Text, &["transpile", suite, "--check"]),
        row(
            "transpile",
            "both",
            Form::Text,
            &["transpile", suite, "--out", &format!("{folder}/t")],
        ),
        row(
            "export skill-creator",
            "",
            Form::Text,
            &["export", "skill-creator", "spoiled.jsonl", "-o", &format!("{folder}/iteration-1")],
        ),
        row(
            "export skill-creator",
            "",
            Form::Text,
            &["export", "skill-creator", "spoiled.jsonl", "-o", folder, "--force"],
        ),
        row("export harbor", "", Form::Text, &["export", "harbor", suite, "-o", "no-tasks"]),
        row(
            "export harbor",
            "",
            Form::Text,
            &[
                "export",
                "harbor",
                &format!("{folder}/tasks.yaml"),
                "-o",
                &format!("{folder}/tasks"),
            ],
        ),
        row(
            "convert",
            "",
            Form::Text,
            &["convert", &format!("{folder}/tasks"), "-o", &format!("{folder}/converted.yaml")],
        ),
        row(
            "convert",
            "",
            Form::Text,
            &["convert", &format!("{folder}/iteration-1"), "-o", &format!("{folder}/h.jsonl")],
        ),
        row("run", "", Form::Text, &["run", suite, "--dry-run"]),
        row("run", "", Form::Text, &["run", suite, "-t", HOSTILE]),
        row("run", "", Form::Text, &["run", suite, "-t", "program"]),
        row("run", "", Form::Text, &["run", suite, "--resume", HOSTILE]),
        row("run", "", Form::Text, &["run", &format!("{folder}/broken/EVAL.yaml")]),
        row("compare", "text", Form::Text, &["compare", "spoiled.jsonl", "other.jsonl"]),
        row(
            "compare",
            "text",
            Form::Painted,
            &["compare", "spoiled.jsonl", "other.jsonl", "-v", "--color", "always"],
        ),
        row("compare", "text", Form::Text, &["compare", "--selftest", "spoiled.jsonl"]),
        row("compare", "text", Form::Text, &["compare", HOSTILE, HOSTILE]),
        row(
            "compare",
            "json",
            Form::Json,
            &["compare", "spoiled.jsonl", "other.jsonl", "--format", "json"],
        ),
        row(
            "compare",
            "markdown",
            Form::Text,
            &["compare", "spoiled.jsonl", "other.jsonl", "--format", "markdown"],
        ),
        row("mutate", "text", Form::Text, &["mutate", "spoiled.jsonl", "--suite", suite]),
        row("mutate", "text", Form::Text, &["mutate", "other.jsonl", "-v", "--suite", suite]),
        row(
            "mutate",
            "text",
            Form::Painted,
            &["mutate", "other.jsonl", "--suite", suite, "--color", "always"],
        ),
        row("mutate", "text", Form::Text, &["mutate", HOSTILE]),
        row(
            "mutate",
            "json",
            Form::Json,
            &["mutate", "other.jsonl", "--suite", suite, "--format", "json"],
        ),
        row("stats", "text", Form::Text, &["stats", "spoiled.jsonl", "other.jsonl"]),
        row("stats", "text", Form::Painted, &["stats", "spoiled.jsonl", "--color", "always"]),
        row("stats", "text", Form::Text, &["stats", HOSTILE]),
        row("stats", "json", Form::Json, &["stats", "spoiled.jsonl", "--format", "json"]),
        row("judge check", "text", Form::Text, &["judge", "check", "spoiled.jsonl", "-v"]),
        row("judge check", "text", Form::Text, &["judge", "check", "real.jsonl", "-v"]),
        row("judge check", "text", Form::Text, &["judge", "check", HOSTILE, "--labels", HOSTILE]),
        row(
            "judge check",
            "json",
            Form::Json,
            &["judge", "check", "spoiled.jsonl", "--format", "json"],
        ),
        row("explain", "text", Form::Text, &["explain", HOSTILE]),
        row("explain", "text", Form::Text, &["explain", "duplicate-id"]),
        row("explain", "json", Form::Json, &["explain", "--format", "json"]),
        row("schema", "", Form::Json, &["schema"]),
        row("man", "", Form::Text, &["man", &format!("{folder}/man")]),
        row("man", "", Form::Text, &["man", suite]),
        row("completions", "", Form::Text, &["completions", "fish"]),
        row("view", "", Form::Text, &["view", "--no-open", HOSTILE]),
        row("", "", Form::Text, &[HOSTILE]),
        row("", "", Form::Text, &["validate", &format!("--{HOSTILE}")]),
        row("", "", Form::Text, &["report", "--report", HOSTILE, "spoiled.jsonl"]),
    ];
    rows.extend(log_rows(store));
    rows.push(tool_calls(folder));
    rows.push(editor_session(folder));
    rows.push(row("worker", "", Form::Text, &["worker", "--queue", HOSTILE]));
    for (format, form) in [("text", Form::Text), ("json", Form::Json)] {
        let words = ["queue", "status", "--queue", HOSTILE, "--format", format];
        rows.push(row("queue status", format, form, &words));
    }
    for (command, verb) in [("queue cancel", "cancel"), ("queue remove", "remove")] {
        rows.push(row(command, "", Form::Text, &["queue", verb, HOSTILE, "--queue", HOSTILE]));
    }
    rows
}

/// A session of the MCP server that calls every tool.
fn tool_calls(folder: &str) -> Row {
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": HOSTILE, "version": "1"},
    });
    let mut messages = vec![
        json!({"id": 1, "method": "initialize", "params": hello}),
        json!({"method": "notifications/initialized"}),
    ];
    let calls = [
        ("validate", json!({"paths": [folder], "strict": true})),
        ("validate", json!({"paths": [HOSTILE]})),
        ("list", json!({"paths": [folder]})),
        ("run", json!({"paths": [format!("{folder}/EVAL.yaml")]})),
        ("run", json!({"filter": HOSTILE, HOSTILE: 1})),
        ("explain", json!({"name": HOSTILE})),
        ("failures", json!({"results": "spoiled.jsonl"})),
        ("failures", json!({"results": "real.jsonl", "test": HOSTILE_LINE})),
        ("compare", json!({"base": "real.jsonl", "candidate": "spoiled.jsonl"})),
        (HOSTILE, json!({})),
    ];
    for (at, (name, arguments)) in calls.iter().enumerate() {
        let call = json!({"name": name, "arguments": arguments});
        messages.push(json!({"id": at + 2, "method": "tools/call", "params": call}));
    }
    let mut input = String::new();
    for message in &mut messages {
        message["jsonrpc"] = json!("2.0");
        input += &format!("{message}\n");
    }
    Row { input: Some(input), ..row("mcp", "", Form::Text, &["mcp"]) }
}

/// A session of an editor that opens a suite and asks about every line of it.
fn editor_session(folder: &str) -> Row {
    let uri = format!("file:///p/{HOSTILE_LINE}/EVAL.yaml");
    let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": broken_suite()});
    let mut messages = vec![
        json!({"id": 1, "method": "initialize", "params": {"processId": null, "rootUri": format!("file:///{folder}"),
               "capabilities": {}}}),
        json!({"method": "initialized", "params": {}}),
        json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}),
    ];
    for (at, method) in
        ["documentSymbol", "codeLens", "foldingRange", "semanticTokens/full"].iter().enumerate()
    {
        messages.push(json!({"id": 10 + at, "method": format!("textDocument/{method}"),
                             "params": {"textDocument": {"uri": uri}}}));
    }
    for line in 0..8 {
        let place =
            json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 8}});
        for (at, method) in ["hover", "completion", "definition"].iter().enumerate() {
            let id = 100 + 10 * line + at;
            messages.push(
                json!({"id": id, "method": format!("textDocument/{method}"), "params": place}),
            );
        }
    }
    messages.push(json!({"id": 2, "method": HOSTILE}));
    messages.push(json!({"id": 3, "method": "shutdown"}));
    messages.push(json!({"method": "exit"}));
    let mut input = String::new();
    for message in &mut messages {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        input += &format!("Content-Length: {}\r\n\r\n{text}", text.len());
    }
    Row { input: Some(input), ..row("lsp", "", Form::Framed, &["lsp"]) }
}

fn log_rows(store: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let commands: [(&'static str, &[&str]); 11] = [
        ("log list", &["list"]),
        ("log show", &["show", "hostile"]),
        ("log show", &["show", HOSTILE]),
        ("log diff", &["diff", "hostile"]),
        ("log messages", &["messages", "hostile"]),
        ("log messages", &["messages", "hostile", "--run", "9"]),
        ("log verify", &["verify"]),
        ("log prune", &["prune", "--keep-runs", "1", "--dry-run"]),
        ("log record", &["record", "--model", HOSTILE]),
        ("log expect", &["expect", "hostile", HOSTILE]),
        ("log evaluate", &["evaluate", "hostile", "fail", HOSTILE]),
    ];
    for (command, arguments) in commands {
        for (format, form) in [("text", Form::Text), ("json", Form::Json)] {
            let start = ["log", "--store", store, "--format", format];
            let all: Vec<&str> = start.iter().chain(arguments).copied().collect();
            // `messages` prints JSON in both formats.
            let form = if command == "log messages" { Form::Json } else { form };
            rows.push(row(command, format, form, &all));
        }
    }
    for row in rows.iter_mut().filter(|row| row.command == "log record") {
        row.input = Some(
            json!([{"role": "user", "content": format!("{HOSTILE} {}", row.format)},
            {"role": "assistant", "content": HOSTILE}])
            .to_string(),
        );
    }
    let painted = ["log", "--store", store, "diff", "hostile", "--color", "always"];
    rows.push(row("log diff", "text", Form::Painted, &painted));
    rows
}

/// Reports of every kind, for each command that makes them.
fn report_rows(folder: &str, reports: &BTreeSet<String>) -> Vec<Row> {
    let suite = &format!("{folder}/EVAL.yaml");
    let mut rows = Vec::new();
    for name in reports {
        let form = match name.as_str() {
            "json" => Form::Json,
            "github" => Form::Commands,
            _ => Form::Text,
        };
        let name: &'static str = name.clone().leak();
        for arguments in [
            vec!["report", "spoiled.jsonl", "--report", name],
            vec!["report", "real.jsonl", "--report", name],
            vec!["report", "spoiled.jsonl", "--baseline", "other.jsonl", "--report", name],
            vec!["grade", "spoiled.jsonl", "--report", name],
            vec!["grade", "real.jsonl", "--report", name],
            vec!["run", suite, "--report", name],
            vec!["run", suite, "--baseline", "real.jsonl", "--report", name],
        ] {
            let command: &'static str = arguments[0].to_owned().leak();
            rows.push(row(command, name, form, &arguments));
        }
    }
    for arguments in [["report", "spoiled.jsonl"], ["grade", "real.jsonl"], ["run", suite]] {
        let command: &'static str = arguments[0].to_owned().leak();
        rows.push(row(
            command,
            "terminal",
            Form::Painted,
            &[arguments[0], arguments[1], "-v", "--color", "always"],
        ));
    }
    rows
}

fn call(project: &Project, row: &Row) -> Ran {
    let arguments: Vec<&str> = row.arguments.iter().map(String::as_str).collect();
    let mut command = project.command(&arguments);
    let Some(input) = &row.input else {
        return Ran::of(command);
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("evalrig starts");
    child.stdin.take().expect("standard input").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Without `ESC [ … m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').strip_prefix('m') {
            Some(rest) => out += rest,
            None => out += &format!("\u{1b}[{part}"),
        }
    }
    out
}

fn problems(text: &str, form: Form) -> Vec<String> {
    let text = match form {
        Form::Painted => without_colours(text),
        Form::Framed => text.replace("\r\n\r\n", "\n"),
        _ => text.to_owned(),
    };
    let mut found = Vec::new();
    for line in text.split('\n') {
        let harmful = line.chars().find(|c| is_harmful(*c) && *c != '\t');
        if let Some(c) = harmful {
            found.push(format!("{c:?} in {line:?}"));
        }
        if ["##[", "##vso["].iter().any(|command| line.contains(command)) {
            found.push(format!("a command in {line:?}"));
        }
        let is_own = form == Form::Commands && is_annotation(line);
        // `:::` begins the place of another file in a drawing; runners know no command `:`.
        let is_place = line.trim_start().starts_with("::: ");
        if line.trim_start().starts_with("::") && !is_own && !is_place {
            found.push(format!("a command at the start of {line:?}"));
        }
    }
    found.truncate(3);
    found
}

/// `::error file=…::message`, as evalrig writes it.
fn is_annotation(line: &str) -> bool {
    let kinds = ["::error ", "::warning ", "::notice "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind));
    let properties = rest.and_then(|rest| rest.split_once("::")).map(|(properties, _)| properties);
    let known = ["file=", "line=", "col=", "endLine=", "endColumn=", "title="];
    properties
        .is_some_and(|all| all.split(',').all(|one| known.iter().any(|key| one.starts_with(key))))
}

/// Every leaf command with the formats that its help names.
fn commands(project: &Project, path: &[&str], found: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut arguments = path.to_vec();
    arguments.push("--help");
    let help = project.evalrig(&arguments).out;
    let Some((_, list)) = help.split_once("Commands:\n") else {
        found.insert(path.join(" "), formats(&help));
        return;
    };
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let names = lines
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        let mut inner = path.to_vec();
        inner.push(name);
        commands(project, &inner, found);
    }
}

fn formats(help: &str) -> BTreeSet<String> {
    let words: Vec<&str> = help.split_whitespace().collect();
    let text = words.join(" ");
    let values = text.split_once("--format <FORMAT>").and_then(|(_, after)| {
        let (_, values) = after.split_once("[possible values: ")?;
        Some(values.split_once(']')?.0)
    });
    let values = values.map(|values| values.split(", ").map(str::to_owned).collect());
    values.unwrap_or_default()
}

fn report_names() -> BTreeSet<String> {
    evalrig_run::report::REPORTS.iter().map(|report| report.name.to_owned()).collect()
}

/// Two results files with hostile texts, and one of a real run.
fn write_results(project: &Project) {
    let ran = project.evalrig(&["run", &format!("{FOLDER}/EVAL.yaml"), "--output", "real.jsonl"]);
    assert_eq!(ran.code, Some(3), "{}\n{}", ran.out, ran.err);
    let rows = spoiled(&project.read("real.jsonl"));
    assert!(rows.lines().count() > 1, "{rows}");
    project.write("spoiled.jsonl", &rows);
    project.write("other.jsonl", &rows.replace("errored", "failed"));
}

#[test]
fn no_output_path_lets_a_hostile_text_through() {
    let project = project();
    let known = report_names();
    write_results(&project);
    let mut rows = table(FOLDER);
    rows.extend(report_rows(FOLDER, &known));
    let mut bad = Vec::new();
    for row in &rows {
        let ran = call(&project, row);
        let label = format!("evalrig {}", row.arguments.join(" ")).escape_debug().to_string();
        let expected = [0, 1, 2, 3, 4];
        if !ran.code.is_some_and(|code| expected.contains(&code)) {
            bad.push(format!("{label}\n  ended with {:?}: {}", ran.code, ran.err));
        }
        let of_errors = if row.form == Form::Painted { Form::Painted } else { Form::Text };
        for problem in problems(&ran.out, row.form) {
            bad.push(format!("{label}\n  stdout: {problem}"));
        }
        for problem in problems(&ran.err, of_errors) {
            bad.push(format!("{label}\n  stderr: {problem}"));
        }
        if row.form == Form::Json
            && !ran.out.is_empty()
            && serde_json::from_str::<Value>(&ran.out).is_err()
        {
            bad.push(format!("{label}\n  stdout is not JSON: {:?}", ran.out));
        }
    }
    assert!(bad.is_empty(), "{} of {} calls:\n{}", bad.len(), rows.len(), bad.join("\n"));
}

#[test]
fn every_command_and_every_format_has_a_row() {
    let project = Project::empty();
    let mut found = BTreeMap::new();
    commands(&project, &[], &mut found);
    assert!(found.len() > 20, "{found:?}");
    let rows = table(FOLDER).into_iter().chain(report_rows(FOLDER, &report_names()));
    let covered: BTreeSet<(&str, &str)> = rows.map(|row| (row.command, row.format)).collect();
    for (command, formats) in &found {
        let is_covered = covered.iter().any(|(known, _)| known == command);
        assert!(is_covered, "`evalrig {command}` has no row in the table of this test");
        for format in formats {
            let is_covered = covered.contains(&(command.as_str(), format.as_str()));
            assert!(
                is_covered,
                "`evalrig {command} --format {format}` has no row in the table of this test"
            );
        }
    }
}

/// What `show` prints can be read again, with the same texts.
#[test]
fn yaml_on_standard_output_keeps_hostile_texts() {
    let project = project();
    let suite = format!("{FOLDER}/EVAL.yaml");
    let printed = project.evalrig(&["show", &suite]);
    let before = project.evalrig(&["show", &suite, "--format", "json"]).out;
    project.write(&suite, &printed.out);
    let after = project.evalrig(&["show", &suite, "--format", "json"]).out;
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    let value = |text: &str| {
        let mut value: Value = serde_json::from_str(text).expect("JSON");
        strip_lines(&mut value);
        value
    };
    assert_eq!(value(&before), value(&after));
    assert_eq!(value(&after)["description"], HOSTILE);
}

/// Line numbers change when a suite is laid out again.
fn strip_lines(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| key != "line" && key != "source");
            map.values_mut().for_each(strip_lines);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_lines),
        _ => {}
    }
}
