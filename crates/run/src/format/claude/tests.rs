//! Streams and session files of Claude Code.

use evalrig_core::model::{Role, Transcript};

use crate::agent::{AgentStream as _, StreamFault};

use super::super::stream_reader::StreamReader;
use super::super::testing::{calls, fault, recorded, uses};
use super::*;

fn read(output: &[u8]) -> Result<Transcript, StreamFault> {
    FORMAT.read_transcript(output)
}

const INIT: &str = r#"{"type":"system","subtype":"init","model":"m-1","tools":["Read"],"session_id":"s","claude_code_version":"2"}"#;

const RESULT: &str = r#"{"total_cost_usd":0.25,"usage":{"input_tokens":100,"cache_read_input_tokens":20,"cache_creation_input_tokens":3,"output_tokens":9},"is_error":false,"subtype":"success","result":"All done.","type":"result","duration_ms":1500}"#;

fn assistant(id: &str, block: &str, time: &str) -> String {
    let usage = r#""usage":{"input_tokens":7,"output_tokens":1}"#;
    format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","role":"assistant","model":"m-1","content":[{block}],{usage}}},"parent_tool_use_id":null,"timestamp":"2026-01-02T03:04:{time}Z"}}"#
    )
}

fn outcome(id: &str, content: &str, time: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}]}},"timestamp":"2026-01-02T03:04:{time}Z"}}"#
    )
}

/// Reads the lines after an `init` event.
fn good(lines: &[&str]) -> Transcript {
    read(format!("{INIT}\n{}", lines.join("\n")).as_bytes()).unwrap()
}

fn bad(lines: &[&str]) -> String {
    fault(&FORMAT, &format!("{INIT}\n{}", lines.join("\n")))
}

