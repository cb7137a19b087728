//! No secret leaves the program: every source of a secret × every spelling × every output (spec 9.5).
//!
//! The spellings here are made without the program's own code. A new source, spelling or output is one
//! entry of [`SOURCES`], [`SPELLINGS`] or [`outputs`].
#![cfg(unix)]

mod support;

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use support::{LATEST, Project, Ran};

/// Where a secret comes from.
struct Source {
    name: &'static str,
    /// The text that must not be shown.
    secret: &'static str,
    environment: &'static [(&'static str, &'static str)],
    dotenv: &'static str,
    /// Lines of a target that is not called.
    target: &'static str,
}

const NOTHING: Source = Source { name: "", secret: "", environment: &[], dotenv: "", target: "" };

const SOURCES: &[Source] = &[
    Source {
        name: "a variable of the environment",
        secret: "ghp_Ab-12/Xy+Z9_q7Lm",
        environment: &[("SOME_API_TOKEN", "ghp_Ab-12/Xy+Z9_q7Lm")],
        ..NOTHING
    },
    Source {
        name: "a variable of a .env file",
        secret: "Dot_Env-5521-value",
        dotenv: "MY_PASSWORD=Dot_Env-5521-value\n",
        ..NOTHING
    },
    Source {
        name: "a variable with spaces and quotes",
        secret: "p\u{e4} \"ss\\w\u{f6}rd'_<12>&",
        environment: &[("DB_PASSWORD", "p\u{e4} \"ss\\w\u{f6}rd'_<12>&")],
        ..NOTHING
    },
    Source {
        name: "a key written out in the targets file",
        secret: "lit-Key_778899",
        target: "api_key: lit-Key_778899",
        ..NOTHING
    },
    Source {
        name: "a key variable that ends in a line break",
        secret: "sk-Trail_4711-end",
        environment: &[("SESAME", "sk-Trail_4711-end\n")],
        target: "api_key: \"${{ SESAME }}\"",
        ..NOTHING
    },
    Source {
        name: "the default key variable",
        secret: "sk-Def_0815-key",
        environment: &[("OPENAI_API_KEY", " sk-Def_0815-key \n")],
        ..NOTHING
    },
    Source {
        name: "a bearer token in a header",
        secret: "Bear_Er-99127",
        target: "headers: {Authorization: \"Bearer Bear_Er-99127\"}",
        ..NOTHING
    },
    Source {
        name: "a bearer token from a variable",
        secret: "Var_Bear-3317",
        environment: &[("WHOLE", "Bearer Var_Bear-3317")],
        target: "headers: {Authorization: \"${{ WHOLE }}\"}",
        ..NOTHING
    },
    Source {
        name: "a password in a basic header",
        // robot:Bas_Ic-pw/55+x
        secret: "Bas_Ic-pw/55+x",
        target: "headers: {Authorization: \"Basic cm9ib3Q6QmFzX0ljLXB3LzU1K3g=\"}",
        ..NOTHING
    },
    Source {
        name: "the password of an address",
        secret: "Url_P@ss-66/x",
        target: "base_url: \"https://u:Url_P%40ss-66%2Fx@127.0.0.1:9/v1\"",
        ..NOTHING
    },
    Source {
        name: "the user of an address",
        secret: "Us_Er-token-5188",
        target: "base_url: \"https://Us_Er-token-5188@127.0.0.1:9/v1\"",
        ..NOTHING
    },
    Source {
        name: "a query value of an address from a variable",
        secret: "Que_Ry-7+7/1a=",
        environment: &[("PLACE", "https://127.0.0.1:9/v1?code=Que_Ry-7%2B7%2F1a%3D&api-version=1")],
        target: "base_url: \"${{ PLACE }}\"",
        ..NOTHING
    },
    Source {
        name: "a line of a value with several",
        secret: "MIIEvQ_IBAD-ANBgk42",
        environment: &[(
            "SIGNING_KEY",
            "-----BEGIN KEY-----\nMIIEvQ_IBAD-ANBgk42\nsecond_Line-of-it77\n-----END KEY-----\n",
        )],
        ..NOTHING
    },
    Source {
        name: "a whole value of several lines",
        secret: "first_Line-of-it11\nsecond_Line-of-it77",
        environment: &[("MULTI_SECRET", "first_Line-of-it11\nsecond_Line-of-it77\n")],
        ..NOTHING
    },
    Source {
        name: "a number",
        secret: "40917263548",
        environment: &[("ACCOUNT_KEY", "40917263548")],
        ..NOTHING
    },
    Source {
        name: "a number that no integer type holds",
        secret: "409172635481122334455667788",
        environment: &[("ACCOUNT_KEY", "409172635481122334455667788")],
        ..NOTHING
    },
];

