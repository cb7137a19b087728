//! Tests of one conversation: one session, one home, and figures of their own.
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use support::Project;

/// Remembers in its settings what it was asked, answers with all of it, and counts from the beginning
/// of the session.
const CLAUDE: &str = r#"#!/bin/sh
cat >> "$CLAUDE_CONFIG_DIR/said"
echo >> "$CLAUDE_CONFIG_DIR/said"
said=$(tr '\n' ';' < "$CLAUDE_CONFIG_DIR/said")
turns=$(wc -l < "$CLAUDE_CONFIG_DIR/said")
case "$*" in *"--resume s-1"*) how=resumed;; *) how=new;; esac
printf '{"type":"system","subtype":"init","session_id":"s-1","tools":[]}\n'
printf '{"type":"result","is_error":false,"result":"%s: %s","total_cost_usd":%d,"modelUsage":{"m":{"inputTokens":%d,"outputTokens":%d}}}\n' "$how" "$said" "$turns" "${turns}00" "${turns}0"
"#;

const TARGETS: &str =
    "targets:\n  - {name: default, provider: claude-cli, executable: ./claude, login: none}\n";

const SUITE: &str = "\
name: talk
tests:
  - {id: first, criteria: c, input: one, conversation_id: x, assert: [{type: equals, value: 'new: one;'}]}
  - {id: second, criteria: c, input: two, conversation_id: x, assert: [{type: equals, value: 'resumed: one;two;'}]}
  - {id: third, criteria: c, input: three, conversation_id: x, assert: [{type: equals, value: 'resumed: one;two;three;'}]}
  - {id: alone, criteria: c, input: four, assert: [{type: equals, value: 'new: four;'}]}
  - {id: other, criteria: c, input: five, conversation_id: y, assert: [{type: equals, value: 'new: five;'}]}
";

fn project(suite: &str) -> Project {
    let project = Project::new(suite, TARGETS);
    project.write("claude", CLAUDE);
    let path = project.path("claude");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    project
}

#[test]
fn turns_share_a_session_and_each_has_its_own_figures() {
    let project = project(SUITE);
    project.run(&["--trials", "1"]).exits(0);
    for id in ["first", "second", "third", "alone", "other"] {
        let row = project.row(id);
        assert_eq!((&row["tokens"]["input"], &row["tokens"]["output"]), (&100.into(), &10.into()));
        assert_eq!(row["costUsd"], 1.0, "{id}");
    }
}

#[test]
fn a_turn_without_the_earlier_ones_is_an_error() {
    let project = project(SUITE);
    project.run(&["--filter", "second"]).exits(3);
    let row = project.row("second");
    assert_eq!(
        row["error"]["message"],
        "this test continues the conversation of `first`, which opened no session in this run"
    );
}

#[test]
fn a_turn_that_fails_does_not_end_the_conversation() {
    let suite = SUITE.replace("value: 'new: one;'", "value: something else");
    let project = project(&suite);
    project.run(&[]).exits(1);
    assert_eq!(project.row("first")["outcome"], "failed");
    assert_eq!(project.row("second")["outcome"], "passed");
}

#[test]
fn a_conversation_that_was_interrupted_begins_again() {
    let project = project(SUITE);
    let go = project.path("go");
    let waits = format!(
        "#!/bin/sh\ncase \"$*\" in *--resume*) [ -e {0} ] || {{ touch {0}-asked; sleep 600; }};; esac",
        go.display()
    );
    project.write("claude", &CLAUDE.replace("#!/bin/sh", &waits));
    let running = project.start(&["--workers", "1"]);
    support::wait_until("the second turn is asked", || project.has("go-asked"));
    running.kill();
    project.write("go", "");
    project.evalrig(&["run", "--resume", "latest"]).exits(0);
    for id in ["first", "second", "third", "alone", "other"] {
        assert_eq!(project.row(id)["outcome"], "passed", "{id}");
    }
    project.evalrig(&["report", "latest"]).exits(0).prints("all 5 tests passed");
}

#[test]
fn a_conversation_is_repeated_as_a_whole() {
    let suite = SUITE.replace("value: 'resumed: one;two;'", "value: something else");
    let project = project(&suite);
    project.run(&[]).exits(1);
    project.write("EVAL.yaml", SUITE);
    project.run(&["--failed", "latest"]).exits(0).prints("all 3 tests passed");
}

#[test]
fn a_target_that_starts_a_new_session_for_every_turn_is_warned_about() {
    let project = project(SUITE);
    project.write(
        ".evalrig/targets.yaml",
        "targets: [{name: default, provider: mock, response: x}]\n",
    );
    let ran = project.run(&["--dry-run"]);
    ran.says(
        "target `default` starts a new session, so `second` is asked without the earlier turns",
    );
    assert_eq!(ran.err.matches("new-session-per-turn").count(), 2, "{}", ran.err);
    let history = SUITE.replace("input: two", "input: [{role: user, content: one}, {role: assistant, content: x}, {role: user, content: two}]");
    project.write("EVAL.yaml", &history);
    let ran = project.run(&["--dry-run"]);
    assert_eq!(ran.err.matches("new-session-per-turn").count(), 1, "{}", ran.err);
}

/// Speaks the protocol, and cannot load a session.
const FORGETFUL: &str = r#"#!/bin/sh
while read line; do
  case "$line" in
    *initialize*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}' ;;
    *session/new*) echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}' ;;
    *session/prompt*)
      echo '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I remember"}}}}'
      echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}' ;;
  esac
done
"#;

#[test]
fn a_later_turn_of_an_agent_that_cannot_load_sessions_is_errored() {
    let suite = "name: talk\ntests:\n  - {id: first, criteria: c, input: one, conversation_id: x, assert: [{type: contains, value: remember}]}\n  - {id: second, criteria: c, input: two, conversation_id: x, assert: [{type: contains, value: remember}]}\n";
    let project = project(suite);
    project.write(
        ".evalrig/targets.yaml",
        "targets: [{name: default, provider: acp, command: [sh, ./agent.sh], home: clean}]\n",
    );
    project.write("agent.sh", FORGETFUL);
    project.run(&[]).exits(3);
    assert_eq!(project.row("first")["outcome"], "passed");
    let row = project.row("second");
    assert_eq!(row["outcome"], "errored");
    assert!(row["error"].to_string().contains("it has no `loadSession`"), "{row}");
}
