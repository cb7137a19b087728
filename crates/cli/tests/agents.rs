//! Agents as `run` sees them: recorded streams, printed by programs. What each agent did with a skill,
//! empty answers, timeouts, and what stops an agent.
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use support::Project;

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../run/src/format/recorded/", $name))
    };
}

/// Streams in which the agent used the skill `csv-analyzer` by its first call, by format.
fn skill_streams() -> Vec<(&'static str, String)> {
    let codex = recorded!("codex-skill-missing.jsonl");
    let opencode = recorded!("opencode-skill-error.jsonl");
    vec![
        ("claude-json", recorded!("claude-skill.jsonl").to_owned()),
        ("stream-json", recorded!("claude-skill.jsonl").to_owned()),
        (
            "codex-json",
            codex
                .replace(
                    r#""exit_code":1,"status":"failed""#,
                    r#""exit_code":0,"status":"completed""#,
                )
                .replace(r"cat: r1/csv-analyzer/SKILL.md: No such file or directory", "Add it up."),
        ),
        ("gemini-json", recorded!("gemini-skill.jsonl").to_owned()),
        ("copilot-json", recorded!("copilot-skill.jsonl").to_owned()),
        ("opencode-json", opencode.replace(r#""status":"error""#, r#""status":"completed""#)),
        ("pi-json", recorded!("pi-skill.jsonl").to_owned()),
    ]
}

/// Tests of one skill each, with `should_trigger`.
fn trigger_suite(tests: &[(&str, &str, bool)]) -> String {
    let mut suite = "name: skills\ntests:\n".to_owned();
    for (id, skill, should_trigger) in tests {
        suite += &format!(
            "  - {{id: {id}, criteria: c, input: i, assert: [{{type: trigger-judge, skill: {skill}, should_trigger: {should_trigger}}}]}}\n"
        );
    }
    suite
}

fn targets(targets: &[(&str, &str)]) -> String {
    let entries = targets.iter().map(|(name, rest)| format!("  - {{name: {name}, {rest}}}\n"));
    format!("targets:\n{}", entries.collect::<String>())
}

/// A project with one target `default` that prints a stream.
fn printing(suite: &str, format: &str, stream: &str) -> Project {
    let target = format!("provider: cli, format: {format}, command: [cat, stream.jsonl]");
    let project = Project::new(suite, &targets(&[("default", &target)]));
    project.write("stream.jsonl", stream);
    project
}

#[test]
fn six_agents_agree_on_what_the_use_of_a_skill_is() {
    let suite = trigger_suite(&[
        ("used", "csv-analyzer", true),
        ("unwanted", "csv-analyzer", false),
        ("shorter-name", "csv", false),
        ("longer-name", "csv-analyzer-pro", false),
    ]);
    for (format, stream) in skill_streams() {
        let project = printing(&suite, format, &stream);
        project.run(&[]).exits(1);
        let outcomes = ["used", "unwanted", "shorter-name", "longer-name"]
            .map(|id| project.row(id)["outcome"].as_str().unwrap().to_owned());
        assert_eq!(outcomes, ["passed", "failed", "passed", "passed"], "{format}");
        let row = project.row("used");
        assert_eq!(row["skills"]["used"][0]["name"], "csv-analyzer", "{format}");
        assert_eq!(
            row["evaluatorResults"][0]["details"],
            json!({"firstCall": true, "anyCall": true, "call": 0}),
            "{format}"
        );
        assert_eq!(row["candidateAnswer"], "The total is 42.", "{format}");
    }
}

#[test]
fn a_failed_or_refused_call_is_no_use_and_the_row_says_so() {
    let refused = recorded!("claude-skill.jsonl").replace(
        "Launching skill: csv-analyzer",
        "<tool_use_error>Unknown skill: csv-analyzer</tool_use_error>",
    );
    let suite =
        trigger_suite(&[("used", "csv-analyzer", true), ("unwanted", "csv-analyzer", false)]);
    for (format, stream) in [
        ("claude-json", refused.as_str()),
        ("codex-json", recorded!("codex-skill-missing.jsonl")),
        ("opencode-json", recorded!("opencode-skill-error.jsonl")),
    ] {
        let project = printing(&suite, format, stream);
        project.run(&[]).exits(1);
        assert_eq!(project.row("used")["outcome"], "failed", "{format}");
        assert_eq!(project.row("unwanted")["outcome"], "passed", "{format}");
        let row = project.row("used");
        assert_eq!(row["skills"]["used"][0]["ok"], false, "{format}");
        let call = &row["outputMessages"][0]["tool_calls"][0];
        assert_eq!(call["isError"], true, "{format}");
    }
}

#[test]
fn a_skill_that_was_not_offered_is_an_error() {
    let stream = recorded!("claude-sub-agent.jsonl");
    let project = printing(
        &trigger_suite(&[("unknown", "pdf", true), ("unwanted", "pdf", false)]),
        "claude-json",
        stream,
    );
    project.run(&[]).exits(3);
    assert_eq!(project.row("unknown")["error"]["kind"], "not-offered");
    assert_eq!(project.row("unwanted")["outcome"], "passed");
}

#[test]
fn a_skill_used_by_a_sub_agent_counts() {
    let suite = "name: sub\ntests:\n  - {id: any, criteria: c, input: i, assert: [{type: skill-used, skill: csv-analyzer}]}\n  - {id: unwanted, criteria: c, input: i, assert: [{type: not-skill-used, skill: csv-analyzer}]}\n";
    let project = printing(suite, "claude-json", recorded!("claude-sub-agent.jsonl"));
    project.run(&[]).exits(1);
    assert_eq!(project.row("any")["outcome"], "passed");
    assert_eq!(project.row("unwanted")["outcome"], "failed");
    let row = project.row("any");
    assert_eq!(row["skills"]["used"][0]["subagent"], true);
    assert_eq!(row["tokens"]["total"], 668, "tokens of sub-agents count");
}

#[test]
fn a_sub_agent_that_still_runs_leaves_the_use_of_skills_unknown() {
    let stream = recorded!("claude-background-agent.jsonl");
    let lines: Vec<&str> = stream.lines().collect();
    let result = lines[15].replacen("\"completed\":1", "\"completed\":0", 1);
    assert_ne!(result, lines[15]);
    let running = [&lines[..5], &[lines[14], &result]].concat().join("\n");
    let suite = "name: sub\ntests:\n  - {id: unwanted, criteria: c, input: i, assert: [{type: not-skill-used, skill: csv-analyzer}]}\n";
    let project = printing(suite, "claude-json", &running);
    project.run(&[]).exits(3);
    let row = project.row("unwanted");
    assert_eq!((&row["skills"]["used"], &row["tokens"]), (&json!(null), &json!(null)));
    // Its end opens a turn that is not over.
    project.write("stream.jsonl", &lines[..17].join("\n"));
    project.run(&[]).exits(3);
    assert_eq!(project.row("unwanted")["error"]["kind"], "reply");
}

#[test]
fn a_skill_that_the_prompt_names_counts() {
    let stream: String = recorded!("claude-skill.jsonl")
        .lines()
        .filter(|line| line.contains("\"init\"") || line.contains("The total is 42."))
        .map(|line| format!("{line}\n"))
        .collect();
    let suite = "name: slash\ntests:\n  - {id: named, criteria: c, input: /csv-analyzer sales.csv, assert: [{type: trigger-judge, skill: csv-analyzer}]}\n";
    let target = "provider: claude-cli, executable: ./claude";
    let project = Project::new(suite, &targets(&[("default", target)]));
    project.write("claude", &format!("#!/bin/sh\ncat <<'EOF'\n{stream}EOF\n"));
    let script = project.path("claude");
    std::process::Command::new("chmod").arg("+x").arg(script).status().unwrap();
    project.run(&[]).exits(0);
    let used = &project.row("named")["skills"]["used"][0];
    assert_eq!((&used["how"], &used["call"]), (&json!("explicit"), &json!(null)));
}

#[test]
fn a_wrapper_around_claude_code_may_be_asked_for_a_skill_by_its_name() {
    let stream: String = recorded!("claude-skill.jsonl")
        .lines()
        .filter(|line| line.contains("\"init\"") || line.contains("The total is 42."))
        .map(|line| format!("{line}\n"))
        .collect();
    let suite = "name: slash\ntests:\n  - {id: wanted, criteria: c, input: /csv-analyzer sales.csv, assert: [{type: trigger-judge, skill: csv-analyzer}]}\n  - {id: unwanted, criteria: c, input: /csv-analyzer sales.csv, assert: [{type: trigger-judge, skill: csv-analyzer, should_trigger: false}]}\n  - {id: other, criteria: c, input: /compact now, assert: [{type: trigger-judge, skill: csv-analyzer, should_trigger: false}]}\n";
    let project = printing(suite, "claude-json", &stream);
    project.run(&[]).exits(1);
    let outcome = |id: &str| project.row(id)["outcome"].clone();
    assert_eq!(
        [outcome("wanted"), outcome("unwanted"), outcome("other")],
        ["passed", "failed", "passed"]
    );
    assert_eq!(project.row("wanted")["skills"]["used"][0]["how"], "explicit");
    // The program gets no prompt, so it is not known what it asks for.
    let target =
        "provider: cli, format: claude-json, stdin: messages, command: [cat, stream.jsonl]";
    project.write(".evalrig/targets.yaml", &targets(&[("default", target)]));
    project.run(&[]).exits(3);
    assert_eq!(project.row("unwanted")["skills"]["used"], json!(null));
    assert_eq!(
        [outcome("wanted"), outcome("unwanted"), outcome("other")],
        ["errored", "errored", "passed"]
    );
}

#[test]
fn masked_names_of_copilot_are_not_read_as_no_skill() {
    let stream = recorded!("copilot-skill.jsonl").replace("skill\"", "s******ill\"");
    let project = printing(
        &trigger_suite(&[("wanted", "csv-analyzer", true), ("unwanted", "csv-analyzer", false)]),
        "copilot-json",
        &stream,
    );
    project.run(&[]).exits(3);
    for id in ["wanted", "unwanted"] {
        let row = project.row(id);
        assert_eq!((&row["outcome"], &row["skills"]["used"]), (&json!("errored"), &json!(null)));
    }
}

#[test]
fn a_format_refuses_the_stream_of_another_agent() {
    let suite = trigger_suite(&[("unwanted", "csv-analyzer", false)]);
    for (format, stream, said) in [
        ("stream-json", recorded!("gemini-skill.jsonl"), "it looks like one of Gemini CLI"),
        ("stream-json", recorded!("copilot-skill.jsonl"), "it looks like one of Copilot CLI"),
        ("jsonl", recorded!("gemini-skill.jsonl"), "line 3 of the output: neither a message"),
        ("pi-json", recorded!("codex-patch.jsonl"), "it looks like one of Codex"),
    ] {
        let project = printing(&suite, format, stream);
        project.run(&[]).exits(3);
        let message = project.row("unwanted")["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(said), "{format}: {message}");
    }
}

#[test]
fn an_empty_answer_is_an_error_unless_it_is_allowed() {
    let check = "assert: [{type: contains, value: x, negate: true}]";
    let suite = format!(
        "name: silent\ntests:\n  - {{id: plain, criteria: c, input: i, {check}}}\n  - {{id: own, criteria: c, input: i, allow_empty: true, {check}}}\n  - {{id: inner, criteria: c, input: i, execution: {{allow_empty: true}}, {check}}}\n  - {{id: not-own, criteria: c, input: i, allow_empty: false, {check}}}\n"
    );
    let project = Project::new(
        &suite,
        &targets(&[
            ("default", "provider: cli, command: ['true']"),
            ("allowing", "provider: cli, command: ['true'], allow_empty: true"),
            ("mocked", "provider: mock, response: ''"),
        ]),
    );
    let outcomes = |target: &str| {
        project.run(&["--target", target]);
        ["plain", "own", "inner", "not-own"]
            .map(|id| project.row(id)["outcome"].as_str().unwrap().to_owned())
    };
    assert_eq!(outcomes("default"), ["errored", "passed", "passed", "errored"]);
    assert_eq!(project.row("plain")["error"]["kind"], "empty-reply");
    assert_eq!(outcomes("allowing"), ["passed", "passed", "passed", "errored"]);
    assert_eq!(outcomes("mocked"), ["passed", "passed", "passed", "passed"]);
}

/// Prints a stream and then never ends.
fn looping(stream: &str) -> String {
    format!("#!/bin/sh\ncat <<'EOF'\n{stream}EOF\nexec sleep 1000\n")
}

#[test]
fn a_timeout_keeps_what_the_agent_did_and_may_be_a_failure() {
    let check = "assert: [{type: contains, value: 42}]";
    let suite = format!(
        "name: slow\nworkspace: ./template\ntests:\n  - {{id: error, criteria: c, input: i, {check}}}\n  - {{id: fail, criteria: c, input: i, on_timeout: fail, {check}}}\n"
    );
    // Everything but its end.
    let stream = recorded!("opencode-command.jsonl");
    let cut: String = stream.lines().take(3).map(|line| format!("{line}\n")).collect();
    let target =
        "provider: cli, format: opencode-json, command: [sh, agent.sh], timeout_seconds: 4";
    let project = Project::new(&suite, &targets(&[("default", target)]));
    project.write("template/notes.txt", "xyzzy\n");
    project
        .write("agent.sh", &looping(&cut).replace("exec sleep", "echo made > out.txt\nexec sleep"));
    project.run(&["--workers", "2"]).exits(1);
    for (id, outcome) in [("error", "errored"), ("fail", "failed")] {
        let row = project.row(id);
        assert_eq!(row["outcome"], outcome, "{id}");
        assert_eq!(row["error"]["kind"], "timeout", "{id}");
        assert_eq!(row["partial"], true, "{id}");
        assert_eq!(row["traceSummary"]["toolNames"], json!(["bash"]), "{id}");
        assert_eq!(row["tokens"]["total"], 167, "{id}");
        assert_eq!(row["candidateAnswer"], json!(null), "{id}");
        assert!(row["durationMs"].as_u64() >= Some(4000), "{id}: {}", row["durationMs"]);
        assert_eq!(row["workspace"]["created"][0], "out.txt", "{id}: {}", row["workspace"]);
    }
    assert_eq!(project.row("fail")["score"], 0.0);
    // Grading again changes nothing.
    project.evalrig(&["grade", ".evalrig/results/latest.jsonl", "--output", "again.jsonl"]);
    let again = project.rows_of("again.jsonl");
    let outcomes: Vec<_> = again.iter().map(|row| (&row["evalId"], &row["outcome"])).collect();
    assert!(outcomes.contains(&(&json!("error"), &json!("errored"))), "{outcomes:?}");
    assert!(outcomes.contains(&(&json!("fail"), &json!("failed"))), "{outcomes:?}");
}

#[test]
fn a_program_without_events_has_a_duration_too_when_its_time_is_up() {
    let suite = "name: slow\ntests:\n  - {id: a, criteria: c, input: i, assert: [{type: contains, value: 42}]}\n";
    let target = "provider: cli, command: [sleep, '1000'], timeout_seconds: 1, retries: 0";
    let project = Project::new(suite, &targets(&[("default", target)]));
    project.run(&[]).exits(3);
    let row = project.row("a");
    assert_eq!(row["error"]["kind"], "timeout");
    assert!(row["durationMs"].as_u64() >= Some(1000), "{}", row["durationMs"]);
    assert_eq!((&row["tokens"], &row["candidateAnswer"]), (&json!(null), &json!(null)));
    assert_eq!(row["traceSummary"]["toolCallCount"], json!(null));
}

#[test]
fn an_agent_is_stopped_once_its_trigger_checks_are_decided() {
    // The call and its result, and no end.
    let stream = recorded!("claude-skill.jsonl");
    let cut: String = stream.lines().take(3).map(|line| format!("{line}\n")).collect();
    let suite = "name: quick\nexecution: {stop_on_trigger: true}\ntests:\n  - {id: used, criteria: c, input: i, assert: [{type: trigger-judge, skill: csv-analyzer}]}\n  - {id: unwanted, criteria: c, input: i, assert: [{type: not-skill-used, skill: csv-analyzer}]}\n";
    let target = "provider: cli, format: claude-json, command: [sh, agent.sh]";
    let project = Project::new(suite, &targets(&[("default", target)]));
    project.write("agent.sh", &looping(&cut));
    project.run(&["--workers", "2"]).exits(1);
    assert_eq!(project.row("used")["outcome"], "passed");
    assert_eq!(project.row("unwanted")["outcome"], "failed");
    let row = project.row("used");
    assert_eq!(row["partial"], true);
    assert_eq!(row["agent"]["stopReason"], "stop_on_trigger");
}

#[test]
fn a_query_runs_as_often_as_the_suite_says_and_passes_by_its_threshold() {
    let suite = "name: rates\nmetadata: {runs_per_query: 3, trigger_threshold: 0.5}\ntests:\n  - {id: often, criteria: c, input: i, assert: [{type: trigger-judge, skill: csv-analyzer}]}\n";
    let target = "provider: cli, format: gemini-json, command: [sh, agent.sh]";
    let project = Project::new(suite, &targets(&[("default", target)]));
    let agent = |trials: &str| {
        project.write("good.jsonl", recorded!("gemini-skill.jsonl"));
        let other = recorded!("gemini-skill.jsonl").replace("activate_skill", "read_file");
        project.write("other.jsonl", &other);
        let script = format!(
            "case $EVALRIG_TRIAL in {trials}) cat good.jsonl ;; *) cat other.jsonl ;; esac\n"
        );
        project.write("agent.sh", &script);
    };
    agent("1|2");
    project.run(&[]).exits(0);
    assert_eq!(project.rows().len(), 3);
    assert_eq!(project.row("often")["passTrials"], json!({"share": 0.5}));
    agent("1");
    project.run(&[]).exits(1);
    project.run(&["--trials", "1"]).exits(0);
    assert_eq!(project.rows().len(), 1);
}

#[test]
fn a_price_wins_and_a_made_up_cost_is_unknown() {
    let suite = "name: costs\ntests:\n  - {id: a, criteria: c, input: i, assert: [{type: contains, value: 42}]}\n";
    let stream = recorded!("claude-skill.jsonl");
    let project = printing(suite, "claude-json", stream);
    project.run(&[]).exits(0);
    assert_eq!(project.row("a")["costUsd"], 0.001652);
    let unknown = stream.replace(r#""costBasis":"list""#, r#""costBasis":"unknown""#);
    project.write("stream.jsonl", &unknown);
    project.run(&[]).exits(0);
    assert_eq!(project.row("a")["costUsd"], json!(null));
    let target = "provider: cli, format: claude-json, command: [cat, stream.jsonl], price: {input: 0, output: 0}";
    project.write(".evalrig/targets.yaml", &targets(&[("default", target)]));
    project.write("stream.jsonl", stream);
    project.run(&[]).exits(0);
    assert_eq!(project.row("a")["costUsd"], 0.0);
}

#[test]
fn sessions_of_all_agents_are_recorded() {
    for (format, stream) in skill_streams() {
        let project = Project::empty();
        project.write("stream.jsonl", &stream);
        // Some streams repeat the question, others need it.
        let has_question = ["gemini-json", "copilot-json", "pi-json"].contains(&format);
        let input = if has_question { "" } else { "--input 'Please: monthly sales?'" };
        let binary = env!("CARGO_BIN_EXE_evalrig");
        let line = format!("{binary} log record {input} < stream.jsonl");
        let mut shell = std::process::Command::new("sh");
        let ran = shell.args(["-c", &line]).current_dir(project.path("")).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{format}: {said}");
        let record = project.read(".co/evals/please_monthly_sales.yaml");
        assert!(record.contains("output: The total is 42."), "{format}: {record}");
        assert!(!record.contains("Base directory"), "{format}: {record}");
    }
}

#[test]
fn what_an_agent_cannot_report_is_said_before_it_is_called() {
    let suite = trigger_suite(&[("used", "csv", true)]);
    let project = Project::new(
        &suite,
        &targets(&[
            ("default", "provider: cli, command: [echo, hi]"),
            ("chat", "provider: openai, model: m, base_url: 'http://localhost:1'"),
        ]),
    );
    for (target, cause) in [("default", "`format: text`"), ("chat", "a chat API")] {
        let ran = project.run(&["--dry-run", "--target", target]);
        ran.exits(0).says(&format!(
            "`trigger-judge` cannot be measured: target `{target}` does not report skill use ({cause})"
        ));
    }
}

/// Shows its settings and ends as Gemini CLI does at its limit on turns.
const GEMINI: &str = r#"#!/bin/sh
cat > /dev/null
settings=$(tr -d '"' < "$HOME/.gemini/settings.json")
printf '{"type":"init","session_id":"s","model":"m"}\n'
printf '{"type":"message","role":"assistant","content":"%s"}\n' "$settings"
printf '{"type":"result","status":"error","error":{"type":"%s","message":"Reached it"}}\n' "$GEMINI_ENDING"
exit 53
"#;

#[test]
fn gemini_is_told_the_limit_on_turns_in_its_home() {
    let suite = "name: s\ntests:\n  - {id: a, criteria: c, input: go, assert: \
                 [{type: contains, value: 'model:{maxSessionTurns:3}'}]}\n";
    let run = |more: &str, ending: &str| {
        let target = format!(
            "provider: gemini-cli, executable: ./gemini, max_turns: 3, env: {{GEMINI_ENDING: {ending}}}{more}"
        );
        let project = Project::new(suite, &targets(&[("default", &target)]));
        project.write("gemini", GEMINI);
        fs::set_permissions(project.path("gemini"), fs::Permissions::from_mode(0o755)).unwrap();
        (project.run(&["--quiet"]), project)
    };
    let (ran, project) = run("", "FatalTurnLimitedError");
    ran.exits(0);
    assert_eq!(project.row("a")["agent"]["stopReason"], "max_turns");
    let (ran, project) = run("", "FatalToolExecutionError");
    ran.exits(3);
    assert_eq!(project.row("a")["error"]["kind"], "reply");
    run(", home: user", "FatalTurnLimitedError").0.exits(2).says("cannot be `user`");
}

/// The variables with which users lead these agents to their own settings, memory and skills, and one of
/// their keys.
const VARIABLES: &[(&str, &[&str], &str)] = &[
    (
        "claude-cli",
        &[
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD",
            "CLAUDE_CODE_PLUGIN_DIRS",
            "CLAUDE_CODE_SYNC_SKILLS",
            "ANTHROPIC_CONFIG_DIR",
        ],
        "ANTHROPIC_API_KEY",
    ),
    ("codex-cli", &["CODEX_HOME", "CODEX_SQLITE_HOME"], "OPENAI_API_KEY"),
    (
        "gemini-cli",
        &[
            "GEMINI_CLI_HOME",
            "GEMINI_SYSTEM_MD",
            "GEMINI_WRITE_SYSTEM_MD",
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        ],
        "GEMINI_API_KEY",
    ),
    (
        "copilot-cli",
        &["COPILOT_HOME", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS"],
        "COPILOT_PROVIDER_API_KEY",
    ),
    (
        "opencode",
        &["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "XDG_CONFIG_HOME"],
        "OPENROUTER_API_KEY",
    ),
    ("pi", &["PI_CODING_AGENT_DIR", "PI_PACKAGE_DIR"], "ANTHROPIC_OAUTH_TOKEN"),
];

#[test]
fn variables_lead_no_agent_to_what_its_user_has_and_no_key_is_an_argument() {
    let suite = "name: s\ntests:\n  - {id: a, criteria: c, input: go, assert: [{type: contains, value: x}]}\n";
    for (provider, hostile, key) in VARIABLES {
        let target = format!(
            "provider: {provider}, executable: ./agent, model: m, env: {{MINE: \"${{{{ MY_TOKEN }}}}\"}}, retries: 0"
        );
        let project = Project::new(suite, &targets(&[("default", &target)]));
        project.write(
            "agent",
            "#!/bin/sh\ncat > prompt\nenv > seen\necho \"$0\" \"$@\" > arguments\n",
        );
        fs::set_permissions(project.path("agent"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = project.command(&["run", "--quiet"]);
        for name in hostile.iter() {
            command.env(name, project.path("private"));
        }
        command.env(key, "the-key-of-the-user").env("MY_TOKEN", "the-token-of-the-user");
        support::Ran::of(command).exits(3);
        let seen = project.read("seen");
        let private = project.path("private").display().to_string();
        assert!(!seen.contains(&private), "{provider}: {seen}");
        assert!(seen.contains(&format!("{key}=the-key-of-the-user\n")), "{provider}: {seen}");
        assert!(seen.contains("MINE=the-token-of-the-user\n"), "{provider}: {seen}");
        let arguments = project.read("arguments");
        assert!(arguments.contains("agent"), "{provider}");
        assert!(!arguments.contains("of-the-user"), "{provider}: {arguments}");
    }
}

#[test]
fn the_login_of_gemini_is_found_in_the_home_that_its_variable_names() {
    let suite = "name: s\ntests:\n  - {id: a, criteria: c, input: go, assert: [{type: contains, value: x}]}\n";
    let target = "provider: gemini-cli, executable: ./agent, retries: 0";
    let project = Project::new(suite, &targets(&[("default", target)]));
    let script = "#!/bin/sh\ncat > prompt\ntest \"$GEMINI_CLI_HOME\" = \"$HOME\" && cp -r \"$HOME/.gemini\" found\n";
    project.write("agent", script);
    fs::set_permissions(project.path("agent"), fs::Permissions::from_mode(0o755)).unwrap();
    project.write("private/.gemini/oauth_creds.json", "{\"access_token\": \"ya29-login-token\"}");
    project.write("private/.gemini/GEMINI.md", "Memory");
    let mut command = project.command(&["run", "--quiet"]);
    command.env("GEMINI_CLI_HOME", project.path("private"));
    support::Ran::of(command).exits(3);
    assert!(project.read("found/oauth_creds.json").contains("ya29-login-token"));
    assert!(!project.has("found/GEMINI.md"));
}

#[test]
fn a_home_of_the_user_is_warned_about_once() {
    let test =
        "tests:\n  - {id: a, criteria: c, input: go, assert: [{type: contains, value: x}]}\n";
    let arms = "arms: {one: {}, two: {model: m2}}\n";
    let target = "provider: codex-cli, executable: ./agent, model: m, home: user, retries: 0";
    let project = Project::new(
        &format!("name: one\n{arms}{test}"),
        &targets(&[("default", target), ("protocol", "provider: acp, command: [./agent]")]),
    );
    project.write("other.eval.yaml", &format!("name: two\n{test}"));
    project.write("agent", "#!/bin/sh\nexit 1\n");
    fs::set_permissions(project.path("agent"), fs::Permissions::from_mode(0o755)).unwrap();
    for (target, help) in [
        ("default", "remove `home: user`"),
        ("protocol", "set `home: clean`, or `home: user` if the agent needs your login"),
    ] {
        let message = format!("target `{target}` runs with your own settings, memory and skills");
        let suites = ["EVAL.yaml", "other.eval.yaml"];
        let files = if target == "default" { &suites[..] } else { &suites[1..] };
        let ran = project.run(&[files, &["--target", target]].concat());
        assert_eq!(ran.err.matches(&message).count(), 1, "{}", ran.err);
        assert_eq!(ran.err.matches(help).count(), 1, "{}", ran.err);
        assert!(ran.err.contains("user-home"), "{}", ran.err);
    }
    for home in ["user", "clean"] {
        let target = format!("provider: acp, command: [./agent], home: {home}");
        project.write(".evalrig/targets.yaml", &targets(&[("default", &target)]));
        let ran = project.run(&["other.eval.yaml"]);
        assert!(!ran.err.contains("user-home"), "{home}: {}", ran.err);
    }
}

/// Prints its login, and that of the user.
const INDISCREET: &str = r#"#!/bin/sh
cat > prompt
login=$(cat "$CODEX_HOME/auth.json" "$USER_HOME/.codex/auth.json" | tr -d '\n' | sed 's/"/\\"/g')
echo "login: $login" >&2
printf '{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started"}\n'
printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"%s"}}\n' "$login"
printf '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}\n'
exit $(cat "$USER_HOME/status")
"#;

#[test]
fn the_login_of_an_agent_is_in_no_output() {
    let suite = "name: s\ntests:\n  - {id: a, criteria: c, input: go, assert: [{type: contains, value: absent}]}\n";
    for home in ["", ", home: user", ", login: none"] {
        let target = format!(
            "provider: codex-cli, executable: ./codex, env: {{USER_HOME: \"${{{{ USER_HOME }}}}\"}}{home}"
        );
        let project = Project::new(suite, &targets(&[("default", &target)]));
        project.write("codex", INDISCREET);
        fs::set_permissions(project.path("codex"), fs::Permissions::from_mode(0o755)).unwrap();
        let user = tempfile::tempdir().unwrap();
        let login = r#"{"auth_mode": "chatgpt", "tokens": {"access_token": "eyJ-access-12345", "account": "acc_98765"}}"#;
        fs::create_dir(user.path().join(".codex")).unwrap();
        fs::write(user.path().join(".codex/auth.json"), login).unwrap();
        for (status, code) in [("0", 1), ("7", 3)] {
            fs::write(user.path().join("status"), status).unwrap();
            let mut command = project.command(&["run", "--report", "markdown=out.md", "-v"]);
            command.env("HOME", user.path()).env("USER_HOME", user.path());
            command.env_remove("CODEX_HOME");
            let ran = support::Ran::of(command);
            ran.exits(code);
            let mut texts = vec![ran.out.clone(), ran.err.clone()];
            let files = project.all_files().into_iter();
            texts.extend(files.map(|(_, content)| String::from_utf8_lossy(&content).into_owned()));
            assert!(texts.iter().any(|text| text.contains("***")), "{home}: the agent was silent");
            for text in &texts {
                let shows = text.contains("eyJ-access") || text.contains("acc_98765");
                assert!(!shows, "{home}: {text}");
            }
        }
    }
}

#[test]
fn keys_of_model_services_reach_the_agents_that_know_them() {
    let suite = "name: s\ntests:\n  - {id: a, criteria: c, input: go, assert: [{type: contains, value: x}]}\n";
    for provider in ["opencode", "pi"] {
        let target = format!("provider: {provider}, executable: ./agent, login: none");
        let project = Project::new(suite, &targets(&[("default", &target)]));
        let script = "#!/bin/sh\necho \"$GROQ_API_KEY $AWS_REGION\" > keys\necho '401: invalid API key' >&2\nexit 1\n";
        project.write("agent", script);
        fs::set_permissions(project.path("agent"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = project.command(&["run", "--output", "rows.jsonl"]);
        command.env("GROQ_API_KEY", "gsk-passed-on-1234").env("AWS_REGION", "eu-north-1");
        command.env("UNHEARD_OF_API_KEY", "uk-never-shown-1234");
        support::Ran::of(command).exits(3);
        assert_eq!(project.read("keys"), "gsk-passed-on-1234 eu-north-1\n", "{provider}");
        let said = project.rows_of("rows.jsonl")[0]["error"]["message"].to_string();
        assert!(said.contains("the clean home leaves out `UNHEARD_OF_API_KEY`"), "{said}");
        assert!(!said.contains("uk-never") && !said.contains("GROQ"), "{said}");
    }
}