type Spelling = fn(&str) -> String;

const SPELLINGS: &[(&str, Spelling)] = &[
    ("as it is", str::to_owned),
    ("lower case", str::to_lowercase),
    ("upper case", str::to_uppercase),
    ("_ as -", |text| text.replace('_', "-")),
    ("- as _", |text| text.replace('-', "_")),
    ("slug", |text| joined(text, '_', |c| c.is_alphanumeric() || c == '_')),
    ("legal name", |text| joined(text, '-', |c| c.is_ascii_alphanumeric())),
    ("JSON", json_text),
    ("JSON in JSON", |text| json_text(&json_text(text))),
    ("JSON in ASCII", |text| {
        let ascii = |c: char| {
            if c.is_ascii() { c.to_string() } else { format!("\\u{:04X}", u32::from(c)) }
        };
        json_text(text).chars().map(ascii).collect()
    }),
    ("percent", |text| percent(text, "-._~", |byte| format!("%{byte:02X}"))),
    ("percent in lower case", |text| percent(text, "-._~", |byte| format!("%{byte:02x}"))),
    ("form", |text| percent(text, "-._* ", |byte| format!("%{byte:02X}")).replace(' ', "+")),
    ("base64", |text| STANDARD.encode(text)),
    ("base64 without padding", |text| STANDARD_NO_PAD.encode(text)),
    ("base64 for URLs", |text| URL_SAFE.encode(text)),
    ("base64 for URLs without padding", |text| URL_SAFE_NO_PAD.encode(text)),
    ("inside base64, first alignment", |text| STANDARD.encode(format!("abc{text}z"))),
    ("inside base64, second alignment", |text| STANDARD.encode(format!("a{text}yz"))),
    ("inside base64, third alignment", |text| URL_SAFE.encode(format!("u:{text}xyz"))),
    ("hexadecimal", |text| percent(text, "", |byte| format!("{byte:02x}"))),
    ("upper-case hexadecimal", |text| percent(text, "", |byte| format!("{byte:02X}"))),
    ("after Bearer", |text| format!("Bearer {text}")),
    ("between letters", |text| format!("x{text}x")),
];

fn joined(text: &str, separator: char, is_kept: fn(char) -> bool) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c| !is_kept(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&separator.to_string())
}