#[test]
fn blocks_with_one_id_are_one_message_and_calls_have_results() {
    let lines = [
        INIT.to_owned(),
        assistant("a", r#"{"type":"thinking","thinking":"hm"}"#, "05.000"),
        assistant("a", r#"{"type":"text","text":"Reading."}"#, "05.000"),
        assistant(
            "a",
            r#"{"type":"tool_use","id":"t1","name":"Read","input":{"n":1.50}}"#,
            "05.100",
        ),
        outcome("t1", r#""content of it""#, "05.350"),
        assistant("a", r#"{"type":"tool_use","id":"t2","name":"Skill","input":null}"#, "05.400"),
        outcome("t2", r#"[{"type":"text","text":"x"},{"type":"text","text":"y"}]"#, "04.000"),
        assistant("b", r#"{"type":"text","text":"All done."}"#, "06.000"),
        RESULT.to_owned(),
        String::new(),
    ];
    let read = read(lines.join("\n").as_bytes()).unwrap();
    assert_eq!(read.answer, "All done.");
    let roles: Vec<_> = read.messages.iter().map(|one| one.role).collect();
    let expected = [Role::Assistant, Role::Tool, Role::Tool, Role::Assistant];
    assert_eq!(roles, expected);
    assert_eq!(read.messages[0].tool_calls.len(), 2);
    assert_eq!(read.messages[0].tool_calls[0].arguments, r#"{"n":1.50}"#);
    let calls = read.calls.unwrap();
    assert_eq!(calls[0].output, Some("content of it".into()));
    assert_eq!(calls[0].duration_ms, Some(250));
    assert_eq!(calls[1].output, Some("x\ny".into()));
    assert_eq!(calls[1].duration_ms, None, "time does not run backwards");
    let tokens = read.tokens.unwrap();
    assert_eq!((tokens.input, tokens.output, tokens.cached), (123, 9, 20));
    assert_eq!((read.cost_usd, read.duration_ms), (Some(0.25), Some(1500)));
    assert_eq!(read.model.as_deref(), Some("m-1"));
}

#[test]
fn sub_agents_skills_and_unknown_events_are_left_out() {
    let sub = r#"{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"s","content":[{"type":"tool_use","id":"t9","name":"Bash","input":{}}]}}"#;
    let skill = r#"{"type":"user","isSynthetic":true,"message":{"role":"user","content":[{"type":"text","text":"Base directory"}]}}"#;
    let synthetic = r#"{"type":"assistant","message":{"id":"z","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}"#;
    let odd = r#"{"type":"stream_event","event":{"type":"result"}}"#;
    let broken = r#"{"type":"assistant","message":null}"#;
    let unknown = r#"{"type":"new_event"}"#;
    let read = good(&[sub, skill, synthetic, odd, broken, unknown, RESULT]);
    assert_eq!(read.calls, Some(Vec::new()));
    assert_eq!(read.session.unknown_events, 1);
    assert_eq!(read.messages.len(), 1, "the text of the result");
    assert_eq!(read.answer, "All done.");
}

#[test]
fn without_times_there_is_no_duration() {
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#;
    let read = good(&[call, call, &outcome("t", "null", "05.0"), RESULT]);
    let calls = read.calls.unwrap();
    assert_eq!(calls.len(), 1, "an event that is repeated is one call");
    assert_eq!(calls[0].duration_ms, None);
    assert_eq!(calls[0].output, Some("".into()));
}

#[test]
fn errors_are_errors_whatever_the_subtype() {
    let of = |rest: &str| bad(&[&format!(r#"{{"type":"result","is_error":true,{rest}}}"#)]);
    assert_eq!(
        of(r#""subtype":"success","result":"Invalid API key""#),
        "the agent ended with an error: Invalid API key"
    );
    assert_eq!(
        of(r#""subtype":"error_during_execution","errors":["no session","x"]"#),
        "the agent ended with an error: no session; x"
    );
    assert_eq!(
        of(r#""subtype":"error_during_execution","errors":[],"result":null"#),
        "the agent ended with an error: error_during_execution"
    );
}

#[test]
fn running_out_of_turns_or_money_is_graded() {
    for subtype in GRADED {
        let said = assistant("a", r#"{"type":"text","text":"So far."}"#, "05.0");
        let end = format!(
            r#"{{"type":"result","is_error":true,"subtype":"{subtype}","errors":["x"],"usage":null,"total_cost_usd":null}}"#
        );
        let read = good(&[&said, &end]);
        assert_eq!(read.answer, "So far.");
        assert_eq!((read.tokens, read.cost_usd), (None, None));
    }
}

#[test]
fn a_stream_that_breaks_off_is_an_error() {
    let said = assistant("a", r#"{"type":"text","text":"So far."}"#, "05.0");
    assert_eq!(bad(&[&said]), "the output ends at line 2 without a `result` event");
    assert_eq!(fault(&FORMAT, ""), "the program printed no events");
    let cut = &RESULT[..60];
    assert_eq!(bad(&[&said, cut]), format!("line 3 of the output is not JSON: {cut}"));
    let rest = "{\"type\":\"sys";
    assert_eq!(bad(&[RESULT, rest]), format!("line 3 of the output is not JSON: {rest}"));
    let broken = read(cut.as_bytes()).unwrap_err();
    assert!(matches!(broken, StreamFault::Unfinished(_)));
}

#[test]
fn a_stream_that_goes_on_after_its_result_has_not_ended() {
    let said = assistant("a", r#"{"type":"text","text":"More."}"#, "05.0");
    assert!(bad(&[RESULT, &said]).starts_with("the output ends at line 3 without"));
    let hook = r#"{"type":"system","subtype":"hook_response"}"#;
    assert_eq!(good(&[RESULT, hook]).answer, "All done.");
}

#[test]
fn only_claude_code_opens_such_a_stream() {
    for (first, message) in [
        (recorded::GEMINI_SKILL, " (it looks like one of Gemini CLI)"),
        (recorded::COPILOT_SKILL, " (it looks like one of Copilot CLI)"),
        (recorded::CODEX_PATCH, " (it looks like one of Codex)"),
        (RESULT, ""),
        (r#"{"type":"system","subtype":"init","cwd":"/"}"#, ""),
    ] {
        let message =
            format!("line 1 of the output does not open a stream of Claude Code{message}: {{");
        assert!(fault(&FORMAT, first).starts_with(&message), "{}", fault(&FORMAT, first));
    }
    assert!(fault(&FORMAT, "[]").starts_with("line 1 of the output is not an event: []"));
}

#[test]
fn a_skill_is_used_by_the_main_thread() {
    let read = read(recorded::CLAUDE_SKILL.as_bytes()).unwrap();
    assert_eq!(uses(&read), ["csv-analyzer tool ok #0"]);
    let offered = read.skills.offered.unwrap();
    assert_eq!(offered, ["csv-analyzer", "csv-analyzer-pro"]);
    assert_eq!(read.session.llm_calls, Some(2));
    assert_eq!(read.session.permission_denials, Some(Vec::new()));
    assert_eq!(read.messages.len(), 3, "the text of the skill is not a message");
}

#[test]
fn a_skill_that_does_not_exist_is_not_used() {
    let refused = recorded::CLAUDE_SKILL.replace(
        "Launching skill: csv-analyzer",
        "<tool_use_error>Unknown skill: csv-analyzer</tool_use_error>",
    );
    let read = read(refused.as_bytes()).unwrap();
    assert_eq!(uses(&read), ["csv-analyzer tool failed #0"]);
    assert_eq!(read.calls.unwrap()[0].is_error, Some(true));
}

#[test]
fn a_skill_is_used_by_a_sub_agent() {
    let read = read(recorded::CLAUDE_SUB_AGENT.as_bytes()).unwrap();
    assert_eq!(uses(&read), ["csv-analyzer tool ok #0 sub-agent"]);
    assert_eq!(read.calls.as_ref().unwrap().len(), 1);
    let tokens = read.tokens.unwrap();
    assert_eq!((tokens.input, tokens.output, tokens.cached), (600, 68, 120));
    assert_eq!(read.session.llm_calls, None, "the last request is not shown");
}

#[test]
fn refused_and_failed_calls_are_errors() {
    let denied = read(recorded::CLAUDE_DENIED.as_bytes()).unwrap();
    assert_eq!(denied.session.permission_denials, Some(vec!["Bash".to_owned()]));
    assert_eq!(calls(&denied), [r#"Bash {"command":"cat notes.txt"} error"#]);
    let failed = read(recorded::CLAUDE_TOOL_ERROR.as_bytes()).unwrap();
    assert_eq!(calls(&failed), [r#"Bash {"command":"ls /nonexistent; exit 3"} error 3"#]);
}

#[test]
fn an_agent_that_is_stopped_leaves_what_it_did() {
    let mut stream = StreamReader::new(&FORMAT);
    stream.feed(recorded::CLAUDE_STOPPED.as_bytes());
    let so_far = Box::new(stream).so_far().unwrap();
    assert!(so_far.partial);
    assert_eq!(calls(&so_far), [r#"Bash {"command":"sleep 20"} error 137"#]);
    assert_eq!(so_far.tokens, None, "counts in a stream are not final");
    let mut other = StreamReader::new(&FORMAT);
    other.feed(recorded::GEMINI_SKILL.as_bytes());
    assert!(Box::new(other).so_far().is_none());
}

#[test]
fn a_wrong_byte_is_replaced() {
    let end = RESULT.replace("All done.", "All d#ne.");
    let mut bytes = format!("{INIT}\n{end}").into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'#').unwrap();
    bytes[at] = 0xff;
    assert_eq!(read(&bytes).unwrap().answer, "All d\u{fffd}ne.");
}

#[test]
fn counts_that_make_no_sense_are_refused() {
    let of = |text: &str| bad(&[&RESULT.replace("\"output_tokens\":9", text)]);
    assert_eq!(
        of("\"output_tokens\":-9"),
        "`output_tokens` takes a whole number of at least 0, found -9"
    );
    let huge = RESULT.replace(":100,", ":18446744073709551615,");
    assert_eq!(good(&[&huge]).tokens.unwrap().input, u64::MAX);
}

#[test]
fn a_session_lists_questions_and_leaves_injected_text_out() {
    let lines = [
        r#"{"type":"user","cwd":"/p","message":{"role":"user","content":"Hi"}}"#,
        r#"{"type":"user","isMeta":true,"message":{"content":"a skill"}}"#,
        r#"{"type":"user","isSynthetic":true,"message":{"content":"a skill"}}"#,
        r#"{"type":"assistant","isSidechain":true,"message":{"id":"s","content":[{"type":"text","text":"sub"}]}}"#,
        r#"{"type":"assistant","message":{"id":"m","model":"m-1","content":[{"type":"text","text":"Hello"}],"usage":{"input_tokens":4,"output_tokens":2}}}"#,
        r#"{"type":"cost-state","totalCostUSD":0.25}"#,
    ];
    let session = FORMAT.read_session(lines.join("\n").as_bytes());
    let texts: Vec<_> = session.messages().iter().filter_map(|one| one.text()).collect();
    assert_eq!(texts, ["Hi", "Hello"]);
    assert_eq!(session.tokens.map(Tokens::total), Some(6));
    assert_eq!((session.cost_usd, session.cwd.as_deref()), (Some(0.25), Some("/p")));
    let transcript = good(&[lines[0], lines[4], RESULT.replace("All done.", "Hello").as_str()]);
    assert_eq!(transcript.messages.len(), 1, "the question is not part of the answer");
}

#[test]
fn an_image_in_a_result_is_not_text() {
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#;
    let image = r#"[{"type":"text","text":"a.png"},{"type":"image","source":{"data":"AAAA"}}]"#;
    let read = good(&[call, &outcome("t", image, "05.0"), RESULT]);
    assert_eq!(read.messages[1].text().as_deref(), Some("a.png"));
    let output = read.calls.unwrap()[0].output.clone();
    assert!(matches!(output, Some(Value::List(blocks)) if blocks.len() == 2));
}

#[test]
fn the_text_of_an_error_is_recorded_only_if_nothing_was_said() {
    let error = r#"{"type":"result","is_error":true,"result":"API Error: 529"}"#;
    let said = assistant("a", r#"{"type":"text","text":"So far."}"#, "05.0");
    let answer = |lines: &[&str]| {
        let session = FORMAT.read_session(lines.join("\n").as_bytes());
        session.conversation.answer()
    };
    assert_eq!(answer(&[error]), "API Error: 529");
    assert_eq!(answer(&[&said, error]), "So far.");
}

#[test]
fn a_sub_agent_in_the_background_leads_to_another_result() {
    let read = FORMAT.read_transcript(recorded::CLAUDE_BACKGROUND_AGENT.as_bytes()).unwrap();
    assert_eq!(uses(&read), ["csv-analyzer tool ok #0 sub-agent"]);
    let tokens = read.tokens.unwrap();
    assert_eq!((tokens.input, tokens.output, tokens.cached), (750, 85, 150));
}

#[test]
fn a_slash_command_names_a_skill() {
    assert_eq!(slash_command("/csv-analyzer a.csv"), Some("csv-analyzer"));
    assert_eq!(slash_command("/data:csv\nNow."), Some("csv"));
    for prompt in ["What is /csv?", "/", "/ csv", ""] {
        assert_eq!(slash_command(prompt), None, "{prompt}");
    }
}

/// The lines of a recorded stream up to the one with this number, from 1.
fn first_lines(stream: &str, count: usize) -> String {
    stream.lines().take(count).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_second_init_opens_a_turn_that_must_end() {
    let stream = recorded::CLAUDE_BACKGROUND_AGENT;
    for lines in [17, 18] {
        let cut = first_lines(stream, lines);
        let message = format!("the output ends at line {lines} without a `result` event");
        assert_eq!(fault(&FORMAT, &cut), message);
    }
    assert!(bad(&[RESULT, INIT]).starts_with("the output ends at line 3 without"));
}

#[test]
fn what_a_sub_agent_does_that_still_runs_is_unknown() {
    // The sub-agent starts, and the main thread does not wait for it.
    let stream = recorded::CLAUDE_BACKGROUND_AGENT;
    let mut lines: Vec<&str> = stream.lines().collect();
    let running = lines[15].replace("\"completed\": 1", "\"completed\": 0");
    let running = running.replace("\"completed\":1", "\"completed\":0");
    assert_ne!(running, lines[15]);
    let started = [&lines[..5], &[lines[14]]].concat().join("\n");
    for end in [running.as_str(), RESULT] {
        let read = read(format!("{started}\n{end}").as_bytes()).unwrap();
        assert_eq!(read.answer, if end == RESULT { "All done." } else { "It is 42." });
        assert_eq!(read.skills.used, None);
        assert_eq!((read.tokens, read.cost_usd, read.session.llm_calls), (None, None, None));
    }
    for ended in [r#""failed":1"#, r#""killed":{"parent":1,"user":0}"#] {
        let stats = format!(r#""subagent_stats":{{"spawned":1,"completed":0,{ended}}}"#);
        let end = RESULT.replacen('{', &format!("{{{stats},"), 1);
        assert!(good(&[&end]).skills.used.is_some(), "{end}");
    }
    // All of it was seen.
    lines.truncate(16);
    let read = read(lines.join("\n").as_bytes()).unwrap();
    assert_eq!(uses(&read), ["csv-analyzer tool ok #0 sub-agent"]);
}
