//! A run through a queue has the rows of a local run, for suites that are generated. With a real server.
#![cfg(unix)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use support::nats::{Nats, comparable};
use support::{Numbers, Project};

/// How many suites are generated, if not three.
const SEEDS: &str = "EVALRIG_QUEUE_SEEDS";

/// Says what it was asked, and notes every call. Fails for one test of each suite.
const AGENT: &str = concat!(
    r#"echo "$EVALRIG_TEST_ID $EVALRIG_TRIAL" >> "$CALLS"; "#,
    r#"case "$EVALRIG_TEST_ID" in *-t2) echo broken >&2; exit 3;; esac; "#,
    r#"if test -n "$EVALRIG_WORKSPACE"; then echo "$EVALRIG_TEST_ID" >> said; cat said; fi; cat"#,
);

/// Continues sessions, and answers with everything that it was asked in one.
const CLAUDE: &str = r#"#!/bin/sh
echo "$EVALRIG_TEST_ID $EVALRIG_TRIAL" >> "$CALLS"
cat >> "$CLAUDE_CONFIG_DIR/said"
echo >> "$CLAUDE_CONFIG_DIR/said"
said=$(tr '\n"' ';_' < "$CLAUDE_CONFIG_DIR/said")
printf '{"type":"system","subtype":"init","session_id":"s-1","tools":[]}\n'
printf '{"type":"result","is_error":false,"result":"Hello %s","total_cost_usd":0.25,"modelUsage":{"m":{"inputTokens":10,"outputTokens":1}}}\n' "$said"
"#;

fn targets(calls: &str) -> String {
    format!(
        "targets:\n  - name: default\n    provider: cli\n    command: '{AGENT}'\n    env: {{CALLS: '{calls}'}}\n  - {{name: other, provider: mock, response: Hello}}\n  - {{name: session, provider: claude-cli, executable: ./claude, login: none, env: {{CALLS: '{calls}'}}}}\n  - {{name: judge, provider: mock, responses: [{{pattern: 'Hi [0-3]', response: '{{\"score\": 0.25, \"reasoning\": \"short\"}}'}}, {{response: '{{\"score\": 1, \"reasoning\": \"fine\"}}'}}]}}\n"
    )
}

fn check(numbers: &mut Numbers) -> String {
    let value = ["Hello", "Hi", "nothing"][numbers.below(3) as usize];
    match numbers.below(5) {
        0 => format!("{{type: contains, value: {value}}}"),
        1 => {
            format!("{{type: regex, value: '^{value}', weight: 2}}, {{type: contains, value: o}}")
        }
        2 => format!("{{type: not-contains, value: {value}}}"),
        3 => "{type: llm-judge, target: judge, prompt: 'Is it polite?'}".to_owned(),
        _ => "{type: code-judge, script: [sh, ./judge.sh]}".to_owned(),
    }
}

fn suite(name: &str, numbers: &mut Numbers) -> String {
    let mut suite = format!("name: {name}\n");
    let has_workspace = numbers.below(3) == 0;
    if has_workspace {
        suite += "workspace: {template: template}\n";
    }
    let has_arms = numbers.below(3) == 0;
    if has_arms {
        suite += "arms: {plain: {}, loud: {target: other}}\n";
    }
    suite += "tests:\n";
    let session = numbers.below(2);
    for test in 0..4 + numbers.below(6) {
        let conversation = match numbers.below(2) {
            0 => format!(", conversation_id: c{}", numbers.below(2)),
            _ => String::new(),
        };
        // Both conversations are of one target: turns of one have the same.
        let is_session = !has_arms && !has_workspace && session == 0 && !conversation.is_empty();
        let target = if is_session { ", execution: {target: session}" } else { "" };
        let check = check(numbers);
        let trials = 1 + numbers.below(3);
        let attached = match numbers.below(3) {
            // A session says where the file is, which another machine has elsewhere.
            0 if !is_session => ", input_files: [attached.txt]",
            _ => "",
        };
        let skip = if numbers.below(8) == 0 { ", skip: true" } else { "" };
        suite += &format!(
            "  - {{id: {name}-t{test}, criteria: x, input: 'Hi {test}', trials: {trials}, assert: [{check}]{conversation}{target}{attached}{skip}}}\n"
        );
    }
    suite
}

fn generated(seed: u64) -> Project {
    let mut numbers = Numbers(seed);
    let project = Project::empty();
    for (directory, judge) in
        [("a", "echo '{\"score\": 0.5, \"misses\": [\"half\"]}'\n"), ("b", "exit 3\n")]
    {
        project.write(&format!("{directory}/judge.sh"), judge);
        project.write(&format!("{directory}/attached.txt"), directory);
        project.write(&format!("{directory}/template/kept.txt"), "kept\n");
        project.write(&format!("{directory}/EVAL.yaml"), &suite(directory, &mut numbers));
    }
    project.write("claude", CLAUDE);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.path("claude"), executable).expect("permissions");
    let calls = project.path("calls").display().to_string();
    project.write(".evalrig/targets.yaml", &targets(&calls));
    project
}