fn json_text(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent(text: &str, kept: &str, encode: fn(u8) -> String) -> String {
    let is_kept = |byte: u8| !kept.is_empty() && byte.is_ascii_alphanumeric();
    let written = |byte: u8| {
        if is_kept(byte) || kept.as_bytes().contains(&byte) {
            char::from(byte).to_string()
        } else {
            encode(byte)
        }
    };
    text.bytes().map(written).collect()
}

/// Finds the number of the case in its input, and answers, fails or judges with what is planted for it.
const AGENT: &str = "\
n=$(grep -o 'case-[0-9]*' | head -n 1)
if [ -f \"planted/$n.err\" ]; then cat \"planted/$n.err\" >&2; exit 3; fi
cat \"planted/$n.$1.json\"
";

/// A project in which agents, judges, scripts and authors write every spelling of a secret everywhere.
fn planted(source: &Source) -> (Project, Vec<(&'static str, String)>) {
    let number = source.secret.parse::<f64>().ok().map(|_| source.secret);
    let number: Value = serde_json::from_str(number.unwrap_or("7")).unwrap();
    let tokens = number.as_u64().unwrap_or(7);
    let spelled: Vec<(&str, String)> =
        SPELLINGS.iter().map(|(name, spell)| (*name, spell(source.secret))).collect();
    let project = Project::empty();
    project.write("agent.sh", AGENT);
    project.write(".env", &format!("UNUSED=1\n{}", source.dotenv));
    let target = if source.target.is_empty() { "model: n" } else { source.target };
    project.write(
        ".evalrig/targets.yaml",
        &format!(
            "judge_target: judge\ntargets:\n  \
             - {{name: default, provider: cli, command: [sh, agent.sh, answer], format: messages}}\n  \
             - {{name: judge, provider: cli, command: [sh, agent.sh, judge]}}\n  \
             - name: idle\n    provider: openai\n    model: m\n    {}\n",
            if target == "model: n" { "config: {}" } else { target }
        ),
    );
    let mut suite = "name: secrets\ntests:\n".to_owned();
    let mut skills = "name: skills\ntests:\n".to_owned();
    let mut tasks = "name: tasks\ntests:\n".to_owned();
    let mut bad = "tests:\n".to_owned();
    for (at, (_, text)) in spelled.iter().enumerate() {
        let quoted = Value::from(text.as_str()).to_string();
        let line = Value::from(text.replace('\n', " ").as_str()).to_string();
        let with = |before: &str| Value::from(format!("{before} {text}")).to_string();
        let one =
            |before: &str| Value::from(format!("{before} {text}").replace('\n', " ")).to_string();
        let _ = write!(
            suite,
            "  - {{id: {}, criteria: {}, input: {}, metadata: {{tags: [{quoted}], {quoted}: {quoted}, n: {number}}}, \
             rubrics: [{}], assert: [{{type: contains, value: {}, name: {}}}, \
             {{type: code-judge, name: script, script: [cat, planted/case-{at}.script.json]}}]}}\n  \
             - {{id: \"{at}e\", criteria: c, input: {}, assert: [{{type: contains, value: x}}]}}\n",
            one(&format!("{at}")),
            with("criteria"),
            with(&format!("case-{at}")),
            with("rubric"),
            with("wanted"),
            with("check"),
            with(&format!("case-{at}00")),
        );
        let _ = writeln!(
            skills,
            "  - {{id: s{at}, criteria: {}, input: {}, assert: [{{type: trigger-judge, skill: {line}}}, \
             {{type: latency, threshold: 5000}}]}}",
            with("criteria"),
            with(&format!("query {at}")),
        );
        let _ = write!(
            bad,
            "  - {{id: {}, criteria: c, input: x, {quoted}: 1, execution: {{target: {quoted}}}, assert: [{{type: {quoted}}}]}}\n  \
             - {{id: {}, criteria: c, input: [{{role: {quoted}, content: {quoted}}}], assert: [{{type: contains, {quoted}: 1}}]}}\n",
            one(&format!("b{at}")),
            one(&format!("b{at}")),
        );
        let _ = writeln!(
            tasks,
            "  - {{id: {}, criteria: {}, input: {}, workspace: {{}}, assert: [{{type: files, name: {}, exists: [a.txt]}}]}}",
            one(&format!("{at}")),
            with("criteria"),
            with("input"),
            one("check"),
        );
        project.write(
            &format!("bad/name{at}.eval.yaml"),
            &format!("name: {quoted}\ntests: [{{id: a, criteria: c, input: {quoted}}}]\n"),
        );
        let nested = json!({"k": text, text.as_str(): number}).to_string();
        let answer = json!({
            "messages": [
                {"role": "assistant", "content": format!("it is {text} and {nested}"), "tool_calls": [
                    {"tool": format!("get {text}"), "args": {"k": text, text.as_str(): number, "nested": nested}, "output": text}]},
                {"role": "assistant", "content": format!("so {text}")}],
            "token_usage": {"input": tokens, "output": 1}, "model": text});
        let checks = json!({"checks": [{"id": "rubric-1", "reasoning": format!("since {text}"), "satisfied": false}]});
        let script = json!({"score": 0.5, "hits": [text], "misses": [format!("no {text}")], "reasoning": text,
            "details": {text.as_str(): [text, nested], "n": number, "m": -1}});
        project.write(&format!("planted/case-{at}.answer.json"), &answer.to_string());
        project.write(&format!("planted/case-{at}.judge.json"), &checks.to_string());
        project.write(&format!("planted/case-{at}.script.json"), &script.to_string());
        project.write(&format!("planted/case-{at}00.err"), &format!("failed with {text}\n"));
    }
    for (number, (name, value)) in source.environment.iter().enumerate() {
        let variable = format!("${{{{ {name} }}}}");
        // An id is one line.
        let id = if value.contains('\n') { "multi" } else { variable.as_str() };
        let _ = writeln!(
            suite,
            "  - {{id: \"v{number} {id}\", criteria: c, input: \"case-0 {variable}\", assert: [{{type: contains, value: x}}]}}"
        );
        let _ = writeln!(
            bad,
            "  - {{id: v{number}, criteria: c, input: x, assert: [{{type: \"{variable}\"}}]}}"
        );
    }
    project.write("EVAL.yaml", &suite);
    project.write("skills.yaml", &skills);
    project.write("tasks.yaml", &tasks);
    project.write("bad/EVAL.yaml", &bad);
    (project, spelled)
}

/// Runs every command, and returns what each printed and wrote.
fn outputs(source: &Source, project: &Project) -> Vec<(String, String)> {
    let command = |words: &[&str]| {
        let mut command: Command = project.command(words);
        command.envs(source.environment.iter().copied());
        Ran::of(command)
    };
    let mut outputs = Vec::new();
    let mut call = |words: &[&str]| {
        let ran = command(words);
        assert!(!ran.err.contains("panicked"), "{words:?}: {}", ran.err);
        outputs.push((format!("stdout of {words:?}"), ran.out.clone()));
        outputs.push((format!("stderr of {words:?}"), ran.err.clone()));
        ran
    };
    let mut run = vec!["run", "EVAL.yaml", "--messages", "-v", "--report", "terminal"];
    for report in [
        "jsonl=out/r.jsonl",
        "json=out/r.json",
        "junit=out/r.xml",
        "markdown=out/r.md",
        "github=out/r.txt",
        "html=out/r.html",
        "sarif=out/r.sarif",
    ] {
        run.extend(["--report", report]);
    }
    call(&run).exits(1);
    call(&["run", "EVAL.yaml", "--dry-run"]).exits(0);
    call(&[
        "run",
        "EVAL.yaml",
        "--max-errors",
        "1",
        "--workers",
        "1",
        "--no-record",
        "--output",
        "out/stopped.jsonl",
    ]);
    call(&["grade", LATEST, "-v"]);
    call(&["report", LATEST, "-v"]);
    call(&["report", LATEST, "-v", "--baseline", "out/r.jsonl"]);
    call(&["compare", LATEST, "out/r.jsonl"]);
    call(&["run", "EVAL.yaml", "--failed", "-v", "--no-record", "--output", "out/failed.jsonl"]);
    for format in ["text", "json"] {
        call(&["config", "--format", format]).exits(0);
        call(&["judge", "check", "out/r.jsonl", "--format", format]);
    }
    for format in ["text", "json"] {
        call(&["mutate", LATEST, "-v", "--format", format]);
        call(&["stats", LATEST, "--format", format]);
    }
    call(&["export", "skill-creator", LATEST, "-o", "out/iteration-1"]).exits(0);
    call(&["export", "harbor", "tasks.yaml", "-o", "out/tasks"]).exits(0);
    call(&["convert", "out/iteration-1", "-o", "out/history.jsonl"]).exits(0);
    for format in ["full", "concise", "json", "github", "sarif"] {
        call(&["validate", "bad", "EVAL.yaml", "--format", format]).exits(1);
    }
    for file in ["EVAL.yaml", "skills.yaml"] {
        call(&["show", file, "--format", "json"]).exits(0);
        call(&["show", file, "--format", "yaml"]).exits(0);
        call(&["list", file]).exits(0);
        call(&["list", file, "--format", "json"]).exits(0);
    }
    call(&[
        "transpile",
        "skills.yaml",
        "--out",
        "out/skills",
        "--layout",
        "skill-dirs",
        "--loss-report",
        "out/loss.json",
    ]);
    call(&["transpile", "EVAL.yaml", "--out", "out/evals", "-v"]);
    call(&["convert", ".co/evals", "-o", "out/converted.yaml"]);
    call(&["convert", "out/evals/evals.json", "-o", "out/back.yaml"]);
    call(&["log", "list"]).exits(0);
    call(&["log", "--format", "json", "list"]).exits(0);
    let stored = project.all_files().into_iter().map(|(path, _)| path);
    let stored =
        stored.filter(|path| path.parent().is_some_and(|parent| parent.ends_with("evals")));
    let names: Vec<String> =
        stored.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    assert!(!names.is_empty());
    for name in
        names.iter().filter(|name| name.starts_with("case_0") || name.starts_with("case_1")).take(3)
    {
        call(&["log", "show", name]).exits(0);
        call(&["log", "--format", "json", "show", name]).exits(0);
        call(&["log", "messages", name]).exits(0);
        call(&["log", "diff", name]);
    }
    let mut server = project.command(&["mcp"]);
    server.envs(source.environment.iter().copied());
    outputs.push(("mcp".to_owned(), tool_output(server)));
    for (path, bytes) in project.all_files() {
        let path = path.to_str().unwrap().to_owned();
        if [".evalrig/results", ".co/", "/out/"].iter().any(|part| path.contains(part)) {
            outputs.push((path.clone(), path.clone()));
            outputs.push((path, String::from_utf8(bytes).unwrap()));
        }
    }
    outputs
}

/// What the tools of the MCP server answer.
fn tool_output(command: Command) -> String {
    let calls = [
        ("validate", json!({"paths": ["bad"]})),
        ("list", json!({"paths": ["EVAL.yaml"]})),
        ("failures", json!({"results": LATEST})),
        ("compare", json!({"baseline": LATEST, "candidate": "out/r.jsonl"})),
    ];
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    });
    let mut messages =
        vec![hello, json!({"jsonrpc": "2.0", "method": "notifications/initialized"})];
    messages.extend(calls.iter().enumerate().map(|(at, (tool, arguments))| {
        json!({
            "jsonrpc": "2.0", "id": at + 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        })
    }));
    let lines = messages.iter().map(|message| format!("{message}\n")).collect::<String>();
    let output = talk(command, lines, calls.len() + 1);
    assert_eq!(output.lines().filter(|line| is_answer(line)).count(), calls.len() + 1, "{output}");
    output
}

fn is_answer(line: &str) -> bool {
    let message = serde_json::from_str::<Value>(line);
    message.is_ok_and(|message| message["id"].is_u64() && message.get("method").is_none())
}

/// Gives messages to a server, and returns what it says up to its end. Its input stays open until it has given
/// so many answers: the end of the input would cancel what still runs.
fn talk(mut command: Command, input: String, answers: usize) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("standard input");
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(input.as_bytes());
        stdin
    });
    let mut output = BufReader::new(child.stdout.take().expect("standard output"));
    let (mut text, mut seen) = (String::new(), 0);
    while seen < answers {
        let start = text.len();
        if output.read_line(&mut text).expect("UTF-8") == 0 {
            break;
        }
        seen += usize::from(is_answer(&text[start..]));
    }
    drop(writer.join().expect("the messages are written"));
    output.read_to_string(&mut text).expect("UTF-8");
    child.wait().expect("the server ends");
    text
}

