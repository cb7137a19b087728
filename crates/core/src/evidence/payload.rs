//! The JSON object on a script's stdin (spec 10.1). Keys of user data are never renamed.

use crate::model::{Block, Call, Evidence, JsonStyle, Map, Message, Number, Transcript, Value};

use super::file_changes::file_diff;
use super::message_json::{expected_to_value, messages_to_value};
use super::question::question;

/// The complete stdin of a script.
pub fn script_stdin(evidence: &Evidence<'_>, config: &Map) -> String {
    Value::from(payload(evidence, config)).to_json(JsonStyle::Compact)
}

/// The object that a script reads. `config` is the assertion's own.
pub fn payload(evidence: &Evidence<'_>, config: &Map) -> Map {
    let (test, transcript) = (evidence.test, evidence.transcript);
    let input = messages_to_value(&test.input);
    let output = messages_to_value(&transcript.messages);
    let expected = expected_to_value(test.expected_output.as_ref());
    let reference = or_null(test.expected_output.as_ref().and_then(|e| e.text()));
    let answer = Value::from(transcript.answer.as_str());
    let files = Value::from(input_files(&test.input));
    let mut map = Map::new();
    map.insert("question", or_null(question(&test.input)));
    map.insert("criteria", or_null(test.criteria.as_deref()));
    map.insert("note", or_null(test.note.as_deref()));
    map.insert("test_id", test.id.as_str());
    map.insert("inputMessages", input.clone());
    map.insert("expectedMessages", expected.clone());
    map.insert("outputMessages", output.clone());
    map.insert("referenceAnswer", reference.clone());
    map.insert("candidateAnswer", answer.clone());
    map.insert("guidelineFiles", Value::List(Vec::new()));
    map.insert("inputFiles", files.clone());
    map.insert("traceSummary", trace_summary(transcript));
    map.insert("config", config.clone());
    map.insert("metadata", test.metadata.clone());
    map.insert("answer", answer.clone());
    map.insert("output", answer);
    map.insert("reference_answer", reference);
    map.insert("input", input.clone());
    map.insert("input_messages", input.clone());
    map.insert("output_messages", output.clone());
    map.insert("messages", joined(input, output));
    map.insert("expected_output", expected);
    map.insert("input_files", files);
    map.insert("trace_summary", snake_summary(transcript));
    map.insert("token_usage", token_usage(transcript));
    map.insert("cost_usd", or_null(cost(transcript)));
    map.insert("duration_ms", or_null(transcript.duration_ms));
    let (path, changes) = (workspace_path(evidence), file_changes(transcript));
    map.insert("workspacePath", path.clone());
    map.insert("workspace_path", path);
    map.insert("fileChanges", changes.clone());
    map.insert("file_changes", changes);
    map
}

/// Where the workspace is. What the results say about a kept one counts only if it was found there.
fn workspace_path(evidence: &Evidence<'_>) -> Value {
    or_null(evidence.workspace.map(|files| files.path().as_str()))
}

/// The diff of the workspace.
fn file_changes(transcript: &Transcript) -> Value {
    or_null(transcript.files.as_ref().map(file_diff))
}

/// The metrics of a transcript; what the target does not report is null.
pub fn trace_summary(transcript: &Transcript) -> Map {
    let tokens = transcript.tokens;
    let mut map = Map::new();
    map.insert("eventCount", or_null(event_count(transcript)));
    map.insert("toolNames", tool_names(transcript));
    map.insert("toolCallCount", or_null(call_count(transcript)));
    map.insert("llmCallCount", or_null(transcript.session.llm_calls));
    map.insert("inputTokens", or_null(tokens.map(|tokens| tokens.input)));
    map.insert("outputTokens", or_null(tokens.map(|tokens| tokens.output)));
    map.insert("totalTokens", or_null(tokens.map(|tokens| tokens.total())));
    map.insert("costUsd", or_null(cost(transcript)));
    map.insert("durationMs", or_null(transcript.duration_ms));
    map
}

/// The same for scripts written for another tool.
fn snake_summary(transcript: &Transcript) -> Map {
    let mut map = Map::new();
    map.insert("event_count", or_null(event_count(transcript)));
    map.insert("tool_names", tool_names(transcript));
    map.insert("tool_calls", calls_by_name(transcript));
    map.insert("tool_call_count", or_null(call_count(transcript)));
    map.insert("llm_call_count", or_null(transcript.session.llm_calls));
    map.insert("cost_usd", or_null(cost(transcript)));
    map.insert("duration_ms", or_null(transcript.duration_ms));
    map
}