/// The turns of each conversation, in the order of the suite, with their workers.
fn conversations(rows: &[Value]) -> BTreeMap<String, Vec<(String, String)>> {
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["conversationId"].is_string()) {
        let parts = ["dataset", "conversationId", "target", "arm", "trial"];
        let key = parts.map(|part| row[part].to_string()).join(" ");
        // As the agent notes it.
        let call = format!("{} {}", support::text(&row["evalId"]), row["trial"]);
        found.entry(key).or_default().push((call, support::text(&row["worker"])));
    }
    found.values_mut().for_each(|turns| turns.sort());
    found
}

#[test]
fn rows_equal_those_of_a_local_run_but_for_order_times_and_worker() {
    let Some(nats) = Nats::start() else { return };
    // A path with `..`, which must not be in rows.
    let _worker = nats.worker_with_cache("deep/../cache", &["--workers", "3", "--name", "one"]);
    let _other = nats.worker(&["--workers", "2", "--name", "two"]);
    let seeds = std::env::var(SEEDS).ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let mut long = 0;
    for seed in 0..seeds {
        let project = generated(seed);
        let local = project.run(&["--no-record", "--output", "local.jsonl"]);
        assert_ne!(local.code, Some(2), "seed {seed}: {}", local.err);
        let local_calls = project.lines("calls").len();
        let queued = nats.run(&project, &["--output", "queued.jsonl"]);
        assert_eq!(queued.code, local.code, "seed {seed}: {}\n{}", queued.err, local.err);
        let rows = project.rows_of("queued.jsonl");
        let local = comparable(project.rows_of("local.jsonl"));
        for (key, row) in comparable(rows.clone()) {
            assert_eq!(Some(&row), local.get(&key), "seed {seed}: {key}");
        }
        assert_eq!(rows.len(), local.len(), "seed {seed}");
        let calls = project.lines("calls").split_off(local_calls);
        assert_eq!(calls.len(), local_calls, "seed {seed}");
        for (conversation, turns) in conversations(&rows) {
            let workers: BTreeSet<&String> = turns.iter().map(|(_, worker)| worker).collect();
            assert_eq!(workers.len(), 1, "seed {seed}: {conversation} {turns:?}");
            let place = |call: &String| calls.iter().position(|line| line == call);
            let places: Vec<usize> = turns.iter().filter_map(|(call, _)| place(call)).collect();
            assert!(places.is_sorted(), "seed {seed}: {conversation} {turns:?} in {calls:?}");
            long += usize::from(places.len() > 1);
        }
    }
    assert!(long > 0, "no suite has a conversation of several turns");
}

#[test]
fn scripts_find_on_a_worker_what_they_import_here() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::empty();
    let suite = "name: s\ntests:\n  - {id: a, criteria: x, input: Hi, assert: [{type: code-judge, script: [sh, ./judges/mine.sh]}]}\n  - {id: b, criteria: x, input: Hi, assert: [{type: code-judge, script: [sh, ./judges/far.sh]}]}\n";
    project.write("evals/EVAL.yaml", suite);
    project.write("evals/agent.sh", ". ./lib/greet.sh\ngreet\n");
    project.write("evals/lib/greet.sh", "greet() { echo Hello; }\n");
    project.write("evals/judges/mine.sh", ". \"$(dirname \"$0\")/deep/score.sh\"\n");
    project.write("evals/judges/deep/score.sh", "echo '{\"score\": 1}'\n");
    project.write("evals/judges/far.sh", ". \"$(dirname \"$0\")/../../shared/score.sh\"\n");
    project.write("shared/score.sh", "echo '{\"score\": 1}'\n");
    let key = "value-that-stays-here-17";
    project.write("evals/judges/token.txt", key);
    let targets = "targets: [{name: default, provider: cli, command: [sh, ./agent.sh], cwd: evals, env: {TOKEN: '${{ TOKEN }}'}}]\n";
    project.write(".evalrig/targets.yaml", targets);
    project.write(".env", &format!("TOKEN={key}\n"));
    let _worker = nats.worker_with(&[], &[("TOKEN", key)]);
    let local = project.run(&["evals", "--no-record", "--output", "local.jsonl"]);
    local.exits(0);
    let outcome = |file: &str, test: &str| {
        let rows = project.rows_of(file);
        let row = rows.iter().find(|row| row["evalId"] == test).expect("a row");
        row["outcome"].clone()
    };
    nats.run(&project, &["evals", "--output", "queued.jsonl"]).exits(3);
    assert_eq!(outcome("queued.jsonl", "a"), "passed");
    assert_eq!(outcome("queued.jsonl", "b"), "errored");
    let included = ["evals", "--queue-include", "shared", "--output", "included.jsonl"];
    nats.run(&project, &included).exits(0);
    let local = comparable(project.rows_of("local.jsonl"));
    assert_eq!(comparable(project.rows_of("included.jsonl")), local);
    nats.run(&project, &["evals", "--queue-include", "nowhere"]).exits(2).says("does not exist");
    nats.run(&project, &["evals", "--queue-include", ".."]).exits(2).says("is not below");
    // A file beside a script that has a secret is left out.
    assert!(!nats.has_stored(key));
}