/// The text as an output may write it, and the halves of a long one, which a cut could leave.
fn traces(text: &str) -> Vec<String> {
    let mut texts = vec![text.to_owned()];
    let letters: Vec<char> = text.chars().collect();
    if letters.len() >= 24 {
        let (first, second) = letters.split_at(letters.len() / 2);
        texts.extend([first, second].map(|half| half.iter().collect()));
    }
    let escaped = |text: &String| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let mut traces = texts.clone();
    for text in &texts {
        traces.extend([json_text(text), json_text(&json_text(text)), escaped(text)]);
    }
    traces
}

fn leaks(source: &Source) -> Vec<String> {
    let (project, spelled) = planted(source);
    let outputs = outputs(source, &project);
    let rows = project.rows_of("out/r.jsonl");
    assert_eq!(rows.len(), 2 * SPELLINGS.len() + source.environment.len(), "{}", source.name);
    let mut leaks = Vec::new();
    for (spelling, text) in &spelled {
        for (output, shown) in &outputs {
            if let Some(at) = traces(text).iter().find_map(|trace| shown.find(trace.as_str())) {
                let before: String = shown[..at].chars().rev().take(60).collect();
                let before: String = before.chars().rev().collect();
                let behind: String = shown[at..].chars().take(60).collect();
                leaks.push(format!("{}, {spelling}, in {output}: {before}|{behind}", source.name));
            }
        }
    }
    leaks
}