/// Every call as `{tool, args, output, duration_ms}`; null when the target does not report calls.
pub fn calls_to_value(calls: Option<&[Call]>) -> Value {
    let one = |call: &Call| {
        let mut map = Map::new();
        map.insert("tool", call.tool.as_str());
        map.insert("args", call.args.clone());
        map.insert("output", or_null(call.output.clone()));
        map.insert("duration_ms", or_null(call.duration_ms));
        Value::from(map)
    };
    or_null(calls.map(|calls| calls.iter().map(one).collect::<Vec<_>>()))
}

/// Absolute paths of the attached files and images, in order, once each.
pub fn input_files(input: &[Message]) -> Vec<String> {
    let blocks = input.iter().flat_map(|message| &message.content);
    let mut paths: Vec<String> = Vec::new();
    for path in blocks.filter_map(|block| Block::file(block)?.path.as_ref()) {
        if !paths.iter().any(|known| known == path.as_str()) {
            paths.push(path.to_string());
        }
    }
    paths
}

fn or_null<V: Into<Value>>(value: Option<V>) -> Value {
    value.map_or(Value::Null, Into::into)
}

fn joined(input: Value, output: Value) -> Value {
    match (input, output) {
        (Value::List(mut messages), Value::List(more)) => {
            messages.extend(more);
            Value::List(messages)
        }
        (input, _) => input,
    }
}

fn call_count(transcript: &Transcript) -> Option<u64> {
    transcript.calls.as_ref().map(|calls| calls.len() as u64)
}

/// Calls, and the answer if there is one. Unknown if the calls are unknown.
fn event_count(transcript: &Transcript) -> Option<u64> {
    let answers = u64::from(!transcript.answer.is_empty());
    call_count(transcript).map(|calls| calls + answers)
}

fn tool_names(transcript: &Transcript) -> Value {
    let names =
        |calls: &Vec<Call>| -> Vec<String> { calls.iter().map(|call| call.tool.clone()).collect() };
    or_null(transcript.calls.as_ref().map(names))
}

fn calls_by_name(transcript: &Transcript) -> Value {
    let Some(calls) = &transcript.calls else {
        return Value::Null;
    };
    let mut counts: Vec<(String, u64)> = Vec::new();
    for call in calls {
        match counts.iter_mut().find(|(name, _)| *name == call.tool) {
            Some((_, count)) => *count += 1,
            None => counts.push((call.tool.clone(), 1)),
        }
    }
    let entries = counts.into_iter();
    Value::Map(entries.map(|(name, count)| (name, count.into())).collect())
}

fn token_usage(transcript: &Transcript) -> Value {
    or_null(transcript.tokens.map(|tokens| {
        Map::new()
            .with("input", tokens.input)
            .with("output", tokens.output)
            .with("cached", tokens.cached)
    }))
}