/// One thread per source: most of the time is spent in other programs.
#[test]
fn no_spelling_of_a_secret_is_in_any_output() {
    let leaks: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = SOURCES.iter().map(|source| scope.spawn(|| leaks(source))).collect();
        threads.into_iter().flat_map(|one| one.join().expect("the checks end")).collect()
    });
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

/// A suite with one test of this assertion.
fn asserting(assertion: &str) -> String {
    format!("name: demo\ntests:\n  - {{id: a, criteria: c, input: hi, assert: [{assertion}]}}\n")
}

const ECHO: &str = "{name: default, provider: cli, command: [cat, answer]}";

#[track_caller]
fn hides(ran: &Ran, secret: &str) {
    let Ran { out, err, .. } = ran;
    assert!(!out.contains(secret) && !err.contains(secret), "{secret} in\n{out}\n{err}");
    assert!(out.contains("***") || err.contains("***"), "{out}\n{err}");
}

/// Runs a suite whose agent repeats this text; gives its row.
fn row_of_echo(echoed: &str, targets: &str, environment: &[(&str, &str)]) -> String {
    let targets = format!("targets:\n  - {ECHO}\n{targets}");
    let project = Project::new(&asserting("{type: contains, value: not-there}"), &targets);
    project.write("answer", echoed);
    let mut command = project.command(&["run"]);
    command.envs(environment.iter().copied());
    Ran::of(command).exits(1);
    let stored = project.all_files();
    let stored = stored.iter().filter(|(path, _)| path.to_str().unwrap().contains(".co/"));
    let stored: String = stored.map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
    format!("{}{stored}", project.read(LATEST))
}

#[test]
fn an_unknown_type_is_not_named_if_it_is_a_secret() {
    let project = Project::new(&asserting("{type: \"${{ GITHUB_TOKEN }}\"}"), MOCKED);
    for format in ["full", "concise", "json", "github", "sarif"] {
        let mut command = project.command(&["validate", "--format", format]);
        command.env("GITHUB_TOKEN", "ghp_AbCdEf_0123");
        let ran = Ran::of(command);
        hides(ran.exits(1), "ghp-AbCdEf-0123");
    }
}

const MOCKED: &str = "targets: [{name: default, provider: mock, response: hello}]\n";

/// A results file that was written where the value was no secret.
#[test]
fn results_from_elsewhere_are_redacted_when_they_are_shown() {
    const SECRET: &str = "ghp_AbCdEf_0123";
    let suite = asserting("{type: contains, value: ghp_AbCdEf_0123}, {type: contains, value: no}")
        .replace("id: a", "id: about-ghp_AbCdEf_0123")
        .replace("input: hi", "input: \"is it ghp_AbCdEf_0123?\"");
    let targets = format!("targets: [{{name: default, provider: mock, response: {SECRET}}}]\n");
    let project = Project::new(&suite, &targets);
    Ran::of(project.command(&["run", "--output", "r.jsonl", "--no-record"])).exits(1);
    let stored = project.read("r.jsonl");
    assert!(stored.contains(SECRET));
    project.write("older.jsonl", &stored);
    // The suite of today has no part in it.
    project.write("EVAL.yaml", &asserting("{type: contains, value: other}"));
    project.write(".evalrig/targets.yaml", MOCKED);
    let shown = |words: &[&str]| {
        let mut command = project.command(words);
        command.env("GITHUB_TOKEN", SECRET);
        let Ran { out, err, .. } = Ran::of(command);
        assert!(!out.contains(SECRET) && !err.contains(SECRET), "{words:?}\n{out}\n{err}");
        out
    };
    assert!(shown(&["report", "r.jsonl", "-v"]).contains("***"));
    for report in ["terminal", "json", "jsonl", "junit", "markdown", "github", "html", "sarif"] {
        shown(&["report", "r.jsonl", "-v", "--report", report]);
        shown(&["report", "r.jsonl", "--baseline", "older.jsonl", "--report", report]);
    }
    for format in ["text", "json", "markdown"] {
        shown(&["compare", "older.jsonl", "r.jsonl", "-v", "--format", format]);
    }
    for format in ["text", "json"] {
        shown(&["mutate", "r.jsonl", "-v", "--format", format]);
        shown(&["stats", "r.jsonl", "older.jsonl", "--format", format]);
    }
    // A cut file: what is missing has a name too.
    let header = stored.lines().next().unwrap();
    project.write("cut.jsonl", &format!("{header}\n"));
    for report in ["terminal", "json", "junit", "markdown", "html"] {
        shown(&["report", "cut.jsonl", "--report", report]);
    }
}