/// JSON has no representation of a cost that is not finite, so it counts as not measured.
fn cost(transcript: &Transcript) -> Option<Number> {
    Number::parse(&transcript.cost_usd?.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sample, csv_sample};
    use super::*;
    use crate::model::{FileChanges, Tokens};

    /// The example of spec 10.1, with its abbreviations written out.
    const EXAMPLE: &str = r#"{"question": "Find the top 3 months by revenue.", "criteria": "Agent finds the top 3 months by revenue", "note": null, "test_id": "csv-top-months",
 "inputMessages": INPUT,
 "expectedMessages": EXPECTED,
 "outputMessages": OUTPUT,
 "referenceAnswer": "November, September, December", "candidateAnswer": "November ($22,500) was the best month.",
 "guidelineFiles": [], "inputFiles": ["/project/evals/files/sales.csv"],
 "traceSummary": {"eventCount": 2, "toolNames": ["Skill"], "toolCallCount": 1, "llmCallCount": 2, "inputTokens": 120, "outputTokens": 35, "totalTokens": 155, "costUsd": 0.002, "durationMs": 900},
 "config": {"requiredFields": ["id"]}, "metadata": {"riskLevel": "low"},
 "answer": "November ($22,500) was the best month.", "output": "November ($22,500) was the best month.", "reference_answer": "November, September, December",
 "input": INPUT, "input_messages": INPUT, "output_messages": OUTPUT,
 "messages": BOTH, "expected_output": EXPECTED,
 "input_files": ["/project/evals/files/sales.csv"],
 "trace_summary": {"event_count": 2, "tool_names": ["Skill"], "tool_calls": {"Skill": 1}, "tool_call_count": 1, "llm_call_count": 2, "cost_usd": 0.002, "duration_ms": 900},
 "token_usage": {"input": 120, "output": 35, "cached": 0}, "cost_usd": 0.002, "duration_ms": 900,
 "workspacePath": null, "workspace_path": null, "fileChanges": null, "file_changes": null}"#;

    const INPUT: &str = r#"{"role": "user", "content": [{"type": "file", "value": "files/sales.csv"}, {"type": "text", "value": "Find the top 3 months by revenue."}]}"#;
    const EXPECTED: &str = r#"{"role": "assistant", "content": "November, September, December"}"#;
    const OUTPUT: &str = r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "Skill", "arguments": "{\"skill\":\"csv-analyzer\"}"}}]},
   {"role": "tool", "tool_call_id": "call_1", "name": "Skill", "content": ""},
   {"role": "assistant", "content": "November ($22,500) was the best month."}"#;

    #[test]
    fn the_payload_is_that_of_the_format_key_for_key() {
        let list = |items: &str| format!("[{items}]");
        let expected = EXAMPLE
            .replace("INPUT", &list(INPUT))
            .replace("EXPECTED", &list(EXPECTED))
            .replace("OUTPUT", &list(OUTPUT))
            .replace("BOTH", &format!("[{INPUT}, {OUTPUT}]"));
        let expected = super::super::json::parse(&expected).expect("JSON");
        let config = super::super::json::parse(r#"{"requiredFields": ["id"]}"#).expect("JSON");
        let sample = csv_sample();
        let stdin = script_stdin(&sample.evidence(), config.as_map().expect("an object"));
        assert_eq!(stdin, expected.to_json(JsonStyle::Compact));
    }

    #[test]
    fn what_is_absent_is_null_or_empty() {
        let mut sample = Sample::new(Vec::new(), Transcript::of_text("a"));
        sample.test.expected_output = None;
        let map = payload(&sample.evidence(), &Map::new());
        for key in ["question", "criteria", "note", "referenceAnswer"] {
            assert_eq!(map.get(key), Some(&Value::Null), "{key}");
        }
        for key in ["token_usage", "cost_usd", "duration_ms"] {
            assert_eq!(map.get(key), Some(&Value::Null), "{key}");
        }
        for key in ["inputMessages", "expectedMessages", "input_files"] {
            assert_eq!(map.get(key), Some(&Value::List(Vec::new())), "{key}");
        }
        for key in ["config", "metadata"] {
            assert_eq!(map.get(key), Some(&Map::new().into()), "{key}");
        }
        assert_eq!(
            Value::from(trace_summary(&sample.transcript)).to_json(JsonStyle::Compact),
            r#"{"eventCount":null,"toolNames":null,"toolCallCount":null,"llmCallCount":null,"inputTokens":null,"outputTokens":null,"totalTokens":null,"costUsd":null,"durationMs":null}"#
        );
    }

    #[test]
    fn scripts_get_what_changed_but_no_path_of_a_workspace_that_is_gone() {
        let mut sample = Sample::new(Vec::new(), Transcript::of_text("a"));
        sample.transcript.files = Some(FileChanges {
            diff: "+x\n".to_owned(),
            path: Some("/kept".to_owned()),
            ..FileChanges::default()
        });
        let map = payload(&sample.evidence(), &Map::new());
        for (key, value) in [
            ("workspacePath", Value::Null),
            ("workspace_path", Value::Null),
            ("fileChanges", "+x\n".into()),
            ("file_changes", "+x\n".into()),
        ] {
            assert_eq!(map.get(key), Some(&value), "{key}");
        }
    }

    #[test]
    fn no_calls_are_not_unknown_calls() {
        let transcript = Transcript {
            calls: Some(Vec::new()),
            tokens: Some(Tokens::default()),
            cost_usd: Some(f64::NAN),
            ..Transcript::default()
        };
        let summary = trace_summary(&transcript);
        assert_eq!(summary.get("eventCount"), Some(&0_u64.into()));
        assert_eq!(summary.get("toolNames"), Some(&Value::List(Vec::new())));
        assert_eq!(summary.get("totalTokens"), Some(&0_u64.into()));
        assert_eq!(summary.get("costUsd"), Some(&Value::Null));
    }
}