#[test]
fn arguments_of_log_commands_are_redacted() {
    const SECRET: &str = "ghp_AbCdEf_0123";
    let project = Project::new(&asserting("{type: contains, value: x}"), MOCKED);
    let session = format!("[{{\"role\": \"assistant\", \"content\": \"{SECRET}\"}}]");
    project.write("session.json", &session);
    let call = |words: &[&str]| {
        let mut command = project.command(words);
        let input = std::fs::File::open(project.path("session.json")).unwrap();
        let ran = command.env("GITHUB_TOKEN", SECRET).stdin(input).output().unwrap();
        let shown = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
        assert!(ran.status.success() && !shown.contains(SECRET), "{words:?}: {shown}");
    };
    let input = format!("what about {SECRET}?");
    let record = ["log", "record", "--input", &input, "--model", SECRET, "--expected", SECRET];
    call(&record);
    let name = project.all_files().into_iter().find_map(|(path, _)| {
        let is_summary = path.parent().is_some_and(|parent| parent.ends_with("evals"));
        (is_summary && path.extension()? == "yaml")
            .then(|| path.file_stem().unwrap().to_str().unwrap().to_owned())
    });
    let name = name.unwrap();
    call(&["log", "expect", &name, SECRET]);
    call(&["log", "evaluate", &name, "fail", SECRET]);
    for (path, bytes) in project.all_files() {
        let path = path.to_str().unwrap();
        if path.contains(".co/") {
            assert!(!path.contains("AbCdEf") && !path.contains("abcdef"), "{path}");
            assert!(!String::from_utf8_lossy(&bytes).contains("AbCdEf"), "{path}");
        }
    }
}

/// Messages that repeat what was typed, among them those of the parser of arguments.
#[test]
fn typed_arguments_are_redacted() {
    const SECRET: &str = "ghp_AbCdEf_0123";
    let project = Project::new(&asserting("{type: contains, value: x}"), MOCKED);
    for words in [
        &["explain", SECRET][..],
        &["stats", SECRET],
        &["report", SECRET],
        &["compare", SECRET, SECRET],
        &["grade", SECRET],
        &["list", SECRET],
        &["show", SECRET],
        &["validate", SECRET],
        &["judge", "check", SECRET],
        &["mutate", SECRET],
        &["log", "show", SECRET],
        &["convert", SECRET, "--stdout"],
        &["transpile", SECRET, "--stdout"],
        &["run", "--target", SECRET],
        &["run", "--env-file", SECRET],
        &["run", "--trials", SECRET],
        &["report", &format!("--{SECRET}")],
        &[SECRET],
    ] {
        let mut command = project.command(words);
        command.env("GITHUB_TOKEN", SECRET);
        let Ran { out, err, code } = Ran::of(command);
        let all = format!("{out}{err}");
        assert!(code != Some(0) && !all.contains("AbCdEf"), "{words:?}\n{all}");
        assert!(all.contains("***"), "{words:?}\n{all}");
    }
}

#[test]
fn the_nearest_legal_name_is_not_a_secret() {
    let suite =
        "name: \"My ${{ GITHUB_TOKEN }} suite\"\ntests: [{id: a, criteria: c, input: hi}]\n";
    let project = Project::new(suite, MOCKED);
    let long = format!("ghp_AbCdEf_{}", "0123456789".repeat(8));
    let mut command = project.command(&["validate"]);
    command.env("GITHUB_TOKEN", &long);
    let ran = Ran::of(command);
    hides(ran.exits(1), "ghp-abcdef");
}

#[test]
fn a_skill_name_is_redacted_in_transpiled_files() {
    let project =
        Project::new(&asserting("{type: trigger-judge, skill: \"${{ GITHUB_TOKEN }}\"}"), MOCKED);
    let mut command =
        project.command(&["transpile", "EVAL.yaml", "--out", "out", "--layout", "skill-dirs"]);
    command.env("GITHUB_TOKEN", "ghp_AbCdEf_0123");
    Ran::of(command).exits(0);
    let written = project.all_files();
    let written: Vec<_> =
        written.iter().filter(|(path, _)| path.starts_with(project.path("out"))).collect();
    assert!(written.len() >= 2);
    for (path, bytes) in written {
        let all = format!("{}\n{}", path.display(), String::from_utf8_lossy(bytes));
        assert!(!all.contains("AbCdEf"), "{all}");
    }
}

#[test]
fn a_key_is_redacted_without_the_line_break_of_its_variable() {
    let row = row_of_echo("key sk-trailing-1 end", "", &[("OPENAI_API_KEY", "sk-trailing-1\n")]);
    assert!(!row.contains("trailing") && row.contains("key *** end"), "{row}");
}

#[test]
fn a_token_is_redacted_without_its_scheme() {
    let target =
        "  - {name: b, provider: openai, model: m, headers: {Authorization: Bearer abc-777}}\n";
    let row = row_of_echo("token abc-777 end", target, &[]);
    assert!(!row.contains("abc-777") && row.contains("token *** end"), "{row}");
}

#[test]
fn credentials_of_an_address_are_redacted_in_answers() {
    let target = "  - {name: b, provider: openai, model: m, base_url: \"http://robot-17:pass-4711@127.0.0.1:9/v1?key=query-815\"}\n";
    let row = row_of_echo("robot-17, pass-4711, query-815.", target, &[]);
    assert!(row.contains("***, ***, ***."), "{row}");
}

#[test]
fn a_number_is_redacted_in_details() {
    let assertion = "{type: code-judge, script: [cat, reply.json]}";
    let project = Project::new(&asserting(assertion), MOCKED);
    project.write("reply.json", r#"{"score": 0, "details": {"account": 40917263548, "n": 1}}"#);
    let mut command = project.command(&["run"]);
    command.env("ACCOUNT_KEY", "40917263548");
    Ran::of(command).exits(1);
    let row = project.row("a");
    assert_eq!(row["evaluatorResults"][0]["details"], json!({"account": "***", "n": 1}));
}

#[test]
fn lines_and_encodings_of_a_secret_are_redacted() {
    let key = "first-line-of-key\nsecond-line-of-key";
    let base64 = STANDARD.encode(key);
    let row = row_of_echo(
        &format!("a second-line-of-key b {base64} c first-line-of-key%0asecond-line-of-key"),
        "",
        &[("MY_KEY", key)],
    );
    assert!(row.contains("a *** b *** c ***") && !row.contains("line-of"), "{row}");
}

/// Redacted ids stay distinct, and cases are resumed and graded again by them.
#[test]
fn tests_whose_ids_hold_a_secret_keep_different_ids() {
    let suite = "name: demo\ntests:\n  - {id: \"a ${{ MY_TOKEN }}\", criteria: c, input: one, assert: [{type: contains, value: hello}]}\n  \
                 - {id: \"A ${{ MY_TOKEN }}\", criteria: c, input: two, assert: [{type: contains, value: hello}]}\n  \
                 - {id: \"a ${{ MY_TOKEN }} \", criteria: c, input: three, assert: [{type: contains, value: hello}]}\n";
    let project = Project::new(suite, MOCKED);
    let call = |words: &[&str]| {
        let mut command = project.command(words);
        command.env("MY_TOKEN", "token-value-123");
        Ran::of(command)
    };
    call(&["run"]).exits(0);
    assert_eq!(support::ids(&project.rows()), ["A ***", "a ***", "a *** "]);
    call(&["grade", LATEST]).exits(0);
    call(&["run", "--failed"]);
}
